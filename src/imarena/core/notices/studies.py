"""Sentences of notices of agreement, alignment, judge health, routing and comparisons.

A wording takes the notice's values and the place where it is shown. Add the code here when you add a notice.
"""

from typing import Any

from imarena.core.notices.notice import Place, Wording
from imarena.core.plurals import counted, plural


def _judges_by_scores(values: dict[str, Any], _: Place) -> str:
    names = ", ".join(values["judges"])
    return f"{names} compared no pair directly: pairs of scores are compared with the votes."


def _votes_about_other_dimension(values: dict[str, Any], _: Place) -> str:
    votes = ", ".join(values["votes"])
    return f"{values['judge']} gave verdicts about {values['dimension']}; they are compared with votes about {votes}."


WORDS: dict[str, Wording] = {
    "judges_by_scores": _judges_by_scores,
    "votes_about_other_dimension": _votes_about_other_dimension,
    "earlier_scores": lambda values, _: (
        f"{counted(values['scores'], 'score')} of '{values['judge']}' by an earlier version, prompt or setting "
        f"{plural('does', values['scores'])} not count. Judge all outputs with one version."
    ),
    "models_without_evidence": lambda values, _: (
        f"Not ranked, having {values['lacking']}: {', '.join(values['models'])}."
    ),
    "models_without_scores": lambda values, place: (
        f"'{values['judge']}' scored no output of {', '.join(values['models'])}: only votes rank them."
        + ("" if place == "report" else " Run: imarena judge.")
    ),
}
