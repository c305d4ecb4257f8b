"""The reader of replies: a table of what judges really write, and fuzz."""

import json
import re
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from imarena.core.records import Outcome, Status
from imarena.judges.replies.parse import check_score_agrees, is_refusal, read_choice, read_number, read_object
from imarena.judges.replies.reply_text import Unreadable, find_object
from imarena.judges.replies.winner import side_named
from imarena.judges.replies.words import normalise_phrase, word_table

TABLE: list[dict[str, Any]] = yaml.safe_load((Path(__file__).parent / "replies.yaml").read_text(encoding="utf-8"))


def reading(text: str, *, ties: bool = False, both_bad: bool = False) -> str:
    try:
        return read_choice(text, ties=ties, both_bad=both_bad).outcome.value
    except Unreadable as why:
        return why.status.value


def test_table_is_long_enough() -> None:
    assert len(TABLE) >= 180
    assert {row["reads"] for row in TABLE} == {"left", "right", "tie", "both_bad", "unparsable", "refused"}


@pytest.mark.parametrize("row", TABLE, ids=lambda row: repr(row["reply"])[:60])
def test_reply_reads_right(row: dict[str, Any]) -> None:
    assert reading(row["reply"], ties=row.get("ties", False), both_bad=row.get("both_bad", False)) == row["reads"]


@pytest.mark.parametrize(
    "row", [r for r in TABLE if r["reads"] in ("left", "right")], ids=lambda r: repr(r["reply"])[:60]
)
def test_ties_allowed_changes_no_choice(row: dict[str, Any]) -> None:
    assert reading(row["reply"], ties=True, both_bad=True) == row["reads"]


def test_forms_name_one_side_only() -> None:
    table = word_table()
    groups = [table.left | table.left_with_noun, table.right | table.right_with_noun, table.tie, table.both_bad]
    for index, group in enumerate(groups):
        for other in groups[index + 1 :]:
            assert not group & other
    for form in table.left:
        assert side_named(form) is Outcome.LEFT
    for form in table.right:
        assert side_named(form) is Outcome.RIGHT
    for form in table.tie:
        assert side_named(form) is Outcome.TIE


@settings(deadline=None)
@given(st.text(max_size=300))
def test_any_text_gives_a_reading(text: str) -> None:
    assert reading(text, ties=True, both_bad=True) in {"left", "right", "tie", "both_bad", "unparsable", "refused"}


PIECES = st.sampled_from(
    ['{"winner": "', '"}', "A", "B", "Image ", "tie", "```json\n", "\n```", '{"', "}", "{", '": ', '"', "\\", "[[", "]]",
     ">", "=", " is better", "(", ")", "Winner: ", "\n", "not ", "or ", "</think>", "<think>", "'", ",", "NaN", "1", "a"]
)  # fmt: skip


@settings(max_examples=600, deadline=None)
@given(st.lists(PIECES, max_size=14).map("".join))
def test_a_verdict_stands_in_the_text(text: str) -> None:
    """Glued-together fragments of replies: no exception, and no side that the text does not name."""
    found = reading(text, ties=True, both_bad=True)
    bare = normalise_phrase(text)
    if found in ("left", "right"):
        letter, number, forms = ("a", "1", word_table().left) if found == "left" else ("b", "2", word_table().right)
        alone = re.search(rf"(?<![a-z0-9])({letter}|{number})(?![a-z0-9])", bare)
        assert alone or any(form in bare for form in forms - {letter})
    if found == "tie":
        assert "tie" in bare or "=" in bare


ANSWERS = ('{{"winner": "{0}"}}', "```json\n{{\"winner\": \"{0}\",}}\n```", "Winner: {0}", "\\boxed{{{0}}}", "<answer>Image {0}</answer>",
           "| Winner | {0} |", "{{“winner”: “{0}”}}")  # fmt: skip
CLAIMS = ("{0} is better.", "I think {0} is better though", "Image {0} wins", "I would pick {0}.", "The winner is {0}!", "{0} is clearly better than {1}",
          "Actually, it should be {0}.", "Final answer: {0}")  # fmt: skip
NEUTRAL = (
    "",
    "Let me look.",
    "Both keep the pose.",
    "A keeps the sky, B the sea.",
    "In colour, A is better.",
    "Nothing else.",
)


HARMLESS = (
    "Image A keeps the pose.",
    "The sky of B is blue.",
    "I compared the pictures.",
    "Colours are vivid in image B.",
)
SENTENCES = (
    "The winner is {0}.",
    "I prefer Image {0}.",
    "Image {0} is better.",
    "My answer is {0}.",
    "I would pick {0}!",
    "{0} wins.",
)
TURNS = ("It is not so.", "But look again.", "If only colour counts.", "Perhaps.", "The note says this:", "Or the other way round.",
         "Is it?", "\"As told\".", "They are equal.", "It could be.", "Neither is good.")  # fmt: skip


@settings(max_examples=500, deadline=None)
@given(
    before=st.lists(st.sampled_from(HARMLESS), max_size=3),
    said=st.lists(st.tuples(st.sampled_from(SENTENCES), st.sampled_from("AB")), min_size=1, max_size=3),
    turn=st.none() | st.tuples(st.sampled_from(TURNS), st.integers(0, 6)),
    after=st.none() | st.sampled_from(HARMLESS),
)
def test_plain_sentences_are_read_only_where_nothing_turns_them(
    before: list[str], said: list[tuple[str, str]], turn: tuple[str, int] | None, after: str | None
) -> None:
    parts = [*before, *(sentence.format(side) for sentence, side in said), *([after] if after else [])]
    if turn is not None:
        parts.insert(turn[1], turn[0])
    sides = {side for _, side in said}
    certain = len(sides) == 1 and turn is None and after is None
    expected = {"A": "left", "B": "right"}[said[0][1]] if certain else "unparsable"
    assert reading(" ".join(parts)) == expected
    assert reading("\n".join(parts)) == expected


@settings(max_examples=500, deadline=None)
@given(
    answer=st.sampled_from(ANSWERS),
    letter=st.sampled_from("AB"),
    later=st.lists(st.tuples(st.sampled_from(CLAIMS), st.sampled_from("AB")), max_size=3),
    prose=st.lists(st.sampled_from(NEUTRAL), min_size=2, max_size=2),
)
def test_every_named_winner_has_to_be_the_same(
    answer: str, letter: str, later: list[tuple[str, str]], prose: list[str]
) -> None:
    """A second reading that knows what each sentence says: one winner is read, two are none."""
    other = {"A": "B", "B": "A"}
    said = [claim.format(side, other[side]) for claim, side in later]
    text = "\n".join([prose[0], answer.format(letter), prose[1], *said])
    agreed = all(side == letter for _, side in later)
    assert reading(text) == ({"A": "left", "B": "right"}[letter] if agreed else "unparsable")


@settings(deadline=None)
@given(st.sampled_from("AB"), st.sampled_from(CLAIMS), st.sampled_from("AB"), st.sampled_from(ANSWERS))
def test_last_claim_before_the_answer_counts(letter: str, claim: str, side: str, answer: str) -> None:
    other = {"A": "B", "B": "A"}
    text = f"{claim.format(side, other[side])}\n{answer.format(letter)}"
    assert reading(text) == ({"A": "left", "B": "right"}[letter] if side == letter else "unparsable")


@settings(deadline=None)
@given(st.sampled_from("AB"), st.text(alphabet=st.characters(exclude_characters="{}[]\\<>"), max_size=80))
def test_prose_around_json_changes_nothing(letter: str, prose: str) -> None:
    text = f'{prose}\n```json\n{{"winner": "{letter}"}}\n```\n{prose}'
    assert reading(text) == ("left" if letter == "A" else "right")


@settings(deadline=None)
@given(
    st.dictionaries(
        st.text(max_size=8),
        st.recursive(st.none() | st.integers() | st.text(max_size=8), st.lists, max_leaves=4),
        max_size=5,
    )
)
def test_objects_come_back_equal(value: dict[str, Any]) -> None:
    assert find_object(f"Result: {json.dumps(value)} done.") == value


def test_deep_and_long_replies_end_with_a_status() -> None:
    for text in ('{"winner": "A" /* ' + "/* " * 60_000, '{"a":1,' + " /**/" * 39_000, "winner: " * 24_000, "A is better. " * 15_000,
                 '{"winner": "A"' + "/* " * 6_000, "<answer>" * 24_000, '{"a":' * 20_000, "{" * 150_000, '{"a": 1}' * 5_000, "[" * 100_000 + '{"a":[' * 30_000, "x" * 300_000,
                 '{"winner": "A", "reasons": ' + "[" * 500 + "]" * 500 + "}"):  # fmt: skip
        assert reading(text) == "unparsable"


@pytest.mark.parametrize(
    "value",
    [True, False, None, "high", "8/12", "8 out of 12", "80%", "1e3", "1e309", "", "-3", "4²", "½", "7,5", "NaN", "Infinity", [5],
     {"value": 5}, float("nan"), float("inf"), float("1e309"), -0.001, 10.001, "11", 10**400],
)  # fmt: skip
def test_numbers_out_of_form_or_range_are_unreadable(value: Any) -> None:
    with pytest.raises(Unreadable):
        read_number(value, 0, 10, "score")


@pytest.mark.parametrize(
    ("value", "number"),
    [(0, 0.0), (10, 10.0), (7.5, 7.5), ("7", 7.0), (" 7.5 ", 7.5), ("8/10", 8.0), ("8 / 10", 8.0), ("8 out of 10", 8.0),
     ("8 von 10", 8.0), ("８", 8.0), ("８／１０", 8.0), ("٨", 8.0)],
)  # fmt: skip
def test_numbers_in_range_are_read(value: Any, number: float) -> None:
    assert read_number(value, 0, 10, "score") == number


def test_percentages_belong_to_scales_of_one_and_of_a_hundred() -> None:
    assert read_number("80%", 0, 1, "confidence") == 0.8
    assert read_number("80 %", 0, 100, "score") == 80.0
    for low, high in ((0, 10), (1, 6), (1, 100)):
        with pytest.raises(Unreadable):
            read_number("80%", low, high, "score")
    with pytest.raises(Unreadable):
        read_number("120%", 0, 1, "confidence")


def test_half_is_no_whole_number() -> None:
    with pytest.raises(Unreadable):
        read_number(4.5, 1, 6, "score", whole=True)


@settings(deadline=None)
@given(st.integers(1, 6), st.sampled_from([Outcome.LEFT, Outcome.RIGHT]))
def test_score_has_to_agree(score: int, outcome: Outcome) -> None:
    agrees = (score >= 4) == (outcome is Outcome.LEFT)
    if agrees:
        check_score_agrees(score, outcome, 1, 6)
    else:
        with pytest.raises(Unreadable):
            check_score_agrees(score, outcome, 1, 6)


def test_refusals_and_empty_objects() -> None:
    assert is_refusal("I'm sorry, but I can't help.")
    assert not is_refusal("The edit is poor, sorry to say.")
    with pytest.raises(Unreadable) as why:
        read_object("I cannot assist with this request.")
    assert why.value.status is Status.REFUSED
    with pytest.raises(Unreadable) as why:
        read_object("Score: 7 out of 10")
    assert why.value.status is Status.UNPARSABLE


HUMAN = {"leftvote": "left", "rightvote": "right", "tievote": "tie", "bothbad_vote": "both_bad"}


@pytest.mark.parametrize(
    ("judge", "accuracy"), [("gpt4o", 45.59), ("llava", 37.00), ("idefics2", 42.25), ("gemini-1.5-pro", 44.67)]
)
def test_recorded_replies_of_real_judges(shared_data: Path, judge: str, accuracy: float) -> None:
    """GenAI-Bench's published four-way accuracy, with every recorded reply read by our reader.

    Two replies of Gemini, '[[Model A is better: [[A>B]] ]]' and its like, are plain to us and were lost by the
    published reader: without them the figures are the same.
    """
    rows = json.loads((shared_data / "genai_bench" / "image_generation.json").read_text())
    right = 0
    for row in rows:
        reply, human = row["votes"][judge][0], HUMAN[row["human_vote"]]
        said = "none" if reply is None or reply.startswith("[[Model ") else reading(reply, ties=True, both_bad=True)
        unsaid_kind = reply is not None and "[[A=B]]" in reply
        right += said == human or (unsaid_kind and said == "tie" and human in ("tie", "both_bad"))
    assert round(100 * right / len(rows), 2) == accuracy
