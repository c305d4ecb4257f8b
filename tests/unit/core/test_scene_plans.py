"""Object plans travel in an item's provenance and do not change its identity."""

import pytest

from imarena.core import ObjectPlan, ObjectTurn, SceneObject, object_plan, plan_provenance
from imarena.core.errors import UserError
from imarena.core.records import Item, JsonDict, Turn

PLAN = ObjectPlan(
    objects=(SceneObject(name="white cup", object="cup", color="white", boxes=((0, 0, 9, 9),)),),
    turns=(ObjectTurn(type="color_alter", object="white cup", color="red", all_objects=("white cup",)),),
    tools={"detector": "efficientdet 1"},
)


def item(provenance: JsonDict) -> Item:
    return Item(dataset="d", key="k", turns=(Turn(instruction="Make the cup red."),), provenance=provenance)


def test_a_plan_comes_back_as_it_was_and_is_no_part_of_the_identity() -> None:
    planned = Item.from_json(item(plan_provenance(PLAN)).to_json())
    assert object_plan(planned) == PLAN
    assert planned.item_id == item({}).item_id
    assert object_plan(item({})) is None


def test_a_plan_that_does_not_fit_is_refused() -> None:
    with pytest.raises(UserError, match="cannot be read"):
        object_plan(item({"object_plan": {"objects": [], "turns": [{"type": "paint"}]}}))
    two = PLAN.model_copy(update={"turns": PLAN.turns * 2})
    with pytest.raises(UserError, match="has 1 turns and a plan of 2"):
        object_plan(item(plan_provenance(two)))
