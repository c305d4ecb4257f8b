"""`align --worst`: where a judge and people disagree, and `align --against FILE`, from the command line."""

from pathlib import Path
from typing import Any

import pytest

from imarena.core.records import Item, Judgment, Order, Outcome, Output, Rater, Turn, Vote
from imarena.storage import Workspace, init_workspace
from tests.command import Imarena
from tests.samples import judgment, picture_of, vote

SCORES = {"a": 0.1, "b": 0.2, "c": 0.3, "d": 0.9}
RATINGS = {"a": (1, 2), "b": (5, 5), "c": (3, 3), "d": (1, 1)}
"""Ranks of the scores: .125, .375, .625, .875; of the means 1.5, 5, 3 and 1: .375, .875, .625 and .125."""


def entry(workspace: Workspace, key: str, *, task: str, topic: str) -> Item:
    return Item(
        dataset="test", key=key, turns=(Turn(instruction=f"Change {key}."),), task=task, topic=topic,
        sources=(picture_of(workspace, f"source {key}"),),
    )  # fmt: skip


def made(workspace: Workspace, item: Item, editor: str) -> Output:
    return Output(item_id=item.item_id, editor=editor, image=picture_of(workspace, f"{item.key} {editor}"))


@pytest.fixture
def rated(tmp_path: Path) -> Path:
    """A judge's scores of four outputs with two ratings each; one rater left a comment."""
    root = tmp_path / "rated"
    with init_workspace(root) as workspace:
        raters = [Rater(rater_id="ann"), Rater(rater_id="bob")]
        workspace.store.add(raters)
        for key, score in SCORES.items():
            item = entry(workspace, key, task="add" if key in "ab" else "remove", topic="<b>food</b>")
            output = made(workspace, item, "=alpha")
            scored = judgment(output, None, f"work {key}").model_copy(
                update={"score": score, "reasons": {"why": f"It looks like {score}."}}
            )
            workspace.store.add([item, output, scored])
            for rater, mark in zip(raters, RATINGS[key], strict=True):
                workspace.store.add([
                    Vote(
                        rater_id=rater.rater_id, item_id=item.item_id, left_id=output.output_id, scale=(1, 5),
                        ratings={"overall": mark}, idempotency_key=f"{key} {rater.rater_id}",
                        comment="The hat is gone." if (key, rater.rater_id) == ("d", "bob") else "",
                    )
                ])  # fmt: skip
    return root


def test_the_outputs_that_a_judge_and_people_rank_most_differently(imarena: Imarena, rated: Path) -> None:
    worst = imarena("-w", rated, "--json", "align", "--worst", 2).json["worst"]
    first, second = worst["items"]
    assert (first["key"], first["size"], first["difference"]) == ("d", 0.75, 0.75)
    assert (first["judge_score"], first["people_mean"], first["ratings"]) == (0.9, 1.0, [1.0, 1.0])
    assert first["judge_words"] == ["why: It looks like 0.9."]
    assert first["people_words"] == ["Ratings: 1, 1.", "Comment: The hat is gone."]
    assert (second["key"], second["size"], second["difference"]) == ("b", 0.5, -0.5)
    by_task = {line["task"]: line for line in worst["by_task"]}
    assert (by_task["add"]["n"], by_task["add"]["mean_size"]) == (2, (0.25 + 0.5) / 2)
    assert by_task["remove"]["mean_difference"] == 0.375
    assert [line["topic"] for line in worst["by_topic"]] == ["<b>food</b>"]
    printed = imarena("-w", rated, "align", "--worst", 2).out
    assert "Largest disagreements" in printed
    assert "by topic" in printed
    markdown = imarena("-w", rated, "align", "--worst", 2, "--markdown").out
    assert "| +0.750 | too generous |" in markdown
    assert "| -0.500 | too strict |" in markdown
    assert "worst" not in imarena("-w", rated, "--json", "align").json


def test_a_page_shows_the_images_and_both_sides_words(imarena: Imarena, rated: Path, tmp_path: Path) -> None:
    document = imarena("-w", rated, "--json", "align", "--page", "wrong").json
    page = (tmp_path / "wrong" / "index.html").read_text()
    assert len(document["worst"]["items"]) == 3, "c is where both agree"
    assert "It looks like 0.9." in page
    assert "The hat is gone." in page
    assert "Disagreement: +0.750 (the judge is too generous)." in page
    assert "Disagreement: -0.500 (the judge is too strict)." in page
    assert "<b>food" not in page
    assert "ann" not in page
    images = list((tmp_path / "wrong" / "images").iterdir())
    assert len(images) == 6
    assert all(f'src="images/{path.name}"' in page for path in images)


@pytest.fixture
def voted(tmp_path: Path) -> Path:
    """Pairs on five items: the judge is wrong on three of them, with less and less certainty and unanimity."""
    root = tmp_path / "voted"
    people = {"a": (3, 0), "b": (2, 1), "c": (1, 0), "d": (3, 0), "e": (1, 1)}
    verdicts: dict[str, tuple[Outcome, float]] = {
        "a": (Outcome.RIGHT, 0.9), "b": (Outcome.RIGHT, 0.9), "c": (Outcome.RIGHT, 0.9), "d": (Outcome.LEFT, 0.9),
        "e": (Outcome.LEFT, 0.9),
    }  # fmt: skip
    with init_workspace(root) as workspace:
        workspace.store.add([Rater(rater_id="ann"), Rater(rater_id="bob"), Rater(rater_id="cid")])
        for key, (left_votes, right_votes) in people.items():
            item = entry(workspace, key, task="add" if key in "abc" else "remove", topic="food")
            left, right = made(workspace, item, "alpha"), made(workspace, item, "beta")
            winner, confidence = verdicts[key]
            workspace.store.add([item, left, right])
            for order in (Order.LEFT_FIRST, Order.RIGHT_FIRST):
                facts = judgment(left, right, f"{key} {order}", winner).model_dump(exclude={"created_at"})
                facts |= {"order": order, "confidence": confidence, "reasons": {"why": f"{key} is sharper"}}
                workspace.store.add([Judgment(**facts)])
            for number, side in enumerate([Outcome.LEFT] * left_votes + [Outcome.RIGHT] * right_votes):
                rater = Rater(rater_id=("ann", "bob", "cid")[number])
                workspace.store.add([vote(rater, left, right, key=f"{key} {number}", preference=side)])
    return root


def test_pairs_on_which_a_judge_and_people_choose_opposite_sides(imarena: Imarena, voted: Path) -> None:
    worst = imarena("-w", voted, "--json", "align", "--judge", "test-judge", "--against", "people", "--worst", 9).json[
        "worst"
    ]
    assert [(each["key"], each["size"]) for each in worst["items"]] == [
        ("a", round(0.9 * 3 / 4, 9)), ("c", round(0.9 * 1 / 2, 9)), ("b", round(0.9 * 1 / 4, 9)),
    ]  # fmt: skip
    first = worst["items"][0]
    assert (first["judge_answer"], first["people_answer"], first["votes"]) == (
        "beta",
        "alpha",
        {first["people_side"]: 3},
    )
    assert first["judge_words"] == ["why: a is sharper"]
    assert first["people_words"] == ["3 for alpha."]
    shares = {line["task"]: (line["n"], line["opposite"], line["share"]) for line in worst["by_task"]}
    assert shares == {"add": (3, 3, 1.0), "remove": (1, 0, 0.0)}


def test_equal_disagreements_come_in_the_order_of_their_keys(imarena: Imarena, tmp_path: Path) -> None:
    root = tmp_path / "equal"
    with init_workspace(root) as workspace:
        rater = Rater(rater_id="ann")
        workspace.store.add([rater])
        for key in ("m", "z", "b", "k"):
            item = entry(workspace, key, task="add", topic="food")
            left, right = made(workspace, item, "alpha"), made(workspace, item, "beta")
            workspace.store.add(
                [item, left, right, vote(rater, left, right, key=key), judgment(left, right, key, Outcome.RIGHT)]
            )
            other = judgment(left, right, f"{key} swapped", Outcome.RIGHT).model_dump(exclude={"created_at"})
            workspace.store.add([Judgment(**{**other, "order": Order.RIGHT_FIRST})])
    worst: Any = imarena("-w", root, "--json", "align", "--worst", 3).json["worst"]["items"]
    assert [each["key"] for each in worst] == ["b", "k", "m"]
    assert {each["size"] for each in worst} == {0.5}


# ---------------------------------------------------------------- a file of people's answers


def test_ratings_of_a_file_meet_the_judges_scores(imarena: Imarena, rated: Path, tmp_path: Path) -> None:
    rows = [
        f"{key},=alpha,{rater},{mark}"
        for key, marks in RATINGS.items()
        for rater, mark in zip("xy", marks, strict=True)
    ]
    extra = ["nowhere,=alpha,x,3", "a,gamma,x,3", "b,gamma,x,3", "c,=alpha,z,"]
    (tmp_path / "ratings.csv").write_text("\n".join(["item,editor,rater,value", *rows, *extra]) + "\n")
    own = imarena("-w", rated, "--json", "align", "--judge", "test-judge").json["scores"]["groups"][0]
    document = imarena(
        "-w", rated, "--json", "align", "--judge", "test-judge", "--against", "ratings.csv", "--worst", 1
    ).json
    (group,) = document["scores"]["groups"]
    assert (group["spearman"], group["n"]) == (own["spearman"], 4)
    (notice,) = document["notices"]
    assert notice["code"] == "people_rows_not_used"
    assert notice["values"]["causes"] == {
        "no output of this editor for the item": 2, "no item with this key": 1, "no value": 1,
    }  # fmt: skip
    assert "ratings.csv: 4 of 12 rows not used: 2 no output of this editor" in document["warnings"][-1]
    assert document["worst"]["items"][0]["key"] == "d"


def test_votes_of_a_file_meet_the_judges_verdicts(imarena: Imarena, voted: Path, tmp_path: Path) -> None:
    (tmp_path / "votes.csv").write_text(
        "item,left,right,winner,rater\na,alpha,beta,left,x\nb,beta,alpha,right,x\nq,alpha,beta,left,x\n"
    )
    document = imarena("-w", voted, "--json", "align", "--judge", "test-judge", "--against", "votes.csv").json
    (group,) = document["verdicts"]["groups"]
    assert (group["n"], group["decisive_accuracy"]) == (2, 0.0)
    assert document["notices"][0]["values"]["causes"] == {"no item with this key": 1}


def test_ratings_of_a_file_meet_a_judge_that_compares_by_pairs_of_means(
    imarena: Imarena, voted: Path, tmp_path: Path
) -> None:
    rows = ("a,alpha,5", "a,alpha,3", "a,beta,1", "d,alpha,3", "d,beta,2", "e,alpha,2", "e,beta,2", "b,alpha,2")
    (tmp_path / "ratings.csv").write_text("\n".join(["item,editor,value", *rows]) + "\n")
    document = imarena("-w", voted, "--json", "align", "--judge", "test-judge", "--against", "ratings.csv").json
    (group,) = document["verdicts"]["groups"]
    assert (group["n"], group["n_decisive"], group["decisive_accuracy"]) == (3, 2, 0.5)
    assert [notice["code"] for notice in document["notices"]] == ["pairs_from_ratings"]


def test_what_is_wrong_with_a_file_of_ratings(imarena: Imarena, rated: Path, tmp_path: Path) -> None:
    words = ("-w", rated, "align", "--judge", "test-judge", "--against", "ratings.csv")
    (tmp_path / "ratings.csv").write_text("picture,editor,stars\na,=alpha,3\n")
    message = imarena(*words, code=2).err
    assert "no column for the item and the value" in message
    assert "item (or key, unit), editor (or model), value (or rating)" in message
    (tmp_path / "ratings.csv").write_text("item,editor,value\na,=alpha,good\n")
    assert "row 1: the value 'good' is not a number" in imarena(*words, code=2).err
    (tmp_path / "ratings.csv").write_text("item,editor,value\nq,=alpha,3\n")
    assert (
        "No row of ratings.csv is about an output of the workspace: 1 no item with this key"
        in imarena(*words, code=2).err
    )
