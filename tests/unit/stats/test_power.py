"""How many battles: against the exact binomial, and in the directions it must move."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from imarena.ranking import rank
from imarena.stats import battles_needed, compare_points, detectable_elo, detection_power, items_needed, win_rate
from imarena.stats.share_interval import win_interval


@pytest.mark.parametrize("elo", [20, 50, 100, 200])
def test_the_number_gives_the_power_it_promises(elo: float) -> None:
    """Power of the score test at the number found, from the exact binomial distribution."""
    n = battles_needed(elo, power=0.8).decided
    wins = np.arange(n + 1)
    rejects = np.abs(wins - n / 2) / np.sqrt(n / 4) > stats.norm.ppf(0.975)
    power = stats.binom.pmf(wins[rejects], n, win_rate(elo)).sum()
    assert power == pytest.approx(0.8, abs=0.04)


def test_known_numbers() -> None:
    assert win_rate(0) == 0.5
    assert win_rate(400) == pytest.approx(10 / 11)
    # By hand: ((1.960 * 0.5 + 0.8416 * 0.4800) / 0.1401)^2 = 97.6.
    assert battles_needed(100).decided == 98
    assert battles_needed(-100).battles == battles_needed(100).battles


@given(elo=st.floats(5, 400), ties=st.floats(0, 0.9))
def test_small_differences_cost_more_and_ties_save_battles(elo: float, ties: float) -> None:
    """At the same share of points, ties mean that those who win do so more clearly: the points vary less."""
    plain = battles_needed(elo)
    if win_rate(elo) > 1 - ties / 2:
        with pytest.raises(ValueError, match="no difference is larger"):
            battles_needed(elo, tie_rate=ties)
    else:
        assert battles_needed(elo, tie_rate=ties).battles <= max(plain.battles, 4 / (1 - ties) + 1)
    assert battles_needed(elo / 2).battles > plain.battles
    assert battles_needed(elo, power=0.95).battles > plain.battles


def test_votes_on_one_battle_are_worth_less_the_more_they_agree() -> None:
    alone = battles_needed(50)
    free = battles_needed(50, votes_per_battle=3)
    same = battles_needed(50, votes_per_battle=3, within_battle_correlation=1.0)
    assert free.battles == -(-alone.decided // 3) or abs(free.battles - alone.decided / 3) < 1
    assert same.battles == alone.battles
    assert same.votes == 3 * alone.battles


@given(battles=st.integers(301, 100_000))
def test_detectable_elo_turns_the_question_round(battles: int) -> None:
    """But for the correction for continuity."""
    elo = detectable_elo(battles)
    assert battles_needed(elo).battles <= battles
    assert battles_needed(elo * 0.95).battles >= battles


@pytest.mark.parametrize(("items", "ties"), [(8, 0.0), (21, 10 / 21), (40, 0.2), (60, 0.75), (150, 0.1)])
def test_the_power_of_few_items_is_that_of_the_verdict_over_every_record(items: int, ties: float) -> None:
    """Every record of wins and losses, with its probability and what `compare_points` says of it."""
    share = win_rate(detectable_elo(items, tie_rate=ties))
    chances = [share - ties / 2, 1 - share - ties / 2, ties]
    power = 0.0
    for won in range(items + 1):
        probability = stats.multinomial.pmf(
            [[won, lost, items - won - lost] for lost in range(items + 1 - won)], items, chances
        )
        for lost in np.flatnonzero(probability > 1e-7).tolist():
            points = [1.0] * won + [0.0] * lost + [0.5] * (items - won - lost)
            power += float(probability[lost]) * (win_interval(points)[1] > 0.5)
    assert power == pytest.approx(0.8, abs=2e-3)
    assert detection_power(items, share, ties) == pytest.approx(power, abs=2e-3)
    needed = items_needed(share, tie_rate=ties)
    assert needed <= items
    assert detection_power(needed, share, ties) >= 0.8


def test_the_case_that_stood_on_two_scales() -> None:
    """8 won, 3 lost, 10 tied: +84 Elo points, beside 344 that counted the decided items alone."""
    verdict = compare_points([1.0] * 8 + [0.0] * 3 + [0.5] * 10, "old", "new")
    assert verdict.elo == pytest.approx(84.3, abs=0.1)
    assert verdict.detectable_elo == pytest.approx(161.5, abs=0.1)
    assert detection_power(21, win_rate(verdict.detectable_elo or 0), 10 / 21) == pytest.approx(0.8, abs=1e-3)


def test_a_board_of_two_models_has_the_same_difference() -> None:
    """A Bradley-Terry board with ties as half wins, and a comparison of the same items."""
    winners = ["right"] * 8 + ["left"] * 3 + ["tie"] * 10
    battles = {"left": ["old"] * 21, "right": ["new"] * 21, "winner": winners}
    ratings = {standing.model: standing.rating for standing in rank(battles, interval="none").models}
    verdict = compare_points([1.0] * 8 + [0.0] * 3 + [0.5] * 10, "old", "new")
    assert ratings["new"] - ratings["old"] == pytest.approx(verdict.elo, abs=1e-6)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("items", "ties", "level"),
    [(12, 0.0, 0.95), (21, 0.48, 0.95), (40, 0.2, 0.95), (100, 0.6, 0.9), (250, 0.1, 0.95), (900, 0.3, 0.95)],
)
def test_simulated_items_are_told_apart_as_often_as_stated(items: int, ties: float, level: float) -> None:
    """The verdict on items with a known difference: four of five intervals lie above 0, and they cover it."""
    elo = detectable_elo(items, tie_rate=ties, significance=1 - level)
    share, random, rounds = win_rate(elo), np.random.default_rng(items), 4000
    chances = [share - ties / 2, ties, max(0.0, 1 - share - ties / 2)]
    detected = covered = 0
    for _ in range(rounds):
        points = random.choice([1.0, 0.5, 0.0], size=items, p=chances).tolist()
        _, low, high = win_interval(points, level)
        detected += low > 0.5
        covered += low <= share <= high
    error = np.sqrt(0.8 * 0.2 / rounds)
    # Above 300 decided items the power is an approximation: whole wins make it rise in steps of about 0.01.
    assert detected / rounds == pytest.approx(0.8, abs=3.5 * error + (0.012 if items > 300 else 0))
    assert covered / rounds > level - 0.015


def test_questions_without_an_answer() -> None:
    with pytest.raises(ValueError, match="equal models"):
        battles_needed(0)
    with pytest.raises(ValueError, match="power"):
        battles_needed(10, power=1.0)
    with pytest.raises(ValueError, match="tie rate"):
        battles_needed(10, tie_rate=1.0)
    with pytest.raises(ValueError, match="separate nothing"):
        detectable_elo(1)
    with pytest.raises(ValueError, match="at least one"):
        detectable_elo(0)
