"""`imarena pvc evaluate` on GenAI-Bench, against the same figures counted from the file itself."""

import json
from pathlib import Path

import pytest

from tests.command import Imarena

SIDES = {"leftvote": "[[A>B]]", "rightvote": "[[B>A]]"}


@pytest.mark.slow
def test_strict_and_paper_compat_accuracy_of_recorded_verdicts(imarena: Imarena, shared_data: Path) -> None:
    rows = json.loads((shared_data / "genai_bench" / "image_generation.json").read_text())
    imarena("init", "a")
    imarena("-w", "a", "import", "genai_bench", shared_data / "genai_bench")
    judges = ("gpt4o", "blip2", "random")
    chosen = [word for name in judges for word in ("--judge", name)]
    result = imarena("--json", "-w", "a", "pvc", "evaluate", *chosen, "--against", "random", "--rounds", "100").json
    found = {row["judge"]: row for row in result["rows"] if row["task"] == "all"}
    decided = [row for row in rows if row["human_vote"] in SIDES]
    for judge in judges:
        said = [row["votes"][judge][0] for row in decided]
        right = sum(vote == SIDES[row["human_vote"]] for vote, row in zip(said, decided, strict=True))
        clear = sum(vote in SIDES.values() for vote in said)
        assert found[judge]["pairs"] == len(decided)
        assert found[judge]["people_ties"] == len(rows) - len(decided)
        assert found[judge]["strict"]["value"] == pytest.approx(right / len(decided))
        assert found[judge]["paper_compat"]["value"] == pytest.approx(right / clear)
        assert found[judge]["ties"] + sum(found[judge]["failures"].values()) == len(decided) - clear
    gaps = {each["judge"]: each["difference"] for each in result["differences"]}
    assert gaps["gpt4o (pairwise)"]["low"] > 0
