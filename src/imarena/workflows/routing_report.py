"""Route: the tables of CV-Arena's appendices for a workspace, as one document.

Deferral by family (table 7), dimension means of the best (table 6), other judges and metrics against the board with
paired tests (table 8, L.2), dimension weights (table 10), win rates against the top ten by setting (figure 3).
"""

from dataclasses import replace
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from imarena.core.records import Judgment, Ranking
from imarena.judges.cv_score import DIMENSIONS, WEIGHTS, combine
from imarena.ranking import Options, compare
from imarena.routing import Gates
from imarena.stats import holm, paired_bootstrap
from imarena.storage import Workspace
from imarena.workflows.routing import deferral_by_family, thresholds
from imarena.workflows.routing_boards import setting_board
from imarena.workflows.routing_tables import Arena, read_arena

TOP = 5
WEIGHTINGS = {
    "default": WEIGHTS,
    "uniform": (0.25, 0.25, 0.25, 0.25),
    "edit-heavy": (0.15, 0.40, 0.30, 0.15),
}
"""Semantic, editing, prompt, perceptual: the three of CV-Arena table 10."""
SIDE_BY_SIDE = ("corrected", "human", "judge")


def active_report(
    workspace: Workspace, judge: str | None, *, gates: Gates | None = None, options: Options | None = None
) -> dict[str, Any]:
    """All tables that the workspace has data for; what is missing is named with its reason."""
    chosen = options or Options(matrices=False)
    arena = read_arena(workspace, judge)
    boards = {name: setting_board(workspace, arena, name, chosen, False, False) for name in SIDE_BY_SIDE}
    board = boards["corrected"]
    used = gates or thresholds(arena, None, None)
    best = [standing.model for standing in board.models[:TOP]]
    dimensions = _dimension_scores(workspace, arena)
    missing = {}
    if dimensions is None:
        missing["dimension_means, weights"] = f"'{arena.judge}' does not give the four dimensions of CV-Judge"
    others = metric_lines(workspace, arena, board)
    if not others:
        missing["metrics"] = "no other judge or metric scored these outputs"
    return {
        "judge": arena.judge,
        "tau": used.tau,
        "delta": used.delta,
        "deferral": deferral_by_family(arena, used),
        "win_rates": {name: one.details.get("average_win_rate_top10") for name, one in boards.items()},
        "boards": {name: [_standing(s) for s in one.models] for name, one in boards.items()},
        "dimension_means": None if dimensions is None else _means(dimensions, arena, best),
        "weights": None if dimensions is None else _weightings(workspace, arena, dimensions, board, chosen),
        "metrics": others,
        "missing": missing,
    }


def _standing(standing: Any) -> dict[str, Any]:
    return {name: getattr(standing, name) for name in ("model", "rating", "low", "high", "rank")}


def _dimension_scores(workspace: Workspace, arena: Arena) -> NDArray[np.float64] | None:
    """(N, m, 4) the judge's dimension scores, NaN where there is none; None where it gives no dimensions."""
    where = {bytes(name).decode(): place for place, name in np.ndenumerate(arena.output) if name}
    table = np.full((*arena.output.shape, 4), np.nan)
    for record in workspace.store.records(Judgment, judge=arena.judge, dimension="overall", status="ok"):
        place = where.get(record.left_id)
        if place is not None and record.right_id is None and set(DIMENSIONS) <= record.scores.keys():
            table[place] = [record.scores[name] for name in DIMENSIONS]
    return table if np.isfinite(table).any() else None


def _means(table: NDArray[np.float64], arena: Arena, best: list[str]) -> list[dict[str, Any]]:
    lines = []
    for model in best:
        column = table[:, arena.pool.models.index(model)]
        known = column[np.isfinite(column).all(axis=1)]
        means = known.mean(axis=0).tolist() if len(known) else [None] * 4
        lines.append({"model": model, "n": len(known), **dict(zip(DIMENSIONS, means, strict=True))})
    return lines


def _weightings(
    workspace: Workspace, arena: Arena, table: NDArray[np.float64], board: Ranking, options: Options
) -> list[dict[str, Any]]:
    """The board under other weights of the dimensions, caps and all, and its correlation with the board as it is."""
    ours = {standing.model: standing.rating for standing in board.models}
    lines = []
    for name, weights in WEIGHTINGS.items():
        scores = np.full(arena.output.shape, np.nan)
        for place in zip(*np.nonzero(np.isfinite(table).all(axis=2)), strict=True):
            sem, edit, prompt, perceptual = (float(value) for value in table[place])
            scores[place] = combine(sem, edit, prompt, perceptual, weights).score
        other = replace(arena, pool=replace(arena.pool, scores=scores))
        made = setting_board(workspace, other, "corrected", options, False, False)
        found = compare({standing.model: standing.rating for standing in made.models}, ours)
        top = [standing.model for standing in made.models[:TOP]]
        lines.append({"weights": name, "values": list(weights), "spearman": found.spearman, "top": top})
    return lines


def metric_lines(workspace: Workspace, arena: Arena, board: Ranking) -> list[dict[str, Any]]:
    """Every other judge or metric: mean by model, correlation with the board, and paired tests among the best."""
    ours = {standing.model: standing.rating for standing in board.models}
    found = workspace.store.count(Judgment, "judge", dimension="overall", status="ok", right_id=None)
    lines = []
    for name in sorted(str(key) for (key,) in found if key != arena.judge):
        other = read_arena(workspace, name)
        with np.errstate(invalid="ignore"):
            known = np.isfinite(other.pool.scores)
            counts = known.sum(axis=0)
            means = np.where(known, other.pool.scores, 0.0).sum(axis=0) / np.maximum(counts, 1)
        theirs = {m: float(v) for m, v, n in zip(other.pool.models, means, counts, strict=True) if n and m in ours}
        if len(theirs) < 2:
            continue
        against = compare(ours, theirs)
        tests = _paired(other, [s.model for s in board.models[:TOP] if s.model in theirs])
        lines.append(
            {
                "metric": name, "means": theirs, "spearman": against.spearman, "kendall": against.kendall,
                "significant_pairs": sum(test["significant"] for test in tests), "pairs": tests,
                "reversals": sum(test["significant"] and test["difference"] < 0 for test in tests),
            }
        )  # fmt: skip
    return lines


def _paired(arena: Arena, best: list[str]) -> list[dict[str, Any]]:
    """Paired bootstrap of the difference of means on the same items, better of the board first; Holm's correction."""
    tests: list[dict[str, Any]] = []
    for first, second in combinations(best, 2):
        one, other = (arena.pool.scores[:, arena.pool.models.index(name)] for name in (first, second))
        both = np.isfinite(one) & np.isfinite(other)
        figure = paired_bootstrap(one[both], other[both], rounds=2000)
        if figure.value is None or figure.low is None or figure.high is None:
            continue
        error = (figure.high - figure.low) / (2 * 1.96)
        tests.append({"models": [first, second], "difference": figure.value, "low": figure.low, "high": figure.high,
                      "p": _two_sided(figure.value, error)})  # fmt: skip
    adjusted: list[float] = holm([test["p"] for test in tests]).tolist() if tests else []
    return [{**test, "significant": bool(p < 0.05)} for test, p in zip(tests, adjusted, strict=True)]


def _two_sided(difference: float, error: float) -> float:
    from scipy.special import ndtr

    return float(2 * ndtr(-abs(difference) / error)) if error > 0 else 1.0
