"""The one function that makes boards, for `rank`, `report`, `route rerank`, `health`, the web app and Python."""

from collections import Counter
from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from imarena.core import UserError, canonical_json, sha256_hex, suggestion
from imarena.core.notices import Notice, sentence
from imarena.core.records import Ranking
from imarena.ranking import TableReading, empty_board, rank_table, sign_ranking, split_rows, table_data
from imarena.storage import JudgeVariant, Workspace
from imarena.tables import build_column, row_slices
from imarena.workflows import views
from imarena.workflows.boards import default_source, findings
from imarena.workflows.boards.no_board import nothing_to_rank
from imarena.workflows.boards.query import ALL_JUDGES, WEIGHED, BoardQuery
from imarena.workflows.boards.samples import SampleBoard, check_scores, read_sample_board
from imarena.workflows.boards.table import COLUMNS, BattleTable, battle_table, with_item_column

MISSING_OUTPUT = "missing_output"


@dataclass(frozen=True)
class Board:
    """A ranking, the battles behind it, and the source of their verdicts."""

    ranking: Ranking
    battles: views.BattleColumns
    chosen: default_source.ChosenSource
    title: str = ""
    samples: SampleBoard | None = None
    command: str = ""
    """The command that prints this board; empty if there is none."""

    @property
    def by_scores(self) -> int:
        """Number of battles that were derived from pairs of a judge's scores, not from comparisons."""
        return self.battles.n_by_scores

    def same_as(self, other: "Board") -> bool:
        """Return whether both have the same standings, from as many verdicts of the same source and kind."""
        return self.ranking.models == other.ranking.models and self._evidence == other._evidence

    @property
    def _evidence(self) -> tuple[object, ...]:
        battles = self.battles
        return self.chosen.judges, len(battles), battles.n_judged, battles.n_by_scores


@dataclass(frozen=True)
class GatheredBattles:
    """The battles of a query, before they are ranked."""

    battles: views.BattleColumns
    chosen: default_source.ChosenSource
    notices: tuple[Notice, ...]
    dimensions: tuple[str, ...]
    """The dimensions of all battles of the source."""


class Boards:
    """The boards that one view of a workspace can show. Data that several boards need is read once."""

    def __init__(self, view: views.View) -> None:
        self.view = view

    @cached_property
    def output_coverage(self) -> views.OutputCoverage:
        """Which editor delivered which outputs."""
        return views.read_output_coverage(self.view)

    def gather(self, query: BoardQuery) -> "GatheredBattles":
        """Return the battles that match a query, their source, and notices about them."""
        choice = default_source.choose(self.view, query, default_source.AvailableSources(self.view, query.window))
        every = self._read_battles(query, choice)
        battles, notices = self._select_dimension(every, query, choice)
        if query.filters:
            battles = battles.of_outputs(self.outputs_with(query.filters), both=False)
        if query.outputs is not None:
            places = self.view.entries.index_of
            codes = [places[output] for output in query.outputs if output in places]
            battles = battles.of_outputs(np.isin(np.arange(self.view.entries.seq.size), codes))
        return GatheredBattles(battles, choice, notices, tuple(every.dimension.used()))

    def _read_battles(self, query: BoardQuery, choice: default_source.ChosenSource) -> views.BattleColumns:
        """Return the battles of the chosen source between named editors, on all dimensions."""
        parts = []
        if choice.source in ("human", "all"):
            voted = default_source.people_battles_for(self.view, query)
            voted.excluded.update(self._other_dimensions(query) if views.WHOLE in voted.dimension.used() else {})
            parts.append(voted)
        if choice.source in ("judge", "all"):
            variants = self.variants(query, choice)
            kinds: tuple[views.BattleKind, ...] = ("compared", "scored") if query.kind is None else (query.kind,)
            judged = views.judge_battles(self.view, variants, once=query.kind is None, window=query.window, kinds=kinds)
            judged.excluded.update(self.view.uncounted(self.view.variants.chosen(choice.judges, query.dimension)))
            parts.append(views.battles_between_named(judged, self.view.entries, query.editors))
        return views.joined_battles(parts)

    def _other_dimensions(self, query: BoardQuery) -> Counter[str]:
        """Count votes on single dimensions, which an overall board leaves out."""
        if query.dimension is not None or query.dimensions_together or query.by == "dimension":
            return Counter()
        dimensions = views.battles_between_named(
            views.people_battles(self.view, window=query.window), self.view.entries, query.editors
        ).dimension.list()
        return Counter(f"about {name}, not the whole" for name in dimensions if name != views.WHOLE)

    def variants(self, query: BoardQuery, choice: default_source.ChosenSource) -> list[JudgeVariant]:
        """Return the counting variants of the chosen judges."""
        return self.view.variants.counting(choice.judges, query.dimension) if choice.judges else []

    def _select_dimension(
        self, battles: views.BattleColumns, query: BoardQuery, choice: default_source.ChosenSource
    ) -> tuple[views.BattleColumns, tuple[Notice, ...]]:
        """Return the overall battles; those on a single dimension are counted as excluded.

        If the user named the judge, or for people's votes, and if all verdicts are on one dimension, they are kept.
        """
        names = battles.dimension.names
        number = np.zeros(len(names), int)
        for rows in row_slices(len(battles)):
            number += np.bincount(battles.dimension.of[rows], minlength=len(names))
        present = [name for name, n in zip(names, number.tolist(), strict=True) if n]
        if query.dimension is not None:
            is_overall = query.dimension == views.WHOLE
            return battles, () if is_overall else (Notice(code="one_dimension", values={"dimension": query.dimension}),)
        if query.dimensions_together or query.by == "dimension":
            pooled = len(present) > 1 and query.by != "dimension"
            return battles, (Notice(code="dimensions_pooled", values={"dimensions": list(present)}),) if pooled else ()
        only = present[0] if len(present) == 1 and (choice.asked or choice.source == "human") else views.WHOLE
        excluded = battles.excluded.copy()
        counts = zip(names, number.tolist(), strict=True)
        excluded.update({f"about {name}, not the whole": n for name, n in counts if n and name != only})
        code = names.index(only) if only in names else -2
        notices = () if only == views.WHOLE else (Notice(code="one_dimension", values={"dimension": only}),)
        if len(present) > 1 or only not in present:
            about = battles.dimension.of
            battles = battles.where(build_column(len(battles), bool, lambda rows: about[rows] == code))
        return replace(battles, excluded=excluded), notices

    def outputs_with(self, filters: Mapping[str, str]) -> NDArray[np.bool_]:
        """(k,) outputs whose item (or mode) matches these filters."""
        return views.matching_rows(self.view, filters, self.view.entries.item, self.view.entries.mode)

    # ------------------------------------------------------------------ ranking

    def board(self, query: BoardQuery) -> Board:
        """Return the single board of a query."""
        return self.boards(replace(query, by=None))[0]

    def boards(self, query: BoardQuery) -> list[Board]:
        """Return the board of a query, or one per group."""
        if weighed := self._weighted_boards(query):
            return weighed
        self.check_editors(query.editors)
        gathered = self.gather(query)
        battles, choice = gathered.battles, gathered.chosen
        check_scores(self.view, query, choice)
        evidence = default_source.AvailableSources(self.view, query.window)
        if not len(battles):
            everything = replace(query, dimension=None, dimensions_together=True)
            about = gathered.dimensions if query.dimension is None else self.gather(everything).dimensions
            raise nothing_to_rank(self.view, choice, query, about)
        notices = (
            *findings.few_votes_notices(evidence, choice),
            *findings.one_sided_notices(self.view, choice),
            *(
                findings.coverage_notices(self.view, battles, self.output_coverage, choice, evidence, query)
                if query.notes
                else ()
            ),
            *gathered.notices,
            *findings.verdict_notices(self.view, battles, weighed=query.options.method in WEIGHED),
        )
        shared = _Shared(
            query, choice, notices, findings.other_sources(evidence, choice), self._signature_data(query, choice)
        )
        if query.by is None:
            return [self._rank(battles, shared, query.filters, {})]
        return self._rank_groups(battles, shared)

    def check_editors(self, editors: Collection[str]) -> None:
        """Raise `UserError` if one of these editors has no output here, or if only one is named."""
        names = self.view.entries.editor.names
        unknown = [name for name in editors if name not in names]
        if unknown:
            raise UserError(f"No editor '{unknown[0]}' here.", hint=suggestion(unknown[0], names))
        if len(set(editors)) == 1:
            raise UserError("A board needs two editors or more.", hint="Name more with --editors, or leave it out.")

    def _weighted_boards(self, query: BoardQuery) -> list[Board]:
        """Return boards that weigh people against one judge's scores, as `route rerank` does; none without scores."""
        if query.options.method not in WEIGHED or query.source not in ("auto", "all"):
            return []
        scored = {variant.judge for variant in self.view.variants.counting(pairwise=False)}
        judge = default_source.judge_called(self.view, query.judge) if query.judge not in (None, ALL_JUDGES) else None
        if not scored or (judge is not None and judge not in scored):
            return []
        _check_weighed(query)
        from imarena.workflows.boards.weighted.boards import arena_boards
        from imarena.workflows.boards.weighted.vote_data import read_vote_data, with_label

        workspace = self.view.workspace
        vote_data = read_vote_data(workspace, judge, dimension=query.dimension or views.WHOLE, ratings=True)
        method = query.options.method
        if query.by is not None and query.by not in vote_data.labels:
            vote_data = with_label(vote_data, self.view, query.by)
        rankings = arena_boards(workspace, vote_data, method, query.options, by=query.by, weigh=query.weigh_routing)
        choice = default_source.ChosenSource("all", (vote_data.judge,), asked=query.judge is not None)
        return [Board(ranking, views.joined_battles([]), choice) for ranking in rankings]

    def _signature_data(self, query: BoardQuery, choice: default_source.ChosenSource) -> dict[str, str]:
        """Return what a signature records about the source of the verdicts."""
        data = {"source": describe_source(choice), **default_source.judge_data(self.variants(query, choice))}
        data["dimension"] = query.dimension or ("all together" if query.dimensions_together else views.WHOLE)
        if choice.source in ("human", "all"):
            data["overall"] = views.read_ratings(self.view, query.window).rule
        data["kind"] = query.kind or ""
        data["editors"] = ", ".join(sorted(query.editors))
        data["filter"] = ", ".join(f"{name}={value}" for name, value in sorted(query.filters.items()))
        return data

    def _rank_groups(self, battles: views.BattleColumns, shared: "_Shared") -> list[Board]:
        by = shared.query.by or ""
        table = battle_table(self.view, battles)
        of_items = by in views.ITEM_LABELS or by not in COLUMNS
        if by not in table.column_names and by not in COLUMNS:
            table = with_item_column(self.view, battles, table, by)
        if by not in table.column_names:
            raise UserError(f"No battle has a {by}.", hint=f"The battles have: {', '.join(table.column_names)}.")
        boards = []
        groups = split_rows(table, by)
        for value in groups.values:
            rows = groups.rows(value).to_numpy(zero_copy_only=False)
            filters = {**shared.query.filters, **({by: value} if of_items or by == "mode" else {})}
            try:
                board = self._rank(battles.where(rows), shared, filters, {by: value})
            except UserError as error:
                empty = empty_board(shared.query.options.method, error, {by: value})
                board = Board(empty, battles.where(rows), shared.chosen, value)
            noted = board.ranking.model_copy(update={"notices": (*board.ranking.notices, *groups.notices)})
            boards.append(replace(board, ranking=noted))
        return boards

    def _rank(
        self, battles: views.BattleColumns, shared: "_Shared", filters: Mapping[str, str], scope: dict[str, str]
    ) -> Board:
        query = shared.query
        units = self.output_coverage.units_with(self.view, filters)
        missing = self.output_coverage.missing(findings.editors_on(self.view, battles), units)
        table = BattleTable(self.view, battles, self.output_coverage, missing)
        ranking = rank_table(
            table,
            query.options,
            TableReading(query.both_bad, query.missing, query.covariates, query.resume),
            scope=scope,
            known_coverage=self.output_coverage.coverage(units),
        )
        if shared.chosen.source == "human" and query.missing == "exclude":
            ranking = _without_unasked(ranking)
        board = Board(ranking, battles, shared.chosen)
        settings = {**ranking.settings, "verdicts": describe_source(shared.chosen), "by_scores": board.by_scores}
        settings |= {"beside": sentence(shared.beside)} if shared.beside else {}
        settings |= {"default_because": shared.chosen.why} if shared.chosen.why else {}
        ranking = ranking.model_copy(
            update={
                "excluded": {**ranking.excluded, **({} if scope else battles.excluded)},  # left out overall
                "notices": (*shared.notices, *ranking.notices),
                "settings": settings,
            }
        )
        covered = sha256_hex(canonical_json(sorted(self.output_coverage.coverage(units).items())).encode())[:12]
        samples = read_sample_board(
            self.view,
            self.output_coverage,
            query,
            shared.chosen,
            [standing.model for standing in ranking.models],
            units,
        )
        data = {**shared.data, **table_data(table), "coverage": f"#{covered}"}
        return replace(board, ranking=sign_ranking(ranking, data), samples=samples)


def _without_unasked(ranking: Ranking) -> Ranking:
    """Leave out the count of pairs without one of the outputs: people are never asked about them."""
    excluded = {reason: number for reason, number in ranking.excluded.items() if reason != MISSING_OUTPUT}
    left_out = Notice(code="battles_left_out", values={"reasons": dict(excluded)})
    notices = tuple(left_out if notice.code == left_out.code else notice for notice in ranking.notices)
    if not excluded:
        notices = tuple(notice for notice in notices if notice is not left_out)
    return ranking.model_copy(update={"excluded": excluded, "notices": notices})


def _check_weighed(query: BoardQuery) -> None:
    """Reject options that boards weighing people against a judge do not support, instead of ignoring them."""
    options = query.options
    choices = {
        "--kind": query.kind is not None,
        "--both-bad": query.both_bad != "tie",
        "--missing": query.missing != "exclude",
        "--covariate": bool(query.covariates),
        "--position": options.position,
        "--anchors": bool(options.anchors),
        "--resume": query.resume is not None,
        "--samples": query.samples == "always",
        "a choice of editors": bool(query.editors),
        "a filter": bool(query.filters),
        "a window of time": query.window != views.EVERYTHING,
    }
    for name, is_set in choices.items():
        if is_set:
            raise UserError(
                f"The method '{options.method}' does not take {name} on a workspace.",
                hint="Leave it out, choose --source people or --source judge, or rank a table with --from.",
            )


@dataclass(frozen=True)
class _Shared:
    """Data shared by all boards of one query."""

    query: BoardQuery
    chosen: default_source.ChosenSource
    notices: tuple[Notice, ...]
    beside: Notice | None
    data: dict[str, str]


def board(workspace: Workspace, query: BoardQuery) -> Board:
    """Make the board of a query."""
    return Boards(views.View(workspace)).board(query)


def describe_source(choice: default_source.ChosenSource) -> str:
    """Describe in words whose verdicts a board uses."""
    if choice.source == "human" or not choice.judges:
        return "people"
    judges = f"judge {choice.judges[0]}" if len(choice.judges) == 1 else f"{len(choice.judges)} judges"
    return f"people, {judges}" if choice.source == "all" else judges
