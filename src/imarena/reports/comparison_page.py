"""The page that compares two models: the verdict, and the items where the two differ most, side by side."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from imarena.core import counted
from imarena.core.notices import Notice, sentences
from imarena.core.records import ImageRef, Item, Output
from imarena.reports.page import GalleryItem, Page, PageImage, Section
from imarena.reports.tables import Column, Table
from imarena.reports.tables.table import columns, interval
from imarena.stats import PLAIN_ELO, ComparisonVerdict, items_needed, win_rate

SHORT_SCALE = 50
"""Scores on a shorter scale are printed with decimals."""


@dataclass(frozen=True)
class ComparedItem:
    """The result on one item: NEW's share of the points and, if the judge gives scores, its lead."""

    item: Item
    old: Output
    new: Output
    points: float
    """1: NEW is better; 0: OLD is; 1/2: a tie."""
    gap: float | None
    """NEW's score minus OLD's."""

    @property
    def new_ahead(self) -> bool:
        """Whether NEW is better."""
        return self.points > 0.5

    @property
    def lead(self) -> float | None:
        """The winner's lead in score; negative if the direct comparison contradicts the scores."""
        return self.gap if self.gap is None or self.new_ahead else -self.gap


@dataclass(frozen=True)
class ComparisonFigures:
    """The figures of the page about two models."""

    old_name: str
    new_name: str
    judge: str
    verdict: ComparisonVerdict
    by_task: Mapping[str, ComparisonVerdict]
    notices: Sequence[Notice]
    scale: tuple[float, float] | None = None
    """The judge's lowest and highest score, if it states them."""


def build_comparison_page(
    figures: ComparisonFigures, items: Sequence[ComparedItem], picture: Callable[[ImageRef], str]
) -> Page:
    """Build the page. `items`: the clearest ones first; `picture` returns the file of an image, or ''."""
    sections = [_result(figures)]
    for name, new_ahead in ((figures.new_name, True), (figures.old_name, False)):
        exhibits = tuple(_exhibit(figures, item, picture) for item in items if item.new_ahead == new_ahead)
        if exhibits:
            number = counted(len(exhibits), "item")
            text = f"{number}, the clearest first; “ahead by” is {lead_meaning(figures.scale)}."
            sections.append(Section(f"Where {name} is ahead", (text,), exhibits=exhibits))
    return Page(f"{figures.new_name} against {figures.old_name}", figures.verdict.words, tuple(sections))


def verdict_sentence(verdict: ComparisonVerdict, new_name: str) -> str:
    """The figures behind the verdict, in one sentence."""
    if verdict.win_rate is None or verdict.win_rate_low is None or verdict.win_rate_high is None:
        return "No item has a verdict on both outputs."
    items = f"{verdict.n_items:,} {'item' if verdict.n_items == 1 else 'items'}"
    share = (
        f"{new_name} takes {verdict.win_rate:.1%} of the points on {items} "
        f"({_level(verdict)} interval {verdict.win_rate_low:.1%} to {verdict.win_rate_high:.1%}): "
        f"{verdict.wins} won, {verdict.losses} lost, {verdict.ties} tied."
    )
    return f"{share} {elo_text(verdict)}"


def elo_text(verdict: ComparisonVerdict) -> str:
    """The difference in Elo points with its interval; after a clean sweep, it has only one end."""
    low, high = verdict.elo_low, verdict.elo_high
    if verdict.elo is not None and low is not None and high is not None:
        return f"In Elo points: {verdict.elo:+.0f} ({low:+.0f} to {high:+.0f})."
    if low is not None:
        return f"In Elo points: {low:+.0f} or more."
    return f"In Elo points: {high:+.0f} or less." if high is not None else ""


def _level(verdict: ComparisonVerdict) -> str:
    return f"{verdict.level * 100:g}%"


def next_step_text(verdict: ComparisonVerdict) -> str:
    """How many more items would settle the comparison, and what the current items can show."""
    if verdict.n_items == verdict.ties:
        return "No item has a winner: this judge sees no difference." if verdict.n_items else ""
    items = f"{verdict.n_items:,} {'item' if verdict.n_items == 1 else 'items'}"
    if verdict.settled:
        return "You do not need more items to decide which one is better."
    ties = " and this share of ties" if verdict.ties else ""
    power_text = f" With {items}{ties}, no difference, however large, would be detected in 4 of 5 comparisons."
    if verdict.detectable_elo is not None:
        power_text = (
            f" {items}{' with this share of ties' if verdict.ties else ''} are enough to detect a true difference of "
            f"{verdict.detectable_elo:.0f} Elo points in 4 of 5 comparisons."
        )
    if verdict.more_items is None:
        return f"The estimated difference is 0{_plain_difference(verdict)}."
    return f"About {verdict.more_items:,} more items would settle it, if the difference is as it seems.{power_text}"


def _plain_difference(verdict: ComparisonVerdict) -> str:
    """How many items would show a difference that people notice; empty if there are too many ties for one."""
    tie_rate = verdict.ties / verdict.n_items
    if win_rate(PLAIN_ELO) > 1 - tie_rate / 2:
        return ""
    n_items = items_needed(win_rate(PLAIN_ELO), tie_rate=tie_rate, level=verdict.level)
    return f"; {n_items:,} items would show a difference of {PLAIN_ELO:.0f} Elo points"


def _result(figures: ComparisonFigures) -> Section:
    verdict = figures.verdict
    text = (verdict_sentence(verdict, figures.new_name), next_step_text(verdict), f"Judge: {figures.judge}.")
    tables = (task_table(figures.new_name, figures.by_task),) if figures.by_task else ()
    return Section("Result", text, tuple(sentences(figures.notices, "report")), tables)


def task_table(new_name: str, by_task: Mapping[str, ComparisonVerdict]) -> Table:
    """The new side's results by task."""
    level = next((_level(figures) for figures in by_task.values()), "95%")
    share = Column(f"{new_name}'s share", ".0%", absent="–")
    head = columns("task", "items", "won", "lost", "tied", share, Column(f"{level} interval", ".0%", absent="–"))
    rows = tuple(
        (
            task, figures.n_items, figures.wins, figures.losses, figures.ties, figures.win_rate,
            interval(figures.win_rate_low, figures.win_rate_high),
        )
        for task, figures in by_task.items()
    )  # fmt: skip
    return Table(head, rows)


def lead_meaning(scale: tuple[float, float] | None) -> str:
    """What “ahead by” is, with the judge's scale if it states one."""
    ends = f", which go from {scale[0]:,g} to {scale[1]:,g}" if scale else ""
    return f"the difference of the judge's two scores{ends}"


def lead_format(scale: tuple[float, float] | None) -> str:
    """The format of a lead: with decimals on a short scale."""
    return ".2f" if scale and scale[1] - scale[0] < SHORT_SCALE else ".0f"


def _lead_text(compared: ComparedItem, scale: tuple[float, float] | None) -> str:
    lead = compared.lead
    if lead is None:
        return ""
    points = format(abs(lead), lead_format(scale))
    if lead < 0:
        return f" when compared, though its score is {points} lower"
    return f", ahead by {points}{f' of {scale[1]:,g}' if scale and scale[0] == 0 else ''}"


def _exhibit(figures: ComparisonFigures, compared: ComparedItem, picture: Callable[[ImageRef], str]) -> GalleryItem:
    item = compared.item
    note = "better" + _lead_text(compared, figures.scale)
    images = [("source", image, "") for image in item.sources]
    images += [("reference", image, "") for image in item.references]
    sides = ((figures.old_name, compared.old, False), (figures.new_name, compared.new, True))
    for name, output, is_new in sides:
        if output.image is not None:
            images.append((name, output.image, note if is_new == compared.new_ahead else ""))
    pictures = tuple(PageImage(picture(image), caption, text) for caption, image, text in images)
    return GalleryItem(" · ".join(p for p in (item.key, item.task) if p), item.turns[0].instruction, pictures)
