"""Random scenes for the property tests, and a simple world that turns are carried out in."""

from dataclasses import dataclass, field
from typing import Any

from hypothesis import strategies as st

from imarena.core import ObjectTurn, SceneObject
from imarena.instructions import SceneContents

WIDTH, HEIGHT = 640, 480
NOUNS = ("cup", "chair", "dog", "car", "book", "fire truck", "pair of scissors", "statue", "sign", "orange", "gizmo")
COLORS = (None, "red", "navy", "dark green", "black and white", "grey", "unheard-of")
MATERIALS = (None, "wood", "oak", "stainless steel", "cotton", "aether")
TEXTS = (None, None, "OPEN", "Good day", "欢迎")


@st.composite
def boxes(draw: st.DrawFn) -> tuple[float, float, float, float]:
    left, top = draw(st.integers(0, WIDTH - 40)), draw(st.integers(0, HEIGHT - 40))
    wide, high = draw(st.integers(20, WIDTH - left)), draw(st.integers(20, HEIGHT - top))
    return float(left), float(top), float(left + wide), float(top + high)


@st.composite
def scene_objects(draw: st.DrawFn) -> SceneObject:
    noun, color, material = (
        draw(st.sampled_from(NOUNS)),
        draw(st.sampled_from(COLORS)),
        draw(st.sampled_from(MATERIALS)),
    )
    count = draw(st.sampled_from((1, 1, 1, 2, 3, 12)))
    return SceneObject(
        name=" ".join(part for part in (material, color, noun) if part), object=noun, color=color, material=material,
        text=draw(st.sampled_from(TEXTS)), count=count, foreground=draw(st.booleans()),
        boxes=tuple(draw(st.lists(boxes(), min_size=1, max_size=min(count, 3)))),
    )  # fmt: skip


@st.composite
def scenes(draw: st.DrawFn, least: int = 0) -> SceneContents:
    objects = draw(st.lists(scene_objects(), min_size=least, max_size=5, unique_by=lambda thing: thing.name))
    return SceneContents(
        tuple(objects), WIDTH, HEIGHT,
        also_present=tuple(draw(st.lists(st.sampled_from(("bottle", "person", "cat")), max_size=2))),
        scene=draw(st.sampled_from(("", "kitchen", "snowy street"))),
        background_colors=draw(st.sampled_from((None, {"green": 0.5, "blue": 0.3}, {"gray": 1.0}))),
    )  # fmt: skip


@dataclass
class World:
    """Objects by name as plain dictionaries, changed in place: a second implementation of what a turn does."""

    things: dict[str, dict[str, Any]]
    nouns: list[str] = field(default_factory=list)

    @classmethod
    def of(cls, contents: SceneContents) -> "World":
        things: dict[str, dict[str, Any]] = {
            thing.name: {"object": thing.object, "color": thing.color, "material": thing.material, "text": thing.text,
                         "count": thing.count, "foreground": thing.foreground, "boxes": thing.boxes, "beside": set()}
            for thing in contents.objects
        }  # fmt: skip
        return cls(things, [*contents.also_present, *(thing.object for thing in contents.objects)])

    def do(self, turn: ObjectTurn) -> None:
        """Carry out a turn."""
        if turn.type in ("subject_remove", "subject_replace"):
            self.forget(turn.object)
        if turn.new_object is not None:
            self.nouns.append(turn.new_object)
            self.things[turn.new_object] = {
                "object": turn.new_object, "color": None, "material": None, "text": None, "count": 1,
                "foreground": True, "boxes": (), "beside": set(),
            }  # fmt: skip
        moved = turn.new_object if turn.type == "subject_add" else turn.object
        if turn.type in ("position_change", "count_change"):
            self.forget_place(turn.object)
        if turn.position is not None and turn.reference is not None:
            self.things[str(moved)]["beside"].add((turn.position, turn.reference))
        if turn.type == "count_change":
            self.things[str(turn.object)]["count"] = turn.count
        if turn.type == "text_change" and turn.object is not None:
            self.things[turn.object]["text"] = turn.text
        if turn.type in ("color_alter", "material_alter"):
            self.rename(turn)
        if turn.type == "background_change":
            for name in [name for name, thing in self.things.items() if not thing["foreground"]]:
                self.forget(name)

    def forget(self, name: str | None) -> None:
        del self.things[str(name)]
        for thing in self.things.values():
            thing["beside"] = {(place, other) for place, other in thing["beside"] if other != name}

    def forget_place(self, name: str | None) -> None:
        self.things[str(name)] |= {"boxes": (), "beside": set()}
        for thing in self.things.values():
            thing["beside"] = {(place, other) for place, other in thing["beside"] if other != name}

    def rename(self, turn: ObjectTurn) -> None:
        """The object goes on under the one name that is new among the available ones."""
        [name] = set(turn.available) - set(self.things) or {str(turn.object)}
        thing = self.things.pop(str(turn.object))
        thing |= {"color": turn.color or thing["color"], "material": turn.material or thing["material"]}
        self.things[name] = thing
        for other in self.things.values():
            other["beside"] = {(place, name if who == turn.object else who) for place, who in other["beside"]}
