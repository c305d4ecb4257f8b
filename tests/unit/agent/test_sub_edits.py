"""What is read in an instruction: requests, the steps of a plan, and orders of their own about what is missing."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from imarena.agent.spec import limit_steps
from imarena.agent.sub_edits import edits_about, requests_in, restore_quotes, split_into_edits
from imarena.language import read_instruction


@pytest.mark.parametrize(
    ("words", "steps"),
    [
        ("Make the cup red.", ("Make the cup red.",)),
        ("The photo is too dark. Correct its exposure.", ("The photo is too dark. Correct its exposure.",)),
        (
            "Please add a dog. Then remove the cat. Keep the sky.",
            ("Please add a dog.", "Then remove the cat. Keep the sky."),
        ),
        ("Write 'Go. Now' on the sign. Make it blue.", ("Write 'Go. Now' on the sign.", "Make it blue.")),
    ],
)
def test_requests_in_an_instruction(words: str, steps: tuple[str, ...]) -> None:
    assert requests_in(words) == steps


@given(st.text(max_size=200), st.integers(1, 6))
def test_planning_never_raises_and_never_loses_words(words: str, most: int) -> None:
    steps = limit_steps(requests_in(words), most)
    assert len(steps) <= max(1, most)
    assert "".join(" ".join(steps).split()) == "".join(words.split())


@pytest.mark.parametrize(
    ("words", "orders"),
    [
        (
            "Change the button to read 'Go' and make it red.",
            ("Change the button to read 'Go'.", "Make the button red."),
        ),
        ("Brighten the photo and remove the noise.", ("Brighten the photo.", "Remove the noise.")),
        (
            "Turn the sky pink, remove the car and write 'hi and bye' at the top.",
            ("Turn the sky pink.", "Remove the car.", "Write 'hi and bye' at the top."),
        ),
        (
            "Remove the blur and make the street sharp.",
            ("Remove the blur and make the street sharp.",),
        ),  # one edit twice
        ("Remove the window and restore what it covers.", ("Remove the window and restore what it covers.",)),
        ("Add a dog and a cat.", ("Add a dog and a cat.",)),
        ("Write 'Go and make it' on the sign.", ("Write 'Go and make it' on the sign.",)),
    ],
)
def test_compound_instructions_become_orders_of_their_own(words: str, orders: tuple[str, ...]) -> None:
    assert split_into_edits(words) == orders


def test_orders_about_what_is_missing() -> None:
    words = "Make the cup red. Remove the spoon and brighten the photo."
    assert edits_about(words, ("remove the spoon",)) == ("Remove the spoon.",)
    assert edits_about(words, ("make the cup red", "brighten the photo")) == (
        "Make the cup red.",
        "Brighten the photo.",
    )
    assert edits_about(words, ("make the cup red", "remove the spoon", "brighten the photo")) == ()
    assert edits_about(words, ("something else",)) == ()
    quoted = "Write 'A' on the cup. Replace the text 'B' with 'C'."
    clause = read_instruction(quoted).edits[1].clause
    assert restore_quotes(clause, quoted) == "replace the text 'B' with 'C'"
    assert edits_about(quoted, (clause,)) == ("Replace the text 'B' with 'C'.",)
    assert edits_about(quoted, (restore_quotes(clause, quoted),)) == ("Replace the text 'B' with 'C'.",)
    assert edits_about("", ()) == ()


VERBS = ["make", "remove", "the", "red", "cup", "and", "it", ",", "add", "a", "dog", ".", "'x and y'", "then", "Write"]


@given(st.lists(st.sampled_from(VERBS), max_size=14).map(" ".join) | st.text(max_size=120))
def test_splitting_never_raises_and_never_loses_a_quote(words: str) -> None:
    orders = split_into_edits(words)
    assert len(orders) >= len(requests_in(words))
    assert " ".join(orders).count("'x and y'") == words.count("'x and y'")
