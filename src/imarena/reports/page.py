"""A report as a folder that opens in any browser: one HTML page, its pictures beside it, nothing fetched."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from importlib.resources import files
from pathlib import Path

from imarena.core.records import now
from imarena.core.version import VERSION


@dataclass(frozen=True)
class Grid:
    """A table: a header and rows of text. Columns after the first are numbers unless `words` says otherwise."""

    header: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    caption: str = ""


@dataclass(frozen=True)
class Picture:
    """A picture file below the report's folder, and what it shows."""

    file: str
    caption: str
    note: str = ""
    dark: str = ""
    """The same for a dark page; without one, a plot stands on a light card there."""
    scale: int = 1
    """Pixels of the file for each pixel of the page."""


@dataclass(frozen=True)
class Exhibit:
    """One item with its source and every editor's output, side by side."""

    title: str
    instruction: str
    pictures: tuple[Picture, ...]
    remarks: tuple[str, ...] = ()


@dataclass(frozen=True)
class Section:
    """A heading with whatever belongs under it, in this order."""

    title: str
    text: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()
    grids: tuple[Grid, ...] = ()
    plots: tuple[Picture, ...] = ()
    exhibits: tuple[Exhibit, ...] = ()


@dataclass(frozen=True)
class Page:
    """A whole report."""

    title: str
    lead: str
    sections: tuple[Section, ...]
    next_steps: tuple[str, ...] = field(default=())


def write_html(page: Page, folder: Path) -> Path:
    """Write ``index.html``. Everything from data is escaped."""
    from jinja2 import Environment

    source = files("imarena.reports").joinpath("templates/report.html.j2").read_text(encoding="utf-8")
    template = Environment(autoescape=True, trim_blocks=True, lstrip_blocks=True).from_string(source)
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / "index.html"
    path.write_text(
        template.render(page=page, version=VERSION, made_at=now().strftime("%Y-%m-%d %H:%M UTC")), encoding="utf-8"
    )
    return path


def markdown(page: Page) -> str:
    """The tables and plots of a report as Markdown."""
    lines = [f"# {page.title}", "", page.lead, ""]
    for section in page.sections:
        lines += [f"## {section.title}", ""]
        for text in (*section.text, *(f"**Warning:** {warning}" for warning in section.warnings)):
            lines += [text, ""]
        for grid in section.grids:
            lines += [*_markdown_grid(grid), ""]
        for plot in section.plots:
            lines += [f"![{_cell(plot.caption)}]({plot.file})", ""]
    return "\n".join(lines)


def write_markdown(page: Page, folder: Path) -> Path:
    """Write ``report.md`` with the tables and plots of the same report."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / "report.md"
    path.write_text(markdown(page), encoding="utf-8")
    return path


def _markdown_grid(grid: Grid) -> list[str]:
    def row(cells: Sequence[str]) -> str:
        return "| " + " | ".join(_cell(cell) for cell in cells) + " |"

    rule = "|" + "|".join(["---", *["---:"] * (len(grid.header) - 1)]) + "|"
    return [*([grid.caption, ""] if grid.caption else []), row(grid.header), rule, *(row(cells) for cells in grid.rows)]


def _cell(text: str) -> str:
    table = str.maketrans({"|": "\\|", "\n": " ", "\r": " ", "<": "&lt;", ">": "&gt;", "[": "\\[", "]": "\\]"})
    return text.translate(table)
