"""Whatever JSON a stranger puts where a field should be: a skip or a record that can be stored, never a crash."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from imarena.core.errors import UserError
from imarena.core.protocols import ReadFormat
from imarena.core.records import Record
from imarena.datasets import geditbench_v2, imgedit, mmrb2, vcreward
from imarena.datasets.genarena import importer as genarena
from tests.unit.datasets import test_geditbench_v2, test_imgedit, test_mmrb2, test_vcreward
from tests.unit.datasets.genarena.genarena_sample import battle, call, reply, write_lines
from tests.unit.datasets.intake import import_all
from tests.unit.datasets.places import places, replaced

STRANGE = st.recursive(
    st.none() | st.booleans() | st.integers(-3, 9) | st.floats() | st.text(max_size=4) | st.just("\ud800") | st.just("../x"),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.sampled_from(["key", "id", "model", "error"]), inner, max_size=2),
    max_leaves=4,
)  # fmt: skip


def lines_at(name: str) -> Callable[[Path, Any], Path]:
    def write(root: Path, value: Any) -> Path:
        return write_lines(root / name, [json.dumps(value)])

    return write


def json_at(name: str) -> Callable[[Path, Any], Path]:
    def write(root: Path, value: Any) -> Path:
        (root / name).write_text(json.dumps(value))
        return root / name

    return write


AUDIT = {**battle("a", "b", 0, "a"), "original_call": call(reply("A")), "swapped_call": call(reply("B"))}
RESULT = test_geditbench_v2.result("k_000001", "a", "b", "Image A", "raw")
PAIR = test_vcreward.row(0, "Image A", source_image="s.png", edited_images=["a.png", "b.png"])
ENTRIES = {"1": {"id": "animal/1.jpg", "prompt": "x", "edit_type": "add"}}
PREDICTIONS = {"pairs": test_mmrb2.PAIRS[:1]}

CASES: dict[str, tuple[ReadFormat, Callable[[Path, Any], Path], Any]] = {
    "audit": (genarena.read, lines_at("pk_logs/e_20260101/raw_outputs/x.jsonl"), AUDIT),
    "result": (geditbench_v2.read, lines_at("eval_if/r.jsonl"), RESULT),
    "candidates": (
        geditbench_v2.read,
        lines_at("metadata.jsonl"),
        {"key": "k", "candidates": [{"model": "m", "image": "i"}]},
    ),
    "vcreward": (vcreward.read, lines_at("metadata.jsonl"), PAIR),
    "imgedit": (imgedit.read, json_at("basic_edit.json"), ENTRIES),
    "mmrb2": (mmrb2.read, json_at("edit.json"), PREDICTIONS),
}


@pytest.mark.parametrize("case", sorted(CASES))
@settings(max_examples=50, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_strange_json_is_a_skip_or_a_storable_record(case: str, tmp_path: Path, data: st.DataObject) -> None:
    read, write, good = CASES[case]
    path = data.draw(st.sampled_from(places(good)))
    file = write(tmp_path, replaced(good, path, data.draw(STRANGE)))
    try:
        intake = import_all(read, file)
    except UserError:
        return
    for record in intake.all(Record):
        assert type(record).from_json(record.to_json()).same_fact(record)
    for skip in intake.skips:
        assert skip.reason
        assert "\n" not in str(skip)


@settings(max_examples=30, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_strange_answers_and_predictions_too(tmp_path: Path, data: st.DataObject) -> None:
    root = test_mmrb2.make(tmp_path, test_mmrb2.PAIRS)
    says = {
        "emu-edit_0": {"forward": [{"judgement": "A", "evaluator": "e"}], "reverse": [{"judgement": "B"}]},
        "x": {"forward": []},
    }
    path = data.draw(st.sampled_from(places(says)[1:]))
    (root / "predictions.json").write_text(json.dumps(replaced(says, path, data.draw(STRANGE))))
    for record in import_all(mmrb2.read, root).all(Record):
        record.to_json()
    edits = tmp_path / "imgedit"
    if not edits.exists():
        test_imgedit.make(edits)
    (edits / "out/ultraedit/result.json").write_text(json.dumps({"1082": data.draw(STRANGE)}))
    for record in import_all(imgedit.read, edits).all(Record):
        record.to_json()
