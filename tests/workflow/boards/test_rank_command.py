"""What the command prints: forms, escapes, groups, plots, settings, comparison."""

import csv
import io
import json
import math
import re
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from imarena.cli.app import app
from imarena.core.errors import UserError
from tests.command import Imarena

HOSTILE = ["=HYPERLINK(1)", "a|b_[x](y)<script>", r"\input{x} 100% & co", "\x1b[31mred\u202e"]


@pytest.fixture
def battles(tmp_path: Path) -> Path:
    path = tmp_path / "battles.csv"
    with path.open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["left", "right", "winner", "task", "item"])
        for k in range(12):
            left, right = HOSTILE[k % 4], HOSTILE[(k + 1 + k // 4) % 4]
            for winner in ("left", "right", "tie"):
                writer.writerow([left, right, winner, "remove" if k % 2 else "add", f"item {k}"])
    return path


def run(*words: str) -> Any:
    return CliRunner().invoke(app, ["rank", *words], catch_exceptions=False, env={"COLUMNS": "160"})


def test_csv_has_no_formula(battles: Path) -> None:
    found = list(csv.DictReader(io.StringIO(run("--from", str(battles), "--csv", "--rounds", "50").stdout)))
    assert len(found) == 4
    assert not any(row["model"].startswith("=") for row in found)
    assert "'=HYPERLINK(1)" in {row["model"] for row in found}
    assert all(float(row["low"]) < float(row["high"]) for row in found)


def test_latex_and_markdown_print_names_as_they_are(battles: Path) -> None:
    latex = run("--from", str(battles), "--latex", "--rounds", "50").stdout
    assert r"\textbackslash{}input\{x\} 100\% \& co" in latex
    assert "\x1b" not in latex
    markdown = run("--from", str(battles), "--markdown", "--rounds", "50").stdout
    assert r"a\|b\_\[x\](y)\<script\>" in markdown
    assert "<script>" not in markdown


def test_the_screen_obeys_no_escape_sequence(battles: Path) -> None:
    shown = run("--from", str(battles), "--rounds", "50").output
    assert "\x1b[31m" not in shown
    assert "\u202e" not in shown


def test_one_board_a_group(battles: Path) -> None:
    result = CliRunner().invoke(app, ["--json", "rank", "--from", str(battles), "--by", "task", "--interval", "none"])
    document = json.loads(result.stdout)
    assert [board["scope"] for board in document["boards"]] == [{"task": "add"}, {"task": "remove"}]
    assert sum(board["n_battles"] for board in document["boards"]) == 36
    with pytest.raises(UserError, match="No column 'nope'"):
        run("--from", str(battles), "--by", "nope")


def test_plots_are_saved_and_hold_no_script_of_a_name(battles: Path, tmp_path: Path) -> None:
    run("--from", str(battles), "--rounds", "50", "--plot", str(tmp_path / "plots"))
    saved = sorted(path.name for path in (tmp_path / "plots").iterdir())
    assert saved == ["ratings.html", "ratings.png", "ratings.svg", "wins.html", "wins.png", "wins.svg"]
    assert (tmp_path / "plots" / "ratings.png").read_bytes().startswith(b"\x89PNG")
    assert "(y)<script>" not in (tmp_path / "plots" / "ratings.html").read_text()


def test_settings_reach_the_method(battles: Path) -> None:
    words = ["--json", "rank", "--from", str(battles), "--method", "active-elo", "--interval", "none"]
    document = json.loads(
        CliRunner().invoke(app, [*words, "--set", "alpha=0.1", "--set", "q_by_gap=0:0.5,100:0.9"]).stdout
    )
    assert document["settings"]["alpha"] == 0.1
    assert document["settings"]["q_by_gap"] == [[0.0, 0.5], [100.0, 0.9]]
    with pytest.raises(UserError, match="No setting 'kk'"):
        run("--from", str(battles), "--set", "kk=3")
    with pytest.raises(UserError, match="needs a number"):
        run("--from", str(battles), "--set", "k=big")
    with pytest.raises(UserError, match="'bt' has no setting 'k'") as refused:
        run("--from", str(battles), "--set", "k=3")
    assert refused.value.hint == "--method bt takes base, scale, centre; 'k' belongs to --method elo."
    with pytest.raises(UserError, match="'bt' has no setting 'reliability'"):
        run("--from", str(battles), "--reliability", "gap")
    with pytest.raises(UserError, match="No method"):
        run("--from", str(battles), "--method", "magic")


def test_against_an_outside_board(battles: Path, tmp_path: Path) -> None:
    board = tmp_path / "board.csv"
    board.write_text("model,rating,date\nother,1200,2026-01-16\n=HYPERLINK(1),1100,2026-01-16\nthird,900,2026-01-16\n")
    words = ["--json", "rank", "--from", str(battles), "--interval", "none", "--against", str(board)]
    names = ["--names", r"\input{x} 100% & co=other", "--names", "a|b_[x](y)<script>=third"]
    found = json.loads(CliRunner().invoke(app, [*words, *names], catch_exceptions=False).stdout)["against"]
    assert found["n"] == 3
    assert found["date"] == "2026-01-16"
    assert len(found["only_ours"]) == 1
    with pytest.raises(UserError, match="on both boards"):
        CliRunner().invoke(app, words, catch_exceptions=False)
    with pytest.raises(UserError, match="not on the other board"):
        CliRunner().invoke(app, [*words, "--names", "=HYPERLINK(1)=nobody"], catch_exceptions=False)


def test_forms_exclude_each_other(battles: Path) -> None:
    with pytest.raises(UserError, match="Choose one"):
        run("--from", str(battles), "--csv", "--latex", "--interval", "none")


def test_only_rounds_that_play_every_battle_go_elsewhere(battles: Path) -> None:
    with pytest.raises(UserError, match="--executor ray is for elo and active-elo; bt computes its rounds here"):
        run("--from", str(battles), "--executor", "ray")
    with pytest.raises(UserError, match="There is no executor called 'rays'"):
        run("--from", str(battles), "--method", "elo", "--executor", "rays")
    words = ("--from", str(battles), "--method", "elo", "--rounds", "40", "--csv")
    here, threads = (run(*words, *more).stdout for more in ((), ("--executor", "threads")))
    assert here == threads != ""


def test_the_conclusion_comes_before_the_warnings_and_equal_ones_are_grouped(tmp_path: Path) -> None:
    rows = [f"a,b,left,i{item},t{task}" for task in range(8) for item in range(3 + task)]
    rows += [f"b,a,left,i{item},t7" for item in range(2)]
    (tmp_path / "b.csv").write_text("left,right,winner,item,task\n" + "\n".join(rows) + "\n")
    shown = run("--from", str(tmp_path / "b.csv"), "--by", "task", "--rounds", "20").output
    lines = shown.splitlines()
    warnings = [line for line in lines if line.startswith("warning:")]
    assert "warning:" not in shown[: shown.rindex("is the best of 2 models")]
    assert "task t0, task t1, task t2, task t3, task t4 and 2 more: 'a' won every battle" in " ".join(warnings)
    assert "to resample" not in shown, "no interval is printed that could be too narrow"
    assert len(warnings) <= 5
    rows += [f"b,a,left,i0,t{task}" for task in range(8)]
    (tmp_path / "b.csv").write_text("left,right,winner,item,task\n" + "\n".join(rows) + "\n")
    lines = run("--from", str(tmp_path / "b.csv"), "--by", "task", "--rounds", "20").output.splitlines()
    few = [line for line in lines if "to resample" in line or "other figures" in line]
    assert len(few) == 3, "two in full, and the names of the other groups"


def test_fragility_names_the_votes_items_and_raters_that_decide(tmp_path: Path) -> None:
    path = tmp_path / "battles.csv"
    rows = [("a", "b", "left", f"item {k}", "ann") for k in range(4)]
    rows += [("a", "b", "right", f"item {k}", "bob") for k in range(4, 7)]
    path.write_text("left,right,winner,item,rater\n" + "\n".join(",".join(row) for row in rows) + "\n")
    shown = run("--from", str(path), "--fragility", "3", "--rounds", "50").stdout
    assert "Fragility: the fewest removals that change the order" in shown
    assert "2 x a over b" in shown
    assert shown.splitlines()[-1].startswith("imarena:"), "the signature comes last"
    assert shown.count("imarena:") == 1
    done = CliRunner().invoke(app, ["--json", "rank", "--from", str(path), "--fragility", "3", "--rounds", "50"])
    orders = json.loads(done.stdout)["details"]["fragility"]["orders"]
    fewest = {order["unit"]: order["removed"] for order in orders if order["question"] == "first place"}
    assert fewest == {"vote": 2, "item": 2, "rater": 1}
    assert next(one["units"] for one in orders if one["unit"] == "rater") == [{"name": "ann", "count": 1}]
    for words in (("--rounds", "50", "--fragility"), ("--fragility", "--rounds", "50")):  # without a number: 3
        done_too = Imarena(tmp_path)("--json", "rank", "--from", path, *words).json
        assert done_too["details"]["fragility"]["orders"] == orders
    refused = Imarena(tmp_path)("rank", "--from", path, "--fragility", "-1", code=2).err
    assert "No such option" not in refused
    assert "--fragility" in refused


def test_a_removal_that_was_not_found_is_not_printed_as_a_change(tmp_path: Path) -> None:
    """Half of three votes is one, and without it no model of a group passes the other."""
    (tmp_path / "b.csv").write_text("left,right,winner\na,b,left\nc,d,left\nc,d,left\n")
    shown = run("--from", str(tmp_path / "b.csv"), "--fragility", "3", "--rounds", "50").stdout
    table = shown[shown.index("Fragility") : shown.index("Clones")]
    assert re.findall(r"^(\w+(?: \w+)?) +votes +not found +(\w) +(\w) ", table, re.MULTILINE) == [
        ("first place", "c", "d"), ("first place", "a", "b"), ("neighbours", "c", "d"), ("neighbours", "a", "b"),
    ]  # fmt: skip
    assert "Not found: no removal of up to half of the votes was found that changes this order." in table
    assert "Some models never met: each group of models that met has its own rows" in table


def test_fragility_asks_nothing_about_models_with_equal_ratings(tmp_path: Path) -> None:
    """Each of four models beats the next one; the last one beats the first."""
    path = tmp_path / "b.csv"
    path.write_text("left,right,winner\na,b,left\nb,c,left\nc,d,left\nd,a,left\n")
    shown = run("--from", str(path), "--fragility", "3", "--rounds", "50").stdout
    table = shown[shown.index("Fragility") : shown.index("Clones")]
    assert re.findall(r"^place 1 +shared +a, b, c, d +0\.0$", table, re.MULTILINE)
    assert "shared: these models have equal ratings" in table
    assert "not found" not in table
    found = Imarena(tmp_path)("--json", "rank", "--from", path, "--fragility", 3, "--rounds", 50).json
    assert found["details"]["fragility"]["orders"] == []
    assert found["details"]["fragility"]["shared"] == [{"place": 1, "models": ["a", "b", "c", "d"]}]


def test_fragility_counts_no_removal_that_only_separates_two_models(tmp_path: Path) -> None:
    """Only r0 compared a and b with c and d. Without r0, b and c are in groups that never met."""
    rows = ["a,b,left,r1", "a,b,left,r1", "a,b,right,r1", "c,d,left,r2", "c,d,left,r2", "c,d,right,r2"]
    rows += ["a,c,left,r0", "a,d,left,r0", "b,c,left,r0", "b,c,right,r0"]
    (tmp_path / "b.csv").write_text("\n".join(["left,right,winner,rater", *rows]) + "\n")
    words = ("--json", "rank", "--from", tmp_path / "b.csv", "--interval", "none", "--fragility", 3)
    orders = Imarena(tmp_path)(*words).json["details"]["fragility"]["orders"]
    of_raters = {(one["ahead"], one["behind"]): one["removed"] for one in orders if one["unit"] == "rater"}
    assert of_raters["b", "c"] is None
    assert of_raters["c", "d"] == 1


def sweep(path: Path, wins: int) -> Path:
    """Battles of `a` and `b`, one per item, all won by `a`."""
    rows = [f"a,b,left,i{n}" for n in range(wins)]
    path.write_text("left,right,winner,item\n" + "\n".join(rows) + "\n")
    return path


def test_the_conclusion_has_no_upper_end_where_the_data_give_none(tmp_path: Path) -> None:
    shown = run("--from", str(sweep(tmp_path / "b.csv", wins=8))).output
    # Clopper and Pearson: a share of 0.025 ** (1 / 8) of the points or more
    share = 0.025 ** (1 / 8)
    least = 400 * math.log10(share / (1 - share))
    ends = f"at least {least:.0f} rating points ahead of b (95% interval, without an upper end)"
    assert f"a has the highest rating of 2 models: {ends}." in shown, "fewer than ten items make no best model"
    asked = CliRunner().invoke(app, ["--json", "rank", "--from", str(tmp_path / "b.csv")], catch_exceptions=False)
    pairs = json.loads(asked.stdout)["details"]["pairs"]
    assert pairs["difference_low"][0][1] == pytest.approx(least)
    assert pairs["difference_high"][0][1] is None
    assert pairs["difference_low"][1][0] is None


def test_five_wins_of_five_do_not_make_a_best_model(tmp_path: Path) -> None:
    shown = run("--from", str(sweep(tmp_path / "b.csv", wins=5))).output
    assert "382 rating points ahead of b; 5 items are not enough evidence to say which is better." in shown


def test_a_lead_over_a_model_never_met_is_not_bounded(tmp_path: Path) -> None:
    rows = [f"a,b,left,i{n}" for n in range(12)] + [f"b,c,{'right' if n else 'left'},i{n}" for n in range(12)]
    (tmp_path / "b.csv").write_text("left,right,winner,item\n" + "\n".join(rows) + "\n")
    shown = run("--from", str(tmp_path / "b.csv")).output
    assert "a has the highest rating of 3 models; the data do not bound its lead over c." in shown
    (tmp_path / "b.csv").write_text(
        "left,right,winner,item\n" + "\n".join(rows).replace("b,c,right", "b,c,left") + "\n"
    )
    assert "a is the best of 3 models: at least" in run("--from", str(tmp_path / "b.csv")).output, "c is below b"
