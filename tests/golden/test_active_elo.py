"""Active Elo on real votes: agreement by gap exactly, and what the policies reach at equal human budget.

The full run (200 seeds, four judges) is benchmarks/active_elo/recorded_votes.py; here are fewer seeds, with room for their error.
"""

import csv
import math
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.golden.tables import imagenhub, imarena, write_table
from tests.golden.test_alignment_figures import EDITING, scores_of

Line = dict[str, Any]


@pytest.fixture(scope="module")
def tables(shared_data: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("active")
    ratings = [(u, f"r{r}", m, values[2]) for m, u, r, values in imagenhub(shared_data, "Text-Guided_IE")]
    write_table(folder / "ratings.csv", ("unit", "rater", "model", "value"), ratings)
    scores = [row for judge in ("gpt4o", "gpt4v", "llava") for row in scores_of(shared_data, judge, EDITING, 100.0)]
    write_table(folder / "scores.csv", ("unit", "model", "judge", "score"), scores)
    return folder


def simulated(tables: Path, judge: str, *more: str) -> dict[str, Any]:
    files = ("--from", str(tables / "scores.csv"), "--against", str(tables / "ratings.csv"), "--judge", judge)
    return imarena("simulate", *files, "--rounds", "5", *more)


def accuracies(document: dict[str, Any]) -> Iterator[tuple[str, int, float]]:
    for line in document["policies"]:
        yield line["policy"], line["budget"], line["accuracy"]["mean"]


def test_agreement_by_gap_and_the_paper_policies(tables: Path) -> None:
    document = simulated(tables, "gpt4o", "--seeds", "40", "--budgets", "50,100")
    bands = [(line["low"], line["high"], line["n"], line["agreement"]) for line in document["agreement_by_gap"]]
    rounded = [(low, high, n, None if share is None else round(share, 3)) for low, high, n, share in bands]
    assert rounded == [
        (0, 50, 97, 0.474), (50, 100, 110, 0.6), (100, 200, 255, 0.675), (200, 400, 613, 0.856), (400, None, 957, 0.948),
        (0, 0, 150, None),
    ]  # fmt: skip
    assert document["true_order_accuracy"] == pytest.approx(0.853, abs=0.005)
    found = {(policy, budget): value for policy, budget, value in accuracies(document)}
    assert found["human-only", 50] == pytest.approx(0.79, abs=0.02)
    assert found["human-only", 100] == pytest.approx(0.82, abs=0.015)
    assert found["judge-only", 50] == pytest.approx(0.838, abs=0.01)
    for budget in (50, 100):
        best = max(found["human-only", budget], found["judge-only", budget])
        assert found["information", budget] > best - 0.01
    assert found["information", 50] > found["two-gate", 100] - 0.005


def test_a_judge_that_favours_a_model_and_one_that_knows_nothing(tables: Path) -> None:
    """GPT-4v loves SDEdit; LLaVA is noise: votes must not be drowned by either. With 40 seeds the error is .008."""
    few = ("--seeds", "120", "--budgets", "100", "--policies", "human-only,judge-only,two-gate,information")
    for judge in ("gpt4v", "llava"):
        found = {policy: value for policy, _, value in accuracies(simulated(tables, judge, *few))}
        best = max(found["human-only"], found["judge-only"])
        assert found["information"] > best - 0.012
        assert found["information"] > found["two-gate"]


def test_the_corrected_board_of_all_votes_is_people_s(tables: Path, shared_data: Path, tmp_path: Path) -> None:
    """Three raters' votes on every pair and GPT-4o's scores: `rank --method corrected` orders the editors as people."""
    with (tables / "ratings.csv").open() as file:
        rows = [(r["unit"], r["rater"], r["model"], float(r["value"])) for r in csv.DictReader(file)]
    scores = {(unit, model): score for unit, model, _, score in scores_of(shared_data, "gpt4o", EDITING, 100.0)}
    by_unit: dict[tuple[str, str], list[tuple[str, float]]] = {}
    for unit, rater, model, value in rows:
        if (unit, model) in scores:
            by_unit.setdefault((unit, rater), []).append((model, value))
    battles = []
    for (unit, rater), group in sorted(by_unit.items()):
        for place, (left, first) in enumerate(group):
            for right, second in group[place + 1 :]:
                same = math.isclose(first, second, abs_tol=1e-9)
                winner = "tie" if same else "left" if first > second else "right"
                pair = (scores[unit, left], scores[unit, right])
                battles.append((left, right, winner, unit, rater, "human", *pair))
    columns = ("left", "right", "winner", "item", "rater", "source", "score_left", "score_right")
    table = write_table(tmp_path / "battles.parquet", columns, battles)
    orders = []
    for method in ("corrected", "bt"):
        board = imarena("rank", "--from", str(table), "--method", method, "--rounds", "20")
        orders.append([standing["model"] for standing in board["models"]])
    assert orders[0][:5] == orders[1][:5]
    assert orders[0][0] == "MagicBrush"
