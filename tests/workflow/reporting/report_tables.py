"""The tables of a report's Markdown, by section and title."""

import re
from pathlib import Path

Tables = dict[str, list[list[str]]]
"""Title to rows of cells; the first row is the head. Of tables with one title the last is kept."""


def paper_tables(text: str, paper: str) -> Tables:
    """The tables in the section about a paper, such as `000`."""
    parts = re.split(r"^## ", text, flags=re.MULTILINE)
    (section,) = [part for part in parts if re.match(rf"Tables and figures of [^\n]*\(?{paper}", part)]
    found: Tables = {}
    title = ""
    for line in section.splitlines():
        if line.startswith("**"):
            title = line.strip("*")
            found[title] = []
        elif line.startswith("|") and not line.startswith("|--"):
            found[title].append([cell.strip() for cell in line.strip("|").split(" | ")])
    return found


def missing_places(text: str) -> set[tuple[str, str]]:
    """Paper and place of what the report says is not available."""
    _, _, rest = text.partition("## Tables of the papers that need more data")
    rows = re.findall(r"^\| [\w -]+\((\d{3})\) \| ([^|]+) \|", rest.partition("\n## ")[0], re.MULTILINE)
    return {(paper, place) for paper, place in rows}


def written_numbers(folder: Path, chart: str) -> list[str]:
    """The values that a chart of the report writes beside its bars or into its cells."""
    text = (folder / "plots" / f"{chart}.svg").read_text(encoding="utf-8")
    marks = text.partition('class="mark-text role-mark')[2]
    return re.findall(r">(-?\d[\d.]*)</text>", marks.partition('class="mark-')[0])
