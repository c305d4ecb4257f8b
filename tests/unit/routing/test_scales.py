"""Boards, bands and gates hang on a score's place in the judge's range, not on its unit; the paper's map; no ridge."""

from dataclasses import asdict, replace
from typing import Any

import numpy as np
import pytest

from imarena.core.errors import UserError
from imarena.ranking import ActiveEloOptions, Options
from imarena.ranking.boards.from_tables import rank
from imarena.ranking.options import METHODS
from imarena.ranking.settings import WHOLE, known_settings, with_settings
from imarena.routing import Gates, fit_curve, gates_for, reliability, reliability_points
from imarena.stats import ScoreRange
from imarena.workflows.active_elo.simulation.compare import (
    EXTRA_POLICIES,
    POLICIES,
    SENSITIVITY,
    SimulationPlan,
    simulate,
)
from imarena.workflows.active_elo.simulation.worlds import simulated_world


def battles(factor: float, n: int = 200) -> list[dict[str, Any]]:
    rng = np.random.default_rng(2)
    rows = []
    for _ in range(n):
        left, right = rng.choice(list("abcde"), 2, replace=False)
        one, other = (float(10 * round(value)) for value in rng.uniform(0, 100, 2))
        source = str(rng.choice(["human", "judge"]))
        said = "tie" if one == other else "left" if one > other else "right"
        winner = said if source == "judge" else str(rng.choice(["left", "right", "tie"]))
        rows.append(
            {
                "left": str(left), "right": str(right), "winner": winner, "source": source,
                "score_left": one * factor, "score_right": other * factor,
            }
        )  # fmt: skip
    return rows


@pytest.mark.parametrize("method", ["active-elo", "mixture", "corrected"])
@pytest.mark.parametrize("factor", [0.01, 0.001, 100.0])
def test_a_unit_changes_no_board(method: str, factor: float) -> None:
    options = with_settings(Options(method=method, rounds=20), ["order=given"], "gap" if method == "mixture" else None)
    boards = []
    for size in (1.0, factor):
        curve = tuple((gap * size, q) for gap, q in ((0.0, 0.1), (300.0, 0.9)))
        boards.append(rank(battles(size), options=replace(options, active=ActiveEloOptions(q_by_gap=curve))))
    one, other = ({s.model: (s.rating, s.low, s.high) for s in board.models} for board in boards)
    assert one.keys() == other.keys()
    for model in one:
        assert one[model] == pytest.approx(other[model], abs=1e-6)


def test_any_unit_with_its_range_given() -> None:
    """A judge of 3 to 40, which no power of ten fits."""
    rows = battles(1.0)
    moved = [{**row, **{key: 3 + 0.037 * row[key] for key in ("score_left", "score_right")}} for row in rows]
    boards = [
        rank(table, options=Options(method="active-elo", rounds=20, active=ActiveEloOptions(score_range=ends)))
        for table, ends in ((rows, None), (moved, ScoreRange(3, 40)))
    ]
    one, other = ([(s.model, s.rating) for s in board.models] for board in boards)
    assert [model for model, _ in one] == [model for model, _ in other]
    assert [rating for _, rating in one] == pytest.approx([rating for _, rating in other], abs=1e-6)


def test_the_floor_is_a_tenth_of_the_range() -> None:
    """Two outputs near the lowest score: S is 100 rating points whatever the unit, and the floor is a setting."""
    row: dict[str, Any] = {
        "left": "a",
        "right": "b",
        "winner": "left",
        "source": "human",
        "score_left": 1.0,
        "score_right": 0.0,
    }
    far = {**row, "left": "c", "right": "d", "score_left": 1000.0, "score_right": 999.0}
    ratings = []
    for factor in (1.0, 0.01):
        table = [
            {**one, **{key: one[key] * factor for key in ("score_left", "score_right")}} for one in [row, far] * 20
        ]
        for floor in (100.0, 400.0):
            active = ActiveEloOptions(scale_floor=floor)
            found = rank(table, options=Options(method="active-elo", interval="none", active=active))
            ratings.append({standing.model: standing.rating for standing in found.models})
    assert ratings[0] == pytest.approx(ratings[2], abs=1e-9)
    assert ratings[1] == pytest.approx(ratings[3], abs=1e-9)
    assert ratings[1]["a"] > ratings[0]["a"] + 20


def test_a_unit_changes_no_simulated_campaign() -> None:
    """Every policy, the bands of the mixture and the shift of table 9."""
    world = simulated_world(n_models=5, n_items=60, seed=4)
    world = replace(world, scores=np.round(world.scores, -1))
    plan = SimulationPlan(budgets=(30,), seeds=4, rounds=3, policies=(*POLICIES, *EXTRA_POLICIES, *SENSITIVITY))
    documents = [
        asdict(simulate(replace(world, scores=world.scores / size, score_range=ScoreRange(0, 1000 / size)), plan))
        for size in (1, 100)
    ]
    assert [document["settings"]["shift"] for document in documents] == [50, 0.5]
    for one, other in zip(*(document["policies"] for document in documents), strict=True):
        assert one["policy"] == other["policy"]
        for key in ("accuracy", "spearman", "rank_std"):
            assert one[key] == pytest.approx(other[key], abs=1e-9), (one["policy"], key)
    for one, other in zip(*(document["agreement_by_gap"] for document in documents), strict=True):
        assert (one["n"], one["agreement"]) == (other["n"], other["agreement"])


def test_equal_gaps_pass_a_gate_alike() -> None:
    """4.1 - 3.6 is less than 0.5 in floating point, and 5.0 - 4.5 is not."""
    gap = np.array([4.1 - 3.6, 5.0 - 4.5, 8.2 - 7.7, 0.3])
    assert (gap < 0.5).tolist() != [False, False, False, True]
    assert Gates(None, 0.5).passes(np.ones(4), gap).tolist() == [False, False, False, True]
    whole = np.random.default_rng(1).integers(0, 100, (400, 2)) * 10.0
    for size in (1.0, 100.0):
        scores = whole / size
        lower, wide = scores.min(axis=1), np.abs(scores[:, 0] - scores[:, 1])
        gates = gates_for(lower, wide)
        assert (gates.tau, gates.delta) == pytest.approx((270 / size, 300 / size), rel=0.5)
        through = gates.passes(lower, wide)
        if size == 1.0:
            expected = through
    assert through.tolist() == expected.tolist()


def pairs(n: int = 800) -> tuple[Any, Any]:
    rng = np.random.default_rng(3)
    gap = rng.integers(1, 80, n) * 10.0
    return gap, (rng.random(n) < 0.5 + 0.45 * gap / 800).astype(np.float64)


def test_equation_12_as_printed_is_constant_inside_a_bin() -> None:
    gap, agrees = pairs()
    lines, steps = (fit_curve(gap, agrees, method=method, rounds=30) for method in ("isotonic", "piecewise"))
    assert steps.edges is not None
    assert steps.agreement.tolist() == lines.agreement.tolist(), "the same fit, read in another way"
    ends = [0.0, *steps.edges.tolist(), 1e9]
    for place, level in enumerate(steps.agreement):
        inside = gap[(gap >= ends[place]) & (gap < ends[place + 1])]
        assert inside.size == steps.n[place]
        assert (steps.at(inside) == level).all()
        assert (agrees[(gap >= ends[place]) & (gap < ends[place + 1])]).mean() == pytest.approx(steps.empirical[place])
    assert steps.at(steps.edges - 1e-12).tolist() == steps.agreement[1:].tolist(), "noise does not cross an edge"
    assert (steps.low <= steps.agreement).all()
    assert (steps.high >= steps.agreement).all()
    small = fit_curve(np.round(gap / 100, 9), agrees, method="piecewise", rounds=0)
    assert small.at(gap / 100).tolist() == steps.at(gap).tolist()


@pytest.mark.parametrize("paper_compat", [False, True])
def test_the_online_update_has_the_steps(paper_compat: bool) -> None:
    gap, agrees = pairs()
    curve = fit_curve(gap, agrees, method="piecewise", rounds=0)
    points = np.array(reliability_points(curve, 900.0, paper_compat=paper_compat))
    at = np.concatenate([gap, np.linspace(0, 900, 999)])
    found = np.interp(at, points[:, 0], points[:, 1])
    assert found.tolist() == reliability(curve.at(at), paper_compat=paper_compat).tolist()


def test_equation_13_without_a_ridge_is_maximum_likelihood() -> None:
    from scipy.optimize import minimize

    gap, agrees = pairs(300)

    def loss(x: Any) -> float:
        eta = x[0] * (gap / 100 - x[1])
        return float(np.logaddexp(0, eta).sum() - agrees @ eta)

    best = minimize(loss, [1.0, 1.0], method="Nelder-Mead", options={"xatol": 1e-10, "fatol": 1e-12, "maxiter": 5000}).x
    found = fit_curve(gap, agrees, method="logistic", rounds=0, ridge=0).parameters
    pulled = fit_curve(gap, agrees, method="logistic", rounds=0).parameters
    assert found is not None
    assert pulled is not None
    assert (found[0] * 100, found[1] / 100) == pytest.approx(best, rel=1e-4)
    assert abs(pulled[0]) < abs(found[0])


def test_a_separated_logistic_curve_has_no_fit_without_a_ridge() -> None:
    gap = np.repeat([10.0, 20.0, 300.0, 400.0], 15)
    agrees = (gap > 100).astype(np.float64)
    with pytest.raises(UserError, match="no finite fit"):
        fit_curve(gap, agrees, method="logistic", rounds=5, ridge=0)
    assert fit_curve(gap, agrees, method="logistic", rounds=5).parameters is not None


def test_the_settings_that_are_named_are_those_that_are_taken() -> None:
    values = {
        "order": "given",
        "reliability": "gap",
        "q_by_gap": "0:0.5",
        "score_range": "0:10",
        "paper_compat": "true",
    }
    for name in known_settings():
        with_settings(Options(), [f"{name}={values.get(name, '0.5' if name not in ('base', 'gap_bins') else '3')}"])
    with pytest.raises(UserError, match="scale_floor, score_range"):
        with_settings(Options(), ["nothing=1"])


SETTINGS_OF = {
    "bt": set(), "davidson": set(), "corrected": set(), "elo": {"k", "order"}, "mixture": {"reliability", "gap_bins", "q_human"},
    "active-elo": {
        "k_human", "alpha", "q_human", "q_judge", "q_by_gap", "scale_floor", "score_range", "paper_compat",
    },
}  # fmt: skip
VALUES = {"order": "shuffled", "reliability": "gap", "q_by_gap": "0:0.5", "score_range": "0:10", "paper_compat": "true"}


@pytest.mark.parametrize("method", METHODS)
def test_a_setting_of_another_method_is_refused_with_the_own_ones(method: str) -> None:
    own = SETTINGS_OF[method]
    for name in known_settings():
        words = [f"{name}={VALUES.get(name, '3' if name in ('base', 'gap_bins') else '0.5')}"]
        if name in own or name in WHOLE or (name == "epsilon" and "q_human" in own):
            with_settings(Options(method=method), words, refuse_unused=True)
            continue
        with pytest.raises(UserError, match=f"'{method}' has no setting") as refused:
            with_settings(Options(method=method), words, refuse_unused=True)
        named = str(refused.value.hint).split(";")[0].removeprefix(f"--method {method} takes ").split(", ")
        assert {*named} == own | {*WHOLE}
