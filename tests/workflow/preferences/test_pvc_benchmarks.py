"""`imarena pvc evaluate` on the public benchmarks' formats, small files with pixels: what people preferred is known, since
one output of each pair is damaged outside of its edit.
"""

import json
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from tests.command import Imarena
from tests.small_data.pair_scenes import edited, png_bytes, scene

PAIRS = 3
WORDS = "make the tile blue"


def images(number: int) -> tuple[bytes, bytes, bytes]:
    """The source, the edit that kept the rest, and the one that did not."""
    source = scene(number)
    return png_bytes(source), png_bytes(edited(source, 0.0)), png_bytes(edited(source, 40.0, number))


def cell(data: bytes) -> dict[str, Any]:
    return {"bytes": data, "path": None}


def vcreward(folder: Path) -> None:
    rows = []
    for number in range(PAIRS):
        source, good, bad = images(number)
        shown, winner = ([good, bad], "Image A") if number % 2 else ([bad, good], "Image B")
        rows.append({
            "key": f"color_alter_pair_{number}", "instruction": WORDS, "source_image": cell(source),
            "edited_images": [cell(data) for data in shown], "winner": winner, "task": "color_alter",
        })  # fmt: skip
    pq.write_table(pa.Table.from_pylist(rows), folder / "test.parquet")


def mmrb2(folder: Path) -> None:
    pairs = []
    for number in range(PAIRS):
        for name, data in zip(("source", "a", "b"), images(number), strict=True):
            (folder / f"{number}_{name}.png").write_bytes(data)
        pairs.append({
            "id": f"p{number}", "prompt_content": [["image", f"{number}_source.png"], ["text", WORDS]],
            "response_a": {"model_name": "one", "response_content": [["image", f"{number}_a.png"]]},
            "response_b": {"model_name": "two", "response_content": [["image", f"{number}_b.png"]]},
            "chosen": "A", "human_annotations": [6, 5, 2],
        })  # fmt: skip
    (folder / "edit.json").write_text(json.dumps({"pairs": pairs}))


def editreward_bench(folder: Path) -> None:
    rows = []
    for number in range(PAIRS):
        source, good, bad = images(number)
        rows.append({
            "id": f"s{number}", "instruction": WORDS, "source_image": cell(source), "candidate_1": cell(bad),
            "candidate_2": cell(good), "model_1": "one", "model_2": "two", "ranking": "B>A",
        })  # fmt: skip
    pq.write_table(pa.Table.from_pylist(rows), folder / "2pair.parquet")


def editscore_bench(folder: Path) -> None:
    rows = []
    for number in range(PAIRS):
        source, good, bad = images(number)
        rows.append({
            "key": [f"k{number}a", f"k{number}b"], "instruction": WORDS, "input_image": cell(source),
            "output_images": [cell(good), cell(bad)], "task_type": "color", "dimension": "consistency",
        })  # fmt: skip
    pq.write_table(pa.Table.from_pylist(rows), folder / "test.parquet")


def genai_bench(folder: Path) -> None:
    rows = []
    for number in range(PAIRS):
        source, good, bad = images(number)
        rows.append({
            "source_prompt": "a red tile", "target_prompt": "a blue tile", "instruct_prompt": WORDS,
            "source_image": cell(source), "left_output_image": cell(good), "right_output_image": cell(bad),
            "left_model": "one", "right_model": "two", "vote_type": "tievote" if number == 0 else "leftvote",
        })  # fmt: skip
    (folder / "image_edition").mkdir()
    pq.write_table(pa.Table.from_pylist(rows), folder / "image_edition" / "test.parquet")


FORMATS = {"vcreward": vcreward, "mmrb2": mmrb2, "editreward_bench": editreward_bench,
           "editscore_bench": editscore_bench, "genai_bench": genai_bench}  # fmt: skip


@pytest.mark.parametrize("name", FORMATS)
def test_a_benchmark_in_its_public_format_is_imported_judged_and_evaluated(
    name: str, imarena: Imarena, tmp_path: Path
) -> None:
    (tmp_path / "bench").mkdir()
    FORMATS[name](tmp_path / "bench")
    imarena("init", "ws")
    imarena("-w", "ws", "import", name, "bench")
    imarena("-w", "ws", "judge", "--judge", "ssim", "--yes")
    imarena("-w", "ws", "battle", "--judge", "pvc-small", "--sampler", "voted", "--yes")
    result = imarena("--json", "-w", "ws", "pvc", "evaluate", "--against", "ssim", "--rounds", "100").json
    rows = {(row["judge"], row["scheme"]): row for row in result["rows"] if row["task"] == "all"}
    people_ties = 1 if name == "genai_bench" else 0
    for row in rows.values():
        assert (row["pairs"], row["people_ties"], row["failures"]) == (PAIRS - people_ties, people_ties, {})
        assert row["strict"]["value"] == row["paper_compat"]["value"] == 1.0, "the damage is plain"
    assert rows["pvc-small", "pairwise"]["order_consistency"]["value"] == 1.0
    assert rows["ssim", "pointwise"]["order_consistency"]["status"] == "undefined"
    assert [each["judge"] for each in result["differences"]] == ["pvc-small (pairwise)"]
    assert result["differences"][0]["difference"]["value"] == 0.0
