"""Models that won or lost every battle: what is sure about their place, by all their battles together."""

from itertools import combinations
from typing import Any

import numpy as np
import pytest

from imarena.core import Standing
from imarena.core.records import Ranking
from imarena.ranking import LEFT_WINS, RIGHT_WINS, Battles, Options, rank
from imarena.ranking.boards.sweeps import surely_above

Rows = list[tuple[str, str, str, str]]
BRIEF = Options(rounds=200)


def board(rows: Rows, options: Options = BRIEF) -> Ranking:
    columns = dict(zip(("left", "right", "winner", "item"), map(list, zip(*rows, strict=True)), strict=True))
    return rank(columns, options=options)


def sure(ranking: Ranking) -> set[tuple[str, str]]:
    pairs: Any = ranking.details.get("surely_above", [])
    return {(better, worse) for better, worse in pairs}


def standing(ranking: Ranking, model: str) -> Standing:
    return next(one for one in ranking.models if one.model == model)


def meetings(left: str, right: str, outcomes: str) -> Rows:
    words = {"w": "left", "l": "right", "t": "tie"}
    return [(left, right, words[outcome], f"i{number}") for number, outcome in enumerate(outcomes)]


def test_one_win_over_a_strong_model_does_not_show_that_the_winner_is_stronger() -> None:
    rows = [
        *meetings("new", "weak", "w" * 20), *meetings("strong", "weak", "w" * 19 + "l"), *meetings("new", "strong", "w"),
    ]  # fmt: skip
    ranking = board(rows)
    assert sure(ranking) == {("new", "weak")}
    assert (standing(ranking, "new").rank_low, standing(ranking, "new").rank_high) == (1, 2)
    assert standing(ranking, "strong").rank_low == 1


def test_wins_over_many_equal_models_add_up() -> None:
    """Two battles with each of eight models are no evidence alone; together they are."""
    names = [f"m{number}" for number in range(8)]
    rows = [row for one, other in combinations(names, 2) for row in meetings(one, other, "wl" * 6)]
    rows += [("new", name, "left", f"n{2 * number + k}") for number, name in enumerate(names) for k in range(2)]
    ranking = board(rows)
    assert sure(ranking) == {("new", name) for name in names}
    assert standing(ranking, "new").rank_high == 1


def test_losses_mirror_wins() -> None:
    rows = [*meetings("new", "old", "w" * 6), *meetings("new", "bro", "w" * 5), *meetings("old", "bro", "t" * 6)]
    turned = [(right, left, winner, item) for left, right, winner, item in rows]
    ranking, mirrored = board(rows), board(turned)
    assert sure(ranking) == {("new", "old")}
    assert sure(mirrored) == {("old", "new")}
    for one in ranking.models:
        other = standing(mirrored, one.model)
        assert (one.rank_low, one.rank_high) == (4 - (other.rank_high or 0), 4 - (other.rank_low or 0))


@pytest.mark.parametrize(("with_strong", "with_weak"), [(1, 3), (3, 6), (6, 0), (5, 20), (0, 12)])
def test_few_false_claims_about_a_model_that_is_as_good_as_the_best(with_strong: int, with_weak: int) -> None:
    """The new model equals the strong one, which wins four of five battles against the weak one."""
    rng = np.random.default_rng(5)
    draws, wrong = 4000, 0
    for _ in range(draws):
        won = [*(rng.random(with_strong) < 0.5), *(rng.random(with_weak) < 0.8)]
        if not all(won):
            continue
        rows = [("new", "strong" if n < with_strong else "weak", LEFT_WINS) for n in range(len(won))]
        rows += [("strong", "weak", LEFT_WINS if rng.random() < 0.8 else RIGHT_WINS) for _ in range(40)]
        models = ("new", "strong", "weak")
        left, right = ([models.index(row[side]) for row in rows] for side in (0, 1))
        outcome = np.array([row[2] for row in rows], np.int8)
        given = Battles(models, np.array(left, np.int32), np.array(right, np.int32), outcome)
        wrong += bool(surely_above(given, {0: True}, 0.95)[0, 1])
    assert wrong / draws <= 0.025 + 3 * (0.025 * 0.975 / draws) ** 0.5


@pytest.mark.parametrize("options", [Options(rounds=200, method="davidson"), Options(rounds=200, position=True)])
def test_other_models_of_battles_keep_the_resampled_ranks(options: Options) -> None:
    rows = [*meetings("new", "old", "wwwwwwt"), *meetings("best", "old", "w" * 7), *meetings("best", "new", "w" * 7)]
    assert "surely_above" not in board(rows, options).details
