"""Parts that a report lacks, why, and the command that makes the data."""

from collections.abc import Collection, Iterable
from dataclasses import dataclass
from functools import cache

from imarena.core import command_line, fill_in_commands, package_yaml
from imarena.reports import Section

TITLE = "Not in this report"


@dataclass(frozen=True)
class ReportPart:
    """A part of a report: its title, the data it needs, and the command that makes them."""

    title: str
    needs: str
    command: str
    all_editors: bool = False
    """Whether the part appears only in a report on all editors."""
    starts: str = ""
    """Beginning of the titles of its sections; empty: `title`."""
    ends: str = ""
    """End of the titles of its sections; empty: they have a known beginning."""

    def is_among(self, titles: Iterable[str]) -> bool:
        """Whether a section with one of these titles shows this part."""
        if self.ends:
            return any(title.endswith(self.ends) for title in titles)
        return any(title.startswith(self.starts or self.title) for title in titles)


@cache
def report_parts() -> tuple[ReportPart, ...]:
    """Every part that a report can have, in the report's order."""
    parts = package_yaml("imarena.workflows.reporting", "missing_parts.yaml")["parts"]
    return tuple(ReportPart(**part) for part in parts)


def absent_section(
    sections: Iterable[Section | None], chosen: bool, ungrouped: Collection[str], *, gallery: bool = True
) -> Section | None:
    """A section with a sentence for each missing part; None if nothing is missing.

    `chosen`: the report is limited to some editors. `ungrouped`: columns by which the first board is not split, and
    `dimension` if no board is about a single one.
    """
    titles = [section.title for section in sections if section is not None]
    absent = [part for part in report_parts() if not part.is_among(titles) and (gallery or part.title != "Gallery")]
    left_out = [part.title for part in absent if part.all_editors and chosen]
    points = [
        f"{part.title}: needs {part.needs}. Command: {fill_in_commands(part.command)}."
        for part in absent
        if not (part.all_editors and chosen)
    ]
    if left_out:
        points.append(
            f"{', '.join(left_out)}: only in a report of all editors. Command: {command_line('report')} without "
            "--editors."
        )
    if labels := [name for name in ungrouped if name != "dimension"]:
        points.append(
            f"Leaderboard by {', '.join(labels)}: needs verdicts on items with two or more values in that column. "
            f"Command: {command_line('import')}, with a table that has the column."
        )
    if "dimension" in ungrouped:
        points.append(
            "Leaderboard by dimension: needs ratings, votes or judgments about single dimensions. Command: "
            f"{command_line('campaign create NAME --kind rating')}, or "
            f"{command_line('battle --judge geditbench-visual-quality')}."
        )
    return Section(TITLE, points=tuple(points), folded=True) if points else None
