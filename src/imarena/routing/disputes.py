"""When raters disagree on a unit, so that somebody else answers it too."""

from collections.abc import Sequence

from imarena.core.records import Vote
from imarena.stats import PAIR_CODES

RATING_STEPS = 2.0
"""Ratings of one criterion that differ by this much are a disagreement."""


def preference_label(vote: Vote) -> float | None:
    """A preference as a label that does not depend on the sides shown: the outputs are ordered by id."""
    if vote.preference is None or vote.right_id is None:
        return None
    return PAIR_CODES[(vote.preference if vote.left_id < vote.right_id else vote.preference.mirrored()).value]


def are_disputed(answers: Sequence[Vote]) -> bool:
    """Whether raters disagree: different choices, different yes/no answers, or ratings two steps apart."""
    labels = {preference_label(vote) for vote in answers}
    if len(labels) > 1:
        return True
    steps = RATING_STEPS if any(vote.scale not in (None, (0.0, 1.0)) for vote in answers) else 1.0
    criteria = {name for vote in answers for name in vote.ratings}
    values = ([vote.ratings[name] for vote in answers if name in vote.ratings] for name in criteria)
    return any(max(answers) - min(answers) >= steps for answers in values)
