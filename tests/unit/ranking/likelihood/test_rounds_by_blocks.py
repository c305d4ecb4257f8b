"""Rounds in which models were separated are fitted by their blocks of models; the result is that of fitting each alone."""

import numpy as np
import pytest

from imarena.ranking.boards import from_tables
from imarena.ranking.likelihood import replicate
from imarena.ranking.likelihood.pair_counts import PairCells
from imarena.ranking.likelihood.separation import block_labels, find_blocks


def table(seed: int) -> dict[str, list[str]]:
    """A few battles of models that are far apart, so that many rounds have unbeaten or winless models."""
    rng = np.random.default_rng(seed)
    models, battles = int(rng.integers(2, 9)), int(rng.integers(6, 60))
    strength = 2.5 * rng.normal(size=models)
    left = rng.integers(0, models, battles)
    right = (left + rng.integers(1, models, battles)) % models
    won = rng.random(battles) < 1 / (1 + np.exp(strength[right] - strength[left]))
    winner = np.where(rng.random(battles) < 0.1, "tie", np.where(won, "left", "right"))
    return {
        "left": [f"m{one}" for one in left],
        "right": [f"m{one}" for one in right],
        "winner": winner.tolist(),
        "item": [f"i{one}" for one in rng.integers(0, 12, battles)],
    }


@pytest.mark.parametrize("cluster", ["battle", "item"])
def test_the_same_intervals_as_from_rounds_fitted_alone(cluster: str, monkeypatch: pytest.MonkeyPatch) -> None:
    by_blocks = 0
    for seed in range(25):
        together = from_tables.rank(table(seed), rounds=100, seed=seed, cluster=cluster)
        with monkeypatch.context() as patched:
            patched.setattr(replicate, "MOST_GROUPED", 0)
            alone = from_tables.rank(table(seed), rounds=100, seed=seed, cluster=cluster)
        by_blocks += int(str(together.details["rounds_fitted_alone"]))
        for one, other in zip(together.models, alone.models, strict=True):
            assert (one.low is None) == (other.low is None)
            if one.low is not None and other.low is not None and one.high is not None and other.high is not None:
                assert (one.low, one.high) == pytest.approx((other.low, other.high), abs=1e-4)
            assert (one.rank_low, one.rank_high) == (other.rank_low, other.rank_high)
    assert by_blocks > 500


def test_labels_split_models_as_the_graph_search_does() -> None:
    rng = np.random.default_rng(5)
    for _ in range(40):
        m = int(rng.integers(2, 9))
        left, right = np.triu_indices(m, 1)
        counts = rng.poisson(0.4, (left.size, 3, 6)).astype(float)
        cells = PairCells(
            n_models=m, left=left, right=right, group=np.zeros(left.size, np.int64), counts=counts[:, :, 0],
            covariates=np.zeros((left.size, 0)), factor=np.ones(left.size),
        )  # fmt: skip
        for place, of in enumerate(block_labels(cells, counts)):
            drawn = PairCells(**{**vars(cells), "counts": counts[:, :, place]})
            expected = find_blocks(drawn).of
            assert ((of[:, None] == of) == (expected[:, None] == expected)).all()
