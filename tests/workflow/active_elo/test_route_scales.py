"""Active Elo with a judge of 0 to 10, from the command line; and 0 to 1000 says the same as 0 to 10."""

import csv
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from imarena.core.records import Assignment, Calibration, Item, Judgment, Output, Turn
from imarena.storage import init_workspace, open_workspace
from tests.command import Imarena
from tests.samples import picture_of
from tests.workflow.active_elo.routed_arena import EDITORS, STRENGTH, vote_all

BOARDS = "corrected,active-elo,mixture"


def arena_of(folder: Path, judge: str, divisor: float) -> Path:
    """40 items, five editors, and whole scores of 0 to 1000 divided by `divisor`: with decimals, equal gaps are not
    equal in the last bit.
    """
    rng = np.random.default_rng(5)
    items = [
        Item(dataset="d", key=f"i{n}", turns=(Turn(instruction=f"edit {n}"),), family=("colour", "shape")[n % 2])
        for n in range(40)
    ]
    with init_workspace(folder) as workspace:
        outputs = [
            Output(item_id=item.item_id, editor=editor, image=picture_of(workspace, f"{item.key}-{editor}"))
            for item in items
            for editor in EDITORS
        ]
        judgments = []
        for n, output in enumerate(outputs):
            name = output.editor or ""
            points = 500 + 120 * STRENGTH[name] + rng.normal(0, 80) + 60 * (name == "editor-1")
            whole = float(np.clip(10 * round(points / 10), 0, 1000))  # in tens, so that many gaps are equal
            judgments.append(
                Judgment(
                    work_id=f"w{n}",
                    judge=judge,
                    item_id=output.item_id,
                    left_id=output.output_id,
                    score=whole / divisor,
                )
            )
        workspace.store.add(items)
        workspace.store.add(outputs)
        workspace.store.add(judgments)
    return folder


def campaign(imarena: Imarena, arena: Path, folder: Path) -> dict[str, Any]:
    """Votes by both policies, then everything that `route` computes of them."""
    sheets = []
    for step, policy in enumerate(("random", "information", "two-gate")):
        sheet = folder / f"{arena.name}-{policy}.csv"
        asked = ("--budget", 90, "--policy", policy, "--raters", "ann,bob", "--out", sheet, "--seed", step)
        imarena("-w", arena, "route", "assign", *asked)
        with sheet.open() as file:
            sheets.append([(row["assignment"], row["rater"]) for row in csv.DictReader(file)])
        imarena("-w", arena, "route", "ingest", vote_all(arena, sheet, step))
    found = {"sheets": sheets}
    for name, *words in (
        ("calibrate", "--rounds", 40),
        ("plan", "--target", 40),
        ("rerank", "--settings", BOARDS, "--rounds", 40),
        ("report", "--rounds", 20, "--seeds", 3, "--no-groups"),
    ):
        found[name] = imarena("-w", arena, "route", name, *words, "--json").json
    return found


def figures(document: Any) -> dict[str, float]:
    """Every number of a document by its path."""
    if isinstance(document, dict):
        return {f"{key}/{path}": value for key, part in document.items() for path, value in figures(part).items()}
    if isinstance(document, list):
        return {f"{key}/{path}": value for key, part in enumerate(document) for path, value in figures(part).items()}
    return {"": document} if isinstance(document, int | float) else {}


@pytest.mark.slow
def test_a_judge_of_0_to_10_from_start_to_report(imarena: Imarena, tmp_path: Path) -> None:
    """And a judge whose scores are a hundred times as large is the same judge."""
    ten, thousand = arena_of(tmp_path / "ten", "robot", 100), arena_of(tmp_path / "thousand", "robot", 1)
    small, large = campaign(imarena, ten, tmp_path), campaign(imarena, thousand, tmp_path)

    assert small["calibrate"]["score_range"] == {"low": 0, "high": 10, "from": "scores"}
    bands = [(row["low"], row["high"]) for row in small["calibrate"]["table"]]
    assert bands == [(0, 0.5), (0.5, 1), (1, 2), (2, None)]
    assert min(row["n"] for row in small["calibrate"]["table"]) >= 20
    assert max(row["fraction"] for row in small["calibrate"]["table"]) < 0.6
    assert len([row for row in small["calibrate"]["fine_table"] if row["n"]]) >= 7
    active = small["rerank"]["boards"][1]
    assert active["settings"]["score_range"] == [0, 10]
    assert active["models"][0]["model"] == "editor-0"
    assert small["report"]["thresholds"]["settings"]["shift"] == 0.5
    page = imarena("-w", ten, "route", "report", "--rounds", 20, "--seeds", 2, "--no-groups").out
    assert "loosened and tightened by 0.5 (table 9)" in page
    assert "0 to 10 (a range rounded outward from the scores)" in page

    assert small["sheets"] == large["sheets"], "the same battles are asked"
    for table in ("table", "fine_table"):
        for one, other in zip(small["calibrate"][table], large["calibrate"][table], strict=True):
            assert (one["n"], one["agreement"]) == (other["n"], other["agreement"])
            assert one["low"] * 100 == pytest.approx(other["low"])
    for one, other in zip(small["calibrate"]["curves"], large["calibrate"]["curves"], strict=True):
        assert one["agreement"] == pytest.approx(other["agreement"], abs=1e-12)
        assert [100 * gap for gap in one["gap"]] == pytest.approx(other["gap"])
    for one, other in zip(small["rerank"]["boards"], large["rerank"]["boards"], strict=True):
        assert [row["model"] for row in one["models"]] == [row["model"] for row in other["models"]]
        assert figures(one["models"]) == pytest.approx(figures(other["models"]), abs=1e-6)
    assert small["plan"]["tau"] * 100 == pytest.approx(large["plan"]["tau"])
    assert small["plan"]["delta"] * 100 == pytest.approx(large["plan"]["delta"])
    for key in ("deferral", "by_model", "top_confidence", "votes_likely"):
        assert figures(small["plan"][key]) == pytest.approx(figures(large["plan"][key]), abs=1e-6), key
    for key in ("policies", "thresholds"):
        lines = [document["report"][key]["lines"] for document in (small, large)]
        assert figures(lines[0]) == pytest.approx(figures(lines[1]), abs=1e-6), key


@pytest.fixture
def voted(imarena: Imarena, tmp_path: Path) -> Path:
    """A workspace of VIEScore, which declares 0 to 10, with 150 votes."""
    arena = arena_of(tmp_path / "arena", "viescore/some-model", 200)
    sheet = tmp_path / "sheet.csv"
    imarena("-w", arena, "route", "assign", "--budget", 150, "--policy", "random", "--out", sheet)
    imarena("-w", arena, "route", "ingest", vote_all(arena, sheet))
    return arena


def test_the_range_is_the_judges_own_or_the_one_that_is_given(imarena: Imarena, voted: Path) -> None:
    """Scores that end at 5 are of 0 to 10 all the same: the judge says so."""
    assert imarena("-w", voted, "route", "calibrate", "--rounds", 0, "--json").json["score_range"]["from"] == "judge"
    given = imarena("-w", voted, "route", "calibrate", "--rounds", 0, "--range", "0:5", "--json").json
    assert given["score_range"] == {"low": 0, "high": 5, "from": "given"}
    assert [row["high"] for row in given["table"]] == [0.25, 0.5, 1, None]
    own = imarena("-w", voted, "route", "calibrate", "--rounds", 0, "--edges", "0.3,0.9", "--json").json
    assert [row["high"] for row in own["table"]] == [0.3, 0.9, None]
    report = imarena("-w", voted, "route", "report", "--rounds", 20, "--seeds", 0, "--no-groups", "--json").json
    assert [row["high"] for row in report["calibration"]["all"]["table"]] == [0.3, 0.9, None]
    boards = [rerank(imarena, voted, *words) for words in ((), ("--set", "score_range=0:5"))]
    assert [board["settings"]["score_range"] for board in boards] == [[0, 10], [0, 5]]
    assert boards[0]["models"][0]["rating"] < boards[1]["models"][0]["rating"], "scores of 0 to 5 have twice the S"


def rerank(imarena: Imarena, arena: Path, *words: object, setting: str = "active-elo") -> Any:
    return imarena("-w", arena, "route", "rerank", "--settings", setting, "--rounds", 20, *words, "--json").json[
        "boards"
    ][0]


def test_rerank_takes_the_settings_of_rank(imarena: Imarena, voted: Path) -> None:
    imarena("-w", voted, "route", "calibrate", "--rounds", 0)
    plain = rerank(imarena, voted)
    words = ("k_human=16", "alpha=0.25", "epsilon=0.05", "scale_floor=300", "paper_compat=true")
    set_all = rerank(imarena, voted, *(part for word in words for part in ("--set", word)))
    shown = {name: set_all["settings"][name] for name in ("k_human", "alpha", "q_human", "scale_floor", "paper_compat")}
    assert shown == {"k_human": 16, "alpha": 0.25, "q_human": 0.95, "scale_floor": 300, "paper_compat": True}
    assert set_all["settings"]["calibration"]["method"] == "piecewise"
    for word in words:
        assert rerank(imarena, voted, "--set", word)["models"] != plain["models"], word
    constant = rerank(imarena, voted, "--set", "q_judge=0.7")
    assert constant["settings"]["q_by_gap"] == []
    assert constant["settings"]["q"] == "as it was given, not calibrated"
    mixed = rerank(imarena, voted, setting="mixture")
    few = rerank(imarena, voted, "--set", "gap_bins=3", "--set", "q_human=0.9", "--set", "scale=200", setting="mixture")
    assert len(mixed["details"]["reliability_by_band"]) > 4
    assert (len(few["details"]["reliability_by_band"]), few["details"]["reliability_by_band"][-1]) == (4, 0.9)
    assert few["settings"]["scale"] == 200
    for word, message in (
        ("colour=1", "No setting 'colour'"), ("alpha=wide", "needs a number"), ("alpha", "NAME=VALUE"),
        ("score_range=10", "not a score range"), ("score_range=5:1", "not a score range"), ("epsilon=2", "0 to 1"),
    ):  # fmt: skip
        ended = imarena("-w", voted, "route", "rerank", "--set", word, code=2)
        assert message in ended.err
    both = ("--set", "epsilon=0.1", "--set", "q_human=0.9")
    assert "one setting" in imarena("-w", voted, "route", "rerank", *both, code=2).err


def test_the_papers_map_is_a_step_function(imarena: Imarena, voted: Path, tmp_path: Path) -> None:
    words = ("route", "calibrate", "--method", "piecewise", "--rounds", 30, "--json", "--plot", tmp_path / "r.svg")
    found = imarena("-w", voted, *words).json
    curve = found["curves"][0]
    assert len(curve["edges"]) == len(curve["gap"]) - 1
    assert (tmp_path / "r.svg").stat().st_size > 1000
    board = rerank(imarena, voted, "--paper-compat")
    levels = {q for _, q in board["settings"]["q_by_gap"]}
    assert levels == set(curve["agreement"]), "q = a, and only the bins' values"
    imarena("-w", voted, "route", "calibrate", "--rounds", 0)
    again = rerank(imarena, voted, "--paper-compat")
    assert again["settings"]["q_by_gap"] == board["settings"]["q_by_gap"], "isotonic pairs are read as steps"
    lines = rerank(imarena, voted)
    assert lines["settings"]["calibration"]["method"] == "isotonic"
    assert lines["settings"]["q_by_gap"] != board["settings"]["q_by_gap"]
    imarena("-w", voted, *words)
    assert rerank(imarena, voted)["settings"]["calibration"]["method"] == "piecewise", "what was asked for last counts"


def test_a_logistic_curve_without_a_ridge_is_another_calibration(imarena: Imarena, voted: Path) -> None:
    betas = []
    for ridge in (0.25, 0):
        asked = ("--method", "logistic", "--rounds", 10, "--ridge", ridge, "--json")
        betas.append(imarena("-w", voted, "route", "calibrate", *asked).json["curves"][0]["parameters"][0])
    assert betas[1] > betas[0]
    with open_workspace(voted) as workspace:
        kept = [record for record in workspace.store.records(Calibration) if record.group == "all"]
        assert [record.data.get("ridge") for record in kept] == [None, 0]
        assert len(list(workspace.store.records(Assignment))) == 150
    wrong: tuple[tuple[tuple[object, ...], str], ...] = (
        (("--ridge", -1), "not possible"), (("--method", "magic"), "Known: isotonic, piecewise, logistic"),
        (("--edges", "2,1"), "must rise"), (("--edges", "wide"), "not a list"), (("--range", "ten"), "not a score range"),
    )  # fmt: skip
    for more, message in wrong:
        assert message in imarena("-w", voted, "route", "calibrate", *more, code=2).err
