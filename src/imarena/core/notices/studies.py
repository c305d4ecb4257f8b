"""Sentences of notices of agreement, alignment, judge health, routing and comparisons.

A wording takes the notice's values and the place where it is shown. Add the code here when you add a notice.
"""

from imarena.core.notices.notice import Wording
from imarena.core.plurals import counted, plural

WORDS: dict[str, Wording] = {
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
