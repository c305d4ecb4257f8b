"""Records: frozen, JSON round-trip, identity by content, status apart from verdict."""

import json
from datetime import UTC

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from imarena.core.ids import canonical_json, content_id
from imarena.core.records import (
    ImageRef,
    Item,
    Judgment,
    Order,
    Origin,
    Outcome,
    Output,
    Status,
    Turn,
    Vote,
)
from imarena.storage.codec import from_row, to_row
from tests import samples

text = st.text(max_size=40)
names = st.text(min_size=1, max_size=20)
images = st.builds(
    ImageRef,
    sha256=st.text("0123456789abcdef", min_size=64, max_size=64),
    size_bytes=st.integers(0, 2**40),
    media_type=st.sampled_from(["image/png", "image/jpeg"]),
    width=st.none() | st.integers(1, 10_000),
)
turns = st.builds(
    Turn, instruction=text, original_instruction=st.none() | text, references=st.lists(images, max_size=2).map(tuple)
)
moments = st.datetimes(timezones=st.just(UTC))
items = st.builds(
    Item,
    created_at=moments,
    dataset=names,
    key=names,
    turns=st.lists(turns, min_size=1, max_size=3).map(tuple),
    sources=st.lists(images, max_size=2).map(tuple),
    topic=st.none() | text,
    task=st.none() | text,
    provenance=st.dictionaries(text, st.none() | text | st.integers(-(2**53), 2**53) | st.booleans(), max_size=3),
)
scores = st.floats(allow_nan=False, allow_infinity=False)
judgments = st.builds(
    Judgment,
    created_at=moments,
    work_id=names,
    judge=names,
    item_id=names,
    left_id=names,
    right_id=names,
    order=st.sampled_from(Order),
    preference=st.sampled_from(Outcome),
    scores=st.dictionaries(names, scores, max_size=3),
    consistent=st.none() | st.booleans(),
    confidence=st.none() | scores,
)


@given(items | judgments)
def test_json_round_trip(record: Item | Judgment) -> None:
    assert type(record).from_json(record.to_json()) == record


@given(items | judgments)
def test_row_round_trip(record: Item | Judgment) -> None:
    assert from_row(type(record), to_row(record)) == record


@given(items, text, text)
def test_topic_and_licence_are_not_content(item: Item, topic: str, licence: str) -> None:
    other = item.model_copy(update={"topic": topic, "licence": licence})
    assert (other.content_id, other.item_id) == (item.content_id, item.item_id)


@given(items, text)
def test_the_instruction_is_content(item: Item, instruction: str) -> None:
    changed = item.turns[0].model_copy(update={"instruction": instruction})
    other = item.model_copy(update={"turns": (changed, *item.turns[1:])})
    assert (other.item_id == item.item_id) == (instruction == item.turns[0].instruction)


def test_without_pixels_the_origin_is_identity() -> None:
    plain = samples.item()
    one = plain.model_copy(update={"absent": ("a.png",), "origin": Origin(source="s", file_sha256="1", row="1")})
    two = plain.model_copy(update={"absent": ("a.png",), "origin": Origin(source="s", file_sha256="1", row="2")})
    assert len({plain.item_id, one.item_id, two.item_id}) == 3


@given(st.recursive(st.none() | st.booleans() | st.integers() | text, lambda x: st.lists(x) | st.dictionaries(text, x)))
def test_canonical_json_has_one_spelling(value: object) -> None:
    assert canonical_json(value) == canonical_json(value)
    assert content_id("x", value) == content_id("x", value)


@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
        lambda x: st.lists(x) | st.dictionaries(st.text(), x),
    )
)
def test_canonical_json_is_what_the_json_module_writes(value: object) -> None:
    assert canonical_json(value) == json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False)


@pytest.mark.parametrize(
    ("value", "error"), [(float("nan"), ValueError), ([float("inf")], ValueError), ({1}, TypeError)]
)
def test_canonical_json_refuses_what_json_cannot_say(value: object, error: type[Exception]) -> None:
    with pytest.raises(error):
        canonical_json(value)
    assert canonical_json([Outcome.TIE, "é"]) == '["tie","é"]', "a refusal leaves nothing behind"


def test_key_order_does_not_matter_but_type_does() -> None:
    assert content_id("x", {"a": 1, "b": 2}) == content_id("x", {"b": 2, "a": 1})
    assert content_id("x", "1") != content_id("x", 1)
    assert content_id("x", ["a", "b"]) != content_id("x", "a", "b")


def test_records_are_frozen_and_reject_the_unknown() -> None:
    item = samples.item()
    with pytest.raises(ValidationError):
        item.key = "other"  # type: ignore[misc]
    with pytest.raises(ValidationError):
        Item.from_json(item.to_json().replace('"topic"', '"topik"'))


@pytest.mark.parametrize("status", [status for status in Status if status is not Status.OK])
def test_a_failure_carries_no_verdict(status: Status) -> None:
    output = samples.output(samples.item())
    base = samples.judgment(output, None, "w").model_dump()
    with pytest.raises(ValidationError, match="carries no verdict"):
        Judgment.model_validate({**base, "status": status})
    assert Judgment.model_validate({**base, "status": status, "score": None}).score is None
    with pytest.raises(ValidationError, match="needs a preference or a score"):
        Judgment.model_validate({**base, "score": None})


def test_an_output_is_an_image_or_a_reason() -> None:
    with pytest.raises(ValidationError, match="needs an origin"):
        Output(item_id="i", editor="e")
    image = ImageRef(sha256="0" * 64, size_bytes=1, media_type="image/png")
    with pytest.raises(ValidationError, match="has no image"):
        Output(item_id="i", editor="e", status=Status.REFUSED, image=image)


def test_a_rating_outside_its_scale_is_refused() -> None:
    with pytest.raises(ValidationError, match="realism is 41, outside the scale 1 to 5"):
        Vote(rater_id="r", item_id="i", left_id="o", ratings={"realism": 41}, scale=(1, 5))


def test_a_changed_copy_gets_a_new_id() -> None:
    item = samples.item()
    before = item.item_id
    assert item.model_copy(update={"key": "other"}).item_id != before


@given(st.sampled_from(Outcome))
def test_mirroring_twice_changes_nothing(outcome: Outcome) -> None:
    assert outcome.mirrored().mirrored() is outcome
