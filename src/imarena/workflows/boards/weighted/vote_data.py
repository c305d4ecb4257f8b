"""A workspace in the form that routing needs: scores by item and model, assignments, and votes, from narrow queries."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sqlalchemy import func, or_, select

from imarena.core import UserError, command_line
from imarena.core.notices import Notice
from imarena.core.records import Campaign, JsonDict
from imarena.routing import Pool
from imarena.storage import Workspace, reading
from imarena.storage.schema import assignments, campaigns, raters, votes
from imarena.workflows.boards.weighted.columns import WeightedColumns, fetch_rows, read_columns
from imarena.workflows.views import NONE, REASONS, Reason, View, VoteColumns, rating_pairs, read_votes

POINTS = np.array([np.nan, 1.0, 0.0, 0.5, 0.5, 0.5])
"""Points of the left side by preference code: a tie of any kind is half a point."""
GOLD = "gold"
NO_JUDGE = "none"
"""The name with which a user chooses votes without any judge."""
MEAN_RATING = "people's mean rating"
"""The rater name of a vote that stands for two mean ratings."""


@dataclass(frozen=True)
class VoteTable:
    """n live votes on pairs in the pool: index of the item, the pair, points of the pair's left model, rater.

    `both_bad` and ties are half a point each; `probability` of being routed, NaN if unknown.
    """

    item: NDArray[np.int64]
    pair: NDArray[np.int64]
    points: NDArray[np.float64]
    rater: tuple[str, ...]
    purpose: tuple[str, ...]
    probability: NDArray[np.float64]

    def __len__(self) -> int:
        return int(self.item.size)

    def where(self, mask: NDArray[np.bool_]) -> "VoteTable":
        """Select rows."""
        rows = np.flatnonzero(mask)
        return VoteTable(
            self.item[rows], self.pair[rows], self.points[rows], tuple(self.rater[row] for row in rows),
            tuple(self.purpose[row] for row in rows), self.probability[rows],
        )  # fmt: skip


@dataclass(frozen=True)
class VoteData:
    """The pool, with names for its indices. `unit[k]` is (item id, turn); `output` (N, m) holds ids, empty for none."""

    pool: Pool
    judge: str
    unit: tuple[tuple[str, int], ...]
    output: NDArray[np.bytes_]
    labels: Mapping[str, NDArray[np.str_]]
    """family, task, topic and track of each item, each (N,); "" for none."""
    votes: VoteTable
    gold: NDArray[np.bool_]
    """(N,) items of the frozen gold set."""
    seen: frozenset[tuple[str, int, int]]
    """(rater, item, pair) of every battle that a rater was assigned or voted on."""
    versions: Mapping[str, int] = field(default_factory=dict)
    """Versions of the judge that count, with the number of scores from each."""
    earlier: int = 0
    """Number of scores that do not count, because the judge has changed since."""
    outside: int = 0
    """Number of votes that count, but on outputs that these boards do not show: other modes, or other samples."""
    compares: bool = False
    """The judge also compared pairs; the boards of `rank` use those verdicts, these boards do not."""
    unplaced: tuple[str, ...] = ()
    """Models that were left out because there is no evidence about them."""
    wanting: str = "neither a score nor a vote"
    """The evidence that these models lack."""

    @property
    def notices(self) -> tuple[Notice, ...]:
        """Notices about the scores."""
        if not self.judge:
            return (Notice(code="people_alone"), *self.not_ranked)
        notices = []
        if self.earlier:
            notices.append(Notice(code="earlier_scores", values={"judge": self.judge, "scores": self.earlier}))
        if self.compares:
            notices.append(Notice(code="scores_alone", values={"judge": self.judge}))
        notices.extend(self.not_ranked)
        bare = [
            name for name, column in zip(self.pool.models, self.pool.scores.T, strict=True) if np.isnan(column).all()
        ]
        if bare:
            notices.append(Notice(code="models_without_scores", values={"judge": self.judge, "models": list(bare)}))
        return tuple(notices)

    @property
    def not_ranked(self) -> tuple[Notice, ...]:
        """A notice that names the models that were left out, and why."""
        values: JsonDict = {"models": list(self.unplaced), "lacking": self.wanting}
        return (Notice(code="models_without_evidence", values=values),) if self.unplaced else ()

    @property
    def work(self) -> VoteTable:
        """The votes that count: outside the gold set, without controls (a repeat is the same opinion again)."""
        votes = self.votes
        is_vote = np.array([purpose == "vote" for purpose in votes.purpose], bool)
        return votes.where(is_vote & ~self.gold[votes.item]) if len(votes) else votes

    @property
    def families(self) -> NDArray[np.str_]:
        """Family of each item, or its task if it has no family, (N,)."""
        return _families(self.labels)

    def output_id(self, item: int, model: int) -> str:
        """Return the id of the output shown at this place."""
        return bytes(self.output[item, model]).decode()


def with_label(vote_data: VoteData, view: View, name: str) -> VoteData:
    """Return the data with a column that was imported with the items, to group by; unchanged if no item has it."""
    values = view.item_label(name)
    if values is None:
        return vote_data
    value_of = dict(zip(view.entries.item_id, values.list(), strict=True))
    column = np.array([value_of.get(item) or "" for item, _ in vote_data.unit], dtype=np.str_)
    return replace(vote_data, labels={**vote_data.labels, name: column})


def read_vote_data(
    workspace: Workspace,
    judge: str | None,
    *,
    dimension: str = "overall",
    scored_on: str | None = None,
    ratings: bool = False,
    people_alone: bool = False,
) -> VoteData:
    """Read the data. `judge` None: the only judge with scores, or a clear error.

    `people_alone`: if no judge gave scores, or the judge is `none`, all scores are equal and only votes count.

    Votes are those on `dimension`; so are scores, unless `scored_on` names another. `ratings`: if nobody compared two
    outputs, each pair of mean ratings on one item counts as a vote.
    """
    about = scored_on or dimension
    alone = people_alone and (judge == NO_JUDGE or (judge is None and not _judges(workspace, about)))
    scorer = "" if alone else judge or _only_judge(workspace, about)
    columns = read_columns(workspace, scorer, "single", about)
    with reading(workspace.store.engine) as connection:
        assigned = fetch_rows(
            connection,
            select(
                assignments.c.id, assignments.c.left_id, assignments.c.right_id, assignments.c.rater_id,
                assignments.c.purpose,
            ).where(or_(
                # of closed campaigns and withdrawn raters, only assignments with votes count
                assignments.c.id.in_(select(votes.c.assignment_id)),
                assignments.c.campaign_id.not_in(select(campaigns.c.id).where(campaigns.c.open == 0))
                & func.coalesce(assignments.c.rater_id, "").not_in(select(raters.c.id).where(raters.c.active == 0)),
            )),
        )  # fmt: skip
        cast = read_votes(connection, columns.at)
    names = cast.dimension.names
    useless = [REASONS.index(reason) for reason in (Reason.RATER_EXCLUDED, Reason.ONE_SIDE)]
    usable = cast.in_force & np.isin(cast.reason, useless, invert=True)
    about_it = cast.dimension.of == (names.index(dimension) if dimension in names else -2)
    vote_data = _assemble(
        workspace, scorer, columns, assigned, cast.where(about_it & usable & (cast.preference != NONE))
    )
    return (
        replace(vote_data, votes=_rating_votes(workspace, vote_data.pool, columns, dimension))
        if ratings and not len(vote_data.votes)
        else vote_data
    )


def _rating_votes(workspace: Workspace, pool: Pool, columns: WeightedColumns, criterion: str) -> VoteTable:
    """Return each pair of mean ratings of a criterion on one item as a vote; the higher one wins, equal ones tie."""
    view = View(workspace)
    pairs = rating_pairs(view, criterion)
    first, second = (columns.at(view.entries.seq[side]).astype(np.int64) for side in (pairs.left, pairs.right))
    item, pair, turned = _battle(pool, first, second)
    rows = np.flatnonzero(pair >= 0)
    points = POINTS[pairs.winner[rows]]
    points = np.where(turned[rows], 1 - points, points)
    none = np.full(rows.size, np.nan)
    return VoteTable(item[rows], pair[rows], points, (MEAN_RATING,) * rows.size, ("vote",) * rows.size, none)


def _judges(workspace: Workspace, dimension: str) -> list[str]:
    """Return the judges that gave scores."""
    from imarena.core.records import Judgment

    counts = workspace.store.count(Judgment, "judge", dimension=dimension, status="ok", right_id=None)
    return sorted(str(name) for (name,) in counts)


def _only_judge(workspace: Workspace, dimension: str) -> str:
    names = _judges(workspace, dimension)
    if len(names) != 1:
        raise UserError(
            f"{len(names)} judges gave scores here." if names else "No judge gave scores here.",
            hint=f"Choose one with --judge: {', '.join(names)}." if names else f"Run: {command_line('judge')}",
        )
    return names[0]


def _assemble(
    workspace: Workspace, judge: str, columns: WeightedColumns, assigned: list[Any], cast: VoteColumns
) -> VoteData:
    shape = columns.scores.shape
    output = np.zeros(shape, columns.ids.dtype)
    output.ravel()[columns.cells] = columns.ids
    picture = np.full(shape, -1, np.int32)
    picture.ravel()[columns.cells] = columns.picture
    units = tuple(zip(columns.item, columns.turn, strict=True))
    pairs = shape[1] * (shape[1] - 1) // 2
    questions = np.zeros((shape[0], pairs), np.int16)
    _, task = np.unique(_families(columns.labels), return_inverse=True)
    pool = Pool(columns.scores, output != b"", task.astype(np.int64), questions, columns.models, picture)
    votes, rater_pairs = _votes(pool, columns, assigned, cast)
    outside = int(cast.counts.sum()) - int((np.array(votes.purpose, object) == "vote").sum())
    gold_items = gold_set(workspace)
    gold = np.array([name in gold_items for name in columns.item], bool)
    return VoteData(
        pool,
        judge,
        units,
        output,
        columns.labels,
        votes,
        gold,
        rater_pairs,
        columns.versions,
        columns.earlier,
        outside,
        columns.compares,
    )


def _families(labels: Mapping[str, NDArray[np.str_]]) -> NDArray[np.str_]:
    return np.asarray(np.where(labels["family"] == "", labels["task"], labels["family"]))


def _votes(
    pool: Pool, columns: WeightedColumns, assigned: list[Any], cast: VoteColumns
) -> tuple[VoteTable, frozenset[tuple[str, int, int]]]:
    item, pair, _ = _battle(pool, *(columns.where([row[side] for row in assigned]) for side in (1, 2)))
    units = zip(assigned, item.tolist(), pair.tolist(), strict=True)
    rater_pairs: set[tuple[str, int, int]] = {(row[3], at, of) for row, at, of in units if of >= 0 and row[3]}
    meant = (pair >= 0) & np.array([row[4] == "vote" for row in assigned], bool)
    np.add.at(pool.asked, (item[meant], pair[meant]), 1)
    item, pair, turned = _battle(pool, cast.left.astype(np.int64), cast.right.astype(np.int64))
    cast, item, pair, turned = cast.where(pair >= 0), item[pair >= 0], pair[pair >= 0], turned[pair >= 0]
    free = cast.purpose.of < 0
    np.add.at(pool.asked, (item[free], pair[free]), 1)
    raters = [str(name) for name in cast.rater.list()]
    rater_pairs.update(zip(raters, item.tolist(), pair.tolist(), strict=True))
    points = POINTS[cast.preference]
    purposes = tuple(purpose or "vote" for purpose in cast.purpose.list())
    points = np.where(turned, 1 - points, points)
    return VoteTable(item, pair, points, tuple(raters), purposes, cast.probability), frozenset(rater_pairs)


def _battle(
    pool: Pool, first: NDArray[np.int64], second: NDArray[np.int64]
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.bool_]]:
    """(k,) item, pair (-1: not in this pool) and whether the left side is the pair's right model.

    `first` and `second` are flat indices into the (N, m) tables, -1 for none.
    """
    m = pool.n_models
    pair_of = np.full((m, m), -1, np.int64)
    pair_of[pool.left, pool.right] = pair_of[pool.right, pool.left] = np.arange(pool.left.size)
    same_item = (first >= 0) & (second >= 0) & (first // m == second // m)
    pair = np.where(same_item, pair_of[first % m, second % m], -1)
    return first // m, pair, first % m > second % m


def dimension_votes(workspace: Workspace, vote_data: VoteData, dimension: str) -> VoteTable:
    """Return the votes on one dimension alone."""
    return read_vote_data(workspace, vote_data.judge, scored_on="overall", dimension=dimension).votes


def gold_set(workspace: Workspace) -> frozenset[str]:
    """Return the ids of the items in the frozen gold set; empty if none was frozen."""
    gold_items: set[str] = set()
    for campaign in workspace.store.records(Campaign, kind=GOLD):
        item_ids = campaign.settings.get("items")
        if isinstance(item_ids, list):
            gold_items.update(str(item) for item in item_ids)
    return frozenset(gold_items)
