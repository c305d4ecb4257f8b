"""What a report does not have, why, and the command that makes the data."""

from collections.abc import Collection, Iterable
from dataclasses import dataclass

from imarena.reports import Section

TITLE = "What this report does not have"


@dataclass(frozen=True)
class ReportPart:
    """A part of a report: its title, what it needs, and the command that makes that."""

    title: str
    needs: str
    command: str
    all_editors: bool = False
    """Only in a report of all editors."""
    starts: str = ""
    """How the titles of its sections begin; empty: as `title`."""

    def is_among(self, titles: Iterable[str]) -> bool:
        """Does a section with one of these titles show it?"""
        return any(title.startswith(self.starts or self.title) for title in titles)


_RATING = "imarena campaign create NAME --kind rating"
_BATTLE = "imarena edit, then imarena battle"
PARTS = (
    ReportPart("What is significant", "a board with intervals: verdicts on several items", "imarena battle"),
    ReportPart("Leaderboard", "verdicts on outputs of two or more editors", "imarena battle, or imarena serve"),
    ReportPart("Failure modes", "measured, judged or rated outputs", "imarena edit, then imarena judge"),
    ReportPart("What raters found wrong", "issues that raters marked", _RATING),
    ReportPart("Error areas", "boxes or segments that raters marked", _RATING),
    ReportPart("Words that address a judge", "a search for text in the images", "imarena scan"),
    ReportPart("Best outputs", "battles that outputs with stored images won", _BATTLE, True),
    ReportPart("Worst outputs", "battles that outputs with stored images lost", _BATTLE, True),
    ReportPart("Where a judge and people disagree", "verdicts of a judge and of people on the same outputs or pairs",
               "imarena judge, then imarena campaign create NAME", True, starts="Where "),
    ReportPart("Most disputed pairs", "two verdicts that contradict each other", "imarena campaign create NAME", True),
    ReportPart("Agreement among raters", "two or more raters of the same outputs or pairs",
               "imarena campaign create NAME", True),
    ReportPart("Judges against people", "verdicts of a judge and of people on the same outputs or pairs",
               "imarena judge, then imarena campaign create NAME", True),
    ReportPart("Judge health", "answers of a judge", "imarena judge", True),
    ReportPart("Tables and figures of the papers", "outputs and verdicts", "imarena edit, then imarena judge", True,
               starts="Tables "),
    ReportPart("Gallery", "outputs", "imarena edit"),
)  # fmt: skip
"""Every part that a report has where the data allow, in its order. The tables of papers have a list of their own."""


def absent_section(
    made: Iterable[Section | None], chosen: bool, ungrouped: Collection[str], *, gallery: bool = True
) -> Section | None:
    """A sentence for each part that is not among the sections; None where nothing is missing.

    `chosen`: the report is about chosen editors. `ungrouped`: columns by which the first board is not split, and
    `dimension` where no board is about one.
    """
    titles = [section.title for section in made if section is not None]
    absent = [part for part in PARTS if not part.is_among(titles) and (gallery or part.title != "Gallery")]
    whole = [part.title for part in absent if part.all_editors and chosen]
    points = [
        f"{part.title}: needs {part.needs}. Command: {part.command}."
        for part in absent
        if not (part.all_editors and chosen)
    ]
    if whole:
        points.append(
            f"{', '.join(whole)}: only in a report of all editors. Command: imarena report without --editors."
        )
    if labels := [name for name in ungrouped if name != "dimension"]:
        points.append(
            f"Leaderboard by {', '.join(labels)}: needs verdicts on items with two or more values in that column. "
            "Command: imarena import, with a table that has the column."
        )
    if "dimension" in ungrouped:
        points.append(
            "Leaderboard by dimension: needs ratings, votes or judgments about single dimensions. Command: "
            f"{_RATING}, or imarena battle --judge geditbench-visual-quality."
        )
    return Section(TITLE, points=tuple(points)) if points else None
