"""`rank --method mixture --interval bootstrap` on small tables: no resampled round runs off."""

from pathlib import Path

import numpy as np
import pytest

from tests.command import Imarena

MODELS = "abcd"


def write_battles(path: Path, seed: int, n: int, slope: float) -> None:
    rng = np.random.default_rng(seed)
    lines = ["left,right,winner,rater"]
    for _ in range(n):
        left, right = rng.choice(4, 2, replace=False)
        wins = rng.random() < 1 / (1 + np.exp(-slope * (right - left)))
        lines.append(f"{MODELS[left]},{MODELS[right]},{'left' if wins else 'right'},{'rst'[rng.integers(3)]}")
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")


@pytest.mark.parametrize(
    ("seed", "n", "slope", "code"),
    [(0, 40, 1.4, "strength_unbounded"), (4, 40, 1.4, "strength_unbounded"), (5, 70, 0.7, "rounds_with_prior")],
)
def test_a_round_has_the_prior_that_a_board_of_its_battles_has(
    imarena: Imarena, tmp_path: Path, seed: int, n: int, slope: float, code: str
) -> None:
    """Without it, ends of intervals were tens of thousands of points away."""
    write_battles(tmp_path / "v.csv", seed, n, slope)
    words = ("rank", "--from", "v.csv", "--method", "mixture", "--interval", "bootstrap", "--rounds", 60)
    board = imarena("--json", *words).json
    codes = {notice["code"] for notice in board["notices"]}
    assert code in codes
    assert "not_converged" not in codes
    ends = [(row["low"], row["rating"], row["high"]) for row in board["models"]]
    assert all(0 < low < rating < high < 2000 for low, rating, high in ends), ends
    if code == "rounds_with_prior":
        number = board["details"]["rounds_with_prior"]
        assert 0 < number < 60
        assert f"In {number} of 60 resampled rounds the data do not bound a rating" in " ".join(
            imarena(*words).err.split()
        )
