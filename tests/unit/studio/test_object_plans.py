"""Object plans of the bundled multi-turn entries, against the exact scenes."""

import pytest

from imarena.core import object_plan
from imarena.datasets import studio_items
from imarena.images import describe_image
from imarena.studio import BenchmarkEntry, Scene, entries, entry_plan

CHAINS = [entry for entry in entries() if len(entry.steps) > 1]


@pytest.mark.parametrize("entry", CHAINS, ids=lambda entry: entry.key)
def test_the_pools_are_those_of_the_exact_scenes(entry: BenchmarkEntry) -> None:
    plan = entry_plan(entry)
    assert plan is not None
    assert entry.scene is not None
    assert len(plan.turns) == len(entry.steps)
    base = entry.scene
    assert {thing.name: thing.count for thing in plan.objects} == counts_by_name(base)
    for number, (turn, step) in enumerate(zip(plan.turns, entry.steps, strict=True), 1):
        now = entry.scene_after(number)
        assert now is not None
        assert turn.type == step.task
        assert set(turn.available) == set(counts_by_name(now))
        assert set(turn.unchanged) <= {thing.name for thing in base.things if thing in now.things}
        named = (turn.object, turn.new_object, turn.reference)
        assert all(name is None or name.split()[-1] in step.instruction for name in named)
        if turn.type == "count_change":
            assert counts_by_name(now)[str(turn.object)] == turn.count


def counts_by_name(scene: Scene) -> dict[str, int]:
    names = [thing.name for thing in scene.things]
    return {name: names.count(name) for name in names}


def test_a_plan_is_in_the_item_and_not_in_its_identity() -> None:
    [item] = studio_items(lambda data, _: describe_image(data), ["edival-03"])
    plan = object_plan(item)
    assert plan is not None
    assert plan == entry_plan(CHAINS[2])
    assert all(0 < len(thing.boxes) == thing.count for thing in plan.objects)
    bare = item.model_copy(update={"provenance": {}})
    assert object_plan(bare) is None
    assert type(item).model_validate(bare.model_dump()).item_id == item.item_id
