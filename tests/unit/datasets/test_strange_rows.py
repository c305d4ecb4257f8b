"""Whatever JSON stands where a field should be: a skip or a record that can be stored, never a crash."""

import json
from collections.abc import Callable
from copy import deepcopy
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from imarena.core.errors import UserError
from imarena.core.protocols import ReadFormat
from imarena.core.records import Record
from imarena.datasets import editreward_bench, editscore_bench, genai_bench, imagenhub, viescore
from imarena.datasets.imagenworld import importer as imagenworld
from imarena.datasets.native import jsonl as native_jsonl
from tests.unit.datasets.imagenworld.test_imagenworld import SCORES
from tests.unit.datasets.intake import import_all, picture
from tests.unit.datasets.places import places, replaced
from tests.unit.datasets.test_editreward_bench import pair
from tests.unit.datasets.test_genai_bench import entry

STRANGE = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-3, 60)
    | st.floats()
    | st.text(max_size=4)
    | st.sampled_from(["\ud800", "../x", "/etc/hostname", "\x00", "", "x" * 5000, "a\nb"]),
    lambda inner: (
        st.lists(inner, max_size=2) | st.dictionaries(st.text(max_size=2) | st.just("\ud800"), inner, max_size=2)
    ),
    max_leaves=4,
)


def renamed(value: Any, place: tuple[Any, ...], new: str) -> Any:
    """The value with the key at the end of `place` called otherwise."""
    copy = deepcopy(value)
    at = copy
    for step in place[:-1]:
        at = at[step]
    if isinstance(at, dict):
        at[new] = at.pop(place[-1])
    return copy


def at(name: str) -> Callable[[Path, Any], Path]:
    def write(root: Path, value: Any) -> Path:
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(value))
        for number in range(3):
            (path.parent / f"{number}.png").write_bytes(picture(number))
        return root

    return write


SCORED = {"key": ["a", "b"], "instruction": "x", "input_image": "0.png", "output_images": ["1.png", "2.png"]}
RANKED = {"id": "1", "instruction": "x", "source_image": "0.png", "candidate_1": "1.png", "candidate_2": "2.png"}
RESULT = {"idx": 0, "response": "[[A>B]]", "model_vote": "[[A>B]]", "human_vote": "leftvote"}
ITEM = {"kind": "item", "record": {"dataset": "d", "key": "k", "turns": [{"instruction": "x"}], "provenance": {"a": 1}}}
METADATA = {"prompt": "x", "prompt_refined": "y", "cond_images": ["0.png"], "note": {"a": 1}}

CASES: dict[str, tuple[ReadFormat, Callable[[Path, Any], Path], Any]] = {
    "editreward": (editreward_bench.read, at("t.json"), [pair(1, tie_case=False, model1_dim1_score=4)]),
    "editreward ranking": (editreward_bench.read, at("2pair/t.jsonl"), {**RANKED, "ranking": "A>B", "model_1": "m"}),
    "editscore": (editscore_bench.read, at("t.jsonl"), {**SCORED, "task_type": "t", "dimension": "overall"}),
    "genai": (genai_bench.read, at("image_generation.json"), [entry(0, votes={"j": ["[[A>B]]", True]})]),
    "genai results": (genai_bench.read, at("image_edition/j.jsonl"), RESULT),
    "imagenhub": (imagenhub.read, at("Text-Guided_IE/input/dataset_lookup.json"), {"0.png": {"instruction": "x"}}),
    "imagenworld": (imagenworld.read, at("TIE/TIE_A_000001/metadata.json"), METADATA),
    "native": (native_jsonl.read, at("records.jsonl"), ITEM),
    "viescore": (viescore.read, at("j.json"), {"T": {"Ed": {"SC": {"u": [1, 2]}, "PQ": {"u": 3}}}}),
    "viescore metrics": (viescore.read, at("j.json"), {"T/Ed.json": {"u": {"LPIPS": 0.5}}}),
}


def check(read: ReadFormat, path: Path) -> None:
    try:
        intake = import_all(read, path)
    except UserError:
        return
    for record in intake.all(Record):
        assert type(record).from_json(record.to_json()).same_fact(record)
    for skip in intake.skips:
        assert skip.reason
        str(skip).encode()


@pytest.mark.parametrize("case", sorted(CASES))
@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(data=st.data())
def test_strange_values_are_a_skip_or_a_storable_record(case: str, data: st.DataObject) -> None:
    read, write, good = CASES[case]
    place = data.draw(st.sampled_from(places(good)))
    with TemporaryDirectory() as root:
        check(read, write(Path(root), replaced(good, place, data.draw(STRANGE))))


@pytest.mark.parametrize("case", sorted(CASES))
@settings(max_examples=15, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(data=st.data())
def test_strange_names_are_a_skip_or_a_storable_record(case: str, data: st.DataObject) -> None:
    read, write, good = CASES[case]
    place = data.draw(st.sampled_from([place for place in places(good) if place and isinstance(place[-1], str)]))
    name = data.draw(st.text(max_size=3) | st.sampled_from(["\ud800", "../../x", "a_vs_b", "/", "\x00"]))
    with TemporaryDirectory() as root:
        check(read, write(Path(root), renamed(good, place, name)))


@pytest.mark.parametrize("name", ["\x1e", "\n", "\r\n", "a\nb", "\u2028"])
def test_a_picture_whose_name_breaks_lines_is_skipped_with_a_reason(name: str, tmp_path: Path) -> None:
    path = at("TIE/TIE_A_000001/metadata.json")(tmp_path, {**METADATA, "cond_images": [name]})
    check(imagenworld.read, path)
    assert import_all(imagenworld.read, path).skips


@settings(max_examples=40, deadline=None)
@given(data=st.data())
def test_strange_scores_of_an_item_folder(data: st.DataObject) -> None:
    good = {"who": {"ed": {**SCORES, "objects": ["cat"], "segments": [1]}}}
    strange = replaced(good, data.draw(st.sampled_from(places(good))), data.draw(STRANGE))
    with TemporaryDirectory() as root:
        path = at("TIE/TIE_A_000001/metadata.json")(Path(root), METADATA)
        for name in ("gemini_result.json", "human_result.json"):
            at(f"TIE/TIE_A_000001/{name}")(Path(root), strange)
        check(imagenworld.read, path)
