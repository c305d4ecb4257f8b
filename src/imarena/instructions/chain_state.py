"""The scene of a chain after some turns, as far as the instructions and the base image determine it."""

from collections.abc import Iterable
from dataclasses import dataclass, field, replace

from imarena.core import ObjectPools, ObjectTurn, PositionName, SceneObject
from imarena.instructions.phrases import renamed, same_noun
from imarena.instructions.scene_contents import SceneContents

Relation = tuple[str, PositionName, str]
OPPOSITE: dict[PositionName, PositionName] = {"left": "right", "right": "left", "above": "below", "below": "above"}
CLEARLY = 0.02
"""Share of the image's side by which two centers must differ before their order counts as known."""


@dataclass(frozen=True)
class ChainState:
    """The currently editable objects and the pools; only known positions are used."""

    contents: SceneContents
    objects: tuple[SceneObject, ...]
    """In their current state. Boxes are from the base image, and empty if a turn moved or multiplied the object."""
    pools: ObjectPools
    nouns: tuple[str, ...]
    """Nouns of everything that was ever in the image."""
    texts: tuple[str, ...]
    relations: frozenset[Relation] = field(default_factory=frozenset)
    """Relations that turns have made: (object, position, reference)."""
    background: str | None = None

    @classmethod
    def of(cls, contents: SceneContents) -> "ChainState":
        """The state of the base image."""
        nouns = (*(thing.object for thing in contents.objects), *contents.also_present)
        texts = (*contents.texts, *(thing.text for thing in contents.objects if thing.text))
        return cls(contents, contents.objects, ObjectPools.of(contents.objects), nouns, texts)

    def get(self, name: str) -> SceneObject:
        """The available object of this name."""
        return next(thing for thing in self.objects if thing.name == name)

    def was_there(self, noun: str) -> bool:
        """Is, or was, an object of this kind in the image?"""
        return any(same_noun(noun, other) for other in self.nouns)

    def surely_not(self, name: str, position: PositionName, reference: str) -> bool:
        """Is it certain that the object is not at this position relative to the reference?"""
        moving, fixed = self.get(name).boxes, self.get(reference).boxes
        if moving and fixed:
            size = self.contents.width if position in ("left", "right") else self.contents.height
            axis, sign = (0 if position in ("left", "right") else 1), (1 if position in ("left", "above") else -1)
            return all(
                sign * (_center(box)[axis] - _center(other)[axis]) >= CLEARLY * size
                for box in moving
                for other in fixed
            )
        return bool(self.relations & {(name, OPPOSITE[position], reference), (reference, position, name)})

    def after(self, turn: ObjectTurn) -> "ChainState":
        """The scene and its pools after a turn that was carried out as described."""
        objects, new_name = self._objects_after(turn)
        foreground = {thing.name for thing in objects if thing.foreground}
        pools = self.pools.after(turn, new_name=new_name, foreground=foreground)
        by_name = {thing.name: thing for thing in objects}
        return replace(
            self,
            objects=tuple(by_name[name] for name in pools.available),
            pools=pools,
            nouns=self.nouns if turn.new_object is None else (*self.nouns, turn.new_object),
            texts=self.texts if turn.text is None else (*self.texts, turn.text),
            relations=frozenset(self._relations_after(turn, new_name)),
            background=turn.background or self.background,
        )

    def _objects_after(self, turn: ObjectTurn) -> tuple[list[SceneObject], str | None]:
        """All objects after a turn, and the new name of the one whose color or material changed."""
        objects, new_name = [], None
        for thing in self.objects:
            if thing.name != turn.object:
                objects.append(thing)
                continue
            changed = _changed(thing, turn)
            if changed is not None:
                objects.append(changed)
                new_name = changed.name if changed.name != thing.name else None
        if turn.new_object is not None:
            objects.append(SceneObject(name=turn.new_object, object=turn.new_object))
        return objects, new_name

    def _relations_after(self, turn: ObjectTurn, new_name: str | None) -> Iterable[Relation]:
        moves = turn.type in ("position_change", "count_change", "subject_remove", "subject_replace")
        for name, position, other in self.relations:
            if turn.object in (name, other):
                if moves:
                    continue
                yield _renamed(name, turn, new_name), position, _renamed(other, turn, new_name)
            else:
                yield name, position, other
        mover = turn.new_object if turn.type == "subject_add" else turn.object
        if mover is not None and turn.position is not None and turn.reference is not None:
            yield mover, turn.position, turn.reference


def _changed(thing: SceneObject, turn: ObjectTurn) -> SceneObject | None:
    """The turn's object afterwards; None if it was removed."""
    if turn.type in ("subject_remove", "subject_replace"):
        return None
    if turn.type in ("color_alter", "material_alter"):
        color, material = turn.color or thing.color, turn.material or thing.material
        name = renamed(thing, color=turn.color, material=turn.material)
        return thing.model_copy(update={"color": color, "material": material, "name": name})
    if turn.type == "text_change":
        return thing.model_copy(update={"text": turn.text})
    if turn.type == "count_change":
        return thing.model_copy(update={"count": turn.count, "boxes": ()})
    return thing.model_copy(update={"boxes": ()})


def _renamed(name: str, turn: ObjectTurn, new_name: str | None) -> str:
    return new_name if new_name is not None and name == turn.object else name


def _center(box: tuple[float, float, float, float]) -> tuple[float, float]:
    return (box[0] + box[2]) / 2, (box[1] + box[3]) / 2
