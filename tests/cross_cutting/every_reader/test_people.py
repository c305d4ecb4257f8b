"""People: `agree`, campaigns, exported tables and the pages of votes and ratings count the same votes."""

import csv
import io
import json
from collections import Counter, defaultdict
from itertools import combinations
from pathlib import Path
from typing import Any

import pytest

from tests.command import Imarena
from tests.cross_cutting.every_reader.arena import MORE, MORE_MARKS
from tests.cross_cutting.every_reader.conftest import Asked
from tests.cross_cutting.every_reader.test_boards import ABOUT, standings
from tests.cross_cutting.every_reader.truth import ONE_SIDE, PURPOSES, Row, Truth, mirrored
from tests.web.people import Person

Marks = dict[tuple[Any, str], Any]
"""Unit and rater to the mark."""


def rows_of(path: Path) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(path.read_text(encoding="utf-8"))))


def same_pairs(marks: Marks) -> tuple[int, float | None, int]:
    """Units, the share of equal pairs of marks on one unit, and marks."""
    units: dict[Any, list[Any]] = defaultdict(list)
    for (unit, _), mark in marks.items():
        units[unit].append(round(mark, 9) if isinstance(mark, float) else mark)
    pairs = [one == other for given in units.values() for one, other in combinations(given, 2)]
    return len(units), (sum(pairs) / len(pairs) if pairs else None), len(marks)


def pair_marks(votes: list[Row]) -> Marks:
    """What each rater said last of each pair, as seen from the smaller id."""
    found = {}
    for vote in votes:
        turned = vote["left_id"] > vote["right_id"]
        unit = tuple(sorted((vote["left_id"], vote["right_id"])))
        found[unit, vote["rater_id"]] = mirrored(vote["preference"]) if turned else vote["preference"]
    return found


def agreed(document: dict[str, Any], criterion: str) -> tuple[int, float | None, int]:
    (group,) = [one for one in document["groups"] if one["criterion"] == criterion]
    number = sum(one["n"] for one in document["raters"] if one["criterion"] == criterion)
    return group["n_units"], group["pairwise_agreement"], number


def marks_given(truth: Truth) -> Counter[tuple[str, str, str, float]]:
    """Output, rater, criterion and mark of the ratings that count, as they were given."""
    rated = [row for row in truth.votes if row["right_id"] is None]
    return Counter(
        (row["left_id"], row["rater_id"], name, mark) for row in rated for name, mark in row["ratings"].items()
    )


def test_the_workspace_has_a_vote_for_every_reason(truth: Truth) -> None:
    reasons = Counter(truth.vote_reasons.values())
    told = {"", "superseded", "retracted", "practice", "test", "gold", "repeat", "rater excluded", ONE_SIDE}
    assert set(reasons) == told
    both = {(reason, row["right_id"] is None) for row in truth.every_vote if (reason := truth.vote_reasons[row["id"]])}
    assert {("rater excluded", True), ("rater excluded", False), ("practice", True), ("practice", False)} <= both


def test_agree_on_ratings(asked: Asked, truth: Truth) -> None:
    found = asked("agree", "--what", "ratings", "--rounds", 0)
    for criterion in ("SC", "PQ", "overall"):
        expected = same_pairs({place: given[criterion] for place, given in truth.marks().items()})
        assert agreed(found, criterion) == pytest.approx(expected), criterion
    assert found["n_ratings"] == 3 * len(truth.marks())


def test_agree_on_votes(asked: Asked, truth: Truth) -> None:
    found = asked("agree", "--what", "votes", "--rounds", 0)
    for dimension in ("overall", ABOUT):
        expected = same_pairs(pair_marks(truth.people(dimension)))
        assert agreed(found, dimension) == pytest.approx(expected), dimension


@pytest.mark.parametrize("what", ["votes", "ratings"])
def test_exported_votes_and_ratings(what: str, admin: Person, imarena: Imarena, tmp_path: Path, truth: Truth) -> None:
    """The tables of the web application hold what counts, and `rank` and `agree` find the same in them."""
    path = tmp_path / f"{what}.csv"
    path.write_text(admin.get(f"/api/exports/{what}").text, encoding="utf-8")
    if what == "votes":
        assert [row["vote_id"] for row in rows_of(path)] == [row["id"] for row in truth.people(None)]
        named = [row for row in rows_of(path) if row["left"] and row["right"]]
        with path.open("w", encoding="utf-8", newline="") as file:
            table = csv.DictWriter(file, named[0])
            table.writeheader()
            table.writerows(named)
        found = imarena("--json", "rank", "--from", path, "--interval", "none", "--by", "dimension").json
        boards = {board["scope"]["dimension"]: board for board in found["boards"]}
        for dimension in ("overall", ABOUT):
            assert standings(boards[dimension]["models"]) == truth.record(truth.voted(dimension)[0])
    else:
        told = Counter((row["unit"], row["rater"], row["criterion"], float(row["value"])) for row in rows_of(path))
        assert told == marks_given(truth)
        agreement = imarena("--json", "agree", "--from", path, "--rounds", 0).json
        for criterion in ("SC", "PQ"):
            expected = same_pairs({place: given[criterion] for place, given in truth.marks().items()})
            assert agreed(agreement, criterion) == pytest.approx(expected), criterion


def test_export_table(asked: Asked, tmp_path: Path, truth: Truth) -> None:
    """Votes on first samples of named models, single turn: the rest has no place in this format."""
    document = asked("export", "table", tmp_path / "out", code=3)
    fits = {
        output for output, row in truth.outputs.items()
        if row["editor"] and row["mode"] == "single" and row["status"] == "ok" and not row["sample"]
    }  # fmt: skip
    pairs = [row for row in truth.people(None) if {row["left_id"], row["right_id"]} <= fits]
    told = Counter(
        (row["left"], row["right"], row["winner"], row["rater"], row["dimension"])
        for row in rows_of(tmp_path / "out" / "votes.csv")
    )
    assert told == Counter(
        (
            truth.editor(row["left_id"]),
            truth.editor(row["right_id"]),
            row["preference"],
            row["rater_id"],
            row["dimension"],
        )
        for row in pairs
    )
    rated = Counter(
        (row["editor"], row["rater"], name, float(row[name]))
        for row in rows_of(tmp_path / "out" / "ratings.csv") for name in ("SC", "PQ")
    )  # fmt: skip
    assert rated == Counter(
        (truth.editor(output), rater, name, mark)
        for output, rater, name, mark in marks_given(truth).elements() if output in fits
    )  # fmt: skip
    reasons = Counter(truth.vote_reasons[row["id"]] for row in truth.every_vote if row["left_id"] in fits)
    words = [row["reason"] for row in document["skipped"] if row["file"] == "votes" and not row["row"]]
    assert sorted(words) == sorted(
        f"{reasons[why]} votes ({why}): it would count like any other here"
        for why in ("gold", "practice", "rater excluded", "repeat", "test")
    )


def test_export_of_all_records(asked: Asked, tmp_path: Path, truth: Truth) -> None:
    """The native format holds every record, whether it counts or not."""
    asked("export", "native_jsonl", tmp_path / "out")
    lines = [json.loads(line) for line in (tmp_path / "out" / "records.jsonl").read_text().splitlines()]
    for kind, expected in (("vote", truth.every_vote), ("judgment", truth.every_judgment)):
        told = [(line["id"], line["record"]["supersedes"]) for line in lines if line["kind"] == kind]
        assert sorted(told) == sorted((row["id"], row["supersedes"]) for row in expected)


# ---------------------------------------------------------------- campaigns


def of_campaign(truth: Truth, campaign: str) -> list[Row]:
    """The votes of a campaign that count."""
    return [row for row in truth.votes if (truth.tasks.get(row["assignment_id"]) or {}).get("campaign_id") == campaign]


@pytest.mark.parametrize("campaign", ["camp_pairs", MORE, "camp_marks", MORE_MARKS])
def test_campaign_status(campaign: str, asked: Asked, admin: Person, truth: Truth) -> None:
    votes = of_campaign(truth, campaign)
    expected = {}
    for criterion in ("SC", "PQ", "preference"):
        marks: Marks = {}
        for row in votes:
            unit = truth.tasks[row["assignment_id"]]["unit"]
            if row["preference"] and criterion == "preference":
                turned = row["left_id"] > row["right_id"]
                marks[unit, row["rater_id"]] = mirrored(row["preference"]) if turned else row["preference"]
            elif criterion in row.get("ratings", {}):
                marks[unit, row["rater_id"]] = row["ratings"][criterion]
        if marks:
            raters = {rater for _, rater in marks}
            expected[criterion] = (*same_pairs(marks)[:2], len(raters))
    (found,) = asked("campaign", "status", campaign)["campaigns"]
    told = {
        one["criterion"]: (one["n_units"], one["pairwise_agreement"], one["n_raters"]) for one in found["agreement"]
    }
    assert told.keys() == expected.keys()
    for criterion, figures in expected.items():
        assert told[criterion] == pytest.approx(figures), criterion
    page = admin.get(f"/api/lead/campaigns/{campaign}/agreement").json()["criteria"]
    assert {one["criterion"]: (one["n_units"], one["pairwise_agreement"], one["n_raters"]) for one in page} == told


@pytest.mark.parametrize("campaign", ["camp_pairs", MORE])
def test_campaign_export(
    campaign: str, asked: Asked, admin: Person, imarena: Imarena, tmp_path: Path, truth: Truth
) -> None:
    """Every answer is in the file with the reason why it does not count; `rank` and `agree` leave those out."""
    path = tmp_path / "votes.csv"
    asked.text("campaign", "export", campaign, "--to", path)
    rows = rows_of(path)
    assert admin.get(f"/api/lead/campaigns/{campaign}/export.csv").text.splitlines() == path.read_text().splitlines()
    counting = of_campaign(truth, campaign)
    assert sorted(row["vote_id"] for row in rows if not row["not_counted"]) == sorted(row["id"] for row in counting)
    marked = {
        row["id"]: truth.vote_reasons[row["id"]] for row in truth.every_vote
        if truth.vote_reasons[row["id"]] in (*PURPOSES.values(), "rater excluded", ONE_SIDE)
        and (truth.tasks.get(row["assignment_id"]) or {}).get("campaign_id") == campaign
    }  # fmt: skip
    assert {row["vote_id"]: row["not_counted"] for row in rows if row["not_counted"]} == marked
    battles = [(row["left_id"], row["right_id"], row["preference"]) for row in counting if row["preference"]]
    ranked = imarena("--json", "rank", "--from", path, "--interval", "none").json
    assert standings(ranked["models"]) == truth.record(battles)
    every = imarena("--json", "rank", "--from", path, "--interval", "none", "--all-votes").json
    assert every["n_battles"] == len([row for row in rows if row["winner"]]) > ranked["n_battles"]
    agreement = imarena("--json", "agree", "--from", path, "--rounds", 0).json
    units = {truth.tasks[row["assignment_id"]]["unit"] for row in counting}
    assert [group["n_units"] for group in agreement["groups"]] == [len(units)]


# ---------------------------------------------------------------- pages


def test_list_of_battles(admin: Person, truth: Truth) -> None:
    listed = admin.get("/api/battles?source=human&dimension=overall&limit=200").json()["battles"]
    expected: dict[Any, Counter[str]] = defaultdict(Counter)
    for vote in truth.people():
        turned = vote["left_id"] > vote["right_id"]
        pair = tuple(sorted((vote["left_id"], vote["right_id"])))
        expected[pair][mirrored(vote["preference"]) if turned else vote["preference"]] += 1
    assert {(one["left_id"], one["right_id"]): one["votes"] for one in listed} == expected


def test_battle_pages_give_the_reasons(admin: Person, truth: Truth) -> None:
    """Every vote and every judgment is shown on its battle's page, with the reason why it does not count."""
    for listed in admin.get("/api/battles?limit=200").json()["battles"]:
        sides = {listed["left_id"], listed["right_id"]}
        page = admin.get(f"/api/battles/{listed['battle_id']}").json()
        votes = [row for row in truth.every_vote if {row["left_id"], row["right_id"]} == sides and not row["retracted"]]
        said = [row for row in truth.every_judgment if {row["left_id"], row["right_id"]} == sides]
        assert Counter((one["reason"], one["counts"]) for one in page["votes"]) == Counter(
            (truth.vote_reasons[row["id"]], not truth.vote_reasons[row["id"]]) for row in votes
        )
        failed = {row["id"]: row["status"] for row in said if row["status"] != "ok"}
        assert Counter((one["judge"], one["reason"]) for one in page["judgments"]) == Counter(
            (row["judge"], truth.judgment_reasons[row["id"]] or failed.get(row["id"], "")) for row in said
        )


def test_item_pages_show_the_ratings(admin: Person, truth: Truth) -> None:
    marks: dict[str, dict[str, list[float]]] = defaultdict(lambda: defaultdict(list))
    for (output, _), given in truth.marks().items():
        for criterion in ("SC", "PQ"):
            marks[output][criterion].append(given[criterion])
    for item in truth.items:
        for output in admin.get(f"/api/items/{item}").json()["outputs"]:
            told = {name: mark for name, mark in output["ratings"].items() if name != "overall"}
            expected = {name: sum(given) / len(given) for name, given in marks[output["output_id"]].items()}
            assert told == pytest.approx(expected), output["output_id"]
