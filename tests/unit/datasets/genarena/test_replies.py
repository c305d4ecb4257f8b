"""A reply that is not clearly one side is no verdict; a name that is no path stays itself."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from imarena.core.records import Outcome, Status
from imarena.datasets.folder import is_plain, safe_name, unescape_name
from imarena.datasets.genarena.replies import call_status, strict_preference


def answer(**fields: object) -> str:
    return json.dumps(fields)


@pytest.mark.parametrize(
    ("raw", "outcome"),
    [
        (answer(better_response="A", score=6), Outcome.LEFT),
        (answer(better_response=" b ", score=1), Outcome.RIGHT),
        (answer(better_response="Image B"), Outcome.RIGHT),
        ('```json\n{"better_response": "A", "score": 4}\n```', Outcome.LEFT),
        (answer(better_response="Equal"), None),
        (answer(better_response="Tie", score=3), None),
        (answer(better_response="B (marginally better)"), None),
        (answer(better_response="A", score=2), None),
        (answer(better_response="A", score=9), None),
        (answer(score=6), None),
        ("A", None),
        ('["better_response", "A"]', None),
        ('Sure! {"better_response": "A"}', None),
        ("", None),
    ],
)
def test_known_replies(raw: str, outcome: Outcome | None) -> None:
    found, reason = strict_preference(raw)
    assert found is outcome
    assert bool(reason) == (outcome is None)


@given(st.text())
def test_prose_is_never_a_verdict(raw: str) -> None:
    assert strict_preference(raw)[0] is None


@given(
    st.text().filter(
        lambda name: " ".join(name.lower().split()) not in {"a", "b", "image a", "image b", "response a", "response b"}
    )
)
def test_an_unknown_label_is_never_a_verdict(label: str) -> None:
    assert strict_preference(answer(better_response=label))[0] is None


def test_failed_calls_are_told_apart() -> None:
    assert call_status("VLM call failed: Request timed out.") is Status.TIMEOUT
    assert call_status("VLM call failed: 429") is Status.API_ERROR


@given(st.text(min_size=1), st.text(min_size=1))
def test_safe_names_are_one_part_of_a_path_and_distinct(one: str, other: str) -> None:
    name = safe_name(one)
    assert "/" not in name
    assert "\\" not in name
    assert "\x00" not in name
    assert name not in {"", ".", ".."}
    assert len(name.encode()) <= 120
    assert (name == safe_name(other)) == (one == other)
    if is_plain(one):
        assert name == one
    elif len(name) < 60:
        assert unescape_name(name) == one


@pytest.mark.parametrize(
    "name", ["../../x", "..", "", "a/b", "C:\\x", "x ", ".hidden", "%2F", "con", "NUL.txt", "a" * 300]
)
def test_hostile_names_are_not_plain(name: str) -> None:
    assert not is_plain(name)
    assert is_plain("a_vs_b")
