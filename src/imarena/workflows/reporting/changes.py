"""What changed between two boards, whether it is significant, and how much is due to the answers of judge or raters.

The boards are recomputed from the outputs that both have verdicts on. Changes between these two are due to the
answers: different ones, or more of them. The rest is due to outputs and items that only one board has.
"""

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime, timedelta
from pathlib import Path

import numpy as np

from imarena.core import UserError, counted
from imarena.reports import Section, columns
from imarena.reports.tables import CellValue, Column, Number, Table
from imarena.storage import JudgeVariant, is_workspace, open_workspace
from imarena.workflows.boards import Board, BoardQuery, Boards
from imarena.workflows.views import LEFT, RIGHT, View, Window

_DAY = re.compile(r"\d{4}-\d{2}-\d{2}")
PairVerdicts = Mapping[tuple[str, str], float]
"""Maps two outputs, the smaller id first, to the mean points of the first."""


@dataclass(frozen=True)
class ModelChange:
    """One model on both boards; old ratings are shifted so that the means over common models agree."""

    model: str
    old: float
    new: float
    old_rank: int
    new_rank: int
    half_width: float | None
    """Half width of the 95% interval of the change, assuming independent boards; None if a board has no interval."""
    by_answers: float | None
    """The change between the boards of the common outputs; None if these do not link this model."""

    @property
    def change(self) -> float:
        """New rating minus old."""
        return self.new - self.old

    @property
    def real(self) -> bool | None:
        """Whether the change is larger than its interval; None if unknown."""
        return None if self.half_width is None else abs(self.change) > self.half_width


@dataclass(frozen=True)
class BoardChanges:
    """The changes from one board to another."""

    old_name: str
    models: tuple[ModelChange, ...]
    left: tuple[str, ...]
    """Models that only the old board has."""
    joined: tuple[str, ...]
    common_pairs: int
    changed_pairs: int
    """Common pairs whose preferred side changed."""
    common_outputs: int
    answers: tuple[int, int]
    """Battles between the common outputs, old and new."""
    source: str
    """Who gave the answers: `the judge`, `the raters`, or both."""
    judge_changes: tuple[str, ...]
    """Differences of the judge between the boards."""
    comparable: bool = True
    """Whether a difference of ratings means anything: they share outputs, or items and the judges (or people)."""


def changes_section(boards: Boards, new: Board, query: BoardQuery, against: str) -> Section:
    """The section on changes `against` another workspace (a folder) or a day (YYYY-MM-DD)."""
    if is_workspace(Path(against)):
        with open_workspace(Path(against)) as other:
            old_boards = Boards(View(other))
            return _section(board_changes(old_boards, _board(old_boards, query, against), boards, new, query, against))
    if not _DAY.fullmatch(against):
        raise UserError(
            f"'{against}' is neither a workspace nor a day.", hint="Give a folder with a workspace, or YYYY-MM-DD."
        )
    try:
        day = date.fromisoformat(against)
    except ValueError:
        raise UserError(f"'{against}' is not a day of the calendar.", hint="Write YYYY-MM-DD.") from None
    if day > datetime.now(UTC).date():
        raise UserError(f"{against} is in the future.", hint="Name a past day, or a workspace.")
    until = (day - timedelta(days=1)).isoformat()
    before = replace(query, window=Window(until=until))
    earlier = Boards(View(boards.view.workspace, until=until))
    old = _board(earlier, before, f"before {against}")
    return _section(board_changes(earlier, old, boards, new, query, f"before {against}", old_query=before))


def _board(boards: Boards, query: BoardQuery, name: str) -> Board:
    try:
        return boards.board(query)
    except UserError as error:
        hint = "Name a later day, or a workspace with verdicts on the same editors."
        raise UserError(f"There is no board to compare with ({name}): {error}", hint=hint) from error


def board_changes(
    old_boards: Boards, old: Board, new_boards: Boards, new: Board, query: BoardQuery, name: str,
    *, old_query: BoardQuery | None = None,
) -> BoardChanges:  # fmt: skip
    """The changes from the old board to the new one."""
    before = {row.model: row for row in old.ranking.models}
    after = {row.model: row for row in new.ranking.models}
    common = [model for model in after if model in before]
    if len(common) < 2:
        raise UserError(f"Fewer than two editors are on both boards ({name}).", hint="A comparison needs two or more.")
    old_pairs, new_pairs = pair_verdicts(old_boards.view, old), pair_verdicts(new_boards.view, new)
    shared = frozenset(old_pairs.keys() & new_pairs.keys())
    changed = sum(np.sign(old_pairs[pair] - 0.5) != np.sign(new_pairs[pair] - 0.5) for pair in shared)
    outputs = _outputs(old_boards.view, old) & _outputs(new_boards.view, new)
    parts, answers = _answers_part(old_boards, old_query or query, new_boards, query, outputs)
    shift = float(np.mean([after[model].rating - before[model].rating for model in common]))
    items = _items(new_boards.view, new)
    models = tuple(
        ModelChange(
            model, before[model].rating + shift, after[model].rating, before[model].rank, after[model].rank,
            _half_width(before[model].low, before[model].high, after[model].low, after[model].high),
            parts.get(model),
        )
        for model in common
    )  # fmt: skip
    return BoardChanges(
        name, models, tuple(m for m in before if m not in after), tuple(m for m in after if m not in before),
        len(shared), int(changed), len(outputs), answers, _source(old, new),
        tuple(_judge_changes(old_boards.view, old, new_boards.view, new)),
        bool(outputs) or (_sources(old) == _sources(new) and not items.isdisjoint(_items(old_boards.view, old))),
    )  # fmt: skip


def _source(old: Board, new: Board) -> str:
    (old_people, old_judges), (people, judges) = _sources(old), _sources(new)
    if old_judges or judges:
        return "the judge and the raters" if old_people or people else "the judge"
    return "the raters"


def _outputs(view: View, board: Board) -> frozenset[str]:
    """The outputs that a board has verdicts on; ids are the same in every workspace."""
    places = np.unique(np.concatenate([board.battles.left, board.battles.right]))
    return frozenset(view.entries.id_of(index) for index in places.tolist())


def _items(view: View, board: Board) -> frozenset[str]:
    """The items of a board's battles; ids are the same in every workspace."""
    places = np.unique(view.entries.item[board.battles.left])
    return frozenset(view.entries.item_id[code] for code in places.tolist())


def _sources(board: Board) -> tuple[bool, frozenset[str]]:
    """Whether people gave the verdicts, and the judges that did."""
    return board.chosen.source in ("human", "all"), frozenset(board.chosen.judges)


def pair_verdicts(view: View, board: Board) -> PairVerdicts:
    """The mean points of the first output of each pair on a board; ids are the same in every workspace."""
    entries, battles = view.entries, board.battles
    points: dict[tuple[str, str], list[float]] = {}
    for left, right, winner in zip(battles.left.tolist(), battles.right.tolist(), battles.winner.tolist(), strict=True):
        first, second = entries.id_of(left), entries.id_of(right)
        value = 1.0 if winner == LEFT else 0.0 if winner == RIGHT else 0.5
        key, value = ((first, second), value) if first < second else ((second, first), 1.0 - value)
        points.setdefault(key, []).append(value)
    return {key: float(np.mean(values)) for key, values in points.items()}


def _answers_part(
    old_boards: Boards, old_query: BoardQuery, new_boards: Boards, new_query: BoardQuery, outputs: frozenset[str]
) -> tuple[dict[str, float], tuple[int, int]]:
    """The centred rating change of each model between the boards of these outputs, and both numbers of battles."""
    try:
        old, new = (
            boards.board(replace(query, outputs=outputs, notes=False))
            for boards, query in ((old_boards, old_query), (new_boards, new_query))
        )
    except UserError:  # the common outputs do not link two editors
        return {}, (0, 0)
    before = {row.model: row.rating for row in old.ranking.models}
    moved = {row.model: row.rating - before[row.model] for row in new.ranking.models if row.model in before}
    middle = float(np.mean(list(moved.values()))) if moved else 0.0
    return {model: value - middle for model, value in moved.items()}, (len(old.battles), len(new.battles))


def _half_width(*ends: float | None) -> float | None:
    if any(end is None for end in ends):
        return None
    low, high, new_low, new_high = (float(end) for end in ends if end is not None)
    return math.hypot((high - low) / 2, (new_high - new_low) / 2)


def _judge_changes(old_view: View, old: Board, new_view: View, new: Board) -> list[str]:
    before, after = ({_form_text(view, judge): judge for judge in board.chosen.judges} for view, board in (
        (old_view, old), (new_view, new)))  # fmt: skip
    if before.keys() == after.keys():
        return []
    return [f"{' and '.join(before) or 'people'} became {' and '.join(after) or 'people'}"]


def _form_text(view: View, judge: str) -> str:
    def text(variant: JudgeVariant) -> str:
        prompt = " ".join(part for part in (variant.prompt_id, variant.prompt_version) if part)
        version = f" version {variant.judge_version}" if variant.judge_version else ""
        return f"{variant.judge}{version}" + (f", prompt {prompt}" if prompt else "")

    versions = sorted({text(variant) for variant in view.variants.counting((judge,))})
    return ", ".join(versions) or judge


def _parts(change: ModelChange) -> tuple[CellValue, CellValue]:
    """The change by answers and the rest, in whole points, so that the printed parts add up to the printed change."""
    if change.by_answers is None:
        return None, None
    return round(change.by_answers), round(change.change) - round(change.by_answers)


def _section(changes: BoardChanges) -> Section:
    title = f"What changed since {changes.old_name.removeprefix('before ')}"
    if not changes.comparable:
        return Section(title, points=(_not_comparable(changes), *_on_one_board(changes)))
    real = [model for model in changes.models if model.real]
    unknown = sum(model.real is None for model in changes.models)
    points = []
    if known := len(changes.models) - unknown:
        points.append(
            f"{len(real)} of {counted(known, 'editor')}{' with intervals' if unknown else ''} moved by more than chance"
            + (": " + ", ".join(f"{model.model} {model.change:+.0f}" for model in real) + "." if real else ".")
        )
    if unknown:
        points.append(f"For {counted(unknown, 'editor')} a board has no interval: whether they moved is not known.")
    if changes.judge_changes:
        points.append(f"The judge changed: {'; '.join(changes.judge_changes)}.")
    if changes.common_pairs:
        share = changes.changed_pairs / changes.common_pairs
        points.append(
            f"{changes.common_pairs:,} pairs of outputs have a verdict on both boards; {changes.changed_pairs:,} "
            f"({share:.1%}) changed."
        )
    if any(model.by_answers is not None for model in changes.models):
        before, after = changes.answers
        points.append(
            f"Both boards have verdicts on {counted(changes.common_outputs, 'output')}: {before:,} verdicts on the old "
            f"board, {after:,} on the new one. Changes between these come from {changes.source}, not from the editors."
        )
    else:
        points.append(
            f"The boards have too few outputs in common to compare: the part of {changes.source} is not known."
        )
    points += _on_one_board(changes)
    rows: tuple[tuple[CellValue, ...], ...] = tuple(
        (
            model.model, model.old_rank, model.new_rank, model.old, model.new, model.change,
            None if model.half_width is None else Number(model.half_width, ".0f"),
            {True: "yes", False: "no", None: "not known"}[model.real], *_parts(model),
        )
        for model in sorted(changes.models, key=lambda model: -abs(model.change))
    )  # fmt: skip
    head = columns(
        "editor", "old rank", "new rank", Column("old rating", ".0f"), Column("new rating", ".0f"),
        Column("change", "+.0f"), Column("± 95%", absent="–"), "more than chance",
        Column(f"by {changes.source}", "+.0f", "–"), Column("by outputs and items", "+.0f", "–"),
    )  # fmt: skip
    notes = (
        "Old ratings are shifted so that the means over common editors agree. The interval assumes "
        "independent boards. If they share verdicts, it is too wide.",
        f"by {changes.source}: the change between the boards of the outputs that both have verdicts on. by outputs and "
        "items: the rest, from outputs and items that only one board has.",
    )
    return Section(title, points=tuple(points), tables=(Table(head, rows, notes=notes),))


def _not_comparable(changes: BoardChanges) -> str:
    reason = f"{changes.judge_changes[0]}, and " if changes.judge_changes else "they share no item, and "
    return (
        f"The boards are not comparable: {reason}no output has a verdict on both. Whether the "
        f"{counted(len(changes.models), 'editor')} on both boards moved is not known."
    )


def _on_one_board(changes: BoardChanges) -> list[str]:
    """The editors that only one board has."""
    sides = (("Only on the old board", changes.left), ("Only on the new board", changes.joined))
    return [f"{text}: {', '.join(names)}." for text, names in sides if names]
