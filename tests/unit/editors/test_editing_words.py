"""Failure modes by their thresholds, the task wrapper, the model cards, the catalog."""

import io

import pytest
from PIL import Image, ImageDraw, ImageEnhance

from imarena.core.errors import UserError
from imarena.core.protocols import EditRequest
from imarena.editors.catalog import EDITOR_KINDS, EDITORS
from imarena.editors.endpoints.http_queue import presets
from imarena.editors.failure_modes import against_reference, against_source
from imarena.editors.model_cards import card_of, model_cards
from imarena.editors.task_words import task_type, wrap_instruction
from imarena.studio import photos
from imarena.studio.photos import photo_bytes

PHOTO = photo_bytes("coffee")


def encoded(image: Image.Image, kind: str = "PNG", **more: int) -> bytes:
    buffer = io.BytesIO()
    image.save(buffer, kind, **more)
    return buffer.getvalue()


def opened(data: bytes = PHOTO) -> Image.Image:
    return Image.open(io.BytesIO(data)).convert("RGB")


def flags(output: bytes, source: bytes = PHOTO, words: str = "Make the cup red.") -> object:
    return against_source(output, source, words)["flags"]


def test_the_input_comes_back() -> None:
    assert flags(PHOTO) == ["unchanged"]
    assert flags(encoded(opened(), "JPEG", quality=90)) == ["unchanged"]
    small = opened().resize((opened().width // 2, opened().height // 2))
    assert flags(encoded(small)) == ["unchanged"]


def test_a_small_edit_is_not_unchanged() -> None:
    image = opened()
    side = image.width // 12
    ImageDraw.Draw(image).rectangle((40, 40, 40 + side, 40 + side), fill=(200, 20, 20))
    assert flags(encoded(image)) == []
    assert flags(encoded(ImageEnhance.Brightness(opened()).enhance(1.25))) == []


@pytest.mark.parametrize("other", [photo.name for photo in photos()][:6])
def test_another_picture_is_a_new_image(other: str) -> None:
    if other == "coffee":
        return
    scaled = opened(photo_bytes(other)).resize(opened().size)
    assert flags(encoded(scaled)) == ["new_image"]


def test_a_picture_that_lost_most_of_its_pixels_has_the_wrong_size() -> None:
    image = ImageEnhance.Brightness(opened()).enhance(1.25)
    half, third = (encoded(image.resize((image.width // n, image.height // n))) for n in (2, 3))
    assert "wrong_size" not in str(flags(encoded(image.resize((image.width * 2, image.height * 2)))))
    assert flags(third) == ["wrong_size"]
    assert flags(half, words="Crop the picture.") == []
    assert against_source(third, PHOTO, "x")["pixel_ratio"] == pytest.approx(1 / 9, abs=0.01)


def test_a_wrong_shape_unless_it_was_asked_for() -> None:
    image = opened()
    narrow = encoded(image.crop((0, 0, image.width * 2 // 3, image.height)))
    assert "wrong_shape" in str(flags(narrow))
    assert "wrong_shape" not in str(flags(narrow, words="Crop it to the left."))
    assert "wrong_shape" not in str(flags(narrow, words="Extend the picture to the right."))
    square = encoded(image.crop((0, 0, image.height, image.height)))
    assert flags(square) == ["new_image", "wrong_shape"]
    assert flags(square, words="Crop it to a square.") == []  # a part of the source is no new image


def test_a_reference_comes_back() -> None:
    again = encoded(opened(), "JPEG", quality=70)
    assert against_reference(again, PHOTO)["flags"] == ["copies_reference"]
    assert against_reference(photo_bytes("dogs"), PHOTO)["flags"] == []


@pytest.mark.parametrize(
    ("sources", "references", "task"),
    [(0, 0, "TIG"), (1, 0, "TIE"), (0, 1, "SRIG"), (1, 1, "SRIE"), (0, 2, "MRIG"), (1, 3, "MRIE")],
)
def test_the_wrapper_knows_the_six_tasks(sources: int, references: int, task: str) -> None:
    request = EditRequest("Paint it blue.", (b"s",) * sources, (b"r",) * references, topic="P")
    assert task_type(request) == task
    text = wrap_instruction(request)
    assert "Paint it blue." in text
    assert "photographs" in text
    assert text.count("is a reference") == references
    assert text.count("the one to change") == sources


def test_every_card_is_whole_and_its_door_exists() -> None:
    cards = {card.name: card for card in model_cards().values()}
    assert len(cards) >= 40
    assert {card.kind for card in cards.values()} == {"closed", "open", "agentic"}
    for card in cards.values():
        assert card.sources, card.name
        if card.adapter is not None:
            assert card.adapter["kind"] in EDITOR_KINDS
            assert "model" in card.adapter
    found = card_of("GPT-Image-1")
    assert found is not None
    assert found.released is not None
    assert found.released.isoformat() == "2025-07-16"
    assert found.in_context is True
    assert card_of("no such model") is None


def test_every_kind_of_the_catalog_loads_but_for_missing_extras() -> None:
    for name in EDITOR_KINDS:
        assert callable(EDITORS.get(name))
    with pytest.raises(UserError, match="Did you mean 'openai-images'"):
        EDITORS.get("openai-image")


def test_queue_presets_are_valid() -> None:
    from imarena.clients.queue_api import QueueTemplate

    assert set(presets()) >= {"fal", "replicate"}
    for preset in presets().values():
        QueueTemplate.model_validate(preset["template"])


def test_a_picture_of_one_colour_is_measured_without_a_warning() -> None:
    """It has no edges to correlate; pytest makes the warning that NumPy would give an error."""
    assert against_source(encoded(Image.new("RGB", (64, 48), "red")), PHOTO, "make it red")["edges"] == 0.0
