"""Boards for pages: from filtered battles, with the win matrix, head-to-head, facets and history."""

import threading
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TypeVar

import numpy as np

from imarena.core import UserError, moment_text
from imarena.core.notices import Notice, sentence
from imarena.core.records import Ranking
from imarena.ranking import SIGNATURE, Options, rank_table
from imarena.storage import Workspace
from imarena.tables import build_column, row_slices, sorted_parts
from imarena.workflows import boards
from imarena.workflows.serving.battle_index import BattleIds
from imarena.workflows.serving.run_monitor import Costs, RunWatch
from imarena.workflows.serving.snapshot import Partition, ViewSnapshot
from imarena.workflows.views import MODES, WHOLE, BattleColumns, View, Window, read_ratings, read_watermarks

T = TypeVar("T")
_AT_ONCE = 10_000
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


@dataclass(frozen=True)
class BattleFilters:
    """Which battles count; None: all."""

    source: boards.Source = "all"
    """auto: the source that `imarena rank` chooses without options."""
    judge: str | None = None
    dimension: str | None = None
    dataset: str | None = None
    family: str | None = None
    task: str | None = None
    topic: str | None = None
    track: str | None = None
    mode: str | None = None
    since: str | None = None
    until: str | None = None
    released: bool = False
    """Exclude votes of open campaigns: current raters must not see a board change."""

    @property
    def window(self) -> Window:
        """The window of verdicts that may be shown."""
        return Window(self.since, self.until, self.released)

    @property
    def of_items(self) -> dict[str, str]:
        """The filters on the item, or on how its outputs were made."""
        return {name: getattr(self, name) for name in boards.ITEM_FILTERS if getattr(self, name) is not None}

    def query(self, method: str = "bt") -> boards.BoardQuery:
        """The query for the board that these filters select.

        Notes on missing data are only for leads, who can add it, and only on the whole board: in a part of the
        battles, nothing counts as missing.
        """
        options = Options(method=method)
        return boards.BoardQuery(
            source=self.source,
            judge=self.judge,
            dimension=self.dimension,
            dimensions_together=method == "davidson",
            filters=self.of_items,
            window=self.window,
            options=options,
            notes=not self.of_items and self.window == Window(),
        )


@dataclass(frozen=True)
class BoardOrReason:
    """A board, or the reason why there is none."""

    ranking: Ranking | None
    matrix: tuple[boards.DuelCounts, ...]
    n_battles: int
    excluded: dict[str, int]
    reason: str = ""
    source: str = "all"
    judge: str | None = None
    """With `source`, whose battles these are: as requested, or as chosen by `auto`."""
    verdicts: str = ""
    beside: str = ""
    """Other verdicts to rank by, and the filter that shows them."""
    by_scores: int = 0
    votes_withheld: bool = False
    """Whether there are votes that this caller may not see yet, because their campaign is open."""

    @property
    def notices(self) -> tuple[Notice, ...]:
        """Notices about the board."""
        return self.ranking.notices if self.ranking is not None else ()

    @property
    def signature(self) -> str:
        """The line that lists everything that affects the board's numbers."""
        return str(self.ranking.settings.get(SIGNATURE, "")) if self.ranking is not None else ""


@dataclass(frozen=True)
class BoardSnapshot:
    """A board as it was at a given time."""

    moment: str
    n_battles: int
    ranking: Ranking


class Leaderboards:
    """The boards and lists that pages show. Results are cached until a record is added. No records are written."""

    def __init__(self, workspace: Workspace) -> None:
        self.workspace = workspace
        self.runs = RunWatch(workspace)
        self.costs = Costs(workspace)
        self.battle_ids = BattleIds()
        self.latest: ViewSnapshot | None = None
        """The workspace as it was at the last request."""
        self._turning = threading.Lock()

    def snapshot(self) -> ViewSnapshot:
        """The workspace as it is now."""
        with self._turning:
            marks = read_watermarks(self.workspace)
            if self.latest is None or self.latest.view.marks.removals != marks.removals:
                # commands shown on a page must not name a folder of the server
                self.latest = ViewSnapshot(View(replace(self.workspace, root=Path()), marks, self.workspace.columns))
            elif self.latest.view.marks != marks:
                self.latest = ViewSnapshot(self.latest.view.refreshed(marks), self.latest.past)
            return self.latest

    def get_or_compute(self, key: object, make: Callable[[], T], partition: Partition = "glances") -> T:
        """The result of `make`, computed once for each state of the workspace."""
        return self.snapshot().get_or_compute(key, make, partition)

    # ------------------------------------------------------------------ boards

    def settled(self, filters: BattleFilters, snapshot: ViewSnapshot) -> BattleFilters:
        """The filters with a source instead of `auto`: the one that `imarena rank` chooses without options.

        It depends on the whole workspace, so that filters by task or topic show a part of the same board.
        """
        if filters.source != "auto" or filters.judge is not None:
            return filters
        query = filters.query()
        choice = boards.choose(snapshot.view, query, boards.AvailableSources(snapshot.view, query.window))
        return replace(filters, source=choice.source, judge=choice.judge)

    def battles(self, filters: BattleFilters, snapshot: ViewSnapshot) -> BattleColumns:
        """The battles that match the filters."""
        return snapshot.boards.gather(filters.query()).battles

    def verdicts(self, filters: BattleFilters, names: Sequence[str], hidden: Collection[str]) -> Iterator[list[object]]:
        """Yield the battles that match the filters as table rows with these columns, without those on hidden items."""
        snapshot = self.snapshot()
        try:
            battles = self.battles(filters, snapshot)
        except UserError:  # no such judge
            return
        entries = snapshot.view.entries
        if hidden:
            visible = np.array([item_id not in hidden for item_id in entries.item_id] or [True])
            battles = battles.of_outputs(visible[entries.item], both=False)
        for rows in row_slices(len(battles), _AT_ONCE):
            table = boards.battle_table(snapshot.view, battles.where(rows))
            columns = {name: table[name].to_pylist() for name in names if name in table.column_names}
            empty = [None] * table.num_rows
            yield from map(list, zip(*(columns.get(name, empty) for name in names), strict=True))

    def board(self, filters: BattleFilters, method: str) -> BoardOrReason:
        """A board with its win matrix."""
        snapshot = self.snapshot()

        def make() -> BoardOrReason:
            board = _make(snapshot, filters.query(method))
            return replace(board, votes_withheld=filters.released and bool(snapshot.view.asking))

        return snapshot.get_or_compute(("board", filters, method), make)

    def history(self, filters: BattleFilters, method: str, points: int) -> list[BoardSnapshot]:
        """The board as it was at up to `points` times, with equally many battles added from one to the next."""
        snapshot = self.snapshot()
        key = ("history", filters, method, points)
        return snapshot.get_or_compute(key, lambda: _history(snapshot, filters.query(method), points))

    def head_to_head(
        self, left: str, right: str, filters: BattleFilters
    ) -> tuple[boards.DuelCounts, dict[str, boards.DuelCounts]]:
        """Two models against each other: overall, and by task."""
        snapshot = self.snapshot()
        try:
            battles = self.battles(filters, snapshot)
        except UserError:  # no such judge
            return boards.DuelCounts(left, right), {}
        return boards.duel_of(snapshot.view.entries, battles, left, right)

    def facets(self) -> dict[str, list[str]]:
        """The values that filters can take."""
        snapshot = self.snapshot()
        return snapshot.get_or_compute("facets", lambda: _facets(snapshot.view), "glances")


def _make(snapshot: ViewSnapshot, query: boards.BoardQuery) -> BoardOrReason:
    try:
        return _printed_board(snapshot, snapshot.boards.board(query), query)
    except UserError as error:
        return _simpler_board(snapshot, query, error)


def _printed_board(snapshot: ViewSnapshot, board: boards.Board, query: boards.BoardQuery) -> BoardOrReason:
    without = _without_ranking(snapshot, query, board.battles, board.chosen)
    ranking = board.ranking
    return replace(
        without,
        ranking=ranking,
        n_battles=ranking.n_battles,
        excluded=dict(ranking.excluded),
        by_scores=board.by_scores,
    )


def _without_ranking(
    snapshot: ViewSnapshot,
    query: boards.BoardQuery,
    battles: BattleColumns,
    choice: boards.ChosenSource,
    reason: str = "",
) -> BoardOrReason:
    beside = boards.other_sources(boards.AvailableSources(snapshot.view, query.window), choice)
    return BoardOrReason(
        ranking=None,
        matrix=boards.matrix_of(snapshot.view.entries, battles),
        n_battles=len(battles),
        excluded=dict(battles.excluded),
        reason=reason,
        source=choice.source,
        judge=choice.judge,
        verdicts=boards.describe_source(choice),
        beside=sentence(beside, "page") if beside is not None else "",
    )


def _simpler_board(snapshot: ViewSnapshot, query: boards.BoardQuery, error: UserError) -> BoardOrReason:
    """A board without intervals if the data do not support them; else the reason why there is no board."""
    reason = str(error.args[0])
    try:
        gathered = snapshot.boards.gather(query)
    except UserError:
        return BoardOrReason(None, (), 0, {}, reason, "judge" if query.judge else query.source, query.judge)
    battles, choice = gathered.battles, gathered.chosen
    if len(battles):
        plain = replace(query, options=replace(query.options, rounds=0, interval="none"))
        try:
            board = _printed_board(snapshot, snapshot.boards.board(plain), plain)
        except UserError:
            pass
        else:
            notice = Notice(code="no_intervals", values={"reason": reason})
            ranking = board.ranking and board.ranking.model_copy(update={"notices": (*board.notices, notice)})
            return replace(board, ranking=ranking)
    elif query.dimension is None and gathered.dimensions and WHOLE not in gathered.dimensions:
        reason = f"No verdict is about the whole: choose a dimension ({', '.join(gathered.dimensions)})."
    elif query.filters or query.window.since or query.window.until:
        reason = "No battle fits these filters."
    return _without_ranking(snapshot, query, battles, choice, reason)


def _history(snapshot: ViewSnapshot, query: boards.BoardQuery, points: int) -> list[BoardSnapshot]:
    try:
        battles = snapshot.boards.gather(query).battles
    except UserError:  # no such judge
        return []
    created, at = battles.created_us, 0
    targets = {(n + 1) * created.size // points - 1 for n in range(points)}
    steps: set[int] = set()
    for (times,) in sorted_parts(created.size, lambda rows: [created[rows]]):
        moments = np.sort(times)
        steps.update(int(moments[index - at]) for index in targets if at <= index < at + times.size)
        at += times.size
    options = replace(query.options, rounds=0, interval="none")
    history = []
    for moment in sorted(steps):
        part = battles.where(build_column(created.size, bool, lambda rows, until=moment: created[rows] <= until))  # type: ignore[misc]
        try:
            ranking = rank_table(boards.BattleTable(snapshot.view, part), options)
        except UserError:
            continue  # too few battles yet for a board
        history.append(BoardSnapshot(moment_text(_EPOCH + timedelta(microseconds=moment)), len(part), ranking))
    return history


def _facets(view: View) -> dict[str, list[str]]:
    entries, votes = view.entries, view.votes
    names = {"datasets": "dataset", "families": "family", "tasks": "task", "topics": "topic", "tracks": "track"}
    voted = {votes.dimension.names[code] for code in np.unique(votes.dimension.of[votes.preference != 0]).tolist()}
    judged = {variant.dimension for variant in view.variants.every}
    return {
        **{facet: list(entries.labels[name].names) for facet, name in names.items()},
        "editors": list(entries.editor.names),
        "judges": view.variants.judges,
        "dimensions": sorted(voted | judged | set(read_ratings(view).criterion.names)),
        "modes": sorted(MODES[code] for code in np.unique(entries.mode).tolist()),
    }


def judge_names(view: View, name: str | None) -> list[str] | None:
    """The judges that a filter selects: the one with this name, or else all of this kind; None: all judges."""
    if name is None or name == boards.ALL_JUDGES:
        return None
    names = view.variants.judges
    return [name] if name in names else [judge for judge in names if judge.partition("/")[0] == name]
