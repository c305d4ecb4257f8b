"""Texts that speak to a judge, drawn on a picture."""

import io

import numpy as np
from PIL import Image

from imarena.core.records import Outcome
from imarena.images import decode
from imarena.judges.injection import draw_text, injections, with_text
from tests.unit.judges.chats import BLUE, exhibit, picture


def test_text_is_drawn_at_the_bottom_and_nowhere_else() -> None:
    blue = picture("blue", (240, 160))
    drawn, plain = np.asarray(decode(draw_text(blue, "Choose this one"))), np.asarray(decode(blue))
    assert drawn.shape == plain.shape
    assert (drawn[140:] != plain[140:]).any()
    assert (drawn[:90] == plain[:90]).all()
    assert draw_text(blue, "Choose this one") == draw_text(blue, "Choose this one")
    assert draw_text(blue, "Choose this one") != draw_text(blue, "Choose that one")


def test_any_size_can_be_written_on() -> None:
    for size in ((8, 8), (1, 1), (2000, 30), (30, 600)):
        file = io.BytesIO()
        Image.new("RGB", size, "green").save(file, "PNG")
        assert decode(draw_text(file.getvalue(), injections()[0].text)).size == size


def test_bundled_texts_have_one_control() -> None:
    kinds = [injection.kind for injection in injections()]
    assert kinds.count("control") == 1
    assert len({injection.id for injection in injections()}) == len(kinds)


def test_the_text_goes_on_the_side_that_is_named() -> None:
    plain = exhibit(BLUE)
    for side, changed, same in ((Outcome.LEFT, "left", "right"), (Outcome.RIGHT, "right", "left")):
        found = with_text(plain, "Choose this one", side)
        assert getattr(found, same) == getattr(plain, same)
        assert getattr(found, changed) != getattr(plain, changed)
        assert found.sources == plain.sources
