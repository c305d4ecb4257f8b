"""`align` on columns and on files: matching, scales, averages, verdicts, and what is refused."""

import csv
from collections.abc import Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy import stats

from imarena.agreement.columns import RatingColumns, ScoreColumns, VerdictColumns
from imarena.agreement.judges import AlignOptions, align
from imarena.agreement.verdicts import align_verdicts
from imarena.core.errors import UserError
from tests.command import run

RANDOM = np.random.default_rng(3)
UNITS = [f"u{unit}" for unit in range(30)]
TRUTH = {(unit, model): float(RANDOM.integers(1, 6)) for unit in UNITS for model in "AB"}
RATED = {
    (unit, model, rater): float(np.clip(truth + RANDOM.integers(-1, 2), 1, 5))
    for (unit, model), truth in TRUTH.items()
    for rater in "xyz"
}
SCORED = {key: float(np.clip(truth + RANDOM.integers(-1, 2), 1, 5)) for key, truth in TRUTH.items()}


def ratings() -> RatingColumns:
    keys = list(RATED)
    return RatingColumns(
        [key[0] for key in keys], [key[2] for key in keys], list(RATED.values()), {"model": [key[1] for key in keys]}
    )


def scores(values: dict[tuple[str, str], float | None] | None = None, judge: str = "j") -> ScoreColumns:
    given: dict[tuple[str, str], float | None] = dict(SCORED) if values is None else values
    keys = list(given)
    return ScoreColumns(
        [key[0] for key in keys], [judge] * len(keys), list(given.values()), {"model": [key[1] for key in keys]}
    )


def means(model: str | None = None) -> tuple[list[float], list[float]]:
    keys = [key for key in SCORED if model in (None, key[1])]
    return [SCORED[key] for key in keys], [round(float(np.mean([RATED[*key, r] for r in "xyz"])), 9) for key in keys]


def test_pooled_and_grouped_figures() -> None:
    (pooled,) = align(scores(), ratings(), AlignOptions(rounds=50)).groups
    left, right = means()
    assert pooled.spearman == pytest.approx(stats.spearmanr(left, right).statistic, abs=1e-12)
    assert pooled.pearson == pytest.approx(stats.pearsonr(left, right).statistic, abs=1e-9)
    assert pooled.kendall == pytest.approx(stats.kendalltau(left, right).statistic, abs=1e-12)
    assert pooled.bias == pytest.approx(np.mean(left) - np.mean(right), abs=1e-8)
    assert pooled.bias_scale == "ratings as given, 1 to 5"
    assert pooled.n == 60
    found = align(scores(), ratings(), AlignOptions(by=("model",), rounds=0))
    rhos = [stats.spearmanr(*means(model)).statistic for model in "AB"]
    assert [group.spearman for group in found.groups] == pytest.approx(rhos, abs=1e-12)
    assert found.averages[0].spearman == pytest.approx(np.tanh(np.arctanh(rhos).mean()), abs=1e-12)
    assert found.averages[0].recipe == "fisher"
    compat = align(scores(), ratings(), AlignOptions(by=("model",), rounds=0, average="paper-compat"))
    assert compat.averages[0].spearman == pytest.approx(np.tanh(np.mean(rhos)), abs=1e-12)


def test_row_order_changes_nothing() -> None:
    options = AlignOptions(leave_one_out=True, pairs=True, gaps=(1.0, 2.0), rounds=30)
    first = align(scores(), ratings(), options)
    turned = ratings()
    turned = RatingColumns(
        turned.unit[::-1], turned.rater[::-1], turned.value[::-1], {"model": turned.labels["model"][::-1]}
    )
    backwards = scores(dict(reversed(SCORED.items())))
    second = align(backwards, turned, options)
    assert second.to_json() == first.to_json()


def test_lower_is_better_turns_the_sign_and_drops_the_bias() -> None:
    (plain,) = align(scores(), ratings(), AlignOptions(rounds=0)).groups
    (turned,) = align(scores(), ratings(), AlignOptions(rounds=0, lower_is_better=frozenset({"j"}))).groups
    assert plain.spearman is not None
    assert turned.spearman == pytest.approx(-plain.spearman)
    assert turned.bias is None
    with pytest.raises(UserError, match="no judge 'k'"):
        align(scores(), ratings(), AlignOptions(lower_is_better=frozenset({"k"})))


def test_scores_beyond_a_range_name_where_the_range_is_from() -> None:
    declaring = replace(scores({key: 10 * value for key, value in SCORED.items()}), scales={"j": (0.0, 1.0)})
    (declared,) = align(declaring, ratings(), AlignOptions(rounds=0, rating_range=(0, 5))).groups
    assert str(declared.bias_reason).endswith("beyond the scale that the judge declares, 0 to 1")
    for named in ("j", ""):
        options = AlignOptions(rounds=0, rating_range=(0, 5), score_range={named: (0.0, 2.0)})
        (group,) = align(declaring, ratings(), options).groups
        assert str(group.bias_reason).endswith("beyond --score-range 0,2")


def test_one_scale_of_a_judge_decides_in_every_group() -> None:
    """A group whose scores happen to lie among the ratings has no bias either."""
    beyond = scores({key: value + 90 * (key[1] == "A") for key, value in SCORED.items()})
    found = align(beyond, ratings(), AlignOptions(by=("model",), rounds=0))
    assert [group.bias for group in found.groups] == [None, None]
    assert len({group.bias_reason for group in found.groups}) == 1
    inside = align(scores(), ratings(), AlignOptions(by=("model",), rounds=0))
    assert all(group.bias is not None for group in inside.groups)


def test_bias_needs_a_common_scale() -> None:
    wide = scores({key: 10 * value for key, value in SCORED.items()})
    (group,) = align(wide, ratings(), AlignOptions(rounds=0)).groups
    assert group.bias is None
    assert "--score-range" in str(group.bias_reason)
    mapped = AlignOptions(rounds=0, score_range={"": (10.0, 50.0)}, rating_range=(1.0, 5.0))
    (group,) = align(wide, ratings(), mapped).groups
    left, right = means()
    assert group.bias == pytest.approx((np.mean(left) - np.mean(right)) / 4, abs=1e-8)
    assert str(group.bias_scale).startswith("0 to 1")
    tight = AlignOptions(rounds=0, score_range={"j": (10.0, 20.0)}, rating_range=(1.0, 5.0))
    assert "beyond" in str(align(wide, ratings(), tight).groups[0].bias_reason)


def test_a_constant_judge_is_undefined_with_the_reason() -> None:
    (group,) = align(scores(dict.fromkeys(SCORED, 3.0)), ratings(), AlignOptions(by=(), rounds=10)).groups
    assert (group.status, group.spearman, group.kendall_accuracy) == ("undefined", None, None)
    assert group.reason == "no variation: the judge's scores are constant"
    assert group.bias is not None


def test_missing_scores_are_counted_and_never_filled() -> None:
    given: dict[tuple[str, str], float | None] = dict(SCORED)
    given["u0", "A"] = None
    del given["u1", "A"]
    found = align(scores(given), ratings(), AlignOptions(rounds=0))
    assert (found.groups[0].n, found.groups[0].n_missing) == (58, 2)
    counts = {"n_rated": 60, "n_scored": 58, "n_unscored": 2, "n_ungrouped": 0}
    assert asdict(found.coverage[0]) == {"judge": "j", "criterion": None, **counts}
    values = {"judges": {"j": [58, 58, 60]}, "ungrouped": 0}
    assert [notice.values for notice in found.notices if notice.code == "outputs_not_scored"] == [values]
    assert "Not every rated output has a score: j scored 58 of 60." in found.to_json()["warnings"]
    by_model = align(scores(given), ratings(), AlignOptions(by=("model",), rounds=0))
    missing = {group.group["model"]: group.n_missing for group in by_model.groups}
    assert missing == {model: 2 if model == "A" else 0 for model in missing}


def test_leave_one_out_folds_of_a_judge() -> None:
    (group,) = align(scores(), ratings(), AlignOptions(leave_one_out=True, rounds=0)).groups
    folds = group.to_json()["leave_one_out"]["folds"]
    assert [fold["left_out"] for fold in folds] == ["x", "y", "z"]
    left = [SCORED[key] for key in SCORED]
    right = [round((RATED[*key, "y"] + RATED[*key, "z"]) / 2, 9) for key in SCORED]
    assert folds[0]["spearman"] == pytest.approx(stats.spearmanr(left, right).statistic, abs=1e-12)


def test_a_folds_bias_is_on_the_groups_scale() -> None:
    wide = scores({key: 10 * value for key, value in SCORED.items()})
    (group,) = align(wide, ratings(), AlignOptions(leave_one_out=True, rounds=0)).groups
    assert group.leave_one_out
    assert group.leave_one_out.bias is None
    assert group.leave_one_out.folds.spearman.value is not None
    options = AlignOptions(leave_one_out=True, rounds=0, score_range={"": (10.0, 50.0)}, rating_range=(1.0, 5.0))
    (mapped,) = align(wide, ratings(), options).groups
    assert mapped.leave_one_out
    assert mapped.leave_one_out.bias == pytest.approx(mapped.bias, abs=1e-8)
    rho = group.leave_one_out.folds.spearman.value
    assert mapped.leave_one_out.folds.spearman.value == pytest.approx(rho, abs=1e-12)


def test_pairs_within_units() -> None:
    (line,) = align(scores(), ratings(), AlignOptions(by=("model",), pairs=True, rounds=0)).pairs
    human = [means("A")[1][i] - means("B")[1][i] for i in range(30)]
    judge = [means("A")[0][i] - means("B")[0][i] for i in range(30)]
    assert line.n_pairs == 30
    assert line.pair_accuracy.value == pytest.approx(np.mean(np.sign(np.round(human, 9)) == np.sign(judge)))
    assert (line.tie_calibrated.accuracy.value or 0.0) >= (line.pair_accuracy.value or 0.0)


def test_criteria_meet_criteria() -> None:
    both = ScoreColumns(
        ["a", "b", "a", "b"], ["j"] * 4, [1, 2, 2, 1], {"model": ["m"] * 4, "criterion": ["SC", "SC", "PQ", "PQ"]}
    )
    people = RatingColumns(["a", "b", "a", "b"], ["x"] * 4, [1, 2, 1, 2], {"criterion": ["SC", "SC", "PQ", "PQ"]})
    found = align(both, people, AlignOptions(rounds=0))
    assert {group.criterion: group.spearman for group in found.groups} == {"SC": 1.0, "PQ": -1.0}
    again = align(both, people, AlignOptions(by=("criterion", "model"), rounds=0, pairs=True))
    assert [group.group for group in again.groups] == [{"model": "m"}] * 2
    # One score without a criterion meets every criterion that people rated.
    one = ScoreColumns(["a", "b"], ["j"] * 2, [1, 2], {"model": ["m"] * 2})
    assert [group.criterion for group in align(one, people, AlignOptions(rounds=0)).groups] == ["PQ", "SC"]


def test_what_is_refused() -> None:
    flat = RatingColumns(["u0", "u1"], ["x", "x"], [1.0, 2.0])
    with pytest.raises(UserError, match="no column 'model', so the"):
        align(scores(), flat)
    with pytest.raises(UserError, match="No output has both a score in scores and a rating"):
        align(scores(), RatingColumns(["q"], ["x"], [1.0], {"model": ["A"]}))
    with pytest.raises(UserError, match="rated 'u0' twice"):
        align(scores(), RatingColumns(["u0", "u0"], ["x", "x"], [1.0, 2.0], {"model": ["A", "A"]}))
    with pytest.raises(UserError, match="is not a number"):
        align(scores(), RatingColumns(["u0"], ["x"], ["good"], {"model": ["A"]}))
    with pytest.raises(UserError, match="no column 'colour'"):
        align(scores(), ratings(), AlignOptions(by=("colour",)))


def battles(rows: Sequence[tuple[str, str, str, str | None, str]]) -> VerdictColumns:
    item, left, right, winner, rater = zip(*rows, strict=True)
    return VerdictColumns(item, left, right, winner, rater)


def test_a_judge_that_saw_the_sides_turned_is_mirrored() -> None:
    votes = battles([("1", "A", "B", "left", "p"), ("2", "B", "A", "left", "p"), ("3", "A", "B", "tie", "p")])
    verdicts = battles([("1", "B", "A", "right", "j"), ("2", "A", "B", "right", "j"), ("3", "B", "A", "equal", "j")])
    (group,) = align_verdicts(verdicts, votes).groups
    assert group.figures.four_way_accuracy.value == 1.0
    assert group.figures.confusion == {"left": {"left": 2}, "tie": {"equal": 1}}


def test_every_vote_meets_every_verdict_on_the_battle() -> None:
    votes = battles([("1", "A", "B", "left", "p"), ("1", "A", "B", "right", "q"), ("2", "A", "B", "left", "p")])
    verdicts = battles([("1", "A", "B", "left", "j"), ("1", "B", "A", "left", "j"), ("9", "A", "B", "left", "j")])
    (group,) = align_verdicts(verdicts, votes).groups
    assert (group.figures.n, group.figures.four_way_accuracy.value, group.figures.n_missing) == (4, 0.5, 1)
    (strict,) = align_verdicts(verdicts, votes, missing="wrong").groups
    assert (strict.figures.n, strict.figures.four_way_accuracy.value) == (5, 0.4)


def test_battles_that_do_not_meet_are_refused() -> None:
    with pytest.raises(UserError, match="is on a battle in"):
        align_verdicts(battles([("1", "A", "B", "left", "j")]), battles([("1", "A", "C", "left", "p")]))


def write(path: Path, rows: Sequence[Sequence[Any]]) -> str:
    with path.open("w", newline="") as file:
        csv.writer(file).writerows(rows)
    return str(path)


def test_mistakes_exit_with_2_and_say_what_to_do(tmp_path: Path) -> None:
    people = write(tmp_path / "people.csv", [("unit", "rater", "value"), ("a", "x", 1), ("b", "x", 2)])
    judge = write(tmp_path / "judge.csv", [("unit", "model", "judge", "score"), ("a", "m", "j", 1), ("b", "m", "j", 2)])
    fights = write(tmp_path / "fights.csv", [("item", "left", "right", "winner"), ("1", "A", "B", "A")])
    good = write(tmp_path / "good.csv", [("item", "left", "right", "winner"), ("1", "A", "B", "left")])
    scored = ("align", "--from", judge, "--against", people)
    for arguments, words in (
        (("align", "--from", judge), "give the judge by `--judge` or `--from`"),
        (("align", "--from", judge, "--against", good), "One table holds battles"),
        (("align", "--from", fights, "--against", good), "row 1: unknown winner 'A'"),
        (("align", "--from", good, "--against", good, "--missing", "tie"), "Unknown --missing 'tie'"),
        ((*scored, "--gaps", "100,50"), "do not grow"),
        ((*scored, "--gaps", "much"), "are not numbers"),
        ((*scored, "--score-range", "10,0"), "does not grow"),
        ((*scored, "--score-range", "ten"), "is not a range"),
    ):
        done = run(*arguments)
        assert done.code == 2, done
        assert words in " ".join(done.err.split())
        assert "Traceback" not in done.err


def test_the_command_prints_tables(tmp_path: Path) -> None:
    rows = [("unit", "model", "judge", "score")] + [(u, m, "j", value) for (u, m), value in SCORED.items()]
    judge = write(tmp_path / "judge.csv", rows)
    people = write(
        tmp_path / "people.csv",
        [("unit", "model", "rater", "value"), *((u, m, r, value) for (u, m, r), value in RATED.items())],
    )
    done = run("align", "--from", judge, "--against", people, "--by", "model", "--gaps", "1,2", "--rounds", "20",
               "--csv", str(tmp_path / "out.csv"))  # fmt: skip
    assert done.code == 0, done.err
    assert "agreement by score gap" in done.out
    assert [row["model"] for row in csv.DictReader((tmp_path / "out.csv").open())] == ["A", "B", "average"]
