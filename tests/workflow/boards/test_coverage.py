"""Coverage is over all items of a data set, whichever way outputs came in; missing outputs count under their topic."""

import csv
import json
from pathlib import Path
from typing import Any

import pytest

from imarena.reports.rank_tables import COVERAGE
from tests.command import ROOT, Imarena
from tests.samples import png

ITEMS = {"k0": "people", "k1": "people", "k2": "people", "k3": "places", "k4": "places"}
BETA = ("k0", "k1", "k3")
"""Items that beta delivered: two of three about people, one of two about places."""


def write_folder(root: Path, *, votes: bool = True) -> Path:
    """items.csv with five items, all outputs of alpha and gamma, three of beta, and a vote for alpha on each pair."""
    for name, keys in (("alpha", ITEMS), ("gamma", ITEMS), ("beta", BETA)):
        folder = root / "outputs" / name
        folder.mkdir(parents=True)
        for number, key in enumerate(keys):
            (folder / f"{key}.png").write_bytes(png(hash_of(name) + number))
    (root / "sources").mkdir()
    for number, key in enumerate(ITEMS):
        (root / "sources" / f"{key}.png").write_bytes(png(500 + number))
    rows = [(key, f"change {key}", f"sources/{key}.png", topic) for key, topic in ITEMS.items()]
    write_csv(root / "items.csv", ("key", "instruction", "source", "topic"), rows)
    if votes:
        cast = [(key, "alpha", "gamma", "left" if number % 2 else "right") for number, key in enumerate(ITEMS)]
        cast += [(key, "beta", other, "left") for key in BETA for other in ("alpha", "gamma")]
        cast += [("k0", "alpha", "beta", "left")]
        write_csv(root / "votes.csv", ("key", "left", "right", "winner"), cast)
    return root


def hash_of(name: str) -> int:
    return {"alpha": 0, "gamma": 100, "beta": 200}[name]


def write_csv(path: Path, columns: tuple[str, ...], rows: Any) -> None:
    with path.open("w", newline="", encoding="utf-8") as file:
        table = csv.writer(file)
        table.writerow(columns)
        table.writerows(rows)


def coverage(board: Any) -> dict[str, float]:
    return {model["model"]: model["coverage"] for model in board["models"]}


@pytest.fixture
def arena(imarena: Imarena, tmp_path: Path) -> str:
    write_folder(tmp_path / "data")
    imarena("init", "a")
    imarena("-w", "a", "import", "table", "data")
    return "a"


def test_outputs_that_were_imported_by_table(imarena: Imarena, arena: str) -> None:
    board = imarena("-w", arena, "--json", "rank", "--source", "people", "--rounds", "0").json
    assert coverage(board) == pytest.approx({"alpha": 1.0, "gamma": 1.0, "beta": 0.6})
    status = imarena("-w", arena, "--json", "status").json
    assert status["coverage"] == pytest.approx(coverage(board))
    shown = imarena("-w", arena, "status").out
    assert "60% (3 of 5)" in shown
    assert COVERAGE in " ".join(shown.split())


def test_people_are_not_asked_about_a_missing_output(imarena: Imarena, arena: str) -> None:
    """Beta lacks two outputs. No rater was to compare them, so that the board left nothing out."""
    words = ("-w", arena, "rank", "--source", "people", "--rounds", "0")
    board = imarena(*words, "--json").json
    assert (board["excluded"], board["n_battles"]) == ({}, 12)
    shown = imarena(*words)
    assert "left out" not in shown.out + shown.err
    lost = imarena(*words, "--json", "--missing", "loss").json
    assert lost["n_battles"] == 16


def test_coverage_has_one_definition(imarena: Imarena, arena: str) -> None:
    words = ("-w", arena, "rank", "--source", "people", "--rounds", "0")
    assert f"coverage: {COVERAGE}" in " ".join(imarena(*words).out.split())
    imarena("-w", arena, "report", "report.html")
    imarena("-w", arena, "site", "public", "--licence", "CC-BY-4.0")
    texts = [(imarena.folder / file).read_text(encoding="utf-8") for file in ("report.html", "public/about.html")]
    texts += [(ROOT / "docs" / page).read_text(encoding="utf-8") for page in ("index.md", "guide/ranking.md")]
    assert [COVERAGE in " ".join(text.split()) for text in texts] == [True] * 4


def test_a_table_of_votes_does_not_show_which_outputs_are_missing(imarena: Imarena, tmp_path: Path) -> None:
    rows = [(f"k{number}", "alpha", "beta", "left" if number % 3 else "right") for number in range(12)]
    rows += [(f"k{number}", "alpha", "gamma", "tie") for number in range(3)]
    write_csv(tmp_path / "votes.csv", ("item", "left", "right", "winner"), rows)
    words = ("rank", "--from", "votes.csv", "--rounds", "0")
    assert set(coverage(imarena(*words, "--json").json).values()) == {None}
    shown = imarena(*words)
    assert "overage" not in shown.out + shown.err
    stated = [(*row, "refused" if row[0] in ("k1", "k2", "k4") and row[2] == "beta" else "ok") for row in rows]
    write_csv(tmp_path / "votes.csv", ("item", "left", "right", "winner", "status_right"), stated)
    # gamma has an output for each of its three items, beta for 9 of 12
    assert coverage(imarena(*words, "--json").json) == {"alpha": 1.0, "beta": 0.75, "gamma": 1.0}
    assert "Coverage differs between models, from 75% ('beta') to 100%" in " ".join(imarena(*words).err.split())


def test_an_item_that_nobody_delivered_counts_too(imarena: Imarena, tmp_path: Path) -> None:
    root = write_folder(tmp_path / "data")
    for name in ("alpha", "gamma"):
        (root / "outputs" / name / "k4.png").unlink()
    votes = [line for line in (root / "votes.csv").read_text().splitlines() if not line.startswith("k4,")]
    (root / "votes.csv").write_text("\n".join(votes) + "\n")
    imarena("init", "a")
    imarena("-w", "a", "import", "table", "data")
    board = imarena("-w", "a", "--json", "rank", "--source", "people", "--rounds", "0").json
    assert coverage(board) == pytest.approx({"alpha": 0.8, "gamma": 0.8, "beta": 0.6})


def test_grouped_boards_have_the_coverage_of_their_group(imarena: Imarena, arena: str) -> None:
    words = ("-w", arena, "--json", "rank", "--source", "people", "--by", "topic", "--rounds", "0")
    boards = {board["scope"]["topic"]: board for board in imarena(*words).json["boards"]}
    assert coverage(boards["people"]) == pytest.approx({"alpha": 1.0, "gamma": 1.0, "beta": 2 / 3})
    assert coverage(boards["places"]) == pytest.approx({"alpha": 1.0, "gamma": 1.0, "beta": 0.5})


def test_missing_outputs_count_under_their_topic(imarena: Imarena, arena: str) -> None:
    words = ("-w", arena, "--json", "rank", "--source", "people", "--by", "topic", "--rounds", "0")

    def losses(*more: str) -> dict[str, int]:
        boards = imarena(*words, *more).json["boards"]
        return {
            board["scope"]["topic"]: next(model["losses"] for model in board["models"] if model["model"] == "beta")
            for board in boards
        }

    assert losses() == {"people": 1, "places": 0}
    # k2 (people) and k4 (places) are missing: each is lost against alpha and gamma
    assert losses("--missing", "loss") == {"people": 3, "places": 2}


def test_outputs_of_a_folder_editor(imarena: Imarena, tmp_path: Path) -> None:
    root = write_folder(tmp_path / "data", votes=False)
    for name in ("alpha", "gamma", "beta"):
        (root / "outputs" / name).rename(tmp_path / name)
    imarena("init", "a")
    imarena("-w", "a", "import", "table", "data")
    imarena("-w", "a", "edit", "-e", "folder:alpha", "-e", "folder:beta", "--yes", code=None)
    imarena("-w", "a", "battle", "--judge", "builtin", "--yes")
    board = imarena("-w", "a", "--json", "rank", "--judge", "builtin", "--rounds", "0").json
    assert coverage(board) == pytest.approx({"alpha": 1.0, "beta": 0.6})
    assert imarena("-w", "a", "--json", "status").json["coverage"] == pytest.approx({"alpha": 1.0, "beta": 0.6})


def test_outputs_that_compare_brought_in(imarena: Imarena, tmp_path: Path) -> None:
    root = write_folder(tmp_path / "data", votes=False)
    words = (
        "-w",
        "a",
        "compare",
        root / "outputs/alpha",
        root / "outputs/beta",
        "--items",
        root / "items.csv",
        "--yes",
    )
    imarena(*words, code=None)
    board = imarena("-w", "a", "--json", "rank", "--judge", "builtin", "--rounds", "0").json
    assert coverage(board) == pytest.approx({"alpha": 1.0, "beta": 0.6})
    assert json.loads(imarena("-w", "a", "--json", "status").out)["coverage"] == pytest.approx(coverage(board))
