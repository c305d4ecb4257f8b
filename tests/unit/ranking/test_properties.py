"""What must not matter does not matter: names, order of rows, sides, a constant weight."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from imarena.ranking import Battles, CodedColumn, EloState, Options, rank_battles
from imarena.ranking.boards.from_tables import rank
from imarena.ranking.options import EloOptions
from tests.unit.ranking.simulated import battles as simulate

STRENGTHS = np.linspace(0.8, -0.8, 6)
Row = tuple[str, str, str]
ROWS = st.lists(
    st.tuples(
        st.sampled_from("abcde"), st.sampled_from("abcde"), st.sampled_from(["left", "right", "tie", "both_bad"])
    ),
    min_size=1,
    max_size=40,
).filter(lambda rows: any(left != right for left, right, _ in rows))


def table(rows: list[Row]) -> dict[str, list[str]]:
    return {name: [row[i] for row in rows] for i, name in enumerate(("left", "right", "winner"))}


def board(rows: list[Row], method: str) -> dict[str, float]:
    return {s.model: s.rating for s in rank(table(rows), method=method, interval="none").models}


@pytest.mark.parametrize("method", ["bt", "davidson"])
@given(rows=ROWS, data=st.data())
@settings(max_examples=40, deadline=None)
def test_order_sides_and_names_do_not_matter(method: str, rows: list[Row], data: st.DataObject) -> None:
    whole = board(rows, method)
    assert all(np.isfinite(value) for value in whole.values())
    shuffled = data.draw(st.permutations(rows))
    assert board(shuffled, method) == pytest.approx(whole, abs=1e-6)
    flip = {"left": "right", "right": "left", "tie": "tie", "both_bad": "both_bad"}
    assert board([(r, left, flip[w]) for left, r, w in rows], method) == pytest.approx(whole, abs=1e-6)
    renamed = dict(zip("abcde", data.draw(st.permutations("vwxyz")), strict=True))
    other = board([(renamed[left], renamed[r], w) for left, r, w in rows], method)
    assert other == pytest.approx({renamed[model]: value for model, value in whole.items()}, abs=1e-6)


@pytest.mark.parametrize("method", ["bt", "davidson"])
def test_a_whole_weight_is_so_many_battles(method: str) -> None:
    once = simulate(STRENGTHS, 300, 1, ties=0.2)
    times = np.random.default_rng(2).integers(1, 4, 300)
    again = replace(
        once,
        left=np.repeat(once.left, times),
        right=np.repeat(once.right, times),
        outcome=np.repeat(once.outcome, times),
    )
    weighted = replace(once, weight=times.astype(float))
    options = Options(method=method, interval="none")
    theirs = {s.model: s.rating for s in rank_battles(again, options).models}
    assert {s.model: s.rating for s in rank_battles(weighted, options).models} == pytest.approx(theirs, abs=1e-6)


def test_a_weight_scales_the_whole_elo_step() -> None:
    """Two equal players at weight 0.5 stay near 1000 (evalica lets them fall to 0)."""
    level = simulate(np.zeros(2), 2000, 3)
    half = replace(level, weight=np.full(2000, 0.5))
    found = rank_battles(half, Options(method="elo", interval="none", elo=EloOptions(k=8)))
    same = rank_battles(level, Options(method="elo", interval="none", elo=EloOptions(k=4)))
    assert [s.rating for s in found.models] == pytest.approx([s.rating for s in same.models])
    assert sum(s.rating for s in found.models) == pytest.approx(2000)


def test_one_seed_gives_one_board_and_another_another() -> None:
    given_battles = simulate(STRENGTHS, 400, 4)
    first, again = (rank_battles(given_battles, Options(seed=7, rounds=200)) for _ in range(2))
    other = rank_battles(given_battles, Options(seed=8, rounds=200))
    assert first.models == again.models
    assert first.models != other.models
    assert [s.rating for s in first.models] == [s.rating for s in other.models]


def test_elo_resumes_where_it_stopped() -> None:
    whole = simulate(STRENGTHS, 400, 5, ties=0.1)

    def part(rows: slice) -> Battles:
        return replace(whole, left=whole.left[rows], right=whole.right[rows], outcome=whole.outcome[rows])

    options = Options(method="elo", interval="none")
    first = rank_battles(part(slice(0, 150)), options)
    state = EloState({s.model: s.rating for s in first.models}, 150)
    resumed = rank_battles(part(slice(150, None)), options, state=state)
    assert resumed.models != first.models
    assert {s.model: s.rating for s in resumed.models} == {
        s.model: s.rating for s in rank_battles(whole, options).models
    }
    assert resumed.details["state"]["battles"] == 400  # type: ignore[index,call-overload]


def test_items_with_one_battle_each_are_battles() -> None:
    plain = simulate(STRENGTHS, 500, 6)
    items = CodedColumn(np.arange(500, dtype=np.int32), tuple(str(i) for i in range(500)))
    by_item = rank_battles(replace(plain, item=items), Options(rounds=3000))
    by_battle = rank_battles(plain, Options(rounds=3000))
    assert by_item.settings["cluster"] == "item"
    width = [(s.high or 0) - (s.low or 0) for s in by_item.models]
    assert width == pytest.approx([(s.high or 0) - (s.low or 0) for s in by_battle.models], rel=0.12)


def test_repeated_battles_of_an_item_widen_its_cluster_interval() -> None:
    once = simulate(STRENGTHS, 200, 7)
    items = CodedColumn(np.repeat(np.arange(200, dtype=np.int32), 9), tuple(str(i) for i in range(200)))
    many = Battles(
        once.models, np.repeat(once.left, 9), np.repeat(once.right, 9), np.repeat(once.outcome, 9), item=items
    )
    clustered, naive = (rank_battles(many, Options(cluster=cluster)) for cluster in ("item", "battle"))
    wide = np.array([(s.high or 0) - (s.low or 0) for s in clustered.models])
    narrow = np.array([(s.high or 0) - (s.low or 0) for s in naive.models])
    assert (wide / narrow).mean() == pytest.approx(3.0, rel=0.15)
    robust = rank_battles(many, Options(cluster="item", interval="sandwich"))
    assert np.array([(s.high or 0) - (s.low or 0) for s in robust.models]) == pytest.approx(wide, rel=0.25)


def test_balanced_dimensions_weigh_the_same() -> None:
    """A dimension with ten times the battles does not drown the other; counted, it does."""
    many, few = simulate(STRENGTHS, 4000, 8), simulate(STRENGTHS[::-1].copy(), 400, 9)
    joint = Battles(
        many.models,
        np.concatenate([many.left, few.left]),
        np.concatenate([many.right, few.right]),
        np.concatenate([many.outcome, few.outcome]),
        dimension=CodedColumn(np.repeat([0, 1], [4000, 400]).astype(np.int32), ("IF", "VQ")),
    )
    spread = {}
    for weight in ("count", "balanced"):
        found = rank_battles(joint, Options(dimension_weight=weight, interval="none"))
        spread[weight] = {s.model: s.rating for s in found.models}["model-000"] - 1000
    assert spread["count"] > 80
    assert abs(spread["balanced"]) < 40
