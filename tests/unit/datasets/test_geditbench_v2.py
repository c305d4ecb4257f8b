"""GEditBench v2: Parquet, gallery, candidate lists and pair results."""

import json
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from imarena.core.errors import UserError
from imarena.core.records import Item, Judgment, Order, Outcome, Output, Reply, Status
from imarena.datasets.geditbench_v2 import read
from tests.unit.datasets.genarena.genarena_sample import write_lines
from tests.unit.datasets.intake import MemoryIntake, import_all, picture

KEYS = ("background_change_000000", "subject_add_000001", "hybrid_000002")
MODELS = ("BAGEL", "FLUX_vs_2")


def table(path: Path, rows: list[dict[str, Any]]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    pq.write_table(pa.Table.from_pylist(rows), path)


def row(number: int, **changes: Any) -> dict[str, Any]:
    image = {"bytes": picture(number), "path": None}
    return {"key": KEYS[number], "instruction": f"do {number}", "source_image": image, **changes}


def result(key: str, left: str, right: str, winner: Any, raw: Any = None, *, shown: bool = True) -> dict[str, Any]:
    paths = [f"/bench/images/edited/{model}/{key}.png" for model in (left, right)]
    results: dict[str, Any] = {
        "winner": winner,
        "raw_responses": {"pair-judge": {"type": "text", "value": raw, "meta": {}}},
    }
    if shown:
        results["input_dict"] = {"instruction": "do it", "input_image": "s.png", "edited_images": paths}
    return {"key": f"{key}_pair_{left}_vs_{right}", "results": results}


def gallery(root: Path) -> None:
    for number, model in enumerate(MODELS):
        folder = root / "gallery" / model
        folder.mkdir(parents=True)
        for index, key in enumerate(KEYS):
            (folder / f"{key}.png").write_bytes(picture(100 * number + index + 10))


def make(root: Path) -> Path:
    table(root / "data/test-0.parquet", [row(number) for number in range(3)])
    gallery(root)
    write_lines(
        root / "metadata.jsonl",
        [{"key": KEYS[0], "candidates": [{"model": "BAGEL", "image": f"gallery/BAGEL/{KEYS[0]}.png"}]}],
    )
    left, right = MODELS
    write_lines(
        root / "res/eval_if_metadata/20260401.jsonl",
        [
            result(KEYS[0], left, right, "Image A", '{"winner": "Image A"}'),
            result(KEYS[1], left, right, "image_b", '{"winner": "B"}', shown=False),
            result(KEYS[2], left, right, "Failed", "no idea"),
        ],
    )
    write_lines(
        root / "res/eval_vc_metadata/20260401.jsonl",
        [result(KEYS[0], left, right, "Tie"), result(KEYS[1], left, right, "Failed")],
    )
    return root


def sides(intake: MemoryIntake) -> list[tuple[str, str, str]]:
    editors = {output.output_id: output.editor or "" for output in intake.all(Output)}
    return [(editors[j.left_id], editors[j.right_id or ""], j.dimension) for j in intake.all(Judgment)]


def test_everything_is_imported_and_counted(tmp_path: Path) -> None:
    intake = import_all(read, make(tmp_path), judge="gpt-4o")
    assert intake.skips == []
    assert [(item.key, item.task, item.family) for item in intake.all(Item)] == [
        (KEYS[0], "background_change", "global"),
        (KEYS[1], "subject_add", "local"),
        (KEYS[2], "hybrid", "hybrid"),
    ]
    assert len(intake.all(Output)) == 6
    assert all(output.image is not None for output in intake.all(Output))
    assert [(j.status, j.preference, j.order) for j in intake.all(Judgment)] == [
        (Status.OK, Outcome.LEFT, Order.LEFT_FIRST),
        (Status.OK, Outcome.RIGHT, Order.LEFT_FIRST),
        (Status.UNPARSABLE, None, Order.LEFT_FIRST),
        (Status.OK, Outcome.TIE, Order.LEFT_FIRST),
        (Status.API_ERROR, None, Order.LEFT_FIRST),
    ]
    dimensions = ["instruction_following"] * 3 + ["visual_consistency"] * 2
    assert sides(intake) == [(*MODELS, dimension) for dimension in dimensions]
    assert len(intake.all(Reply)) == 3


def test_importing_twice_gives_the_same_ids_and_a_grown_log_keeps_them(tmp_path: Path) -> None:
    root = make(tmp_path)
    intake = import_all(read, root)
    before = {judgment.judgment_id for judgment in intake.all(Judgment)}
    outputs = {output.output_id for output in intake.all(Output)}
    intake.take(read(root, intake, {}))
    assert intake.skips == []
    assert {judgment.judgment_id for judgment in intake.all(Judgment)} == before
    assert {output.output_id for output in intake.all(Output)} == outputs
    with (root / "res/eval_vc_metadata/20260401.jsonl").open("a") as file:
        file.write(json.dumps(result(KEYS[2], *MODELS, "Tie")) + "\n")
    assert before < {judgment.judgment_id for judgment in import_all(read, root).all(Judgment)}


def test_names_are_never_guessed_from_a_key_that_reads_two_ways(tmp_path: Path) -> None:
    line = result("a_pair_b_000001", "x_vs_y", "z", "Image A", shown=False)
    write_lines(tmp_path / "eval_vq/r.jsonl", [line])
    alone = import_all(read, tmp_path)
    assert alone.all(Judgment) == []
    assert "can be read in" in str(alone.skips[0])
    for model in ("x_vs_y", "z"):
        (tmp_path / "gallery" / model).mkdir(parents=True)
        (tmp_path / "gallery" / model / "a_pair_b_000001.png").write_bytes(picture(3))
    known = import_all(read, tmp_path)
    assert known.skips == []
    assert sides(known) == [("x_vs_y", "z", "visual_quality")]


def test_names_with_slashes_are_read_whole(tmp_path: Path) -> None:
    write_lines(tmp_path / "r.jsonl", [result(KEYS[0], "Qwen/Edit", "a_vs_b", "Tie")])
    intake = import_all(read, tmp_path)
    assert intake.skips == []
    assert sides(intake) == [("Qwen/Edit", "a_vs_b", "overall")]


def test_results_alone_bring_items_and_outputs_without_pixels(tmp_path: Path) -> None:
    write_lines(tmp_path / "results.jsonl", [result(KEYS[0], *MODELS, "Image B")])
    intake = import_all(read, tmp_path, dimension="visual_quality", dataset="mine")
    assert intake.skips == []
    (item,) = intake.all(Item)
    assert (item.dataset, item.instruction, item.absent) == ("mine", "do it", (f"the source image of {KEYS[0]}",))
    assert [output.image for output in intake.all(Output)] == [None, None]
    assert sides(intake) == [(*MODELS, "visual_quality")]


def test_a_list_with_instructions_and_sources_needs_no_parquet(tmp_path: Path) -> None:
    gallery(tmp_path)
    (tmp_path / "source").mkdir()
    lines = []
    for number, key in enumerate(KEYS):
        (tmp_path / "source" / f"{key}.png").write_bytes(picture(number))
        candidates = [{"model": model, "image": f"gallery/{model}/{key}.png"} for model in MODELS]
        lines.append({"key": key, "instruction": "x", "source_image": f"source/{key}.png", "candidates": candidates})
    write_lines(tmp_path / "metadata.jsonl", lines)
    write_lines(tmp_path / "metadata_2026.jsonl", lines[:1])
    intake = import_all(read, tmp_path)
    assert intake.skips == []
    assert [item.absent for item in intake.all(Item)] == [()] * 3
    assert {output.editor for output in intake.all(Output)} == set(MODELS)


def test_bad_rows_are_left_out_with_file_and_row(tmp_path: Path) -> None:
    table(
        tmp_path / "data/t.parquet",
        [row(0), row(0), row(1, source_image={"bytes": b"x", "path": None}), row(2, key="")],
    )
    gallery(tmp_path)
    (tmp_path / "secret.txt").write_text("x")
    write_lines(
        tmp_path / "metadata.jsonl",
        [
            "{", {"key": "nowhere", "candidates": []},
            {"key": KEYS[0], "candidates": [{"model": "M"}, 4, {"model": "../../x", "image": "../outside.png"}]},
        ],
    )  # fmt: skip
    left, right = MODELS
    write_lines(
        tmp_path / "eval_if/r.jsonl",
        [
            result(KEYS[0], left, right, "Image C"), result("nowhere", left, right, "Tie"), {"key": "x"},
            result(KEYS[0], left, right, "Image A", "\ud800"), result(KEYS[0], "../../x", right, "Image A"),
        ],
    )  # fmt: skip
    intake = import_all(read, tmp_path)
    found = [str(skip) for skip in intake.skips]
    for part in (
        f"data/t.parquet, row 1: the key '{KEYS[0]}' appears twice",
        "data/t.parquet, row 2: ",
        "data/t.parquet, row 3: the key is empty",
        "metadata.jsonl, line 1: not JSON",
        "metadata.jsonl, line 2: there is no item 'nowhere'",
        "metadata.jsonl, line 3: a candidate needs model and image",
        "metadata.jsonl, line 3: a candidate is not an object",
        "metadata.jsonl, line 3: the path '../outside.png' leads out of the folder",
        "eval_if/r.jsonl, line 1: unknown outcome 'Image C'",
        "eval_if/r.jsonl, line 2: there is no item 'nowhere'",
        "eval_if/r.jsonl, line 3: expected an object with key and results",
        "eval_if/r.jsonl, line 4: a text holds half of a character pair",
        f"there is no item '{KEYS[1]}'",
    ):
        assert any(part in text for text in found), part
    assert len(intake.all(Item)) == 1
    assert sides(intake) == [("../../x", right, "instruction_following")]


def test_nothing_raises(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="holds nothing of GEditBench v2"):
        import_all(read, tmp_path)
    table(tmp_path / "t.parquet", [{"key": "x"}])
    with pytest.raises(UserError, match="the columns instruction and source_image are missing"):
        import_all(read, tmp_path / "t.parquet")
    assert "are missing" in str(import_all(read, tmp_path).skips[0])
