"""The conclusion of a board in one sentence: which model is ahead, by how much, and whether that is certain."""

from collections.abc import Sequence

from imarena.core import counted
from imarena.core.records import Ranking
from imarena.reports.pair_differences import (
    PairDifference,
    few_units_text,
    listed,
    model_groups,
    pair_differences,
    too_few_units,
)
from imarena.reports.rank_details import interval_level_text
from imarena.stats import FEW_UNITS

_MOST_NAMES = 3
_LEADERS_LISTED = 5
_GROUPS_LISTED = 6
_LEADS = "their lead over the others is significant"


def board_conclusion(ranking: Ranking, source: str = "") -> str:
    """The conclusion; empty for a board with fewer than two models. `source`: whose verdicts.

    Each group of models that never met the others gets its own sentence.
    """
    if len(ranking.models) < 2:
        return ""
    begin = f"By the verdicts of {source.replace(', ', ' and ')}, " if source else ""
    groups = model_groups(ranking)
    if len(groups) == 1:
        return _sentence(ranking, begin)
    number = counted(len(ranking.models), "model")
    texts = [f"{begin}{'the' if begin else 'The'} {number} form {len(groups)} groups that never met."]
    for position, group in enumerate(groups[:_GROUPS_LISTED], 1):
        names = listed([standing.model for standing in group.models], _MOST_NAMES)
        texts.append(f"Group {position} ({names}): {_sentence(group)}")
    if len(groups) > _GROUPS_LISTED:
        texts.append(f"Groups {_GROUPS_LISTED + 1} to {len(groups)} are not listed here.")
    return " ".join(texts)


def reading_help(ranking: Ranking) -> str:
    """Explain the terms of the conclusion for first-time readers of a report."""
    texts = ["Boards call an editor a model. A battle compares the outputs of two models."]
    scale, odds = ranking.settings.get("scale"), ranking.settings.get("base")
    if ranking.method == "bt" and isinstance(scale, int | float) and isinstance(odds, int | float):
        share = 1 / (1 + odds ** (-100 / scale))
        texts.append(
            f"A rating orders the models: one that is 100 rating points ahead wins about {share:.0%} of its battles "
            "against the other (a tie counts half)."
        )
    if any(standing.low is not None for standing in ranking.models):
        level = interval_level_text(ranking)
        texts.append(
            f"The {level} interval is the range of values that fit the data; a difference is "
            "significant if its interval does not contain 0, also where the intervals of two ratings overlap."
        )
    return " ".join(texts)


def _sentence(ranking: Ranking, begin: str = "") -> str:
    """The conclusion of a board whose models all met."""
    first, second = ranking.models[:2]
    number, level = counted(len(ranking.models), "model"), interval_level_text(ranking)
    leaders = [standing.model for standing in ranking.models if standing.rank == first.rank]
    pairs = [pair for pair in pair_differences(ranking) if pair.above in leaders and pair.below not in leaders]
    if len(leaders) > 1:
        lead = "" if len(leaders) == len(ranking.models) else _shared_lead(ranking, pairs, level)
        chance = _chance(ranking) if _LEADS in lead and not too_few_units(ranking) else ""
        return f"{begin}{listed(leaders, _LEADERS_LISTED)} share first place among {number}{lead}.{chance}"
    ahead = f"{first.rating - second.rating:.0f} rating points ahead of {second.model}"
    if too_few_units(ranking) or not any(pair.bounded for pair in pairs):
        return f"{begin}{first.model} has the highest rating of {number}, {ahead}; {_why_unknown(ranking)}."
    rivals, unknown = _not_separated(pairs)
    if rivals:
        none, names = f"{begin}there is no" if begin else "There is no", listed(rivals, _MOST_NAMES)
        loose = listed(unknown, _MOST_NAMES) if unknown else ""
        more = loose and f", and the data do not bound its lead over {loose}"
        lead = f"the lead of {first.model} over {names} is not significant ({level} confidence){more}"
        return f"{none} single best model among {len(ranking.models)}: {lead}."
    if unknown:
        names = listed(unknown, _MOST_NAMES)
        return f"{begin}{first.model} has the highest rating of {number}; the data do not bound its lead over {names}."
    chance = "" if all(pair.high is None for pair in pairs) else _chance(ranking)  # sweeps have exact intervals
    low, high = pairs[0].low, pairs[0].high
    if low is None or low <= 0:  # one of the two models won or lost every battle
        lead = f"the battles of all models together show it ({level} confidence)"
    elif high is None:  # it won every battle: its lead is unbounded
        lead = f"at least {_points(low)} rating points ahead of {second.model} ({level} interval, without an upper end)"
    else:
        lead = f"{ahead} ({level} interval {_points(low)} to {_points(high)})"
    best = "has the highest rating" if _few_units(ranking) else "is the best"
    return f"{begin}{first.model} {best} of {number}: {lead}.{chance}"


def _are(ranking: Ranking) -> str:
    return "is" if ranking.settings.get("units") == 1 else "are"


def _few_units(ranking: Ranking) -> bool:
    """So few items (battles, raters) were resampled that no model is called the best."""
    units = ranking.settings.get("units")
    return isinstance(units, int) and units < FEW_UNITS


def _why_unknown(ranking: Ranking) -> str:
    """Why the lead of the first model is uncertain."""
    if any(standing.note == "only one item" for standing in ranking.models[:2]):
        return "battles on only one item are not enough evidence to say which is better"
    if (units := too_few_units(ranking)) and ranking.settings.get("interval") not in (None, "none"):
        return f"{units} {_are(ranking)} not enough evidence to say which is better"
    if ranking.settings.get("interval") not in (None, "none"):
        return "there is not enough evidence to say which is better"
    return "the board has no intervals, so it cannot show whether this lead is chance"


def _chance(ranking: Ranking) -> str:
    """A warning about a lead that is based on too few items; empty if there are enough."""
    few = few_units_text(ranking)
    return few and f" {few}, and the lead may be chance."


def _shared_lead(ranking: Ranking, pairs: Sequence[PairDifference], level: str) -> str:
    """What is known about the lead of several first models over the others."""
    if (units := too_few_units(ranking)) and any(pair.bounded for pair in pairs):
        return f"; {units} {_are(ranking)} not enough evidence to separate them from the others"
    if not any(pair.bounded for pair in pairs):
        return "; their lead has no interval"
    rivals, unknown = _not_separated(pairs)
    if rivals:
        return f"; not every lead over {listed(rivals, _MOST_NAMES)} is significant ({level} confidence)"
    if unknown:
        return f"; the data do not bound their lead over {listed(unknown, _MOST_NAMES)}"
    return f"; {_LEADS} ({level} confidence)"


def _not_separated(pairs: Sequence[PairDifference]) -> tuple[list[str], list[str]]:
    """The models that a leader is not significantly better than: by their intervals, and for lack of intervals."""
    rivals = dict.fromkeys(pair.below for pair in pairs if not pair.settled and pair.low is not None)
    unknown = dict.fromkeys(pair.below for pair in pairs if not pair.settled and pair.low is None)
    return [*rivals], [*unknown]


def _points(value: float) -> str:
    """Rating points without decimals; a lead below one point is not shown as 0."""
    return f"{value:.0f}" if abs(value) >= 1 else f"{value:.1g}"
