"""Examples for a report: the best and worst outputs on the first board, and the most disputed pairs."""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType

import numpy as np
from numpy.typing import NDArray

from imarena.agreement import AlignOptions
from imarena.core import UserError, counted
from imarena.core.records import ImageRef, Item, Output
from imarena.reports import GalleryItem, PageImage, Section, build_disagreement_page, output_name
from imarena.workflows.boards import Board
from imarena.workflows.studies import read_aligned_columns, worst_disagreements
from imarena.workflows.views import (
    BOTH_BAD,
    LEFT,
    RIGHT,
    WHOLE,
    BattleColumns,
    EditQuestion,
    View,
    chain_of,
    edit_question,
    joined_battles,
)

SHOWN = 4
"""Number of examples of each kind."""
GOOD = 0.5
"""A win share or a true quality (0 to 1) above this is good, below it bad."""
NO_TRUTH: Mapping[str, float] = MappingProxyType({})
PictureLink = Callable[[ImageRef], str]


def example_sections(
    view: View, main: Board | None, boards: Sequence[Board], judges: Sequence[str], picture: PictureLink,
    truth: Mapping[str, float] = NO_TRUTH,
) -> Iterator[Section]:  # fmt: skip
    """Best, worst and most disputed outputs, with their images. `truth`: the known quality (0..1) of outputs by id."""
    if main is None or not len(main.battles):
        return
    share, fought = output_points(view, main.battles)
    yield from _extremes(view, main, share, fought, picture, truth)
    yield from _disagreements(view, judges, picture)
    disputed = _disputed_items(view, [board.battles for board in boards], picture)
    if disputed:
        text = "Verdicts that contradict each other on the same two outputs; the most divided pair of each item first."
        yield Section("Most disputed pairs", (text,), exhibits=tuple(disputed))


def output_points(view: View, battles: BattleColumns) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """(k,) the share of points that each output took in its battles (a tie is half), and its number of battles."""
    number = len(view.entries.output_id)
    points = np.where(battles.winner == LEFT, 1.0, np.where(battles.winner == RIGHT, 0.0, 0.5))
    points[battles.winner == BOTH_BAD] = 0.0
    other = np.where(battles.winner == BOTH_BAD, 0.0, 1.0 - points)
    fought = np.bincount(battles.left, minlength=number) + np.bincount(battles.right, minlength=number)
    won = np.bincount(battles.left, points, number) + np.bincount(battles.right, other, number)
    return np.divide(won, fought, out=np.full(number, np.nan), where=fought > 0), fought


def _extremes(
    view: View, main: Board, share: NDArray[np.float64], fought: NDArray[np.int64], picture: PictureLink,
    truth: Mapping[str, float],
) -> Iterator[Section]:  # fmt: skip
    entries, battles = view.entries, main.battles
    who, are = whose_opinion(main)
    rows = np.flatnonzero(entries.pictured & (fought > 0))
    enough = rows[fought[rows] >= np.median(fought[rows]) / 2] if rows.size else rows
    scores = _mean_scores(battles, len(entries.output_id))
    for extreme, sign in (("best", -1), ("worst", 1)):
        selected = enough[sign * share[enough] < sign * 0.5]  # the best took more than half of the points
        order = selected[np.lexsort((entries.order[selected], sign * scores[selected], sign * share[selected]))]
        positions = _different(view, order)
        if positions:
            text = "By the win share of an output in its battles on the first board (a tie counts half); one per item."
            if truth:
                text += f" Where the true quality (0 to 1, as in “Known truth”) contradicts it, {who} {are} wrong."
            wrong = f"{who} {are} wrong here"
            exhibits = tuple(_exhibit(view, index, share, fought, picture, truth, wrong) for index in positions)
            yield Section(f"Outputs that {who} rated {extreme}", (text,), exhibits=exhibits)


def whose_opinion(board: Board) -> tuple[str, str]:
    """Who rated the outputs of a board, and the verb that fits."""
    if board.chosen.source == "human":
        return "people", "are"
    if board.chosen.source == "all":
        return "people and judges", "are"
    return ("the judge", "is") if len(board.chosen.judges) == 1 else ("the judges", "are")


def _mean_scores(battles: BattleColumns, number: int) -> NDArray[np.float64]:
    """(k,) the score of each output in its battles; 0 if it was only compared."""
    scores = np.zeros(number)
    scored = battles.scored
    scores[battles.left[scored]] = battles.score_left[scored]
    scores[battles.right[scored]] = battles.score_right[scored]
    return scores


def _different(view: View, order: NDArray[np.int64]) -> list[int]:
    """The first outputs in this order, one per item."""
    items: set[int] = set()
    positions: list[int] = []
    for index in order.tolist():
        item = int(view.entries.item[index])
        if item not in items:
            items.add(item)
            positions.append(index)
        if len(positions) == SHOWN:
            break
    return positions


def _exhibit(
    view: View, index: int, share: NDArray[np.float64], fought: NDArray[np.int64], picture: PictureLink,
    truth: Mapping[str, float], wrong: str,
) -> GalleryItem:  # fmt: skip
    """An output with its win share; `wrong` is added if the known truth is on the other side of one half."""
    output, item = _records(view, index)
    note = f"win share {share[index]:.0%} in {counted(int(fought[index]), 'battle')}"
    if output.output_id in truth:
        quality = truth[output.output_id]
        note += f", true quality {quality:.2f}"
        note += f": {wrong}" if (quality < GOOD) == (share[index] > GOOD) else ""
    return output_exhibit(view, item, output, _about(item), note, picture)


def output_exhibit(view: View, item: Item, output: Output, title: str, note: str, picture: PictureLink) -> GalleryItem:
    """An output beside the images of its edit."""
    edit = edit_question(item, output, None, chain_of(view.workspace, output))
    images = asked_images(edit, picture)
    if output.image is not None:
        images.append(PageImage(picture(output.image), output_name(item, output), note))
    return GalleryItem(title, edit.instruction, tuple(images))


def _records(view: View, index: int) -> tuple[Output, Item]:
    store = view.workspace.store
    output = next(iter(store.records(Output, id=view.entries.id_of(index))))
    return output, next(iter(store.records(Item, id=output.item_id)))


def asked_images(edit: EditQuestion, picture: PictureLink) -> list[PageImage]:
    """The source and reference images of the requested edit."""
    images = [PageImage(picture(image), edit.input_name) for image in edit.sources]
    return images + [PageImage(picture(image), "reference") for image in edit.references]


def _about(item: Item) -> str:
    return " · ".join(part for part in (item.key, item.task, item.topic) if part)


def _disagreements(view: View, judges: Sequence[str], picture: PictureLink) -> Iterator[Section]:
    """The largest disagreements between a judge and people, as shown by `imarena align --page`."""
    options = AlignOptions(rounds=0)
    try:
        columns = read_aligned_columns(view.workspace, judges, options)
        worst = worst_disagreements(view.workspace, columns, options, SHOWN)
    except UserError:  # no answers of judges and people on the same outputs
        return
    for section in build_disagreement_page(worst.items, worst.groups, worst.rules, picture).sections:
        has_title = section.title.startswith("Where ")
        yield section if has_title else replace(section, title="Disagreement with people by task and topic")


def _disputed_items(view: View, parts: Sequence[BattleColumns], picture: PictureLink) -> list[GalleryItem]:
    battles = joined_battles([part for part in parts if len(part)])
    battles = battles.where(np.isin(battles.winner, (LEFT, RIGHT)))
    order_of = view.entries.order.astype(np.int64)  # by id: arrival differs from run to run
    by_order = np.argsort(order_of)
    left, right = order_of[battles.left], order_of[battles.right]
    number = order_of.size
    pairs, row = np.unique(np.minimum(left, right) * number + np.maximum(left, right), return_inverse=True)
    lower_won = (battles.winner == LEFT) == (left < right)
    lower, every = np.bincount(row, lower_won, pairs.size), np.bincount(row, minlength=pairs.size)
    split = np.minimum(lower, every - lower)
    divided = np.flatnonzero(split > 0)
    order = divided[np.lexsort((pairs[divided], -(split[divided] / every[divided]), -split[divided]))]
    first_of_item = np.zeros(order.size, bool)
    first_of_item[np.unique(view.entries.item[by_order[pairs[order] // number]], return_index=True)[1]] = True
    order = order[np.argsort(~first_of_item, kind="stable")][:SHOWN]
    exhibits = []
    for index in order.tolist():
        sides = by_order[int(pairs[index]) // number], by_order[int(pairs[index]) % number]
        (first, item), (second, _) = (_records(view, int(side)) for side in sides)
        edit = edit_question(item, first, second, chain_of(view.workspace, first, second))
        cast = np.flatnonzero(row == index)
        rows = cast[lower_won[cast]], cast[~lower_won[cast]]
        images = asked_images(edit, picture)
        for output, verdicts in zip((first, second), rows, strict=True):
            if output.image is not None:
                images.append(
                    PageImage(picture(output.image), output.editor or "(not named)", counted(verdicts.size, "verdict"))
                )
        remarks = (
            f"For {output.editor}: {_givers(battles, verdicts)}."
            for output, verdicts in zip((first, second), rows, strict=True)
        )
        exhibits.append(GalleryItem(_about(item), edit.instruction, tuple(images), tuple(remarks)))
    return exhibits


def _givers(battles: BattleColumns, rows: NDArray[np.int64]) -> str:
    """The sources of these verdicts with counts: people, their mean ratings, a judge's comparisons or scores."""
    number: Counter[str] = Counter()
    names = battles.judge.list(rows), battles.dimension.list(rows), battles.scored[rows].tolist()
    for judge, dimension, scored in zip(*names, strict=True):
        source = f"{'scores of' if scored else 'comparison by'} {judge}" if judge else "people"
        source = "mean ratings of people" if scored and not judge else source
        number[f"{source} on {dimension}" if dimension not in (None, WHOLE) else source] += 1
    return "; ".join(name if times == 1 else f"{name} ({times})" for name, times in sorted(number.items()))
