"""`align` on a workspace whose judge only scores and whose people only voted."""

import re
from pathlib import Path
from typing import Any

import pytest

from imarena.agreement.alignment import Alignment, GroupAlignment
from imarena.agreement.columns import VerdictColumns, take_rows
from imarena.agreement.judges import AlignOptions
from imarena.agreement.paired_tests import CorrelationComparison
from imarena.agreement.verdicts import align_verdicts, majority_of
from imarena.core.records import Judgment, Order, Outcome, Output, Rater, Status, tie_is_unstated
from imarena.judges.orders import score_gap
from imarena.stats import Interval
from imarena.storage import Workspace
from imarena.workflows.studies.align_conclusion import score_conclusion, verdict_conclusion
from imarena.workflows.studies.alignment import WorkspaceAlignment, align_columns, read_aligned_columns
from imarena.workflows.studies.health import judge_health_report
from tests.command import Imarena
from tests.samples import item, judgment, output, vote


def align_workspace(workspace: Workspace, judges: list[str], options: AlignOptions) -> WorkspaceAlignment:
    """The workspace's judges against its people."""
    return align_columns(read_aligned_columns(workspace, judges, options), options)


def test_a_judge_that_only_scores_meets_votes_by_pairs_of_its_scores(workspace: Workspace) -> None:
    rater = Rater(rater_id="ann")
    said = (Outcome.LEFT, Outcome.LEFT, Outcome.RIGHT, Outcome.TIE)
    items = [item(f"i{number}") for number in range(len(said))]
    workspace.store.add([rater, *items])
    for number, (one, voted) in enumerate(zip(items, said, strict=True)):
        left, right = output(one, "alpha"), output(one, "beta")
        scores = [
            judgment(made, None, f"work_{number}_{made.editor}").model_copy(update={"score": value})
            for made, value in ((left, 0.9012345), (right, 0.2))
        ]
        ballot = vote(rater, left, right, key=f"k{number}", preference=voted)
        workspace.store.add([left, right, *scores, ballot])
    found = align_workspace(workspace, ["test-judge"], AlignOptions()).to_json()
    group = found["verdicts"]["groups"][0]
    assert (group["judge"], group["n"], group["n_decisive"]) == ("test-judge", 4, 3)
    assert group["decisive_accuracy"] == 2 / 3
    assert "pairs of scores" in found["warnings"][0]
    lines = judge_health_report(workspace)[0][0].lines
    told = next(line for line in lines if "as people do" in line.question)
    assert told.figure.value == group["decisive_accuracy"]
    assert [line.group for line in lines if "score gap" in line.question] == ["0.14 and more"]


# ---------------------------------------------------------------- pairs by their outputs


def pairs(workspace: Workspace, count: int, editor: str | None = None) -> list[tuple[Output, Output]]:
    """Two outputs per item: without a name, or two samples of one editor."""
    found = []
    for number in range(count):
        one = item(f"p{number}")
        left, right = output(one, editor, sample=0), output(one, editor, sample=1)
        if editor is None:
            right = right.model_copy(update={"origin": right.origin and right.origin.model_copy(update={"row": "r"})})
        workspace.store.add([one, left, right])
        found.append((left, right))
    return found


def said(sides: tuple[Output, Output], preference: Outcome | None, work: str, **changes: Any) -> Judgment:
    facts = judgment(*sides, work).model_dump(exclude={"created_at"})
    return Judgment(**{**facts, "preference": preference, **changes})


@pytest.mark.parametrize("editor", [None, "one-editor"])
def test_every_vote_is_matched_or_missing_with_a_reason(workspace: Workspace, editor: str | None) -> None:
    found = pairs(workspace, 5, editor)
    ann = Rater(rater_id="ann")
    # The second voter saw the sides the other way round.
    votes = [vote(ann, left, right, key=left.item_id, preference=Outcome.LEFT) for left, right in found[:3]]
    votes += [vote(ann, right, left, key=left.item_id, preference=Outcome.LEFT) for left, right in found[3:]]
    first, second = {"order": Order.LEFT_FIRST}, {"order": Order.RIGHT_FIRST}
    told = [
        said(found[0], Outcome.LEFT, "a1", **first),
        said(found[0], Outcome.LEFT, "a2", **second),
        said(found[1], Outcome.LEFT, "b1", **first),
        said(found[2], Outcome.LEFT, "c1", **first),
        said(found[2], None, "c2", status=Status.UNPARSABLE, **second),
        said(found[3], Outcome.LEFT, "d1", **first),
        said(found[3], Outcome.RIGHT, "d2", **second),
    ]
    workspace.store.add([ann, *votes, *told])
    (group,) = align_workspace(workspace, ["test-judge"], AlignOptions()).to_json()["verdicts"]["groups"]
    assert (group["n"], group["n_missing"], group["n_votes"]) == (2, 3, 5)
    assert group["missing"] == {"no verdict on the battle": 1, "one order is missing": 1, "unparsable": 1}
    assert group["confusion"]["left"] == {"left": 1, "missing": 3, "tie": 1}
    assert (group["four_way_accuracy"], group["four_way_accuracy_all_votes"]) == (0.5, 0.2)
    assert group["tie_calibrated_accuracy"] is None
    assert "score" in group["tie_calibrated_reason"]


def test_votes_about_a_dimension_meet_verdicts_about_it(workspace: Workspace) -> None:
    found = pairs(workspace, 4)
    ann = Rater(rater_id="ann")
    workspace.store.add([ann])
    for number, (left, right) in enumerate(found):
        about = "consistency" if number < 2 else "overall"
        cast = vote(ann, left, right, key=str(number), preference=Outcome.LEFT)
        workspace.store.add([cast.model_copy(update={"dimension": about})])
        workspace.store.add([said((left, right), Outcome.RIGHT, f"w{number}")])
    before = align_workspace(workspace, ["test-judge"], AlignOptions()).to_json()
    (group,) = before["verdicts"]["groups"]
    assert (group["n"], group["four_way_accuracy"], group["n_votes_other_dimensions"]) == (2, 0.0, 2)
    assert before["notices"] == []
    before = align_workspace(workspace, ["test-judge"], AlignOptions(by=("dimension",))).to_json()
    assert {one["group"]["dimension"]: one["n"] for one in before["verdicts"]["groups"]} == {
        "consistency": 2, "overall": 2,
    }  # fmt: skip
    assert before["notices"] == [{
        "code": "votes_about_other_dimension",
        "values": {"judge": "test-judge", "dimension": "overall", "votes": ["consistency"]},
    }]  # fmt: skip
    assert "consistency" in before["warnings"][0]
    for number, sides in enumerate(found[:2]):
        workspace.store.add([said(sides, Outcome.LEFT, f"c{number}", dimension="consistency")])
    after = align_workspace(workspace, ["test-judge"], AlignOptions()).to_json()
    figures = {group["judge"]: group for group in after["verdicts"]["groups"]}
    assert after["notices"] == []
    own, whole = figures["test-judge, consistency"], figures["test-judge"]
    assert (own["n"], own["four_way_accuracy"], own["n_votes_other_dimensions"]) == (2, 1.0, 2)
    assert (whole["n"], whole["four_way_accuracy"], whole["n_votes_other_dimensions"]) == (2, 0.0, 2)


def test_scores_of_both_sides_calibrate_ties(workspace: Workspace) -> None:
    found = pairs(workspace, 4)
    ann = Rater(rater_id="ann")
    gaps = (30.0, -20.0, 2.0, -1.0)
    people = (Outcome.LEFT, Outcome.RIGHT, Outcome.TIE, Outcome.BOTH_BAD)
    workspace.store.add([ann])
    for number, (sides, gap, voted) in enumerate(zip(found, gaps, people, strict=True)):
        scores = {"left.score": 50 + gap, "right.score": 50.0}
        winner = Outcome.LEFT if gap > 0 else Outcome.RIGHT
        workspace.store.add([
            vote(ann, *sides, key=str(number), preference=voted), said(sides, winner, f"w{number}", scores=scores),
        ])  # fmt: skip
    (group,) = align_workspace(workspace, ["test-judge"], AlignOptions()).to_json()["verdicts"]["groups"]
    assert (group["three_way_accuracy"], group["tie_calibrated_accuracy"], group["tie_threshold"]) == (0.5, 1.0, 2.0)


def test_the_majority_of_votes_and_what_a_draw_is() -> None:
    rows = [
        ("i1", "a", "b", "left"), ("i1", "b", "a", "right"), ("i1", "a", "b", "tie"),
        ("i2", "a", "b", "left"), ("i2", "a", "b", "right"),
        ("i3", "b", "a", "left"),
        ("i4", "a", "b", "both_bad"), ("i4", "b", "a", "both_bad"), ("i4", "a", "b", "left"),
    ]  # fmt: skip
    items, left, right, winner = (list(column) for column in zip(*rows, strict=True))
    found = majority_of(VerdictColumns(items, left, right, winner, ["p"] * len(rows)), [])
    assert found is not None
    assert list(zip(found.item, found.winner, strict=True)) == [
        ("i1", "left"), ("i2", "tie"), ("i3", "right"), ("i4", "both_bad"),
    ]  # fmt: skip
    assert majority_of(VerdictColumns(["i"], ["a"], ["b"], ["left"], ["p"]), []) is None


def test_gaps_and_kinds_of_tie_are_read_from_a_judgment() -> None:
    assert score_gap({"left.score": 3.0, "right.score": 1.0, "left.x": 0.0, "right.x": 9.0}, {}) == 2.0
    assert score_gap({"left.score": 3.0, "right.score": 1.0}, {"gap": -4}) == -4.0
    assert score_gap({"left.preference": 5.0, "right.preference": 2.0}, {}) == 3.0
    assert score_gap({"left.a": 1.0, "right.a": 1.0, "left.b": 1.0, "right.b": 1.0}, {}) is None
    assert tie_is_unstated({"tie": "unstated"})
    assert tie_is_unstated({"label": "[[ a = b ]]"})  # as earlier versions stored it
    assert not tie_is_unstated({"label": "[[A=B=GOOD]]"})


def test_a_p_value_is_printed_as_a_bound_where_the_rounds_can_say_no_more(imarena: Imarena, tmp_path: Path) -> None:
    """1,000 rounds, none beyond 0: 2 / 1001. A value that they can tell keeps its digits."""
    units = range(60)
    factors = {"sharp": 1, "dull": 7, "faint": 11}
    lines = [f"u{n},m,{judge},{n * factor % 60}" for judge, factor in factors.items() for n in units]
    (tmp_path / "scores.csv").write_text("unit,model,judge,score\n" + "\n".join(lines) + "\n", encoding="utf-8")
    (tmp_path / "ratings.csv").write_text("unit,rater,value\n" + "".join(f"u{n},r,{n}\n" for n in units))
    words = ("align", "--from", "scores.csv", "--against", "ratings.csv", "--compare", "--rounds", 1000)
    printed = imarena(*words).out
    assert "<= 0.002" in printed
    assert "<= 0.006" in printed  # Holm's, of three comparisons
    rows = {(row["left"], row["right"]): row for row in imarena(*words, "--json").json["comparisons"]}
    assert rows["dull", "sharp"]["p_value"] == pytest.approx(2 / 1001)
    assert not rows["dull", "faint"]["p_is_bound"]
    assert f"{rows['dull', 'faint']['p_value']:.4f}" in printed


def test_align_prints_a_conclusion(imarena: Imarena, tmp_path: Path) -> None:
    """Of one judge its correlation; of several the best and the next, and whether the difference is significant."""
    units = range(60)

    def conclude(factors: dict[str, int], *options: object) -> str:
        lines = [f"u{n},m,{judge},{n * factor % 60}" for judge, factor in factors.items() for n in units]
        (tmp_path / "scores.csv").write_text("unit,model,judge,score\n" + "\n".join(lines) + "\n", encoding="utf-8")
        words = ("align", "--from", "scores.csv", "--against", "ratings.csv", "--rounds", 200, *options)
        conclusion = str(imarena(*words, "--json").json["conclusion"])
        assert imarena(*words).out.startswith(conclusion)
        return conclusion

    (tmp_path / "ratings.csv").write_text("unit,rater,value\n" + "".join(f"u{n},r,{n}\n" for n in units))
    assert conclude({"sharp": 1}) == "sharp: Spearman correlation with people 1.00, 60 outputs."
    assert re.search(r", 95% interval -\S+ to \S+, .* contains 0: not enough evidence", conclude({"faint": 11}))
    best = "sharp agrees best with people (Spearman correlation 1.00, 60 outputs); the next is dull ("
    two = {"sharp": 1, "dull": 7}
    assert conclude(two).startswith(best)
    assert conclude(two).endswith("`imarena align --compare` tests whether the difference is significant.")
    assert "The difference is significant (p <= " in conclude(two, "--compare")
    nobody = conclude({"dull": 7, "faint": 11}, "--compare")
    assert nobody.startswith(
        "No judge agrees with people: the highest Spearman correlation is 0.14 (faint; 95% interval"
    )
    assert nobody.endswith("60 outputs). Its interval contains 0.")
    reversed_scale = conclude({"anti": -1, "dull": -7}, "--compare")
    assert not re.search("agrees best|which of", reversed_scale)
    assert conclude(two, "--by", "model") == ""


def test_a_correlation_that_two_tasks_raise_gets_a_warning(imarena: Imarena, tmp_path: Path) -> None:
    """Within each task the judge follows nothing; one task has higher scores and higher ratings."""
    rows = [(f"u{n}", task, base + n * 7 % 20, base + n * 9 % 20) for task, base in (("A", 0), ("B", 100))
            for n in range(20)]  # fmt: skip
    for name, column, head in (
        ("scores", 2, "unit,model,task,judge,score"),
        ("ratings", 3, "unit,model,task,rater,value"),
    ):
        lines = [f"{row[0]},m,{row[1]},x,{row[column]}" for row in rows]
        (tmp_path / f"{name}.csv").write_text("\n".join([head, *lines]) + "\n", encoding="utf-8")
    words = ("align", "--from", "scores.csv", "--against", "ratings.csv", "--rounds", 0)
    found = imarena(*words, "--json").json
    (group,), by_task = found["groups"], imarena(*words, "--by", "task", "--json").json
    assert group["n_tasks"] == 2
    assert group["within_tasks"] == pytest.approx(by_task["averages"][0]["spearman"])
    assert (
        f"x {group['within_tasks']:.2f} instead of {group['spearman']:.2f} (`imarena align --by task`)"
        in found["conclusion"]
    )
    assert "differences between the tasks raise them" in imarena(*words).out


def test_the_missing_column_and_the_warning_agree(imarena: Imarena, tmp_path: Path) -> None:
    """One output has a row without a score, two have none at all: three are missing in both places."""
    rows = [f"u{n},{'ab'[n % 2]},{n}" for n in range(12)]
    rated = [f"u{n},{'ab'[n % 2]},r,{n % 5}" for n in range(12)]
    rows[0] = "u0,a,"
    del rows[3:5]
    text = "unit,model,judge,score\n" + "\n".join(
        row.rpartition(",")[0] + ",j," + row.rpartition(",")[2] for row in rows
    )
    (tmp_path / "scores.csv").write_text(text + "\n", encoding="utf-8")
    (tmp_path / "ratings.csv").write_text("unit,model,rater,value\n" + "\n".join(rated) + "\n", encoding="utf-8")
    words = ("align", "--from", "scores.csv", "--against", "ratings.csv", "--rounds", 0)
    ended = imarena(*words)
    assert "scored 9 of 12" in ended.err
    found = imarena(*words, "--json").json
    assert (found["groups"][0]["n"], found["groups"][0]["n_missing"]) == (9, 3)
    by_model = imarena(*words, "--by", "model", "--json").json
    assert {group["group"]["model"]: group["n_missing"] for group in by_model["groups"]} == {"a": 2, "b": 1}
    assert by_model["coverage"][0]["n_ungrouped"] == 0


def test_a_column_of_judges_gives_one_row_per_judge(imarena: Imarena, tmp_path: Path) -> None:
    battles = [(f"i{n}", "left" if n % 2 else "right") for n in range(20)]
    votes = ["item,left,right,winner", *(f"{item},a,b,{won}" for item, won in battles)]
    (tmp_path / "votes.csv").write_text("\n".join(votes) + "\n", encoding="utf-8")
    said = [f"{item},a,b,{word},{judge}" for item, won in battles for judge, word in (("1", won), ("02", "left"))]
    (tmp_path / "j.csv").write_text("\n".join(["item,left,right,winner,judge", *said]) + "\n", encoding="utf-8")
    words = ("align", "--from", "j.csv", "--against", "votes.csv")
    groups = imarena(*words, "--json").json["groups"]
    assert {group["judge"]: group["four_way_accuracy"] for group in groups} == {"1": 1.0, "02": 0.5}
    both = [f"{row},r" for row in said]
    (tmp_path / "j.csv").write_text("\n".join(["item,left,right,winner,judge,rater", *both]) + "\n", encoding="utf-8")
    assert "the columns 'judge' and 'rater' both say who" in imarena(*words, code=2).err


# ---------------------------------------------------------------- what the conclusion may say


def line_of(judge: str, spearman: float | None, n: int = 80, low: float | None = None) -> GroupAlignment:
    ends = {} if low is None or spearman is None else {"spearman": Interval(low, 2 * spearman - low, "", "")}
    reason = "the judge's scores are constant" if spearman is None else None
    return GroupAlignment(judge, None, {}, spearman, None, None, None, None, None, None, n, 0, ends, "ok", reason)


def conclude_scores(*lines: GroupAlignment, tested: tuple[int, float, float, float] | None = None) -> str:
    """`tested`: of the first two judges the outputs in common, both correlations there, and Holm's p."""
    compared: tuple[CorrelationComparison, ...] = ()
    if tested is not None:
        n, left, right, p_value = tested
        compared = (CorrelationComparison(
            None, lines[0].judge, lines[1].judge, n, left, right, left - right, None, None, p_value, False, None, "",
            p_value,
        ),)  # fmt: skip
    return score_conclusion(Alignment({}, 0, 0, {}, lines, (), (), (), compared, ()))


def test_no_judge_is_best_where_none_agrees() -> None:
    assert conclude_scores(line_of("anti", -0.94, low=-0.97), line_of("worse", -0.95)) == (
        "No judge agrees with people: the highest Spearman correlation is -0.94 "
        "(anti; 95% interval -0.97 to -0.91, 80 outputs)."
    )
    said = conclude_scores(line_of("p", 0.061, low=-0.2), line_of("q", 0.06, low=-0.2))
    assert said.startswith("No judge agrees with people: the highest Spearman correlation is 0.06 (p and q; ")
    assert said.endswith("Its interval contains 0.")


def test_judges_that_look_equal_are_equal_unless_the_test_says_otherwise() -> None:
    lines = (line_of("q", 0.604, low=0.4), line_of("p", 0.601, low=0.4))
    equal = (
        "Not enough evidence to say which of p and q agrees best with people (Spearman correlation 0.60; "
        "p: 95% interval 0.40 to 0.80, 80 outputs; q: 95% interval 0.40 to 0.81, 80 outputs)."
    )
    assert conclude_scores(*lines) == conclude_scores(*lines, tested=(80, 0.604, 0.601, 0.6)) == equal
    assert conclude_scores(*lines, tested=(80, 0.604, 0.601, 0.01)).startswith("q agrees best with people (")


def test_a_judge_with_few_outputs_is_not_the_best() -> None:
    assert conclude_scores(line_of("few", 1.0, 6), line_of("full", 0.5, low=0.3), tested=(6, 1.0, 0.5, 0.002)) == (
        "full: Spearman correlation with people 0.50, 95% interval 0.30 to 0.70, 80 outputs. "
        "Too few to compare with the judge that has 80 outputs: few (6 outputs)."
    )
    assert "both have only 6 outputs" in conclude_scores(
        line_of("a", 0.9, 6), line_of("b", 0.5, 6), tested=(6, 0.9, 0.5, 0.01)
    )


def test_a_test_on_common_outputs_says_so() -> None:
    lines = (line_of("part", 0.7, 60, 0.5), line_of("full", 0.5, low=0.3), line_of("flat", None))
    assert conclude_scores(*lines, tested=(60, 0.7, 0.75, 0.03)) == (
        "part agrees best with people (Spearman correlation 0.70, 95% interval 0.50 to 0.90, 60 outputs); "
        "the next is full (0.50, 95% interval 0.30 to 0.70, 80 outputs). "
        "On the 60 outputs that both have (part 0.70, full 0.75), where full is better, "
        "the difference is significant (p = 0.03 with Holm's correction). "
        "Not enough data on flat: the judge's scores are constant."
    )


def test_judges_without_data_for_the_same_reason_share_a_sentence() -> None:
    lines = (line_of("full", 0.5, low=0.3), line_of("next", 0.4, low=0.2), line_of("flat", None), line_of("mute", None))
    assert conclude_scores(*lines).endswith("Not enough data on flat and mute: the judge's scores are constant.")


@pytest.mark.parametrize(("left", "said"), [
    (68, "No judge is better than always answering 'left' (68% of the votes): the highest agreement is 47% (q; 95% "),
    (45, "q agrees best with people (47% of the votes, 95% interval 38% to 57%, 100 votes); the next is p (40%, "),
])  # fmt: skip
def test_verdicts_are_compared_with_the_most_frequent_outcome(left: int, said: str) -> None:
    items = [f"i{number}" for number in range(100)]
    votes = ["left"] * left + ["right"] * 40 + ["tie"] * 100
    columns = VerdictColumns(items, ["a"] * 100, ["b"] * 100, votes[:100], ["r"] * 100)
    answers = {
        judge: [vote if number < right else "both_bad" for number, vote in enumerate(columns.winner)]
        for judge, right in (("q", 47), ("p", 40))
    }
    told = VerdictColumns(
        items * 2, ["a"] * 200, ["b"] * 200, answers["q"] + answers["p"], ["q"] * 100 + ["p"] * 100
    )  # fmt: skip
    found = verdict_conclusion(align_verdicts(told, columns, compare=True))
    assert found.startswith(said)
    if left == 45:
        assert "Always answering 'left' agrees with 45%, which the interval contains. The difference is si" in found
    alone = verdict_conclusion(align_verdicts(take_rows(told, range(100)), columns))
    assert alone.endswith(f"agrees with {left}%" + (": the judge is not better." if left == 68 else "."))
