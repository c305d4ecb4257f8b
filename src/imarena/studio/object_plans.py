"""The object plan of a multi-turn entry, from the exact scene: its objects with their boxes, and each turn's pools."""

from imarena.core import ObjectPlan, ObjectPools, ObjectTurn, SceneObject
from imarena.studio.edits import BenchmarkEntry, apply_edit
from imarena.studio.render import render_scene
from imarena.studio.scene import Scene

TOOL = "imarena.studio"


def entry_plan(entry: BenchmarkEntry) -> ObjectPlan | None:
    """The objects of an entry's scene and what each step does to them; None for an entry that is not object-centric."""
    if entry.scene is None:
        return None
    scene, objects = entry.scene, _objects(entry.scene)
    pools, turns = ObjectPools.of(objects), []
    for step in entry.steps:
        turn = step.turn
        if turn is None:
            return None
        scene = apply_edit(scene, step.edit)
        things = {thing.name: thing.foreground for thing in scene.things}
        foreground = [name for name in pools.available if things.get(name, False)]
        pools = pools.after(turn, new_name=_name_after(turn, scene, step.edit.uids), foreground=foreground)
        turns.append(pools.written_to(turn))
    return ObjectPlan(objects=objects, turns=tuple(turns), tools={"objects": TOOL, "instructions": TOOL})


def _name_after(turn: ObjectTurn, scene: Scene, uids: tuple[str, ...]) -> str | None:
    """The name of a changed object after its turn: a new color or material gives a new name."""
    return scene.thing(uids[0]).name if turn.type in ("color_alter", "material_alter") else None


def _objects(scene: Scene) -> tuple[SceneObject, ...]:
    """One entry per name, with the boxes of all visible things of that name."""
    visible = render_scene(scene).seen()
    objects = []
    for name in dict.fromkeys(thing.name for thing in scene.things):
        same_name = [thing for thing in visible if thing.name == name]
        first = same_name[0].thing
        boxes = tuple(tuple(map(float, thing.box)) for thing in same_name if thing.box is not None)
        objects.append(
            SceneObject.model_validate(
                {
                    "name": name,
                    "object": first.kind,
                    "color": first.colour,
                    "material": first.material,
                    "text": first.text or None,
                    "count": len(same_name),
                    "foreground": first.foreground,
                    "boxes": boxes,
                }
            )
        )
    return tuple(objects)
