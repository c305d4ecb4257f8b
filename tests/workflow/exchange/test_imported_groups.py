"""`--by` takes any column of the table that items were imported from: boards, agreement and alignment."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests import samples
from tests.command import Imarena

ITEMS, EDITORS, RATERS = 12, ("old", "new"), ("ann", "bob")
Rank = Callable[..., Any]


def artist(n: int) -> str:
    return "Ann" if n % 3 else "Bob"


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two editors: `new` wins on items of Ann, `old` on those of Bob. Half of the items have a year."""
    root = tmp_path_factory.mktemp("groups")
    own = root / "own"
    rows = ["key,instruction,source,task,artist,year,licence"]
    votes, ratings = ["key,left,right,winner,rater"], ["key,editor,rater,scale,quality"]
    for n in range(ITEMS):
        (own / "pics").mkdir(parents=True, exist_ok=True)
        (own / "pics" / f"{n}.png").write_bytes(samples.png(n))
        rows.append(f"k{n},make it red,pics/{n}.png,color,{artist(n)},{1990 + n % 2 if n < 6 else ''},CC0")
        better = "new" if artist(n) == "Ann" else "old"
        for number, editor in enumerate(EDITORS):
            (own / "outputs" / editor).mkdir(parents=True, exist_ok=True)
            (own / "outputs" / editor / f"k{n}.png").write_bytes(samples.png(100 + 10 * n + number))
            ratings += [f"k{n},{editor},{rater},1-5,{4 if editor == better else 2}" for rater in RATERS]
        votes += [f"k{n},old,new,{'right' if better == 'new' else 'left'},{rater}" for rater in RATERS]
    (own / "items.csv").write_text("\n".join(rows) + "\n")
    (own / "votes.csv").write_text("\n".join(votes) + "\n")
    (own / "ratings.csv").write_text("\n".join(ratings) + "\n")
    run = Imarena(root)
    run("init", "arena")
    run("-w", "arena", "import", "table", "own")
    return root


@pytest.fixture
def rank(made: Path) -> Rank:
    return lambda *words, code=0: Imarena(made)("-w", "arena", "--json", *words, code=code)


def best(board: dict[str, Any]) -> str:
    return str(min(board["models"], key=lambda model: model["rank"])["model"])


def test_a_board_for_each_value_of_a_column(rank: Rank) -> None:
    document = rank("rank", "--by", "artist", "--interval", "none").json
    boards = {board["scope"]["artist"]: board for board in document["boards"]}
    assert {name: best(board) for name, board in boards.items()} == {"Ann": "new", "Bob": "old"}
    assert {name: board["n_battles"] for name, board in boards.items()} == {"Ann": 16, "Bob": 8}
    assert {model["coverage"] for board in boards.values() for model in board["models"]} == {1.0}


def test_battles_whose_item_has_no_value_are_counted(rank: Rank) -> None:
    document = rank("rank", "--by", "year", "--interval", "none").json
    assert [board["scope"]["year"] for board in document["boards"]] == ["1990", "1991"]
    assert "12 battles have no year and are on no board." in document["boards"][0]["warnings"]


def test_fields_of_an_item_that_are_not_labels(rank: Rank) -> None:
    assert [board["scope"] for board in rank("rank", "--by", "licence").json["boards"]] == [{"licence": "CC0"}]
    assert [board["scope"] for board in rank("rank", "--by", "language").json["boards"]] == [{"language": "en"}]


def test_an_unknown_column_lists_those_of_the_items(rank: Rank) -> None:
    ended = rank("rank", "--by", "artst", code=2)
    assert "No column 'artst'" in ended.err
    assert "The items have: artist, language, licence, year." in ended.err


def test_boards_that_weigh_people_and_a_judge(made: Path, rank: Rank) -> None:
    rank("judge", "--judge", "builtin")
    document = rank("rank", "--method", "corrected", "--interval", "none", "--by", "artist").json
    assert sorted(board["scope"]["artist"] for board in document["boards"]) == ["Ann", "Bob"]


def test_agreement_and_alignment_by_the_same_column(rank: Rank) -> None:
    agreement = rank("agree", "--what", "ratings", "--by", "artist", "--rounds", "0").json
    assert sorted({group["group"]["artist"] for group in agreement["groups"]}) == ["Ann", "Bob"]
    votes = rank("agree", "--what", "votes", "--by", "artist", "--rounds", "0").json
    assert sorted({group["group"]["artist"] for group in votes["groups"]}) == ["Ann", "Bob"]
    rank("judge", "--judge", "builtin")
    aligned = rank("align", "--judge", "builtin", "--by", "artist", "--rounds", "0").json
    assert {group["group"]["artist"] for group in aligned["scores"]["groups"]} == {"Ann", "Bob"}
    assert {group["group"]["artist"] for group in aligned["verdicts"]["groups"]} == {"Ann", "Bob"}
