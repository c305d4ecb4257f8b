"""Options that have no meaning are refused, counts are integers, and messages have the right number and name."""

import csv
import io
from pathlib import Path

import pytest

from imarena.reports.tables import whole_number
from imarena.storage import init_workspace
from tests.command import Imarena
from tests.workflow.active_elo.routed_arena import assigned, fill

BATTLES = "item,left,right,winner\n1,a,b,left\n2,b,c,right\n3,c,a,tie\n"
SCORES = "unit,model,judge,score\n" + "".join(f"u{n},m,j,{n}\n" for n in range(4))
RATINGS = "unit,rater,value\n" + "".join(f"u{n},{who},{n}\n" for n in range(4) for who in ("x", "y"))


@pytest.fixture
def tables(tmp_path: Path) -> Path:
    for name, text in (("battles.csv", BATTLES), ("scores.csv", SCORES), ("ratings.csv", RATINGS)):
        (tmp_path / name).write_text(text)
    return tmp_path


@pytest.mark.parametrize(
    "words",
    [
        ("rank", "--from", "battles.csv", "--source", "people"),
        ("rank", "--from", "battles.csv", "--judge", "robot"),
        ("rank", "--from", "battles.csv", "--dimension", "quality"),
        ("align", "--from", "scores.csv", "--against", "ratings.csv", "--judge", "j"),
        ("align", "--from", "battles.csv", "--against", "battles.csv", "--judge", "j"),
        ("agree", "--from", "ratings.csv", "--what", "votes"),
    ],
    ids=" ".join,
)
def test_an_option_that_chooses_from_a_workspace_is_refused_with_a_table(
    imarena: Imarena, tables: Path, words: tuple[str, ...]
) -> None:
    *plain, option, _ = words
    assert imarena(*plain).out, tables
    ended = imarena(*words, code=2)
    assert f"{option} chooses from a workspace and has no meaning with --from." in ended.err
    assert f"Leave out {option}" in ended.err


def test_counts_in_csv_are_integers_unless_they_are_fractions(imarena: Imarena, tables: Path) -> None:
    found = list(csv.DictReader(io.StringIO(imarena("rank", "--from", "battles.csv", "--rounds", "0", "--csv").out)))
    counts = [[row[name] for name in ("battles", "wins", "losses", "ties")] for row in found]
    assert sorted(counts) == [["2", "0", "2", "0"], ["2", "1", "0", "1"], ["2", "1", "0", "1"]]
    assert str(whole_number(2.5)) == "2.5"


def test_one_repeat_is_not_one_repeats(imarena: Imarena, tmp_path: Path) -> None:
    with init_workspace(tmp_path / "arena") as workspace:
        fill(workspace, n_items=8)
    words = ("--budget", 10, "--raters", "ann", "--policy", "random", "--repeats", "0.1")
    told = imarena("-w", "arena", "route", "assign", "--out", "sheet.csv", *words).out
    assert "10 battles, 1 repeat, 0 gold" in " ".join(told.split())
    assert assigned(imarena, tmp_path / "arena", tmp_path / "more.csv", *words)["repeats"] == 1


def test_a_table_that_is_not_there_is_named(imarena: Imarena, tmp_path: Path) -> None:
    init_workspace(tmp_path / "arena").close()
    assert (
        "error: gone/items.csv does not exist."
        in imarena("-w", "arena", "import", "table", "gone/items.csv", code=2).err
    )
    (tmp_path / "set").mkdir()
    (tmp_path / "set" / "items.csv").write_text("key,instruction,source\na,make it red,lost.png\nb,make it blue,\n")
    (tmp_path / "set" / "outputs.csv").write_text("key,editor,file\nb,alpha,outputs/b.png\n")
    printed = imarena("-w", "arena", "import", "table", "set", code=3).out
    assert "2 x the file … is not there, such as items.csv, line 2 and outputs.csv, line 2" in printed
    listed = imarena("-w", "arena", "--json", "import", "table", "set", code=3).out
    assert "the file 'lost.png' is not there" in listed
    assert "the file 'outputs/b.png' is not there" in listed
