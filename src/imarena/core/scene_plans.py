"""What an object-centric item is made from: the objects of its scene, and what each turn does to them (EdiVal-Agent).

`instructions` writes it, judges and reports read it. It is kept in the item's provenance, so that an item's identity
is its images and instructions alone.
"""

from typing import Literal

from pydantic import Field, ValidationError

from imarena.core.errors import UserError
from imarena.core.records.base import JsonDict, Noun
from imarena.core.records.item import Item

EditType = Literal[
    "subject_add",
    "subject_remove",
    "subject_replace",
    "color_alter",
    "material_alter",
    "text_change",
    "position_change",
    "count_change",
    "background_change",
]
PositionName = Literal["left", "right", "above", "below"]
PLAN_KEY = "object_plan"


class SceneObject(Noun):
    """One kind of object of a scene: what is known of it, and where it is in the base image."""

    name: str
    """"{material} {color} {object}", without what is not known: `ceramic white cup`. Unique in its scene."""
    object: str
    color: str | None = None
    material: str | None = None
    text: str | None = None
    count: int = 1
    foreground: bool = True
    boxes: tuple[tuple[float, float, float, float], ...] = ()
    """In pixels of the base image: left, top, right, bottom."""


class ObjectTurn(Noun):
    """What one turn does, and the pools after it (section 3.2, algorithm 2). Objects go by their names."""

    type: EditType
    object: str | None = None
    """The object that is changed, removed, replaced, moved, counted, or that has the text; None: the whole image."""
    new_object: str | None = None
    """What is added, or what replaces `object`."""
    color: str | None = None
    material: str | None = None
    text: str | None = None
    """The new text."""
    old_text: str | None = None
    position: PositionName | None = None
    """Where the moved or added object goes, seen from `reference`."""
    reference: str | None = None
    count: int | None = None
    background: str | None = None
    instead_of: EditType | None = None
    """The type that was drawn for this turn and does not fit the scene, where `subject_add` takes its place."""
    all_objects: tuple[str, ...] = ()
    available: tuple[str, ...] = ()
    unchanged: tuple[str, ...] = ()
    """Objects of the base image that no turn up to this one concerns: content consistency compares them."""
    score_background: bool = True
    """False from the turn of a background change on."""


class ObjectPlan(Noun):
    """The scene and the turns of an item, and what made them."""

    objects: tuple[SceneObject, ...]
    turns: tuple[ObjectTurn, ...] = Field(min_length=1)
    tools: dict[str, str] = Field(default_factory=dict)
    """What found the objects and wrote the instructions: role to tool and version."""
    seed: int | None = None


def object_plan(item: Item) -> ObjectPlan | None:
    """The plan of an item, or None for an item that is not object-centric."""
    stored = item.provenance.get(PLAN_KEY)
    if stored is None:
        return None
    try:
        plan = ObjectPlan.model_validate(stored)
    except ValidationError as error:
        raise UserError(
            f"The object plan of item {item.key!r} of {item.dataset!r} cannot be read: {error.errors()[0]['msg']}.",
            hint="Build the benchmark again with 'imarena edival build'.",
        ) from error
    if len(plan.turns) != len(item.turns):
        raise UserError(
            f"Item {item.key!r} of {item.dataset!r} has {len(item.turns)} turns and a plan of {len(plan.turns)}.",
            hint="Build the benchmark again with 'imarena edival build'.",
        )
    return plan


def plan_provenance(plan: ObjectPlan) -> JsonDict:
    """The plan as a part of an item's provenance."""
    return {PLAN_KEY: plan.model_dump(mode="json", exclude_defaults=True)}
