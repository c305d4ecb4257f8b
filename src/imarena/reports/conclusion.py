"""What a board says, in one sentence: which model is ahead, by how much, and whether the data settle it."""

from typing import Any

from imarena.core import counted
from imarena.core.records import Ranking
from imarena.reports.rank_details import interval_level_text

_LISTED = 3


def board_conclusion(ranking: Ranking, noun: str = "model", source: str = "") -> str:
    """The sentence; empty for a board without two models. `noun`: what is ranked; `source`: whose verdicts to name."""
    if len(ranking.models) < 2:
        return ""
    first, second = ranking.models[:2]
    number = counted(len(ranking.models), noun)
    begin = f"By the verdicts of {source}, " if source else ""
    ahead = f"{first.rating - second.rating:.0f} points ahead of {second.model}"
    leads = _leads(ranking)
    if not leads:
        if first.rating == second.rating:
            return f"{begin}{first.model} and {second.model} share the first place of {number}; there are no intervals."
        return (
            f"{begin}{first.model} has the highest rating of {number}, {ahead}; "
            "the board has no interval for this difference."
        )
    level = interval_level_text(ranking)
    rivals = [name for name, (low, _) in leads.items() if low is not None and low <= 0]
    if rivals:
        none = f"{begin}there is no" if begin else "There is no"
        listed = _listed([first.model, *rivals])
        return f"{none} single best {noun} among {len(ranking.models)}: the {level} intervals do not separate {listed}."
    unknown = [name for name, (low, _) in leads.items() if low is None]
    if unknown:
        listed = _listed(unknown)
        return f"{begin}{first.model} has the highest rating of {number}; the data do not bound its lead over {listed}."
    low, high = leads[second.model]
    if high is None:  # it won every battle: how far it is ahead is anybody's guess
        lead = f"at least {_points(low)} points ahead of {second.model} ({level} interval, without an upper end)"
    else:
        lead = f"{ahead} ({level} interval {_points(low)} to {_points(high)})"
    return f"{begin}{first.model} is the best of {number}: {lead}."


def _listed(names: list[str]) -> str:
    """The first few names, and how many more there are."""
    if len(names) > _LISTED + 1:
        return f"{', '.join(names[:_LISTED])} and {len(names) - _LISTED} more"
    return f"{', '.join(names[:-1])} and {names[-1]}" if len(names) > 1 else names[0]


def _points(value: float | None) -> str:
    """Rating points without decimals; a lead below one point is not shown as none."""
    if value is None:
        return "not known"
    return f"{value:.0f}" if abs(value) >= 1 else f"{value:.1g}"


def _leads(ranking: Ranking) -> dict[str, tuple[float | None, float | None]]:
    """By model the interval of the first model's lead over it; empty where the board has no such intervals."""
    pairs: Any = ranking.details.get("pairs")
    first = ranking.models[0].model
    if not isinstance(pairs, dict) or "difference_low" not in pairs or first not in pairs["models"]:
        return {}
    row = pairs["models"].index(first)
    leads = {
        name: (low, high)
        for name, low, high in zip(
            pairs["models"], pairs["difference_low"][row], pairs["difference_high"][row], strict=True
        )
        if name != first
    }
    return leads if any(end is not None for ends in leads.values() for end in ends) else {}
