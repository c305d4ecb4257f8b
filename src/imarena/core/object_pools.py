"""The three pools of an object-centric chain, and how a turn changes them (EdiVal-Agent, section 2.3, algorithm 2)."""

from collections.abc import Collection
from dataclasses import dataclass, replace

from imarena.core.scene_plans import ObjectTurn, SceneObject


@dataclass(frozen=True)
class ObjectPools:
    """Names of objects: all that ever existed, those that can be edited now, and those that no turn has changed."""

    all_objects: tuple[str, ...]
    available: tuple[str, ...]
    unchanged: tuple[str, ...]
    score_background: bool = True

    @classmethod
    def of(cls, objects: Collection[SceneObject]) -> "ObjectPools":
        """The pools of a base image."""
        names = tuple(thing.name for thing in objects)
        return cls(names, names, names)

    def after(
        self, turn: ObjectTurn, *, new_name: str | None = None, foreground: Collection[str] = ()
    ) -> "ObjectPools":
        """Return the pools after a turn.

        `new_name` is the changed object's name from now on, if a new color or material changes its name. `foreground`
        names the objects that a change of background keeps; all others leave both pools.
        """
        pools = self
        if turn.object is not None:
            leaves = turn.type in ("subject_remove", "subject_replace") or new_name not in (None, turn.object)
            left = tuple(name for name in self.available if not (leaves and name == turn.object))
            unchanged = tuple(name for name in self.unchanged if name != turn.object)
            pools = replace(pools, available=left, unchanged=unchanged)
        for name in (turn.new_object, new_name):
            if name is not None:
                pools = replace(
                    pools, all_objects=_with(pools.all_objects, name), available=_with(pools.available, name)
                )
        if turn.type == "background_change":
            pools = replace(
                pools,
                available=tuple(name for name in pools.available if name in foreground),
                unchanged=tuple(name for name in pools.unchanged if name in foreground),
                score_background=False,
            )
        return pools

    def written_to(self, turn: ObjectTurn) -> ObjectTurn:
        """Return the turn with these pools as its result."""
        return turn.model_copy(update=vars(self))


def _with(names: tuple[str, ...], name: str) -> tuple[str, ...]:
    return names if name in names else (*names, name)
