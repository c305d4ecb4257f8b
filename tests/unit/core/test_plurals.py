"""A number and its noun."""

import pytest

from imarena.core.plurals import counted, plural


@pytest.mark.parametrize(
    ("number", "noun", "told"),
    [
        (1, "reply", "1 reply"),
        (2, "reply", "2 replies"),
        (0, "rater", "0 raters"),
        (1, "rater", "1 rater"),
        (1200, "battle", "1,200 battles"),
        (2, "day", "2 days"),
        (3, "match", "3 matches"),
        (2, "evidence record", "2 evidence records"),
        (2, "person", "2 people"),
    ],
)
def test_a_number_and_its_noun_fit(number: int, noun: str, told: str) -> None:
    assert counted(number, noun) == told


def test_verbs_follow_the_number() -> None:
    assert [plural(verb, 2) for verb in ("is", "was", "has", "stands")] == ["are", "were", "have", "stand"]
    assert plural("is", 1) == "is"
