"""`agree --from`, `align --from` and `align --against` read tables whose columns have other names."""

import json
from pathlib import Path

import pytest

from tests.command import Imarena

RATINGS = [(f"u{n}", rater, (n * 7 + shift) % 5 + 1) for n in range(12) for shift, rater in enumerate(("ann", "007"))]
SCORES = [(f"u{n}", n * 7 % 5 + 0.5) for n in range(12)]
THEIRS = "unit=picture,rater=annotator,value=mark"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """The same tables with our names and with others."""
    rows = "".join(f"{unit},{rater},{value},m\n" for unit, rater, value in RATINGS)
    (tmp_path / "ours.csv").write_text("unit,rater,value,model\n" + rows)
    (tmp_path / "theirs.csv").write_text("picture,annotator,mark,model\n" + rows)
    lines = [{"picture": unit, "annotator": rater, "mark": value, "model": "m"} for unit, rater, value in RATINGS]
    (tmp_path / "theirs.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    rows = "".join(f"{unit},m,clip,{score}\n" for unit, score in SCORES)
    (tmp_path / "our_scores.csv").write_text("unit,model,judge,score\n" + rows)
    (tmp_path / "their_scores.csv").write_text("picture,model,metric_name,number\n" + rows)
    return tmp_path


@pytest.mark.parametrize("name", ["theirs.csv", "theirs.jsonl"])
def test_agree(imarena: Imarena, folder: Path, name: str) -> None:
    ours = imarena("--json", "agree", "--from", "ours.csv", "--leave-one-out").json
    found = imarena("--json", "agree", "--from", name, "--columns", THEIRS, "--leave-one-out").json
    assert json.dumps(found).replace(name, "ours.csv") == json.dumps(ours)


def test_agree_on_votes(imarena: Imarena, folder: Path) -> None:
    votes = "".join(f"u{n},a,b,{'left' if n % 3 else 'right'},{rater}\n" for n in range(9) for rater in ("x", "y"))
    (folder / "v.csv").write_text("item,left,right,winner,rater\n" + votes)
    (folder / "w.csv").write_text("item,model_a,model_b,winner,judge_id\n" + votes)
    columns = ("--columns", "left=model_a", "--columns", "right=model_b,rater=judge_id")
    found = imarena("--json", "agree", "--from", "w.csv", *columns).json
    assert json.dumps(found).replace("w.csv", "v.csv") == json.dumps(imarena("--json", "agree", "--from", "v.csv").json)


def test_align_renames_in_the_table_that_has_the_column(imarena: Imarena, folder: Path) -> None:
    words = ("--rounds", 0, "--json")
    ours = imarena("align", "--from", "our_scores.csv", "--against", "ours.csv", *words).json
    more = ("--columns", THEIRS, "--columns", "judge=metric_name,score=number")
    found = imarena("align", "--from", "their_scores.csv", "--against", "theirs.csv", *more, *words).json
    assert found["groups"] == ours["groups"]
    assert found["conclusion"] == ours["conclusion"]


def test_wrong_names_are_one_clear_message(imarena: Imarena, folder: Path) -> None:
    missing = imarena("agree", "--from", "theirs.csv", code=2).err
    assert "--columns unit=NAME,value=NAME" in missing
    assert "no column 'pictur'" in imarena("agree", "--from", "theirs.csv", "--columns", "unit=pictur", code=2).err
    assert "Did you mean 'picture'?" in imarena("agree", "--from", "theirs.csv", "--columns", "unit=pictur", code=2).err
    assert "--columns takes NAME=VALUE" in imarena("agree", "--from", "theirs.csv", "--columns", "unit", code=2).err
    imarena("init", "w")
    for command in ("agree", "align"):
        assert "--columns needs a table." in imarena("-w", "w", command, "--columns", "unit=x", code=2).err
