"""Judges: `health`, `align`, their pages and the GenArena export count the same verdicts."""

import csv
import json
from collections import Counter, defaultdict
from pathlib import Path
from typing import Any

import pytest

from tests.cross_cutting.every_reader.conftest import Asked
from tests.cross_cutting.every_reader.test_boards import ABOUT, COMPARING, JUDGES
from tests.cross_cutting.every_reader.truth import Row, Truth, mirrored
from tests.web.people import Person

SIDES = ("left", "right")


@pytest.fixture(scope="session")
def aligned(arena: Path) -> dict[str, dict[str, Any]]:
    """What `align` says of each judge, by its name and dimension."""
    from tests.command import run

    ended = run("-w", arena, "--json", "align", "--against", "people", "--rounds", 0)
    return {group["judge"]: group for group in ended.json["verdicts"]["groups"]}


def names(truth: Truth) -> list[tuple[str, str, str]]:
    """Judge and dimension, and what `align` and `health` call both."""
    about = [("pair-judge", ABOUT), ("score-judge", ABOUT)]
    return [(judge, "overall", judge) for judge in JUDGES] + [
        (judge, what, f"{judge}, {what}") for judge, what in about
    ]


def votes_for(truth: Truth, judge: str, dimension: str) -> list[Row]:
    """The votes that verdicts meet: about the same; else about the whole; else about what the judge says nothing on."""
    has = {row["dimension"] for row in truth.judgments if row["judge"] == judge}
    same = truth.people(dimension)
    if same or (dimension != "overall" and "overall" in has):
        return same
    others = [row for row in truth.people(None) if row["dimension"] not in has]
    return [row for row in others if row["dimension"] == "overall"] or others


def decisive(confusion: dict[str, dict[str, int]]) -> tuple[int, int]:
    """Of the verdicts where people decide: right, and all. A tie of the judge is wrong."""
    met = [(said, word, n) for said in SIDES for word, n in confusion.get(said, {}).items() if word != "missing"]
    return sum(n for said, word, n in met if said == word), sum(n for *_, n in met)


def test_align_meets_every_vote_with_every_verdict(aligned: dict[str, Any], truth: Truth) -> None:
    assert set(aligned) == {name for *_, name in names(truth)}
    for judge, dimension, name in names(truth):
        votes = votes_for(truth, judge, dimension)
        expected = truth.confusion(judge, dimension, votes)
        found = aligned[name]
        assert found["confusion"] == expected, name
        met = sum(n for row in expected.values() for word, n in row.items() if word != "missing")
        assert (found["n_votes"], found["n"]) == (len(votes), met), name
        right = sum(row.get(said, 0) for said, row in expected.items())
        right += sum(expected.get(said, {}).get("equal", 0) for said in ("tie", "both_bad"))
        assert found["four_way_accuracy"] == pytest.approx(right / met), name
        good, every = decisive(expected)
        assert found["n_decisive"] == every, name
        assert found["decisive_accuracy"] == pytest.approx(good / every), name


def test_align_against_the_majority(asked: Asked, truth: Truth) -> None:
    found = asked("align", "--judge", "pair-judge", "--against", "people", "--rounds", 0)["verdicts"]["majority"]
    (group,) = [one for one in found["groups"] if one["judge"] == "pair-judge"]
    confusion: dict[str, Counter[str]] = defaultdict(Counter)
    for (one, other), word in majorities(truth, "overall", ties=True).items():
        confusion[word].update(truth.verdicts_on("pair-judge", "overall", one, other) or ["missing"])
    assert group["confusion"] == confusion


def majorities(truth: Truth, dimension: str, *, ties: bool) -> dict[tuple[str, str], str]:
    """What most people say of a pair, as seen from the smaller id. `ties`: a split is a tie, else nothing."""
    said: dict[tuple[str, str], Counter[str]] = defaultdict(Counter)
    for row in truth.people(dimension):
        turned = row["left_id"] > row["right_id"]
        one, other = sorted((row["left_id"], row["right_id"]))
        said[one, other][mirrored(row["preference"]) if turned else row["preference"]] += 1
    found = {}
    for pair, counts in said.items():
        most = [word for word, n in counts.items() if n == max(counts.values())]
        if len(most) == 1 or ties:
            found[pair] = most[0] if len(most) == 1 else "tie"
    return found


def test_align_of_an_earlier_version(asked: Asked, truth: Truth) -> None:
    """NAME@VERSION is held against the same votes."""
    found = asked("align", "--judge", "turned-judge@1", "--against", "people", "--rounds", 0)["verdicts"]
    (group,) = found["groups"]
    first = [row for row in truth.every_judgment if (row["judge"], row.get("judge_version")) == ("turned-judge", "1")]
    points = {row["left_id"]: -row["score"] for row in first}
    met: dict[str, Counter[str]] = defaultdict(Counter)
    for vote in truth.people("overall"):
        left, right = points.get(vote["left_id"]), points.get(vote["right_id"])
        word = "missing" if left is None or right is None else "left" if left > right else "right"
        met[vote["preference"]]["tie" if left == right and left is not None else word] += 1
    assert group["confusion"] == met


def test_align_of_scores_and_ratings(asked: Asked, truth: Truth) -> None:
    """A judge's mean score of each output against people's mean mark."""
    from scipy.stats import spearmanr

    groups = asked("align", "--against", "people", "--rounds", 0)["scores"]["groups"]
    found = {(one["judge"], one["criterion"]): one for one in groups}
    for judge in ("score-judge", "near-judge", "turned-judge", "LPIPS"):
        points, marks = means(truth.scores(judge)), means({(o, r): g["SC"] for (o, r), g in truth.marks().items()})
        both = sorted(points.keys() & marks.keys())
        rho = spearmanr([points[one] for one in both], [marks[one] for one in both]).statistic
        assert found[judge, "SC"]["n"] == len(both), judge
        assert found[judge, "SC"]["spearman"] == pytest.approx(rho), judge


def means(values: dict[tuple[str, Any], float]) -> dict[str, float]:
    """The mean for each output, over runs or raters."""
    given: dict[str, list[float]] = defaultdict(list)
    for (output, _), value in values.items():
        given[output].append(value)
    return {output: sum(of) / len(of) for output, of in given.items()}


def test_health(asked: Asked, truth: Truth) -> None:
    found = {one["judge"]: one for one in asked("health")["judges"]}
    assert set(found) == {name for *_, name in names(truth)}
    for judge, dimension, name in names(truth):
        lines = {line["name"]: line for line in found[name]["lines"] if not line.get("group")}
        rows = [row for pairwise in (True, False) for row in truth.said(judge, dimension, pairwise=pairwise)]
        assert found[name]["statuses"] == Counter(row["status"] for row in rows), name
        good, every = decisive(truth.confusion(judge, dimension, votes_for(truth, judge, dimension)))
        assert lines["decisive_accuracy"]["n"] == every, name
        assert lines["decisive_accuracy"]["value"] == pytest.approx(good / every), name
        first, sided, flips, both = position(truth, judge, dimension)
        if both:
            assert (lines["flips"]["n"], lines["first_rate"]["n"]) == (both, sided), name
            assert lines["flips"]["value"] == pytest.approx(flips / both), name
            assert lines["first_rate"]["value"] == pytest.approx(first / sided), name


def position(truth: Truth, judge: str, dimension: str) -> tuple[int, int, int, int]:
    """Verdicts for the first place and for any; pairs on which both orders differ, and pairs with both."""
    orders: dict[tuple[str, str, int], dict[str, str | None]] = defaultdict(dict)
    for row in truth.said(judge, dimension, pairwise=True):
        if row["order"] in ("left_first", "right_first"):
            given = orders[row["left_id"], row["right_id"], row["repeat"]]
            given[row["order"]] = given.get(row["order"]) or row["preference"]
    asked = [given for given in orders.values() if len(given) == 2]
    calls = [(order, word) for given in asked for order, word in given.items() if word in SIDES]
    both = [given for given in asked if None not in given.values()]
    first = sum(order.startswith(word) for order, word in calls)
    return first, len(calls), sum(len(set(given.values())) == 2 for given in both), len(both)


def test_page_of_judges(admin: Person, truth: Truth) -> None:
    listed = admin.get("/api/judges?limit=200").json()["judges"]
    for line in listed:
        judge, dimension = line["judge"], line["dimension"]
        rows = [row for pairwise in (True, False) for row in truth.said(judge, dimension, pairwise=pairwise)]
        assert line["ok"] == sum(row["status"] == "ok" for row in rows), judge
        whole = {key for key, (outcome, _) in truth.compared(judge, dimension).items() if outcome}
        assert line["both_orders"] == sum(
            len({row["order"] for row in rows if (row["left_id"], row["right_id"], row["repeat"]) == key}) > 1
            for key in whole
        ), judge
        people, met = majorities(truth, dimension, ties=False), []
        for left, right, outcome in truth.fought(judge, dimension):
            seen = mirrored(outcome) if left > right else outcome
            if (pair := (min(left, right), max(left, right))) in people:
                met.append(people[pair] == ("tie" if seen == "equal" else seen))
        assert line["people_pairs"] == len(met), judge
        assert line["with_people"] == (pytest.approx(sum(met) / len(met)) if met else None), judge
    assert {(line["judge"], line["dimension"]) for line in listed} == {one[:2] for one in names(truth)}


def test_list_of_battles(admin: Person, truth: Truth) -> None:
    for judge in COMPARING:
        listed = admin.get(f"/api/battles?judge={judge}&dimension=overall&limit=200").json()["battles"]
        expected: dict[Any, Counter[str]] = defaultdict(Counter)
        for row in truth.said(judge, pairwise=True):
            if row["status"] == "ok":
                turned = row["left_id"] > row["right_id"]
                pair = tuple(sorted((row["left_id"], row["right_id"])))
                expected[pair][mirrored(row["preference"]) if turned else row["preference"]] += 1
        assert {(one["left_id"], one["right_id"]): one["judgments"] for one in listed} == expected, judge


def test_item_pages_show_the_scores(admin: Person, truth: Truth) -> None:
    """As the judge gave them, the mean over runs."""
    turned = ("LPIPS", "near-judge")
    expected: dict[str, dict[str, float]] = defaultdict(dict)
    for judge, dimension, name in names(truth):
        for output, mean in means(truth.scores(judge, dimension)).items():
            expected[output][name] = -mean if judge in turned else mean
    for item in truth.items:
        for output in admin.get(f"/api/items/{item}").json()["outputs"]:
            assert output["scores"] == pytest.approx(expected[output["output_id"]]), output["output_id"]


def test_export_genarena(asked: Asked, tmp_path: Path, truth: Truth) -> None:
    """Battles of whole verdicts on first samples, single turn, without 'both bad'."""
    asked("export", "genarena", tmp_path / "out", code=3)
    told: dict[str, Counter[tuple[str, ...]]] = defaultdict(Counter)
    for config in (tmp_path / "out").rglob("config.json"):
        judge = json.loads(config.read_text())["judge_model"]
        for path in config.parent.glob("*.jsonl"):
            for line in map(json.loads, path.read_text().splitlines()):
                told[judge][line["model_a"], line["model_b"], line["final_winner"]] += 1
    for judge in (*COMPARING, "both-judge"):
        expected: Counter[tuple[str, ...]] = Counter()
        for left, right, outcome in truth.between_models(truth.fought(judge), Counter()):
            shown = [truth.outputs[side] for side in (left, right)]
            if judge == "quick-judge" or any(one["mode"] != "single" or one["sample"] for one in shown):
                continue  # this format wants both orders
            first, second = sorted(str(one["editor"]) for one in shown)
            won = {"left": shown[0]["editor"], "right": shown[1]["editor"]}.get(outcome, "tie")
            expected[first, second, won] += outcome != "both_bad"
        assert +told[judge] == +expected, judge


def test_export_scores(asked: Asked, tmp_path: Path, truth: Truth) -> None:
    """Every ok verdict that counts, of two scores of one output and repeat the first, and all of them with `--all`."""
    asked("export", "scores", tmp_path / "scores.csv")
    asked("export", "scores", tmp_path / "all.csv", "--all")
    with (tmp_path / "scores.csv").open(encoding="utf-8", newline="") as file:
        written = list(csv.DictReader(file))
    with (tmp_path / "all.csv").open(encoding="utf-8", newline="") as file:
        everything = list(csv.DictReader(file))
    assert [row["judgment_id"] for row in everything] == [row["id"] for row in truth.every_judgment]
    assert [row["judgment_id"] for row in everything if not row["not_counted"]] == [
        row["judgment_id"] for row in written
    ]
    counted = {row["id"] for row in truth.judgments if row["status"] == "ok"}
    assert {row["judgment_id"] for row in written} <= counted
    for judge, dimension, name in names(truth):
        given: dict[str, list[float]] = defaultdict(list)
        for row in written:
            if (row["kind"], row["judge"], row["dimension"]) == ("score", judge, dimension) and row["score"]:
                given[row["output_id"]].append(float(row["score"]) * (1 if row["higher_is_better"] == "True" else -1))
        means_written = {output: sum(values) / len(values) for output, values in given.items()}
        assert means_written == pytest.approx(means(truth.scores(judge, dimension))), name
    pairs = {row["judgment_id"] for row in written if row["kind"] == "verdict"}
    assert pairs == {row["id"] for row in truth.judgments if row["status"] == "ok" and row["right_id"]}
