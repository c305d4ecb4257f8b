from hypothesis import given
from hypothesis import strategies as st

from imarena.core.errors import UserError, first_line


def test_the_hint_is_not_part_of_the_first_line() -> None:
    assert first_line(UserError("The file is empty.", hint="Give another.")) == "The file is empty."


def test_an_error_without_a_message_is_named_by_its_type() -> None:
    assert first_line(KeyError()) == "KeyError"
    assert first_line(ValueError("\n\nsecond")) == "second"


@given(st.text())
def test_a_first_line_is_one_line_that_can_be_stored(message: str) -> None:
    line = first_line(UserError(message, hint="Read the guide."))
    assert line
    assert len(line.splitlines()) == 1
    line.encode()
