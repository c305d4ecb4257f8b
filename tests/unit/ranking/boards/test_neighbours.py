"""rank --power: how sure the order of two neighbours is, and how many battles would settle it."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from typer.testing import CliRunner

from imarena.cli.app import app
from imarena.ranking import Options
from imarena.ranking.boards.from_tables import rank


def votes(won: int, lost: int, ties: int) -> dict[str, list[str]]:
    n = won + lost + ties
    words = ["left"] * won + ["right"] * lost + ["tie"] * ties
    return {"left": ["a"] * n, "right": ["b"] * n, "winner": words}


def lines(table: dict[str, list[str]], options: Options | None = None) -> Any:
    return rank(table, options=options).details["neighbours"]


def test_two_models_against_the_textbook() -> None:
    """60 to 40 with a fifth of ties: 0.6 of the decided, and n = ((1.96 / 2 + 0.8416 sqrt(pq)) / (p - 1/2))^2 / 0.8."""
    (line,) = lines(votes(60, 40, 25))
    p, share = 0.6, (60 + 12.5) / 125
    needed = ((1.959964 / 2 + 0.841621 * np.sqrt(p * (1 - p))) / (p - 0.5)) ** 2 / 0.8
    assert line["battles_to_separate"] == np.ceil(needed)
    assert line["difference"] == pytest.approx(400 * np.log10(share / (1 - share)))
    assert (line["above"], line["below"], line["battles_met"]) == ("a", "b", 125)
    assert 0.9 < line["probability_above"] < 1


def test_davidson_rates_decided_battles_and_needs_the_same_number() -> None:
    """Its difference is that of the decided battles, 0.6 of them: the battles to separate two models are the same."""
    plain, davidson = (
        lines(votes(60, 40, 25), Options(method=method, interval="none"))[0] for method in ("bt", "davidson")
    )
    assert davidson["difference"] == pytest.approx(400 * np.log10(0.6 / 0.4), abs=0.01)
    assert davidson["battles_to_separate"] == plain["battles_to_separate"]


def test_another_scale_needs_no_other_number_of_battles() -> None:
    found = [
        lines(votes(60, 40, 0), Options(interval="none", base=base, scale=scale))
        for base, scale in ((10.0, 400.0), (np.e, 1.0))
    ]
    assert found[0][0]["battles_to_separate"] == found[1][0]["battles_to_separate"]


def test_equal_models_cannot_be_separated() -> None:
    for table in (votes(5, 5, 0), votes(0, 0, 5)):
        (line,) = lines(table)
        assert line["battles_to_separate"] is None


def test_the_command_shows_them(tmp_path: Path) -> None:
    file = tmp_path / "votes.csv"
    rows = zip(*votes(60, 40, 25).values(), strict=True)
    file.write_text("left,right,winner\n" + "".join(f"{','.join(row)}\n" for row in rows), encoding="utf-8")
    plain, told = (CliRunner().invoke(app, ["rank", "--from", str(file), *more]).stdout for more in ([], ["--power"]))
    assert "battles needed" in told
    assert "battles needed" not in plain


def test_an_order_on_which_all_rounds_agree_is_printed_as_what_they_can_say(tmp_path: Path) -> None:
    file = tmp_path / "votes.csv"
    rows = zip(*votes(90, 10, 0).values(), strict=True)
    file.write_text("left,right,winner\n" + "".join(f"{','.join(row)}\n" for row in rows), encoding="utf-8")
    for rounds, sure in (("1000", "> 99.9%"), ("99", "> 99%")):
        shown = CliRunner().invoke(app, ["rank", "--from", str(file), "--power", "--rounds", rounds]).stdout
        assert sure in shown
        assert "100.0%" not in shown.split("Neighbours")[1]
