"""Looking at a workspace: boards from filtered battles, the win matrix, head-to-head, facets, history."""

import json
import threading
from collections import OrderedDict
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal, TypeVar

from sqlalchemy import func, select

from imarena.core.errors import UserError
from imarena.core.notices import notices_from_texts
from imarena.core.records import Item, Judgment, Output, Ranking, Record, Vote
from imarena.ranking import Options
from imarena.storage import Store, Workspace
from imarena.storage.codec import from_row
from imarena.storage.database import reading
from imarena.storage.schema import assignments, campaigns, items, judgments, outputs, rankings, votes
from imarena.workflows.battles import BattleTable, Source, about_whole, battles, dimension_of, part_of
from imarena.workflows.boards import board
from imarena.workflows.evidence import by_scores, evidence_of, few_votes
from imarena.workflows.independence import BY_FILTER, driven_by, on_page, verdict_warnings
from imarena.workflows.rank import automatic, lacking, whose
from imarena.workflows.shelves import Shelves
from imarena.workflows.tallying import Tallied, matrix_of
from imarena.workflows.undelivered import failed_outputs
from imarena.workflows.watching import RunWatch

T = TypeVar("T")
_KEPT = 64
ITEM_FILTERS = ("dataset", "family", "task", "topic", "track", "mode")


@dataclass(frozen=True)
class Filters:
    """Which battles count; None: all."""

    source: Source | Literal["auto"] = "all"
    """auto: what `imarena rank` takes without options."""
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
    """Without the votes of campaigns that are still open: who votes now must not see a board move."""


@dataclass(frozen=True)
class Made:
    """A board, or the reason why there is none."""

    ranking: Ranking | None
    matrix: tuple[Tallied, ...]
    n_battles: int
    excluded: dict[str, int]
    reason: str = ""
    source: str = "all"
    judge: str | None = None
    """Whose battles these are: what was asked for, or what `auto` came to."""
    verdicts: str = ""
    beside: str = ""
    """What else there is to rank by, and the filter that shows it."""
    by_scores: int = 0


@dataclass(frozen=True)
class Past:
    """A board as it stood at a moment."""

    moment: str
    n_battles: int
    ranking: Ranking


class SeenStore(Store):
    """A store as a visitor sees it: votes and judgments of a window of time, both days included.

    No vote on an assignment that is `shut` is seen.
    """

    def __init__(self, store: Store, since: str | None, until: str | None, shut: frozenset[str]) -> None:
        super().__init__(store.engine)
        self._since, self._until = since or "", f"{until}T~" if until else "~"
        self._shut = shut

    def rows(self, record: type[Record], *, after: int = 0, limit: int | None = None, **where: Any) -> Iterator[Any]:
        """Rows that may be seen."""
        for row in super().rows(record, after=after, limit=limit, **where):
            in_time = record not in (Vote, Judgment) or self._since <= row["created_at"] <= self._until
            if in_time and (record is not Vote or row["assignment_id"] not in self._shut):
                yield row


class Looking:
    """What pages show. What was computed is kept until a record is added."""

    def __init__(self, workspace: Workspace, shelves: Shelves) -> None:
        self.workspace = workspace
        self.shelves = shelves
        self.runs = RunWatch(workspace)
        self._kept: OrderedDict[object, object] = OrderedDict()
        self._guard = threading.Lock()
        self._making = threading.RLock()  # a board is made from a table that is kept too
        self._glance = threading.Lock()

    def version(self) -> tuple[int, ...]:
        """Changes when a record that pages show is added, or a campaign opens or closes."""
        watched = (votes, judgments, outputs, items, assignments)
        query = select(
            *(select(func.coalesce(func.max(t.c.seq), 0)).scalar_subquery() for t in watched),
            select(func.coalesce(func.sum(campaigns.c.seq * (1 + campaigns.c.open)), 0)).scalar_subquery(),
        )
        with reading(self.workspace.store.engine) as connection:
            return tuple(int(value) for value in connection.execute(query).one())

    def kept(self, key: object, make: Callable[[], T], *, light: bool = False) -> T:
        """What `make` gives, made once for each state of the workspace.

        `light`: it takes a moment and keeps nothing else itself, so that it need not wait until a board is made.
        """
        whole = (self.version(), key)
        with self._guard:
            if whole in self._kept:
                self._kept.move_to_end(whole)
                return self._kept[whole]  # type: ignore[return-value]
        with self._glance if light else self._making:  # two people who ask for the same board wait for one computation
            with self._guard:
                if whole in self._kept:
                    return self._kept[whole]  # type: ignore[return-value]
            made = make()
            with self._guard:
                self._kept[whole] = made
                while len(self._kept) > _KEPT:
                    self._kept.popitem(last=False)
        return made

    # ------------------------------------------------------------------ boards

    def settled(self, filters: Filters) -> Filters:
        """The filters with a source: where none was chosen, what `imarena rank` takes without options.

        That hangs on what there is as a whole. A choice of task or topic leaves a part of the same board.
        """
        if filters.source != "auto":
            return filters
        whole = _whole(filters)
        source, judge = self.kept(("auto", whole), lambda: self._automatic(whole))
        return replace(filters, source=source, judge=judge)

    def _automatic(self, filters: Filters) -> tuple[Any, str | None]:
        seen = self.seen(filters)
        return automatic(seen, filters.judge, filters.dimension, evidence_of(seen))

    def table(self, filters: Filters) -> BattleTable:
        """The battles that the filters leave."""
        filters = self.settled(filters)
        return self.kept(("table", filters), lambda: self._table(filters))

    def seen(self, filters: Filters) -> Workspace:
        """The workspace as far as these filters let votes and judgments be seen, by date and by what is released."""
        if not (filters.since or filters.until or filters.released):
            return self.workspace
        shut = self.kept("shut", self._shut, light=True) if filters.released else frozenset[str]()
        store = SeenStore(self.workspace.store, filters.since, filters.until, shut)
        return replace(self.workspace, store=store)

    def _shut(self) -> frozenset[str]:
        """Assignments of campaigns that are open."""
        query = (
            select(assignments.c.id)
            .join(campaigns, campaigns.c.id == assignments.c.campaign_id)
            .where(campaigns.c.open == 1)
        )
        with reading(self.workspace.store.engine) as connection:
            return frozenset(connection.execute(query).scalars())

    def _table(self, filters: Filters) -> BattleTable:
        """All battles are read once for all filters that look at the item: another task costs a look, not a search."""
        whole = _whole(filters)
        table = self.kept(("battles", whole), lambda: self._battles(whole))
        wanted = wanted_of(filters)
        if wanted.get("mode") == "single":
            wanted["mode"] = None
        if not wanted:
            return self._told(table)
        rows = [n for n in range(len(table)) if all(table.columns[k][n] == wanted[k] for k in wanted)]
        return self._told(part_of(table, rows))

    def _told(self, table: BattleTable) -> BattleTable:
        """A table with what `imarena rank` says of the same verdicts, in the words of a page."""
        judges = {str(name) for name in table.columns["judge"] if name}
        drivers = self.kept("drivers", lambda: driven_by(self.workspace), light=True) if judges else {}
        people = "human" in table.columns["source"]
        told = verdict_warnings(judges, drivers, people=people, choose=BY_FILTER)
        return replace(table, warnings=(*table.warnings, *told))

    def _battles(self, filters: Filters) -> BattleTable:
        source: Any = "judge" if filters.judge else filters.source
        table = battles(self.seen(filters), source=source, judge=filters.judge, dimension=filters.dimension, once=True)
        return table if filters.dimension else about_whole(table, asked=filters.judge is not None)

    def board(self, filters: Filters, method: str) -> Made:
        """A board with its win matrix."""
        return self.kept(("board", filters, method), lambda: self._with_words(filters, method))

    def _with_words(self, asked: Filters, method: str) -> Made:
        """A board with what `imarena rank` says beside it, in the words of a page."""
        filters = self.settled(asked)
        made, table = self._board(filters, method), self.table(filters)
        source = "judge" if filters.judge else str(filters.source)
        there = self.kept(("evidence", _whole(filters)), lambda: evidence_of(self.seen(filters)))
        warned = few_votes(there, source, chosen=asked.source != "auto")
        if filters == Filters(source=filters.source, judge=filters.judge, dimension=filters.dimension):
            # who leads may run what adds an editor; of a part of the battles nothing is missing
            warned += lacking(self.workspace, table, source, filters.judge, Path())
        ranking = made.ranking
        if ranking is not None:
            told = (*(on_page(text) for text in warned), *ranking.warnings)
            ranking = ranking.model_copy(update={"notices": notices_from_texts(told)})
        return replace(
            made,
            ranking=ranking,
            source=source,
            judge=filters.judge,
            verdicts=whose(source, sorted({str(name) for name in table.columns["judge"] if name})),
            beside=on_page(there.beside(source, filters.judge)),
            by_scores=by_scores(table),
        )

    def _board(self, filters: Filters, method: str) -> Made:
        table = self.table(filters)
        matrix, excluded = matrix_of(table), dict(table.excluded)
        if not len(table):
            why = "No battle fits these filters."
            if any(reason.endswith("not the whole") for reason in excluded):
                why = "No battle is about the whole: choose a dimension."
            return Made(None, matrix, 0, excluded, why)
        try:
            ranking = _ranked(self._with_failed(table, filters), method)
        except UserError as error:
            return Made(None, matrix, len(table), excluded, str(error.args[0]))
        return Made(ranking, matrix, ranking.n_battles, dict(ranking.excluded))

    def _with_failed(self, table: BattleTable, filters: Filters) -> BattleTable:
        """The table with what editors failed to deliver beside it, as `imarena rank` has it: left out, and told."""
        editors, wanted = {*table.columns["left"], *table.columns["right"]}, wanted_of(filters)
        if wanted.get("mode") == "single":
            wanted["mode"] = None
        everything = self.kept("failed", self._failed, light=True)
        failed = [
            row
            for row in everything
            if editors >= {row["left"], row["right"]} and all(row[name] == wanted[name] for name in wanted)
        ]
        columns = {name: [*column, *(row.get(name) for row in failed)] for name, column in table.columns.items()}
        statuses = [*[None] * len(table), *(row["status_left"] for row in failed)]
        return replace(table, columns={**columns, "status_left": statuses})

    def _failed(self) -> list[dict[str, Any]]:
        """Battles that an editor's failure prevented, each with what its item can be filtered by."""
        store = self.workspace.store
        editors = {str(key[0]) for key in store.count(Output, "editor") if key[0] is not None}
        about = {row["id"]: {name: row[name] for name in ITEM_FILTERS[:-1]} for row in store.rows(Item)}
        return [{**about[row["item"]], **row} for row in failed_outputs(self.workspace, editors)]

    def history(self, filters: Filters, method: str, points: int) -> list[Past]:
        """The board as it stood at up to `points` moments, each with as many more battles as the one before."""
        return self.kept(("history", filters, method, points), lambda: self._history(filters, method, points))

    def _history(self, filters: Filters, method: str, points: int) -> list[Past]:
        table = self.table(filters)
        moments = sorted(table.times)
        steps = {moments[(n + 1) * len(moments) // points - 1] for n in range(points)} if moments else set()
        found = []
        for moment in sorted(steps):
            part = part_of(table, [n for n, time in enumerate(table.times) if time <= moment])
            try:
                ranking = board("board", part, Options(method=method, rounds=0, interval="none")).ranking
            except UserError:
                continue  # too few battles yet for a board
            found.append(Past(moment, len(part), ranking))
        return found

    def head_to_head(self, left: str, right: str, filters: Filters) -> tuple[Tallied, dict[str, Tallied]]:
        """Two models against each other: over all, and by task."""
        table = self.table(filters)
        total = Tallied(left, right)
        by_task: dict[str, Tallied] = {}
        columns = table.columns
        for n in range(len(table)):
            pair = (columns["left"][n], columns["right"][n])
            if pair not in ((left, right), (right, left)) or left == right:
                continue
            mirrored = pair != (left, right)
            total.add(columns["winner"][n], mirrored=mirrored)
            task = columns["task"][n] or ""
            by_task.setdefault(task, Tallied(left, right)).add(columns["winner"][n], mirrored=mirrored)
        return total, dict(sorted(by_task.items()))

    def facets(self) -> dict[str, list[str]]:
        """The values that filters can take."""
        return self.kept("facets", self._facets, light=True)

    def _facets(self) -> dict[str, list[str]]:
        store = self.workspace.store

        def values(record: type[Record], column: str) -> list[str]:
            return sorted(str(key[0]) for key in store.count(record, column) if key[0] is not None)

        return {
            "datasets": values(Item, "dataset"),
            "families": values(Item, "family"),
            "tasks": values(Item, "task"),
            "topics": values(Item, "topic"),
            "tracks": values(Item, "track"),
            "editors": values(Output, "editor"),
            "judges": values(Judgment, "judge"),
            "dimensions": sorted({*values(Judgment, "dimension"), *self._asked()}),
            "modes": values(Output, "mode"),
        }

    def _asked(self) -> set[str]:
        """What people were asked about: dimensions of their preferences, criteria of their ratings."""
        found: set[str] = set()
        for row in self.workspace.store.rows(Vote):
            if row["preference"] is not None:
                found.add(dimension_of(row))
            elif not row["retracted"]:
                found.update(json.loads(row["body"]).get("ratings", {}))
        return found

    def stored(self, before: int | None, limit: int) -> list[tuple[int, Ranking]]:
        """Stored boards, newest first."""
        query = select(rankings).order_by(rankings.c.seq.desc()).limit(limit)
        if before is not None:
            query = query.where(rankings.c.seq < before)
        with reading(self.workspace.store.engine) as connection:
            rows = connection.execute(query).mappings().all()
        found = [(row["seq"], from_row(Ranking, row)) for row in rows]
        return [(seq, ranking) for seq, ranking in found if isinstance(ranking, Ranking)]


def _whole(filters: Filters) -> Filters:
    """The filters without those that look at the item."""
    return replace(filters, dataset=None, family=None, task=None, topic=None, track=None, mode=None)


def wanted_of(filters: Filters) -> dict[str, Any]:
    """The filters that look at the item, or at how its outputs were made."""
    return {name: getattr(filters, name) for name in ITEM_FILTERS if getattr(filters, name) is not None}


def _ranked(table: BattleTable, method: str) -> Ranking:
    """A board with intervals; where the data are too few for them, without, and with the reason as a warning."""
    try:
        return board("board", table, Options(method=method)).ranking
    except UserError as error:
        ranking = board("board", table, Options(method=method, rounds=0, interval="none")).ranking
        return ranking.model_copy(
            update={"notices": (*ranking.notices, *notices_from_texts([f"No intervals: {error.args[0]}"]))}
        )
