"""Sentences of notices of agreement, alignment, judge health, routing and comparisons.

A wording takes the notice's values and the place where it is shown. Add the code here when you add a notice.
"""

from typing import Any

from imarena.core.notices.notice import Place, Wording


def _pairs_from_ratings(values: dict[str, Any], _place: Place) -> str:
    return (
        f"People rated outputs and compared none: {values['pairs']:,} pairs of outputs for one item stand for votes. "
        "The higher mean rating wins, and equal means are a tie."
    )


WORDS: dict[str, Wording] = {"pairs_from_ratings": _pairs_from_ratings}
