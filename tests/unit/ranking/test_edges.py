"""Where peers break: unbeaten, winless, islands, ties only, one battle, unknown labels, missing winners."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from typer.testing import CliRunner

from imarena.cli.app import app
from imarena.core.errors import UserError
from imarena.core.notices import Notice, sentence
from imarena.core.records import Ranking
from imarena.ranking import Options
from imarena.ranking.boards.board_gate import BelowRule, gate_board
from imarena.ranking.boards.from_tables import rank
from imarena.reports.rank_tables import method_line

CORE = [("a", "b", "left"), ("b", "a", "left"), ("b", "c", "left"), ("c", "a", "left"), ("c", "b", "left")] * 4
METHODS = ["bt", "davidson"]


def table(rows: list[tuple[str, str, Any]]) -> dict[str, list[Any]]:
    return {name: [row[i] for row in rows] for i, name in enumerate(("left", "right", "winner"))}


def of(board: Ranking) -> dict[str, Any]:
    return {standing.model: standing for standing in board.models}


def widths(board: Ranking) -> dict[str, float]:
    return {s.model: (s.high or 0) - (s.low or 0) for s in board.models}


def spreads(board: Ranking) -> dict[str, float]:
    """Four standard deviations of every rating, those without an interval too."""
    assert board.covariance is not None
    return {s.model: 4 * board.covariance[i][i] ** 0.5 for i, s in enumerate(board.models)}


def codes(board: Ranking) -> list[str]:
    return [notice.code for notice in board.notices]


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("interval", ["bootstrap", "sandwich"])
@pytest.mark.parametrize(
    ("winner", "code", "note"),
    [
        ("left", "won_every_battle", "won every battle: no upper bound"),
        ("right", "lost_every_battle", "lost every battle: no lower bound"),
    ],
)
def test_unbeaten_and_winless(method: str, interval: str, winner: str, code: str, note: str) -> None:
    plain = rank(table(CORE), method=method, interval=interval)
    board = rank(table([*CORE, *[("u", "a", winner), ("u", "b", winner)] * 3]), method=method, interval=interval)
    assert Notice(code=code, values={"model": "u"}) in board.notices
    assert not plain.notices
    for model in "abc":
        assert of(board)[model].rating == pytest.approx(of(plain)[model].rating, abs=1e-6)
    place = 1 if winner == "left" else 4
    assert of(board)["u"].rank == place
    assert (of(board)["u"].low, of(board)["u"].high, of(board)["u"].note) == (None, None, note)
    assert all(of(board)[model].note == "" and of(board)[model].low < of(board)[model].high for model in "abc")
    assert of(board)["u"].rank_low is not None, "its rank is bounded by the other side of its interval"
    assert spreads(board)["u"] > 300
    assert spreads(board)["u"] > 1.5 * max(spreads(plain).values())


def test_more_wins_place_an_unbeaten_model_higher() -> None:
    few, many = (rank(table([*CORE, *[("u", "c", "left")] * n]), interval="none") for n in (2, 40))
    assert of(many)["u"].rating > of(few)["u"].rating + 50


@pytest.mark.parametrize("method", METHODS)
def test_two_islands(method: str) -> None:
    island = [("x", "y", "left")] * 3 + [("y", "x", "left")] * 2
    board = rank(table([*CORE, *island]), method=method)
    (notice,) = [notice for notice in board.notices if notice.code == "groups_never_met"]
    assert notice.values == {"groups": 2, "models": [["a", "b", "c"], ["x", "y"]]}
    plain = of(rank(table(CORE), method=method))
    assert {model: of(board)[model].rating for model in "abc"} == pytest.approx(
        {model: plain[model].rating for model in "abc"}, abs=1e-6
    )
    assert (of(board)["x"].rating + of(board)["y"].rating) / 2 == pytest.approx(1000, abs=1e-6)
    assert of(board)["x"].rating - of(board)["y"].rating == pytest.approx(400 * np.log10(1.5), abs=1e-6)
    assert "weak_prior" not in codes(board), "each island has a scale of its own"


def pooled(one: list[tuple[str, str, Any]], other: list[tuple[str, str, Any]]) -> dict[str, list[Any]]:
    """Two tables, each on items of its own."""
    return {
        **table([*one, *other]),
        "item": [*(f"a{i}" for i in range(len(one))), *(f"b{i}" for i in range(len(other)))],
    }


UNEVEN = [("x", "y", "left"), ("x", "y", "left"), ("y", "x", "left"), ("y", "z", "left"), ("z", "x", "left")] * 4
SWEPT = [*UNEVEN, *[("w", "x", "left"), ("w", "z", "left")] * 4]


@pytest.mark.parametrize("interval", ["bootstrap", "sandwich"])
@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("second", [UNEVEN, SWEPT], ids=["plain", "swept"])
def test_each_island_has_the_board_that_it_has_alone(method: str, interval: str, second: Any) -> None:
    options = Options(method=method, interval=interval, rounds=400)
    board, *alone = (rank(data, options=options) for data in (pooled(CORE, second), table(CORE), table(second)))
    for one in (standing for part in alone for standing in part.models):
        both = of(board)[one.model]
        assert (both.rank, both.note) == (one.rank, one.note)
        assert both.rating == pytest.approx(one.rating, abs=1e-3 if method == "bt" else 3)
        if one.low is None or one.high is None or both.low is None or both.high is None:
            assert (both.low, both.high) == (one.low, one.high), "a sweep has no bound, in its island too"
            continue
        assert (both.low, both.high) == pytest.approx((one.low, one.high), abs=0.2 * (one.high - one.low))
    pairs: Any = board.details["pairs"]
    at = {model: place for place, model in enumerate(pairs["models"])}
    for name in ("predicted_win", "difference", "difference_low", "difference_high", "probability_above"):
        assert pairs[name][at["a"]][at["x"]] is None, name
    rates: Any = board.details["average_win_rate_top10"]
    own: Any = alone[1].details["average_win_rate_top10"]
    assert {model: rates[model] for model in own} == pytest.approx(own, abs=1e-3 if method == "bt" else 0.02)


def test_anchors_fix_the_scale_of_their_island() -> None:
    board = rank(pooled(CORE, UNEVEN), anchors={"a": 1500.0})
    assert (of(board)["a"].rating, of(board)["a"].note) == (1500, "fixed")
    assert of(board)["b"].rating > 1400
    assert np.mean([of(board)[model].rating for model in "xyz"]) == pytest.approx(1000, abs=1e-6)
    assert all(of(board)[model].low < of(board)[model].rating < of(board)[model].high for model in "bcxyz")
    linked = rank(pooled(CORE, UNEVEN), anchors={"a": 1500.0, "x": 1500.0})
    assert len(linked.groups) == 1, "anchors put both on one scale"


def test_few_items_of_one_island_are_noticed() -> None:
    board = rank(
        {**pooled(CORE * 2, UNEVEN[:10]), "item": [f"i{n % 12}" for n in range(40)] + [f"j{n % 3}" for n in range(10)]}
    )
    few = next(notice for notice in board.notices if notice.code == "few_units")
    assert few.values == {"units": 3, "cluster": "item", "group": 2}
    assert sentence(few) == "Group 2 has only 3 items to resample: its intervals are too narrow."
    assert board.details["group_units"] == [12, 3]


@pytest.mark.parametrize("method", ["elo", "active-elo"])
def test_online_boards_name_islands(method: str) -> None:
    board = rank(pooled(CORE, UNEVEN), method=method)
    assert board.groups == (("a", "b", "c"), ("x", "z", "y")) or {*board.groups[1]} == {*"xyz"}
    assert [one.rank for one in board.models] == [1, 2, 3, 1, 2, 3]
    assert np.mean([of(board)[model].rating for model in "xyz"]) == pytest.approx(1000)
    joined = rank(table([("a", "x", "left"), ("b", "y", "left")]), method=method, resume=board)
    assert len(joined.groups) == 1
    apart = rank(table([("a", "b", "left"), ("y", "x", "left")]), method=method, resume=board)
    assert len(apart.groups) == 2, "the earlier battles did not link them either"
    whole = rank(table([*CORE, ("x", "a", "left"), ("y", "a", "left")]), method=method)
    assert len(rank(table([("a", "b", "left"), ("y", "x", "left")]), method=method, resume=whole).groups) == 1


def test_a_gate_does_not_compare_islands() -> None:
    board = rank(pooled(CORE, SWEPT))
    result = gate_board(board, BelowRule("a", "w"))
    assert result.outcome == "undecided"
    assert result.reason is not None
    assert sentence(result.reason) == "a and w are in groups that never met: nothing compares them."


@pytest.mark.parametrize("method", METHODS)
def test_ranks_and_stability_hold_within_an_island(method: str) -> None:
    """Each island has the ranks, rank intervals and stability that it has alone, whatever its position on the scale."""
    sure = [("x", "y", "left")] * 30 + [("y", "x", "left")] * 2
    board = rank(table([*CORE, *sure]), method=method)
    alone = rank(table(CORE), method=method)
    assert [one.model for one in board.models] == [*(one.model for one in alone.models), "x", "y"], "island by island"
    assert [one.rank for one in board.models] == [1, 2, 3, 1, 2]
    assert [(of(board)[model].rank_low, of(board)[model].rank_high) for model in "xy"] == [(1, 1), (2, 2)]
    assert all((of(board)[model].rank_high or 9) <= 3 for model in "abc")
    core, stable = alone.details["stability"], board.details["stability"]
    assert isinstance(core, dict)
    assert isinstance(stable, dict)
    assert stable["rank_std"] == pytest.approx(3 / 5 * float(str(core["rank_std"])), abs=0.1)
    lines: Any = board.details["neighbours"]
    assert [line["above"] for line in lines] == [*(one.model for one in alone.models[:2]), "x"]
    cells: Any = board.details["pairs"]
    assert cells["probability_above"][0][3] is None, "nothing compares the islands"
    assert cells["probability_above"][3][4] > 0.9


@pytest.mark.parametrize("method", METHODS)
def test_ties_only(method: str) -> None:
    board = rank(table([("a", "b", "tie")] * 10 + [("b", "c", "tie")] * 4), method=method)
    assert [s.rating for s in board.models] == pytest.approx([1000] * 3)
    assert [s.rank for s in board.models] == [1, 1, 1]
    assert min(widths(board).values()) > 100
    assert codes(board) == ["intervals_from_model"] if method == "bt" else "intervals_from_model" in codes(board)


@pytest.mark.parametrize("method", METHODS)
def test_one_battle(method: str) -> None:
    board = rank(table([("a", "b", "left")]), method=method)
    assert of(board)["a"].rating > 1000 > of(board)["b"].rating
    assert of(board)["a"].rating + of(board)["b"].rating == pytest.approx(2000)
    assert min(spreads(board).values()) > 200
    assert [(s.low, s.high, s.note[:4]) for s in board.models] == [(None, None, "won "), (None, None, "lost")]
    assert {"won_every_battle", "lost_every_battle", "weak_prior"} <= set(codes(board))


@pytest.mark.parametrize("method", ["elo", "active-elo"])
def test_one_battle_online_has_no_interval(method: str) -> None:
    board = rank(table([("a", "b", "left")]), method=method)
    assert all(
        (s.low, s.high, s.rank_low, s.rank_high, s.note) == (None,) * 4 + ("only one battle",) for s in board.models
    )
    assert codes(board) == ["order_matters", "no_interval"]
    assert board.covariance is None
    stability: Any = board.details["stability"]
    assert (stability["mean_spearman"], stability["rank_std"]) == (None, None), "equal rounds do not show a sure order"


@pytest.mark.parametrize("method", ["elo", "active-elo"])
def test_without_rounds_an_online_board_has_no_interval_and_can_be_printed(method: str) -> None:
    board = rank(table(CORE), method=method, options=Options(rounds=0))
    assert board.settings["interval"] == "none"
    assert method_line(board).startswith({"elo": "Elo", "active-elo": "Active Elo"}[method])


def test_missing_winner_is_left_out_and_counted() -> None:
    board = rank(table([*CORE, ("a", "b", None), ("a", "c", "")]), interval="none")
    plain = rank(table(CORE), interval="none")
    assert board.excluded == {"missing_winner": 2}
    assert board.n_battles == 20
    assert board.models == plain.models
    assert board.notices == (Notice(code="battles_left_out", values={"reasons": {"missing_winner": 2}}),)
    assert board.warnings == ("Left out: 2 battles without a winner.",)


def test_unknown_label_names_its_row() -> None:
    with pytest.raises(UserError, match="row 21: unknown winner 'draw'"):
        rank(table([*CORE, ("a", "b", "draw")]))
    board = rank(table([*CORE, ("a", "b", "draw")]), labels={"draw": "tie"}, interval="none")
    assert of(board)["a"].ties == 1


def test_both_bad_is_a_tie_unless_excluded() -> None:
    rows = [*CORE, *[("a", "c", "both_bad")] * 5]
    tied, left_out = (rank(table(rows), both_bad=choice, interval="none") for choice in ("tie", "exclude"))
    assert of(tied)["a"].ties == 5
    assert left_out.excluded == {"both_bad": 5}
    assert left_out.models == rank(table(CORE), interval="none").models
    assert (tied.settings["both_bad"], left_out.settings["both_bad"]) == ("tie", "exclude")


def test_missing_output_is_excluded_or_a_loss_and_lowers_coverage() -> None:
    data = table([*CORE, ("a", "b", None), ("a", "c", None)])
    data["item"] = [str(i % 5) for i in range(20)] + ["5", "6"]
    data["status_left"] = ["ok"] * 20 + ["refused", "timeout"]
    out, loss = (rank(data, missing=choice, interval="none") for choice in ("exclude", "loss"))
    assert out.excluded == {"missing_output": 2}
    assert (of(loss)["a"].losses, of(out)["a"].losses) == (of(out)["a"].losses + 2, of(out)["a"].losses)
    assert (of(out)["a"].coverage, of(out)["b"].coverage) == (0.6, 1.0)
    (told,) = (notice for notice in out.notices if notice.code == "coverage_differs")
    assert (told.values["model"], told.values["low"]) == ("a", of(out)["a"].coverage)
    assert "--missing loss" in sentence(told, "terminal")
    assert "--" not in sentence(told, "page") + sentence(told, "report")


def test_nothing_to_rank() -> None:
    with pytest.raises(UserError, match="nothing to rank"):
        rank(table([("a", "b", None)]))
    with pytest.raises(UserError, match="nothing to rank") as empty:
        rank({"left": [], "right": [], "winner": []})
    assert "needs rows with two different models" in str(empty.value.hint)
    board = rank(table([*CORE, ("a", "a", "left"), ("z", "z", "tie")]), interval="none")
    assert board.excluded == {"same_model_on_both_sides": 2}
    assert Notice(code="models_not_ranked", values={"models": ["z"], "more": 0}) in board.notices


def test_a_new_model_is_placed_on_a_frozen_board() -> None:
    frozen = rank(table(CORE), interval="none")
    board = rank(table([("n", "c", "left"), ("n", "a", "left"), ("c", "n", "left")] * 2), anchors=frozen)
    for model in "ac":
        assert of(board)[model].rating == of(frozen)[model].rating
        assert (of(board)[model].low, of(board)[model].high, of(board)[model].note) == (None, None, "fixed")
    assert widths(board)["n"] > 100
    expected = 10 ** ((of(board)["n"].rating - np.array([of(frozen)[m].rating for m in "ccaa"])) / 400)
    assert np.sum((expected / (1 + expected))[[0, 0, 1, 1, 2, 2]]) == pytest.approx(4, abs=1e-6)


def test_json_and_screen_say_so(tmp_path: Path) -> None:
    file = tmp_path / "battles.csv"
    file.write_text("left,right,winner\n" + "".join(f"{a},{b},{w}\n" for a, b, w in [*CORE, ("u", "a", "left")]))
    runner = CliRunner()
    document = json.loads(runner.invoke(app, ["--json", "rank", "--from", str(file)]).stdout)
    assert any("'u' won every battle" in warning for warning in document["warnings"])
    keys = {"model", "rating", "low", "high", "rank", "rank_low", "rank_high", "battles", "wins", "losses", "ties"}
    assert all(keys <= row.keys() for row in document["models"])
    assert {"method", "settings", "n_battles", "excluded", "warnings", "models"} <= document.keys()
    shown = runner.invoke(app, ["rank", "--from", str(file)])
    assert "won every battle" in shown.output
    assert "no upper bound" in shown.output


def test_a_side_that_always_wins_does_not_run_off() -> None:
    from imarena.ranking import Options

    rows = [(a, b, "left") for a, b, _ in CORE] + [(b, a, "left") for a, b, _ in CORE]
    board = rank(table(rows), options=Options(position=True), rounds=50)
    assert "coefficient_unbounded" in codes(board)
    coefficients: Any = board.details["coefficients"]
    assert 200 < coefficients[0]["rating_points"] < 2000
    assert [s.rating for s in board.models] == pytest.approx([1000] * 3, abs=1e-6)


def test_a_mixture_that_takes_all_losses_for_coin_flips_does_not_run_off() -> None:
    bounded = 0
    for seed in range(40):
        rng = np.random.default_rng(seed)
        sides = [rng.choice(["a", "b", "c"], 2, replace=False) for _ in range(int(rng.integers(4, 13)))]
        columns: dict[str, list[Any]] = {
            "left": [str(left) for left, _ in sides],
            "right": [str(right) for _, right in sides],
            "winner": rng.choice(["left", "right", "tie"], len(sides)).tolist(),
            "rater": rng.choice(["x", "y", "z"], len(sides)).tolist(),
        }
        board = rank(columns, method="mixture")
        bounded += "strength_unbounded" in codes(board)
        assert max(abs(s.rating - 1000) for s in board.models) < 1500
        ends = [(s.low, s.high) for s in board.models if s.low is not None and s.high is not None]
        assert all(5 < high - low < 3000 for low, high in ends), (seed, ends)
    assert 0 < bounded < 40
