"""Records in memory while a server runs: assignments, items and outputs, which never change; plans for a moment."""

import time
from collections.abc import Collection, Sequence
from typing import TypeVar

from sqlalchemy import Connection, bindparam, select

from imarena.core import UserError
from imarena.core.records import Assignment, Campaign, ImageRef, Item, Output, Vote
from imarena.routing import CampaignPlan, plan_of
from imarena.storage import PreparedStatement, Workspace, from_row
from imarena.storage.schema import assignments, votes
from imarena.workflows.views import AskedEdit, asked_edit, references_of

_AT_HAND = 20_000
_PLAN_S = 2.0
"""A plan that was just read is believed this long: a change by another process takes effect within it."""
T = TypeVar("T")
_ASSIGNMENT = PreparedStatement(select(assignments).where(assignments.c.id == bindparam("assignment")))


class RecordCache:
    """What was read stays in memory; records are immutable, so that it can never be stale."""

    def __init__(self, workspace: Workspace) -> None:
        self._store = workspace.store
        self._assignments: dict[str, Assignment] = {}
        self._items: dict[str, Item] = {}
        self._outputs: dict[str, Output] = {}
        self._plans: dict[str, tuple[float, Campaign, CampaignPlan]] = {}

    def assignment(self, identity: str, within: Connection | None = None) -> Assignment:
        """An assignment that is known to exist. Within a transaction it is read there: no second connection is needed,
        and one that is not committed yet is seen.
        """
        known = self._assignments.get(identity)
        if known is not None:
            return known
        if within is None:
            assignment = _there(self._store.get(Assignment, identity))
        else:
            row = _there(_ASSIGNMENT(within, assignment=identity).mappings().first())
            assignment = _of_kind(Assignment, from_row(Assignment, row))
        return _kept(self._assignments, identity, assignment)

    def keep(self, assignment: Assignment) -> Assignment:
        """Keep an assignment that was read elsewhere."""
        return _kept(self._assignments, assignment.assignment_id, assignment)

    def fetch(self, identities: Sequence[str]) -> None:
        """Keep assignments and all that they show: three queries, for any number of assignments."""
        for assignment in self._store.records(Assignment, id=list(identities)):
            self.keep(assignment)
        fetched = [self._assignments[identity] for identity in identities if identity in self._assignments]
        for item in self._store.records(Item, id=sorted({task.item_id for task in fetched})):
            _kept(self._items, item.item_id, item)
        shown = {side for task in fetched for side in (task.left_id, task.right_id) if side is not None}
        for output in self._store.records(Output, id=sorted(shown)):
            _kept(self._outputs, output.output_id, output)

    def read(self, items: Collection[str], outputs: Collection[str]) -> None:
        """Keep items and outputs: two queries, for any number of records."""
        if absent := {identity for identity in items if identity not in self._items}:
            for item in self._store.records(Item, id=sorted(absent)):
                _kept(self._items, item.item_id, item)
        if absent := {identity for identity in outputs if identity not in self._outputs}:
            for output in self._store.records(Output, id=sorted(absent)):
                _kept(self._outputs, output.output_id, output)

    def item(self, identity: str) -> Item:
        """An item that is known to exist."""
        known = self._items.get(identity)
        return known or _kept(self._items, identity, _there(self._store.get(Item, identity)))

    def output(self, identity: str) -> Output:
        """An output that is known to exist."""
        known = self._outputs.get(identity)
        return known or _kept(self._outputs, identity, _there(self._store.get(Output, identity)))

    def campaign(self, identity: str) -> Campaign:
        """A campaign. Whether it is open may have changed since: ask the store for that."""
        return self._known(identity)[1]

    def plan(self, identity: str) -> CampaignPlan:
        """What a campaign asks, as it was at most two seconds ago: a lead may change some of it."""
        return self._known(identity)[2]

    def _known(self, identity: str) -> tuple[float, Campaign, CampaignPlan]:
        moment = time.monotonic()
        known = self._plans.get(identity)
        if known is not None and moment - known[0] < _PLAN_S:
            return known
        campaign = _there(self._store.get(Campaign, identity))
        plan = known[2] if known is not None and known[1] == campaign else plan_of(campaign)
        self._plans[identity] = (moment, campaign, plan)
        return self._plans[identity]

    def last_plan(self, identity: str) -> CampaignPlan:
        """The plan as it was last read: for showing what was just handed out by it."""
        known = self._plans.get(identity)
        return self.plan(identity) if known is None else known[2]

    def at_hand(self, assignment: Assignment) -> bool:
        """Can this task be shown without waiting for anything?"""
        sides = [side for side in (assignment.left_id, assignment.right_id) if side is not None]
        if assignment.kind == "rating" or assignment.purpose == "adjudication":
            return False  # expected objects, or the answers of others, are looked up
        if assignment.campaign_id not in self._plans or assignment.item_id not in self._items:
            return False
        if self._plans[assignment.campaign_id][2].show_region:
            return False  # the region is looked up
        if not all(self._chain_at_hand(side) for side in sides):
            return False
        images = [self._outputs[side].image for side in sides]
        shown = (*images, *self.sources(assignment), *self.references(assignment))
        return all(image is None or (image.width and image.height) for image in shown)

    def _chain_at_hand(self, identity: str) -> bool:
        known = self._outputs.get(identity)
        while known is not None and known.parent_id is not None:
            known = self._outputs.get(known.parent_id)
        return known is not None

    def forget_plans(self) -> None:
        """A campaign was changed here: look again."""
        self._plans.clear()

    def vote_within(self, connection: Connection, identity: str) -> Vote:
        """A vote, read inside a transaction."""
        row = connection.execute(select(votes).where(votes.c.id == identity)).mappings().one()
        return _of_kind(Vote, from_row(Vote, row))

    def picture(self, assignment: Assignment, slot: str) -> ImageRef | None:
        """The picture in a place of a task: left, right, source-N or reference-N."""
        name, _, number = slot.partition("-")
        if name in ("left", "right"):
            identity = assignment.left_id if name == "left" else assignment.right_id
            return self.output(identity).image if identity is not None else None
        pictures = self.sources(assignment) if name == "source" else self.references(assignment)
        index = int(number or "0")
        return pictures[index] if index < len(pictures) else None

    def slots(self, assignment: Assignment) -> frozenset[str]:
        """The places of all pictures of a task."""
        sides = {"left": assignment.left_id, "right": assignment.right_id}
        shown = {side for side, identity in sides.items() if identity is not None and self.output(identity).image}
        shown.update(f"source-{number}" for number in range(len(self.sources(assignment))))
        return frozenset(shown).union(f"reference-{number}" for number in range(len(self.references(assignment))))

    def sources(self, assignment: Assignment) -> tuple[ImageRef, ...]:
        """What the result was made from."""
        return self.asked(assignment).sources

    def references(self, assignment: Assignment) -> tuple[ImageRef, ...]:
        """Reference pictures."""
        return self.asked(assignment).references

    def asked(self, assignment: Assignment) -> AskedEdit:
        """What a rater is asked about; where no output is shown, the item and the turn itself."""
        item, turn = self.item(assignment.item_id), assignment.turn
        if assignment.left_id is None:
            return AskedEdit(item.turns[turn].instruction, item.sources, references_of(item, turn), item.task)
        return self.asked_of(assignment.item_id, assignment.left_id, assignment.right_id)

    def asked_of(self, item_id: str, left_id: str, right_id: str | None) -> AskedEdit:
        """What an output or a pair is shown with."""
        left, right = self.output(left_id), self.output(right_id) if right_id is not None else None
        parents: dict[str, Output] = {}
        waiting = [left, *([right] if right is not None else [])]
        while waiting:
            identity = waiting.pop().parent_id
            if identity is not None and identity not in parents:
                parents[identity] = self.output(identity)
                waiting.append(parents[identity])
        return asked_edit(self.item(item_id), left, right, parents)


def _kept(cache: dict[str, T], identity: str, record: T) -> T:
    """A dictionary that is emptied when it is full needs no lock: 0.04 µs a look, an LRUCache with its lock 0.47 µs."""
    if len(cache) >= _AT_HAND:
        cache.clear()
    cache[identity] = record
    return record


def _of_kind(kind: type[T], record: object) -> T:
    if not isinstance(record, kind):
        raise TypeError(f"not of the kind {kind.__name__}")
    return record


def _there(record: T | None) -> T:
    """A record that is not there is not remembered as missing: it may be added later."""
    if record is None:
        raise UserError("A record that is named is not in the workspace.", hint="Run 'imarena verify'.")
    return record
