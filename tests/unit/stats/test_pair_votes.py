"""Agreement of votes on pairs: the same whichever output of a pair is called left."""

from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from imarena.stats import (
    PAIR_CODES,
    Figure,
    Ratings,
    fleiss_kappa,
    from_matrix,
    krippendorff_alpha,
    rater_pairs,
    rater_reports,
)

LEFT, RIGHT, TIE, BAD = PAIR_CODES.values()
VOTES = st.sampled_from([LEFT, RIGHT, TIE, BAD, np.nan])


def votes(table: list[list[float]]) -> Ratings:
    return from_matrix(table, scale="pair")


def flipped(row: list[float]) -> list[float]:
    return [{LEFT: RIGHT, RIGHT: LEFT}.get(value, value) for value in row]


def figures(table: list[list[float]]) -> list[Figure]:
    found = votes(table)
    kappas = [pair.kappa for pair in rater_pairs(found)]
    return [krippendorff_alpha(found, "nominal", rounds=50, seed=3), fleiss_kappa(found), *kappas]


@given(st.lists(st.lists(VOTES, min_size=3, max_size=3), min_size=1, max_size=8), st.data())
def test_calling_the_other_output_left_changes_nothing(table: list[list[float]], data: st.DataObject) -> None:
    turn = data.draw(st.lists(st.booleans(), min_size=len(table), max_size=len(table)))
    other = [flipped(row) if flip else row for row, flip in zip(table, turn, strict=True)]
    assert figures(other) == figures(table)
    reports = [rater_reports(votes(one)) for one in (table, other)]
    for first, second in zip(*reports, strict=True):
        assert (first.with_others, first.most_common_share, first.flags) == (
            second.with_others,
            second.most_common_share,
            second.flags,
        )


@given(st.lists(st.lists(VOTES, min_size=3, max_size=3), min_size=1, max_size=5))
def test_the_expected_disagreement_is_the_mean_over_all_namings(table: list[list[float]]) -> None:
    """A second implementation: every way to name the sides, and Krippendorff's own sums for each."""
    kept = [[v for v in row if not np.isnan(v)] for row in table]
    kept = [row for row in kept if len(row) > 1]
    found = krippendorff_alpha(votes(table), "nominal")
    if not kept:
        assert found.value is None
        return
    expected = []
    for turn in product([False, True], repeat=len(kept)):
        pooled = [v for row, flip in zip(kept, turn, strict=True) for v in (flipped(row) if flip else row)]
        counts = [pooled.count(code) for code in PAIR_CODES.values()]
        expected.append(len(pooled) ** 2 - sum(count**2 for count in counts))
    n = sum(map(len, kept))
    observed = sum(
        (len(row) ** 2 - sum(row.count(c) ** 2 for c in PAIR_CODES.values())) / (len(row) - 1) for row in kept
    )
    mean = float(np.mean(expected))
    if mean == 0:
        assert found.value is None
        assert found.reason
    else:
        assert found.value == pytest.approx(1 - (n - 1) * observed / mean)


def test_one_sided_names_do_not_hide_agreement() -> None:
    """The winner is always called left. The usual alpha is undefined here ("no variation"), although voters agree."""
    table = [[LEFT, LEFT]] * 10
    assert krippendorff_alpha(from_matrix(table, scale="label"), "nominal").value is None
    assert krippendorff_alpha(votes(table), "nominal").value == pytest.approx(1.0)
    assert fleiss_kappa(votes(table)).value == pytest.approx(1.0)


def test_random_votes_have_an_alpha_near_zero() -> None:
    mixed = np.random.default_rng(1).choice([LEFT, RIGHT, TIE, BAD], p=[0.4, 0.4, 0.15, 0.05], size=(4000, 3)).tolist()
    found = krippendorff_alpha(votes(mixed), "nominal", rounds=200)
    assert found.value == pytest.approx(0.0, abs=0.03)
    assert found.low is not None
    assert found.high is not None
    assert found.low < 0 < found.high


@pytest.mark.parametrize(
    ("table", "words"),
    [
        ([[LEFT, np.nan]], "no unit has two"),
        ([[TIE, TIE], [TIE, TIE]], "same kind of tie"),
        ([[LEFT, LEFT]], "only one pair"),
    ],
)
def test_what_has_no_alpha_says_why(table: list[list[float]], words: str) -> None:
    found = krippendorff_alpha(votes(table), "nominal")
    assert found.value is None
    assert words in found.reason


def test_other_levels_and_other_values_are_refused() -> None:
    assert "without an order" in krippendorff_alpha(votes([[LEFT, RIGHT]]), "ordinal").reason
    with pytest.raises(ValueError, match="votes on pairs"):
        krippendorff_alpha(votes([[7.0, 1.0]]), "nominal")


def test_a_voter_who_only_calls_ties_is_constant() -> None:
    table = [[TIE, LEFT if n % 2 else RIGHT, LEFT if n % 2 else RIGHT] for n in range(12)]
    flags = [report.flags for report in rater_reports(votes(table))]
    assert "constant" in flags[0]
    assert "constant" not in flags[1]
