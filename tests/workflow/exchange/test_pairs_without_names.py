"""Pairs whose models are not named, and two samples of one editor: imported, judged, aligned, never ranked."""

import io
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from PIL import Image, ImageDraw

from tests.command import Imarena

PAIRS = 4


def picture(number: int, box: tuple[int, int, int] | None = None) -> bytes:
    """A gradient that differs by `number`, and on it a box of a colour: what an edit adds."""
    ramp = np.linspace(40, 200, 96, dtype=np.float64)[None, :, None] * np.ones((64, 1, 3))
    image = Image.fromarray((ramp + 7 * number).clip(0, 255).astype(np.uint8))
    if box is not None:
        ImageDraw.Draw(image).rectangle((20, 16, 60, 48), fill=box)
    buffer = io.BytesIO()
    image.save(buffer, "PNG")
    return buffer.getvalue()


def triple(number: int) -> list[bytes]:
    """A source and two edits of it."""
    return [picture(number), picture(number, (200, 30, 30)), picture(number, (30, 30, 200))]


def cells(number: int) -> list[dict[str, Any]]:
    return [{"bytes": data, "path": None} for data in triple(number)]


def parquet(path: Path, rows: list[dict[str, Any]]) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    pq.write_table(pa.Table.from_pylist(rows), path)
    return path


WORDS = "add a red box in the middle"


def genai_bench(folder: Path) -> None:
    votes = ("leftvote", "rightvote", "tievote", "bothbad_vote")
    rows = []
    for number in range(PAIRS):
        source, left, right = cells(number + PAIRS)  # not the pictures of the other formats
        rows.append({
            "instruct_prompt": WORDS, "source_image": source, "left_output_image": left, "right_output_image": right,
            "vote_type": votes[number],
        })  # fmt: skip
    parquet(folder / "image_edition" / "test_v1.parquet", rows)


def vcreward(folder: Path) -> None:
    rows = []
    for number in range(PAIRS):
        source, left, right = cells(number)
        rows.append({
            "key": f"subject_add_pair_{number}", "instruction": WORDS, "source_image": source,
            "edited_images": [left, right], "winner": "Image A" if number % 2 else "Image B", "task": "subject_add",
        })  # fmt: skip
    parquet(folder / "data" / "test.parquet", rows)


def editscore_bench(folder: Path) -> None:
    rows = []
    for number in range(PAIRS):
        source, left, right = cells(number)
        rows.append({
            "key": [f"a{number}", f"b{number}"], "instruction": WORDS, "input_image": source,
            "output_images": [left, right], "task_type": "subject_add", "dimension": "overall",
        })  # fmt: skip
    parquet(folder / "data" / "test.parquet", rows)


def editreward_bench(folder: Path) -> None:
    rows = []
    for number in range(PAIRS):
        source, left, right = cells(number)
        rows.append({
            "id": str(number), "instruction": WORDS, "source_image": source, "candidate_1": left, "candidate_2": right,
            "ranking": ("A>B", "B>A", "A=B", "A>B")[number],
        })  # fmt: skip
    parquet(folder / "2pair" / "test.parquet", rows)


def mmrb2(folder: Path, models: tuple[str, str] = ("one-model", "one-model")) -> None:
    """Every pair is two samples of one editor; three annotators."""
    pairs = []
    for number in range(PAIRS):
        for name, data in zip(("source", "left", "right"), triple(number), strict=True):
            (folder / "images").mkdir(parents=True, exist_ok=True)
            (folder / "images" / f"{number}_{name}.png").write_bytes(data)
        pairs.append({
            "id": f"pair-{number}",
            "prompt_content": [["text", WORDS], ["image", f"images/{number}_source.png"]],
            "response_a": {"model_name": models[0], "response_content": [["image", f"images/{number}_left.png"]]},
            "response_b": {"model_name": models[1], "response_content": [["image", f"images/{number}_right.png"]]},
            "chosen": "A",
            "human_annotations": [6, 5, 2] if number % 2 else [1, 2, 6],
        })  # fmt: skip
    (folder / "edit.json").write_text(json.dumps({"pairs": pairs}))


FORMATS: dict[str, Callable[[Path], None]] = {
    "genai_bench": genai_bench,
    "vcreward": vcreward,
    "editscore_bench": editscore_bench,
    "editreward_bench": editreward_bench,
    "mmrb2": mmrb2,
}


@pytest.mark.parametrize("name", FORMATS)
def test_pairs_are_judged_and_aligned_and_stay_off_boards(name: str, imarena: Imarena, tmp_path: Path) -> None:
    FORMATS[name](tmp_path / "files")
    imarena("init", "a")
    imarena("-w", "a", "import", name, tmp_path / "files")
    battle = imarena("-w", "a", "--json", "battle", "--judge", "builtin").json
    assert battle["reports"][0]["judgments"] == {"ok": 2 * PAIRS}
    found = imarena("-w", "a", "--json", "align", "--judge", "builtin", "--against", "people").json["verdicts"]
    (group,) = found["groups"]
    raters = 3 if name == "mmrb2" else 1
    assert (group["n"], group["n_votes"], group["n_missing"]) == (raters * PAIRS, raters * PAIRS, 0)
    for figure in ("four_way_accuracy", "decisive_accuracy", "tie_calibrated_accuracy"):
        assert group[figure] is not None, figure
    assert group["tie_calibrated_accuracy"] >= group["three_way_accuracy"]
    board = imarena("-w", "a", "--json", "rank", code=None)
    assert board.code == 2 or board.json["models"] == []
    again = imarena("-w", "a", "--json", "battle", "--judge", "builtin", "--sampler", "voted").json
    assert (again["reports"][0]["planned"], again["reports"][0]["done_before"]) == (0, 2 * PAIRS)


def test_each_annotator_and_the_majority(imarena: Imarena, tmp_path: Path) -> None:
    mmrb2(tmp_path / "files")
    predictions = {f"pair-{n}": {way: [{"judgement": "A", "evaluator": "j"}] for way in ("forward", "reverse")}
                   for n in range(PAIRS)}  # fmt: skip
    predictions["pair-3"]["reverse"] = []
    del predictions["pair-2"]
    # The reverse answer names the first image shown, which is the right one.
    for number in (0, 1):
        predictions[f"pair-{number}"]["reverse"] = [{"judgement": "B", "evaluator": "j"}]
    (tmp_path / "files" / "predictions.json").write_text(json.dumps(predictions))
    imarena("init", "a")
    imarena("-w", "a", "import", "mmrb2", tmp_path / "files")
    command = ("-w", "a", "--json", "align", "--judge", "j", "--against", "people", "--by", "rater")
    found = imarena(*command).json["verdicts"]
    by_rater = {group["group"]["rater"]: group for group in found["groups"]}
    accuracy = {name.removeprefix("mmrb2-annotator-"): g["four_way_accuracy"] for name, g in by_rater.items()}
    assert accuracy == {"1": 0.5, "2": 0.5, "3": 0.5}
    for group in by_rater.values():
        assert group["n_votes"] == group["n"] + group["n_missing"] == PAIRS
        assert group["missing"] == {"no verdict on the battle": 1, "one order is missing": 1}
    (whole,) = found["majority"]["groups"]
    # Pair 0: right, right, left; pair 1: left, left, right. The judge says left on both.
    assert (whole["four_way_accuracy"], whole["n"], whole["n_missing"]) == (0.5, 2, 2)
    assert "most votes" in found["majority"]["rule"]


def test_named_and_unnamed_pairs_in_one_workspace(imarena: Imarena, tmp_path: Path) -> None:
    """`full` fights named editors and what people voted on; `per-pair` named editors only."""
    mmrb2(tmp_path / "named", ("left-model", "right-model"))
    genai_bench(tmp_path / "unnamed")
    imarena("init", "a")
    imarena("-w", "a", "import", "mmrb2", tmp_path / "named")
    imarena("-w", "a", "import", "genai_bench", tmp_path / "unnamed")

    def planned(*sampler: str) -> int:
        return int(imarena("-w", "a", "--json", "battle", "--dry-run", *sampler).json["estimates"][0]["new"])

    assert planned() == 2 * 2 * PAIRS
    assert planned("--sampler", "voted") == 2 * 2 * PAIRS
    assert planned("--sampler", "per-pair:10") == 2 * PAIRS


def test_a_sampler_without_votes_says_so(imarena: Imarena, tmp_path: Path) -> None:
    mmrb2(tmp_path / "files")
    imarena("init", "a")
    imarena("-w", "a", "import", "mmrb2", tmp_path / "files")
    ended = imarena("-w", "a", "battle", "--sampler", "per-pair:3", code=2)
    assert "A battle needs two editors or a pair that people voted on; 1 editor can be shown" in ended.err


@pytest.mark.parametrize("names", [("gpt4o", "test_v1"), ("zz", "data"), ("a", "b")])
def test_the_documented_folder_of_genai_bench_imports_in_any_file_order(
    names: tuple[str, str], imarena: Imarena, tmp_path: Path
) -> None:
    judge, data = names
    genai_bench(tmp_path / "files")
    folder = tmp_path / "files" / "image_edition"
    (folder / "test_v1.parquet").rename(folder / f"{data}.parquet")
    labels = ["[[A>B]]", "[[A=B]]", "[[ A = B ]]", "[[A=B]]"]
    lines = [{"idx": n, "response": f"so {label}", "model_vote": label} for n, label in enumerate(labels)]
    (folder / f"{judge}.jsonl").write_text("\n".join(json.dumps(line) for line in lines))
    generation = [{"idx": 0, "prompt": "a cat", "human_vote": "leftvote", "votes": {judge: ["[[A>B]]", True]}}]
    (tmp_path / "files" / "image_generation.json").write_text(json.dumps(generation))
    imarena("init", "a")
    found = imarena("-w", "a", "--json", "import", "genai_bench", tmp_path / "files").json
    assert found["skipped"] == 0
    new = {kind.lower().rstrip("s"): number for kind, number in found["new"].items()}
    assert (new["item"], new["vote"], new["judgment"]) == (PAIRS + 1, PAIRS + 1, PAIRS + 1)
    verdicts = imarena("-w", "a", "--json", "align", "--judge", judge, "--against", "people").json["verdicts"]
    (group,) = verdicts["groups"]
    # left is right; A=B is wrong for rightvote and right for tievote and bothbad_vote; generation is right
    assert group["four_way_accuracy"] == 4 / 5
    assert group["confusion"]["both_bad"] == {"equal": 1}
    assert "equal" in group["confusion"]["tie"]
