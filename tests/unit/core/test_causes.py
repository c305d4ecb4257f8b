"""Reasons that differ only in details are one cause; the counts are exact, also for very many causes."""

import pytest

from imarena.core import CauseTally, Skip, error_causes, skip_causes
from imarena.core.causes import MOST_CAUSES, OTHER


@pytest.mark.parametrize(
    ("reasons", "shown"),
    [
        (["the key 'a' appears twice"] * 2, "2 x the key 'a' appears twice"),
        (["the key 'a' appears twice", "the key 'b c' appears twice"], "2 x the key … appears twice"),
        (["images/a.png: truncated", "b.jpg: truncated"], "2 x …: truncated"),
        (["the row has 2 cells, the header 6", "the row has 3 cells, the header 6"], "2 x the row has … cells, the header …"),
        (["it isn't 'a' or 'b'", "it isn't 'a' or 'c'"], "2 x it isn't … or …"),
    ],
)  # fmt: skip
def test_details_do_not_count(reasons: list[str], shown: str) -> None:
    (cause,) = error_causes_of(reasons)
    assert str(cause) == shown


def error_causes_of(reasons: list[str]) -> list[object]:
    tally = CauseTally()
    for reason in reasons:
        tally.add(reason)
    return list(tally.causes())


def test_an_http_status_is_no_detail() -> None:
    causes = error_causes({"api_error: HTTP 429": 3, "api_error: HTTP 503": 5})
    assert [str(cause) for cause in causes] == ["5 x api_error: HTTP 503", "3 x api_error: HTTP 429"]


def test_a_single_one_is_printed_in_full() -> None:
    (cause,) = skip_causes([Skip("items.csv", "line 3", "the key 'a' appears twice")])
    assert str(cause) == "items.csv, line 3: the key 'a' appears twice"


def test_a_file_cannot_make_more_causes_than_the_limit() -> None:
    tally = CauseTally()
    words = [f"{chr(97 + n % 26)}{chr(97 + n // 26 % 26)}{chr(97 + n // 676)}" for n in range(MOST_CAUSES + 300)]
    for word in words:
        tally.add(f"no {word}")
    causes = tally.causes()
    assert len(causes) == MOST_CAUSES + 1
    assert sum(cause.count for cause in causes) == len(words)
    assert (causes[0].reason, causes[0].count) == (OTHER, 300)
