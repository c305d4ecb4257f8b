"""`agree` on columns and on files: grouping, missing ratings, words, and what is refused."""

import csv
import random
from collections.abc import Sequence
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from imarena.agreement.columns import RatingColumns, ratings_from_file, votes_as_ratings
from imarena.agreement.raters import measure_agreement
from imarena.core.errors import UserError
from imarena.core.records import Outcome, Rater, Vote
from imarena.storage import Workspace
from tests import samples
from tests.command import run

ROWS = st.lists(
    st.tuples(st.sampled_from("abcd"), st.sampled_from("xyz"), st.sampled_from([1.0, 2.0, 3.0, None])),
    min_size=1,
    max_size=12,
    unique_by=lambda row: row[:2],
)


def columns(rows: Sequence[tuple[str, str, float | None]], **labels: list[str]) -> RatingColumns:
    unit, rater, value = zip(*rows, strict=True)
    return RatingColumns(unit, rater, value, labels)


@given(ROWS, st.randoms())
def test_order_of_rows_and_names_of_raters_change_nothing(
    rows: list[tuple[str, str, float | None]], dice: random.Random
) -> None:
    mixed = dice.sample(rows, len(rows))
    renamed = [(unit, {"x": "q", "y": "a", "z": "m"}[rater], value) for unit, rater, value in mixed]
    first = measure_agreement(columns(rows), rounds=20).groups[0]
    for other in (mixed, renamed):
        second = measure_agreement(columns(other), rounds=20).groups[0]
        assert [figure.value for figure in second.figures().values()] == pytest.approx(
            [figure.value for figure in first.figures().values()], abs=1e-12
        )
        assert (second.n_units, second.n_raters, second.n_missing) == (first.n_units, first.n_raters, first.n_missing)


def test_raters_of_one_task_are_not_missing_on_another() -> None:
    rows = [(f"{task}{unit}", f"{task}-{rater}", 1.0) for task in "st" for unit in range(3) for rater in "xy"]
    labels = {"task": [row[0][0] for row in rows]}
    assert measure_agreement(columns(rows, **labels), rounds=0).groups[0].n_missing == 0
    assert measure_agreement(columns(rows[1:], task=labels["task"][1:]), rounds=0).groups[0].n_missing == 1
    assert measure_agreement(columns(rows), rounds=0).groups[0].n_missing == 12


def test_models_and_tasks_tell_units_apart() -> None:
    rows = [("u", "x", 1.0), ("u", "y", 1.0), ("u", "x", 2.0), ("u", "y", 3.0)]
    labels = {"model": ["A", "A", "B", "B"]}
    pooled = measure_agreement(columns(rows, **labels), rounds=0)
    assert pooled.groups[0].n_units == 2
    assert pooled.settings["unit"] == ["unit", "model"]
    split = measure_agreement(columns(rows, **labels), by=["model"], rounds=0)
    assert [group.group for group in split.groups] == [{"model": "A"}, {"model": "B"}]
    assert split.groups[0].status == "undefined"
    assert split.groups[0].reasons["alpha.nominal"].startswith("no variation")


def test_a_criterion_column_always_splits() -> None:
    rows = [("u", "x", 1.0), ("u", "y", 1.0), ("u", "x", 2.0), ("u", "y", 3.0)]
    found = measure_agreement(columns(rows, criterion=["SC", "SC", "PQ", "PQ"]), rounds=0)
    assert [group.criterion for group in found.groups] == ["PQ", "SC"]
    again = measure_agreement(columns(rows, criterion=["SC", "SC", "PQ", "PQ"]), by=["criterion"], rounds=0)
    assert again.to_json() == found.to_json()


def test_words_are_labels_unless_their_order_is_named() -> None:
    words = RatingColumns(["a", "a", "b", "b"], ["x", "y", "x", "y"], ["good", "fair", "bad", "bad"])
    loose = measure_agreement(words, rounds=0).groups[0]
    assert loose.alpha["nominal"].value is not None
    assert loose.alpha["ordinal"].reason == "the values are labels without an order"
    assert loose.status == "partial"
    ordered = measure_agreement(words, order=["bad", "fair", "good"], rounds=0).groups[0]
    assert ordered.alpha["ordinal"].value == pytest.approx(measure_agreement(
        RatingColumns(["a", "a", "b", "b"], ["x", "y", "x", "y"], [2.0, 1.0, 0.0, 0.0]), rounds=0
    ).groups[0].alpha["ordinal"].value)  # fmt: skip
    assert ordered.alpha["interval"].reason == "the values have an order but no distances"
    with pytest.raises(UserError, match="row 1: value 'good' is not in the order"):
        measure_agreement(words, order=["bad", "fair"])


def test_an_order_may_name_numbers() -> None:
    found = measure_agreement(
        columns([("a", "x", 1.0), ("a", "y", 2.0), ("b", "x", 2.0), ("b", "y", 2.0)]), order=["1", "2"]
    )
    assert found.settings["scale"] == "order"
    assert found.groups[0].alpha["ordinal"].value is not None


def test_a_rater_may_not_rate_twice() -> None:
    with pytest.raises(UserError, match="row 3: rater 'x' rated 'a' already in row 1"):
        measure_agreement(columns([("a", "x", 1.0), ("a", "y", 1.0), ("a", "x", 2.0)]))


def test_unknown_columns_and_empty_tables_are_refused() -> None:
    with pytest.raises(UserError, match="no column 'model' to group by"):
        measure_agreement(columns([("a", "x", 1.0)]), by=["model"])
    with pytest.raises(UserError, match="There are no ratings in"):
        measure_agreement(RatingColumns([], [], []))


def test_a_lone_rater_gives_no_figure_and_no_crash() -> None:
    found = measure_agreement(columns([("a", "x", 1.0), ("b", "x", 2.0)]), leave_one_out=True, pairs=True).to_json()
    (group,) = found["groups"]
    assert group["status"] == "undefined"
    assert group["reason"] == "no unit has two ratings"
    assert group["leave_one_out"]["spearman"] is None


def test_odd_raters_are_named() -> None:
    rows = [(f"u{unit}", f"r{rater}", float(unit % 5 + 1)) for unit in range(30) for rater in range(3)]
    rows += [(f"u{unit}", "backwards", float(5 - unit % 5)) for unit in range(30)]
    rows += [(f"u{unit}", "constant", 3.0) for unit in range(30)]
    found = measure_agreement(columns(rows), rounds=0)
    flags = {rater.rater: list(rater.report.flags) for rater in found.raters}
    assert flags == {"r0": [], "r1": [], "r2": [], "backwards": ["backwards"], "constant": ["constant"]}
    named = [(notice.code, notice.values["rater"], notice.values["flag"]) for notice in found.notices]
    assert sorted(named) == [("rater_stands_out", name, name) for name in ("backwards", "constant")]
    assert "all ratings: rater 'constant' always gives the same value" in found.to_json()["warnings"]


TABLE = [("unit", "rater", "value", "model"), ("1", "x", "3", "A"), ("1", "y", "", "A"), ("2", "x", "4", "A"),
         ("2", "y", "5", "A")]  # fmt: skip


def write(path: Path) -> Path:
    with path.open("w", newline="") as file:
        csv.writer(file).writerows(TABLE)
    return path


def test_a_file_becomes_columns(tmp_path: Path) -> None:
    found = ratings_from_file(write(tmp_path / "r.csv"))
    assert list(found.unit) == ["1", "1", "2", "2"]
    assert list(found.value) == [3.0, None, 4.0, 5.0]
    assert found.labels == {"model": ["A"] * 4}


def test_the_command_prints_tables_and_writes_csv(tmp_path: Path) -> None:
    table, out = write(tmp_path / "r.csv"), tmp_path / "out.csv"
    done = run("agree", "--from", str(table), "--csv", str(out), "--markdown", "--rounds", "0", "--leave-one-out")
    assert done.code == 0, done.err
    assert "| nominal | ordinal |" in done.out
    rows = list(csv.DictReader(out.open()))
    assert rows[0]["units"] == "2"
    assert float(rows[0]["nominal"]) == 0.0
    latex = run("agree", "--from", str(table), "--latex", "--rounds", "0", "--rater-pairs")
    assert r"\begin{tabular}" in latex.out


def test_mistakes_exit_with_2_and_say_what_to_do(tmp_path: Path) -> None:
    table = write(tmp_path / "r.csv")
    for arguments, words in (
        (("agree",), "No ratings are given"),
        (("agree", "--from", str(tmp_path / "none.csv")), "No file"),
        (("agree", "--from", str(table), "--average", "median"), "Unknown average 'median'"),
        (("agree", "--from", str(table), "--by", "colour"), "no column 'colour'"),
    ):
        done = run(*arguments)
        assert done.code == 2
        assert words in " ".join(done.err.split())
        assert "Traceback" not in done.err


def test_votes_on_pairs_are_read_whichever_side_the_models_stood_on(tmp_path: Path) -> None:
    rows = ["item,left,right,winner,rater"]
    for number in range(6):
        rows += [f"i{number},a,b,left,ann", f"i{number},b,a,{'right' if number < 5 else 'tie'},bob"]
    table = tmp_path / "votes.csv"
    table.write_text("\n".join(rows) + "\n", encoding="utf-8")
    (group,) = measure_agreement(votes_as_ratings(table), rounds=0).groups
    assert (group.n_units, group.n_raters) == (6, 2)
    assert group.pairwise_agreement.value == pytest.approx(5 / 6)
    assert "Krippendorff's alpha" in run("agree", "--from", str(table), "--rounds", "0").out
    table.write_text("left,right,winner\na,b,left\n", encoding="utf-8")
    with pytest.raises(UserError, match="without a column 'item'"):
        votes_as_ratings(table)


def test_a_workspace_with_votes_on_pairs(workspace: Workspace) -> None:
    """Two outputs without an editor's name, seen with the sides either way round."""
    ann, bob = Rater(rater_id="ann"), Rater(rater_id="bob")
    workspace.store.add([ann, bob])
    for number in range(6):
        one = samples.item(f"i{number}")
        left, right = samples.output(one, "x"), samples.output(one, "x", sample=1)
        theirs = Outcome.RIGHT if number < 5 else Outcome.TIE
        cast = [
            samples.vote(ann, left, right, key=f"a{number}", preference=Outcome.LEFT),
            samples.vote(bob, right, left, key=f"b{number}", preference=theirs),
        ]
        workspace.store.add([one, left, right, *cast])
    arguments = ("-w", str(workspace.root), "--json", "agree", "--rounds", "0")
    found = run(*arguments).json
    (group,) = found["groups"]
    assert (found["settings"]["scale"], group["criterion"], group["n_units"]) == ("pair", "overall", 6)
    assert group["pairwise_agreement"] == pytest.approx(5 / 6)
    # n = 12, one tie, eleven sided votes: D_o = 2, D_e = 144 - 1 - (121 + 5 * 4 + 1) / 2 = 72
    assert group["alpha"]["nominal"] == pytest.approx(1 - 11 * 2 / 72)
    ratings = [
        Vote(rater_id=who, item_id=one.item_id, left_id=left.output_id, ratings={"SC": value}, idempotency_key=who)
        for who, value in (("ann", 1.0), ("bob", 0.5))
    ]
    workspace.store.add(ratings)
    both = run(*arguments).json
    assert both["groups"][0]["criterion"] == "SC"
    assert both["votes"]["groups"] == found["groups"]
    assert run(*arguments, "--what", "votes").json["groups"] == found["groups"]
    assert "votes" not in run(*arguments, "--what", "ratings").json
    assert run(*arguments, "--what", "marks").code == 2
