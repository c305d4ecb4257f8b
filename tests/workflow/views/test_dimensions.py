"""A measure of one dimension (CLIP-I: highest where nothing was changed) is in no board about the whole."""

import re
from pathlib import Path
from typing import Any

import pytest

from imarena.core.records import Item, Judgment, Output, Rater, Record, Turn, Vote
from imarena.judges import CARDS
from imarena.storage import init_workspace, open_workspace
from imarena.workflows.boards import Boards, all_boards
from imarena.workflows.serving.leaderboards import BattleFilters, Leaderboards
from imarena.workflows.views import View
from tests import samples
from tests.command import Imarena

JUDGE, LIKENESS = "cv-judge/vlm", "clip-i/clip"


def scored(judge: str, output: Output, score: float, **more: Any) -> Judgment:
    return Judgment(
        work_id=f"{judge}{output.output_id}{more}", judge=judge, run_id="run_1", item_id=output.item_id,
        left_id=output.output_id, score=score, **more,
    )  # fmt: skip


def voted(rater: Rater, left: Output, right: Output, **more: Any) -> Vote:
    return samples.vote(rater, left, right, key=f"{left.output_id}{more}").model_copy(update=more)


def pairs(count: int = 6) -> list[tuple[Item, Output, Output]]:
    items = [Item(dataset="d", key=f"k{n}", turns=(Turn(instruction="x"),)) for n in range(count)]
    return [(item, samples.output(item, "edits"), samples.output(item, "idle")) for item in items]


@pytest.fixture
def arena(tmp_path: Path) -> Path:
    """A judge of the whole prefers the editor that edits; likeness to the source the one that does nothing."""
    records: list[Record] = []
    for item, edits, idle in pairs():
        records += [item, edits, idle, scored(JUDGE, edits, 800), scored(JUDGE, idle, 200)]
        about = {"dimension": CARDS["clip-i"].dimension, "judge_version": "2"}
        records += [scored(LIKENESS, edits, 0.7, **about), scored(LIKENESS, idle, 1.0, **about)]
        old = {"judge_version": "1"}  # as stored before the measure had a dimension
        records += [scored(LIKENESS, edits, 0.7, **old), scored(LIKENESS, idle, 1.0, **old)]
    with init_workspace(tmp_path / "a") as workspace:
        workspace.store.add(records)
    return tmp_path / "a"


def first(document: Any) -> str:
    return str(document["models"][0]["model"])


def test_a_board_is_about_the_whole_unless_asked_otherwise(imarena: Imarena, arena: Path) -> None:
    whole = imarena("-w", "a", "--json", "rank", "--rounds", "20").json
    assert first(whole) == "edits"
    assert whole["n_battles"] == 6
    pooled = imarena("-w", "a", "--json", "rank", "--rounds", "20", "--judge", "all").json
    assert (first(pooled), pooled["n_battles"]) == ("edits", 6)
    assert pooled["excluded"]["about visual_consistency, not the whole"] == 6
    for words in (("--dimension", "visual_consistency"), ("--judge", "clip-i")):
        asked = imarena("-w", "a", "--json", "rank", "--rounds", "20", *words).json
        assert first(asked) == "idle"
    assert any("changes nothing" in warning for warning in asked["warnings"])
    told = " ".join(imarena("-w", "a", "rank", "--rounds", "20", "--judge", "all").out.split())
    assert "Left out: 12 verdicts by an earlier version" in told
    assert "; 6 verdicts on visual consistency alone" in told
    listed = imarena("judge", "--list").out
    assert "highest where nothing was changed" in " ".join(listed.split())
    assert "about visual_consistency only" in " ".join(listed.split())


def test_report_and_web_keep_it_apart(arena: Path) -> None:
    with open_workspace(arena) as workspace:
        made = all_boards(Boards(View(workspace)))
        assert [board.title for board in made] == [
            "scores of the judge cv-judge/vlm", "scores of the judge clip-i/clip about visual_consistency"
        ]  # fmt: skip
        assert made[1].ranking.notices[0].code == "one_dimension"
        assert made[1].ranking.notices[0].values == {"dimension": "visual_consistency"}
        shown = Leaderboards(workspace).board(BattleFilters(), "bt")
        assert shown.ranking is not None
        assert shown.ranking.models[0].model == "edits"
        assert shown.n_battles == 6


def test_without_a_verdict_about_the_whole_rank_asks_which_dimension(imarena: Imarena, tmp_path: Path) -> None:
    records: list[Record] = []
    for item, edits, idle in pairs():
        records += [item, edits, idle]
        for output, value in ((edits, 0.7), (idle, 1.0)):
            records.append(scored(LIKENESS, output, value, dimension="visual_consistency"))
    with init_workspace(tmp_path / "a") as workspace:
        workspace.store.add(records)
    assert "--dimension" in imarena("-w", "a", "rank", code=2).err


def test_a_judge_of_one_dimension_meets_votes_on_it(imarena: Imarena, tmp_path: Path) -> None:
    """People prefer the edit as a whole, and the idle editor where they were asked about consistency."""
    rater = Rater(rater_id="r")
    records: list[Record] = [rater]
    for item, edits, idle in pairs():
        records += [item, edits, idle, voted(rater, edits, idle)]
        records.append(voted(rater, idle, edits, dimension="visual_consistency"))
        for output, value in ((edits, 0.7), (idle, 1.0)):
            records.append(scored(LIKENESS, output, value, dimension="visual_consistency"))
            records.append(scored(JUDGE, output, -value))
    with init_workspace(tmp_path / "a") as workspace:
        workspace.store.add(records)
    told = imarena("-w", "a", "--json", "health").json["judges"]
    accuracy = {
        one["judge"]: line["value"] for one in told for line in one["lines"] if line["name"] == "decisive_accuracy"
    }
    assert accuracy == {JUDGE: 1.0, f"{LIKENESS}, visual_consistency": 1.0}


@pytest.mark.usefixtures("arena")
def test_a_dimension_without_verdicts_is_named_with_those_that_have_some(imarena: Imarena) -> None:
    refused = imarena("-w", "a", "rank", "--judge", LIKENESS, "--dimension", "consistancy", code=2)
    assert "No verdict of source 'judge' is about 'consistancy'." in refused.err
    assert "Known:" in refused.err
    assert str(CARDS["clip-i"].dimension) in refused.err


def test_a_report_has_a_board_per_rated_criterion(imarena: Imarena, tmp_path: Path) -> None:
    """Of criteria that raters mark: each as `rank --dimension` prints it, after the board about the whole."""
    rater = Rater(rater_id="ann")
    records: list[Record] = [rater]
    for number, (item, edits, idle) in enumerate(pairs()):
        records += [item, edits, idle]
        for output, marks in ((edits, {"SC": 1.0, "PQ": 0.5}), (idle, {"SC": 0.5, "PQ": 1.0 if number else 0.0})):
            given: dict[str, Any] = {"ratings": marks, "scale": (0, 1), "idempotency_key": output.output_id}
            records.append(Vote(rater_id="ann", item_id=item.item_id, left_id=output.output_id, **given))
    with init_workspace(tmp_path / "r") as workspace:
        workspace.store.add(records)
    imarena("-w", "r", "report", "out", "--gallery", 0)
    text = (tmp_path / "out" / "report.md").read_text()
    titles = re.findall("^## Leaderboard: (.*)$", text, re.MULTILINE)
    assert titles == [f"verdicts of people{about}" for about in ("", " about PQ", " about SC")]
    assert "Leaderboard by dimension" not in text
    for criterion, best in (("SC", "edits"), ("PQ", "idle")):
        ranked = imarena("-w", "r", "--json", "rank", "--source", "people", "--dimension", criterion).json
        part = text[text.index(f"## Leaderboard: verdicts of people about {criterion}") + 3 :].partition("\n## ")[0]
        shown = re.findall(r"^\| \d+ \| (edits|idle) \| ([\d.]+) \|", part, re.MULTILINE)
        assert shown == [(row["model"], f"{row['rating']:.1f}") for row in ranked["models"]]
        assert first(ranked) == best
