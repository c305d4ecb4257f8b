"""The methods section of a report: every setting, version, seed, count and exclusion, as text and tables."""

import json
from collections import Counter, defaultdict
from collections.abc import Collection, Mapping, Sequence
from importlib.metadata import PackageNotFoundError, version

import numpy as np
from numpy.typing import NDArray

from imarena.core import VERSION, canonical_json, counted, plural
from imarena.core.notices import left_out_texts
from imarena.core.records import Item, Output, Ranking, Run
from imarena.reports import METHOD_TITLES, Section, columns
from imarena.reports.tables import CellValue, Column, Table
from imarena.workflows.boards import Board
from imarena.workflows.reporting.chosen_counts import chosen_outputs, chosen_verdicts, chosen_votes
from imarena.workflows.upkeep import WorkspaceStatus
from imarena.workflows.views import UNNAMED_EDITOR, View, VoteColumns, read_ratings

_LIBRARIES = ("numpy", "scipy", "numba", "pillow", "altair", "vl-convert-python")
_SHOWN_SETTINGS = ("signature", "content_key", "beside", "default_because", "verdicts")
"""Settings that have a separate column or are shown elsewhere."""
_SEEDS_LISTED = 10
_WHY_NONE = "refused, unparsable, failed, timed out, or without an overall score or preference"
_TIES = {"tie parameter per dimension": "ties have a parameter per dimension"}
_MISSING = {"exclude": "Missing outputs are excluded.", "loss": "A missing output counts as a loss."}


def methods_section(
    view: View,
    status: WorkspaceStatus,
    boards: Sequence[Board],
    judge: str | None = None,
    editors: tuple[str, ...] = (),
) -> Section:
    """How every figure of the report was made. Like `status`, limited to this judge and these editors (empty: all)."""
    votes = chosen_votes(view, editors)
    tables = [
        _data(view), _editors(status), _editor_settings(view, editors), _judges(view, judge, editors),
        _people(view, votes, chosen_outputs(view, editors)), _boards(boards), _runs(view, whole=not editors),
        _software(),
    ]  # fmt: skip
    return Section(
        "Methods",
        (_paragraph(view, status, votes, boards, editors),),
        tables=tuple(table for table in tables if table.rows),
    )


def _paragraph(
    view: View, status: WorkspaceStatus, votes: VoteColumns, boards: Sequence[Board], editors: tuple[str, ...]
) -> str:
    """A paragraph that can be used in a paper."""
    names = [name for name in status.outputs if name != UNNAMED_EDITOR]
    evaluated = counted(len(names), "editor") if names or not status.outputs else "outputs of unnamed editors"
    items, outputs = len(view.entries.item_id), status.totals["output"]
    used = len(np.unique(view.entries.item[chosen_outputs(view, editors)]))
    of_items = counted(items, "item") if used in (0, items) else f"{used:,} of {counted(items, 'item')}"
    texts = [
        f"We evaluated {evaluated} on {of_items} with imarena {VERSION}; {counted(outputs, 'output')} "
        f"{plural('was', outputs)} available."
    ]
    judged = sum(row.get("ok", 0) for row in status.judgments.values())
    failed = sum(sum(row.values()) for row in status.judgments.values()) - judged
    judges = counted(len(status.judgments), "judge")
    if judged or failed:
        answered = f"{judges} answered {counted(judged, 'question')}" if judged else f"{judges} gave no usable answer"
        texts.append(
            f"{answered}; {counted(failed, 'question')} {plural('has', failed)} no verdict ({_WHY_NONE}) and "
            f"{plural('does', failed)} not count as a tie or a zero."
        )
    if len(votes):
        raters = len({name for name in votes.rater.list(np.flatnonzero(votes.counts)) if name})
        texts.append(
            f"{counted(raters, 'rater')} gave {counted(int(votes.counts.sum()), 'answer')} that count"
            + (f"; left out: {', '.join(left_out_texts(votes.excluded))}." if votes.excluded else ".")
        )
    return " ".join([*texts, *(_rating_texts(boards[0].ranking) if boards else ())])


def _rating_texts(ranking: Ranking) -> list[str]:
    """Sentences on how a board's ratings and intervals were computed."""
    settings = ranking.settings
    ties = str(settings.get("ties", "half a win each"))
    texts = [
        f"Ratings are {METHOD_TITLES.get(ranking.method, ranking.method)} ratings on a scale where "
        f"{settings.get('scale', 400):g} rating points mean odds of {settings.get('base', 10):g} to 1; "
        f"{_TIES.get(ties, f'ties count as {ties}')}.",
        _MISSING[str(settings.get("missing", "exclude"))],
    ]
    if settings.get("interval") == "bootstrap":
        texts.append(
            f"Intervals are {settings.get('level', 0.95):.0%} percentile intervals over {settings.get('rounds', 0):,} "
            f"bootstrap rounds that draw {settings.get('cluster', 'item')}s (seed {settings.get('seed', 0)})."
        )
    return texts


def _reasons(numbers: Mapping[str, int]) -> str:
    return ", ".join(f"{number:,} {reason}" for reason, number in numbers.items())


def _data(view: View) -> Table:
    """Data sets with their items and licences."""
    counts: Counter[tuple[str, str]] = Counter()
    for item in view.workspace.store.records(Item):
        counts[item.dataset, item.licence or "not stated"] += 1
    rows = tuple((dataset, licence, number) for (dataset, licence), number in sorted(counts.items()))
    return Table(columns("data set", "licence", Column("items", ",")), rows, "Data")


def _editors(status: WorkspaceStatus) -> Table:
    rows: list[tuple[CellValue, ...]] = []
    for editor, states in status.outputs.items():
        failed = {state: number for state, number in states.items() if state != "ok" and number}
        rows.append((
            editor, states.get("ok", 0), status.coverage.get(editor), status.attempts.get(editor, 0), _reasons(failed),
        ))  # fmt: skip
    head = columns(
        "editor", Column("outputs", ","), Column("coverage", ".1%", "–"), Column("attempts", ","), "not delivered"
    )
    return Table(head, tuple(rows), "Editors")


def _editor_settings(view: View, editors: tuple[str, ...]) -> Table:
    """Version, parameters and seeds stored with the outputs: one row per editor, version and parameters."""
    counts: Counter[tuple[str, str, str]] = Counter()
    seeds: defaultdict[tuple[str, str, str], set[int]] = defaultdict(set)
    for row in view.workspace.store.rows(Output):
        if editors and row["editor"] not in editors:
            continue
        stored = json.loads(row["body"])  # parsing full records would take seconds for 100,000 outputs
        params = canonical_json(stored.get("params", {}))
        key = (row["editor"] or UNNAMED_EDITOR, stored.get("editor_version", ""), params)
        counts[key] += 1
        if stored.get("seed") is not None:
            seeds[key].add(stored["seed"])
    rows = tuple(
        (editor, version or None, None if params == "{}" else params, _seeds(seeds[editor, version, params]), number)
        for (editor, version, params), number in sorted(counts.items())
    )
    head = columns(
        "editor", Column("version", absent="not stated"), Column("parameters", absent="none stated", wrap=True),
        Column("seed", absent="none"), Column("attempts", ","),
    )  # fmt: skip
    return Table(head, rows, "Editors' versions and settings")


def _seeds(seeds: Collection[int]) -> str | None:
    """All seeds, or the smallest, the largest and their number."""
    if len(seeds) > _SEEDS_LISTED:
        return f"{len(seeds):,} seeds from {min(seeds)} to {max(seeds)}"
    return ", ".join(str(seed) for seed in sorted(seeds)) or None


def _runs(view: View, *, whole: bool) -> Table:
    """The commands that made the records, in the order in which they ran. `whole`: the report covers all editors."""
    rows = tuple(
        (run.command, canonical_json(run.settings), run.state, _reasons(dict(sorted(run.counts.items()))),
         run.cost_usd or None)
        for run in view.workspace.store.records(Run)
    )  # fmt: skip
    head = columns(
        "command", Column("settings", wrap=True), "ended", Column("records", wrap=True), Column("cost in US$", ",.2f")
    )
    return Table(head, rows, "Runs" if whole else "Runs, of all editors")


def _judges(view: View, judge: str | None, editors: tuple[str, ...]) -> Table:
    rows: list[tuple[CellValue, ...]] = []
    variants = [variant for variant in view.variants.every if judge in (None, variant.judge)]
    for variant in sorted(
        variants, key=lambda variant: (variant.judge, variant.dimension, variant.pairwise, variant.form_id)
    ):
        counts = variant.form_id not in view.variants.earlier
        verdicts = chosen_verdicts(view, variant, editors) if counts else None
        rows.append((
            variant.judge, variant.judge_version, "pairs" if variant.pairwise else "single outputs", variant.dimension,
            " ".join(part for part in (variant.prompt_id, variant.prompt_version) if part), variant.parser_version,
            "imported" if variant.imported else variant.params,
            (variant.orders or "both") if variant.pairwise else "",
            "higher is better" if variant.higher_is_better else "lower is better",
            verdicts, "" if counts else "not used: a newer version exists",
        ))  # fmt: skip
    head = columns(
        "judge", "version", "asked about", "dimension", "prompt", "parser", Column("settings", wrap=True), "orders",
        "direction", Column("verdicts", ","), "note",
    )  # fmt: skip
    return Table(head, tuple(rows), "Judges")


def _people(view: View, votes: VoteColumns, outputs: NDArray[np.bool_]) -> Table:
    """Counts of people's answers. `outputs` (k,): the outputs that the report is about."""
    ratings = read_ratings(view)
    rows: list[tuple[CellValue, ...]] = [("answers that count", int(votes.counts.sum()))] if len(votes) else []
    rows += [(f"answers excluded: {reason}", number) for reason, number in votes.excluded.items()]
    for criterion in sorted(ratings.criterion.used()):
        number = int(outputs[ratings.output[ratings.of(criterion)]].sum())
        rows += [(f"ratings, {criterion}", number)] if number else []
    if ratings.rule and rows:
        rows.append((f"overall: the {ratings.rule.replace('-', ' ')} of each rater's ratings", None))
    return Table(columns("people", Column("number", ",")), tuple(rows), "Raters' votes and ratings")


def _boards(boards: Sequence[Board]) -> Table:
    rows: list[tuple[CellValue, ...]] = []
    for board in boards:
        ranking = board.ranking
        settings = ", ".join(
            f"{name} {value}"
            for name, value in sorted(ranking.settings.items())
            if name not in _SHOWN_SETTINGS and value not in ({}, [], "", None)
        )
        left_out = "; ".join(left_out_texts(ranking.excluded))
        rows.append((board.title, ranking.method, ranking.n_battles, settings, left_out,
                     str(ranking.settings.get("signature", ""))))  # fmt: skip
    head = columns(
        "board", "method", Column("battles", ","), Column("settings", wrap=True), Column("left out", wrap=True),
        Column("signature", wrap=True),
    )  # fmt: skip
    return Table(head, tuple(rows), "Boards")


def _software() -> Table:
    rows: list[tuple[CellValue, ...]] = [("imarena", VERSION)]
    for name in _LIBRARIES:
        try:
            rows.append((name, version(name)))
        except PackageNotFoundError:
            continue
    return Table(columns("software", "version"), tuple(rows), "Software")
