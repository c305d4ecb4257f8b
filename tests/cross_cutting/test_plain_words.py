"""Texts that a user reads: phrases that were replaced by plain technical English do not come back."""

import importlib.util
import re
from importlib.resources import files

import pytest

from imarena.core.notices.notice import FILES as NOTICE_FILES
from tests.conftest import ROOT

FORBIDDEN = (
    "so many", "so often", "at hand", "is told", "are told", "it tells", "shall be", "this is passed", "it is passed",
    "edits at most", "people for each", "votes a battle", "votes a rater", "a task family", "bring records in",
    "twice is the same as once", "where a workspace stands", "name two tables", "nothing is claimed", "not told",
    "no difference can be told", "chose one place twice", "this campaign rests", "let go on", "best known (",
    "speak to a judge", "speaks to a judge", "not every model was asked", "beside them, ", "whom the link",
    "why do you skip", "host below which", "says little", "can say no more", "the right way round",
    "twice is once", "turned round", " anew", "says so", "for whoever", "the board says", "goes on where",
)  # fmt: skip
"""Lower case; see the plain words of the house in CONTRIBUTING.md."""


def found_in(where: str, text: str) -> list[str]:
    plain = re.sub(r"\s+", " ", text.lower())
    return [f"{where}: {phrase!r}" for phrase in FORBIDDEN if phrase in plain]


def test_help_of_every_command_is_plain() -> None:
    spec = importlib.util.spec_from_file_location("docs_pages", ROOT / "tools" / "docs_pages.py")
    assert spec is not None
    assert spec.loader is not None
    pages = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(pages)
    texts = dict(pages.commands())
    assert len(texts) > 60
    assert [line for name, text in texts.items() for line in found_in(name, text)] == []


def test_the_documentation_is_plain() -> None:
    names = ("README.md", "CHANGELOG.md", "CONTRIBUTING.md")
    pages = [*(ROOT / name for name in names), *sorted((ROOT / "docs").rglob("*.md"))]
    wrong = [
        line for page in pages for line in found_in(page.relative_to(ROOT).as_posix(), page.read_text(encoding="utf-8"))
    ]
    assert wrong == []


def test_each_change_is_one_short_line() -> None:
    lines = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8").splitlines()
    assert sum(line.startswith("- ") for line in lines) > 100
    assert [line for line in lines if len(line) > 150 or line.startswith("  ")] == []


@pytest.mark.parametrize("name", NOTICE_FILES)
def test_notices_are_plain(name: str) -> None:
    text = files("imarena.core.notices").joinpath(f"{name}.yaml").read_text(encoding="utf-8")
    assert found_in(name, text) == []


@pytest.mark.parametrize("path", ["web/src/strings.ts", "web/src/strings_lead.ts", "src/imarena/web/languages/en.json"])
def test_the_pages_are_plain(path: str) -> None:
    assert found_in(path, (ROOT / path).read_text(encoding="utf-8")) == []
