"""How a workspace is doing: runs with cost and failures, judges' behaviour, where raters found something wrong."""

from collections import Counter, defaultdict
from dataclasses import dataclass, field
from typing import Any

from imarena.core.records import ImageRef, Judgment, Order, Outcome, Status, Vote
from imarena.storage.codec import from_row
from imarena.workflows.battles import live_votes
from imarena.workflows.exploring import fitting, pairs
from imarena.workflows.live import unanswered_places
from imarena.workflows.looking import Filters, Looking

GRID = 16


@dataclass
class Health:
    """How a judge behaves, as far as stored judgments tell."""

    judge: str
    dimension: str
    ok: int = 0
    failed: Counter[str] = field(default_factory=Counter)
    both_orders: int = 0
    same: int = 0
    sided: int = 0
    first: int = 0
    ties: int = 0
    preferences: int = 0
    people_pairs: int = 0
    with_people: int = 0
    cost_usd: float = 0.0


def judge_health(looking: Looking, *, released: bool = False) -> list[Health]:
    """Every judge and dimension, by name; with `released` only votes of closed campaigns count as people's."""
    return looking.kept(("judges", released), lambda: _judge_health(looking, released=released))


def _judge_health(looking: Looking, *, released: bool) -> list[Health]:
    people = _majorities(looking, released=released)
    found: dict[tuple[str, str], Health] = {}
    orders: dict[tuple[Any, ...], dict[str, str]] = defaultdict(dict)
    replaced = {row["supersedes"] for row in looking.workspace.store.rows(Judgment) if row["supersedes"]}
    for judgment in looking.workspace.store.records(Judgment):
        if judgment.judgment_id in replaced:  # read again since, for nothing
            continue
        health = found.setdefault((judgment.judge, judgment.dimension), Health(judgment.judge, judgment.dimension))
        health.cost_usd += judgment.usage.cost_usd or 0.0
        if judgment.status is not Status.OK:
            continue
        health.ok += 1
        if judgment.preference is not None and judgment.right_id is not None:
            _count(health, judgment)
            place = (judgment.judge, judgment.dimension, judgment.left_id, judgment.right_id, judgment.repeat)
            orders[place][str(judgment.order)] = judgment.preference.value
    for one in unanswered_places(looking.workspace).values():  # tried again or not: a question fails once
        found[one.judge, one.dimension].failed[one.status] += 1
    for place, said in orders.items():
        _compare(found[place[0], place[1]], place, said, people)
    return [found[key] for key in sorted(found)]


def _count(health: Health, judgment: Judgment) -> None:
    health.preferences += 1
    if judgment.preference not in (Outcome.LEFT, Outcome.RIGHT):
        health.ties += 1
    elif judgment.order in (Order.LEFT_FIRST, Order.RIGHT_FIRST):
        health.sided += 1
        shown_first = Outcome.LEFT if judgment.order is Order.LEFT_FIRST else Outcome.RIGHT
        health.first += judgment.preference is shown_first


def _compare(health: Health, place: tuple[Any, ...], said: dict[str, str], people: dict[tuple[str, str], str]) -> None:
    both = [said[order.value] for order in (Order.LEFT_FIRST, Order.RIGHT_FIRST) if order.value in said]
    if len(both) == 2:
        health.both_orders += 1
        health.same += both[0] == both[1]
    majority = people.get((place[2], place[3]))
    if majority is not None:
        verdict = next(iter(said.values())) if len(set(said.values())) == 1 else Outcome.TIE.value
        health.people_pairs += 1
        health.with_people += verdict == majority


def _majorities(looking: Looking, *, released: bool) -> dict[tuple[str, str], str]:
    """What most people say of a pair, by both orders of its outputs; none where they are split."""
    found = {}
    for pair in pairs(looking, Filters(source="human", released=released)).values():
        ranked = pair.votes.most_common(2)
        if ranked and (len(ranked) == 1 or ranked[0][1] > ranked[1][1]):
            verdict = Outcome(ranked[0][0])
            found[pair.left_id, pair.right_id] = verdict.value
            found[pair.right_id, pair.left_id] = verdict.mirrored().value
    return found


@dataclass
class Heat:
    """Where boxes were drawn, as counts on a grid over the picture, and which objects were named."""

    boxes: int = 0
    cells: list[list[int]] = field(default_factory=lambda: [[0] * GRID for _ in range(GRID)])
    labels: Counter[str] = field(default_factory=Counter)

    def add_box(self, box: tuple[float, float, float, float], image: ImageRef) -> None:
        """Count a box on the cells that it covers."""
        width, height = image.width or 1, image.height or 1
        left, top = int(box[0] / width * GRID), int(box[1] / height * GRID)
        right, bottom = min(GRID - 1, int(box[2] / width * GRID)), min(GRID - 1, int(box[3] / height * GRID))
        self.boxes += 1
        for row in range(max(0, top), bottom + 1):
            for column in range(max(0, left), right + 1):
                self.cells[row][column] += 1


def heat(looking: Looking, editor: str | None, filters: Filters) -> Heat:
    """Where raters found something wrong, for an editor or for all; a dimension is the criterion that it is about."""
    return looking.kept(("heat", editor, filters), lambda: _heat(looking, editor, filters))


def _heat(looking: Looking, editor: str | None, filters: Filters) -> Heat:
    made = Heat()
    filters = looking.settled(filters)
    if filters.source == "judge" or filters.judge:
        return made
    fits = fitting(looking, filters)
    for row in live_votes(looking.seen(filters)):
        if '"issues"' not in row["body"] or not fits(row):
            continue
        vote = from_row(Vote, row)
        output = looking.shelves.output(row["left_id"])
        if not isinstance(vote, Vote) or (editor is not None and output.editor != editor):
            continue
        for issue in vote.issues:
            if filters.dimension is not None and issue.criterion not in (None, filters.dimension):
                continue
            if issue.kind == "object" and issue.label:
                made.labels[issue.label] += 1
            if issue.kind == "box" and issue.box is not None and output.image is not None:
                made.add_box(issue.box, output.image)
    return made
