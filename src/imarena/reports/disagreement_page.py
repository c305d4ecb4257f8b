"""Where a judge and people disagree most: tables for the terminal, and a page with images and both sides' comments."""

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from imarena.core.records import ImageRef
from imarena.reports.page import GalleryItem, Page, PageImage, Section
from imarena.reports.tables import CellValue, Column, Number, Table
from imarena.reports.tables.table import columns

_SHOWN_WORDS = 60
RATED, VOTED = "rating", "vote"


@dataclass(frozen=True)
class ShownImage:
    """An image of a disagreement, with its caption and a note below it."""

    caption: str
    image: ImageRef | None
    note: str = ""


@dataclass(frozen=True)
class ShownDisagreement:
    """One output or pair, with the answers and comments of the judge and of people."""

    kind: str
    """`rating` or `vote`."""
    judge: str
    about: str
    """The criterion or the dimension."""
    dataset: str
    key: str
    task: str
    topic: str
    instruction: str
    editors: tuple[str, ...]
    size: float
    judge_answer: str
    people_answer: str
    judge_value: float | str
    """The score, or the side of the judge's verdict."""
    people_value: float | str
    """The mean rating, or the side that most people chose."""
    rank_difference: float | None
    """Ratings: the judge's rank minus people's; below 0 if the judge is too strict."""
    certainty: float | None
    answers: tuple[tuple[str, float], ...]
    """The ratings by rater, or the number of votes by outcome."""
    judge_words: tuple[str, ...]
    people_words: tuple[str, ...]
    images: tuple[ShownImage, ...] = ()

    @property
    def difference(self) -> float:
        """Ratings: the judge's rank minus people's, below 0 if the judge is too strict. Votes: the size."""
        return self.size if self.rank_difference is None else self.rank_difference

    @property
    def direction(self) -> str:
        """Ratings: the meaning of the difference's sign; empty for votes."""
        if self.kind != RATED or not self.difference:
            return ""
        return "too generous" if self.difference > 0 else "too strict"

    def to_json(self) -> dict[str, Any]:
        """Plain values for JSON."""
        figures: dict[str, Any] = {
            "judge_side": self.judge_value, "people_side": self.people_value, "certainty": self.certainty,
            "votes": {outcome: int(number) for outcome, number in self.answers},
        }  # fmt: skip
        if self.kind == RATED:
            figures = {
                "judge_score": self.judge_value, "people_mean": self.people_value, "difference": self.rank_difference,
                "ratings": [value for _, value in self.answers],
            }  # fmt: skip
        internal = ("judge_value", "people_value", "rank_difference", "certainty", "answers", "images")
        return {**{name: value for name, value in vars(self).items() if name not in internal}, **figures}


@dataclass(frozen=True)
class GroupDisagreement:
    """How much a judge and people disagree in one task or topic."""

    kind: str
    judge: str
    label: str
    """`task` or `topic`."""
    value: str
    n: int
    """Number of outputs, or of pairs on which both chose a side."""
    opposite: int | None
    """Votes: number of pairs with opposite sides."""
    mean_size: float | None
    """Ratings: the mean distance between the two ranks."""
    mean_difference: float | None
    """Ratings: above 0 if the judge is too generous."""

    def to_json(self) -> dict[str, Any]:
        """Plain values for JSON."""
        return {
            "kind": self.kind, "judge": self.judge, self.label: self.value, "n": self.n, "opposite": self.opposite,
            "share": self.share, "mean_size": self.mean_size, "mean_difference": self.mean_difference,
        }  # fmt: skip

    @property
    def share(self) -> float | None:
        """Votes: the share of opposite sides."""
        return self.opposite / self.n if self.opposite is not None and self.n else None


_SHIFT_NOTE = (
    "Shift: how much higher the judge ranks these outputs than people do. It is 0 over all outputs of a judge, so it "
    "compares one {label} with the others and is no bias."
)


def disagreement_tables(items: Sequence[ShownDisagreement], groups: Sequence[GroupDisagreement]) -> list[Table]:
    """Tables of the largest disagreements and of their distribution over tasks and topics."""
    return [*_items(items), *group_tables(groups)]


def _items(items: Sequence[ShownDisagreement]) -> list[Table]:
    rows: list[tuple[CellValue, ...]] = [
        (
            case.judge, case.key, case.task, " / ".join(case.editors), case.about, case.judge_answer,
            case.people_answer, Number(case.difference, _spec(case)), case.direction,
            " ".join((*case.judge_words, *case.people_words))[:_SHOWN_WORDS],
        )
        for case in items
    ]  # fmt: skip
    head = columns(
        "judge", "item", Column("task", drop=1), Column("output", wrap=True), Column("about", drop=2),
        Column("judge's answer", wrap=True), Column("people's answer", wrap=True), "disagreement",
        Column("judge is", wrap=True), Column("words", wrap=True, drop=1),
    )  # fmt: skip
    return [Table(head, tuple(rows), "Largest disagreements between judge and people")] if rows else []


def _spec(case: ShownDisagreement) -> str:
    return "+.3f" if case.kind == RATED else ".3f"


def group_tables(groups: Sequence[GroupDisagreement]) -> list[Table]:
    """One table per kind and label."""
    tables = []
    for kind, label in dict.fromkeys((group.kind, group.label) for group in groups):
        notes: tuple[str, ...] = ()
        rows_of_label = [group for group in groups if (group.kind, group.label) == (kind, label)]
        if kind == VOTED:
            head = columns("judge", label, "pairs", "opposite sides", Column("share", ".0%", "–"))
            rows: tuple[tuple[CellValue, ...], ...] = tuple(
                (group.judge, group.value, group.n, group.opposite, group.share) for group in rows_of_label
            )
            title = f"Opposite sides by {label}, of the pairs that both decide"
        else:
            head = columns("judge", label, "outputs", Column("mean distance", ".3f"), Column("shift", "+.3f", drop=1))
            split = Counter(group.judge for group in rows_of_label)
            shifts = [group.mean_difference if split[group.judge] > 1 else None for group in rows_of_label]
            rows = tuple(
                (group.judge, group.value, group.n, group.mean_size, shift)
                for group, shift in zip(rows_of_label, shifts, strict=True)
            )
            notes = (_SHIFT_NOTE.format(label=label),) if max(split.values()) > 1 else ()
            title = f"Distance of the ranks by {label} (0 to 1)"
        tables.append(Table(head, rows, title, notes))
    return tables


def build_disagreement_page(
    items: Sequence[ShownDisagreement],
    groups: Sequence[GroupDisagreement],
    rules: Sequence[str],
    picture: Callable[[ImageRef], str],
) -> Page:
    """Build the page. `items` are shown in the given order; `picture` returns the file of an image."""
    sections = []
    if groups:
        sections.append(Section("By task and topic", tables=tuple(group_tables(groups))))
    for judge in dict.fromkeys(case.judge for case in items):
        exhibits = tuple(_exhibit(case, picture) for case in items if case.judge == judge)
        sections.append(Section(f"Where {judge} and people disagree most", tuple(rules), exhibits=exhibits))
    return Page("Where the judge is wrong", f"{len(items)} disagreements, the largest first.", tuple(sections))


def _exhibit(case: ShownDisagreement, picture: Callable[[ImageRef], str]) -> GalleryItem:
    editors = " and ".join(case.editors)
    title = " · ".join(part for part in (case.key, editors, case.task, case.topic, case.about) if part)
    direction = f" (the judge is {case.direction})" if case.direction else ""
    remarks = (
        f"Disagreement: {case.difference:{_spec(case)}}{direction}.",
        f"The judge: {case.judge_answer}.",
        *case.judge_words,
        f"People: {case.people_answer}.",
        *case.people_words,
    )
    pictures = tuple(
        PageImage("" if image.image is None else picture(image.image), image.caption, image.note)
        for image in case.images
    )
    return GalleryItem(title, case.instruction, pictures, remarks)
