"""Rating differences between pairs of models: the interval, and whether it shows which one is better."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from imarena.core import counted
from imarena.core.records import Ranking
from imarena.stats import units_to_differ


@dataclass(frozen=True)
class PairDifference:
    """How far one model is above another one with the same or a lower rating."""

    above: str
    below: str
    points: float
    low: float | None
    high: float | None
    """Ends of the interval of the difference; None if the data do not bound it."""
    settled: bool
    """Is the first model significantly better?"""

    @property
    def bounded(self) -> bool:
        """Does the interval have an end?"""
        return self.low is not None or self.high is not None


def pair_differences(ranking: Ranking) -> list[PairDifference]:
    """All pairs of the ranking's models, best first; empty if the board has no intervals of differences."""
    pairs: Any = ranking.details.get("pairs")
    if not isinstance(pairs, dict) or "difference_low" not in pairs:
        return []
    index = {name: number for number, name in enumerate(pairs["models"])}
    enough = not too_few_units(ranking)
    sure: Any = ranking.details.get("surely_above") or ()
    swept = {(better, worse) for better, worse in sure}
    differences = []
    for number, above in enumerate(ranking.models):
        for below in ranking.models[number + 1 :]:
            cell = index[above.model], index[below.model]
            low, high = (pairs[end][cell[0]][cell[1]] for end in ("difference_low", "difference_high"))
            settled = enough and ((low is not None and low > 0) or (above.model, below.model) in swept)
            differences.append(
                PairDifference(above.model, below.model, above.rating - below.rating, low, high, settled)
            )
    return differences if any(pair.bounded for pair in differences) else []


def model_groups(ranking: Ranking) -> list[Ranking]:
    """Split the board into groups of models that never met each other, the largest group first.

    Each part has the number of items (battles, raters) of its own group.
    """
    groups = ranking.groups
    if len(groups) <= 1:
        return [ranking]
    return [
        ranking.model_copy(
            update={
                "models": tuple(standing for standing in ranking.models if standing.model in group),
                "settings": ranking.settings | ({"units": units} if (units := ranking.units_of(group[0])) else {}),
                "notices": tuple(notice for notice in ranking.notices if notice.values.get("group") in (None, number)),
            }
        )
        for number, group in enumerate(groups, 1)
    ]


def group_numbers(ranking: Ranking) -> dict[str, int]:
    """The number of each model's group, from 1; empty for a board whose models are one group."""
    groups = ranking.groups
    return {model: number for number, group in enumerate(groups, 1) for model in group} if len(groups) > 1 else {}


def listed(names: Sequence[str], most: int) -> str:
    """Join names with commas and "and"; of more than `most` + 1 names, only the first ones and how many more."""
    if len(names) > most + 1:
        return f"{', '.join(names[:most])} and {len(names) - most} more"
    return f"{', '.join(names[:-1])} and {names[-1]}" if len(names) > 1 else names[0]


def too_few_units(ranking: Ranking) -> str:
    """Such as `2 items`, if so few were resampled that no difference can be significant; empty if there are enough."""
    units = ranking.settings.get("units")
    if not isinstance(units, int) or units >= units_needed(ranking):
        return ""
    return counted(units, str(ranking.settings.get("cluster", "battle")))


def units_needed(ranking: Ranking) -> int:
    """The smallest number of items (battles, raters) that can show a difference at the board's level."""
    level = ranking.settings.get("level")
    return units_to_differ(level if isinstance(level, int | float) else 0.95)


def few_units_text(ranking: Ranking) -> str:
    """Such as `Only 6 items: the intervals are too narrow`, without a full stop; empty if there are enough."""
    few: Any = next((notice.values for notice in ranking.notices if notice.code == "few_units"), None)
    units: Any = few and ranking.settings.get("units", few["units"])
    return "" if few is None else f"Only {counted(units, few['cluster'])}: the intervals are too narrow"
