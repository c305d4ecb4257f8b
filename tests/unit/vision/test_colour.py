"""Colours by name."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from imarena.core.errors import UserError
from imarena.language import lexicon
from imarena.vision import BASIC_COLOURS, basic_colour, basic_names, colour_likeness, is_named
from imarena.vision.colour import rgb_of, to_oklab
from imarena.vision.frame import frame_of
from tests.unit.vision.pictures import with_disc

KNOWN = [
    ((255, 0, 0), "red"), ((0, 128, 0), "green"), ((0, 0, 255), "blue"), ((255, 255, 0), "yellow"),
    ((255, 165, 0), "orange"), ((128, 0, 128), "purple"), ((255, 192, 203), "pink"), ((139, 69, 19), "brown"),
    ((0, 0, 0), "black"), ((255, 255, 255), "white"), ((128, 128, 128), "grey"), ((0, 220, 230), "cyan"),
    ((60, 60, 62), "grey"), ((20, 30, 90), "blue"), ((120, 20, 30), "red"), ((40, 90, 40), "green"),
]  # fmt: skip


@pytest.mark.parametrize(("rgb", "name"), KNOWN)
def test_plain_colours_have_their_name(rgb: tuple[int, int, int], name: str) -> None:
    pixel = np.array([rgb], dtype=np.float32) / 255
    assert BASIC_COLOURS[int(basic_names(pixel)[0])] == name


def test_every_word_of_the_lexicon_has_a_basic_colour_and_likes_itself() -> None:
    for word in lexicon().colours:
        assert basic_colour(word) in BASIC_COLOURS
        assert float(colour_likeness(np.asarray(rgb_of(word)[None, :], dtype=np.float32), word)[0]) > 0.95


def test_oklab_of_white_and_black() -> None:
    assert to_oklab(np.array([1.0, 1.0, 1.0])) == pytest.approx([1.0, 0.0, 0.0], abs=1e-4)
    assert to_oklab(np.array([0.0, 0.0, 0.0])) == pytest.approx([0.0, 0.0, 0.0], abs=1e-6)


def test_hex_colours_are_named_by_their_look() -> None:
    assert basic_colour("#0a10ee") == "blue"


def test_an_unknown_colour_raises() -> None:
    with pytest.raises(UserError, match="octarine"):
        rgb_of("octarine")


def test_a_blue_disc_is_blue() -> None:
    frame = frame_of(with_disc((36, 88, 208)))
    named = is_named(frame, "blue")
    rows, columns = named.shape
    assert named[int(120 / 288 * rows), int(100 / 384 * columns)]
    assert not named[int(95 / 288 * rows), int(285 / 384 * columns)]


@given(st.tuples(*[st.floats(0, 1, width=32)] * 3))
def test_every_pixel_has_exactly_one_name(rgb: tuple[float, float, float]) -> None:
    assert 0 <= int(basic_names(np.array([rgb], dtype=np.float32))[0]) < len(BASIC_COLOURS)
