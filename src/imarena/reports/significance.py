"""What a board settles and what it does not: pairs of models whose difference has an interval above 0."""

from collections.abc import Sequence
from typing import Any

from imarena.core import counted
from imarena.core.records import Ranking
from imarena.reports.page import Section
from imarena.reports.rank_details import interval_level_text

_NAMED = 8


def significance_section(ranking: Ranking) -> Section | None:
    """Which differences are settled, in words; None where the board has no intervals."""
    known = separated_pairs(ranking)
    if known is None:
        return None
    level = interval_level_text(ranking)
    models = [standing.model for standing in ranking.models]
    pairs = len(models) * (len(models) - 1) // 2
    settled = sum(len(below) for below in known.values())
    points = [
        f"{settled:,} of {counted(pairs, 'pair')} of editors differ significantly: the {level} interval of their "
        "difference is on one side of 0."
    ]
    for place, model in enumerate(models[:_NAMED]):
        rest = models[place + 1 :]
        if not rest:
            break
        points.append(_statement(model, rest, known[model]))
    if len(models) > _NAMED + 1:
        points.append(f"The other {len(models) - _NAMED} editors: the win matrix and the table below have all pairs.")
    if pairs > 1:
        points.append(
            f"Each interval is for one pair. Among {pairs:,} pairs without any real difference, about "
            f"{pairs * (1 - _level(ranking)):.0f} would appear significant by chance."
        )
    return Section("What is significant", points=tuple(points))


def _level(ranking: Ranking) -> float:
    level = ranking.settings.get("level")
    return float(level) if isinstance(level, int | float) else 0.95


def _statement(model: str, rest: list[str], better_than: frozenset[str]) -> str:
    open_ones = [name for name in rest if name not in better_than]
    if not open_ones:
        return f"{model} is significantly better than every editor below it."
    if len(open_ones) == len(rest):
        return f"{model} is not significantly better than any editor below it: {_listed(open_ones)}."
    settled = [name for name in rest if name in better_than]
    return (
        f"{model} is significantly better than {_listed(settled)}; not significantly better than {_listed(open_ones)}."
    )


def _listed(names: Sequence[str]) -> str:
    shown = list(names[:_NAMED])
    if len(names) > _NAMED:
        return f"{', '.join(shown)} and {len(names) - _NAMED} more"
    return f"{', '.join(shown[:-1])} and {shown[-1]}" if len(shown) > 1 else shown[0]


def separated_pairs(ranking: Ranking) -> dict[str, frozenset[str]] | None:
    """By model those that it is significantly better than; None where the board has no intervals of differences."""
    pairs: Any = ranking.details.get("pairs")
    if not isinstance(pairs, dict) or "difference_low" not in pairs or len(ranking.models) < 2:
        return None
    names, lows = pairs["models"], pairs["difference_low"]
    if not any(low is not None for row in lows for low in row):
        return None
    return {
        name: frozenset(other for other, low in zip(names, row, strict=True) if low is not None and low > 0)
        for name, row in zip(names, lows, strict=True)
    }
