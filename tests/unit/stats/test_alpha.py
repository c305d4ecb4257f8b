"""Krippendorff's alpha against two other implementations, and what must not change it."""

from importlib import import_module
from typing import Any

import evalica
import krippendorff
import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from imarena.stats import MEASUREMENT_LEVELS, MeasurementLevel, from_columns, from_matrix, krippendorff_alpha

Table = Any
pd: Any = import_module("pandas")  # no stubs here: evalica takes a frame

levels = pytest.mark.parametrize("level", MEASUREMENT_LEVELS)


def tables(values: st.SearchStrategy[float]) -> st.SearchStrategy[Table]:
    """(units, raters) tables with missing cells."""
    shapes = st.tuples(st.integers(2, 9), st.integers(2, 4))
    return shapes.flatmap(lambda shape: arrays(np.float64, shape, elements=st.one_of(values, st.just(np.nan))))


whole = tables(st.integers(0, 4).map(float))
broken = tables(st.sampled_from([0.0, 0.25, 0.7, 1.5, 3.0, 100.0]))


def value_of(table: Table, level: MeasurementLevel) -> float | None:
    return krippendorff_alpha(from_matrix(table), level).value


def pairable(table: Table) -> Table:
    return table[(~np.isnan(table)).sum(axis=1) >= 2]


@levels
@given(table=st.one_of(whole, broken))
def test_equals_the_krippendorff_package(level: MeasurementLevel, table: Table) -> None:
    kept = pairable(table)
    assume(kept.size and np.nanmin(kept) != np.nanmax(kept))
    expected = krippendorff.alpha(reliability_data=table.T, level_of_measurement=level)
    assert value_of(table, level) == pytest.approx(expected, abs=1e-9)


@levels
@given(table=whole)
def test_equals_evalica(level: MeasurementLevel, table: Table) -> None:
    kept = pairable(table)
    assume(kept.size and np.nanmin(kept) != np.nanmax(kept))
    expected = evalica.alpha(pd.DataFrame(kept.T), distance=level).alpha
    assert value_of(kept, level) == pytest.approx(expected, abs=1e-9)


@levels
@given(table=whole, seed=st.integers(0, 1000))
def test_order_of_raters_and_units_changes_nothing(level: MeasurementLevel, table: Table, seed: int) -> None:
    random = np.random.default_rng(seed)
    # Who gave a unit's ratings does not matter to alpha: each unit's row may be shuffled on its own.
    mixed = np.array([random.permutation(row) for row in random.permutation(table)])
    assert value_of(mixed, level) == pytest.approx(value_of(table, level), abs=1e-9)


@given(table=whole)
def test_levels_ignore_what_they_should(table: Table) -> None:
    relabelled = np.where(np.isnan(table), np.nan, (table * 3 + 1) % 5)
    assert value_of(relabelled, "nominal") == pytest.approx(value_of(table, "nominal"), abs=1e-9)
    assert value_of(np.exp(table), "ordinal") == pytest.approx(value_of(table, "ordinal"), abs=1e-9)
    assert value_of(-7 * table + 3, "interval") == pytest.approx(value_of(table, "interval"), abs=1e-9)
    assert value_of(12 * table, "ratio") == pytest.approx(value_of(table, "ratio"), abs=1e-9)


@given(table=whole)
def test_two_raters_on_two_values_all_levels_are_one(table: Table) -> None:
    binary = np.where(np.isnan(table), np.nan, table > 1)
    found = [value_of(binary, level) for level in MEASUREMENT_LEVELS]
    assert found == pytest.approx([found[0]] * 4, abs=1e-9)


@levels
def test_no_variation_is_undefined_and_not_a_number(level: MeasurementLevel) -> None:
    found = krippendorff_alpha(from_matrix(np.full((5, 3), 2.0)), level, rounds=50)
    assert found.value is None
    assert found.status == "undefined"
    assert "no variation" in found.reason
    assert found.low is None


@levels
def test_one_rating_a_unit_is_undefined(level: MeasurementLevel) -> None:
    found = krippendorff_alpha(from_matrix([[1.0, np.nan], [np.nan, 2.0]]), level)
    assert (found.value, found.reason) == (None, "no unit has two ratings")


def test_levels_that_do_not_fit() -> None:
    labels = from_matrix([[0.0, 1.0], [1.0, 1.0]], scale="label")
    ordered = from_matrix([[0.0, 1.0], [1.0, 1.0]], scale="order")
    negative = from_matrix([[-1.0, 1.0], [1.0, 1.0]])
    assert [krippendorff_alpha(labels, level).status for level in MEASUREMENT_LEVELS] == ["ok"] + ["undefined"] * 3
    assert [krippendorff_alpha(ordered, level).status for level in MEASUREMENT_LEVELS] == [
        "ok",
        "ok",
        "undefined",
        "undefined",
    ]
    assert "negative" in krippendorff_alpha(negative, "ratio").reason
    assert krippendorff_alpha(negative, "interval").status == "ok"


def test_float_noise_breaks_no_tie() -> None:
    noisy = from_matrix([[0.1 + 0.2, 0.3], [1.0, 1.0], [0.5, 0.5]])
    assert krippendorff_alpha(noisy, "nominal").value == 1.0


def test_interval_is_seeded_and_holds_the_value() -> None:
    random = np.random.default_rng(4)
    truth = random.integers(1, 6, size=(80, 1))
    table = np.clip(truth + random.integers(-1, 2, size=(80, 3)), 1, 5).astype(float)
    for level in MEASUREMENT_LEVELS:
        first = krippendorff_alpha(from_matrix(table), level, rounds=300, seed=1)
        again = krippendorff_alpha(from_matrix(table), level, rounds=300, seed=1)
        other = krippendorff_alpha(from_matrix(table), level, rounds=300, seed=2)
        assert first == again
        assert first.low != other.low
        assert first.low is not None
        assert first.high is not None
        assert first.value is not None
        assert first.low < first.value < first.high


@levels
def test_bootstrap_draws_are_alphas_of_resampled_tables(level: MeasurementLevel) -> None:
    """A round in which unit u is drawn twice equals alpha of the table with unit u twice."""
    from imarena.stats.alpha import _measure

    random = np.random.default_rng(0)
    table = random.integers(0, 4, size=(12, 3)).astype(float)
    table[random.random(table.shape) < 0.15] = np.nan
    ratings = from_matrix(table).pairable()
    drawn = random.multinomial(ratings.n_units, np.full(ratings.n_units, 1 / ratings.n_units), size=20)
    measured = _measure(ratings, level)(drawn.astype(float))
    for counts, value in zip(drawn, measured, strict=True):
        again = np.repeat(pairable(table), counts, axis=0)
        assert value == pytest.approx(value_of(again, level), abs=1e-9)


def test_perfect_agreement_has_no_interval_of_width_zero() -> None:
    found = krippendorff_alpha(from_matrix([[float(i), float(i)] for i in range(20)]), "nominal", rounds=100)
    assert found.value == 1.0
    assert found.low is None
    assert "same value" in found.interval_reason


def test_columns_and_a_rater_twice() -> None:
    ratings, units, raters = from_columns(["b", "a", "b"], ["y", "x", "x"], [1.0, np.nan, 2.0])
    assert (units, raters) == (["a", "b"], ["x", "y"])
    assert (ratings.n_units, ratings.n_raters, ratings.n_missing) == (2, 2, 2)
    with pytest.raises(ValueError, match="twice"):
        from_columns(["a", "a"], ["x", "x"], [1.0, 2.0])


def test_a_table_has_two_axes() -> None:
    with pytest.raises(ValueError, match="units, raters"):
        from_matrix([1.0, 2.0])


@pytest.mark.slow
def test_intervals_hold_the_truth_as_often_as_they_say() -> None:
    """300 simulated studies of 100 units: the share of 95% intervals with the truth is near 95%.

    A percentile bootstrap at this size runs slightly short; the lower limit allows that and three binomial deviations.
    """
    random = np.random.default_rng(0)

    def study(n: int) -> Table:
        truth = random.integers(1, 6, size=(n, 1))
        return np.clip(truth + random.integers(-1, 2, size=(n, 3)), 1, 5).astype(float)

    target = value_of(study(300_000), "ordinal")
    assert target is not None
    found = [krippendorff_alpha(from_matrix(study(100)), "ordinal", rounds=300, seed=seed) for seed in range(300)]
    held = np.mean([f.low is not None and f.high is not None and f.low <= target <= f.high for f in found])
    assert 0.90 <= held <= 0.985
