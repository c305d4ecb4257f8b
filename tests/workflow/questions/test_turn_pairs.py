"""Pairs of a later turn from the command line: both outputs are judged by what they have in common."""

import csv
import html
import os
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from imarena.core.ids import content_id
from imarena.core.records import Campaign, Item, Judgment, Outcome, Output, Rater, Vote
from imarena.storage import open_workspace
from imarena.workflows.active_elo.ingesting import ingest_votes
from imarena.workflows.active_elo.sheets import write_sheet
from imarena.workflows.views import ONE_SIDE, View, common_turn
from tests.command import Imarena
from tests.small_data.chained_arena import (
    APART,
    SHOWN,
    STEPS,
    make_chained,
    old_judgments,
    old_votes,
    pair_of,
    tasks_of,
)

WITNESS = '''
from imarena.core.protocols import Verdict
from imarena.core.records import Outcome, Status
from imarena.images import decode


class Witness:
    """Writes down what it is shown."""

    name, version = "witness", "1"
    params = {}

    async def judge(self, exhibit):
        seen = {"words": exhibit.instruction, "sources": [list(decode(one).size) for one in exhibit.sources]}
        if exhibit.right is None:
            return Verdict(Status.OK, score=1.0, reasons=seen)
        return Verdict(Status.OK, preference=Outcome.TIE, reasons=seen)


def make(options, chat):
    return Witness()
'''
BATTLE = ("-w", "arena", "battle", "--judge", "function:witness:make")


@pytest.fixture
def made(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, Output]:
    """A workspace `arena`, and a judge that can be imported."""
    (tmp_path / "witness.py").write_text(WITNESS)
    monkeypatch.setenv("PYTHONPATH", str(tmp_path), prepend=os.pathsep)
    return make_chained(tmp_path / "arena")


def stored(root: Path, judge: str) -> list[Judgment]:
    with open_workspace(root) as workspace:
        return list(workspace.store.records(Judgment, judge=judge))


def test_both_orders_of_a_pair_show_what_both_have_in_common(
    imarena: Imarena, made: dict[str, Output], tmp_path: Path
) -> None:
    imarena(*BATTLE)
    seen: dict[tuple[str, str], list[Any]] = {}
    for one in stored(tmp_path / "arena", "witness"):
        seen.setdefault(pair_of(made, one.left_id, one.right_id), []).append(one.reasons)
    assert seen == {pair: [{"words": words, "sources": [list(size)]}] * 2 for pair, (words, size) in SHOWN.items()}, (
        "in both orders, whichever output was left"
    )
    assert "0 done before" not in imarena(*BATTLE).out, "and nothing is asked twice"
    assert len(stored(tmp_path / "arena", "witness")) == 2 * len(SHOWN)


def test_only_questions_about_different_parents_are_new_work(
    imarena: Imarena, made: dict[str, Output], tmp_path: Path
) -> None:
    imarena(*BATTLE)
    with open_workspace(tmp_path / "arena") as workspace:
        items = {item.item_id: item for item in workspace.store.records(Item)}
    by_id = {output.output_id: output for output in made.values()}
    for one in stored(tmp_path / "arena", "witness"):
        sides = [by_id[one.left_id], by_id[one.right_id or ""]]
        shown = sides if one.order == "left_first" else sides[::-1]
        item = items[one.item_id]
        parent = by_id.get(sides[0].parent_id or "")
        source = item.sources[0] if parent is None else parent.image
        assert source
        as_before = content_id(
            "work", "judge", ["witness", "1", "", "", {}], item.turn_content_id(one.turn), "multi_turn",
            [source.sha256], [], *(side.image.sha256 if side.image else None for side in shown), 0,
        )  # fmt: skip
        assert (one.work_id == as_before) == (pair_of(made, one.left_id, one.right_id) not in APART)


def test_the_builtin_judge_reads_every_instruction(imarena: Imarena, made: dict[str, Output], tmp_path: Path) -> None:
    imarena("-w", "arena", "battle", "--judge", "builtin")
    for one in stored(tmp_path / "arena", "builtin"):
        words, _ = SHOWN[pair_of(made, one.left_id, one.right_id)]
        asked: Any = one.reasons["asked"]
        assert [part["clause"] for part in asked] == [step.rstrip(".").lower() for step in STEPS if step in words], (
            "and takes no number for an edit"
        )


def test_a_site_and_a_report_show_the_same(imarena: Imarena, made: dict[str, Output], tmp_path: Path) -> None:
    with open_workspace(tmp_path / "arena") as workspace:
        workspace.store.add([Rater(rater_id="r"), Rater(rater_id="s")])
        sides = [(made[left], made[right]) for left, right in SHOWN]
        workspace.store.add(
            Vote(
                rater_id=rater, item_id=left.item_id, turn=left.turn, left_id=left.output_id, right_id=right.output_id,
                preference=preference, idempotency_key=f"{rater}{number}",
            )
            for rater, preference in (("r", Outcome.LEFT), ("s", Outcome.RIGHT))
            for number, (left, right) in enumerate(sides)
        )  # fmt: skip
    imarena("-w", "arena", "site", "site", "--licence", "CC0-1.0")
    battles = "".join(path.read_text() for path in (tmp_path / "site").rglob("*.js*"))
    imarena("-w", "arena", "report", "report")
    page = html.unescape("".join(path.read_text() for path in (tmp_path / "report").rglob("*.html")))
    for words, _ in SHOWN.values():
        assert " ".join(words.split()) in battles
    assert [words for words, _ in SHOWN.values() if f"“{' '.join(words.split())}”" in page and words[:2] == "1."]


def test_one_output_is_judged_by_the_image_it_was_made_from(
    imarena: Imarena, made: dict[str, Output], tmp_path: Path
) -> None:
    imarena("-w", "arena", "judge", "--judge", "function:witness:make")
    by_id = {output.output_id: output for output in made.values()}
    seen = stored(tmp_path / "arena", "witness")
    assert len(seen) == len(made)
    for one in seen:
        output = by_id[one.left_id]
        parent = by_id.get(output.parent_id or "")
        width = 64 if parent is None or parent.image is None else parent.image.width
        assert one.reasons == {"words": STEPS[output.turn], "sources": [[width, 48]]}


def test_verdicts_of_earlier_versions_do_not_count_and_are_asked_again(
    imarena: Imarena, made: dict[str, Output], tmp_path: Path
) -> None:
    with open_workspace(tmp_path / "arena") as workspace:
        workspace.store.add(old_judgments(made, "witness"))
    board = imarena("-w", "arena", "--json", "rank", "--judge", "witness", "--interval", "none").json
    assert board["n_battles"] == len(SHOWN) - len(APART)
    assert board["excluded"][ONE_SIDE] == len(APART)
    told = " ".join(imarena("-w", "arena", "rank", "--judge", "witness").err.split())
    assert f"{len(APART)} judgments on pairs of a later turn do not count" in told
    imarena("-w", "arena", "export", "scores", "all.csv", "--all")
    assert (tmp_path / "all.csv").read_text().count(ONE_SIDE) == len(APART)
    imarena(*BATTLE, "--orders", "single")
    board = imarena("-w", "arena", "--json", "rank", "--judge", "witness", "--interval", "none").json
    assert board["n_battles"] >= len(SHOWN)
    assert not imarena("-w", "arena", "--json", "verify", "--deep").json["findings"]
    imarena("-w", "arena", "export", "native", "copy")
    imarena("init", "other")
    imarena("-w", "other", "import", "native", "copy")
    again = imarena("-w", "other", "--json", "rank", "--judge", "witness", "--interval", "none").json
    assert (again["n_battles"], again["excluded"]) == (board["n_battles"], board["excluded"])


def test_a_board_of_nothing_else_says_why_it_is_empty(
    imarena: Imarena, made: dict[str, Output], tmp_path: Path
) -> None:
    with open_workspace(tmp_path / "arena") as workspace:
        old = old_judgments(made, "witness")
        apart = [one for one in old if pair_of(made, one.left_id, one.right_id) in APART]
        workspace.store.add(apart)
    said = imarena("-w", "arena", "rank", "--judge", "witness", code=2).err
    assert "5 judgments on pairs of a later turn do not count" in " ".join(said.split())


def test_a_view_that_is_refreshed_leaves_out_what_came_since(made: dict[str, Output], tmp_path: Path) -> None:
    with open_workspace(tmp_path / "arena") as workspace:
        old = old_judgments(made, "witness")
        workspace.store.add(old[:2])
        first = View(workspace)
        assert len(first.judgments(first.variants.every)) == 1
        workspace.store.add(old[2:])
        later = first.refreshed(View(workspace).marks)
        assert len(later.judgments(later.variants.every)) == len(SHOWN) - len(APART)
        assert later.verdicts.total() == len(SHOWN) - len(APART)


def test_votes_of_earlier_versions_do_not_count(imarena: Imarena, made: dict[str, Output], tmp_path: Path) -> None:
    with open_workspace(tmp_path / "arena") as workspace:
        workspace.store.add([Rater(rater_id="r"), Campaign(campaign_id="c", name="c", kind="preference")])
        old_votes(workspace, made, "c", "r")
    board = imarena("-w", "arena", "--json", "rank", "--source", "people", "--interval", "none").json
    assert board["n_battles"] == len(SHOWN) - len(APART)
    told = " ".join(imarena("-w", "arena", "rank", "--source", "people").err.split())
    assert f"{len(APART)} votes on pairs of a later turn do not count" in told


def test_a_sheet_asks_the_same(made: dict[str, Output], tmp_path: Path) -> None:
    with open_workspace(tmp_path / "arena") as workspace:
        workspace.store.add([Rater(rater_id="r"), Campaign(campaign_id="c", name="c", kind="preference")])
        workspace.store.add(tasks_of(made, "c"))
        write_sheet(workspace, "c", tmp_path / "sheet.csv")
        with (tmp_path / "sheet.csv").open(newline="", encoding="utf-8") as file:
            rows = list(csv.DictReader(file))
        assert Counter(row["instruction"] for row in rows) == Counter(words for words, _ in SHOWN.values())
        assert len({row["source_images"] for row in rows}) == len({size for _, size in SHOWN.values()})
        earlier = next(row for row in rows if row["instruction"][:2] == "1.")
        earlier["instruction"] = STEPS[2]  # as sheets of earlier versions had it
        with (tmp_path / "filled.csv").open("w", newline="", encoding="utf-8") as file:
            filled = csv.DictWriter(file, list(rows[0]))
            filled.writeheader()
            filled.writerows({**row, "rater": "r", "winner": "left"} for row in rows)
        assert ingest_votes(workspace, tmp_path / "filled.csv").new == len(SHOWN)
        assert View(workspace).votes.excluded == {ONE_SIDE: 1}


def test_chains_part_where_their_images_differ(made: dict[str, Output]) -> None:
    parents = {output.output_id: output for output in made.values()}
    assert common_turn(made["a2"], made["c2"], parents) == 1
    assert common_turn(made["a2"], made["b2"], parents) == 0
    assert common_turn(made["a1"], made["c1"], {}) == 1, "one parent, though it is not known"
    assert common_turn(made["a2"], made["c2"], {}) == 0, "chains that are not known have the item in common"
    same = made["b0"].model_copy(update={"image": made["a0"].image})
    twin = made["b1"].model_copy(update={"parent_id": same.output_id})
    assert common_turn(made["a1"], twin, {**parents, same.output_id: same}) == 1, "the same pixels are the same source"
