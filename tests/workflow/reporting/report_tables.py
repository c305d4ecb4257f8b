"""The tables of a report's Markdown, by section and title."""

import re
from pathlib import Path

from imarena.workflows.reporting.papers.catalogue import paper_entries

Tables = dict[str, list[list[str]]]
"""Title to rows of cells; the first row is the head. Of tables with one title the last is kept."""

PAPERS = {"000": "CV-Arena", "001": "GenArena", "002": "EdiVal-Agent", "003": "GEditBench v2", "004": "ImagenWorld"}
"""The number of a paper in plot names, and its name in reports."""
REFERENCE = re.compile(r"^- ([^:]+): see the section “([^”]+)”: its tables? (.*)", re.MULTILINE)
"""A sentence about tables in another section: place, section, and the titles in quotes."""


def paper_tables(text: str, paper: str) -> Tables:
    """The tables in the section about a paper, such as `000`, and those of other sections that it refers to."""
    parts = {part.partition("\n")[0]: part for part in re.split(r"^## ", text, flags=re.MULTILINE)}
    section = parts[f"Tables and figures of {PAPERS[paper]}"]
    found = _tables_of(section)
    for place, title, names in REFERENCE.findall(section):
        others = _tables_of(parts[title])
        (name,) = [entry.title for entry in paper_entries() if (entry.paper, entry.place) == (paper, place.lower())]
        found |= {f"{place}. {name}: {one}": others[one] for one in re.findall("“([^”]+)”", names)}
    return found


def _tables_of(section: str) -> Tables:
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
    rows = re.findall(r"^\| ([\w -]+) \| ([^|]+) \|", rest.partition("\n## ")[0], re.MULTILINE)
    numbers = {name: number for number, name in PAPERS.items()}
    return {(numbers[paper], place) for paper, place in rows if paper in numbers}


def written_numbers(folder: Path, chart: str) -> list[str]:
    """The values that a chart of the report writes beside its bars or into its cells."""
    text = (folder / "plots" / f"{chart}.svg").read_text(encoding="utf-8")
    marks = text.partition('class="mark-text role-mark')[2]
    return re.findall(r">(-?\d[\d.]*)</text>", marks.partition('class="mark-')[0])
