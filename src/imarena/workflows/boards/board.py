"""One function makes a board. `rank`, `report`, `route rerank`, `health`, the web application and Python call it."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from imarena.core import UserError, canonical_json, sha256_hex
from imarena.core.notices import Notice, sentence
from imarena.core.records import Ranking
from imarena.ranking import rank_table, sign_ranking, table_data
from imarena.storage import Form, Workspace
from imarena.workflows.boards import findings
from imarena.workflows.boards.choice import AvailableSources, ChosenSource, choose, judge_called, people_battles_for
from imarena.workflows.boards.coverage import OutputCoverage, read_output_coverage
from imarena.workflows.boards.empty import nothing_to_rank
from imarena.workflows.boards.query import ALL_JUDGES, WEIGHED, BoardQuery
from imarena.workflows.boards.sources import judge_data
from imarena.workflows.boards.table import battle_table
from imarena.workflows.views import (
    EVERYTHING,
    LABELS,
    MODES,
    WHOLE,
    BattleColumns,
    Kind,
    View,
    battles_between_named,
    joined_battles,
    judge_battles,
    people_battles,
    read_ratings,
)


@dataclass(frozen=True)
class Board:
    """A ranking, the battles it was made from, and whose they are."""

    ranking: Ranking
    battles: BattleColumns
    chosen: ChosenSource
    title: str = ""

    @property
    def by_scores(self) -> int:
        """Battles of judges that nobody fought: pairs of scores."""
        return int((self.battles.judged & self.battles.scored).sum())


@dataclass(frozen=True)
class GatheredBattles:
    """The battles of a query, before they are ranked."""

    battles: BattleColumns
    chosen: ChosenSource
    notices: tuple[Notice, ...]
    dimensions: tuple[str, ...]
    """What all battles of the source are about."""


class Boards:
    """The boards that one view of a workspace can show. What several boards need is read once."""

    def __init__(self, view: View) -> None:
        self.view = view

    @cached_property
    def delivery(self) -> OutputCoverage:
        """Who delivered what."""
        return read_output_coverage(self.view)

    def gather(self, query: BoardQuery) -> "GatheredBattles":
        """The battles that a query leaves, whose they are, and what to know about them."""
        chosen = choose(self.view, query, AvailableSources(self.view, query.window))
        every = self._every(query, chosen)
        found, notices = self._about(every, query, chosen)
        return GatheredBattles(self._filtered(found, query.filters), chosen, notices, tuple(every.dimension.used()))

    def _every(self, query: BoardQuery, chosen: ChosenSource) -> BattleColumns:
        """The battles of the chosen source between named editors, about whatever they are."""
        parts = []
        if chosen.source in ("human", "all"):
            voted = people_battles_for(self.view, query)
            voted.excluded.update(self._other_dimensions(query) if WHOLE in voted.dimension.used() else {})
            parts.append(voted)
        if chosen.source in ("judge", "all"):
            forms = self.forms(query, chosen)
            kinds: tuple[Kind, ...] = ("compared", "scored") if query.kind is None else (query.kind,)
            made = judge_battles(self.view, forms, once=query.kind is None, window=query.window, kinds=kinds)
            made.excluded.update(self.view.earlier(self.view.forms.chosen(chosen.judges, query.dimension)))
            parts.append(battles_between_named(made, self.view.entries))
        return joined_battles(parts)

    def _other_dimensions(self, query: BoardQuery) -> Counter[str]:
        """Votes about one dimension that a board about the whole leaves out."""
        if query.dimension is not None or query.dimensions_together or query.by == "dimension":
            return Counter()
        found = battles_between_named(
            people_battles(self.view, window=query.window), self.view.entries
        ).dimension.list()
        return Counter(f"about {name}, not the whole" for name in found if name != WHOLE)

    def forms(self, query: BoardQuery, chosen: ChosenSource) -> list[Form]:
        """The forms of the chosen judges that count."""
        return self.view.forms.counting(chosen.judges, query.dimension) if chosen.judges else []

    def _about(
        self, found: BattleColumns, query: BoardQuery, chosen: ChosenSource
    ) -> tuple[BattleColumns, tuple[Notice, ...]]:
        """The battles about the whole; those about one dimension are counted as left out.

        Where the judge was named, or people were asked, and all verdicts are about one dimension, they are kept.
        """
        names = found.dimension.names
        number = np.bincount(found.dimension.of, minlength=len(names)) if len(found) else np.zeros(len(names), int)
        there = [name for name, n in zip(names, number.tolist(), strict=True) if n]
        if query.dimension is not None:
            whole = query.dimension == WHOLE
            return found, () if whole else (Notice(code="one_dimension", values={"dimension": query.dimension}),)
        if query.dimensions_together or query.by == "dimension":
            pooled = len(there) > 1 and query.by != "dimension"
            return found, (Notice(code="dimensions_pooled", values={"dimensions": list(there)}),) if pooled else ()
        only = there[0] if len(there) == 1 and (chosen.asked or chosen.source == "human") else WHOLE
        excluded = found.excluded.copy()
        counts = zip(names, number.tolist(), strict=True)
        excluded.update({f"about {name}, not the whole": n for name, n in counts if n and name != only})
        kept = found.dimension.of == (names.index(only) if only in names else -2)
        notices = () if only == WHOLE else (Notice(code="one_dimension", values={"dimension": only}),)
        return replace(found if kept.all() else found.where(kept), excluded=excluded), notices

    def _filtered(self, found: BattleColumns, filters: Mapping[str, str]) -> BattleColumns:
        if not filters:
            return found
        output = self.outputs_with(filters)
        return found.where(output[found.left])

    def outputs_with(self, filters: Mapping[str, str]) -> NDArray[np.bool_]:
        """(k,) outputs whose item (or whose mode) has these values."""
        entries = self.view.entries
        kept = np.ones(entries.seq.size, bool)
        for name, value in filters.items():
            if name == "mode":
                kept &= entries.mode == (MODES.index(value) if value in MODES else -2)
            else:
                kept &= self._items_with(name, value)[entries.item]
        return kept

    def _items_with(self, name: str, value: str) -> NDArray[np.bool_]:
        labels = self.view.entries.labels[name]
        return np.asarray(labels.of == (labels.names.index(value) if value in labels.names else -2))

    def units_with(self, filters: Mapping[str, str]) -> NDArray[np.bool_]:
        """(u,) units of the delivery whose item (or whose mode) has these values."""
        kept = np.ones(self.delivery.item.size, bool)
        for name, value in filters.items():
            if name == "mode":
                kept &= self.delivery.mode == (MODES.index(value) if value in MODES else -2)
            elif name in LABELS:
                kept &= self._items_with(name, value)[self.delivery.item]
        return kept

    # ------------------------------------------------------------------ ranking

    def board(self, query: BoardQuery) -> Board:
        """The one board of a query."""
        return self.boards(replace(query, by=None))[0]

    def boards(self, query: BoardQuery) -> list[Board]:
        """The board of a query, or one per group."""
        if weighed := self._weighed(query):
            return weighed
        gathered = self.gather(query)
        found, chosen = gathered.battles, gathered.chosen
        evidence = AvailableSources(self.view, query.window)
        if not len(found):
            raise nothing_to_rank(self.view, chosen, query, gathered.dimensions)
        notices = (
            *findings.few_votes_notices(evidence, chosen),
            *(
                findings.coverage_notices(self.view, found, self.delivery, chosen, evidence, query.kind)
                if query.notes
                else ()
            ),
            *gathered.notices,
            *findings.verdict_notices(self.view, found, weighed=query.options.method in WEIGHED),
        )
        shared = _Shared(query, chosen, notices, findings.other_sources(evidence, chosen), self._data(query, chosen))
        if query.by is None:
            return [self._ranked(found, shared, query.filters, {})]
        return self._grouped(found, shared)

    def _weighed(self, query: BoardQuery) -> list[Board]:
        """Boards that weigh people against one judge's scores, as `route rerank` makes them; none without scores."""
        if query.options.method not in WEIGHED or query.source not in ("auto", "all"):
            return []
        scored = {form.judge for form in self.view.forms.counting(pairwise=False)}
        judge = judge_called(self.view, query.judge) if query.judge not in (None, ALL_JUDGES) else None
        if not scored or (judge is not None and judge not in scored):
            return []
        _check_weighed(query)
        from imarena.workflows.boards.weighted.arena import read_arena
        from imarena.workflows.boards.weighted.boards import arena_boards

        workspace = self.view.workspace
        arena = read_arena(workspace, judge, dimension=query.dimension or WHOLE, ratings=True)
        method = query.options.method
        made = arena_boards(workspace, arena, method, query.options, by=query.by, weigh=query.weigh_routing)
        chosen = ChosenSource("all", (arena.judge,), asked=query.judge is not None)
        return [Board(ranking, joined_battles([]), chosen) for ranking in made]

    def _data(self, query: BoardQuery, chosen: ChosenSource) -> dict[str, str]:
        """What a signature says of where the verdicts come from."""
        data = {"source": describe_source(chosen), **judge_data(self.forms(query, chosen))}
        data["dimension"] = query.dimension or ("all together" if query.dimensions_together else WHOLE)
        if chosen.source in ("human", "all"):
            data["overall"] = read_ratings(self.view, query.window).rule
        data["kind"] = query.kind or ""
        data["filter"] = ", ".join(f"{name}={value}" for name, value in sorted(query.filters.items()))
        return data

    def _grouped(self, found: BattleColumns, shared: "_Shared") -> list[Board]:
        import pyarrow as pa
        import pyarrow.compute as pc

        by = shared.query.by or ""
        table = battle_table(self.view, found, None)
        if by not in table.column_names and by not in LABELS:
            raise UserError(f"No column '{by}'.", hint=f"The battles have: {', '.join(table.column_names)}.")
        if by not in table.column_names:
            raise UserError(f"No battle has a {by}.", hint=f"The battles have: {', '.join(table.column_names)}.")
        keys = table[by].cast(pa.string())
        lost = keys.null_count
        unnamed = (Notice(code="unnamed_group", values={"by": by, "battles": lost}),) if lost else ()
        boards = []
        for value in sorted(value for value in pc.unique(keys).to_pylist() if value is not None):
            rows = pc.fill_null(pc.equal(keys, value), False).to_numpy(zero_copy_only=False)
            filters = {**shared.query.filters, **({by: value} if by in (*LABELS, "mode") else {})}
            try:
                made = self._ranked(found.where(rows), shared, filters, {by: value})
            except UserError as error:
                why = Notice(code="group_not_ranked", values={"reason": str(error)})
                empty = Ranking(
                    method=shared.query.options.method, settings={}, n_battles=0, notices=(why,), scope={by: value}
                )
                made = Board(empty, found.where(rows), shared.chosen, value)
            noted = made.ranking.model_copy(update={"notices": (*made.ranking.notices, *unnamed)})
            boards.append(replace(made, ranking=noted))
        return boards

    def _ranked(
        self, found: BattleColumns, shared: "_Shared", filters: Mapping[str, str], scope: dict[str, str]
    ) -> Board:
        query = shared.query
        units = self.units_with(filters)
        missing = self.delivery.missing(findings.editors_on(self.view, found), units)
        table = battle_table(self.view, found, self.delivery, missing)
        ranking = rank_table(
            table,
            query.options,
            both_bad=query.both_bad,
            missing=query.missing,
            covariates=query.covariates,
            resume=query.resume,
            scope=scope,
            known_coverage=self.delivery.coverage(units),
        )
        made = Board(ranking, found, shared.chosen)
        settings = {**ranking.settings, "verdicts": describe_source(shared.chosen), "by_scores": made.by_scores}
        settings |= {"beside": sentence(shared.beside)} if shared.beside else {}
        ranking = ranking.model_copy(
            update={
                "excluded": {**ranking.excluded, **({} if scope else found.excluded)},  # what the whole leaves out
                "notices": (*shared.notices, *ranking.notices),
                "settings": settings,
            }
        )
        covered = sha256_hex(canonical_json(sorted(self.delivery.coverage(units).items())).encode())[:12]
        return replace(
            made, ranking=sign_ranking(ranking, {**shared.data, **table_data(table), "coverage": f"#{covered}"})
        )


def _check_weighed(query: BoardQuery) -> None:
    """Refuse what boards that weigh people against a judge do not take, rather than leave it out in silence."""
    options = query.options
    asked = {
        "--both-bad": query.both_bad != "tie",
        "--missing": query.missing != "exclude",
        "--covariate": bool(query.covariates),
        "--position": options.position,
        "--anchors": bool(options.anchors),
        "--resume": query.resume is not None,
        "a filter": bool(query.filters),
        "a window of time": query.window != EVERYTHING,
    }
    for name, given in asked.items():
        if given:
            raise UserError(
                f"The method '{options.method}' does not take {name} on a workspace.",
                hint="Leave it out, choose --source people or --source judge, or rank a table with --from.",
            )


@dataclass(frozen=True)
class _Shared:
    """What all boards of one query have in common."""

    query: BoardQuery
    chosen: ChosenSource
    notices: tuple[Notice, ...]
    beside: Notice | None
    data: dict[str, str]


def board(workspace: Workspace, query: BoardQuery) -> Board:
    """The board that a query asks for."""
    return Boards(View(workspace)).board(query)


def describe_source(chosen: ChosenSource) -> str:
    """Whose verdicts a board rests on, in words."""
    if chosen.source == "human" or not chosen.judges:
        return "people"
    judges = f"judge {chosen.judges[0]}" if len(chosen.judges) == 1 else f"{len(chosen.judges)} judges"
    return f"people, {judges}" if chosen.source == "all" else judges
