"""How many battles: against the exact binomial, and in the directions it must move."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from imarena.stats import battles_needed, detectable_elo, win_rate


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
def test_ties_and_small_differences_cost_more(elo: float, ties: float) -> None:
    plain = battles_needed(elo)
    assert battles_needed(elo, tie_rate=ties).battles >= plain.battles
    assert battles_needed(elo / 2).battles > plain.battles
    assert battles_needed(elo, power=0.95).battles > plain.battles


def test_votes_on_one_battle_are_worth_less_the_more_they_agree() -> None:
    alone = battles_needed(50)
    free = battles_needed(50, votes_per_battle=3)
    same = battles_needed(50, votes_per_battle=3, within_battle_correlation=1.0)
    assert free.battles == -(-alone.decided // 3) or abs(free.battles - alone.decided / 3) < 1
    assert same.battles == alone.battles
    assert same.votes == 3 * alone.battles


@given(battles=st.integers(30, 100_000))
def test_detectable_elo_turns_the_question_round(battles: int) -> None:
    elo = detectable_elo(battles)
    assert battles_needed(elo).battles <= battles
    assert battles_needed(elo * 0.99).battles >= battles


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
