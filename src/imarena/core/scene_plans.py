"""The plan of an object-centric item: the objects of its scene, and what each turn does to them (EdiVal-Agent).

`instructions` writes it, judges and reports read it. It is stored in the item's provenance, so that an item's identity
depends only on its images and instructions.
"""

from typing import Literal

from pydantic import Field, ValidationError

from imarena.core.commands import command_line
from imarena.core.errors import UserError
from imarena.core.records.base import FrozenModel, JsonDict
from imarena.core.records.item import Item
from imarena.core.validation import validation_problem

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


class SceneObject(FrozenModel):
    """One kind of object in a scene: its attributes, and where it is in the base image."""

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


class ObjectTurn(FrozenModel):
    """What one turn does, and the pools after it (section 3.2, algorithm 2). Objects are named."""

    type: EditType
    object: str | None = None
    """The object that is changed, removed, replaced, moved or counted, or that has the text; None: the whole image."""
    new_object: str | None = None
    """The object that is added, or that replaces `object`."""
    color: str | None = None
    material: str | None = None
    text: str | None = None
    """The new text."""
    old_text: str | None = None
    position: PositionName | None = None
    """Where the moved or added object goes, relative to `reference`."""
    reference: str | None = None
    count: int | None = None
    background: str | None = None
    instead_of: EditType | None = None
    """The type that was drawn for this turn but does not fit the scene; `subject_add` replaced it."""
    all_objects: tuple[str, ...] = ()
    available: tuple[str, ...] = ()
    unchanged: tuple[str, ...] = ()
    """Objects of the base image that no turn so far has changed: content consistency compares them."""
    score_background: bool = True
    """False from the turn with a background change on."""


class ObjectPlan(FrozenModel):
    """The scene and the turns of an item, and the tools that made them."""

    objects: tuple[SceneObject, ...]
    turns: tuple[ObjectTurn, ...] = Field(min_length=1)
    tools: dict[str, str] = Field(default_factory=dict)
    """The tools that found the objects and wrote the instructions: role to tool and version."""
    seed: int | None = None


def object_plan(item: Item) -> ObjectPlan | None:
    """Return the plan of an item, or None if the item is not object-centric."""
    stored = item.provenance.get(PLAN_KEY)
    if stored is None:
        return None
    try:
        plan = ObjectPlan.model_validate(stored)
    except ValidationError as error:
        raise UserError(
            f"The object plan of item {item.key!r} of {item.dataset!r} cannot be read: "
            f"{validation_problem(error).text}.",
            hint=f"Build the benchmark again with `{command_line('edival build')}`.",
        ) from error
    if len(plan.turns) != len(item.turns):
        raise UserError(
            f"Item {item.key!r} of {item.dataset!r} has {len(item.turns)} turns and a plan of {len(plan.turns)}.",
            hint=f"Build the benchmark again with `{command_line('edival build')}`.",
        )
    return plan


def plan_provenance(plan: ObjectPlan) -> JsonDict:
    """Return the plan as part of an item's provenance."""
    return {PLAN_KEY: plan.model_dump(mode="json", exclude_defaults=True)}
