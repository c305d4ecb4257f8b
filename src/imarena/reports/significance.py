"""Which differences on a board are significant: pairs of models whose difference has an interval above 0."""

from collections.abc import Sequence

from imarena.core import counted
from imarena.core.records import Ranking
from imarena.reports.page import Section
from imarena.reports.pair_differences import (
    PairDifference,
    few_units_text,
    listed,
    model_groups,
    pair_differences,
    too_few_units,
    units_needed,
)
from imarena.reports.rank_details import interval_level_text
from imarena.reports.tables import Column, Number, Table
from imarena.reports.tables.table import columns

_MOST_NAMES = 8
_READS_AS_ZERO = 0.05


def significance_section(ranking: Ranking) -> Section | None:
    """Which differences are significant, in words and by pair; None if the board has no intervals.

    Models of groups that never met are not compared.
    """
    groups = [(group, pair_differences(group)) for group in model_groups(ranking)]
    pairs = [pair for _, part in groups for pair in part]
    if not pairs:
        return None
    level = interval_level_text(ranking)
    if units := too_few_units(ranking):
        point = (
            f"No difference can be significant: the board has only {units}, and {level} intervals need at least "
            f"{units_needed(ranking)}."
        )
        return Section("What is significant", points=(point,), tables=(_pair_table(pairs, level, "too few data"),))
    apart = ""
    if len(groups) > 1:
        apart = f" The models form {len(groups)} groups that never met; only pairs within a group are compared."
    points = [
        f"{sum(pair.settled for pair in pairs):,} of {counted(len(pairs), 'pair')} of models {_differ(pairs)} "
        f"significantly: the {level} interval of their difference is on one side of 0.{apart}"
    ]
    if len(groups) == 1:
        points += _few_units(ranking, pairs)
    for number, (group, part) in enumerate(groups, 1):
        if len(groups) > 1:
            names = listed([standing.model for standing in group.models], _MOST_NAMES)
            settled = sum(pair.settled for pair in part)
            points.append(
                f"Group {number} ({names}): {settled:,} of {counted(len(part), 'pair')} {_differ(part)} significantly."
            )
            points += _few_units(group, part)
        points += _statements(group, part)
    if len(pairs) > 1:
        by_chance = len(pairs) * (1 - float(str(ranking.settings.get("level", 0.95))))
        points.append(
            f"Each interval is for one pair. Among {len(pairs):,} pairs without any real difference, "
            f"{f'about {by_chance:.0f}' if by_chance >= 1 else 'fewer than 1'} would appear significant by chance."
        )
    return Section("What is significant", points=tuple(points), tables=(_pair_table(pairs, level),))


def _few_units(ranking: Ranking, pairs: Sequence[PairDifference]) -> list[str]:
    """A warning if the significant differences of a group rest on few items."""
    few = few_units_text(ranking)
    return [f"{few}, and some of these differences may be chance."] if few and any(p.settled for p in pairs) else []


def _points(value: float | None) -> Number | None:
    """Rating points to one decimal; to more where one decimal would read as 0, which decides what is significant."""
    return None if value is None else Number(value, ".1f" if value == 0 or abs(value) >= _READS_AS_ZERO else ".2g")


def _differ(pairs: Sequence[PairDifference]) -> str:
    return "differs" if len(pairs) == 1 else "differ"


def _statements(group: Ranking, pairs: Sequence[PairDifference]) -> list[str]:
    """One sentence for each of the first models."""
    models = [standing.model for standing in group.models]
    below = {model: [pair for pair in pairs if pair.above == model] for model in models[:_MOST_NAMES]}
    texts = [_statement(model, part) for model, part in below.items() if part]
    if pairs and len(models) > _MOST_NAMES + 1:
        texts.append(f"The other {len(models) - _MOST_NAMES} models: the table “All pairs” lists each difference.")
    return texts


def _statement(model: str, pairs: Sequence[PairDifference]) -> str:
    settled = [pair.below for pair in pairs if pair.settled]
    open_ones = [pair.below for pair in pairs if not pair.settled]
    if not open_ones:
        return f"{model} is significantly better than every model with a lower rating."
    if not settled:
        return f"{model} is not significantly better than {listed(open_ones, _MOST_NAMES)}."
    return (
        f"{model} is significantly better than {listed(settled, _MOST_NAMES)}; "
        f"not significantly better than {listed(open_ones, _MOST_NAMES)}."
    )


def _pair_table(pairs: Sequence[PairDifference], level: str, unknown: str = "not known") -> Table:
    """A table of all pairs; `unknown` is shown for pairs without an answer."""
    rows = tuple(
        (
            pair.above, pair.below, pair.points, _points(pair.low), _points(pair.high),
            "yes" if pair.settled else "no" if pair.low is not None and pair.low <= 0 else unknown,
        )
        for pair in pairs
    )  # fmt: skip
    head = columns(
        "model", "compared with", Column("difference", ".1f"), Column(f"{level} interval from", ".1f", "–"),
        Column("to", ".1f", "–"), "significant",
    )  # fmt: skip
    notes = ["Difference: how many rating points the first model is ahead. –: the data do not bound this end."]
    if any(pair.settled and (pair.low is None or pair.low <= 0) for pair in pairs):
        notes.append(
            "A model that won or lost every battle is also compared by its battles against all models: the interval "
            "is made from the battles of the two alone."
        )
    return Table(head, rows, "All pairs", tuple(notes), folded=True)
