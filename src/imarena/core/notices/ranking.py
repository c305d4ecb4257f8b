"""Sentences of notices that the ranking room makes.

A wording takes the notice's values and the medium where it is shown. Add the code here when you add a notice.
"""

from typing import Any

from imarena.core.notices.notice import Medium, Wording
from imarena.core.plurals import counted, plural


def _battles_left_out(values: dict[str, Any], _medium: Medium) -> str:
    listed = ", ".join(f"{count:,} {reason.replace('_', ' ')}" for reason, count in values["reasons"].items())
    return f"Battles left out: {listed}."


def _models_not_ranked(values: dict[str, Any], _medium: Medium) -> str:
    names = ", ".join(f"'{model}'" for model in values["models"])
    more = f" and {values['more']} more" if values["more"] else ""
    return f"Not ranked, because none of their battles count: {names}{more}."


def _coverage_differs(values: dict[str, Any], medium: Medium) -> str:
    text = (
        f"Coverage differs between models, from {values['low']:.0%} ('{values['model']}') to {values['high']:.0%}: "
        "a model that has no outputs for hard items may rank too high."
    )
    if medium != "terminal" or not values.get("losses_possible", True):
        return text
    return f"{text} Use `--missing loss` to count a missing output as a loss."


def _unnamed_units(values: dict[str, Any], _medium: Medium) -> str:
    battles, cluster = values["battles"], values["cluster"]
    verb = "has" if battles == 1 else "have"
    return f"{counted(battles, 'battle')} {verb} no {cluster}: each is resampled on its own."


def _few_units(values: dict[str, Any], _medium: Medium) -> str:
    units, cluster = values["units"], values["cluster"]
    verb = "is" if units == 1 else "are"
    return f"There {verb} only {units} {plural(cluster, units)} to resample: the intervals are too narrow."


def _order_matters(_values: dict[str, Any], medium: Medium) -> str:
    other = "`--method bt`, `davidson` and `mixture`" if medium == "terminal" else "bt, davidson and mixture"
    return f"Online ratings depend on the order of the battles. {other} do not."


def _no_interval(values: dict[str, Any], _medium: Medium) -> str:
    resampled = (
        "resampling shows no variation"
        if values["reason"] == "no variation"
        else f"only {values['reason']} to resample"
    )
    return f"No interval for {values['models']} of {counted(values['of'], 'model')}: {resampled}."


WORDINGS: dict[str, Wording] = {
    "battles_left_out": _battles_left_out,
    "models_not_ranked": _models_not_ranked,
    "coverage_differs": _coverage_differs,
    "weights_uneven": lambda values, _: (
        f"The weights are very uneven: {counted(values['battles'], 'battle')} carry as much information as "
        f"{values['worth']:.3g} with equal weights."
    ),
    "coefficient_unbounded": "The data do not bound a coefficient: a weak prior limits it.",
    "tie_parameter_unbounded": "The data do not bound the tie parameter of '{dimension}': a prior limits it.",
    "reliability_free": "No rater has a fixed reliability: a weak prior on reliability sets the scale of the ratings.",
    "won_every_battle": "'{model}' won every battle: the data give no upper bound for its rating.",
    "lost_every_battle": "'{model}' lost every battle: the data give no lower bound for its rating.",
    "groups_never_met": (
        "The models form {groups} groups that never met: do not compare ratings of models from different groups."
    ),
    "groups_one_sided": (
        "The models form {groups} groups, and each won or lost every battle against the others: "
        "the data do not show how far apart the groups are."
    ),
    "weak_prior": (
        "Where the data do not bound a rating, a weak symmetric prior sets it (an even chance to win against an "
        "average model). Ratings within the main group do not depend on this prior."
    ),
    "not_converged": lambda values, _: (
        f"The fit did not converge in {counted(values['iterations'], 'iteration')}: do not use this board."
    ),
    "intervals_from_model": lambda values, _: (
        f"The data show no variation for {values['models']} of {counted(values['of'], 'model')} (only ties, or too few "
        "battles): their uncertainty comes from the fitted model instead."
    ),
    "unnamed_units": _unnamed_units,
    "few_units": _few_units,
    "order_matters": _order_matters,
    "no_interval": _no_interval,
    "gate_not_on_board": "'{model}' is not on this board.",
    "gate_no_interval": "This board has no interval of the difference {model} - {other}.",
    "gate_large_board": "A board of {models:,} models keeps no interval of the difference {model} - {other}.",
    "gate_both_fixed": "The ratings of {model} and {other} are both fixed: their difference has no interval.",
    "gate_unbounded": "The data give no interval of the difference {model} - {other} ({about}: {note}).",
}
