"""A board as tables: the standings with their notes, and the same as data for CSV."""

from collections.abc import Sequence

from imarena.core import Standing, counted, plural
from imarena.core.notices import Medium, Notice, left_out_texts, sentences
from imarena.core.records import Ranking
from imarena.reports.conclusion import board_conclusion
from imarena.reports.pair_differences import group_numbers
from imarena.reports.rank_details import detail_tables, interval_level_text, stability_text
from imarena.reports.rank_plots import METHOD_TITLES
from imarena.reports.sample_tables import sample_table
from imarena.reports.tables import CellValue, Column, Range, Table, whole_number
from imarena.reports.tables.table import count_cell, interval

CSV_COLUMNS = (
    "model", "rating", "low", "high", "rank", "rank_low", "rank_high", "battles", "wins", "losses", "ties", "coverage",
)  # fmt: skip
COUNTS = ("battles", "wins", "losses", "ties")
"""The columns of counts among `CSV_COLUMNS`."""
COVERAGE = "the share that exists of all outputs that the data sets need (each turn counts)"
"""What coverage means; every table, page and guide uses these words."""
OVERLAP = (
    "The interval of the difference of two models decides whether they differ significantly, not whether their "
    "intervals overlap or what their ranks are (ranks compare all models at once)."
)
"""Two models are rarely both above the first one, so that ranks exclude 1 before a difference is significant."""
MOST_DECIMALS = 4
STATED = ("battles_left_out",)
"""Codes of notices that the notes of every table of standings state already."""


def board_tables(ranking: Ranking, medium: Medium | None = None) -> list[Table]:
    """The standings, figures over samples, and the method's coefficients, tie parameters and reliabilities.

    With a `medium`, the board's notices are below the standings, in its wording.
    """
    samples = sample_table(ranking)
    return [standings_table(ranking, medium), *([samples] if samples else []), *detail_tables(ranking)]


def standings_table(ranking: Ranking, medium: Medium | None = None) -> Table:
    """One row per model, from best to worst. The title is the board's conclusion in one sentence."""
    level, group = interval_level_text(ranking), group_numbers(ranking)
    columns = (
        *([Column("group")] if group else []),
        Column("rank"),
        Column("model"),
        Column("rating", ".1f"),
        Column(f"{level} interval" if level else "interval", interval_spec(ranking.models), absent="–"),
        Column("ranks", absent="–"),
        Column("battles", ",", drop=1),
        Column("won", ",", drop=3),
        Column("lost", ",", drop=3),
        Column("tied", ",", drop=3),
        Column("coverage", ".1%", absent="–", drop=2),
    )
    rows = tuple(
        (
            *([group[standing.model]] if group else []),
            standing.rank, standing.model, standing.rating, interval_cell(standing), ranks_cell(standing),
            count_cell(standing.battles),
            count_cell(standing.wins), count_cell(standing.losses), count_cell(standing.ties), standing.coverage,
        )
        for standing in ranking.models
    )  # fmt: skip
    scope = ", ".join(f"{key} {value}" for key, value in ranking.scope.items())
    source = "" if scope else str(ranking.settings.get("verdicts") or "")  # all boards of groups have the same source
    title = ": ".join(part for part in (scope, board_conclusion(ranking, source=source)) if part)
    return Table(columns, rows, title, _notes(ranking, medium), signature_line(ranking))


def interval_cell(standing: Standing) -> CellValue:
    """The interval of a rating or, if there is none, the reason."""
    return interval(standing.low, standing.high) or standing.note or None


def interval_spec(standings: Sequence[Standing]) -> str:
    """The format with the fewest decimals at which the two ends of every interval differ."""
    ends = [
        (standing.low, standing.high)
        for standing in standings
        if standing.low is not None and standing.high is not None
    ]
    for decimals in range(MOST_DECIMALS):
        if all(low == high or f"{low:.{decimals}f}" != f"{high:.{decimals}f}" for low, high in ends):
            return f".{decimals}f"
    return f".{MOST_DECIMALS}f"


def signature_line(ranking: Ranking) -> str:
    """The line that identifies how the board was made; empty if the board has none."""
    return str(ranking.settings.get("signature") or "")


def ranks_cell(standing: Standing) -> CellValue:
    """The interval of a rank, or one number if both ends are the same."""
    low, high = standing.rank_low, standing.rank_high
    if low is None or high is None:
        return None
    return low if low == high else Range(low, high)


def _notes(ranking: Ranking, medium: Medium | None) -> tuple[str, ...]:
    notes = [method_line(ranking), left_out_line(ranking), stability_text(ranking), _meanings(ranking)]
    if any(standing.low is not None for standing in ranking.models):
        notes.append(OVERLAP)
    if ranking.settings.get("beside"):
        notes.append(
            f"Made from the verdicts of {ranking.settings['verdicts']}{_reason(ranking)}; "
            f"also available: {ranking.settings['beside']}."
        )
    return tuple(note for note in (*notes, *(sentences(notices_below(ranking), medium) if medium else ())) if note)


def _reason(ranking: Ranking) -> str:
    """Why these verdicts are the default although people voted."""
    why = ranking.settings.get("default_because")
    return f" (default, because {why}; choose with --source, or with [board] in imarena.toml)" if why else ""


def _meanings(ranking: Ranking) -> str:
    """Explain the columns."""
    scale, odds = ranking.settings.get("scale"), ranking.settings.get("base")
    parts = []
    if isinstance(scale, int | float) and isinstance(odds, int | float):
        parts.append(f"rating: a lead of {scale:g} rating points means odds of {odds:g} to 1")
    if any(standing.rank_low is not None for standing in ranking.models):
        parts.append("ranks: the interval of the rank")
    if group_numbers(ranking):
        parts.append("group: models that met each other; ratings, intervals and ranks hold within a group")
    if ranking.settings.get("both_bad") == "tie" and any(standing.ties for standing in ranking.models):
        parts.append("tied: including battles where both outputs were bad")
    if any(standing.coverage is not None for standing in ranking.models):
        parts.append(f"coverage: {COVERAGE}")
    return f"{'; '.join(parts)}." if parts else ""


def method_line(ranking: Ranking) -> str:
    """One line: method, number of battles, kind of interval and seed."""
    settings = ranking.settings
    parts = [METHOD_TITLES.get(ranking.method, ranking.method), _battles(ranking)]
    if settings.get("verdicts"):  # only on boards of a workspace
        parts.append(f"verdicts of {settings['verdicts']}")
    if resampling_text(ranking):
        parts.append(resampling_text(ranking))
    return " · ".join(parts)


def notices_below(ranking: Ranking) -> tuple[Notice, ...]:
    """The notices of a board without those that its table states already."""
    return tuple(notice for notice in ranking.notices if notice.code not in STATED)


def left_out_line(ranking: Ranking) -> str:
    """What does not count on this board, and why; empty if everything counts."""
    texts = left_out_texts(ranking.excluded)
    return f"Left out: {'; '.join(texts)}." if texts else ""


def resampling_text(ranking: Ranking) -> str:
    """What the intervals are made from; empty without intervals."""
    settings = ranking.settings
    if settings.get("interval") == "bootstrap":
        number, units = counted(int(str(settings["rounds"])), "bootstrap sample"), plural(str(settings["cluster"]), 2)
        return f"intervals from {number} of the {units}, seed {settings['seed']}"
    return f"sandwich intervals over {settings['cluster']}s" if settings.get("interval") == "sandwich" else ""


def _battles(ranking: Ranking) -> str:
    """The number of battles, and how many of them are pairs of scores, which a list of battles does not include."""
    number, scored = ranking.n_battles, ranking.settings.get("by_scores")
    partly = isinstance(scored, int) and scored > 0 and not ranking.scope  # unknown for one board of many
    every = "all" if scored == number else f"{scored:,}" if partly else ""
    return counted(number, "battle") + (f" ({every} by scores)" if partly else "")


def coverage_cell(share: float, needed: int) -> str:
    """Coverage with the numbers behind it, such as `4% (4 of 100)`."""
    exist = share * needed
    number = f"{exist:,.0f}" if abs(exist - round(exist)) < 0.05 else f"{exist:,.1f}"  # samples are parts of an output
    return f"{share:.0%} ({number} of {needed:,})"


def board_data(rankings: Sequence[Ranking]) -> Table:
    """All boards as one table for CSV: the columns of the scope first, if any, then one row per model."""
    scopes = sorted({key for ranking in rankings for key in ranking.scope})
    noted = any(standing.note for ranking in rankings for standing in ranking.models)
    groups = [group_numbers(ranking) for ranking in rankings]
    signed = any(signature_line(ranking) for ranking in rankings)
    names = [
        *scopes,
        *(["group"] if any(groups) else []),
        *CSV_COLUMNS,
        *(["note"] if noted else []),
        *(["signature"] if signed else []),
    ]
    rows: list[tuple[CellValue, ...]] = []
    for ranking, group in zip(rankings, groups, strict=True):
        for standing in ranking.models:
            ends = interval(standing.low, standing.high)
            counts = {name: whole_number(getattr(standing, name)) for name in COUNTS}
            values = {**standing.model_dump(), **counts, "low": ends and ends.low, "high": ends and ends.high}
            row: list[CellValue] = [ranking.scope.get(key, "") for key in scopes]
            row += [group.get(standing.model, 1)] if any(groups) else []
            row += [values[name] for name in CSV_COLUMNS]
            row += [standing.note] if noted else []
            rows.append((*row, *([signature_line(ranking)] if signed else [])))
    return Table(tuple(Column(name) for name in names), tuple(rows))
