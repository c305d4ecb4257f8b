"""What a campaign asks, how many people get each unit, and which side is left."""

import random
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

from imarena.core import sha256_hex
from imarena.core.records import Assignment
from imarena.routing.campaign_plan import CampaignPlan, unit_of


@dataclass(frozen=True)
class Unit:
    """One thing to rate."""

    item_id: str
    turn: int
    left_id: str | None
    right_id: str | None

    @property
    def name(self) -> str:
        """Its name, independent of the order of its sides."""
        return unit_of(self.item_id, self.left_id, self.right_id, self.turn)


@dataclass(frozen=True)
class CandidateItem:
    """An item that a campaign may ask about."""

    item_id: str
    dataset: str
    task: str | None
    topic: str | None


@dataclass(frozen=True)
class CandidateOutput:
    """An output with pixels that a campaign may show."""

    output_id: str
    item_id: str
    turn: int
    mode: str
    editor: str
    image_sha256: str


def side_swapped(seed: int, unit: str, slot: int) -> bool:
    """Return whether left and right are swapped: at random, but always the same for the same unit and slot."""
    return int(sha256_hex(f"side:{seed}:{unit}:{slot}".encode())[:8], 16) % 2 == 1


def choose_campaign_items(plan: CampaignPlan, items: Iterable[CandidateItem]) -> list[str]:
    """Return item ids: filtered, and if requested a stratified sample by task and topic."""
    strata: dict[tuple[str, str], list[str]] = defaultdict(list)
    for item in items:
        matches = (
            (not plan.datasets or item.dataset in plan.datasets)
            and (not plan.tasks or item.task in plan.tasks)
            and (not plan.topics or item.topic in plan.topics)
        )
        if matches:
            strata[item.task or "", item.topic or ""].append(item.item_id)
    ids = []
    for key in sorted(strata):
        members = sorted(strata[key])
        random.Random(f"{plan.seed}:{key}").shuffle(members)
        ids += members[: plan.per_stratum]
    return ids


def choose_units(plan: CampaignPlan, items: Collection[str], outputs: Iterable[CandidateOutput]) -> list[Unit]:
    """Return what a plan asks, in the order of offering: shuffled by its seed.

    Tasks with a known answer are not also real work. A check is about items and needs no outputs.
    """
    units = [Unit(item, 0, None, None) for item in items] if plan.kind == "check" else _units(plan, items, outputs)
    known_names = {task.unit for task in plan.known()}
    units = sorted((unit for unit in units if unit.name not in known_names), key=lambda unit: unit.name)
    random.Random(plan.seed).shuffle(units)
    return units[: plan.max_units]


def _units(plan: CampaignPlan, items: Collection[str], outputs: Iterable[CandidateOutput]) -> list[Unit]:
    """Return outputs, or pairs of outputs for the same item, turn and mode.

    Two outputs with the same file are not a pair: nobody can prefer one.
    """
    item_ids = set(items)
    questions: dict[tuple[str, int, str], dict[str, CandidateOutput]] = defaultdict(dict)
    for output in outputs:
        if output.item_id in item_ids and (not plan.editors or output.editor in plan.editors):
            questions[output.item_id, output.turn, output.mode][output.editor] = output
    units = []
    for (item_id, turn, _), by_editor in questions.items():
        if plan.kind == "preference":
            pairs = combinations([by_editor[editor] for editor in sorted(by_editor)], 2)
            units += [
                Unit(item_id, turn, left.output_id, right.output_id)
                for left, right in pairs
                if left.image_sha256 != right.image_sha256
            ]
        else:
            units += [Unit(item_id, turn, output.output_id, None) for output in by_editor.values()]
    return units


def sides_by_chance(
    left_id: str | None, right_id: str | None, seed: int, unit: str, slot: int
) -> tuple[str | None, str | None]:
    """Return left and right, swapped or not: at random for each rater of a unit, so that no side is favoured."""
    if right_id is not None and side_swapped(seed, unit, slot):
        return right_id, left_id
    return left_id, right_id


def unit_assignments(plan: CampaignPlan, campaign_id: str, units: Sequence[Unit]) -> Iterator[tuple[Assignment, int]]:
    """Yield each unit once per required rater, with its position in the order of offering."""
    for index, unit in enumerate(units):
        for slot in range(plan.raters):
            left, right = sides_by_chance(unit.left_id, unit.right_id, plan.seed, unit.name, slot)
            assignment = Assignment(
                campaign_id=campaign_id,
                item_id=unit.item_id,
                turn=unit.turn,
                left_id=left,
                right_id=right,
                kind=plan.kind,
                unit=unit.name,
                slot=slot,
                probability=None,
            )
            yield assignment, index * plan.raters + slot


def another_assignment(first: Assignment, slot: int, seed: int) -> Assignment:
    """Return an existing task for one more rater."""
    left, right = sides_by_chance(first.left_id, first.right_id, seed, first.unit, slot)
    return Assignment(
        campaign_id=first.campaign_id, item_id=first.item_id, turn=first.turn, left_id=left, right_id=right,
        kind=first.kind, unit=first.unit, slot=slot, probability=None,
    )  # fmt: skip


@dataclass(frozen=True)
class SlotChanges:
    """Changes that give a unit the required number of raters: ids of tasks, and numbers of new slots."""

    withdraw: tuple[str, ...] = ()
    revive: tuple[str, ...] = ()
    new_slots: range = range(0)


def slot_changes(tasks: Mapping[str, Sequence[str]], wanted: int) -> SlotChanges:
    """Compare a unit's tasks, by state, with `wanted`. Too many: free ones are withdrawn; held and answered ones stay.

    Too few: withdrawn tasks come back first, then new ones are made. Tasks of excluded raters are not counted.
    """
    free, withdrawn = tasks.get("free", ()), tasks.get("withdrawn", ())
    total = sum(map(len, tasks.values()))
    spare = total - len(withdrawn) - len(tasks.get("excluded", ())) - wanted
    if spare >= 0:
        return SlotChanges(withdraw=tuple(free[len(free) - min(spare, len(free)) :]))
    return SlotChanges(revive=tuple(withdrawn[:-spare]), new_slots=range(total, total - spare - len(withdrawn)))
