"""A board in every form: the same numbers, notes instead of intervals, its signature, and what only JSON had."""

import csv
import io
import json
import random
import re
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from imarena.cli.app import app
from imarena.core.notices import Notice
from imarena.core.records import Ranking
from imarena.reports.rank_tables import board_data, board_tables, standings_table
from imarena.reports.tables import to_csv, to_html, to_latex, to_markdown

MODELS = ["alpha_1", "beta & co", "gamma|x", "delta"]


@pytest.fixture
def battles(tmp_path: Path) -> Path:
    random.seed(3)
    path = tmp_path / "battles.csv"
    with path.open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["left", "right", "winner", "item", "size", "dimension", "rater", "source"])
        for k in range(240):
            left, right = random.sample(range(4), 2)
            ahead = "left" if random.random() < 0.55 + 0.12 * (right - left) else "right"
            winner = "tie" if random.random() < 0.15 else ahead
            row = [MODELS[left], MODELS[right], winner, k % 40, round(random.gauss(0, 2), 3), f"d{k % 2}", f"r{k % 3}"]
            writer.writerow([*row, "human"])
    return path


def rank(path: Path, *words: str) -> str:
    return (
        CliRunner().invoke(app, ["rank", "--from", str(path), "--rounds", "60", *words], catch_exceptions=False).stdout
    )


def document(path: Path, *words: str) -> Any:
    words = ("--json", "rank", "--from", str(path), "--rounds", "60", *words)
    return json.loads(CliRunner().invoke(app, list(words), catch_exceptions=False).stdout)


def numbers(text: str) -> list[str]:
    """The numbers of a row, whatever stands between them."""
    return re.findall(r"-?\d+(?:\.\d+)?", text.replace(",", ""))


def test_every_form_shows_the_same_numbers(battles: Path) -> None:
    found = document(battles)["models"]
    data = list(csv.DictReader(io.StringIO(rank(battles, "--csv"))))
    forms = [rank(battles), rank(battles, "--markdown"), rank(battles, "--latex")]
    for one, row in zip(found, data, strict=True):
        assert {key: float(row[key]) for key in ("rating", "low", "high", "wins")} == {
            key: one[key] for key in ("rating", "low", "high", "wins")
        }
        assert (row["coverage"], one["coverage"]) == ("", None)  # a table of votes does not state missing outputs
        ranks = sorted({one["rank_low"], one["rank_high"]})
        counts = [one["battles"], one["wins"], one["losses"], one["ties"]]
        shown = [f"{one['rank']}", f"{one['rating']:.1f}", f"{one['low']:.0f}", f"{one['high']:.0f}"]
        shown += [*map(str, ranks), *(f"{value:.0f}" for value in counts)]
        for form in forms:
            (line,) = [line for line in form.splitlines() if f" {one['rating']:.1f} " in line]
            rest = re.sub(r"alpha\\?_1|multicolumn\{2\}", "", line)
            assert numbers(rest) == shown


def test_coefficients_stand_under_the_board(battles: Path) -> None:
    words = ("--position", "--covariate", "size", "--interval", "bootstrap")
    position, size = document(battles, *words)["details"]["coefficients"]
    for form in ((), ("--markdown",), ("--latex",)):
        shown = rank(battles, *words, *form)
        (left,) = [line for line in shown.splitlines() if "left side" in line]
        assert numbers(left.replace("$-$", "-"))[:3] == [f"{position[k]:.1f}" for k in ("rating_points", "low", "high")]
        (other,) = [line for line in shown.splitlines() if "size, per standard" in line]
        assert f"{size['per']:.4g}" in other
    assert "Advantage" not in rank(battles)


def test_tie_parameters_reliabilities_and_stability_are_shown(battles: Path) -> None:
    ties = document(battles, "--method", "davidson")["details"]["ties"]
    shown = rank(battles, "--method", "davidson")
    for line in ties:
        assert re.search(rf"{line['group']} +{line['value']:.3f} +{line['low']:.3f} to {line['high']:.3f}", shown)
    stability = document(battles)["details"]["stability"]
    assert f"Spearman correlation of resampled boards {stability['mean_spearman']:.3f}" in rank(battles)
    assert f"(RankStd) {stability['rank_std']:.2f}" in rank(battles, "--markdown")
    mixed = rank(battles, "--method", "mixture", "--interval", "none")
    assert "Reliability q by rater" in mixed
    assert "Spearman" not in mixed


def board(**more: Any) -> Ranking:
    row = {"rank": 1, "rank_low": 1, "rank_high": 2, "battles": 5, "wins": 3, "losses": 1, "ties": 1}
    models = [
        {"model": "free", "rating": 1010.0, "low": 990.0, "high": 1030.0, **row},
        {"model": "held", "rating": 1000.0, "low": None, "high": None, "note": "fixed", **row},
        {"model": "flat", "rating": 995.0, "low": 995.0, "high": 995.0, **row},
    ]
    settings = {"level": 0.95, **more.pop("settings", {})}
    return Ranking.model_validate({"method": "bt", "settings": settings, "models": models, "n_battles": 5, **more})


def test_a_model_without_an_interval_has_its_note_and_none_has_width_zero() -> None:
    made = standings_table(board())
    assert [made.text(row, 3) for row in made.rows] == ["990 to 1030", "fixed", "–"]
    for write in (to_markdown, to_latex, to_html):
        assert "fixed" in write(made)
        assert "995 to 995" not in write(made)
    rows = list(csv.DictReader(io.StringIO(to_csv(board_data([board()])))))
    assert [(row["low"], row["high"], row["note"]) for row in rows] == [
        ("990.0", "1030.0", ""), ("", "", "fixed"), ("", "", ""),
    ]  # fmt: skip
    plain = board().model_copy(update={"models": board().models[:1]})
    assert "note" not in to_csv(board_data([plain]))


def test_a_narrow_interval_keeps_two_different_ends() -> None:
    thin = board().models[0].model_copy(update={"low": 1009.98, "high": 1010.01})
    made = standings_table(board().model_copy(update={"models": (thin,)}))
    assert made.text(made.rows[0], 3) == "1009.98 to 1010.01"


def test_the_signature_stands_in_every_form() -> None:
    line = "imarena|data:demo_1|bt"
    made = standings_table(board(settings={"signature": line}))
    assert "imarena\\|data:demo_1\\|bt" in to_markdown(made)
    assert to_latex(made).count("imarena") == 2
    assert line in to_html(made)
    assert to_csv(board_data([board(settings={"signature": line})])).splitlines()[1].endswith(line)
    assert "signature" not in to_csv(board_data([board()]))


def test_notices_are_worded_for_the_place() -> None:
    noticed = board(notices=[Notice(code="text", values={"text": "Mind | this."})])
    assert "Mind" not in "".join(map(to_markdown, board_tables(noticed)))
    assert "Mind \\| this." in to_markdown(board_tables(noticed, "report")[0])
    assert "% Mind | this." in to_latex(board_tables(noticed, "report")[0])


WIDE = {"COLUMNS": "400"}


def test_align_shows_who_said_what(tmp_path: Path) -> None:
    votes, judge = tmp_path / "votes.csv", tmp_path / "judge.csv"
    people = ["left"] * 4 + ["right"] * 3 + ["tie"] * 2 + ["both_bad"]
    verdicts = ["left", "left", "right", "tie", "right", "right", "equal", "tie", None, "both_bad"]
    head = "item,left,right,winner,rater\n"
    votes.write_text(head + "".join(f"{n},A,B,{said},ann\n" for n, said in enumerate(people)))
    judge.write_text(head + "".join(f"{n},A,B,{said},robot\n" for n, said in enumerate(verdicts) if said))
    words = ["align", "--from", str(judge), "--against", str(votes)]
    shown = CliRunner().invoke(app, words, catch_exceptions=False, env=WIDE).stdout
    table = [line.split() for line in shown[shown.index("Verdicts of people and of robot") :].splitlines()[1:6]]
    names = ["judge:", "left", "judge:", "right", "judge:", "tie", "judge:", "both", "bad"]
    assert table == [
        ["people", *names, "judge:", "equal", "judge:", "missing", "all"],
        ["left", "2", "1", "1", "0", "0", "0", "4"],
        ["right", "0", "2", "0", "0", "1", "0", "3"],
        ["tie", "0", "0", "1", "0", "0", "1", "2"],
        ["both", "bad", "0", "0", "0", "1", "0", "0", "1"],
    ]
    latex = CliRunner().invoke(app, [*words, "--latex"], catch_exceptions=False).stdout
    assert r"both bad & 0 & 0 & 0 & 1 & 0 & 0 & 1 \\" in latex
    found = json.loads(CliRunner().invoke(app, ["--json", *words], catch_exceptions=False).stdout)["groups"][0]
    assert re.search(rf"robot +{found['four_way_accuracy']:.3f}", shown)
    every = CliRunner().invoke(app, [*words, "--all-figures"], catch_exceptions=False, env=WIDE).stdout
    assert f"{found['f1']['left']:.4f}" in every


def test_simulate_shows_every_interval() -> None:
    words = [
        "simulate",
        "--seeds",
        "3",
        "--items",
        "16",
        "--models",
        "4",
        "--budgets",
        "10",
        "--policies",
        "human-only",
    ]
    found = json.loads(CliRunner().invoke(app, ["--json", *words], catch_exceptions=False).stdout)["policies"][0]
    shown = CliRunner().invoke(app, words, catch_exceptions=False, env=WIDE).stdout
    for key in ("accuracy", "spearman", "rank_std"):
        assert f"{found[key]['mean']:.4f}  {found[key]['low']:.4f} to {found[key]['high']:.4f}" in shown


def test_agree_shows_the_interval_of_every_level_and_every_rater(tmp_path: Path) -> None:
    path = tmp_path / "ratings.csv"
    random.seed(5)
    rows = [f"{unit},{rater},{1 + unit % 3 + random.randint(0, 1)}\n" for unit in range(30) for rater in "ab"]
    path.write_text("unit,rater,value\n" + "".join(rows))
    words = ["agree", "--from", str(path), "--rounds", "50"]
    found = json.loads(CliRunner().invoke(app, ["--json", *words], catch_exceptions=False).stdout)
    shown = CliRunner().invoke(app, words, catch_exceptions=False, env=WIDE).stdout
    for ends in found["groups"][0]["alpha_interval"].values():
        assert f"{ends['low']:.3f} to {ends['high']:.3f}" in shown
    assert f"{found['groups'][0]['percent_agreement']:.4f}" in shown
    for line in found["raters"]:
        assert re.search(
            rf"^{line['rater']} +{line['n']} +{line['n_shared']} +{line['with_others']:.3f}", shown, re.MULTILINE
        )
