"""CV-Arena's equations 4 to 7, 12, 13 and 20, each by a case computed by hand; finite at the ends of the scale."""

import math

import numpy as np
import pytest

from imarena.ranking.kernels import credible_step
from imarena.routing import (
    Gates,
    agreement_table,
    explicit_gates,
    fit_curve,
    reliability,
    reliability_points,
)
from imarena.routing.calibration import CalibrationMethod, Curve
from imarena.routing.gates import information, information_paper, prefers_people


def test_equation_4_the_two_gates() -> None:
    gates = Gates(tau=400, delta=100)
    lower, gap = np.array([400.0, 399.0, 500.0, 500.0, np.nan]), np.array([99.0, 10.0, 100.0, 0.0, 1.0])
    assert gates.passes(lower, gap).tolist() == [True, False, False, True, False]
    assert gates.moved(50) == Gates(350, 150)
    assert gates.moved(-50) == Gates(450, 50)


def test_gates_are_explicit_where_a_threshold_is_given() -> None:
    assert explicit_gates(None, None) is None
    assert explicit_gates(0.0, None) == Gates(0.0, None)
    assert explicit_gates(None, 100) == Gates(None, 100)


def test_equations_5_to_7_one_update() -> None:
    """Ratings 1100 and 1000, scores 300 and 500 (S = 400), q = .8, K = 16, the left side wins."""
    p = 1 / (1 + math.exp(-100 / 400))
    rho = 0.8 * p / (0.8 * p + 0.1)
    assert p == pytest.approx(0.5621765)
    assert rho == pytest.approx(0.8180962)
    step = 16 * credible_step(1.0, 100.0, 400.0, 0.8)
    assert step == pytest.approx(16 * rho * (1 - p))
    assert step == pytest.approx(5.7309, abs=1e-4)
    lost = 16 * credible_step(0.0, 100.0, 400.0, 0.8)
    assert lost == pytest.approx(-16 * (0.8 * (1 - p)) / (0.8 * (1 - p) + 0.1) * p)


@pytest.mark.parametrize("q", [0.0, 0.5, 1.0])
@pytest.mark.parametrize("scale", [100.0, 1000.0])
@pytest.mark.parametrize("lead", [-4000.0, 0.0, 4000.0])
def test_finite_at_scores_of_0_and_1000(lead: float, scale: float, q: float) -> None:
    """S is (0 + 0) / 2 raised to its floor of 100, or 1000; K rho (z - p) stays finite and points to the winner."""
    for points in (0.0, 0.5, 1.0):
        step = credible_step(points, lead, scale, max(q, 1e-9))
        assert math.isfinite(step)
        assert abs(step) <= 1
    assert credible_step(1.0, lead, scale, max(q, 1e-9)) >= 0


def test_equation_12_and_isotonic() -> None:
    """Forty pairs in four equal-count bins: shares .5, .8, .7, 1; the second and third are pooled to .75."""
    gap = np.repeat([10.0, 20.0, 30.0, 40.0], 10)
    agrees = np.concatenate([np.arange(10) < 10 * share for share in (0.5, 0.8, 0.7, 1.0)]).astype(float)
    curve = fit_curve(gap, agrees, bins=4, rounds=20)
    assert curve.empirical.tolist() == pytest.approx([0.5, 0.8, 0.7, 1.0])
    assert curve.agreement.tolist() == pytest.approx([0.5, 0.75, 0.75, 1.0])
    assert curve.at(np.array([0.0, 15.0, 99.0])).tolist() == pytest.approx([0.5, 0.625, 1.0])


def test_equation_13_logistic() -> None:
    one = np.zeros(1)
    at = Curve("logistic", one, one, one, one, one, one, (0.02, 50.0)).at(np.array([50.0, 100.0]))
    assert at.tolist() == pytest.approx([0.5, 1 / (1 + math.exp(-1))])
    rng = np.random.default_rng(0)
    gap = rng.uniform(0, 400, 20_000)
    agrees = (rng.random(gap.size) < 1 / (1 + np.exp(-0.01 * (gap - 30)))).astype(float)
    found = fit_curve(gap, agrees, method="logistic", rounds=20)
    assert found.parameters is not None
    assert found.parameters[0] == pytest.approx(0.01, rel=0.08)
    assert found.parameters[1] == pytest.approx(30, abs=8)


def test_equation_13_never_falls() -> None:
    """A judge that agrees less the wider its gap: beta stays above 0, and the curve is flat at the share that agrees."""
    gap = np.repeat([10.0, 300.0], 100)
    agrees = np.concatenate([np.arange(100) < 80, np.arange(100) < 40]).astype(float)
    found = fit_curve(gap, agrees, method="logistic", rounds=20)
    assert found.parameters is not None
    assert found.parameters[0] > 0
    assert found.at(np.array([0.0, 1000.0])).tolist() == pytest.approx([0.6, 0.6], abs=0.001)


def test_equation_20() -> None:
    """With p = .7. As printed: info(1) = .21, info(.5) = .24: it falls as q rises. Fisher's: .21 and .045938."""
    q, p = np.array([1.0, 0.5]), np.array([0.7, 0.7])
    assert information_paper(q, p).tolist() == pytest.approx([0.21, 0.24])
    assert information(q, p).tolist() == pytest.approx([0.21, (0.5 * 0.21) ** 2 / 0.24])
    assert information(q, p, 2.0).tolist() == pytest.approx([0.0525, (0.5 * 0.21) ** 2 / 0.96])
    judge = np.array([0.1, 0.9])
    for paper, routed in ((False, True), (True, False)):
        found = prefers_people(judge, p, cost_vote=1.0, cost_judgment=1.0, q_human=1.0, paper_compat=paper)
        assert found.tolist() == [routed, routed]
    assert prefers_people(judge, p, cost_vote=10.0, cost_judgment=1.0).tolist() == [True, False]
    assert np.isfinite(information(np.array([0.0, 1.0, 1.0]), np.array([0.5, 0.0, 1.0]))).all()


def test_what_q_is_made_of_agreement() -> None:
    rate = np.array([0.4, 0.5, 0.75, 1.0])
    assert reliability(rate).tolist() == [0.0, 0.0, 0.5, 1.0]
    assert reliability(rate, paper_compat=True).tolist() == rate.tolist()


def test_table_5() -> None:
    gap, agrees = np.array([10.0, 60.0, 60.0, 150.0, 200.0]), np.array([1.0, 1.0, 0.0, 1.0, 1.0])
    rows = agreement_table(gap, agrees)
    assert [(row.low, row.high, row.n, row.agreement, row.fraction) for row in rows] == [
        (0.0, 50.0, 1, 1.0, 0.2), (50.0, 100.0, 2, 0.5, 0.4), (100.0, 200.0, 1, 1.0, 0.2), (200.0, None, 1, 1.0, 0.2),
    ]  # fmt: skip


@pytest.mark.parametrize("method", ["isotonic", "logistic"])
@pytest.mark.parametrize("paper_compat", [False, True])
def test_the_online_update_has_the_reliability_of_the_curve(method: CalibrationMethod, paper_compat: bool) -> None:
    """Straight lines between its points are the curve itself: logistic, and where 2a - 1 passes 0."""
    rng = np.random.default_rng(4)
    gap = rng.uniform(1, 800, 2000)
    agrees = (rng.random(2000) < 1 / (1 + np.exp(-0.02 * (gap - 150)))).astype(np.float64)
    curve = fit_curve(gap, agrees, method=method, rounds=0)
    points = np.array(reliability_points(curve, 900.0, paper_compat=paper_compat))
    at = np.linspace(0, 900, 3001)
    told = np.interp(at, points[:, 0], points[:, 1])
    assert told == pytest.approx(reliability(curve.at(at), paper_compat=paper_compat), abs=1e-3)
