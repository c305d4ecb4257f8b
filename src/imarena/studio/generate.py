"""Seeded generation of scenes: which things stand where, so that each can be seen and named."""

import numpy as np

from imarena.studio.backdrops import backdrop_of
from imarena.studio.kinds import KINDS, object_kind
from imarena.studio.palette import COLOURS
from imarena.studio.scene import Scene, Thing

SIZES = ((640, 512), (704, 512), (768, 512), (768, 576))


def size_in(kind: str, backdrop: str) -> float:
    """The usual height of a kind on a backdrop, as a fraction of the image's height."""
    surface, k = backdrop_of(backdrop).place, object_kind(kind)
    usual = {"table": k.table, "room": k.room, "open_air": k.open_air}.get(surface, 0.0)
    return usual or k.table * 0.8 or k.open_air or k.room or 0.2


def width_of(scene: Scene, kind: str, size: float) -> float:
    """The width of a thing as a fraction of the image's width."""
    return size * object_kind(kind).aspect * scene.height / scene.width


def free_x(scene: Scene, kind: str, size: float, low: float = 0.0, high: float = 1.0) -> float:
    """The position along the ground, between `low` and `high`, where a thing would hide the others least."""
    wide = width_of(scene, kind, size)
    left, right = min(0.5, wide / 2 + 0.02), max(0.5, 0.98 - wide / 2)
    left, right = max(left, min(low, right)), min(right, max(high, left))
    spots = np.linspace(left, right, 41)
    costs = [round(crowding(scene, float(x), wide), 6) for x in spots]
    return round(float(spots[int(np.argmin(costs))]), 4)


def crowding(scene: Scene, x: float, wide: float) -> float:
    """How much a thing of width `wide` at `x` would hide or crowd the others; 0 for an empty scene."""
    cost = 0.02 * abs(x - 0.5)
    for other in scene.things:
        half = width_of(scene, other.kind, other.size) * other.stretch / 2
        gap = abs(x - other.x) - half - wide / 2
        cost += max(0.0, -gap) * 3.0 + 0.03 * float(np.exp(-max(0.0, gap) / 0.08))
    return cost


def new_thing(scene: Scene, kind: str, colour: str) -> Thing:
    """A thing of usual size, placed where there is room, in its kind's first state and with its first text."""
    k = object_kind(kind)
    size = size_in(kind, scene.backdrop)
    near, far = backdrop_of(scene.backdrop).ground[::-1]
    y = near - (near - far) * min(1.0, size / 0.5)
    if k.floats:
        y = 0.5
    return Thing(
        uid=kind, kind=kind, x=free_x(scene, kind, size), y=round(y, 4), size=size, colour=colour,
        material=k.material, text=k.texts[0] if k.texts else "", state=k.states[0] if k.states else "",
    )  # fmt: skip


def kinds_for(backdrop: str) -> list[str]:
    """Kinds that usually occur on a backdrop, in a fixed order."""
    field = {"table": "table", "room": "room", "open_air": "open_air"}.get(backdrop_of(backdrop).place, "table")
    return [name for name, kind in KINDS.items() if getattr(kind, field) > 0]


def random_scene(
    seed: int, backdrop: str, count: int = 4, *, must: tuple[str, ...] = (), with_text: bool = False
) -> Scene:
    """A scene of `count` things of different kinds and colours, including `must`; reproducible from its arguments."""
    rng = np.random.default_rng([seed, 77])
    width, height = SIZES[int(rng.integers(len(SIZES)))]
    moods = [mood for mood in backdrop_of(backdrop).moods if mood != "night"]
    scene = Scene(
        width=width, height=height, seed=seed, backdrop=backdrop, mood=moods[int(rng.integers(len(moods)))],
        light=("left", "right")[int(rng.integers(2))],
    )  # fmt: skip
    pool = [kind for kind in kinds_for(backdrop) if kind not in must]
    kinds = list(must)
    if with_text and not any(object_kind(kind).texts for kind in kinds):
        texts = [kind for kind in pool if object_kind(kind).texts]
        kinds.append(texts[int(rng.integers(len(texts)))])
    for kind in rng.permutation(pool):
        if len(kinds) >= count:
            break
        if kind not in kinds:
            kinds.append(str(kind))
    colours: list[str] = []
    for kind in sorted(kinds, key=lambda name: -size_in(name, backdrop) * object_kind(name).aspect):
        colour = pick_colour(rng, kind, colours)
        colours.append(colour)
        scene = scene.with_things((*scene.things, new_thing(scene, kind, colour)))
    return scene


def pick_colour(rng: np.random.Generator, kind: str, colours: list[str]) -> str:
    """A random colour that the kind may have, unused if possible."""
    allowed = [
        c
        for c in (object_kind(kind).colours or tuple(COLOURS))
        if c not in {"black", "white"} or object_kind(kind).colours
    ]
    fresh = [colour for colour in allowed if colour not in colours] or allowed
    return fresh[int(rng.integers(len(fresh)))]


def join_words(phrases: list[str]) -> str:
    """Join phrases: ``a, b and c``."""
    return phrases[0] if len(phrases) == 1 else ", ".join(phrases[:-1]) + " and " + phrases[-1]
