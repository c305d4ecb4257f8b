"""Route: boards that weight a judge's verdicts by its reliability: the paper's online update and the mixture."""

from dataclasses import replace

import numpy as np

from imarena.core.notices import Notice
from imarena.core.records import JsonDict, Ranking
from imarena.judges import range_of
from imarena.ranking import Battles, Options, assemble, calibrated_board, rank_battles
from imarena.routing import reliability, reliability_points
from imarena.storage import Workspace
from imarena.workflows.boards.weighted.calibrations import (
    calibration_for,
    curve_of,
    describe_calibration,
    stale_calibration_notices,
)
from imarena.workflows.boards.weighted.vote_data import VoteData

Q_MIXTURE = "max(0, 2a - 1), a being the calibrated agreement at the score gap"
Q_PAPER = "a, the calibrated agreement at the score gap, as in the paper"
Q_GIVEN = "as it was given, not calibrated"

Weighed = tuple[Ranking, JsonDict, tuple[Notice, ...]]
"""A board, its settings about the judge's reliability, and notices."""


def with_range(options: Options, vote_data: VoteData) -> Options:
    """Return the options with the range of the judge's scores; boards of some items use all data's range."""
    score_range = range_of(vote_data.judge, vote_data.pool.scores, options.active.score_range).range
    return replace(options, active=replace(options.active, score_range=score_range))


def weighted_online_board(
    workspace: Workspace, vote_data: VoteData, battles: Battles, name: str, options: Options, group: str
) -> Weighed:
    """Return the board `active-elo` or `mixture` of people's and the judge's battles; `group` names the calibration."""
    options = with_range(options, vote_data)
    if name == "mixture":
        return _mixture(workspace, vote_data, battles, options, group)
    return _online(workspace, vote_data, battles, options, group)


def _mixture(workspace: Workspace, vote_data: VoteData, battles: Battles, options: Options, group: str) -> Weighed:
    record = calibration_for(workspace, vote_data.judge, group)
    curve = curve_of(record)
    result = calibrated_board(battles, lambda gap: reliability(curve.at(gap)), options)
    ranking = assemble(battles, result, replace(options, method="mixture"), None)
    return (
        ranking,
        {"q": Q_MIXTURE, "calibration": describe_calibration(record, curve)},
        stale_calibration_notices(record, vote_data.versions),
    )


def _online(workspace: Workspace, vote_data: VoteData, battles: Battles, options: Options, group: str) -> Weighed:
    active = options.active
    options = replace(options, method="active-elo")
    if active.q_by_gap or active.q_judge is not None:
        return rank_battles(battles, options), {"q": Q_GIVEN}, ()
    record = calibration_for(workspace, vote_data.judge, group)
    curve = curve_of(record, paper_compat=active.paper_compat)
    widest = float(np.nanmax(np.abs(vote_data.pool.gap), initial=0.0))
    points = reliability_points(curve, widest, paper_compat=active.paper_compat)
    ranking = rank_battles(battles, replace(options, active=replace(active, q_by_gap=points)))
    more: JsonDict = {
        "q": Q_PAPER if active.paper_compat else Q_MIXTURE,
        "calibration": describe_calibration(record, curve),
    }
    return ranking, more, stale_calibration_notices(record, vote_data.versions)
