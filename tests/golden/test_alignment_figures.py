"""Published figures of judges and metrics against people, through the command line: plain tables in, JSON out."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.golden.tables import imagenhub, imarena, overall, write_table

JUDGES = {"gpt4o": "gpt4o_0shot", "gpt4v": "gpt4v_0shot", "gemini": "gemini_0shot", "llava": "llava_0shot"}
EDITING = "ImagenHub_Text-Guided_IE"
GENERATION = "ImagenHub_Text-Guided_IG"


def scores_of(shared_data: Path, judge: str, task: str, scale: float = 1.0) -> Iterator[tuple[str, str, str, float]]:
    """unit, model, judge, O = sqrt(min SC * min PQ); a unit that the judge refused has no row."""
    recorded = json.loads((shared_data / "viescore" / "judge_scores" / f"{JUDGES[judge]}.json").read_text())[task]
    for model, criteria in recorded.items():
        for unit, semantic in criteria["SC"].items():
            quality = criteria["PQ"].get(unit)
            if quality is not None:
                yield unit, model, judge, scale * overall(_lowest(semantic), _lowest(quality))


def _lowest(score: Any) -> float:
    return float(min(score)) if isinstance(score, list) else float(score)


def write_ratings(shared_data: Path, path: Path, task: str, names: dict[str, str] | None = None) -> Path:
    """People's O on every output."""
    rows = [
        (unit, f"r{rater}", (names or {}).get(model, model), values[2])
        for model, unit, rater, values in imagenhub(shared_data, task)
    ]
    return write_table(path, ("unit", "rater", "model", "value"), rows)


SCORES = ("unit", "model", "judge", "score")


def test_pooled_spearman_on_editing(shared_data: Path, tmp_path: Path) -> None:
    ratings = write_ratings(shared_data, tmp_path / "ratings.csv", "Text-Guided_IE")
    rows = [row for judge in JUDGES for row in scores_of(shared_data, judge, EDITING)]
    metrics = json.loads((shared_data / "viescore" / "autometrics.json").read_text())
    for name, values in metrics.items():
        task, _, file = name.partition("/")
        if task == EDITING:
            rows += [(unit, file.removesuffix(".json"), "LPIPS", value["LPIPS"]) for unit, value in values.items()]
    scores = write_table(tmp_path / "scores.parquet", SCORES, rows)
    document = imarena(
        "align", "--from", str(scores), "--against", str(ratings), "--lower-is-better", "LPIPS", "--rounds", "100"
    )
    found = {group["judge"]: group for group in document["groups"]}
    assert {judge: round(group["spearman"], 3) for judge, group in found.items()} == {
        "gpt4o": 0.589, "gemini": 0.427, "gpt4v": 0.403, "LPIPS": 0.213, "llava": 0.035,
    }  # fmt: skip
    assert found["LPIPS"]["bias"] is None
    assert found["gpt4o"]["n"] == 1432
    assert found["gpt4v"]["n"] == 1383
    assert found["gpt4o"]["bias"] is None
    assert "--score-range" in found["gpt4o"]["bias_reason"]
    coverage = {line["judge"]: line["n_unscored"] for line in document["coverage"]}
    assert coverage["gpt4v"] - coverage["gpt4o"] == 49
    for group in found.values():
        assert group["interval"]["spearman"]["low"] < group["spearman"] < group["interval"]["spearman"]["high"]


def test_agreement_by_score_gap(shared_data: Path, tmp_path: Path) -> None:
    ratings = write_ratings(shared_data, tmp_path / "ratings.csv", "Text-Guided_IE")
    rows = list(scores_of(shared_data, "gpt4o", EDITING, scale=100.0))
    scores = write_table(tmp_path / "scores.csv", SCORES, rows)
    command = ("align", "--from", str(scores), "--against", str(ratings), "--rounds", "0")
    (line,) = imarena(*command, "--gaps", "50,100,200,400")["pairs"]
    assert [(band["low"], band["high"], round(band["agreement"], 3), band["n"]) for band in line["by_gap"]] == [
        (0, 50, 0.474, 97),
        (50, 100, 0.600, 110),
        (100, 200, 0.675, 255),
        (200, 400, 0.856, 613),
        (400, None, 0.948, 957),
    ]
    assert line["n_gap_zero"] == 150
    assert line["n_pairs"] == 179 * 28


def test_rounding_keeps_ties(shared_data: Path, tmp_path: Path) -> None:
    """The order of the raters' files changes nothing: DALLE2's O against GPT-4v."""
    ratings = write_ratings(shared_data, tmp_path / "ratings.csv", "Text-To-Image", {"DALLE": "DALLE2"})
    header, *lines = ratings.read_text().splitlines()
    turned = tmp_path / "turned.csv"
    turned.write_text("\n".join([header, *reversed(lines)]) + "\n")
    scores = write_table(tmp_path / "scores.csv", SCORES, list(scores_of(shared_data, "gpt4v", GENERATION)))
    for table in (ratings, turned):
        document = imarena("align", "--from", str(scores), "--against", str(table), "--by", "model", "--rounds", "0")
        found = {group["group"]["model"]: group["spearman"] for group in document["groups"]}
        assert found["DALLE2"] == pytest.approx(0.4869, abs=5e-5)


def test_tifa(shared_data: Path, tmp_path: Path) -> None:
    recorded = json.loads((shared_data / "tifa" / "human_annotations_with_scores.json").read_text())
    scores = write_table(
        tmp_path / "scores.csv",
        SCORES,
        [(unit, "any", "mplug-large", values["tifa_mplug-large"]) for unit, values in recorded.items()],
    )
    ratings = write_table(
        tmp_path / "ratings.csv",
        ("unit", "rater", "value"),
        [
            (unit, f"r{rater}", value)
            for unit, row in recorded.items()
            for rater, value in enumerate(row["human_scores"])
        ],
    )
    (group,) = imarena("align", "--from", str(scores), "--against", str(ratings), "--rounds", "0")["groups"]
    assert group["n"] == 800
    assert group["pearson"] == pytest.approx(0.5967, abs=5e-5)
    assert group["spearman"] == pytest.approx(0.5922, abs=5e-5)
    assert group["kendall"] == pytest.approx(0.4717, abs=5e-5)
    assert group["kendall_accuracy"] == pytest.approx((0.4717 + 1) / 2, abs=5e-5)


def test_genarena_ties_are_misses_where_people_decide(tmp_path: Path) -> None:
    """GenArena, table 5 and section 5.3.1: the printed shares of a judge that may tie, on the votes of GenAI-Bench."""
    printed = {
        "left": (643, {"left": 55.8, "right": 6.2, "equal": 37.9}),
        "right": (663, {"left": 6.8, "right": 54.0, "equal": 39.2}),
        "tie": (429, {"left": 17.8, "right": 16.8, "equal": 65.4}),
    }
    votes: list[tuple[str, ...]] = []
    verdicts: list[tuple[str, ...]] = []
    for outcome, (n, shares) in printed.items():
        for said, share in shares.items():
            for _ in range(round(n * share / 100)):
                votes.append((str(len(votes)), "A", "B", outcome))
                verdicts.append((str(len(verdicts)), "A", "B", said))
    columns = ("item", "left", "right", "winner")
    people = write_table(tmp_path / "people.csv", columns, votes)
    judge = write_table(tmp_path / "judge.csv", columns, verdicts)
    (group,) = imarena("align", "--from", str(judge), "--against", str(people))["groups"]
    assert round(100 * group["decisive_accuracy"], 1) == 54.9


VOTES = {"leftvote": "left", "rightvote": "right", "tievote": "tie", "bothbad_vote": "both_bad"}
REPLIES = {"[[A>B]]": "left", "[[B>A]]": "right", "[[A=B=Good]]": "tie", "[[A=B=Bad]]": "both_bad", "[[A=B]]": "equal"}


def test_genai_bench_four_way_accuracy(shared_data: Path, tmp_path: Path) -> None:
    recorded = json.loads((shared_data / "genai_bench" / "image_generation.json").read_text())
    columns = ("item", "left", "right", "winner", "rater")
    votes = [(row["idx"], "model A", "model B", VOTES[row["human_vote"]], "people") for row in recorded]
    verdicts = [
        (row["idx"], "model A", "model B", REPLIES.get(reply, ""), judge)
        for row in recorded
        for judge, (reply, _) in row["votes"].items()
    ]
    people = write_table(tmp_path / "people.csv", columns, votes)
    judges = write_table(tmp_path / "judges.csv", columns, verdicts)
    command = ("align", "--from", str(judges), "--against", str(people))
    found = {group["judge"]: group for group in imarena(*command, "--missing", "wrong")["groups"]}
    expected = {"gpt4o": 45.59, "llava": 37.00, "idefics2": 42.25, "gemini-1.5-pro": 44.67}
    for judge, accuracy in expected.items():
        assert round(100 * found[judge]["four_way_accuracy"], 2) == accuracy
        assert found[judge]["n"] == 1735
    assert found["gemini-1.5-pro"]["n_missing"] == 50
    kept = {group["judge"]: group for group in imarena(*command)["groups"]}
    assert kept["gemini-1.5-pro"]["n"] == 1685
    assert kept["gemini-1.5-pro"]["four_way_accuracy"] > found["gemini-1.5-pro"]["four_way_accuracy"]
