"""Each method against somebody else's: evalica, choix, statsmodels, scipy."""

from dataclasses import replace
from itertools import pairwise
from typing import Any

import choix
import evalica
import numpy as np
import pytest
import statsmodels.api as sm
from scipy.optimize import minimize

from imarena.ranking import LEFT_WINS, TIED, Battles, CodedColumn, Options, rank_battles
from imarena.ranking.boards.maximum_likelihood import LIKELIHOODS
from imarena.ranking.likelihood.fit import fit_board
from imarena.ranking.likelihood.likelihoods import NO_AUX, BradleyTerry, Davidson, Mixture
from imarena.ranking.likelihood.mixture import expectation_maximisation, reliability_groups
from imarena.ranking.likelihood.pair_counts import count_pairs
from imarena.ranking.likelihood.replicate import replicate
from imarena.ranking.options import EloOptions, MixtureOptions
from imarena.ranking.resample import battle_units
from tests.unit.ranking.simulated import battles as simulate

STRENGTHS = np.linspace(1.0, -1.0, 7)
WINNERS = [evalica.Winner.X, evalica.Winner.Draw, evalica.Winner.Y]


def ratings(given: Battles, options: Options) -> dict[str, float]:
    return {standing.model: standing.rating for standing in rank_battles(given, options).models}


def names(given: Battles) -> tuple[list[str], list[str], list[evalica.Winner]]:
    left = [given.models[i] for i in given.left]
    right = [given.models[i] for i in given.right]
    return left, right, [WINNERS[outcome] for outcome in given.outcome]


def test_bradley_terry_is_evalicas() -> None:
    given = simulate(STRENGTHS, 3000, 1, ties=0.2)
    theirs = evalica.bradley_terry(*names(given), tolerance=1e-12, limit=100_000).scores
    ours = ratings(given, Options(interval="none"))
    level = 400 * np.log10(theirs)
    level += 1000 - level.mean()
    assert ours == pytest.approx(level.to_dict(), abs=1e-4)


def test_bradley_terry_is_choixs() -> None:
    given = simulate(STRENGTHS, 2000, 2)
    data = [
        (i, j) if o == LEFT_WINS else (j, i) for i, j, o in zip(given.left, given.right, given.outcome, strict=True)
    ]
    theirs = choix.ilsr_pairwise(len(STRENGTHS), data)
    ours = fit_board(count_pairs(given), BradleyTerry()).theta
    assert ours - ours.mean() == pytest.approx(theirs - theirs.mean(), abs=1e-5)


def test_position_and_covariate_are_a_logistic_regression() -> None:
    rng = np.random.default_rng(3)
    column = rng.normal(size=4000)
    given = simulate(STRENGTHS, 4000, 3, position=0.4, covariates=column[:, None], covariate_names=("size",))
    design = np.zeros((4000, 7))
    design[np.arange(4000), given.left] += 1
    design[np.arange(4000), given.right] -= 1
    full = np.column_stack([design[:, 1:], np.ones(4000), column / column.std()])
    theirs = sm.Logit((given.outcome == LEFT_WINS).astype(float), full).fit(disp=0, tol=1e-12)
    board = rank_battles(given, Options(position=True, interval="sandwich", cluster="battle"))
    coefficients: Any = board.details["coefficients"]
    found = {row["name"]: row for row in coefficients}
    per_log = 400 / np.log(10)
    assert found["position"]["rating_points"] == pytest.approx(theirs.params[6] * per_log, abs=1e-6)
    assert found["size"]["rating_points"] == pytest.approx(theirs.params[7] * per_log, abs=1e-6)
    robust = sm.Logit((given.outcome == LEFT_WINS).astype(float), full).fit(disp=0, tol=1e-12, cov_type="HC0")
    half = (found["position"]["high"] - found["position"]["low"]) / 2
    assert half == pytest.approx(1.959964 * robust.bse[6] * per_log, rel=1e-3)
    assert found["position"]["low"] < 0.4 * per_log < found["position"]["high"]


def test_online_elo_is_evalicas() -> None:
    given = simulate(STRENGTHS, 500, 4, ties=0.3)
    theirs = evalica.elo(*names(given), k=16).scores.to_dict()
    assert ratings(given, Options(method="elo", interval="none", elo=EloOptions(k=16))) == pytest.approx(theirs)


def test_davidson_is_a_plain_optimiser() -> None:
    given = simulate(STRENGTHS, 1500, 5, ties=0.25, dimension=None)
    cells = count_pairs(given)

    def loss(x: np.ndarray[tuple[int], np.dtype[np.float64]]) -> float:
        theta, nu = x[:7], np.exp(x[7])
        a, b = np.exp(theta[cells.left]), np.exp(theta[cells.right])
        total = a + b + nu * np.sqrt(a * b)
        left, tie, right = cells.counts.T
        value = left * np.log(a / total) + right * np.log(b / total) + tie * np.log(nu * np.sqrt(a * b) / total)
        return float(-value.sum() + theta.sum() ** 2)

    theirs = minimize(loss, np.zeros(8), method="BFGS", options={"gtol": 1e-7}).x
    ours = fit_board(cells, Davidson())
    assert ours.theta == pytest.approx(theirs[:7], abs=1e-4)
    assert ours.aux[0] == pytest.approx(theirs[7], abs=1e-4)


def test_mixture_by_newton_is_expectation_maximisation() -> None:
    """Two ways to the same maximum; a judge that flips coins half the time is found out."""
    rng = np.random.default_rng(6)
    truth = simulate(np.linspace(1.5, -1.5, 6), 12_000, 6)
    judged = rng.random(12_000) < 0.6
    rater = np.where(judged, rng.integers(0, 2, 12_000), 2).astype(np.int32)
    coin = (rater == 1) & (rng.random(12_000) < 0.5)
    outcome = np.where(coin, np.where(rng.random(12_000) < 0.5, 0, 2), truth.outcome).astype(np.int8)
    given = Battles(
        truth.models, truth.left, truth.right, outcome, judged=judged, rater=CodedColumn(rater, ("good", "bad", "p"))
    )
    groups = reliability_groups(given, MixtureOptions())
    cells = count_pairs(given, group=groups.groups)
    theta, q, _ = expectation_maximisation(cells, groups.aux)
    newton = fit_board(cells, Mixture(), aux=groups.aux)
    assert newton.converged
    assert newton.theta - newton.theta.mean() == pytest.approx(theta - theta.mean(), abs=1e-4)
    found = dict(zip(groups.groups.names, 1 / (1 + np.exp(-newton.aux)), strict=True))
    assert found == pytest.approx(dict(zip(groups.groups.names, q, strict=True)), abs=1e-4)
    assert found["people"] == 1.0
    assert found["good"] > 0.9
    assert found["bad"] == pytest.approx(0.5, abs=0.08)
    slopes = np.diff(newton.theta)
    assert slopes == pytest.approx(-0.6, abs=0.2)
    assert all(a > b for a, b in pairwise(newton.theta))


def test_bootstrap_is_a_refit_of_resampled_battles() -> None:
    """Draws by counts and the chord method against resampling rows and fitting each alone."""
    given = simulate(STRENGTHS[:5], 1500, 7, ties=0.1)
    board = rank_battles(given, Options(rounds=2000, cluster="battle"))
    rng = np.random.default_rng(8)
    rows = []
    for _ in range(400):
        pick = rng.integers(0, 1500, 1500)
        part = Battles(given.models, given.left[pick], given.right[pick], given.outcome[pick])
        theta = fit_board(count_pairs(part), BradleyTerry()).theta
        rows.append((theta - theta.mean()) * 400 / np.log(10) + 1000)
    spread = dict(zip(given.models, np.std(rows, axis=0), strict=True))
    covariance = np.array(board.covariance)
    ours = {standing.model: error for standing, error in zip(board.models, np.sqrt(np.diag(covariance)), strict=True)}
    assert ours == pytest.approx(spread, rel=0.12)
    assert TIED in given.outcome


@pytest.mark.parametrize("method", ["bt", "davidson"])
@pytest.mark.parametrize("n", [40, 150, 1000])
def test_all_rounds_at_once_are_each_round_alone(method: str, n: int) -> None:
    """Chord, batched Newton and single fits give the same strengths for the same resampled counts."""
    likelihood = LIKELIHOODS[method]
    cells = count_pairs(simulate(STRENGTHS[:4], n, 9, ties=0.3))
    base = fit_board(cells, likelihood)
    units = battle_units(cells.counts)
    together = replicate(base, units, NO_AUX, rounds=60, seed=3)
    drawn = units.draw(np.random.default_rng(3), 60).reshape(cells.left.size, 3, -1)
    assert base.blocks.whole
    for r in range(60):
        alone = fit_board(replace(cells, counts=drawn[:, :, r]), likelihood)
        expected = alone.theta - alone.theta.mean()
        assert together.theta[r] - together.theta[r].mean() == pytest.approx(expected, abs=1e-5)
        assert np.exp(together.aux[r]) == pytest.approx(np.exp(alone.aux), abs=1e-5)
