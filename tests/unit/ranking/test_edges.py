"""Where peers break: unbeaten, winless, islands, ties only, one battle, unknown labels, missing winners."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from typer.testing import CliRunner

from imarena.cli.app import app
from imarena.core.errors import UserError
from imarena.core.records import Ranking
from imarena.workflows.rank import rank

CORE = [("a", "b", "left"), ("b", "a", "left"), ("b", "c", "left"), ("c", "a", "left"), ("c", "b", "left")] * 4
METHODS = ["bt", "davidson"]


def table(rows: list[tuple[str, str, Any]]) -> dict[str, list[Any]]:
    return {name: [row[i] for row in rows] for i, name in enumerate(("left", "right", "winner"))}


def of(board: Ranking) -> dict[str, Any]:
    return {standing.model: standing for standing in board.models}


def widths(board: Ranking) -> dict[str, float]:
    return {s.model: (s.high or 0) - (s.low or 0) for s in board.models}


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("interval", ["bootstrap", "sandwich"])
@pytest.mark.parametrize(("winner", "word"), [("left", "won every battle"), ("right", "lost every battle")])
def test_unbeaten_and_winless(method: str, interval: str, winner: str, word: str) -> None:
    plain = rank(table(CORE), method=method, interval=interval)
    board = rank(table([*CORE, *[("u", "a", winner), ("u", "b", winner)] * 3]), method=method, interval=interval)
    assert any(word in warning and "'u'" in warning for warning in board.warnings)
    assert not plain.warnings
    for model in "abc":
        assert of(board)[model].rating == pytest.approx(of(plain)[model].rating, abs=1e-6)
    place = 1 if winner == "left" else 4
    assert of(board)["u"].rank == place
    assert widths(board)["u"] > 300
    assert widths(board)["u"] > 1.5 * max(widths(plain).values())


def test_more_wins_place_an_unbeaten_model_higher() -> None:
    few, many = (rank(table([*CORE, *[("u", "c", "left")] * n]), interval="none") for n in (2, 40))
    assert of(many)["u"].rating > of(few)["u"].rating + 50


@pytest.mark.parametrize("method", METHODS)
def test_two_islands(method: str) -> None:
    island = [("x", "y", "left")] * 3 + [("y", "x", "left")] * 2
    board = rank(table([*CORE, *island]), method=method)
    assert any("2 islands" in warning for warning in board.warnings)
    plain = of(rank(table(CORE), method=method))
    assert {model: of(board)[model].rating for model in "abc"} == pytest.approx(
        {model: plain[model].rating for model in "abc"}, abs=1e-6
    )
    assert (of(board)["x"].rating + of(board)["y"].rating) / 2 == pytest.approx(1000, abs=1e-6)
    assert of(board)["x"].rating - of(board)["y"].rating == pytest.approx(400 * np.log10(1.5), abs=1e-6)
    assert min(widths(board)["x"], widths(board)["y"]) > 600


@pytest.mark.parametrize("method", METHODS)
def test_ties_only(method: str) -> None:
    board = rank(table([("a", "b", "tie")] * 10 + [("b", "c", "tie")] * 4), method=method)
    assert [s.rating for s in board.models] == pytest.approx([1000] * 3)
    assert [s.rank for s in board.models] == [1, 1, 1]
    assert min(widths(board).values()) > 100
    assert any("no variation" in warning for warning in board.warnings)


@pytest.mark.parametrize("method", METHODS)
def test_one_battle(method: str) -> None:
    board = rank(table([("a", "b", "left")]), method=method)
    assert of(board)["a"].rating > 1000 > of(board)["b"].rating
    assert of(board)["a"].rating + of(board)["b"].rating == pytest.approx(2000)
    assert min(widths(board).values()) > 200
    assert board.warnings


@pytest.mark.parametrize("method", ["elo", "active-elo"])
def test_one_battle_online_has_no_interval(method: str) -> None:
    board = rank(table([("a", "b", "left")]), method=method)
    assert all(s.low is None and s.high is None for s in board.models)
    assert any("Too few battles" in warning for warning in board.warnings)


def test_missing_winner_is_left_out_and_counted() -> None:
    board = rank(table([*CORE, ("a", "b", None), ("a", "c", "")]), interval="none")
    plain = rank(table(CORE), interval="none")
    assert board.excluded == {"missing_winner": 2}
    assert board.n_battles == 20
    assert board.models == plain.models
    assert any("2 missing winner" in warning for warning in board.warnings)


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
    assert of(out)["a"].coverage < of(out)["b"].coverage
    assert any("Coverage differs" in warning for warning in out.warnings)


def test_nothing_to_rank() -> None:
    with pytest.raises(UserError, match="nothing to rank"):
        rank(table([("a", "b", None)]))
    with pytest.raises(UserError, match="nothing to rank"):
        rank({"left": [], "right": [], "winner": []})
    board = rank(table([*CORE, ("a", "a", "left"), ("z", "z", "tie")]), interval="none")
    assert board.excluded == {"same_model_on_both_sides": 2}
    assert any("'z'" in warning for warning in board.warnings)


def test_a_new_model_is_placed_on_a_frozen_board() -> None:
    frozen = rank(table(CORE), interval="none")
    board = rank(table([("n", "c", "left"), ("n", "a", "left"), ("c", "n", "left")] * 2), anchors=frozen)
    for model in "ac":
        assert of(board)[model].rating == of(frozen)[model].rating
        assert of(board)[model].low is None
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
    assert "coverage" in shown.output


def test_a_side_that_always_wins_does_not_run_off() -> None:
    from imarena.ranking import Options

    rows = [(a, b, "left") for a, b, _ in CORE] + [(b, a, "left") for a, b, _ in CORE]
    board = rank(table(rows), options=Options(position=True), rounds=50)
    assert any("coefficient" in warning for warning in board.warnings)
    coefficients: Any = board.details["coefficients"]
    assert 200 < coefficients[0]["rating_points"] < 2000
    assert [s.rating for s in board.models] == pytest.approx([1000] * 3, abs=1e-6)
