"""EdiVal's judgments are judgments like any other: align, health, boards and reports take them, in both modes."""

import csv
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from imarena.core.records import Evidence, Judgment, Status
from imarena.storage import open_workspace
from imarena.web.app import create_app
from tests.command import Imarena
from tests.servers.fake_endpoint import Server, fake_server
from tests.small_data.small_chains import add_ratings, make_chains
from tests.web.people import administrator, settings_of


@pytest.fixture(scope="module")
def vlm() -> Iterator[Server]:
    with fake_server("--answer", "tests.workflow.edival_building.fake_vlm:answer") as server:
        yield server


@pytest.fixture(scope="module")
def arena(tmp_path_factory: pytest.TempPathFactory, vlm: Server) -> Path:
    """Chains that are scored offline and rated by two people; two baselines and the style check have been asked."""
    folder = tmp_path_factory.mktemp("scores")
    make_chains(folder / "a")
    run = Imarena(folder)
    run("-w", "a", "edival", "score", "-d", "chains", code=3)
    with open_workspace(folder / "a") as workspace:
        add_ratings(workspace)
    ask = ("--base-url", vlm.url, "--model")
    run("-w", "a", "judge", "--judge", "vlm-follows", "-d", "chains", *ask, "yes")
    run("-w", "a", "judge", "--judge", "ssim", "-d", "chains")
    run("-w", "a", "judge", "--judge", "style-check", "-d", "styles", *ask, "no")
    return folder


def tables(report: Any) -> dict[str, list[dict[str, Any]]]:
    """Rows by column title, under each table's title (tables of one title are joined)."""
    found: dict[str, list[dict[str, Any]]] = {}
    for table in report["tables"]:
        rows = [dict(zip(table["columns"], row, strict=True)) for row in table["rows"]]
        found.setdefault(table["title"], []).extend(rows)
    return found


@pytest.fixture(scope="module")
def reported(arena: Path) -> dict[str, list[dict[str, Any]]]:
    options = ("--baseline", "vlm-follows", "--baseline", "ssim", "--out", "tables")
    return tables(Imarena(arena)("-w", "a", "--json", "edival", "report", *options).json)


def test_missing_turns_and_other_sizes_are_counted(reported: dict[str, list[dict[str, Any]]]) -> None:
    counted = {(row["editor"], row["turn"]): row for row in reported["What was counted (multi-turn)"]}
    assert [(counted["odd", f"T{t}"]["outputs"], counted["odd", f"T{t}"]["missing"]) for t in (1, 2, 3)] == [
        (2, 0), (1, 1), (1, 1),
    ]  # fmt: skip
    assert [counted["odd", f"T{t}"]["other size"] for t in (1, 2, 3)] == [2, 1, 1]
    assert all(counted[editor, f"T{t}"]["other size"] == 0 for editor in ("exact", "lazy") for t in (1, 2, 3))
    scores = {row["editor"]: row for row in reported["EdiVal scores (multi-turn), percent"]}
    assert [scores["odd"][f"n T{t}"] for t in (1, 2, 3)] == [2, 1, 1]
    assert [scores["exact"][f"n T{t}"] for t in (1, 2, 3)] == [2, 2, 2]
    assert scores["lazy"]["CC T3"] == pytest.approx(100.0, abs=0.01), "a copy of the base is consistent with it"


def test_complete_cases_leave_the_item_out(arena: Path) -> None:
    found = tables(Imarena(arena)("-w", "a", "--json", "edival", "report", "--complete").json)
    scores = {row["editor"]: row for row in found["EdiVal scores (multi-turn), percent"]}
    assert [scores["odd"][f"n T{t}"] for t in (1, 2, 3)] == [1, 1, 1]


def test_complex_mode_has_its_tables(reported: dict[str, list[dict[str, Any]]]) -> None:
    success = {row["editor"]: row for row in reported["Success rates (complex), percent"]}
    assert set(success) == {"exact", "lazy"}
    assert {"this turn C1", "this turn C2", "this turn C3"} <= set(success["exact"]), "the last instruction by C"
    assert {row["editor"] for row in reported["Multi-turn against complex: image success, percent"]} == {
        "exact",
        "lazy",
    }
    assert {row["connector"] for row in reported["Complex prompts by connector: image success, percent"]} == {
        "concatenate"
    }
    fronts = reported["Pareto fronts (complex)"]
    assert {(row["turn"], row["axes"]) for row in fronts} == {
        (f"C{turn}", axes) for turn in (1, 2, 3) for axes in ("IF and CC", "IF and VQ", "CC and VQ")
    }
    assert all(row["on the front"] for row in fronts if row["axes"] == "CC and VQ")


def test_square_and_padded_images_are_apart(reported: dict[str, list[dict[str, Any]]]) -> None:
    for mode in ("multi-turn", "complex"):
        assert f"Consistency ({mode}, square images), percent" in reported
        assert f"Consistency ({mode}, images that are not square), percent" in reported


def test_plots_of_fronts_and_trends_are_written(reported: dict[str, list[dict[str, Any]]], arena: Path) -> None:
    names = {path.name for path in (arena / "tables").iterdir()}
    for mode in ("multi-turn", "complex"):
        assert {f"luminance-{mode}.png", f"last-instruction-{mode}.png", f"passing-{mode}.png"} <= names
    assert "pareto-multi_turn-3-cc-vq.png" in names
    passing = next(path for path in (arena / "tables").glob("*cc-of-90*.csv"))
    rows = list(csv.DictReader(passing.open()))
    assert {row["editor"] for row in rows} >= {"exact", "lazy"}


def test_agreement_with_people_has_baselines_and_the_ceiling(reported: dict[str, list[dict[str, Any]]]) -> None:
    lines = {(row["type"], row["judge"]): row for row in reported["Agreement with people"]}
    follows = lines["overall", "vlm-follows/yes"]
    assert follows["n"] == 11, "twelve outputs were rated; raters are even on one"
    assert follows["accuracy"] == pytest.approx(100 * 6 / 11), "it always says yes"
    assert follows["F1"] == pytest.approx(2 * 6 / (2 * 6 + 5))
    assert follows["threshold"] in (None, ""), "yes and no need no threshold"
    own = lines["overall", "edival"]
    assert 0 < own["n"] <= 11
    assert own["accuracy"] is not None
    by_type = [row for (kind, judge), row in lines.items() if judge.startswith("ssim") and kind != "overall"]
    assert by_type
    assert all(row["threshold"] not in (None, "") for row in by_type), "a threshold for each type"
    assert all(row["accuracy"] >= 50 for row in by_type), "the best threshold is never below a constant answer"
    ceiling = lines["overall", "raters among themselves"]
    assert (ceiling["n"], ceiling["accuracy"]) == (12, pytest.approx(100 * 11 / 12))


def test_the_style_check_is_by_mode_and_shape_beside_people(reported: dict[str, list[dict[str, Any]]]) -> None:
    rows = {(row["mode"], row["source"]): row for row in reported["Style check, percent"]}
    assert set(rows) == {(mode, shape) for mode in ("multi_turn", "complex") for shape in ("square", "padded")}
    for row in rows.values():
        assert (row["judge"], row["editor"], row["answers"], row["yes"]) == ("style-check/no", "exact", 1, 0.0)
        assert (row["rated"], row["people: yes"], row["agreement"]) == (1, 100.0, 0.0)


def test_another_threshold_is_a_tool_swap_by_itself(arena: Path) -> None:
    run = Imarena(arena)
    with open_workspace(arena / "a") as workspace:
        before = workspace.store.count(Evidence, kind="boxes")
    options = ("-o", "threshold=0.6", "-o", "dimension=instruction_following")
    run("-w", "a", "edival", "score", "-d", "chains", *options, code=None)
    with open_workspace(arena / "a") as workspace:
        assert workspace.store.count(Evidence, kind="boxes") == before, "no image is searched again"
    found = tables(run("-w", "a", "--json", "edival", "report").json)
    swaps = found["Tool swap: correlations over (editor, turn)"]
    assert {row["variant"] for row in swaps} == {"edival: threshold 0.6"}
    assert {row["default"] for row in swaps} == {"edival"}
    assert {row["figure"] for row in swaps} <= {"image_success", "task_success"}, "only what was scored twice"
    assert {row["tools"] for row in found["Figures by set of tools (multi-turn), percent"]} == {
        "edival", "edival: threshold 0.6",
    }  # fmt: skip
    people = {row["judge"] for row in found["Agreement with people"]}
    assert {"edival", "edival: threshold 0.6"} <= people, "human agreement of each set"


def test_quality_by_a_model_stands_beside(arena: Path, vlm: Server) -> None:
    run = Imarena(arena)
    ask = ("--base-url", vlm.url, "--model", "rates")
    run("-w", "a", "edival", "score", "-d", "chains", "-o", "dimension=quality", *ask)
    found = tables(run("-w", "a", "--json", "edival", "report", "--judge", "edival/rates").json)
    rows = {row["editor"]: row for row in found["Other measures of quality (multi-turn)"]}
    assert {rows[name]["vlm quality T1"] for name in ("exact", "lazy", "odd", "base images")} == {70.0}


def test_align_compares_the_scores_with_people(arena: Path) -> None:
    found = Imarena(arena)(
        "-w", "a", "--json", "align", "--judge", "edival", "--against", "people", "--rounds", "0"
    ).json
    groups = {group["criterion"]: group for group in found["scores"]["groups"]}
    assert groups["instruction_following"]["n"] > 0


def test_health_lists_the_judge(arena: Path) -> None:
    judges = {judge["judge"] for judge in Imarena(arena)("-w", "a", "--json", "health").json["judges"]}
    assert "edival" in judges


@pytest.mark.slow
def test_the_report_takes_the_scores(arena: Path) -> None:
    Imarena(arena)("-w", "a", "report", "page", "--gallery", 1)
    assert "edival" in (arena / "page" / "index.html").read_text(encoding="utf-8")


def test_the_web_board_takes_the_scores(arena: Path) -> None:
    run = Imarena(arena)
    by_command = run("-w", "a", "--json", "rank", "--judge", "edival", "--dimension", "consistency").json
    admin = administrator(create_app(settings_of(arena / "a")))
    board = admin.get("/api/board?source=judge&judge=edival&dimension=consistency").json()
    assert board["n_battles"] == by_command["n_battles"] > 0
    assert [model["model"] for model in board["standings"]] == [model["model"] for model in by_command["models"]]


def test_what_could_not_be_decided_is_a_status(arena: Path) -> None:
    with open_workspace(arena / "a") as workspace:
        failed = [one for one in workspace.store.records(Judgment, judge="edival") if one.status is not Status.OK]
    assert failed
    assert all(one.status is Status.REFUSED and one.score is None and one.error for one in failed)
