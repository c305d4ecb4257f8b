"""Train, interrupt, resume, merge, ask the judge, evaluate: the whole path on a tiny random Qwen3-VL."""

import json
import subprocess
import sys
import time
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

pytestmark = [pytest.mark.torch, pytest.mark.slow]

SMALL = (
    "--set", "rank=4", "--set", "alpha=8", "--set", "min_pixels=1024", "--set", "max_pixels=4096", "--set", "epochs=2",
    "--set", "learning_rate=0.01", "--set", "save_every=1", "--device", "cpu",
)  # fmt: skip


def _imarena(folder: Path, *arguments: str, code: int = 0) -> str:
    """A process of its own: torch does not survive a fork."""
    ended = subprocess.run(
        [sys.executable, "-m", "imarena", *arguments], cwd=folder, capture_output=True, text=True, check=False
    )
    assert ended.returncode == code, ended.stderr[-2000:]
    return ended.stdout


@pytest.fixture(scope="module")
def arena(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A workspace, its pairs as chats, and a tiny model."""
    from tests.models.tiny_vision_models import make_qwen3_vl
    from tests.small_data.pair_scenes import write_arena

    folder = tmp_path_factory.mktemp("pvc")
    write_arena(folder / "arena", items=2)
    make_qwen3_vl(folder / "model")
    _imarena(folder, "init", "ws")
    _imarena(folder, "-w", "ws", "import", "table", "arena")
    _imarena(folder, "-w", "ws", "pvc", "pairs", "pairs")
    _imarena(folder, "pvc", "export", "training", "pairs", "chats", "--split", "1,0,0")
    return folder


def _weights(run: Path) -> dict[str, Any]:
    return dict(import_module("safetensors.numpy").load_file(run / "adapter" / "adapter_model.safetensors"))


def test_a_run_killed_and_continued_ends_like_one_that_was_not(arena: Path) -> None:
    train = ("pvc", "train", "chats/train.jsonl")
    report = json.loads(
        _imarena(arena, "--json", *train, "whole", "--model", "model", "--validation", "chats/train.jsonl", *SMALL)
    )
    assert report["complete"]
    assert report["validation_examples"] == report["examples"]
    # killed in the middle
    process = subprocess.Popen(
        [sys.executable, "-m", "imarena", *train, "broken", "--model", "model", *SMALL],
        cwd=arena, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
    )  # fmt: skip
    checkpoints = arena / "broken" / "checkpoints"
    while process.poll() is None and not list(checkpoints.glob("step-*")):
        time.sleep(0.02)
    process.kill()
    process.wait()
    # stopped after one more step, then continued to the end
    _imarena(arena, *train, "broken", "--model", "model", "--stop-after", "1", *SMALL, code=3)
    again = json.loads(_imarena(arena, "--json", *train, "broken", "--model", "model", *SMALL))
    assert 0 < again["resumed_from"] < again["total_steps"]
    whole, broken = _weights(arena / "whole"), _weights(arena / "broken")
    assert whole.keys() == broken.keys()
    assert all((whole[name] == broken[name]).all() for name in whole)
    assert any(abs(value).max() > 0 for name, value in whole.items() if "lora_B" in name)
    refused = _imarena(arena, *train, "whole", "--model", "model", *SMALL, "--set", "rank=8", code=2)
    assert not refused


def test_a_trained_judge_is_merged_asked_in_both_orders_and_evaluated(arena: Path) -> None:
    _imarena(arena, "pvc", "export", "training", "pairs", "four", "--split", "1,0,0", "--per-task", "4")
    _imarena(arena, "pvc", "export", "vcreward", "pairs", "bench", "--split", "1,0,0", "--per-task", "4")
    learn = ("--set", "epochs=40", "--set", "rank=16", "--set", "dropout=0", "--set", "gradient_checkpointing=false")
    report = json.loads(
        _imarena(
            arena, "--json", "pvc", "train", "four/train.jsonl", "learned", "--model", "model", *SMALL, *learn,
            "--set", "save_every=1000", "--validation", "four/train.jsonl",
        )
    )  # fmt: skip
    assert report["loss"] < 0.2
    assert report["validation_examples"] == report["examples"]
    _imarena(arena, "pvc", "merge", "learned", "judge", "--model", "model")
    _imarena(arena, "init", "second")
    _imarena(arena, "-w", "second", "import", "vcreward", "bench")
    judge = ("--judge", "pvc-judge", "--model", "judge", "--option", "max_tokens=24")
    _imarena(arena, "-w", "second", "battle", *judge, "--yes")
    rows = json.loads(_imarena(arena, "--json", "-w", "second", "pvc", "evaluate"))["rows"]
    (row,) = [each for each in rows if each["task"] == "all"]
    assert row["judge"].startswith("pvc-judge/judge@")
    assert (row["scheme"], row["pairs"], row["failures"]) == ("pairwise", report["examples"], {})
    assert row["order_consistency"]["n"] == report["examples"]


def test_the_ablation_trains_one_adapter_per_size(arena: Path) -> None:
    lines = (arena / "chats" / "train.jsonl").read_text().splitlines()
    items = sorted({json.loads(line)["item"] for line in lines})
    for name, item in (("few", items[0]), ("test", items[1])):
        kept = [line for line in lines if json.loads(line)["item"] == item]
        (arena / "chats" / f"{name}.jsonl").write_text("\n".join(kept) + "\n")
    command = ("pvc", "ablation", "chats/few.jsonl", "chats/test.jsonl", "sizes", "--model", "model", *SMALL)
    rows = json.loads(_imarena(arena, "--json", *command, "--size", "1", "--size", "2"))
    assert [row["size"] for row in rows] == [1, 2]
    assert [row["examples"] for row in rows] == [1, 2]
    for row in rows:
        assert 0 <= row["accuracy"]["low"] <= row["accuracy"]["value"] <= row["accuracy"]["high"] <= 1
    same = ("pvc", "ablation", "chats/few.jsonl", "chats/few.jsonl", "sizes", "--model", "model", *SMALL)
    _imarena(arena, *same, "--size", "1", code=2)
    large = ("pvc", "ablation", "chats/few.jsonl", "chats/test.jsonl", "large", "--model", "model", *SMALL)
    _imarena(arena, *large, "--size", "1", "--size", "500", "--size", "1000", code=2)
    assert not (arena / "large").exists(), "refused before the first adapter is trained"
