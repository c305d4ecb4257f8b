"""Route: boards from votes and a judge, from people alone, from the judge alone; checked against the gold set."""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from imarena.core import UserError, canonical_json, command_line, unknown_name
from imarena.core.notices import Notice
from imarena.core.records import JsonDict, Ranking
from imarena.ranking import (
    Battles,
    CodedColumn,
    JudgeScale,
    Options,
    assemble,
    corrected_board,
    rank_battles,
    sign_ranking,
)
from imarena.routing import standardise
from imarena.storage import Workspace
from imarena.workflows.boards.weighted.calibrations import ALL
from imarena.workflows.boards.weighted.online import weighted_online_board, with_range
from imarena.workflows.boards.weighted.vote_data import VoteData, VoteTable, read_vote_data
from imarena.workflows.views import View, read_output_coverage

SETTINGS = ("corrected", "active-elo", "mixture", "human", "judge")
GOLD_SETTING = "gold"
"""People alone on the gold set: the reference for the other boards."""


@dataclass(frozen=True)
class RerankedBoards:
    """The boards that were made, each with its setting, and a sentence for every setting that lacks data."""

    boards: tuple[tuple[str, Ranking], ...]
    left_out: tuple[str, ...] = ()


def rerank(
    workspace: Workspace,
    judge: str | None,
    *,
    settings: tuple[str, ...] = ("corrected",),
    reward: str | None = None,
    by_family: bool = False,
    weigh_routing: bool = False,
    options: Options | None = None,
    paper_compat: bool = False,
    skip_missing: bool = False,
) -> RerankedBoards:
    """Make and store one board per setting (and family). `reward`: another judge on its own.

    `skip_missing`: make the other boards if a setting lacks data, and say which.
    """
    board_options = options or Options()
    if paper_compat:
        board_options = replace(board_options, active=replace(board_options.active, paper_compat=True))
    vote_data = read_vote_data(workspace, judge, ratings=True)
    boards: list[tuple[str, Ranking]] = []
    left_out: list[str] = []
    for name in settings:
        try:
            rankings = arena_boards(
                workspace, vote_data, name, board_options, by="family" if by_family else None, weigh=weigh_routing
            )
        except UserError as error:
            if not skip_missing:
                raise
            left_out.append(f"There is no board '{name}'. {' '.join(str(error).split())}")
            continue
        boards += [(name, board) for board in rankings]
    if reward is not None:
        boards += [
            (f"reward: {reward}", board)
            for board in arena_boards(workspace, read_vote_data(workspace, reward), "judge", board_options)
        ]
    workspace.store.add(board for _, board in boards)
    return RerankedBoards(tuple(boards), tuple(left_out))


def arena_boards(
    workspace: Workspace,
    vote_data: VoteData,
    name: str,
    options: Options,
    *,
    by: str | None = None,
    weigh: bool = False,
) -> list[Ranking]:
    """Return a setting's signed board, or one per value of a label, for both `rank` and `route rerank`."""
    options = with_range(options, vote_data)
    parts, unnamed = _parts(vote_data, by)
    view = View(workspace)
    covered = read_output_coverage(view)
    boards = []
    for scope, part in parts:
        board = setting_board(workspace, part, name, options, weigh, group=scope.get("family", ALL))
        board = board.model_copy(update={"scope": scope, "notices": (*board.notices, *unnamed)})
        board = board if name == GOLD_SETTING else _on_gold(vote_data, board)
        board = board.model_copy(update={"settings": {**board.settings, "weigh_routing": weigh}})
        boards.append(
            sign_ranking(
                _with_coverage(board, covered.coverage(covered.units_with(view, scope))),
                {"source": WHOSE.get(name, "people, judge"), **signature_data(part)},
            )
        )
    return boards


WHOSE = {"judge": "judge", "human": "people", GOLD_SETTING: "people"}


def _with_coverage(board: Ranking, shares: Mapping[str, float]) -> Ranking:
    """Return the board with the coverage of each model."""
    models = tuple(standing.model_copy(update={"coverage": shares.get(standing.model)}) for standing in board.models)
    return board.model_copy(update={"models": models})


def signature_data(vote_data: VoteData) -> dict[str, str]:
    """Return what a signature records about the data: its items, and a hash of all scores and votes."""
    digest = hashlib.sha256()
    for part in (
        vote_data.pool.scores,
        vote_data.pool.present,
        vote_data.votes.item,
        vote_data.votes.pair,
        vote_data.votes.points,
        vote_data.gold,
        vote_data.votes.probability,
    ):
        digest.update(np.ascontiguousarray(part).tobytes())
    names = [vote_data.pool.models, vote_data.unit, vote_data.votes.rater, vote_data.votes.purpose]
    digest.update(canonical_json(names).encode("utf-8", "surrogatepass"))
    versions = ", ".join(
        f"{vote_data.judge}@{name}" if name else vote_data.judge for name in sorted(vote_data.versions)
    )
    items = len({item for item, _ in vote_data.unit})
    return {"judge": versions, "items": str(items), "battles": f"{len(vote_data.votes)}#{digest.hexdigest()[:12]}"}


def setting_board(
    workspace: Workspace,
    vote_data: VoteData,
    name: str,
    options: Options,
    weigh_routing: bool = False,
    group: str = ALL,
) -> Ranking:
    """Return the board of one setting; `group` names the family whose calibration is used, if it has its own."""
    if name not in (*SETTINGS, GOLD_SETTING):
        raise unknown_name("No setting", name, (*SETTINGS, GOLD_SETTING))
    vote_data = keep_placeable(vote_data, EVIDENCE.get(name, BOTH))
    if name == "judge":
        return _label(
            rank_battles(unvoted_judge_battles(vote_data, NO_VOTES), replace(options, method="bt")), name, vote_data
        )
    votes = _gold_votes(vote_data) if name == GOLD_SETTING else _usable(vote_data)
    people = vote_battles(vote_data, votes, weigh_routing)
    if name in ("human", GOLD_SETTING):
        return _label(rank_battles(people, replace(options, method="bt")), name, vote_data)
    if name == "corrected":
        corrected, result = corrected_board(people, options, _scale(vote_data))
        return _label(assemble(corrected, result, replace(options, method="corrected"), None), name, vote_data)
    battles = _join(unvoted_judge_battles(vote_data, votes), people) if judged_pairs(vote_data, votes).any() else people
    ranking, more, notices = weighted_online_board(workspace, vote_data, battles, name, options, group)
    return _label(ranking, name, vote_data, more, notices)


BOTH = ("score", "vote")
EVIDENCE = {"judge": ("score",), "human": ("vote",), GOLD_SETTING: ("gold vote",)}
"""The evidence behind boards that do not use both kinds."""


def keep_placeable(vote_data: VoteData, evidence: tuple[str, ...] = BOTH) -> VoteData:
    """Leave out models without such evidence: they cannot be ranked."""
    pool = vote_data.pool
    usable = np.zeros(pool.n_models, bool)
    if "score" in evidence:
        usable |= np.isfinite(pool.scores).any(axis=0)
    if evidence != ("score",):
        pair = (vote_data.work if "vote" in evidence else _gold_votes(vote_data)).pair
        usable[pool.left[pair]] = usable[pool.right[pair]] = True
    if usable.all() or usable.sum() < 2:
        return vote_data
    pairs = usable[pool.left] & usable[pool.right]
    smaller = replace(
        pool,
        scores=pool.scores[:, usable],
        present=pool.present[:, usable],
        asked=pool.asked[:, pairs],
        picture=None if pool.picture is None else pool.picture[:, usable],
        models=tuple(model for model, is_usable in zip(pool.models, usable, strict=True) if is_usable),
    )
    placeable = vote_data.votes.where(pairs[vote_data.votes.pair])
    votes = replace(placeable, pair=(np.cumsum(pairs) - 1)[placeable.pair].astype(np.int64))
    return replace(
        vote_data,
        pool=smaller,
        output=vote_data.output[:, usable],
        votes=votes,
        unplaced=tuple(model for model, is_usable in zip(pool.models, usable, strict=True) if not is_usable),
        wanting="neither a score nor a vote" if len(evidence) > 1 else f"no {evidence[0]}",
    )


NO_VOTES = VoteTable(np.zeros(0, np.int64), np.zeros(0, np.int64), np.zeros(0), (), (), np.zeros(0))


def _usable(vote_data: VoteData) -> VoteTable:
    """Return the votes outside the gold set that are not controls."""
    votes = vote_data.work
    if not len(votes):
        raise UserError(
            "There are no votes to rank with.",
            hint=f"Collect some: {command_line('route assign')}, then `route ingest`.",
        )
    return votes


def _gold_votes(vote_data: VoteData) -> VoteTable:
    votes = vote_data.votes
    is_vote = np.array([purpose == "vote" for purpose in votes.purpose], bool)
    gold_votes = votes.where(is_vote & vote_data.gold[votes.item]) if len(votes) else votes
    if not len(gold_votes):
        raise UserError(
            "There are no votes on the gold set.", hint=f"Ask for some: {command_line('route assign --policy gold')}"
        )
    return gold_votes


def vote_battles(vote_data: VoteData, votes: VoteTable, weigh_routing: bool = False) -> Battles:
    """Return people's votes as battles with the judge's scores, optionally with capped weights 1 / probability."""
    pool = vote_data.pool
    left, right = pool.left[votes.pair], pool.right[votes.pair]
    weight = None
    if weigh_routing:
        if not np.isfinite(votes.probability).all():
            raise UserError("Some votes were not routed with a known probability.", hint="Leave --weigh-routing out.")
        raw = 1.0 / np.maximum(votes.probability, 1e-12)
        weight = np.minimum(raw / raw.mean(), 10.0)
    return _battles(vote_data, votes.item, left, right, votes.points, np.zeros(len(votes), bool), weight)


def judged_pairs(vote_data: VoteData, votes: VoteTable) -> NDArray[np.bool_]:
    """(N, P) pairs outside the gold set that the judge scored and no one voted on."""
    mask = np.isfinite(vote_data.pool.gap) & vote_data.pool.open & ~vote_data.gold[:, None]
    mask[votes.item, votes.pair] = False
    return mask


def unvoted_judge_battles(vote_data: VoteData, votes: VoteTable) -> Battles:
    """Return the judge's verdict on every pair outside the gold set without votes; equal scores are a tie."""
    pool = vote_data.pool
    gap = pool.gap
    item, pair = np.nonzero(judged_pairs(vote_data, votes))
    points = 0.5 + 0.5 * np.sign(np.round(gap[item, pair], 9))
    return _battles(vote_data, item, pool.left[pair], pool.right[pair], points, np.ones(item.size, bool), None)


def _battles(
    vote_data: VoteData, item: Any, left: Any, right: Any, points: Any, judged: NDArray[np.bool_], weight: Any
) -> Battles:
    names = tuple(f"{unit}#{turn}" for unit, turn in vote_data.unit)
    scores = vote_data.pool.scores
    return Battles(
        models=vote_data.pool.models,
        left=left.astype(np.int32),
        right=right.astype(np.int32),
        outcome=np.round(2 - 2 * points).astype(np.int8),
        weight=weight,
        item=CodedColumn(item.astype(np.int32), names),
        judged=judged,
        score_left=scores[item, left],
        score_right=scores[item, right],
    )


def _join(first: Battles, second: Battles) -> Battles:
    def column(name: str) -> Any:
        return np.concatenate([getattr(first, name), getattr(second, name)])

    item = None
    if first.item is not None and second.item is not None:
        item = CodedColumn(np.concatenate([first.item.of, second.item.of]).astype(np.int32), first.item.names)
    weight = None
    if second.weight is not None:
        weight = np.concatenate([np.ones(len(first)), second.weight])
    columns = {name: column(name) for name in ("left", "right", "outcome", "judged", "score_left", "score_right")}
    return Battles(models=first.models, item=item, weight=weight, **columns)


def _scale(vote_data: VoteData) -> JudgeScale:
    """Return the judge's means and scale over all outputs, not only over those with votes."""
    standardised, pool = standardise(vote_data.pool.scores), vote_data.pool
    scored = np.flatnonzero(np.isfinite(pool.gap).any(axis=0))
    met = (pool.left[scored], pool.right[scored])
    return JudgeScale(standardised.means * standardised.scale, standardised.scale, met)


def _parts(vote_data: VoteData, by: str | None) -> tuple[list[tuple[dict[str, str], VoteData]], tuple[Notice, ...]]:
    """Return the data of each value of a label, and how many battles have no value and are on no board."""
    if by is None:
        return [({}, vote_data)], ()
    labels = [name for name, values in vote_data.labels.items() if (values != "").any()]
    if by not in vote_data.labels:
        raise UserError(f"These boards cannot be made by {by}.", hint=f"Group by one of: {', '.join(labels)}.")
    if by not in labels:
        hint = f"Group by one of: {', '.join(labels)}." if labels else "The items have no labels to group by."
        raise UserError(f"No item has a {by}.", hint=hint)
    values = vote_data.labels[by]
    parts = [
        ({by: str(name)}, vote_data_of_items(vote_data, values == name)) for name in np.unique(values[values != ""])
    ]
    bare = values == ""
    votes = vote_data.work
    lost = int(bare[votes.item].sum()) + int(judged_pairs(vote_data, votes)[bare].sum())
    return parts, (Notice(code="unnamed_group", values={"by": by, "battles": lost}),) if lost else ()


def vote_data_of_items(vote_data: VoteData, mask: NDArray[np.bool_]) -> VoteData:
    """Return the data of some items."""
    new_row = np.cumsum(mask) - 1
    rows = np.flatnonzero(mask)
    pool = vote_data.pool
    votes = vote_data.votes.where(mask[vote_data.votes.item]) if len(vote_data.votes) else vote_data.votes
    return replace(
        vote_data,
        pool=replace(
            pool,
            scores=pool.scores[rows],
            present=pool.present[rows],
            task=pool.task[rows],
            asked=pool.asked[rows],
            picture=None if pool.picture is None else pool.picture[rows],
        ),
        unit=tuple(vote_data.unit[row] for row in rows),
        output=vote_data.output[rows],
        labels={name: values[rows] for name, values in vote_data.labels.items()},
        votes=replace(votes, item=new_row[votes.item].astype(np.int64)),
        gold=vote_data.gold[rows],
    )


def _label(
    board: Ranking, name: str, vote_data: VoteData, more: JsonDict | None = None, notices: tuple[Notice, ...] = ()
) -> Ranking:
    settings = {**board.settings, "setting": name, "judge": vote_data.judge, **(more or {})}
    arena_notices = vote_data.not_ranked if name in ("human", GOLD_SETTING) else vote_data.notices
    excluded = dict(board.excluded)
    if name != "judge" and vote_data.outside:
        excluded["votes on other modes, turns or samples"] = vote_data.outside
    changed = {"settings": settings, "notices": (*board.notices, *notices, *arena_notices), "excluded": excluded}
    return board.model_copy(update=changed)


def _on_gold(vote_data: VoteData, board: Ranking) -> Ranking:
    """Add how often the board orders the gold set's decided votes as people do (Acc_H, eq. 28), if there are any."""
    votes = vote_data.votes
    first = np.array([purpose != "repeat" for purpose in votes.purpose], bool)  # a repeat is not a second opinion
    used = first & vote_data.gold[votes.item] & (votes.points != 0.5)
    if not used.any():
        return board
    rating = {standing.model: standing.rating for standing in board.models}
    levels = np.array([rating.get(name, np.nan) for name in vote_data.pool.models])
    pair = votes.pair[used]
    lead = np.sign(np.round(levels[vote_data.pool.left[pair]] - levels[vote_data.pool.right[pair]], 6))
    preferred = np.sign(votes.points[used] - 0.5)
    right = np.where(lead == 0, 0.5, lead == preferred)[np.isfinite(lead)]
    gold: Any = {"accuracy": float(right.mean()) if right.size else None, "votes": int(right.size)}
    return board.model_copy(update={"details": {**board.details, "gold": gold}})
