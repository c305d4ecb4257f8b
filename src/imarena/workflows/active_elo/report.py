"""Route: the tables of CV-Arena's appendices for a workspace, as one document.

Boards side by side (table 3, figures 3 and 4), overall and by group; deferral by family (table 7); calibration (table
5); policies, thresholds, weights and judges on the votes so far (tables 2, 9, 10, appendix I); dimension means of the
best (table 6); other judges and metrics against the board with paired tests (table 8, L.2).
"""

from collections.abc import Callable
from dataclasses import asdict
from typing import Any

from imarena.core import Progress, UserError
from imarena.core.notices import notice_fields
from imarena.core.records import Judgment
from imarena.judges import range_of
from imarena.ranking import Options, compare_ratings
from imarena.routing import Gates
from imarena.storage import Workspace
from imarena.workflows.active_elo.dimensions import (
    WEIGHTINGS,
    cv_dimensions,
    dimension_mean_rows,
    dimension_scores,
    weighted_scores,
)
from imarena.workflows.active_elo.groups import dimension_boards, group_boards, side_by_side, standing_rows
from imarena.workflows.active_elo.metrics import TOP, metric_lines
from imarena.workflows.active_elo.planning import choose_gates, deferral_by_family
from imarena.workflows.active_elo.trials import Trial, judge_lines, policy_lines, threshold_lines, weight_lines
from imarena.workflows.boards import Arena, calibrations_of, read_arena, setting_board, with_range


class ReportProgress:
    """Tells the parts of a report as they begin, one after the other."""

    def __init__(self, told: Progress | None) -> None:
        self._told = told
        self._before = ""

    def next(self, name: str) -> None:
        """What was begun before is done; `name` begins."""
        if self._told is not None:
            if self._before:
                self._told(self._before, 1, 1)
            if name != "done":
                self._told(name, 0, 1)
        self._before = name


def active_report(
    workspace: Workspace,
    judge: str | None,
    *,
    gates: Gates | None = None,
    options: Options | None = None,
    rewards: tuple[str, ...] = (),
    trial: Trial | None = None,
    groups: bool = True,
    told: Progress | None = None,
) -> dict[str, Any]:
    """All tables that the workspace has data for; what is missing is named with its reason. `trial` None: no trials."""
    steps = ReportProgress(told)
    arena = read_arena(workspace, judge)
    asked = options or Options(matrices=False)
    scores = range_of(arena.judge, arena.pool.scores, asked.active.score_range)
    chosen = with_range(asked, arena)
    others = {name: read_arena(workspace, name) for name in _other_judges(workspace, arena.judge)}
    unknown = [name for name in rewards if name not in others]
    if unknown:
        raise UserError(f"No scores of a judge '{unknown[0]}'.", hint=f"Known: {', '.join(others) or 'none'}.")
    alone = {name: others[name] for name in rewards}
    steps.next("boards side by side")
    boards, missing = side_by_side(workspace, arena, alone, chosen)
    main = boards.get("corrected") or boards["judge"]
    used = gates or choose_gates(arena, None, None)
    dimensions = dimension_scores(workspace, arena)
    if not dimensions:
        missing["dimensions"] = f"'{arena.judge}' gives no scores by dimension"
    best = [standing.model for standing in main.models[:TOP]]
    steps.next("boards by group")
    document: dict[str, Any] = {
        "judge": arena.judge,
        "score_range": scores.document,
        "votes": len(arena.votes),
        **notice_fields((*arena.notices, *(notice for one in boards.values() for notice in one.notices))),
        "tau": used.tau,
        "delta": used.delta,
        "deferral": [asdict(line) for line in deferral_by_family(arena, used)],
        "calibration": calibrations_of(workspace, arena.judge, scores.range),
        "boards": {name: standing_rows(one) for name, one in boards.items()},
        "settings": {name: one.settings for name, one in boards.items()},
        "win_rates": {name: one.details.get("average_win_rate_top10") for name, one in boards.items()},
        "by": group_boards(workspace, arena, alone, chosen) if groups else {},
        "dimension_boards": dimension_boards(workspace, arena, dimensions, chosen) if groups else {},
        "dimension_means": dimension_mean_rows(dimensions, arena, best) if dimensions else None,
        "metrics": metric_lines(others, main),
    }
    if not document["metrics"]:
        missing["metrics"] = "no other judge or metric scored these outputs"
    document.update(_trials(workspace, arena, others, dimensions, chosen, trial, gates, missing, steps))
    steps.next("done")
    return {**document, "missing": missing}


def _trials(
    workspace: Workspace, arena: Arena, others: dict[str, Arena], dimensions: dict[str, Any], options: Options,
    trial: Trial | None, gates: Gates | None, missing: dict[str, str], steps: "ReportProgress",
) -> dict[str, Any]:  # fmt: skip
    """Policies, thresholds, weights and judges tried on the votes so far, each or a reason why not."""
    table = cv_dimensions(dimensions)
    tables = {} if table is None else {name: weighted_scores(table, weights) for name, weights in WEIGHTINGS.items()}
    found: dict[str, Any] = dict.fromkeys(("policies", "thresholds", "weights", "judges"))
    if table is None:
        missing["weights"] = f"'{arena.judge}' does not give the four dimensions of CV-Judge"
    if trial is None:
        return found
    used = Trial(trial.seeds, trial.rounds, gates, trial.seed, options.active.score_range)
    tries: dict[str, Callable[[], dict[str, Any]]] = {
        "policies": lambda: policy_lines(arena, used),
        "thresholds": lambda: threshold_lines(arena, used),
        "judges": lambda: judge_lines({arena.judge: arena, **others}, used),
    }
    if table is not None:
        tries["weights"] = lambda: weight_lines(arena, tables, used)
    for name, work in tries.items():
        steps.next(f"{name} tried on the votes so far")
        try:
            found[name] = work()
        except UserError as error:
            missing[name] = str(error).splitlines()[0]
            continue
        missing |= {f"{name}, {one}": why for one, why in found[name].get("left_out", {}).items()}
    if found["weights"] is not None:
        found["weights"]["boards"] = _weight_boards(workspace, arena, tables, options)
    return found


def _weight_boards(
    workspace: Workspace, arena: Arena, tables: dict[str, Any], options: Options
) -> list[dict[str, Any]]:
    """The board on all votes under each weighting, and its correlation with that of the default weights."""
    from dataclasses import replace

    boards = {
        name: setting_board(workspace, replace(arena, pool=replace(arena.pool, scores=scores)), "corrected", options)
        for name, scores in tables.items()
    }
    ratings = {name: {s.model: s.rating for s in board.models} for name, board in boards.items()}
    return [
        {
            "weights": name,
            "values": list(WEIGHTINGS[name]),
            "spearman": compare_ratings(ratings[name], ratings["default"]).spearman,
            "top": [standing.model for standing in board.models[:TOP]],
        }
        for name, board in boards.items()
    ]


def _other_judges(workspace: Workspace, judge: str) -> list[str]:
    """Judges other than this one with scores of single outputs."""
    from sqlalchemy import select

    from imarena.storage import reading
    from imarena.storage.schema import judgments
    from imarena.workflows.boards import fetch_rows

    found = workspace.store.count(Judgment, "judge", dimension="overall", status="ok", right_id=None)
    with reading(workspace.store.engine) as connection:
        query = select(judgments.c.judge).where(judgments.c.score.is_not(None)).distinct()
        scored = {row[0] for row in fetch_rows(connection, query)}
    return sorted(str(name) for (name,) in found if name != judge and name in scored)
