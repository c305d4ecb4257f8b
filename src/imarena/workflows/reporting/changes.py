"""What moved between two boards, whether it is real, and how much of it is the judge."""

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import date, timedelta
from pathlib import Path

import numpy as np

from imarena.core import UserError, counted
from imarena.reports import Section, columns
from imarena.reports.tables import Cell, Column, Number, Table
from imarena.storage import is_workspace, open_workspace
from imarena.workflows.boards import Board, BoardQuery, Boards
from imarena.workflows.views import LEFT, RIGHT, View, Window

_DAY = re.compile(r"\d{4}-\d{2}-\d{2}")
PairVerdicts = Mapping[tuple[str, str], float]
"""Two outputs, the smaller id first, to the mean points of the first."""


@dataclass(frozen=True)
class ModelChange:
    """One model on both boards, the old one shifted so that the means over common models agree."""

    model: str
    old: float
    new: float
    old_rank: int
    new_rank: int
    half_width: float | None
    """Of the 95 % interval of the change, with the boards taken as independent; None where a board has no interval."""
    by_judge: float | None
    """The change on the pairs that both boards have a verdict on: the outputs are the same, the verdicts are not."""

    @property
    def change(self) -> float:
        """New less old."""
        return self.new - self.old

    @property
    def real(self) -> bool | None:
        """Is the change larger than its interval? None where that is not known."""
        return None if self.half_width is None else abs(self.change) > self.half_width


@dataclass(frozen=True)
class BoardChanges:
    """What moved from one board to another."""

    old_name: str
    models: tuple[ModelChange, ...]
    left: tuple[str, ...]
    """Models of the old board that the new one does not have."""
    joined: tuple[str, ...]
    common_pairs: int
    changed_pairs: int
    """Of these, pairs whose preferred side changed."""
    judge_changes: tuple[str, ...]
    """How the judge differs between the two."""


def changes_section(boards: Boards, new: Board, query: BoardQuery, against: str) -> Section:
    """The section about what changed `against` another workspace (a folder) or a day (YYYY-MM-DD)."""
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
    """What moved from the old board to the new one."""
    before = {one.model: one for one in old.ranking.models}
    after = {one.model: one for one in new.ranking.models}
    common = [model for model in after if model in before]
    if len(common) < 2:
        raise UserError(f"Fewer than two editors are on both boards ({name}).", hint="A comparison needs two or more.")
    old_pairs, new_pairs = pair_verdicts(old_boards.view, old), pair_verdicts(new_boards.view, new)
    shared = frozenset(old_pairs.keys() & new_pairs.keys())
    changed = sum(np.sign(old_pairs[pair] - 0.5) != np.sign(new_pairs[pair] - 0.5) for pair in shared)
    parts = _judge_part(old_boards, old_query or query, new_boards, query, shared) if changed else {}
    shift = float(np.mean([after[model].rating - before[model].rating for model in common]))
    models = tuple(
        ModelChange(
            model, before[model].rating + shift, after[model].rating, before[model].rank, after[model].rank,
            _half_width(before[model].low, before[model].high, after[model].low, after[model].high),
            parts.get(model, 0.0 if shared and not changed else None),
        )
        for model in common
    )  # fmt: skip
    return BoardChanges(
        name, models, tuple(m for m in before if m not in after), tuple(m for m in after if m not in before),
        len(shared), int(changed), tuple(_judge_changes(old_boards.view, old, new_boards.view, new)),
    )  # fmt: skip


def pair_verdicts(view: View, board: Board) -> PairVerdicts:
    """The mean points of the first output of each pair on a board; ids are the same in every workspace."""
    entries, battles = view.entries, board.battles
    points: dict[tuple[str, str], list[float]] = {}
    for left, right, winner in zip(battles.left.tolist(), battles.right.tolist(), battles.winner.tolist(), strict=True):
        one, other = entries.id_of(left), entries.id_of(right)
        value = 1.0 if winner == LEFT else 0.0 if winner == RIGHT else 0.5
        key, value = ((one, other), value) if one < other else ((other, one), 1.0 - value)
        points.setdefault(key, []).append(value)
    return {key: float(np.mean(values)) for key, values in points.items()}


def _judge_part(
    old_boards: Boards, old_query: BoardQuery, new_boards: Boards, new_query: BoardQuery,
    shared: frozenset[tuple[str, str]],
) -> dict[str, float]:  # fmt: skip
    """By model the change of its rating on the shared pairs alone, centred over the models."""
    ratings = []
    for boards, query in ((old_boards, old_query), (new_boards, new_query)):
        try:
            made = boards.board(replace(query, pairs=shared, notes=False))
        except UserError:  # the shared pairs do not link two editors
            return {}
        ratings.append({one.model: one.rating for one in made.ranking.models})
    old, new = ratings
    moved = {model: new[model] - old[model] for model in new if model in old}
    middle = float(np.mean(list(moved.values()))) if moved else 0.0
    return {model: value - middle for model, value in moved.items()}


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
    parts = [
        (form.judge, form.judge_version, " ".join(part for part in (form.prompt_id, form.prompt_version) if part))
        for form in view.forms.counting((judge,))
    ]
    versions = sorted({
        name + (f" version {version}" if version else "") + (f", prompt {prompt}" if prompt else "")
        for name, version, prompt in parts
    })  # fmt: skip
    return ", ".join(versions) or judge


def _section(changes: BoardChanges) -> Section:
    real = [one for one in changes.models if one.real]
    points = [
        f"{len(real)} of {counted(len(changes.models), 'editor')} moved by more than chance"
        + (": " + ", ".join(f"{one.model} {one.change:+.0f}" for one in real) + "." if real else ".")
    ]
    unknown = sum(one.real is None for one in changes.models)
    if unknown:
        points.append(f"For {counted(unknown, 'editor')} a board has no interval: whether they moved is not known.")
    if changes.judge_changes:
        points.append(f"The judge changed: {'; '.join(changes.judge_changes)}.")
    if changes.common_pairs:
        share = changes.changed_pairs / changes.common_pairs
        points.append(
            f"{changes.common_pairs:,} pairs of outputs have a verdict on both boards; {changes.changed_pairs:,} "
            f"({share:.1%}) changed. Changes on these pairs come from the judge or the raters, not from the editors."
        )
    else:
        points.append("No pair of outputs has a verdict on both boards: the part of the judge is not known.")
    for text, names in (("Only on the old board", changes.left), ("Only on the new board", changes.joined)):
        points += [f"{text}: {', '.join(names)}."] if names else []
    rows: tuple[tuple[Cell, ...], ...] = tuple(
        (
            one.model, one.old_rank, one.new_rank, one.old, one.new, one.change,
            None if one.half_width is None else Number(one.half_width, ".0f"),
            {True: "yes", False: "no", None: "not known"}[one.real], one.by_judge,
            None if one.by_judge is None else one.change - one.by_judge,
        )
        for one in sorted(changes.models, key=lambda one: -abs(one.change))
    )  # fmt: skip
    head = columns(
        "editor", "old rank", "new rank", Column("old rating", ".0f"), Column("new rating", ".0f"),
        Column("change", "+.0f"), Column("± 95 %", absent="–"), "more than chance", Column("by the judge", "+.0f", "–"),
        Column("by outputs and items", "+.0f", "–"),
    )  # fmt: skip
    notes = (
        "Old ratings are shifted so that the means over common editors agree. The interval of a change takes the two "
        "boards as independent; where they share verdicts, it is wider than needed.",
        "by the judge: the change on pairs that both boards have a verdict on; by outputs and items: the rest.",
    )
    return Section(
        f"What changed since {changes.old_name.removeprefix('before ')}",
        points=tuple(points),
        tables=(Table(head, rows, notes=notes),),
    )
