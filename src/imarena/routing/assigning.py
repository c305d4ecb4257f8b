"""Which rater gets which battle: sides by coin, raters in turn, repeats and known answers at their rates."""

from collections.abc import Mapping
from typing import Any, Protocol

import numpy as np

from imarena.core import FloatArray, IntArray, Mask, UserError
from imarena.core.records import Assignment
from imarena.routing.campaign_plan import KnownTask, unit_of
from imarena.routing.drawing import Batch
from imarena.routing.policies import AssignmentRequest, find_policy
from imarena.routing.pool import Pool

ItemPair = tuple[int, int]
"""Indices of an item and of a pair of models in a pool."""


class Battlefield(Protocol):
    """A pool with the names of what its indices stand for."""

    @property
    def pool(self) -> Pool:
        """The scores and counts."""

    @property
    def unit(self) -> tuple[tuple[str, int], ...]:
        """Item id and turn of each item."""

    @property
    def seen(self) -> frozenset[tuple[str, int, int]]:
        """(rater, item, pair) of every battle that a rater was assigned or voted on."""

    def output_id(self, item: int, model: int) -> str:
        """Return the id of an output."""


def gold_answers(pool: Pool, gold: Mask, item: IntArray, pair: IntArray, points: FloatArray) -> dict[ItemPair, float]:
    """Return the gold battles whose votes all agree, with the points of the pair's left model.

    `gold` (N,) items of the gold set; `item`, `pair`, `points` (n,) of the votes.
    """
    points_by_battle: dict[ItemPair, set[float]] = {}
    usable = pool.askable & gold[:, None]
    for i, p, point in zip(item.tolist(), pair.tolist(), points.tolist(), strict=True):
        if usable[i, p]:
            points_by_battle.setdefault((i, p), set()).add(point)
    return {battle: next(iter(voted)) for battle, voted in points_by_battle.items() if voted in ({0.0}, {1.0})}


def known_tasks(field: Battlefield, answers: Mapping[ItemPair, float]) -> list[KnownTask]:
    """Return the first known answers as tasks."""
    tasks = []
    for (item, pair), points in sorted(answers.items())[:200]:
        left, right = (field.output_id(item, int(side[pair])) for side in (field.pool.left, field.pool.right))
        item_id, _ = field.unit[item]
        task = KnownTask(item_id=item_id, left_id=left, right_id=right, preference="left" if points else "right")
        tasks.append(task)
    return tasks


class AssignmentMaker:
    """Turns battles into assignments of a campaign."""

    def __init__(
        self,
        field: Battlefield,
        answers: Mapping[ItemPair, float],
        request: AssignmentRequest,
        campaign_id: str,
        rng: np.random.Generator,
    ) -> None:
        self.field, self.answers, self.request, self.campaign_id, self.rng = field, answers, request, campaign_id, rng
        self.seen = set(field.seen)
        self.load = dict.fromkeys(request.raters, 0)

    def make(self, batch: Batch) -> list[Assignment]:
        """Return all assignments of a batch, in random order."""
        assignments: list[Assignment] = []
        for item, pair, chance in zip(
            batch.item.tolist(), batch.pair.tolist(), batch.probability.tolist(), strict=True
        ):
            for slot in range(self.request.votes_per_battle):
                rater = self._rater(item, pair)
                if rater == "":
                    continue
                assignments.append(self._assignment(item, pair, rater, slot=slot, probability=min(chance, 1.0)))
        n = len(assignments) if self.request.raters else 0  # open assignments choose repeats and gold tasks when taken
        again = self.rng.permutation(n)[: round(n * self.request.repeats)]
        assignments += [self._repeat(assignments[position]) for position in again]
        if not find_policy(self.request.policy).inside_gold:
            assignments += self._gold(round(n * self.request.gold))
        if not assignments:
            raise UserError("Every rater has seen every chosen battle.", hint="Name other raters with --raters.")
        return [assignments[position] for position in self.rng.permutation(len(assignments))]

    def _rater(self, item: int, pair: int) -> str | None:
        """Return the rater with the least work who has not seen this battle; None: anyone; "": nobody is left."""
        if not self.request.raters:
            return None
        free = [name for name in self.request.raters if (name, item, pair) not in self.seen]
        if not free:
            return ""
        rater = min(free, key=lambda name: self.load[name])
        self.load[rater] += 1
        self.seen.add((rater, item, pair))
        return rater

    def _assignment(self, item: int, pair: int, rater: str | None, **values: Any) -> Assignment:
        pool = self.field.pool
        sides = [self.field.output_id(item, int(model)) for model in (pool.left[pair], pool.right[pair])]
        if self.rng.random() < 0.5:
            sides.reverse()
        item_id, turn = self.field.unit[item]
        return Assignment(
            campaign_id=self.campaign_id,
            item_id=item_id,
            turn=turn,
            left_id=sides[0],
            right_id=sides[1],
            unit=unit_of(item_id, sides[0], sides[1], turn),
            rater_id=rater,
            **values,
        )

    def _repeat(self, first: Assignment) -> Assignment:
        """Return the same battle for the same rater with the sides swapped, to check whether the answer repeats."""
        swapped = {"left_id": first.right_id, "right_id": first.left_id, "purpose": "repeat", "probability": None}
        return first.model_copy(update=swapped)

    def _gold(self, number: int) -> list[Assignment]:
        battles = sorted(self.answers)
        assignments = []
        for position in self.rng.permutation(len(battles))[:number]:
            item, pair = battles[position]
            rater = self._rater(item, pair)
            if rater != "":
                assignments.append(self._assignment(item, pair, rater, purpose="gold"))
        return assignments
