"""CV-Arena's reliability-weighted Elo: equations 5 to 7 by hand, equal scores, the floor of S, K by source."""

import math
from typing import Any

import numpy as np
import pytest

from imarena.core.errors import UserError
from imarena.core.records import Ranking
from imarena.ranking import ActiveEloOptions, Options
from imarena.ranking.boards.from_tables import rank


def by_hand(rows: list[dict[str, Any]], given: ActiveEloOptions) -> dict[str, float]:
    """The paper's update, one line after the other."""
    ratings = {name: 1000.0 for row in rows for name in (row["left"], row["right"])}
    for row in rows:
        s_left, s_right = row["score_left"], row["score_right"]
        scale = max((s_left + s_right) / 2, given.scale_floor)
        p = 1 / (1 + math.exp(-(ratings[row["left"]] - ratings[row["right"]]) / scale))
        human = row["source"] == "human"
        q = given.q_human if human else given.q_judge or 0.0
        k = given.k_human if human else given.alpha * given.k_human
        moves = []
        for z in {"left": [1], "right": [0], "tie": [1, 0]}[row["winner"]]:
            w = p if z == 1 else 1 - p
            moves.append(q * w / (q * w + (1 - q) / 2) * (z - p))
        ratings[row["left"]] += k * sum(moves) / len(moves)
        ratings[row["right"]] -= k * sum(moves) / len(moves)
    return ratings


def play(rows: list[dict[str, Any]], given: ActiveEloOptions) -> Ranking:
    return rank(rows, method="active-elo", interval="none", options=Options(active=given))


def rows(n: int, seed: int) -> list[dict[str, Any]]:
    rng = np.random.default_rng(seed)
    made = []
    for _ in range(n):
        left, right = rng.choice(list("abcd"), 2, replace=False)
        made.append(
            {
                "left": str(left),
                "right": str(right),
                "winner": str(rng.choice(["left", "right", "tie"])),
                "source": str(rng.choice(["human", "judge"])),
                "score_left": float(rng.uniform(0, 1000)),
                "score_right": float(rng.uniform(0, 1000)),
            }
        )
    return made


@pytest.mark.parametrize("seed", range(5))
def test_it_is_the_papers_update(seed: int) -> None:
    given = ActiveEloOptions(k_human=40, alpha=0.25, q_human=0.99, q_judge=0.7, scale_floor=300)
    battles = rows(60, seed)
    found = {standing.model: standing.rating for standing in play(battles, given).models}
    assert found == pytest.approx(by_hand(battles, given), abs=1e-9)
    assert sum(found.values()) == pytest.approx(1000 * len(found))


def test_equal_scores_are_half_a_win_and_the_papers_way_favours_the_left() -> None:
    row = {"left": "a", "right": "b", "winner": None, "source": "judge", "score_left": 500.0, "score_right": 500.0}
    fair = play([row] * 10, ActiveEloOptions())
    assert [standing.rating for standing in fair.models] == [1000.0, 1000.0]
    compat = play([row] * 10, ActiveEloOptions(paper_compat=True))
    assert compat.models[0].model == "a"
    assert compat.models[0].rating > 1010
    assert compat.settings["paper_compat"] is True


def test_a_judges_verdict_is_read_from_its_scores() -> None:
    row = {"left": "a", "right": "b", "winner": None, "source": "judge", "score_left": 400.0, "score_right": 700.0}
    found = play([row] * 5, ActiveEloOptions())
    assert found.models[0].model == "b"
    assert not found.excluded


def test_reliability_follows_the_gap() -> None:
    close = {"left": "a", "right": "b", "winner": "left", "source": "judge", "score_left": 501.0, "score_right": 500.0}
    wide = {**close, "score_left": 900.0, "score_right": 101.0}
    given = ActiveEloOptions(q_by_gap=((0.0, 0.1), (200.0, 0.95)))
    assert play([wide], given).models[0].rating > play([close], given).models[0].rating + 4
    with pytest.raises(UserError, match="no scores"):
        play([{**close, "score_left": None}], given)
