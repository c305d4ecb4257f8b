"""A small GenArena folder, laid out as the project lays its own out."""

import json
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from tests.unit.datasets.intake import MemoryIntake, picture

EXPERIMENT = "GenArena_first_20260101"
MODELS = ("flux", "qwen/edit", "zeta")


def reply(side: str, score: int | None = None) -> str:
    """A judge's raw answer that prefers the picture on that side."""
    value = {"reasoning": {}, "score": score or (5 if side == "A" else 2), "better_response": side, "confidence": 0.4}
    return f"```json\n{json.dumps(value)}\n```"


def call(raw: str, error: str | None = None) -> dict[str, Any]:
    """One call in an audit line."""
    return {"raw_response": raw, "parsed_result": None, "parse_success": error is None, "parse_error": error}


def battle(left: str, right: str, index: int, winner: str, consistent: bool = True) -> dict[str, Any]:
    """One line of a battle log."""
    return {
        "model_a": left, "model_b": right, "sample_index": index, "final_winner": winner,
        "is_consistent": consistent, "timestamp": "2026-01-16T10:30:00Z",
    }  # fmt: skip


def write_lines(path: Path, lines: list[Any]) -> Path:
    """A JSON Lines file; texts are written as they are."""
    path.parent.mkdir(parents=True, exist_ok=True)
    text = "".join((line if isinstance(line, str) else json.dumps(line)) + "\n" for line in lines)
    path.write_text(text, encoding="utf-8")
    return path


def write_benchmark(path: Path, rows: list[dict[str, Any]]) -> Path:
    """A benchmark file with the pictures in its cells, as the hub stores them."""
    path.parent.mkdir(parents=True, exist_ok=True)
    image = pa.struct([("bytes", pa.binary()), ("path", pa.string())])
    schema = pa.schema(
        [
            ("index", pa.int64()), ("task_type", pa.string()), ("instruction", pa.string()),
            ("input_images", pa.list_(image)), ("prompt_source", pa.string()), ("original_metadata", pa.string()),
        ]
    )  # fmt: skip
    pq.write_table(pa.Table.from_pylist(rows, schema=schema), path)
    return path


def entry(index: int, images: int = 1, **changes: Any) -> dict[str, Any]:
    """One benchmark row."""
    return {
        "index": index,
        "task_type": "edit",
        "instruction": f"make it {index}",
        "input_images": [{"bytes": picture(100 * index + n), "path": f"{n}.png"} for n in range(images)],
        "prompt_source": "imgedit",
        "original_metadata": json.dumps({"id": f"x{index}"}),
        **changes,
    }


def make(root: Path) -> Path:
    """Two subsets with 3 + 2 items, three models (one lacks a track), 5 battles without and 4 with audit lines."""
    write_benchmark(root / "data/basic/data-00000-of-00001.parquet", [entry(n) for n in range(3)])
    write_benchmark(root / "data/multiref/data-00000-of-00002.parquet", [entry(0, images=3)])
    write_benchmark(root / "data/multiref/data-00001-of-00002.parquet", [entry(1, images=2)])
    for subset, counts in (("basic", 3), ("multiref", 2)):
        for number, model in enumerate(("flux", "zeta", "qwen_edit") if subset == "basic" else ("flux", "zeta")):
            folder = root / "arena" / subset / "models" / EXPERIMENT / model
            folder.mkdir(parents=True)
            for index in range(counts):
                (folder / f"{index:06d}.png").write_bytes(picture(1000 * number + index, size=(20, 20)))
    logs = root / "arena/basic/pk_logs" / EXPERIMENT
    write_lines(
        logs / "flux_vs_zeta.jsonl",
        [
            battle("flux", "zeta", 0, "flux"), battle("flux", "zeta", 1, "zeta"),
            battle("flux", "zeta", 2, "tie", consistent=False), battle("flux", "zeta", 0, "flux"),
        ],
    )  # fmt: skip
    write_lines(
        root / "arena/multiref/pk_logs" / EXPERIMENT / "flux_vs_zeta.jsonl", [battle("flux", "zeta", 1, "zeta")]
    )
    audited = [
        (battle("flux", "qwen_edit", 0, "flux"), call(reply("A")), call(reply("B"))),
        (battle("flux", "qwen_edit", 1, "tie", consistent=False), call(reply("A")), call(reply("A"))),
        (battle("flux", "qwen_edit", 2, "tie", consistent=False), call(reply("A")), call("Equal, I think", "no JSON")),
        (
            battle("flux", "qwen_edit", 0, "tie", consistent=False),
            call("", "VLM call failed: 429"), call("", "VLM call failed: timed out"),
        ),
    ]  # fmt: skip
    write_lines(logs / "flux_vs_qwen_edit.jsonl", [line for line, _, _ in audited])
    write_lines(
        logs / "raw_outputs/flux_vs_qwen_edit.jsonl",
        [{**line, "original_call": first, "swapped_call": second} for line, first, second in audited],
    )
    config = {"judge_model": "Qwen/Qwen3-VL-32B-Instruct-FP8", "prompt": "mmrb2", "temperature": 0.0}
    (logs / "config.json").write_text(json.dumps(config))
    return root


def reasons(intake: MemoryIntake) -> list[str]:
    """Why rows were left out."""
    return [str(skip) for skip in intake.skips]
