"""Bad input of `imarena pvc`, through the command line: every case has a stated result, and none ends in a traceback."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

from imarena.preferences import read_pair_file
from tests.command import Imarena
from tests.small_data.pair_scenes import DAMAGE, Pixels, edited, scene, write_arena

EDITORS = tuple(DAMAGE)


def arena(folder: Path, outputs: dict[str, Pixels], instruction: str = "make the tile blue") -> None:
    """One item with these outputs, by editor."""
    write_arena(folder, items=1)
    line = json.loads((folder / "items.jsonl").read_text()) | {"instruction": instruction}
    (folder / "items.jsonl").write_text(json.dumps(line) + "\n")
    for editor in EDITORS:
        file = folder / f"outputs/{editor}/k0.png"
        if editor in outputs:
            Image.fromarray(outputs[editor]).save(file)
        else:
            file.unlink()


def made(imarena: Imarena, command: str, *options: str) -> Any:
    imarena("init", "ws")
    imarena("-w", "ws", "import", "table", "arena")
    return imarena("--json", "-w", "ws", "pvc", command, *options).json


SOURCE = scene(0)
CASES: dict[str, tuple[str, dict[str, Pixels], dict[str, int]]] = {
    "an instruction that names nothing": (
        "Surprise me!", {"clean": SOURCE, "slight": SOURCE}, {"region_names_nothing": 2}
    ),
    "a region that covers nothing": (
        "make the tile blue", {"clean": SOURCE, "slight": SOURCE}, {"region_covers_nothing": 2}
    ),
    "a region that covers everything": (
        "make the tile blue", {"clean": 255 - SOURCE, "slight": np.roll(255 - SOURCE, 3, axis=0)},
        {"region_covers_everything": 2},
    ),
    "identical outputs": (
        "make the tile blue", {name: edited(SOURCE, 0.0) for name in EDITORS}, {"fewer_than_two_candidates": 1}
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", CASES)
def test_pairs_state_why_there_are_none(case: str, imarena: Imarena, tmp_path: Path) -> None:
    instruction, outputs, skipped = CASES[case]
    arena(tmp_path / "arena", outputs, instruction)
    report = made(imarena, "pairs", "pairs")
    assert report["skipped"] == {**skipped, "fewer_than_two_candidates": 1}
    assert report["pairs"] == 0
    ties = tmp_path / "pairs" / "ties.jsonl"
    assert report["ties"] == (1 if case == "identical outputs" else 0)
    assert len(read_pair_file(ties) if ties.exists() else ()) == report["ties"]
    shown = imarena("-w", "ws", "pvc", "pairs", "again").out
    assert next(iter(skipped)) in shown
    if not report["ties"]:
        assert "There are no pairs in pairs" in imarena("pvc", "export", "vcreward", "pairs", "bench", code=2).err


@pytest.mark.parametrize("case", [name for name in CASES if name != "identical outputs"])
def test_regions_state_why_there_are_none(case: str, imarena: Imarena, tmp_path: Path) -> None:
    instruction, outputs, skipped = CASES[case]
    arena(tmp_path / "arena", outputs, instruction)
    report = made(imarena, "regions")
    assert (report["items"], report["regions"], report["skipped"]) == (1, 0, dict.fromkeys(skipped, 1))


def test_outputs_of_two_sizes_are_scaled_and_the_pair_says_so(imarena: Imarena, tmp_path: Path) -> None:
    large = np.asarray(Image.fromarray(edited(SOURCE, 45.0)).resize((150, 130)))
    arena(tmp_path / "arena", {"clean": edited(SOURCE, 0.0), "slight": edited(SOURCE, 3.0), "broken": large})
    report = made(imarena, "pairs", "pairs")
    assert report["pairs"] >= 1
    for pair in read_pair_file(tmp_path / "pairs"):
        for side in ("left", "right"):
            told = pair.provenance[side]
            assert isinstance(told, dict)
            assert told["resized"] is (told["editor"] == "broken")


def test_the_small_judge_ties_identical_outputs_and_compares_two_sizes(imarena: Imarena, tmp_path: Path) -> None:
    large = np.asarray(Image.fromarray(edited(SOURCE, 45.0)).resize((150, 130)))
    clean = edited(SOURCE, 0.0)
    arena(tmp_path / "arena", {"clean": clean, "slight": clean, "broken": large})
    imarena("init", "ws")
    imarena("-w", "ws", "import", "table", "arena")
    imarena("-w", "ws", "battle", "--judge", "pvc-small", "--yes")
    board = imarena("--json", "-w", "ws", "rank", "--judge", "pvc-small", "--dimension", "visual_consistency").json
    figures = {line["model"]: (line["wins"], line["losses"], line["ties"]) for line in board["models"]}
    assert figures == {"clean": (1, 0, 1), "slight": (1, 0, 1), "broken": (0, 2, 0)}
