"""Sentences of notices that the ranking room makes.

A wording takes the notice's values and the place where it is shown. Add the code here when you add a notice.
"""

from typing import Any

from imarena.core.notices.notice import Place, Wording
from imarena.core.plurals import counted, plural


def _battles_left_out(values: dict[str, Any], _place: Place) -> str:
    listed = ", ".join(f"{count:,} {reason.replace('_', ' ')}" for reason, count in values["reasons"].items())
    return f"Battles left out: {listed}."


def _models_not_ranked(values: dict[str, Any], _place: Place) -> str:
    names = ", ".join(f"'{model}'" for model in values["models"])
    more = f" and {values['more']} more" if values["more"] else ""
    return f"Not ranked, because none of their battles count: {names}{more}."


def _coverage_differs(values: dict[str, Any], place: Place) -> str:
    told = (
        f"Coverage differs between models, from {values['low']:.0%} ('{values['model']}') to {values['high']:.0%}: "
        "a model that has no outputs for hard items may rank too high."
    )
    if place != "terminal" or not values.get("losses_possible", True):
        return told
    return f"{told} Use `--missing loss` to count a missing output as a loss."


def _weights_uneven(values: dict[str, Any], _place: Place) -> str:
    return (
        f"The weights are very uneven: {counted(values['battles'], 'battle')} carry as much information as "
        f"{values['worth']:.3g} with equal weights."
    )


def _coefficient_unbounded(_values: dict[str, Any], _place: Place) -> str:
    return "The data do not bound a coefficient: a weak prior limits it."


def _tie_parameter_unbounded(values: dict[str, Any], _place: Place) -> str:
    return f"The data do not bound the tie parameter of '{values['dimension']}': a prior limits it."


def _reliability_free(_values: dict[str, Any], _place: Place) -> str:
    return "No rater has a fixed reliability: a weak prior on reliability sets the scale of the ratings."


def _won_every_battle(values: dict[str, Any], _place: Place) -> str:
    return f"'{values['model']}' won every battle: the data give no upper bound for its rating."


def _lost_every_battle(values: dict[str, Any], _place: Place) -> str:
    return f"'{values['model']}' lost every battle: the data give no lower bound for its rating."


def _groups_never_met(values: dict[str, Any], _place: Place) -> str:
    return (
        f"The models form {values['groups']} groups that never met: "
        "do not compare ratings of models from different groups."
    )


def _groups_one_sided(values: dict[str, Any], _place: Place) -> str:
    return (
        f"The models form {values['groups']} groups, and each won or lost every battle against the others: "
        "the data do not show how far apart the groups are."
    )


def _weak_prior(_values: dict[str, Any], _place: Place) -> str:
    return (
        "Where the data do not bound a rating, a weak symmetric prior sets it (an even chance to win against an "
        "average model). Ratings within the main group do not depend on this prior."
    )


def _not_converged(values: dict[str, Any], _place: Place) -> str:
    return f"The fit did not converge in {counted(values['iterations'], 'iteration')}: do not use this board."


def _intervals_from_model(values: dict[str, Any], _place: Place) -> str:
    return (
        f"The data show no variation for {values['models']} of {counted(values['of'], 'model')} (only ties, or too few "
        "battles): their uncertainty comes from the fitted model instead."
    )


def _unnamed_units(values: dict[str, Any], _place: Place) -> str:
    battles, cluster = values["battles"], values["cluster"]
    verb = "has" if battles == 1 else "have"
    return f"{counted(battles, 'battle')} {verb} no {cluster}: each is resampled on its own."


def _few_units(values: dict[str, Any], _place: Place) -> str:
    units, cluster = values["units"], values["cluster"]
    verb = "is" if units == 1 else "are"
    return f"There {verb} only {units} {plural(cluster, units)} to resample: the intervals are too narrow."


def _order_matters(_values: dict[str, Any], place: Place) -> str:
    other = "`--method bt`, `davidson` and `mixture`" if place == "terminal" else "bt, davidson and mixture"
    return f"Online ratings depend on the order of the battles. {other} do not."


def _no_interval(values: dict[str, Any], _place: Place) -> str:
    resampled = (
        "resampling shows no variation"
        if values["reason"] == "no variation"
        else f"only {values['reason']} to resample"
    )
    return f"No interval for {values['models']} of {counted(values['of'], 'model')}: {resampled}."


WORDS: dict[str, Wording] = {
    "battles_left_out": _battles_left_out,
    "models_not_ranked": _models_not_ranked,
    "coverage_differs": _coverage_differs,
    "weights_uneven": _weights_uneven,
    "coefficient_unbounded": _coefficient_unbounded,
    "tie_parameter_unbounded": _tie_parameter_unbounded,
    "reliability_free": _reliability_free,
    "won_every_battle": _won_every_battle,
    "lost_every_battle": _lost_every_battle,
    "groups_never_met": _groups_never_met,
    "groups_one_sided": _groups_one_sided,
    "weak_prior": _weak_prior,
    "not_converged": _not_converged,
    "intervals_from_model": _intervals_from_model,
    "unnamed_units": _unnamed_units,
    "few_units": _few_units,
    "order_matters": _order_matters,
    "no_interval": _no_interval,
}
