"""Figures over samples against brute force: every choice of k of the n samples."""

import math
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from imarena.stats.samples import (
    NO_SUCCESS,
    NO_THRESHOLD,
    ModelSamples,
    SampleFigures,
    best_of_k,
    pass_at_k,
    sample_figures,
    sample_sizes,
)

scores = st.one_of(st.none(), st.integers(0, 10))
"""None: the output failed."""
units = st.lists(st.lists(scores, min_size=1, max_size=6), min_size=1, max_size=5)


def samples_of(table: list[list[int | None]], threshold: float | None = 6, **more: object) -> ModelSamples:
    """Samples of items of one unit each; each costs 0.5 USD and takes 2 seconds."""
    values = np.array([math.nan if score is None else score for unit in table for score in unit], np.float64)
    unit = np.repeat(np.arange(len(table)), [len(part) for part in table])
    return ModelSamples(
        unit=unit,
        unit_item=np.arange(len(table)),
        score=values,
        success=None if threshold is None else np.nan_to_num(values, nan=-1) >= threshold,
        cost=np.full(unit.size, 0.5),
        seconds=np.full(unit.size, 2.0),
        **more,  # type: ignore[arg-type]
    )


def figures_of(samples: ModelSamples, k: int, items: int, *, rounds: int = 0, lower: bool = False) -> SampleFigures:
    (made,) = sample_figures(
        {"m": samples}, (k,), items=items, lower_is_better=lower, rounds=rounds, seed=1, level=0.95
    )
    return made


@given(units, st.integers(1, 6))
def test_pass_at_k_and_best_of_k_are_means_over_all_choices(table: list[list[int | None]], k: int) -> None:
    passed, best = [], []
    for unit in table:
        choices = list(combinations(unit, k))
        if choices:
            passed.append(np.mean([any(score is not None and score >= 6 for score in choice) for choice in choices]))
        highest = [max(s for s in choice if s is not None) for choice in choices if any(s is not None for s in choice)]
        if highest:
            best.append(np.mean(highest))
    made = figures_of(samples_of(table), k, len(table))
    for figure, brute in ((made.pass_at[k], passed), (made.best_of[k], best)):
        assert figure.n == len(brute)
        assert figure.value == (pytest.approx(np.mean(brute)) if brute else None)


@given(units)
def test_spread_cost_and_time_are_what_they_say(table: list[list[int | None]]) -> None:
    made = figures_of(samples_of(table), 1, len(table))
    scored = [[score for score in unit if score is not None] for unit in table]
    spreads = [np.std(unit, ddof=1) for unit in scored if len(unit) > 1]
    assert made.spread.value == (pytest.approx(np.mean(spreads)) if spreads else None)
    asked = sum(map(len, table))
    won = sum(score >= 6 for unit in scored for score in unit)
    assert (made.samples, made.failed, made.successes) == (asked, asked - sum(map(len, scored)), won)
    assert made.cost_usd_per_success.value == (pytest.approx(0.5 * asked / won) if won else None)
    assert made.seconds_per_success.value == (pytest.approx(2.0 * asked / won) if won else None)
    if not won:
        assert made.cost_usd_per_success.reason == NO_SUCCESS


def test_a_lower_score_is_the_better_one_where_the_judge_says_so() -> None:
    turned = samples_of([[-3, -5], [-1, -9]])
    assert figures_of(turned, 2, 2, lower=True).best_of[2].value == 2.0


def test_units_of_one_item_are_resampled_together() -> None:
    table: list[list[int | None]] = [[0, 0], [9, 9], [0, 0], [9, 9]]
    together = samples_of(table)
    paired = ModelSamples(
        together.unit, np.array([0, 0, 1, 1]), together.score, together.success, together.cost, together.seconds
    )
    apart = figures_of(together, 1, 4, rounds=200).pass_at[1]
    assert apart.value == 0.5
    assert (apart.low, apart.high) == (0.0, 1.0)
    joined = figures_of(paired, 1, 2, rounds=200).pass_at[1]
    assert joined.value == 0.5
    assert joined.low is None
    assert "no variation" in joined.interval_reason  # each item has one of both


def test_what_is_not_known_is_no_number() -> None:
    samples = samples_of([[7, 3]], None)
    made = figures_of(samples, 1, 1)
    assert made.successes is None
    assert made.pass_at[1].reason == made.cost_usd_per_success.reason == NO_THRESHOLD
    assert made.best_of[1].value == 5.0
    unpriced = samples_of([[7, 3]])
    unpriced = ModelSamples(
        unpriced.unit, unpriced.unit_item, unpriced.score, unpriced.success, np.array([0.5, math.nan]), unpriced.seconds
    )
    assert figures_of(unpriced, 1, 1).cost_usd_per_success.reason == "no cost is stored for 1 of 2 samples"
    assert figures_of(unpriced, 1, 1).seconds_per_success.value == 4.0


def test_items_that_were_not_asked_for_count_only_where_that_was_chosen() -> None:
    assert figures_of(samples_of([[9], [9]]), 1, 4).pass_at[1].value == 1.0
    counted = figures_of(samples_of([[9], [9]], unasked=np.array([2, 3])), 1, 4)
    assert counted.pass_at[1].value == 0.5
    assert counted.items == 4
    assert counted.best_of[1].n == 2  # a failure is never a score


def test_the_interval_of_a_mean_covers_it_as_often_as_it_says() -> None:
    random = np.random.default_rng(5)
    covered = 0
    for _ in range(200):
        table: list[list[int | None]] = [list(map(int, random.random(3) < chance)) for chance in random.random(40)]
        figure = figures_of(samples_of(table, 1), 1, 40, rounds=200).pass_at[1]
        covered += (figure.low or 0) <= 0.5 <= (figure.high or 1)
    assert covered >= 0.89 * 200  # 95% less four standard errors of the count


def test_few_samples_give_no_figure() -> None:
    assert np.isnan(pass_at_k(np.array([1]), np.array([1]), 2)[0])
    assert math.isnan(best_of_k([3.0], 0, 2))
    assert best_of_k([3.0], 1, 2) == 3.0
    assert (sample_sizes(1), sample_sizes(2), sample_sizes(5)) == ((1,), (1, 2), (1, 2, 4, 5))


def test_items_that_were_not_asked_for_make_no_figure_by_themselves() -> None:
    alone = figures_of(samples_of([[9], [9]], unasked=np.array([2])), 2, 3)
    assert alone.pass_at[2].value is None
    assert "no item has 2 samples" in str(alone.pass_at[2].reason)
