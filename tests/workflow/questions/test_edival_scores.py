"""`imarena edival score`: judgments about four dimensions through the one loop, and nothing measured twice."""

from pathlib import Path

import pytest

from imarena.core.records import Evidence, Judgment, Status
from imarena.storage import open_workspace
from tests.command import Imarena
from tests.cross_cutting.docs.blocks import blocks_of


@pytest.fixture(scope="module")
def scored(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A workspace after the commands at the top of the guide: a chain by two editors, scored with the offline tools."""
    folder = tmp_path_factory.mktemp("edival")
    run = Imarena(folder)
    run("-w", "a", "init")
    (block,) = blocks_of("edival-scores.md", __file__)
    for words in block.commands():
        run("-w", "a", *words)
    return folder


def test_every_dimension_has_judgments_and_evidence_is_stored_once(scored: Path) -> None:
    with open_workspace(scored / "a") as workspace:
        judgments = list(workspace.store.records(Judgment, judge="edival"))
        seen = [evidence.evidence_id for evidence in workspace.store.records(Evidence)]
    assert {judgment.dimension for judgment in judgments} == {
        "overall", "instruction_following", "consistency", "quality",
    }  # fmt: skip
    assert len(seen) == len(set(seen)) > 0
    consistent = [one for one in judgments if one.dimension == "consistency"]
    assert consistent
    assert all(one.status is Status.OK for one in consistent)
    assert all(0 <= (one.score or 0) <= 1 for one in consistent)
    for judgment in judgments:
        if judgment.status is not Status.OK:
            assert judgment.status is Status.REFUSED, "what the tools cannot tell is a status"
            assert ":" in judgment.error
    assert {judgment.reasons["tools"]["detector"].partition("@")[0] for judgment in judgments} == {"efficientdet"}  # type: ignore[index, call-overload, union-attr]


def test_scoring_again_measures_nothing(scored: Path) -> None:
    with open_workspace(scored / "a") as workspace:
        before = workspace.store.count(Evidence)
    again = Imarena(scored)("-w", "a", "--json", "edival", "score", code=None).json
    with open_workspace(scored / "a") as workspace:
        assert workspace.store.count(Evidence) == before
    assert all(report["judgments"].get("ok", 0) == 0 for report in again["reports"])


def test_other_thresholds_look_at_nothing_again(scored: Path) -> None:
    with open_workspace(scored / "a") as workspace:
        before = workspace.store.count(Evidence, "kind", "tool")
    Imarena(scored)(
        "-w", "a", "edival", "score", "-o", "threshold=0.5", "-o", "dimension=instruction_following", code=None
    )
    with open_workspace(scored / "a") as workspace:
        after = workspace.store.count(Evidence, "kind", "tool")
    assert after[("boxes", "efficientdet")] == before[("boxes", "efficientdet")]


def test_judge_and_score_are_the_same_work(scored: Path) -> None:
    report = Imarena(scored)("-w", "a", "--json", "judge", "--judge", "edival", "-o", "dimension=quality").json
    assert report["estimates"][0]["new"] == 0
    assert report["estimates"][0]["done_before"] > 0


def test_boards_take_the_scores_like_any_other(scored: Path) -> None:
    board = Imarena(scored)("-w", "a", "--json", "rank", "--judge", "edival", "--dimension", "consistency").json
    assert {model["model"] for model in board["models"]} == {"studio-exact", "studio-returns-input"}


def test_items_without_a_plan_are_left_out_with_the_reason(scored: Path) -> None:
    run = Imarena(scored)
    run(
        "-w",
        "a",
        "edit",
        "--studio",
        "-e",
        "studio-exact",
        "-i",
        "cv-dehazing-1",
        "--no-sheet",
        "--no-checks",
        code=None,
    )
    ended = run("-w", "a", "--json", "edival", "score", "--dry-run", code=None).json
    assert any("plan of objects" in reason for estimate in ended["estimates"] for reason in estimate["unfit"])


def test_unknown_names_are_refused(scored: Path) -> None:
    run = Imarena(scored)
    assert "no dimension 'beauty'" in run("-w", "a", "edival", "score", "-o", "dimension=beauty", code=2).err
    assert "no tool called 'yolo'" in run("-w", "a", "edival", "score", "-o", "detector=yolo", code=2).err
    assert "asks a model" in run("-w", "a", "edival", "score", "-o", "answers=vlm", code=2).err
    assert "not a judge of the kind 'edival'" in run("-w", "a", "edival", "score", "--judge", "builtin", code=2).err


def test_a_report_has_the_tables_and_names_the_tools(scored: Path) -> None:
    run = Imarena(scored)
    report = run("-w", "a", "--json", "edival", "report", "--out", "tables").json
    titles = [table["title"] for table in report["tables"]]
    assert titles[0] == "EdiVal scores (multi-turn), percent"
    assert {"Tools", "What was counted (multi-turn)", "Pareto fronts (multi-turn)"} <= set(titles)
    assert report["tools"]["features"].startswith("st-lpips@")
    rows = {row[0]: row for row in report["tables"][0]["rows"]}
    assert set(rows) == {"studio-exact", "studio-returns-input"}
    assert rows["studio-exact"][1] == 1, "one image through turn 1"
    assert (scored / "tables").is_dir()
    assert any(name.endswith(".png") for name in report["files"])
    text = run("-w", "a", "edival", "report", "--markdown", "--overall", "paper-o4", "--complete").out
    assert "| editor" in text
    assert "no rule 'sum'" in run("-w", "a", "edival", "report", "--overall", "sum", code=2).err


def test_a_report_compares_two_sets_of_tools(scored: Path) -> None:
    run = Imarena(scored)
    run("-w", "a", "edival", "score", "-o", "threshold=0.45", "-o", "dimension=instruction_following", code=None)
    known = run("-w", "a", "edival", "report", "--judge", "edival@nothing", code=2).err
    versions = known.partition("It has: ")[2].split(".\n")[0].split(", ")
    several = [version for version in versions if "+" in version]
    assert len(several) >= 2, "default and other thresholds"
    chosen = [word for version in several[:2] for word in ("--judge", f"edival@{version}")]
    titles = [table["title"] for table in run("-w", "a", "--json", "edival", "report", *chosen).json["tables"]]
    assert "Tool swap: correlations over (editor, turn)" in titles
    assert "Figures by set of tools (multi-turn), percent" in titles


def test_a_report_without_scores_says_what_to_do(tmp_path: Path) -> None:
    run = Imarena(tmp_path)
    run("-w", "b", "init")
    assert "edival" in run("-w", "b", "edival", "report", code=2).err
