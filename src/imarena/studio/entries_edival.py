"""Multi-turn entries: the nine EdiVal types (table 2 of the paper), each on each of three turns."""

from collections.abc import Callable, Iterator

import numpy as np

from imarena.core import ObjectTurn, PositionName
from imarena.studio.backdrops import BACKDROPS, backdrop_of
from imarena.studio.edits import BenchmarkEntry, SceneEdit, Step, apply_edit
from imarena.studio.generate import (
    crowding,
    free_x,
    join_words,
    kinds_for,
    new_thing,
    pick_colour,
    random_scene,
    size_in,
    width_of,
)
from imarena.studio.kinds import article, object_kind, plural_noun
from imarena.studio.scene import Scene, Thing

FAMILIES = {
    "subject_add": "subject", "subject_remove": "subject", "subject_replace": "subject", "color_alter": "attribute",
    "material_alter": "attribute", "text_change": "text", "position_change": "relational", "count_change": "counting",
    "background_change": "global",
}  # fmt: skip
TYPES = tuple(FAMILIES)
PLACES = ("table", "meadow", "room", "street", "shelf", "beach", "studio", "forest", "snow")
WORDS = ("HELLO", "PEACE", "OPEN", "FRESH", "MUSIC", "GARDEN", "NORTH", "SUNNY", "LUCKY")
VISIBLE_MATERIALS = ("wood", "metal", "stone", "fabric")

Written = tuple[str, SceneEdit, str, ObjectTurn]
Writer = Callable[[np.random.Generator, Scene], Written]


def _pick(rng: np.random.Generator, things: list[Thing]) -> Thing:
    return things[int(rng.integers(len(things)))]


def _fresh_kind(rng: np.random.Generator, scene: Scene, *, small: bool = False) -> str:
    have = {thing.kind for thing in scene.things}
    pool = [kind for kind in kinds_for(scene.backdrop) if kind not in have and not object_kind(kind).floats]
    if small:
        pool = [k for k in pool if size_in(k, scene.backdrop) * object_kind(k).aspect < 0.36] or pool
    return pool[int(rng.integers(len(pool)))]


def _colours(scene: Scene) -> list[str]:
    return [thing.colour for thing in scene.things]


def _all_of(scene: Scene, thing: Thing) -> str:
    """Name for a thing, or for all that look like it: ``red balloon``, ``red balloons``."""
    count = sum(other.name == thing.name for other in scene.things)
    return thing.name if count == 1 else f"{thing.colour} {plural_noun(thing.kind)}"


def _add(rng: np.random.Generator, scene: Scene) -> Written:
    kind = _fresh_kind(rng, scene, small=True)
    probe = new_thing(scene, kind, pick_colour(rng, kind, _colours(scene)))
    anchor = min(scene.things, key=lambda thing: abs(thing.x - probe.x))
    side: PositionName = "right" if probe.x >= anchor.x else "left"
    instruction = f"Add {article(probe.colour)} {probe.name} to the {side} of the {anchor.name}."
    return (
        instruction,
        SceneEdit(op="add", things=(probe,)),
        f"{article(probe.colour)} {probe.name} stands beside the {anchor.name}",
        ObjectTurn(type="subject_add", new_object=probe.name, position=side, reference=anchor.name),
    )


def _remove(rng: np.random.Generator, scene: Scene) -> Written:
    single = [t for t in scene.things if scene.count(t.kind) == 1] or list(scene.things)
    thing = _pick(rng, single)
    return (
        f"Remove the {thing.name}.",
        SceneEdit(op="remove", uids=(thing.uid,)),
        f"there is no {thing.name}",
        ObjectTurn(type="subject_remove", object=thing.name),
    )


def _replace(rng: np.random.Generator, scene: Scene) -> Written:
    thing = _pick(rng, list(scene.things))
    scene_without = scene.with_things(tuple(t for t in scene.things if t.uid != thing.uid))
    kind = _fresh_kind(rng, scene)
    new = new_thing(scene_without, kind, pick_colour(rng, kind, _colours(scene)))
    new = new.model_copy(update={"x": thing.x, "y": thing.y if not object_kind(thing.kind).floats else new.y})
    instruction = f"Replace the {thing.name} with {article(new.colour)} {new.name}."
    return (
        instruction,
        SceneEdit(op="replace", uids=(thing.uid,), things=(new,)),
        f"{article(new.colour)} {new.name} stands there",
        ObjectTurn(type="subject_replace", object=thing.name, new_object=new.name),
    )


def _recolour(rng: np.random.Generator, scene: Scene) -> Written:
    thing = _pick(rng, list(scene.things))
    colour = pick_colour(rng, "ball", _colours(scene))
    uids = tuple(t.uid for t in scene.things if t.name == thing.name)
    instruction = f"Change the color of the {_all_of(scene, thing)} to {colour}."
    return (
        instruction,
        SceneEdit(op="set", uids=uids, values={"colour": colour}),
        f"the {thing.kind} is {colour}",
        ObjectTurn(type="color_alter", object=thing.name, color=colour),
    )


def _rematerial(rng: np.random.Generator, scene: Scene) -> Written:
    solid = [t for t in scene.things if t.kind not in {"cat", "bird", "tree", "pine tree", "bicycle", "lamp"}]
    thing = _pick(rng, solid or list(scene.things))
    options = [m for m in VISIBLE_MATERIALS if m != thing.material]
    material = options[int(rng.integers(len(options)))]
    uids = tuple(t.uid for t in scene.things if t.name == thing.name)
    instruction = f"Change the material of the {_all_of(scene, thing)} to {material}."
    return (
        instruction,
        SceneEdit(op="set", uids=uids, values={"material": material}),
        f"the {thing.kind} is made of {material}",
        ObjectTurn(type="material_alter", object=thing.name, material=material),
    )


def _retext(rng: np.random.Generator, scene: Scene) -> Written:
    thing = _pick(rng, [t for t in scene.things if t.text])
    text = WORDS[int(rng.integers(len(WORDS)))]
    instruction = f"Replace the text '{thing.text}' on the {thing.name} with '{text}'."
    return (
        instruction,
        SceneEdit(op="set", uids=(thing.uid,), values={"text": text}),
        f"the {thing.kind} says '{text}'",
        ObjectTurn(type="text_change", object=thing.name, text=text, old_text=thing.text),
    )


def _move(rng: np.random.Generator, scene: Scene) -> Written:
    thing = _pick(rng, [t for t in scene.things if scene.count(t.kind) == 1])
    scene_without = scene.with_things(tuple(t for t in scene.things if t.uid != thing.uid))
    wide = width_of(scene, thing.kind, thing.size)
    options: list[tuple[float, PositionName, float, Thing]] = []
    for anchor in scene_without.things:
        sides: tuple[tuple[PositionName, float, float], ...] = (
            ("right", anchor.x + wide / 2, 1.0),
            ("left", 0.0, anchor.x - wide / 2),
        )
        for side, low, high in sides:
            x = free_x(scene_without, thing.kind, thing.size, low, high)
            was, now = thing.x > anchor.x, x > anchor.x
            if was != now and now == (side == "right") and abs(x - thing.x) > 0.12:
                options.append((crowding(scene_without, x, wide), side, x, anchor))
    _, side, x, anchor = min(options, key=lambda option: option[0])
    instruction = f"Change the position of the {thing.name} to the {side} of the {anchor.name}."
    return (
        instruction,
        SceneEdit(op="set", uids=(thing.uid,), values={"x": x}),
        f"the {thing.kind} is {side} of the {anchor.kind}",
        ObjectTurn(type="position_change", object=thing.name, position=side, reference=anchor.name),
    )


def _recount(rng: np.random.Generator, scene: Scene) -> Written:
    def wide(t: Thing) -> float:
        return t.size * object_kind(t.kind).aspect

    thing = min((t for t in scene.things if scene.count(t.kind) == 1), key=wide)
    count = 2 + int(rng.integers(2))
    grown, copies = scene, []
    for i in range(1, count):
        copy = thing.model_copy(update={"uid": f"{thing.uid}-{i + 1}", "x": free_x(grown, thing.kind, thing.size)})
        copies.append(copy)
        grown = grown.with_things((*grown.things, copy))
    instruction = f"Change the number of {thing.colour} {plural_noun(thing.kind)} to {count}."
    return (
        instruction,
        SceneEdit(op="add", things=tuple(copies)),
        f"there are {count} {thing.colour} {plural_noun(thing.kind)}",
        ObjectTurn(type="count_change", object=thing.name, count=count),
    )


def _rebackground(rng: np.random.Generator, scene: Scene) -> Written:
    current = backdrop_of(scene.backdrop)
    options = [
        name for name, b in BACKDROPS.items()
        if name != scene.backdrop and name not in {"painting", "lake", "shelf"}
        and (b.place == current.place or {b.place, current.place} == {"table", "room"})
    ]  # fmt: skip
    name = options[int(rng.integers(len(options)))]
    edit = SceneEdit(op="backdrop", backdrop=name, mood=backdrop_of(name).moods[0], seed=int(rng.integers(1000)))
    unchanged = join_words([f"the {thing.name}" for thing in scene.things[:2]])
    return (
        f"Change the background to {backdrop_of(name).description}, and leave {unchanged} unchanged.",
        edit,
        f"the scene is {backdrop_of(name).description}",
        ObjectTurn(type="background_change", background=backdrop_of(name).description),
    )


WRITERS: dict[str, Writer] = {
    "subject_add": _add, "subject_remove": _remove, "subject_replace": _replace, "color_alter": _recolour,
    "material_alter": _rematerial, "text_change": _retext, "position_change": _move, "count_change": _recount,
    "background_change": _rebackground,
}  # fmt: skip


def edival_entries(count: int = 18) -> Iterator[BenchmarkEntry]:
    """Entries of three turns without a repeated type; in 18 entries every type occurs twice at every turn."""
    for number in range(count):
        types = tuple(TYPES[(number + 2 * turn + turn * (number // 9)) % 9] for turn in range(3))
        yield _chain(number, types)


def _chain(number: int, types: tuple[str, ...]) -> BenchmarkEntry:
    rng = np.random.default_rng([number, 2026])
    backdrop = PLACES[number % len(PLACES)]
    start = scene = random_scene(100 + number, backdrop, 4, with_text=True)
    steps = []
    for task in types:
        kind = task
        if task == "text_change" and not any(t.text for t in scene.things):
            kind = "subject_add"  # as in the paper: if a type does not fit the scene, something is added
        try:
            instruction, edit, expected, turn = WRITERS[kind](rng, scene)
        except ValueError:  # nothing in the scene can be counted or moved
            kind = "subject_add"
            instruction, edit, expected, turn = WRITERS[kind](rng, scene)
        steps.append(Step(instruction=instruction, task=kind, edit=edit, expected=expected, turn=turn))
        scene = apply_edit(scene, edit)
    return BenchmarkEntry(
        key=f"edival-{number + 1:02d}", taxonomy="edival", task=steps[0].task, family=FAMILIES[steps[0].task],
        topic=backdrop_of(backdrop).place, track="multi_turn", scene=start, steps=tuple(steps),
    )  # fmt: skip
