"""Raters that are odd are named; raters that are not are left alone."""

import numpy as np
import pytest

from imarena.stats import from_matrix, rater_reports

RANDOM = np.random.default_rng(1)
TRUTH = RANDOM.integers(1, 6, size=120)


def careful(n: int) -> list[np.ndarray]:
    return [np.clip(TRUTH + RANDOM.integers(-1, 2, size=120), 1, 5).astype(float) for _ in range(n)]


def flags(columns: list[np.ndarray]) -> list[tuple[str, ...]]:
    return [report.flags for report in rater_reports(from_matrix(np.array(columns).T))]


def test_careful_raters_have_no_flag() -> None:
    assert flags(careful(5)) == [()] * 5


def test_a_scale_used_backwards() -> None:
    assert flags([*careful(4), 6 - careful(1)[0]]) == [(), (), (), (), ("backwards",)]


@pytest.mark.parametrize(("n", "flag"), [(40, ()), (400, ("backwards",))])
def test_a_weak_negative_correlation_is_backwards_only_if_significant(n: int, flag: tuple[str, ...]) -> None:
    """Two raters, rho about -0.25: p is 0.06 with 40 units, and below 0.01 with 400."""
    truth = np.arange(n) % 40
    other = np.where(np.arange(40) < 25, 39 - np.arange(40), np.arange(40) - 3.5)[truth]
    reports = rater_reports(from_matrix(np.array([truth, other]).T.astype(float)))
    assert reports[0].with_others.value == pytest.approx(-0.25, abs=0.01)
    assert [report.flags for report in reports] == [flag, flag]


def test_a_constant_judge() -> None:
    assert flags([*careful(3), np.full(120, 3.0)]) == [(), (), (), ("constant",)]


def test_a_rater_out_of_step() -> None:
    noise = RANDOM.integers(1, 6, size=120).astype(float)
    assert flags([*careful(5), noise])[-1] == ("out_of_step",)


def test_all_constant_is_nobodys_fault() -> None:
    assert flags([np.ones(20), np.ones(20)]) == [(), ()]


def test_too_few_shared_units_accuse_nobody() -> None:
    late = np.full(120, np.nan)
    late[:5] = 1.0
    assert flags([*careful(3), late])[-1] == ("too_few",)


def test_a_shift_is_measured_on_the_scale_of_the_values() -> None:
    first, second = careful(2)
    reports = rater_reports(from_matrix(np.array([first, second + 10]).T))
    assert reports[1].mean_shift == pytest.approx((second + 10 - first).mean())
    assert reports[0].mean_shift == pytest.approx(-(second + 10 - first).mean())


def test_labels_are_compared_by_equality() -> None:
    table = np.array([*careful(4), RANDOM.integers(1, 6, size=120)]).T
    reports = rater_reports(from_matrix(table, scale="label"))
    own = np.mean([table[:, 0] == table[:, other] for other in range(1, 5)])
    assert reports[0].with_others.value == pytest.approx(own)
    assert reports[0].mean_shift is None
