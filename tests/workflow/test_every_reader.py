"""Every reader counts the same verdicts. The truth is worked out here from records, in plain loops.

The workspace holds superseded and retracted votes, checks of raters, a judge with two prompts, one that was read again,
failures that were tried again, a metric where low is good, several turns, two samples and pairs without model names.
"""

import csv
import io
from collections import Counter, defaultdict
from itertools import combinations
from pathlib import Path
from typing import Any

import pytest

from imarena.core.records import Assignment, Judgment, Order, Outcome, Output, Status, Vote
from imarena.storage import Workspace, init_workspace, open_workspace
from imarena.web.app import create_app
from tests.command import Imarena, run
from tests.fixtures.make_workspace import fill
from tests.web.people import Person, administrator, settings_of

CHECKS = ("gold", "repeat", "practice", "qualification")
COMPARING = ("pair-judge", "quick-judge", "gpt-imported")
SCORING = ("score-judge", "LPIPS", "CLIP-I")
Record = dict[str, tuple[int, int, int]]
"""Editor to battles won, lost and tied."""


class Truth:
    """What counts, by the rules of docs/design/read-model.md."""

    def __init__(self, workspace: Workspace) -> None:
        self.outputs = {one.output_id: one for one in workspace.store.records(Output)}
        judged = list(workspace.store.records(Judgment))
        replaced = {one.supersedes for one in judged if one.supersedes}
        newest = {one.judge: self.version(one) for one in judged if one.run_id is not None}
        self.judgments = [
            one
            for one in judged
            if one.judgment_id not in replaced and (one.run_id is None or self.version(one) == newest[one.judge])
        ]
        cast = list(workspace.store.records(Vote))
        gone = {one.supersedes for one in cast if one.supersedes}
        purposes = {one.assignment_id: one.purpose for one in workspace.store.records(Assignment)}
        self.votes = [
            one
            for one in cast
            if one.vote_id not in gone
            and not one.retracted
            and purposes.get(one.assignment_id or "", "vote") not in CHECKS
        ]

    @staticmethod
    def version(one: Judgment) -> tuple[str, str, str]:
        return one.judge_version, one.prompt_id, one.prompt_version

    def named(self, left: str, right: str) -> bool:
        editors = [self.outputs[side].editor for side in (left, right)]
        return None not in editors and editors[0] != editors[1]

    def compared(self, judge: str) -> list[tuple[str, str, Outcome]]:
        """Left, right and outcome of the judge's battles about the whole, both orders combined."""
        said: dict[tuple[str, str], dict[Any, Judgment]] = defaultdict(dict)
        for one in self.judgments:
            if one.judge == judge and one.right_id is not None and one.dimension == "overall":
                held = said[one.left_id, one.right_id].get(one.order)
                if held is None or held.status is not Status.OK:
                    said[one.left_id, one.right_id][one.order] = one
        found = []
        for (left, right), orders in said.items():
            single = any(one.params.get("orders") for one in orders.values())
            whole = Order.BOTH in orders or single or len(orders) == 2
            if whole and all(one.status is Status.OK for one in orders.values()):
                outcomes = {one.preference for one in orders.values()}
                found.append((left, right, outcomes.pop() if len(outcomes) == 1 else Outcome.TIE))
        return [(left, right, outcome or Outcome.TIE) for left, right, outcome in found]

    def scored(self, judge: str) -> list[tuple[str, str, Outcome]]:
        """The same from every two scores on one item, turn and mode; low scores win where low is good."""
        scores = {one.left_id: one for one in self.judgments if one.judge == judge and one.score is not None}
        found = []
        for left, right in combinations(sorted(scores), 2):
            places = [(one.item_id, one.turn, one.mode) for one in (self.outputs[left], self.outputs[right])]
            if places[0] == places[1]:
                gap = (scores[left].score or 0) - (scores[right].score or 0)
                gap = -gap if scores[left].params.get("higher_is_better") is False else gap
                found.append((left, right, Outcome.LEFT if gap > 0 else Outcome.RIGHT if gap < 0 else Outcome.TIE))
        return found

    def battles(self, judge: str) -> list[tuple[str, str, Outcome]]:
        every = self.compared(judge) if judge in COMPARING else self.scored(judge)
        return [one for one in every if self.named(*one[:2])]

    def people(self) -> list[tuple[str, str, Outcome]]:
        """Votes about the whole between named editors."""
        return [
            (one.left_id, one.right_id, one.preference)
            for one in self.votes
            if one.preference is not None
            and one.right_id is not None
            and one.dimension == "overall"
            and self.named(one.left_id, one.right_id)
        ]

    def record(self, battles: list[tuple[str, str, Outcome]]) -> Record:
        counts: dict[str, list[int]] = defaultdict(lambda: [0, 0, 0])
        for left, right, outcome in battles:
            for side, won in ((left, Outcome.LEFT), (right, Outcome.RIGHT)):
                place = 2 if outcome in (Outcome.TIE, Outcome.BOTH_BAD) else 0 if outcome is won else 1
                counts[str(self.outputs[side].editor)][place] += 1
        return {editor: (won, lost, tied) for editor, (won, lost, tied) in counts.items()}


@pytest.fixture(scope="module")
def arena(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("readers") / "arena"
    with init_workspace(root) as workspace:
        fill(workspace)
    return root


@pytest.fixture(scope="module")
def truth(arena: Path) -> Truth:
    with open_workspace(arena) as workspace:
        return Truth(workspace)


@pytest.fixture(scope="module")
def admin(arena: Path) -> Person:
    return administrator(create_app(settings_of(arena)))


def standings(models: list[dict[str, Any]]) -> Record:
    return {row["model"]: (int(row["wins"]), int(row["losses"]), int(row["ties"])) for row in models}


def test_the_workspace_has_something_of_everything(truth: Truth, arena: Path) -> None:
    with open_workspace(arena) as workspace:
        stored = Counter(one.judge for one in workspace.store.records(Judgment))
    live = Counter(one.judge for one in truth.judgments)
    assert stored["score-judge"] == 2 * live["score-judge"]
    assert stored["pair-judge"] > live["pair-judge"]
    assert {one.mode.value for one in truth.outputs.values()} == {"single", "multi_turn"}
    assert {one.sample for one in truth.outputs.values()} == {0, 1}
    assert all(truth.battles(judge) for judge in (*COMPARING, *SCORING))


@pytest.mark.parametrize("judge", [*COMPARING, *SCORING])
def test_a_judges_board_is_the_same_for_rank_report_and_web(
    judge: str, arena: Path, truth: Truth, admin: Person, imarena: Imarena
) -> None:
    expected = truth.record(truth.battles(judge))
    ranked = imarena("-w", arena, "--json", "rank", "--judge", judge, "--interval", "none").json
    assert standings(ranked["models"]) == expected
    assert ranked["n_battles"] == len(truth.battles(judge))
    page = admin.get(f"/api/board?judge={judge}").json()
    assert standings(page["standings"]) == expected
    rows = list(csv.DictReader(io.StringIO(admin.get(f"/api/exports/verdicts?judge={judge}").text)))
    assert Counter(row["winner"] for row in rows) == Counter(one[2].value for one in truth.battles(judge))
    from imarena.workflows.boards import Boards, every_board
    from imarena.workflows.views import View

    with open_workspace(arena) as workspace:
        titles = {board.title: board for board in every_board(Boards(View(workspace)))}
    kind = "battles" if judge in COMPARING else "scores"
    assert standings([one.model_dump() for one in titles[f"{judge}, {kind}"].ranking.models]) == expected


def test_peoples_board_is_the_same_for_rank_route_web_and_export(
    arena: Path, truth: Truth, admin: Person, imarena: Imarena
) -> None:
    expected = truth.record(truth.people())
    ranked = imarena("-w", arena, "--json", "rank", "--source", "people", "--interval", "none").json
    assert standings(ranked["models"]) == expected
    assert standings(admin.get("/api/board?source=human").json()["standings"]) == expected
    rows = list(csv.DictReader(io.StringIO(admin.get("/api/exports/verdicts?source=human").text)))
    assert len([row for row in rows if row["dimension"] == "overall"]) == len(truth.people())
    single = [one for one in truth.people() if truth.outputs[one[0]].mode.value == "single"]
    routed = imarena("-w", arena, "--json", "route", "rerank", "--settings", "human", "--judge", "score-judge").json[
        "boards"
    ][0]
    assert routed["n_battles"] == len([one for one in single if not truth.outputs[one[0]].sample])


def test_route_orders_models_as_rank_does(arena: Path, truth: Truth, imarena: Imarena) -> None:
    """One judge with two prompts, the first with its scores turned round: both take the second."""
    ranked = imarena("-w", arena, "--json", "rank", "--judge", "score-judge", "--interval", "none").json
    routed = imarena("-w", arena, "--json", "route", "rerank", "--settings", "judge", "--judge", "score-judge").json
    assert [row["model"] for row in routed["boards"][0]["models"]] == [row["model"] for row in ranked["models"]]


def test_health_counts_the_same_battles(arena: Path, truth: Truth, imarena: Imarena) -> None:
    found = imarena("-w", arena, "--json", "health", "--judge", "pair-judge").json
    (health,) = [line for line in found["judges"] if line["judge"] == "pair-judge"]
    figures = {line["name"]: line for line in health["lines"] if not line.get("group")}
    asked = [one for one in truth.judgments if (one.judge, one.dimension) == ("pair-judge", "overall")]
    both = [
        pair
        for pair in truth.compared("pair-judge")
        if len({one.order for one in asked if (one.left_id, one.right_id) == pair[:2]}) == 2
    ]
    assert figures["flips"]["n"] == len(both)
    voted = [
        one for one in truth.votes if one.preference in (Outcome.LEFT, Outcome.RIGHT) and one.dimension == "overall"
    ]
    said = {frozenset(pair[:2]) for pair in truth.compared("pair-judge")}
    assert figures["decisive_accuracy"]["n"] == len([one for one in voted if {one.left_id, one.right_id} in said])


def test_align_meets_every_vote_with_the_same_verdicts(arena: Path, truth: Truth, imarena: Imarena) -> None:
    found = imarena("-w", arena, "--json", "align", "--judge", "pair-judge", "--against", "people").json["verdicts"]
    (group,) = [line for line in found["groups"] if line["judge"] == "pair-judge"]
    votes = [one for one in truth.votes if one.preference is not None and one.dimension == "overall"]
    said = {frozenset(pair[:2]): pair for pair in truth.compared("pair-judge")}
    met = [one for one in votes if frozenset((one.left_id, str(one.right_id))) in said]
    assert group["n"] + group["n_missing"] == group["n_votes"]
    right = 0
    for one in met:
        left, _, outcome = said[frozenset((one.left_id, str(one.right_id)))]
        right += (outcome if left == one.left_id else outcome.mirrored()) is one.preference
    assert group["n"] >= len(met)
    assert right <= round(group["four_way_accuracy"] * group["n"])


def test_agree_reads_the_ratings_and_votes_that_count(arena: Path, truth: Truth, imarena: Imarena) -> None:
    ratings = imarena("-w", arena, "--json", "agree", "--what", "ratings", "--rounds", 0).json
    rated = {one.left_id for one in truth.votes if one.right_id is None}
    assert {group["n_units"] for group in ratings["groups"] if group["criterion"] in ("SC", "PQ")} == {len(rated)}
    votes = imarena("-w", arena, "--json", "agree", "--what", "votes", "--rounds", 0).json
    overall = [one for one in truth.votes if one.preference is not None and one.dimension == "overall"]
    pairs = {frozenset((one.left_id, str(one.right_id))) for one in overall}
    (group,) = [one for one in votes["groups"] if one["criterion"] in ("overall", None)]
    assert group["n_units"] == len(pairs)


def test_the_list_of_battles_counts_the_same(truth: Truth, admin: Person) -> None:
    listed = admin.get("/api/battles?source=human&dimension=overall&limit=200").json()["battles"]
    votes = [one for one in truth.votes if one.preference is not None and one.dimension == "overall"]
    assert sum(sum(one["votes"].values()) for one in listed) == len(votes)
    judged = admin.get("/api/battles?judge=pair-judge&dimension=overall&limit=200").json()["battles"]
    live = [
        one
        for one in truth.judgments
        if one.judge == "pair-judge" and one.dimension == "overall" and one.preference is not None
    ]
    assert sum(sum(one["judgments"].values()) for one in judged) == len(live)


def test_a_board_says_how_many_earlier_verdicts_it_left_out(arena: Path) -> None:
    ended = run("-w", arena, "--json", "rank", "--judge", "score-judge", "--interval", "none")
    assert ended.json["excluded"]["by an earlier version, prompt or setting of the judge"] > 0
