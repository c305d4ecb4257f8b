"""Pairs against brute force."""

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from imarena.stats import ScorePairs, agreement_by_gap, calibrate_ties, decisive_accuracy, pair_accuracy, pairs_within

rows = st.lists(
    st.tuples(
        st.integers(0, 3), st.sampled_from([0.0, 1.0, 2.0, np.nan]), st.sampled_from([0.0, 0.5, 1.0, 4.0, np.nan])
    ),
    min_size=1,
    max_size=14,
)


def made(data: list[tuple[int, float, float]]) -> tuple[ScorePairs, list[tuple[float, float]]]:
    unit, human, judge = zip(*data, strict=True)
    whole = [row for row in data if not (np.isnan(row[1]) or np.isnan(row[2]))]
    slow = [(a[1] - b[1], a[2] - b[2]) for a, b in combinations(whole, 2) if a[0] == b[0]]
    return pairs_within(unit, human, judge), slow


@given(data=rows)
def test_all_pairs_within_units(data: list[tuple[int, float, float]]) -> None:
    pairs, slow = made(data)
    assert sorted(zip(pairs.human, pairs.judge, strict=True)) == sorted(slow)


@given(data=rows)
def test_accuracies(data: list[tuple[int, float, float]]) -> None:
    pairs, slow = made(data)
    if not slow:
        assert pair_accuracy(pairs).value is None
        assert decisive_accuracy(pairs).value is None
        assert calibrate_ties(pairs).accuracy.value is None
        return
    same = [np.sign(human) == np.sign(judge) for human, judge in slow]
    assert pair_accuracy(pairs).value == pytest.approx(np.mean(same))
    decided = [right for right, (human, _) in zip(same, slow, strict=True) if human]
    assert decisive_accuracy(pairs).value == (pytest.approx(np.mean(decided)) if decided else None)


@given(data=rows)
def test_calibration_finds_the_best_threshold(data: list[tuple[int, float, float]]) -> None:
    pairs, slow = made(data)
    if not slow:
        return
    tried = {
        threshold: pair_accuracy(pairs, tie_threshold=threshold).value or 0.0
        for threshold in sorted({0.0, *(abs(judge) for _, judge in slow)})
    }
    found = calibrate_ties(pairs)
    assert found.accuracy.value == pytest.approx(max(tried.values()))
    assert found.threshold == min(t for t, accuracy in tried.items() if accuracy == max(tried.values()))


@given(data=rows)
def test_swapping_sides_changes_nothing(data: list[tuple[int, float, float]]) -> None:
    pairs, _ = made(data)
    turned = ScorePairs(-pairs.human, -pairs.judge, pairs.unit)
    assert pair_accuracy(turned).value == pair_accuracy(pairs).value
    assert calibrate_ties(turned) == calibrate_ties(pairs)
    assert agreement_by_gap(turned, [1.0, 2.0]) == agreement_by_gap(pairs, [1.0, 2.0])


def test_bands_are_half_open_and_zero_stands_apart() -> None:
    human = np.array([1.0, 1.0, -1.0, 1.0, 0.0, 2.0])
    judge = np.array([0.0, 49.0, 50.0, 100.0, 75.0, 700.0])
    bands, zero = agreement_by_gap(ScorePairs(human, judge, np.zeros(6, np.int64)), [50.0, 100.0])
    assert [(band.low, band.high, band.n, band.agreement) for band in bands] == [
        (0.0, 50.0, 1, 1.0),
        (50.0, 100.0, 1, 0.0),
        (100.0, None, 2, 1.0),
    ]
    assert zero == 1
    empty, _ = agreement_by_gap(ScorePairs(human[:1], judge[:1], np.zeros(1, np.int64)), [50.0])
    assert [band.agreement for band in empty] == [None, None]
    with pytest.raises(ValueError, match="grow"):
        agreement_by_gap(ScorePairs(human, judge, np.zeros(6, np.int64)), [100.0, 50.0])
