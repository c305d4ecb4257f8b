"""The board that nobody chose, what a signature holds, and boards that are stored once: through the command line."""

from itertools import combinations
from pathlib import Path
from typing import Any

import pytest

from imarena.core.records import Item, Judgment, Outcome, Output, Ranking, Rater, Record, Turn, Vote
from imarena.core.records.base import moment_text, now
from imarena.storage import Workspace, init_workspace, open_workspace
from imarena.storage.database import writing
from imarena.storage.schema import exclusions
from tests.command import Imarena
from tests.samples import picture_of

EDITORS = ("a", "b", "c")


def fill(workspace: Workspace, votes: int) -> None:
    """12 items, three editors: judge `wide` scores all in the order a, b, c; `narrow` a few; people say c, b, a."""
    records: list[Record] = [Rater(rater_id="ann"), Rater(rater_id="bob")]
    outputs: list[list[Output]] = []
    for n in range(12):
        item = Item(dataset="d", key=f"i{n}", turns=(Turn(instruction="edit"),), family=f"f{n % 2}")
        made = [
            Output(item_id=item.item_id, editor=editor, image=picture_of(workspace, f"{n}{editor}"))
            for editor in EDITORS
        ]
        outputs.append(made)
        records += [item, *made]
        for judge, place, output in [
            *(("wide", place, output) for place, output in enumerate(made)),
            *(("narrow", -place, output) for place, output in enumerate(made) if n < 3),
        ]:
            about: dict[str, Any] = {"item_id": item.item_id, "left_id": output.output_id}
            records.append(Judgment(work_id=f"{judge}{output.output_id}", judge=judge, score=5.0 - place, **about))
    pairs = [pair for made in outputs for pair in combinations(made, 2)]
    for number in range(votes):
        left, right = pairs[number % len(pairs)]
        rater = ("ann", "bob")[number % 2]
        about = {"item_id": left.item_id, "left_id": left.output_id, "right_id": right.output_id}
        records.append(Vote(rater_id=rater, preference=Outcome.RIGHT, idempotency_key=str(number), **about))
    assert not workspace.store.add(records).conflicts


def arena(folder: Path, votes: int = 0, setting: str = "") -> Path:
    with init_workspace(folder) as workspace:
        fill(workspace, votes)
    with (folder / "imarena.toml").open("a", encoding="utf-8") as file:
        file.write(setting)
    return folder


def board(imarena: Imarena, root: Path, *words: object) -> Any:
    return imarena("-w", root, "--json", "rank", "--interval", "none", *words).json


def first(found: Any) -> str:
    return str(found["models"][0]["model"])


def test_one_vote_replaces_no_board_and_thirty_for_each_editor_do(imarena: Imarena, tmp_path: Path) -> None:
    few = board(imarena, arena(tmp_path / "few", votes=1))
    assert (few["settings"]["verdicts"], few["n_battles"], first(few)) == ("judge wide", 36, "a")
    assert few["settings"]["beside"].startswith("1 vote of people (--source people)")
    many = board(imarena, arena(tmp_path / "many", votes=45))
    assert (many["settings"]["verdicts"], many["n_battles"], first(many)) == ("people", 45, "c")


@pytest.mark.parametrize(
    ("setting", "verdicts"),
    [
        ('\n[board]\nsource = "people"\n', "people"),
        ('\n[board]\njudge = "narrow"\n', "judge narrow"),
        ('\n[board]\njudge = "all"\n', "2 judges"),
        ("\n[board]\nmin_battles = 1\n", "people"),
        ('\n[board]\nsource = "judge"\n', "judge wide"),
    ],
)
def test_the_leads_setting_goes_first(imarena: Imarena, tmp_path: Path, setting: str, verdicts: str) -> None:
    assert board(imarena, arena(tmp_path / "a", votes=9, setting=setting))["settings"]["verdicts"] == verdicts


def test_a_judges_board_that_is_the_default_despite_votes_states_why(imarena: Imarena, tmp_path: Path) -> None:
    root = arena(tmp_path / "a", votes=9)
    printed = " ".join(imarena("-w", root, "rank", "--interval", "none").out.split())
    assert (
        "Made from the verdicts of judge wide (default, because people judged fewer than 30 battles of some editors; "
        "choose with --source, or with [board] in imarena.toml); also available: 9 votes of people"
    ) in printed
    asked = imarena("-w", root, "rank", "--interval", "none", "--judge", "wide").out
    assert "default, because" not in asked


def test_judges_are_pooled_only_when_asked_and_contradictions_are_refused(imarena: Imarena, tmp_path: Path) -> None:
    root = arena(tmp_path / "a")
    pooled = board(imarena, root, "--judge", "all")
    assert (pooled["settings"]["verdicts"], pooled["n_battles"]) == ("2 judges", 45)
    assert "judges_pooled" in [notice["code"] for notice in pooled["notices"]]
    ended = imarena("-w", root, "rank", "--source", "people", "--judge", "wide", code=2)
    assert "contradict" in ended.err


def test_the_source_is_the_same_whatever_a_board_is_grouped_by(imarena: Imarena, tmp_path: Path) -> None:
    root = arena(tmp_path / "a", votes=9)
    for words in ((), ("--by", "family"), ("--by", "dimension"), ("--method", "davidson")):
        found = board(imarena, root, *words)
        for one in found.get("boards", [found]):
            assert one["settings"]["verdicts"] == "judge wide"


def test_an_excluded_raters_votes_do_not_count(imarena: Imarena, tmp_path: Path) -> None:
    root = arena(tmp_path / "a", votes=20)
    assert board(imarena, root, "--source", "people")["n_battles"] == 20
    with open_workspace(root) as workspace, writing(workspace.store.engine) as connection:
        row = {"rater_id": "bob", "reason": "clicks at random", "created_at": moment_text(now())}
        connection.execute(exclusions.insert(), row)
    assert board(imarena, root, "--source", "people")["n_battles"] == 10


def test_a_signature_holds_what_changes_numbers(imarena: Imarena, tmp_path: Path) -> None:
    root = arena(tmp_path / "a", votes=45)
    asked = [
        (), ("--judge", "wide"), ("--judge", "narrow"), ("--both-bad", "exclude"), ("--missing", "loss"),
        ("--method", "elo", "--set", "k=9"), ("--position",), ("--set", "centre=1500"), ("--dimension", "overall"),
    ]  # fmt: skip
    found = [board(imarena, root, *words) for words in asked]
    lines = [one["settings"]["signature"] for one in found]
    assert len(set(lines[:-1])) == len(lines) - 1
    again = board(imarena, root)
    assert again["settings"]["signature"] == lines[0]
    assert again["models"] == found[0]["models"]
    parts = {part["name"]: part["value"] for part in imarena("--json", "signature", lines[1]).json["parts"]}
    assert (parts["source"], parts["judge"], parts["data"], parts["both_bad"]) == ("judge wide", "wide", "d", "tie")
    assert "not a signature" in imarena("signature", "nothing", code=2).err


def test_boards_are_stored_once_and_files_never(imarena: Imarena, tmp_path: Path) -> None:
    root = arena(tmp_path / "a", votes=45)
    for _ in range(2):
        board(imarena, root)
        board(imarena, root, "--judge", "wide")
        imarena("-w", root, "route", "rerank", "--judge", "wide", "--rounds", 20)
    table = tmp_path / "votes.csv"
    table.write_text("left,right,winner\na,b,left\nb,c,right\nc,a,tie\n")
    imarena("-w", root, "rank", "--from", table)
    with open_workspace(root) as workspace:
        assert workspace.store.count(Ranking)[()] == 3


def test_rank_and_route_make_one_board(imarena: Imarena, tmp_path: Path) -> None:
    root = arena(tmp_path / "a", votes=45)
    ours = board(imarena, root, "--method", "corrected", "--judge", "wide")
    theirs = imarena("-w", root, "--json", "route", "rerank", "--judge", "wide").json["boards"][0]
    ratings = [{row["model"]: row["rating"] for row in one["models"]} for one in (ours, theirs)]
    assert ratings[0] == pytest.approx(ratings[1])
    for words in (("--missing", "loss"), ("--both-bad", "exclude"), ("--position",)):
        ended = imarena("-w", root, "rank", "--method", "corrected", "--judge", "wide", *words, code=2)
        assert f"does not take {words[0]}" in ended.err


def test_a_table_with_odd_columns_has_a_steady_signature(imarena: Imarena, tmp_path: Path) -> None:
    table = tmp_path / "votes.csv"
    table.write_text("left,right,winner,n,comment\na,b,left,1,so\nb,c,right,,it\nc,a,tie,3,goes\n")
    lines = {
        imarena("--json", "rank", "--from", table, "--interval", "none").json["settings"]["signature"] for _ in "ab"
    }
    assert len(lines) == 1


def test_a_board_by_a_judge_names_the_ratings_of_people(imarena: Imarena, tmp_path: Path) -> None:
    """They rate two of three editors, too few for the board that nobody chose."""
    root = arena(tmp_path / "a", votes=0)
    with open_workspace(root) as workspace:
        rated = [one for one in workspace.store.records(Output) if one.editor != "c"]
        workspace.store.add(
            Vote(
                rater_id="ann", item_id=one.item_id, left_id=one.output_id, ratings={"overall": 3}, scale=(1, 5),
                idempotency_key=one.output_id,
            )
            for one in rated
        )  # fmt: skip
    settings = board(imarena, root)["settings"]
    assert settings["verdicts"] == "judge wide"
    assert settings["beside"].startswith("24 ratings of people (--source people) and 9 verdicts of judge narrow")


def test_a_board_of_one_editor_names_it(imarena: Imarena, tmp_path: Path) -> None:
    with init_workspace(tmp_path / "one") as workspace:
        item = Item(dataset="d", key="i", turns=(Turn(instruction="edit"),))
        made = Output(item_id=item.item_id, editor="a", image=picture_of(workspace, "a"))
        told = Judgment(work_id="w", judge="wide", score=5.0, item_id=item.item_id, left_id=made.output_id)
        workspace.store.add([item, made, told])
    ended = imarena("-w", tmp_path / "one", "rank", code=2)
    assert "There is only one editor with outputs ('a'): a board needs two or more." in ended.err
