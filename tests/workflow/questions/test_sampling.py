"""Which battles are fought: all, some for each pair, as many as it takes, a new model against the rest."""

import math
import shutil
from collections import Counter
from itertools import combinations
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from imarena.core.errors import UserError
from imarena.core.records import ImageRef, Item, Order, Output, Ranking, Standing, Turn
from imarena.routing.sampling import (
    Sampler,
    battles_by_pair,
    interval_widths,
    next_round,
    parse_sampler,
    sampled_pairs,
)
from imarena.storage import open_workspace
from imarena.workflows.boards import Boards, all_boards
from imarena.workflows.questions.cases import ShowableOutputs, cases_of, parse_orders
from imarena.workflows.views import View
from tests.command import Imarena
from tests.servers.fake_endpoint import fake_server, point_at
from tests.small_data.small_arena import make_arena


def board(items: int, editors: int, missing: frozenset[tuple[int, int]] = frozenset()) -> ShowableOutputs:
    """A board of made-up outputs; `missing` (item, editor) have none."""
    made, slots, parents = {}, {}, {}
    for n in range(items):
        item = Item(dataset="d", key=f"k{n}", turns=(Turn(instruction=f"do {n}"),))
        made[item.item_id] = item
        outputs = []
        for e in range(editors):
            if (n, e) not in missing:
                image = ImageRef(sha256=f"{n * 100 + e:064x}", size_bytes=1, media_type="image/png")
                outputs.append(Output(item_id=item.item_id, editor=f"e{e}", image=image))
        slots[item.item_id, 0, "single"] = outputs
        parents.update({output.output_id: output for output in outputs})
    return ShowableOutputs(made, slots, parents, 0)


def test_full_is_every_pair_on_every_item_once() -> None:
    found = sampled_pairs(board(5, 4), Sampler())
    assert len(found) == 5 * 6
    assert len({(battle.slot, battle.pair) for battle in found}) == 30


@settings(max_examples=40, deadline=None)
@given(
    st.integers(3, 12),
    st.integers(2, 6),
    st.integers(1, 8),
    st.integers(0, 3),
    st.frozensets(st.tuples(st.integers(0, 11), st.integers(0, 5)), max_size=6),
)
def test_per_pair_is_exact_fair_nested_and_depends_on_the_seed_alone(
    items: int, editors: int, count: int, seed: int, missing: frozenset[tuple[int, int]]
) -> None:
    arena = board(items, editors, missing)
    found = sampled_pairs(arena, Sampler("per-pair", count, seed=seed))
    again = sampled_pairs(board(items, editors, missing), Sampler("per-pair", count, seed=seed))
    assert [(b.slot, b.left.output_id) for b in found] == [(b.slot, b.left.output_id) for b in again]
    every = Counter(battle.pair for battle in sampled_pairs(arena, Sampler()))
    assert Counter(battle.pair for battle in found) == {pair: min(count, n) for pair, n in every.items()}
    larger = {(b.slot, b.pair) for b in sampled_pairs(arena, Sampler("per-pair", count + 2, seed=seed))}
    assert {(b.slot, b.pair) for b in found} <= larger, "a larger sample holds the smaller one"
    if not missing:
        used = Counter(battle.slot for battle in found)
        assert max(used.values()) - min(used.get(slot, 0) for slot in arena.slots) <= 2, "items are used about equally"


def test_a_new_model_meets_the_pool_and_nobody_else_fights() -> None:
    found = sampled_pairs(board(4, 4), Sampler("new-model", model="e2"))
    assert len(found) == 4 * 3
    assert all("e2" in battle.pair for battle in found)
    with pytest.raises(UserError, match="Did you mean 'e2'"):
        sampled_pairs(board(4, 4), Sampler("new-model", model="e22"))


def test_orders_and_repeats_become_cases() -> None:
    arena = board(30, 2)
    battles = sampled_pairs(arena, Sampler())
    both = list(cases_of(arena, battles, "both", repeats=2))
    assert len(both) == 30 * 2 * 2
    assert {case.order for case in cases_of(arena, battles, "single")} == {Order.LEFT_FIRST}
    coin = [case.order for case in cases_of(arena, battles, "paper-compat")]
    assert len(coin) == 30
    assert 5 < coin.count(Order.RIGHT_FIRST) < 25
    assert coin == [case.order for case in cases_of(arena, battles, "paper-compat")]


def ranking(models: list[str], variance: float) -> Ranking:
    rows = tuple(tuple(variance if i == j else 0.0 for j in range(len(models))) for i in range(len(models)))
    standings = tuple(
        Standing(model=m, rating=1000, low=None, high=None, rank=1, rank_low=None, rank_high=None, battles=1, wins=0,
                 losses=0, ties=1)
        for m in models
    )  # fmt: skip
    return Ranking(method="bt", settings={}, n_battles=1, models=standings, covariance=rows)


def test_a_width_is_that_of_the_interval_of_the_difference() -> None:
    by_pair = battles_by_pair(board(3, 3), Sampler())
    widths = interval_widths(by_pair, ranking(["e0", "e1"], 100.0))
    assert widths["e0", "e1"] == pytest.approx(2 * 1.959964 * math.sqrt(200))
    assert widths["e0", "e2"] == math.inf
    sampler = Sampler("adaptive", per_pair=2, width=60)
    at = next_round(by_pair, Counter({("e0", "e1"): 2}), ranking(["e0", "e1", "e2"], 200.0), sampler)
    assert at.open == 3
    assert Counter(battle.pair for battle in at.battles) == {("e0", "e1"): 1, ("e0", "e2"): 2, ("e1", "e2"): 2}
    narrow = next_round(by_pair, Counter(), ranking(["e0", "e1", "e2"], 100.0), sampler)
    assert (narrow.open, narrow.battles) == (0, [])


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("full", Sampler()),
        ("per-pair:20", Sampler("per-pair", 20)),
        ("adaptive", Sampler("adaptive", 10, 50.0)),
        ("adaptive:4", Sampler("adaptive", 4, 50.0)),
        ("new-model:my model", Sampler("new-model", model="my model")),
    ],
)
def test_samplers_are_read(text: str, wanted: Sampler) -> None:
    assert parse_sampler(text, width=50) == wanted


@pytest.mark.parametrize("text", ["", "per-pair", "per-pair:0", "per-pair:x", "adaptiv", "new-model", "full:3"])
def test_what_is_no_sampler_is_refused(text: str) -> None:
    with pytest.raises(UserError):
        parse_sampler(text, width=50)
    with pytest.raises(UserError, match="width"):
        parse_sampler("adaptive")
    with pytest.raises(UserError):
        parse_orders("twice")


# ---------------------------------------------------------------- through the command line


@pytest.fixture(scope="module")
def arena(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("arena") / "a"
    make_arena(root, items=10)
    return root


def test_adaptive_stops_when_every_interval_is_narrow(imarena: Imarena, arena: Path, tmp_path: Path) -> None:
    shutil.copytree(arena, tmp_path / "a")
    with fake_server() as server:
        point_at(tmp_path / "a", server.url)
        words = ("-w", "a", "--json", "battle", "--judge", "genarena", "--sampler", "adaptive:3", "--width")
        wide = imarena(*words, "1500").json
        rounds = wide["rounds"][0]
        assert rounds[0] == {"battles": 0, "widest": None, "too_wide": 3, "of": 3}
        assert rounds[-1]["too_wide"] == 0
        assert rounds[-1]["widest"] < 1500
        assert 9 <= rounds[-1]["battles"] < 30, "it stopped before all battles were fought"
        assert wide["reports"][0]["judgments"] == {"ok": 2 * rounds[-1]["battles"]}
        assert wide["estimates"][0]["at_most"] is True
        asked = server.counts()["requests"]
        narrow = imarena(*words, "1").json
        last = narrow["rounds"][0][-1]
        assert (last["battles"], last["too_wide"]) == (30, 3), "all fought, and it says that it is not enough"
        assert server.counts()["requests"] == 60
        assert narrow["reports"][0]["done_before"] == asked
    widths = [row["widest"] for row in narrow["rounds"][0] if row["widest"] is not None]
    assert widths[-1] < widths[0]


def test_one_order_is_a_whole_battle_where_that_was_asked_for(imarena: Imarena, arena: Path, tmp_path: Path) -> None:
    shutil.copytree(arena, tmp_path / "a")
    with fake_server() as server:
        point_at(tmp_path / "a", server.url)
        report = imarena("-w", "a", "--json", "battle", "--judge", "genarena", "--orders", "paper-compat").json
        assert report["reports"][0]["planned"] == 30
        with open_workspace(tmp_path / "a") as workspace:
            (one,) = all_boards(Boards(View(workspace)))
        assert one.ranking.n_battles == 30
        both = imarena("-w", "a", "--json", "battle", "--judge", "genarena").json["reports"][0]
        assert (both["planned"], both["done_before"]) == (30, 30), "the other order is all that is missing"
    with open_workspace(tmp_path / "a") as workspace:
        (one,) = all_boards(Boards(View(workspace)))
    assert one.ranking.n_battles == 30


def test_battles_of_distinct_pairs_are_all_there() -> None:
    found = battles_by_pair(board(2, 5), Sampler())
    assert set(found) == set(combinations([f"e{n}" for n in range(5)], 2))
