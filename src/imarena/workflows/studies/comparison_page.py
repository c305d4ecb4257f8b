"""The page of a comparison: the verdict, and the items where the two differ most, side by side."""

from pathlib import Path

from imarena.core import ImarenaError
from imarena.core.notices import sentences
from imarena.core.records import ImageRef
from imarena.images import preview
from imarena.reports import GalleryItem, Page, PageImage, Section, columns, interval, write_html
from imarena.reports.tables import Column, Table
from imarena.stats import battles_needed
from imarena.storage import Workspace
from imarena.workflows.studies.comparing import ComparisonVerdict, ItemResult, ModelComparison, largest_differences

SHOWN = 12
SIDE_PX = 512
PLAIN_ELO = 50.0
"""A difference that most people would notice after a while."""


def write_comparison(workspace: Workspace, comparison: ModelComparison, folder: Path) -> Path:
    """Write ``index.html`` and its pictures; returns the page."""
    sides = comparison.sides
    ahead = [r for r in largest_differences(comparison.items, len(comparison.items)) if r.points > 0.5][:SHOWN]
    behind = [r for r in largest_differences(comparison.items, len(comparison.items)) if r.points < 0.5][:SHOWN]
    sections = [_result(comparison)]
    for title, rows in ((f"Where {sides.new_name} is ahead", ahead), (f"Where {sides.old_name} is ahead", behind)):
        if rows:
            exhibits = tuple(_exhibit(workspace, row, comparison, folder) for row in rows)
            sections.append(Section(title, (f"The {len(rows)} clearest items.",), exhibits=exhibits))
    page = Page(f"{sides.new_name} against {sides.old_name}", comparison.verdict.words, tuple(sections))
    return write_html(page, folder)


def verdict_sentence(verdict: ComparisonVerdict, new_name: str) -> str:
    """The figures behind the verdict, in a sentence."""
    if verdict.win_rate is None or verdict.win_rate_low is None or verdict.win_rate_high is None:
        return "No item has a verdict on both outputs."
    items = f"{verdict.n_items:,} {'item' if verdict.n_items == 1 else 'items'}"
    share = (
        f"{new_name} takes {verdict.win_rate:.1%} of the points on {items} "
        f"(95 % interval {verdict.win_rate_low:.1%} to {verdict.win_rate_high:.1%}): "
        f"{verdict.wins} won, {verdict.losses} lost, {verdict.ties} tied."
    )
    return f"{share} {elo_text(verdict)}"


def elo_text(verdict: ComparisonVerdict) -> str:
    """The difference in Elo points with its interval; a clean sweep has one end only."""
    low, high = verdict.elo_low, verdict.elo_high
    if verdict.elo is not None and low is not None and high is not None:
        return f"In Elo points: {verdict.elo:+.0f} ({low:+.0f} to {high:+.0f})."
    if low is not None:
        return f"In Elo points: {low:+.0f} or more."
    return f"In Elo points: {high:+.0f} or less." if high is not None else ""


def next_step_text(verdict: ComparisonVerdict) -> str:
    """How many more items would settle it."""
    shown = ""
    if verdict.detectable_elo is not None:
        least = f"{verdict.detectable_elo:.0f} Elo points"
        shown = f" {verdict.n_items:,} items are enough to see a difference of {least} four times in five."
    if verdict.settled:
        return f"More items are not needed to tell which one is better.{shown}"
    if verdict.n_items == verdict.ties:
        return "No item has a winner: this judge sees no difference." if verdict.n_items else ""
    if verdict.more_items is None:
        needed = battles_needed(PLAIN_ELO, tie_rate=verdict.ties / verdict.n_items).battles
        return f"The two look the same so far; {needed:,} items would show a difference of {PLAIN_ELO:.0f} Elo points."
    return f"About {verdict.more_items:,} more items would settle it, if the difference is as it seems.{shown}"


def _result(comparison: ModelComparison) -> Section:
    verdict, sides = comparison.verdict, comparison.sides
    text = (verdict_sentence(verdict, sides.new_name), next_step_text(verdict), f"Judge: {comparison.judge}.")
    tables = (task_table(comparison),) if comparison.by_task else ()
    return Section("Result", text, tuple(sentences(comparison.notices, "report")), tables)


def task_table(comparison: ModelComparison) -> Table:
    """The new side's results by task."""
    share = Column(f"{comparison.sides.new_name}'s share", ".0%", absent="–")
    head = columns("task", "items", "won", "lost", "tied", share, Column("95 % interval", ".0%", absent="–"))
    rows = tuple(
        (
            task, result.n_items, result.wins, result.losses, result.ties, result.win_rate,
            interval(result.win_rate_low, result.win_rate_high),
        )
        for task, result in comparison.by_task.items()
    )  # fmt: skip
    return Table(head, rows)


def _exhibit(workspace: Workspace, result: ItemResult, comparison: ModelComparison, folder: Path) -> GalleryItem:
    item, sides = result.item, comparison.sides
    ahead = sides.new_name if result.points > 0.5 else sides.old_name
    note = "better" + (f", ahead by {abs(result.gap):.0f}" if result.gap is not None else "")
    shown = [("source", image, "") for image in item.sources]
    shown += [("reference", image, "") for image in item.references]
    for name, output in ((sides.old_name, result.old), (sides.new_name, result.new)):
        if output.image is not None:
            shown.append((name, output.image, note if name == ahead else ""))
    pictures = tuple(PageImage(_file(workspace, image, folder), caption, said) for caption, image, said in shown)
    return GalleryItem(" · ".join(p for p in (item.key, item.task) if p), item.turns[0].instruction, pictures)


def _file(workspace: Workspace, image: ImageRef, folder: Path) -> str:
    path = folder / "images" / f"{image.sha256[:20]}.jpg"
    if not path.exists():
        path.parent.mkdir(parents=True, exist_ok=True)
        try:
            path.write_bytes(preview(workspace.load(image), SIDE_PX).data)
        except ImarenaError:
            return ""  # withdrawn or missing: `verify` tells
    return f"images/{path.name}"
