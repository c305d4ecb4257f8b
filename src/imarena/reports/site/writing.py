"""Write the site: pages from templates, and the battle explorer's data as script files that also load from disk."""

import json
from collections.abc import Sequence
from importlib.resources import files
from pathlib import Path
from typing import Any

from imarena.core import VERSION
from imarena.reports.page import save_text
from imarena.reports.rank_tables import COVERAGE, OVERLAP
from imarena.reports.site.pages import Site
from imarena.reports.tables import render_template

_ASSETS = ("site.css", "site.js")


def write_site_pages(folder: Path, site: Site) -> Path:
    """Write all pages; returns the first one."""
    for name in _ASSETS:
        save_text(folder / name, files("imarena.reports").joinpath("templates", name).read_text(encoding="utf-8"))
    for board in site.boards:
        parts = site.groups.get(board.number, ())
        for page in (board, *parts):
            _page(folder, page.file, "site_board.html.j2", site, board=page, whole=board, parts=parts)
    for model in site.models:
        _page(folder, model.file, "site_model.html.j2", site, model=model)
    _page(folder, "battles.html", "site_battles.html.j2", site)
    _page(folder, "about.html", "site_about.html.j2", site, coverage=COVERAGE, overlap=OVERLAP)
    save_text(folder / "data" / "site.js", _script("imarenaSite.start", _explorer_facts(site)))
    return folder / "index.html"


def write_site_part(folder: Path, number: int, items: Sequence[Any], battles: Sequence[Any]) -> None:
    """Write one part of the battles: items, and battles that refer to items by index."""
    save_text(folder / "data" / f"battles-{number}.js", _script("imarenaSite.part", number, [items, battles]))


def _page(folder: Path, file: str, template: str, site: Site, **values: Any) -> None:
    root = "../" * file.count("/")
    save_text(folder / file, render_template(template, site=site, root=root, file=file, version=VERSION, **values))


def _explorer_facts(site: Site) -> dict[str, Any]:
    return {
        "models": [[page.model, page.file] for page in site.models],
        "boards": [board.title for board in site.boards],
        "labels": list(site.labels),
        "parts": site.parts,
        "battles": site.battles,
    }


def _script(function: str, *values: Any) -> str:
    """A function call with JSON arguments. Non-ASCII characters and `<` are escaped: no text can end the script."""
    arguments = ",".join(json.dumps(value, separators=(",", ":")).replace("<", "\\u003c") for value in values)
    return f"{function}({arguments});\n"
