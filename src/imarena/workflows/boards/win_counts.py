"""Win counts by pair of models."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from imarena.tables import row_slices, rows_where
from imarena.workflows.views import BOTH_BAD, EQUAL, LEFT, MIRRORED, PREFERENCES, RIGHT, TIE, BattleColumns, Entries


@dataclass(frozen=True)
class DuelCounts:
    """How one model did against another, from the left one's side."""

    left: str
    right: str
    wins: int = 0
    losses: int = 0
    ties: int = 0
    both_bad: int = 0


def matrix_of(entries: Entries, battles: BattleColumns) -> tuple[DuelCounts, ...]:
    """Return the win counts of every two models that met, each pair once, by name."""
    names = entries.editor.names  # sorted, so that codes follow the order of names
    size = len(names) ** 2 * len(PREFERENCES)
    counts = np.zeros(size, np.int64)
    for rows in row_slices(len(battles)):
        left, right = _models(entries, battles, rows)
        low, high = np.minimum(left, right), np.maximum(left, right)
        outcome = np.where(left > right, MIRRORED[battles.winner[rows]], battles.winner[rows])
        counts += np.bincount((low * len(names) + high) * len(PREFERENCES) + outcome, minlength=size)
    table = counts.reshape(-1, len(PREFERENCES))
    cells = np.flatnonzero(table.any(axis=1))
    return tuple(_duel(names[cell // len(names)], names[cell % len(names)], table[cell]) for cell in cells.tolist())


def duel_of(
    entries: Entries, battles: BattleColumns, left: str, right: str
) -> tuple[DuelCounts, dict[str, DuelCounts]]:
    """Return the win counts of two models: over all tasks, and by task ("" if an item has none)."""
    names = entries.editor.names
    if left == right or left not in names or right not in names:
        return DuelCounts(left, right), {}
    left_code, right_code = names.index(left), names.index(right)
    met = battles.of_outputs(np.isin(entries.editor.of, (left_code, right_code)))
    lefts, _ = _models(entries, met)
    outcome = np.where(lefts == right_code, MIRRORED[met.winner], met.winner)
    tasks = entries.labels["task"]
    task = tasks.of[entries.item[met.left]]
    by_task = {
        "" if code < 0 else tasks.names[code]: _duel(left, right, _counts(outcome[task == code]))
        for code in np.unique(task).tolist()
    }
    return _duel(left, right, _counts(outcome)), dict(sorted(by_task.items()))


@dataclass(frozen=True)
class ModelOutcomes:
    """n battles of one model, each seen from its own side."""

    output: NDArray[np.int32]
    """(n,) indices of the model's own outputs."""
    opponent: NDArray[np.int64]
    """(n,) codes of the other editors."""
    outcome: NDArray[np.int8]
    """(n,) preference codes; LEFT: the model won."""

    def count(self, model: str, opponent: str = "", rows: NDArray[np.bool_] | None = None) -> DuelCounts:
        """Count wins, losses and ties in some of the battles; in all of them if `rows` is None."""
        return _duel(model, opponent, _counts(self.outcome if rows is None else self.outcome[rows]))


def outcomes_of_model(entries: Entries, battles: BattleColumns, model: str) -> ModelOutcomes:
    """Return the battles of a model. Battles are between different editors, so a model is on one side at most."""
    names = entries.editor.names
    code = names.index(model) if model in names else -2
    made_it, sides = entries.editor.of == code, (battles.left, battles.right)
    fought = battles.where(rows_where(len(battles), lambda rows: made_it[sides[0][rows]] | made_it[sides[1][rows]]))
    left, right = _models(entries, fought)
    turned = left != code
    return ModelOutcomes(
        output=np.where(turned, fought.right, fought.left),
        opponent=np.where(turned, left, right),
        outcome=np.where(turned, MIRRORED[fought.winner], fought.winner),
    )


def _models(
    entries: Entries, battles: BattleColumns, rows: slice = slice(None)
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    of = entries.editor.of
    return of[battles.left[rows]].astype(np.int64), of[battles.right[rows]].astype(np.int64)


def _counts(outcome: NDArray[np.int8]) -> NDArray[np.int64]:
    return np.bincount(outcome, minlength=len(PREFERENCES))


def _duel(left: str, right: str, counts: NDArray[np.int64]) -> DuelCounts:
    return DuelCounts(
        left,
        right,
        wins=int(counts[LEFT]),
        losses=int(counts[RIGHT]),
        ties=int(counts[TIE] + counts[EQUAL]),
        both_bad=int(counts[BOTH_BAD]),
    )
