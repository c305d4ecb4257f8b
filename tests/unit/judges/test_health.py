"""Judge health: known answers, second implementations, and nothing filled in."""

import json
import math
from pathlib import Path

import krippendorff
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from statsmodels.stats.proportion import proportion_confint

from imarena.core.errors import UserError
from imarena.core.records import Outcome
from imarena.judges.health import (
    accuracy_by_group,
    dimension_means,
    judge_agreement,
    outcomes_from_scores,
    position_bias,
    same_side_rate,
    score_drift,
    score_gap_agreement,
    self_consistency,
    tie_laziness,
    verdict_drift,
)
from imarena.stats import proportion_figure

L, R, T = Outcome.LEFT, Outcome.RIGHT, Outcome.TIE
VERDICTS = st.lists(st.sampled_from([L, R, T, None]), min_size=1, max_size=40)


@given(st.integers(0, 50), st.integers(1, 50))
def test_share_has_wilsons_interval(hits: int, more: int) -> None:
    figure = proportion_figure("x", hits, hits + more, "m")
    low, high = proportion_confint(hits, hits + more, method="wilson")
    assert figure.low == pytest.approx(low, abs=1e-12)
    assert figure.high == pytest.approx(high, abs=1e-12)
    assert proportion_figure("x", 0, 0, "m").value is None


def test_self_consistency_is_nominal_alpha_over_runs() -> None:
    rng = np.random.default_rng(5)
    truth = rng.integers(0, 3, 200)
    outcomes = [L, R, T]
    runs: list[list[Outcome | None]] = []
    for _ in range(5):
        noisy = np.where(rng.random(200) < 0.25, rng.integers(0, 3, 200), truth)
        runs.append([None if rng.random() < 0.05 else outcomes[int(i)] for i in noisy])
    table = [[math.nan if v is None else outcomes.index(v) for v in run] for run in runs]
    found = self_consistency(runs)
    assert found.alpha.value == pytest.approx(
        krippendorff.alpha(reliability_data=table, level_of_measurement="nominal"), abs=1e-9
    )
    assert found.n_missing == sum(v is None for run in runs for v in run)
    assert found.n_runs == 5


def test_a_judge_that_never_wavers_is_consistent_and_a_constant_one_undefined() -> None:
    assert self_consistency([[L, R, T]] * 5).alpha.value == pytest.approx(1.0)
    assert self_consistency([[L, R, T]] * 5).unanimous.value == 1.0
    constant = self_consistency([[L, L, L]] * 5)
    assert constant.alpha.value is None
    assert "variation" in constant.alpha.reason
    with pytest.raises(UserError):
        self_consistency([[L]])
    with pytest.raises(UserError):
        self_consistency([[L], [L, R]])


def test_scores_reduce_by_sign() -> None:
    assert outcomes_from_scores([1, 2, 0.1 + 0.2, None], [2, 1, 0.3, 1]) == [R, L, T, None]


def test_decisive_accuracy_counts_a_tie_as_wrong_and_leaves_failures_out() -> None:
    human, judge = [L, R, L, T, R], [L, T, None, L, L]
    assert same_side_rate(human, judge).value == pytest.approx(1 / 3)
    assert same_side_rate(human, judge).n == 3
    assert same_side_rate([T], [L]).value is None
    grouped = accuracy_by_group(human, judge, ["basic", "basic", "multi", "multi", "multi"])
    assert grouped["basic"].value == 0.5
    assert grouped["multi"].value == 0.0
    assert grouped["overall"].value == pytest.approx(1 / 3)


@given(VERDICTS)
def test_mirroring_all_sides_changes_no_accuracy(human: list[Outcome | None]) -> None:
    judge = list(reversed(human))
    mirrored = [[v.mirrored() if v else None for v in side] for side in (human, judge)]
    assert same_side_rate(human, judge).value == same_side_rate(mirrored[0], mirrored[1]).value


def test_tie_laziness_is_the_share_of_ties_where_people_decide() -> None:
    found = tie_laziness(
        [L] * 10 + [R] * 10 + [T] * 4 + [L], [L] * 6 + [T] * 4 + [R] * 5 + [L] + [T] * 4 + [T] * 3 + [L] + [None]
    )
    assert found.rows["left"]["tie"] == pytest.approx(0.4)
    assert found.rows["right"]["left"] == pytest.approx(0.1)
    assert found.false_ties.value == pytest.approx(8 / 20)
    assert found.decisive_accuracy.value == pytest.approx(11 / 20)
    assert found.n_missing == 1
    for row in found.rows.values():
        assert sum(row.values()) == pytest.approx(1)


def test_tie_laziness_on_real_votes(shared_data: Path) -> None:
    """GenAI-Bench, GPT-4o's recorded votes: a row of the confusion adds to one, and the counts are the data's."""
    rows = json.loads((shared_data / "genai_bench" / "image_generation.json").read_text())
    human_words = {"leftvote": L, "rightvote": R, "tievote": T, "bothbad_vote": Outcome.BOTH_BAD}
    judge_words = {"[[A>B]]": L, "[[B>A]]": R, "[[A=B=Good]]": T, "[[A=B=Bad]]": Outcome.BOTH_BAD}
    human = [human_words[row["human_vote"]] for row in rows]
    found = tie_laziness(human, [judge_words.get(row["votes"]["gpt4o"][0]) for row in rows])
    assert sum(found.counts.values()) + found.n_missing == 1735
    assert found.decisive_accuracy.value is not None
    assert found.false_ties.value is not None
    assert found.decisive_accuracy.value + found.false_ties.value <= 1


def test_position_bias_sees_a_judge_that_likes_the_first() -> None:
    fair = position_bias([L, R, L, R], [L, R, L, R])
    assert fair.first_rate.value == 0.5
    assert fair.flips.value == 0.0
    assert fair.first_of_flips.value is None
    biased = position_bias([L, L, L, R], [R, R, L, None])
    assert biased.first_rate.value == pytest.approx(5 / 7)
    assert biased.flips.value == pytest.approx(2 / 3)
    assert biased.first_of_flips.value == 1.0
    assert biased.n_missing == 1


@given(VERDICTS)
def test_position_bias_of_a_mirrored_judge_is_fair(verdicts: list[Outcome | None]) -> None:
    found = position_bias(verdicts, verdicts)
    assert found.first_rate.value in (None, 0.5)
    assert found.flips.value in (None, 0.0)


def test_score_gap_bands() -> None:
    units, human, judge = [1, 1, 2, 2, 3, 3, 4, 4], [1, 0, 1, 0, 1, 0, 1, 1], [30, 0, 0, 60, 400, 0, 5, 0]
    found = score_gap_agreement(units, human, judge)
    assert [band.n for band in found.bands] == [1, 1, 0, 1]
    assert [band.agreement for band in found.bands] == [1.0, 0.0, None, 1.0]
    assert found.fractions == pytest.approx((1 / 3, 1 / 3, 0, 1 / 3))
    assert found.figures[2].value is None


def test_dimension_means() -> None:
    found = dimension_means({"m": [{"a": 1.0, "b": 4.0}, {"a": 3.0}], "n": []})
    assert found["m"]["a"].mean == 2.0
    assert found["m"]["a"].error == pytest.approx(1.0)
    assert found["m"]["b"].error is None
    assert found["n"] == {}


def test_drift_is_found_and_its_absence_too() -> None:
    rng = np.random.default_rng(1)
    old: dict[str, float | None] = {str(i): float(v) for i, v in enumerate(rng.normal(500, 100, 200))}
    shifted: dict[str, float | None] = {u: (v or 0) + 20 + float(rng.normal(0, 30)) for u, v in old.items()}
    noise: dict[str, float | None] = {
        u: (v or 0) + s for (u, v), s in zip(old.items(), np.tile([5.0, -5.0], 100), strict=True)
    }
    noise["0"] = None
    found = score_drift(old, shifted)
    assert found.drifted
    assert found.shift.value == pytest.approx(20, abs=7)
    calm = score_drift(old, noise)
    assert not calm.drifted
    assert calm.changed.value == 1.0
    assert calm.only_old == 1
    assert score_drift(old, old).changed.value == 0.0
    assert verdict_drift([L, R, None, T], [L, L, L, T]).value == pytest.approx(1 / 3)


def test_judges_agree_pair_by_pair() -> None:
    found = judge_agreement({"one": {1: L, 2: R, 3: T}, "two": {1: L, 2: R, 3: L}, "three": {1: L, 2: None}})
    assert found.pairs["one", "two"].n == 3
    assert found.pairs["one", "two"].agreement.value == pytest.approx(2 / 3)
    assert found.alpha.value is not None
    assert found.equal.value == pytest.approx(4 / 5)  # of the five pairs of verdicts on one unit
    with pytest.raises(UserError):
        judge_agreement({"one": {1: L}})
