"""align --compare: which of two judges is closer to people, and is that more than chance?"""

import json
from dataclasses import asdict
from pathlib import Path

import numpy as np
import pytest
from scipy import stats
from typer.testing import CliRunner

from imarena.agreement.alignment import Alignment
from imarena.agreement.columns import RatingColumns, ScoreColumns
from imarena.agreement.judges import AlignOptions, align
from imarena.cli.app import app

N = 120


def aligned(noises: dict[str, float], *, seed: int = 0, rounds: int = 400) -> Alignment:
    """Judges that see people's value through noise of a known size."""
    rng = np.random.default_rng(seed)
    units = [f"u{unit}" for unit in range(N)]
    truth = rng.normal(size=N)
    rows = [(unit, judge, float(t + noise * rng.normal())) for judge, noise in noises.items()
            for unit, t in zip(units, truth, strict=True)]  # fmt: skip
    scores = ScoreColumns([row[0] for row in rows], [row[1] for row in rows], [row[2] for row in rows], {})
    ratings = RatingColumns(units, ["people"] * N, truth.tolist(), {})
    return align(scores, ratings, AlignOptions(compare=True, rounds=rounds))


def test_a_better_judge_is_found_and_corrected_for_the_number_of_tests() -> None:
    lines = aligned({"sharp": 0.3, "dull": 2.0, "dim": 2.0}).comparisons
    assert [(line.left, line.right) for line in lines] == [("dim", "dull"), ("dim", "sharp"), ("dull", "sharp")]
    dim_dull, dim_sharp, dull_sharp = lines
    for line in (dim_sharp, dull_sharp):
        assert line.high is not None
        assert line.high < 0
        assert line.p_value == pytest.approx(2 / 401)
        assert line.p_holm == pytest.approx(6 / 401)
        assert line.p_is_bound
    assert not dim_dull.p_is_bound
    figures = asdict(dim_dull)
    assert figures["low"] < 0 < figures["high"]
    assert figures["p_holm"] > 0.05
    assert figures["difference"] == pytest.approx(figures["spearman_left"] - figures["spearman_right"])


@pytest.mark.slow
def test_equal_judges_are_called_different_as_rarely_as_promised() -> None:
    """At most what 5% allows in 200 tries (its binomial 99.9% end is 20)."""
    tests = [aligned({"one": 1.0, "two": 1.0}, seed=seed, rounds=200).comparisons[0] for seed in range(200)]
    p_values = [test.p_value for test in tests if test.p_value is not None]
    assert len(p_values) == 200
    assert sum(p <= 0.05 for p in p_values) <= 20
    assert np.mean(p_values) > 0.35


def test_the_same_judge_twice_has_no_difference_to_test() -> None:
    rng = np.random.default_rng(1)
    value = rng.normal(size=N).tolist()
    units = [f"u{unit}" for unit in range(N)]
    scores = ScoreColumns(units * 2, ["a"] * N + ["b"] * N, value * 2, {})
    ratings = RatingColumns(units, ["r"] * N, (np.array(value) + rng.normal(size=N)).tolist(), {})
    (line,) = align(scores, ratings, AlignOptions(compare=True, rounds=50)).comparisons
    assert (line.difference, line.p_value, line.p_holm) == (0.0, None, None)
    assert "same value" in str(line.reason)


def test_verdicts_are_compared_by_mcnemar_whatever_side_a_model_stands_on(tmp_path: Path) -> None:
    rng = np.random.default_rng(2)
    mirror = {"left": "right", "right": "left"}
    people, judged, right = [], [], []
    for item in range(80):
        vote = str(rng.choice(["left", "right"]))
        people.append(f"A,B,{vote},i{item},p")
        said = [vote if rng.random() < share else mirror[vote] for share in (0.9, 0.6)]
        right.append([word == vote for word in said])
        judged += [f"A,B,{said[0]},i{item},good", f"B,A,{mirror[said[1]]},i{item},poor"]
    head = "left,right,winner,item,rater\n"
    (tmp_path / "people.csv").write_text(head + "\n".join(people) + "\n", encoding="utf-8")
    (tmp_path / "judges.csv").write_text(head + "\n".join(judged) + "\n", encoding="utf-8")
    tables = ["align", "--from", str(tmp_path / "judges.csv"), "--against", str(tmp_path / "people.csv"), "--compare"]
    result = CliRunner().invoke(app, ["--json", *tables])
    (line,) = json.loads(result.stdout)["comparisons"]
    good, poor = np.array(right).T
    only = int((good & ~poor).sum()), int((~good & poor).sum())
    assert (line["only_left_right"], line["only_right_right"]) == only
    assert line["p_value"] == pytest.approx(stats.binomtest(only[0], sum(only)).pvalue)
    assert (line["left"], line["right"], line["n"], line["p_holm"]) == ("good", "poor", 80, line["p_value"])
    assert "Every two judges" in CliRunner().invoke(app, tables).stdout
