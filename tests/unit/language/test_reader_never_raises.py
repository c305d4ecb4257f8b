"""The reader takes any text at all."""

from hypothesis import given
from hypothesis import strategies as st

from imarena.language import EditKind, lexicon, read_instruction

WORDS = st.sampled_from(
    [*sorted(lexicon().verbs), *lexicon().colours, "the", "a", "to", "with", "dog", "'stop'", '"', "instead of", "of", "\n", ".", ","]
)  # fmt: skip


@given(st.text(max_size=400))
def test_any_text(text: str) -> None:
    reading = read_instruction(text)
    assert reading.instruction == text
    assert all(isinstance(edit.kind, EditKind) for edit in reading.edits)


@given(st.lists(WORDS, max_size=40))
def test_any_words(words: list[str]) -> None:
    reading = read_instruction(" ".join(words))
    assert reading.unread == tuple(e.clause for e in reading.edits if e.kind is EditKind.OTHER)


@given(st.text(alphabet="'\"“”‘’«» abq0", max_size=80))
def test_quotes_in_any_state(text: str) -> None:
    read_instruction(f"change the sign to {text}")


def test_long_text_is_read_in_bounded_time() -> None:
    reading = read_instruction("make the dog " + "very " * 50_000 + "red")
    assert len(reading.edits) >= 1
