"""The things that an instruction names: which the detector knows, and what it sees of them in an edit."""

import asyncio
import io
from functools import cache
from importlib.resources import files

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image, ImageFilter

from imarena.core.protocols import Exhibit, Verdict
from imarena.judges.builtin.judge import BuiltinJudge, BuiltinSettings
from imarena.judges.builtin.things import appearance_score, change_contrast, vanished_share
from imarena.vision.nouns import KINDS, kinds_in_phrase
from imarena.vision.score_raster import RASTER_SIZE, detection_scores

QUIET = BuiltinJudge(BuiltinSettings(ocr="never"))
NOTHING = np.zeros((RASTER_SIZE, RASTER_SIZE), np.float32)


def spot(row: int, column: int, value: float = 0.8) -> np.ndarray[tuple[int, int], np.dtype[np.float32]]:
    there = NOTHING.copy()
    there[row : row + 3, column : column + 3] = value
    return there


@cache
def photograph(name: str, width: int) -> Image.Image:
    data = (files("imarena.studio") / "photographs" / f"{name}.jpg").read_bytes()
    picture = Image.open(io.BytesIO(data)).convert("RGB")
    return picture.resize((width, round(picture.height * width / picture.width)), Image.Resampling.LANCZOS)


@pytest.mark.parametrize(
    ("phrase", "kinds"),
    [
        ("dog", {"dog"}),
        ("two small brown dogs on a chair", {"dog"}),
        ("slice of pizza", {"pizza"}),
        ("herd of sheep", {"sheep"}),
        ("bottle of wine", {"bottle"}),
        ("traffic lights", {"traffic light"}),
        ("stop sign", {"stop sign"}),
        ("teddy bear", {"teddy bear"}),
        ("wolf", {"dog"}),
        ("three puppies", {"dog"}),
        ("dog barking near the shore", {"dog"}),
        ("clock tower", set()),
        ("dog house", set()),
        ("sign", set()),
        ("statue of liberty", {"person"}),
        ("", set()),
    ],
)
def test_the_head_noun_decides(phrase: str, kinds: set[str]) -> None:
    assert {KINDS[at] for at in kinds_in_phrase(phrase)} == kinds


@given(st.text(max_size=60))
def test_any_words_can_be_read(phrase: str) -> None:
    assert all(0 <= at < len(KINDS) for at in kinds_in_phrase(phrase))


def test_appearing_vanishing_and_hitting_are_told_apart() -> None:
    here, there = spot(5, 5), spot(25, 30)
    assert appearance_score(NOTHING, here) == pytest.approx(0.8)
    assert appearance_score(here, np.roll(here, 1, axis=1)) <= 0.0, "a thing that moved by a cell is not new"
    assert vanished_share(here, NOTHING) == 1.0
    assert vanished_share(here, here) == pytest.approx(0.0)
    assert vanished_share(here, there) == 1.0
    assert change_contrast(here, 20.0 * (here > 0)) > 0.0 > change_contrast(here, 20.0 * (there > 0))


@pytest.mark.parametrize(("name", "kind"), [("astronaut", "person"), ("coffee", "cup"), ("dogs", "dog")])
def test_the_bundled_network_sees_what_a_photograph_shows(name: str, kind: str) -> None:
    seen = detection_scores(np.asarray(photograph(name, 512), np.float32) / 255)
    assert seen.shape == (len(KINDS), RASTER_SIZE, RASTER_SIZE)
    assert 0.0 <= seen.min() <= seen.max() <= 1.0
    assert kind in {KINDS[at] for at in np.argsort(-seen.max(axis=(1, 2)))[:2]}


def with_pasted(name: str, box: tuple[float, float, float, float]) -> Image.Image:
    """Mountains with a part of another photograph in them, its border softened."""
    ground, other = photograph("mountains", 512).copy(), photograph(name, 512)
    width, height = other.size
    part = other.crop((round(box[0] * width), round(box[1] * height), round(box[2] * width), round(box[3] * height)))
    part = part.resize((200, 200), Image.Resampling.LANCZOS)
    soft = Image.new("L", part.size, 0)
    soft.paste(255, (12, 12, 188, 188))
    ground.paste(part, (150, 130), soft.filter(ImageFilter.GaussianBlur(5)))
    return ground


def look(instruction: str, output: Image.Image) -> Verdict:
    encoded = []
    for picture in (photograph("mountains", 512), output):
        buffer = io.BytesIO()
        picture.save(buffer, "PNG")
        encoded.append(buffer.getvalue())
    return asyncio.run(QUIET.judge(Exhibit(instruction, encoded[1], sources=(encoded[0],))))


def test_the_thing_that_was_asked_for_is_worth_more_than_another() -> None:
    astronaut, cup = with_pasted("astronaut", (0.1, 0, 0.8, 0.7)), with_pasted("coffee", (0.15, 0, 0.85, 1))
    scores = {
        (asked, shown): look(f"Add a {asked}.", picture).score or 0.0
        for asked in ("woman", "cup")
        for shown, picture in (("woman", astronaut), ("cup", cup))
    }
    # The same two pictures, the other thing asked for: only what is recognised can turn them round.
    assert scores["woman", "woman"] - scores["woman", "cup"] > scores["cup", "woman"] - scores["cup", "cup"] + 20


def test_what_was_seen_is_told() -> None:
    verdict = look("Add a woman.", with_pasted("astronaut", (0.1, 0, 0.8, 0.7)))
    checks = verdict.reasons["checks"]
    assert isinstance(checks, list)
    assert isinstance(checks[0], dict)
    things = checks[0]["things"]
    assert isinstance(things, dict)
    assert isinstance(things["appeared"], float)
    assert things["appeared"] > 0.3
