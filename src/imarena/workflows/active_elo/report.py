"""Route: the tables of CV-Arena's appendices for a workspace.

Boards side by side (table 3, figures 3 and 4), overall and by group; deferral by family (table 7); calibration (table
5); policies, thresholds, weights and judges on the votes so far (tables 2, 9, 10, appendix I); dimension means of the
best (table 6); other judges and metrics against the board with paired tests (table 8, L.2).
"""

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, fields, replace
from typing import Any

from imarena.core import Progress, UserError, command_line, first_line, unknown_name
from imarena.core.notices import Notice, notice_fields
from imarena.judges import JudgeRange, range_of
from imarena.ranking import Options, compare_ratings
from imarena.routing import Gates, choose_gates
from imarena.storage import Workspace
from imarena.workflows.active_elo.dimensions import (
    WEIGHTINGS,
    DimensionMeans,
    cv_dimensions,
    dimension_scores,
    means_by_model,
    weighted_scores,
)
from imarena.workflows.active_elo.groups import (
    GroupBoards,
    RankingByName,
    dimension_boards,
    group_boards,
    side_by_side,
    standing_rows,
)
from imarena.workflows.active_elo.metrics import TOP, MetricAgreement, compare_metrics
from imarena.workflows.active_elo.planning import FamilyDeferral, deferral_by_family
from imarena.workflows.active_elo.simulation.compare import SimulationPlan
from imarena.workflows.active_elo.trials import (
    TrialResult,
    WeightBoard,
    try_judges,
    try_policies,
    try_thresholds,
    try_weights,
)
from imarena.workflows.boards import (
    ReportedCalibration,
    VoteData,
    calibrations_of,
    read_vote_data,
    setting_board,
    with_range,
)
from imarena.workflows.views import WHOLE


class ReportProgress:
    """Reports each part of the report when it begins; parts follow one another."""

    def __init__(self, progress: Progress | None) -> None:
        self._progress = progress
        self._before = ""

    def next(self, name: str) -> None:
        """Mark the previous part as done; `name` begins."""
        if self._progress is not None:
            if self._before:
                self._progress(self._before, 1, 1)
            if name != "done":
                self._progress(name, 0, 1)
        self._before = name


@dataclass(frozen=True, slots=True)
class VoteTrials:
    """The trials on the votes so far; None: not run, or not possible."""

    policies: TrialResult | None = None
    thresholds: TrialResult | None = None
    weights: TrialResult | None = None
    judges: TrialResult | None = None


@dataclass(frozen=True, slots=True)
class ActiveReport:
    """All tables that a workspace has data for; `missing` names the others with the reason."""

    judge: str
    score_range: JudgeRange
    votes: int
    notices: tuple[Notice, ...]
    gates: Gates
    deferral: tuple[FamilyDeferral, ...]
    calibration: tuple[ReportedCalibration, ...]
    boards: RankingByName
    groups: Mapping[str, Mapping[str, GroupBoards]]
    dimension_boards: Mapping[str, GroupBoards]
    dimension_means: tuple[DimensionMeans, ...]
    metrics: tuple[MetricAgreement, ...]
    trials: VoteTrials
    missing: Mapping[str, str]

    def to_json(self) -> dict[str, Any]:
        """Return the JSON document of `imarena route report`, from which the page is made."""
        boards = self.boards.items()
        trials = {trial.name: getattr(self.trials, trial.name) for trial in fields(VoteTrials)}
        return {
            "judge": self.judge, "score_range": self.score_range.document, "votes": self.votes,
            **notice_fields(self.notices), "tau": self.gates.tau, "delta": self.gates.delta,
            "deferral": [asdict(line) for line in self.deferral],
            "calibration": {group.record.group: group.to_json() for group in self.calibration} or None,
            "boards": {name: standing_rows(board) for name, board in boards},
            "groups": {name: [[*group] for group in board.groups] for name, board in boards if len(board.groups) > 1},
            "settings": {name: board.settings for name, board in boards},
            "win_rates": {name: board.details.get("average_win_rate_top10") for name, board in boards},
            "by": {label: _documents(groups) for label, groups in self.groups.items()},
            "dimension_boards": _documents(self.dimension_boards),
            "dimension_means": [means.to_json() for means in self.dimension_means] or None,
            "metrics": [metric.to_json() for metric in self.metrics],
            **{name: None if trial is None else trial.to_json() for name, trial in trials.items()},
            "missing": dict(self.missing),
        }  # fmt: skip


def _documents(groups: Mapping[str, GroupBoards]) -> dict[str, Any]:
    return {name: group.to_json() for name, group in groups.items()}


def active_report(
    workspace: Workspace,
    judge: str | None,
    *,
    gates: Gates | None = None,
    options: Options | None = None,
    rewards: tuple[str, ...] = (),
    trial: SimulationPlan | None = None,
    groups: bool = True,
    progress: Progress | None = None,
) -> ActiveReport:
    """Build all tables that have data; missing ones are named with the reason. `trial` None: no trials."""
    steps = ReportProgress(progress)
    vote_data = read_vote_data(workspace, judge)
    base_options = options or Options(matrices=False)
    scores = range_of(vote_data.judge, vote_data.pool.scores, base_options.active.score_range)
    full_options = with_range(base_options, vote_data)
    others = _other_judges(workspace, vote_data.judge)
    unknown = [name for name in rewards if name not in others]
    if unknown:
        raise unknown_name("No scores of a judge", unknown[0], others)
    alone = {name: others[name] for name in rewards}
    steps.next("boards side by side")
    boards, missing = side_by_side(workspace, vote_data, alone, full_options)
    main = boards.get("corrected") or boards.get("judge")
    if main is None:
        reason = missing.get("judge") or missing.get("corrected") or "too few scores"
        raise UserError(
            f"There is no board of '{vote_data.judge}': {reason}",
            hint=f"Score outputs of two editors or more: `{command_line('judge')}`.",
        )
    used = gates or choose_gates(vote_data.pool, vote_data.gold, None, None)
    tables = dimension_scores(workspace, vote_data)
    if not tables:
        missing["dimensions"] = f"'{vote_data.judge}' gives no scores by dimension"
    steps.next("boards by group")
    by_group = group_boards(workspace, vote_data, alone, full_options) if groups else {}
    by_dimension = dimension_boards(workspace, vote_data, tables, full_options) if groups else {}
    metrics = compare_metrics({**others, **_measures(workspace, vote_data.judge)}, main)
    if not metrics:
        missing["metrics"] = "no other judge or metric scored these outputs"
    trials = _trials(workspace, vote_data, others, tables, full_options, trial, gates, missing, steps)
    steps.next("done")
    best = [model for group in main.groups for model in group[:TOP]]
    return ActiveReport(
        judge=vote_data.judge,
        score_range=scores,
        votes=len(vote_data.votes),
        notices=(*vote_data.notices, *(notice for board in boards.values() for notice in board.notices)),
        gates=used,
        deferral=tuple(deferral_by_family(vote_data, used)),
        calibration=calibrations_of(workspace, vote_data.judge, scores.range),
        boards=boards,
        groups=by_group,
        dimension_boards=by_dimension,
        dimension_means=means_by_model(tables, vote_data, best) if tables else (),
        metrics=metrics,
        trials=trials,
        missing=missing,
    )


def _trials(
    workspace: Workspace, vote_data: VoteData, others: dict[str, VoteData], dimensions: dict[str, Any],
    options: Options, trial: SimulationPlan | None, gates: Gates | None, missing: dict[str, str],
    steps: ReportProgress,
) -> VoteTrials:  # fmt: skip
    """Try policies, thresholds, weights and judges on the votes so far; return each, or the reason why not."""
    table = cv_dimensions(dimensions)
    tables = {} if table is None else {name: weighted_scores(table, weights) for name, weights in WEIGHTINGS.items()}
    if table is None:
        missing["weights"] = f"'{vote_data.judge}' does not give the four dimensions of CV-Judge"
    if trial is None:
        return VoteTrials()
    used, scores = replace(trial, gates=gates), options.active.score_range
    tries: dict[str, Callable[[], TrialResult]] = {
        "policies": lambda: try_policies(vote_data, used, scores),
        "thresholds": lambda: try_thresholds(vote_data, used, scores),
        "judges": lambda: try_judges({vote_data.judge: vote_data, **others}, used),
    }
    if table is not None:
        tries["weights"] = lambda: try_weights(vote_data, tables, used, scores)
    results: dict[str, TrialResult] = {}
    for name, work in tries.items():
        steps.next(f"{name} tried on the votes so far")
        try:
            results[name] = work()
        except UserError as error:
            missing[name] = first_line(error)
            continue
        missing |= {f"{name}, {world}": why for world, why in (results[name].left_out or {}).items()}
    if "weights" in results:
        boards = _weight_boards(workspace, vote_data, tables, options)
        results["weights"] = replace(results["weights"], boards=boards)
    return VoteTrials(**results)


def _weight_boards(
    workspace: Workspace, vote_data: VoteData, tables: dict[str, Any], options: Options
) -> tuple[WeightBoard, ...]:
    """Return the board on all votes under each weighting, and its correlation with the default weights' board."""
    boards = {
        name: setting_board(
            workspace, replace(vote_data, pool=replace(vote_data.pool, scores=scores)), "corrected", options
        )
        for name, scores in tables.items()
    }
    ratings = {name: {s.model: s.rating for s in board.models} for name, board in boards.items()}
    return tuple(
        WeightBoard(
            name,
            WEIGHTINGS[name],
            compare_ratings(ratings[name], ratings["default"]).spearman,
            tuple(standing.model for standing in board.models[:TOP]),
        )
        for name, board in boards.items()
    )


def _other_judges(workspace: Workspace, judge: str) -> dict[str, VoteData]:
    """Return other judges with scores of single outputs on the overall dimension."""
    names = (name for name, dimension in _scorers(workspace) if dimension == WHOLE and name != judge)
    return {name: vote_data for name in names if (vote_data := _read(workspace, name, WHOLE)) is not None}


def _measures(workspace: Workspace, judge: str) -> dict[str, VoteData]:
    """Return scores on one dimension, such as those of `clip-i`."""
    pairs = [(name, dimension) for name, dimension in _scorers(workspace) if dimension != WHOLE and name != judge]
    several = Counter(name for name, _ in pairs)
    found = {f"{name}, {about}" if several[name] > 1 else name: _read(workspace, name, about) for name, about in pairs}
    return {name: vote_data for name, vote_data in found.items() if vote_data is not None}


def _read(workspace: Workspace, judge: str, dimension: str) -> VoteData | None:
    """Return a judge's vote data; None if it scored no single-turn output."""
    try:
        return read_vote_data(workspace, judge, scored_on=dimension)
    except UserError:
        return None


def _scorers(workspace: Workspace) -> list[tuple[str, str]]:
    """Return the judges and the dimensions of their scores of single outputs."""
    from sqlalchemy import select

    from imarena.storage import reading
    from imarena.storage.schema import judgments
    from imarena.workflows.boards import fetch_rows

    with reading(workspace.store.engine) as connection:
        query = select(judgments.c.judge, judgments.c.dimension).distinct()
        query = query.where(judgments.c.score.is_not(None), judgments.c.right_id.is_(None), judgments.c.status == "ok")
        return sorted((str(name), str(about)) for name, about in fetch_rows(connection, query))
