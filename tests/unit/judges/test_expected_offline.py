"""The expected-object list that needs no model."""

import asyncio
import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from imarena.core.protocols import Exhibit
from imarena.core.records import Status
from imarena.judges.expected_objects import MAX_OBJECTS, ExpectedObject, objects_from_reasons, reasons_from_objects
from imarena.judges.expected_offline import OfflineLister, offline_objects
from imarena.language import things_in
from imarena.studio import entries

GONE = " (should not be present)"
TABLE = {
    "change the frisbee into a ball": ["ball", f"frisbee{GONE}"],
    "remove the vase from the table": [f"vase{GONE}", "table"],
    "Remove the vase and the lamp.": [f"vase{GONE}", f"lamp{GONE}"],
    "make the blue car red": ["red car"],
    "Change the number of blue balls to 2.": ["2 blue balls"],
    "Change the trees to palm trees": ["palm trees"],
    "make the plate empty": ["empty plate"],
    "let the dog yawn": ["dog"],
    "Change the title of the book to 'POEMS'.": ['text "POEMS"', "book"],
    "Replace the text 'STOP' on the sign with 'OPEN'.": ['text "OPEN"', f'text "STOP"{GONE}', "sign"],
    "A poster with a star that says 'JAZZ' and a banner that says 'FRIDAY'": [
        'text "JAZZ"', 'text "FRIDAY"', "poster", "star", "banner",
    ],
    "A cat sitting on a red sofa beside a lamp, no people": ["cat", "red sofa", "lamp", f"people{GONE}"],
    "Remove the haze over the meadow.": [f"haze{GONE}", "meadow"],
    "Change the background to a beach and keep the dog": ["background: beach", "dog"],
    "Brighten the picture": [],
    "": [],
}  # fmt: skip


@pytest.mark.parametrize(("instruction", "listed"), TABLE.items())
def test_a_known_instruction_has_a_known_list(instruction: str, listed: list[str]) -> None:
    assert [str(each) for each in offline_objects(instruction)] == listed


@given(st.text(max_size=400))
def test_any_text_gives_a_short_list_that_can_be_stored(text: str) -> None:
    found = offline_objects(text)
    assert len(found) <= MAX_OBJECTS
    assert len({each.name.casefold() for each in found}) == len(found)
    assert all(each.name.strip() and len(each.name) <= 200 for each in found)
    assert objects_from_reasons(reasons_from_objects(found)) == found


def test_a_list_of_another_form_is_no_list() -> None:
    assert objects_from_reasons({"objects": ["cat", {"name": 3}, {"name": "dog", "present": False}]}) == (
        ExpectedObject("dog", present=False),
    )
    assert objects_from_reasons({}) == ()


def test_the_bundled_benchmark_is_read_but_where_it_speaks_of_the_picture_alone() -> None:
    instructions = [step.instruction for entry in entries() for step in entry.steps]
    silent = [text for text in instructions if not offline_objects(text)]
    assert len(silent) <= 6, silent
    assert all("photo" in text or "picture" in text or "detail" in text or "horizon" in text for text in silent), silent


def test_every_instruction_of_real_users_names_something(shared_data: Path) -> None:
    file = shared_data / "imagenmuseum" / "Text-Guided_IE" / "dataset_lookup.json"
    asked = [entry["instruction"] for entry in json.loads(file.read_text(encoding="utf-8")).values()]
    assert len(asked) == 179
    assert [text for text in asked if not offline_objects(text)] == []


# ---------------------------------------------------------------- things


@pytest.mark.parametrize(
    ("sentence", "things"),
    [
        ("a photo of two dogs and three cats playing in the park", ("two dogs", "three cats", "park")),
        ("a cup of coffee on the kitchen table", ("cup of coffee", "kitchen table")),
        ("an oil painting of a meadow", ("meadow",)),
        ("sunset over mountains", ("sunset", "mountains")),
        ("Make it dark blue and very bright", ()),
        ("把猫换成狗", ()),
    ],
)
def test_noun_phrases_are_found(sentence: str, things: tuple[str, ...]) -> None:
    assert things_in(sentence) == things


@given(st.text(max_size=300))
def test_things_are_words_of_the_sentence(text: str) -> None:
    lowered = text.lower().replace("’", "'")
    for thing in things_in(text):
        assert all(word in lowered for word in thing.split())


@pytest.mark.parametrize(
    "instruction",
    ["Mach das Auto rot", "Remplace le chien par un chat", "Añade un sombrero al perro", "将狗换成猫", "Сделай небо красным",
     "Supprime la voiture", "Haz el cielo azul", "Vervang de hond door een kat"],
)  # fmt: skip
def test_another_language_is_not_taken_for_things(instruction: str) -> None:
    """Its words would be ticked off by raters and shown to judges."""
    assert offline_objects(instruction) == ()
    said = asyncio.run(OfflineLister().judge(Exhibit(instruction=instruction, left=b"")))
    assert said.status is Status.UNPARSABLE
    assert "English only" in said.error


def test_quoted_words_of_another_language_are_still_listed() -> None:
    assert [str(each) for each in offline_objects('Schreibe "Hallo Welt" auf das Schild')] == ['text "Hallo Welt"']


@pytest.mark.parametrize(
    "instruction", ["Add a café table", "Make it a La La Land poster", "sunset", "Put 'der Hund' on the sign"]
)
def test_english_with_foreign_words_is_read(instruction: str) -> None:
    said = asyncio.run(OfflineLister().judge(Exhibit(instruction=instruction, left=b"")))
    assert said.status is Status.OK
