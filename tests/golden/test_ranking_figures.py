"""Figures that a correct ranking gives, from the command line: public votes, and tables printed in papers."""

import csv
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from typer.testing import CliRunner

from imarena.cli.app import app

BOARDS = Path(__file__).parent / "boards"
EDITORS = {
    "MagicBrush": 1212, "InfEdit": 1159, "CosXLEdit": 1140, "InstructPix2Pix": 1090, "PNP": 1017,
    "Prompt2prompt": 975, "CycleDiffusion": 923, "SDEdit": 887, "Pix2PixZero": 597,
}  # fmt: skip


def run(*words: str) -> Any:
    result = CliRunner().invoke(app, ["--json", "rank", *words], catch_exceptions=False)
    assert result.exit_code == 0, result.output
    return json.loads(result.stdout)


def golden(path: Path, algorithm: str) -> dict[str, float]:
    with path.open() as file:
        return {row["item"]: float(row["score"]) for row in csv.DictReader(file) if row["algorithm"] == algorithm}


@pytest.mark.parametrize("name", ["llmfao", "food", "simple"])
def test_bradley_terry_meets_the_golden_file(shared_data: Path, name: str) -> None:
    board = run("--from", str(shared_data / "evalica" / f"{name}.csv"), "--interval", "none")
    known = golden(shared_data / "evalica" / f"{name}-golden.csv", "bradley_terry")
    strength = {row["model"]: 10 ** ((row["rating"] - 1000) / 400) for row in board["models"]}
    total = sum(strength.values())
    assert strength.keys() == known.keys()
    assert max(abs(strength[model] / total - known[model]) for model in known) < 1e-6


@pytest.mark.parametrize("name", ["llmfao", "food", "simple"])
def test_online_elo_meets_the_golden_file(shared_data: Path, name: str) -> None:
    board = run("--from", str(shared_data / "evalica" / f"{name}.csv"), "--method", "elo", "--interval", "none")
    known = golden(shared_data / "evalica" / f"{name}-golden.csv", "elo")
    assert {row["model"]: row["rating"] for row in board["models"]} == pytest.approx(known, abs=1e-6)


@pytest.mark.parametrize("name", ["llmfao", "food", "simple"])
def test_points_meet_the_counting_golden_file(shared_data: Path, name: str) -> None:
    board = run("--from", str(shared_data / "evalica" / f"{name}.csv"), "--interval", "none")
    known = golden(shared_data / "evalica" / f"{name}-golden.csv", "counting")
    assert {row["model"]: row["wins"] + 0.5 * row["ties"] for row in board["models"]} == pytest.approx(known)


@pytest.mark.parametrize("name", ["food", "simple"])
def test_win_matrix_meets_the_average_win_rate_golden_file(shared_data: Path, name: str) -> None:
    board = run("--from", str(shared_data / "evalica" / f"{name}.csv"), "--interval", "none")
    known = golden(shared_data / "evalica" / f"{name}-golden.csv", "average_win_rate")
    pairs = board["details"]["pairs"]
    for model, row in zip(pairs["models"], pairs["win_matrix"], strict=True):
        met = [share for share in row if share is not None]
        assert np.mean(met) == pytest.approx(known[model], abs=1e-9)


def test_editreward_board(shared_data: Path, tmp_path: Path) -> None:
    votes = json.loads((shared_data / "editreward_genai" / "valid_dataset_1.json").read_text())
    table = tmp_path / "battles.csv"
    with table.open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["left", "right", "winner"])
        writer.writerows([vote["model1"], vote["model2"], "left"] for vote in votes)
    board = run("--from", str(table))
    assert {row["model"]: round(row["rating"]) for row in board["models"]} == EDITORS
    assert board["n_battles"] == 503
    assert all(row["low"] < row["rating"] < row["high"] for row in board["models"])


@pytest.mark.parametrize(
    ("ours", "theirs", "printed", "n"),
    [
        ("gedit_point", "lmarena_ratings", 0.36, 7),
        ("gedit_elo", "lmarena_ratings", 0.86, 7),
        ("genarena_basic", "lmarena_2026-01-16", 0.87, 11),
        ("genarena_reasoning", "lmarena_2026-01-16", 0.80, 11),
        ("genarena_multiref", "lmarena_2026-01-16", 0.50, 9),
    ],
)
def test_correlations_printed_in_genarena(ours: str, theirs: str, printed: float, n: int) -> None:
    """Tables 2 and 4 of GenArena."""
    found = run("--from", str(BOARDS / f"{ours}.csv"), "--against", str(BOARDS / f"{theirs}.csv"))["against"]
    assert round(found["spearman"], 2) == printed
    assert found["n"] == n
    assert found["date"] == ("2026-01-16" if "2026" in theirs else None)


def test_mixture_on_crowd_votes_keeps_the_order_of_the_best(shared_data: Path) -> None:
    source = str(shared_data / "evalica" / "llmfao.csv")
    plain = run("--from", source, "--interval", "none")
    mixed = run("--from", source, "--columns", "rater=worker", "--method", "mixture", "--interval", "none")
    assert mixed["details"]["converged"]
    assert mixed["models"][0]["model"] == plain["models"][0]["model"] == "GPT 4"
    order = {row["model"]: row["rank"] for row in plain["models"]}
    from scipy.stats import spearmanr

    mixed_ranks = np.array([float(row["rank"]) for row in mixed["models"]])
    plain_ranks = np.array([float(order[row["model"]]) for row in mixed["models"]])
    assert float(spearmanr(mixed_ranks, plain_ranks).statistic) > 0.95
    assert all(0 < group["value"] < 1 for group in mixed["details"]["reliability"])
