"""What a decomposition knows about an image: the input of instruction writing."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from imarena.core import SceneObject
from imarena.core.records import JsonDict


@dataclass(frozen=True)
class SceneContents:
    """The editable objects of an image, and other facts about it."""

    objects: tuple[SceneObject, ...]
    width: int
    height: int
    also_present: tuple[str, ...] = ()
    """Nouns of things that are, or may be, in the image and that no instruction edits."""
    texts: tuple[str, ...] = ()
    """All texts in the image, on an object or not."""
    scene: str = ""
    """What the image shows according to a model, in one or two words: `kitchen`; empty if unknown."""
    background_colors: Mapping[str, float] | None = field(default=None)
    """Share of each basic color (US spelling) outside the objects, 0 to 1; None if not measured."""

    def to_json(self) -> JsonDict:
        """The stored form."""
        colors = None if self.background_colors is None else dict(self.background_colors)
        return {
            "objects": [thing.model_dump(mode="json") for thing in self.objects],
            "width": self.width,
            "height": self.height,
            "also_present": list(self.also_present),
            "texts": list(self.texts),
            "scene": self.scene,
            "background_colors": {**colors} if colors is not None else None,
        }


def contents_from_json(stored: Mapping[str, Any]) -> SceneContents:
    """The inverse of `to_json`."""
    return SceneContents(
        tuple(SceneObject.model_validate(thing) for thing in stored["objects"]),
        int(stored["width"]),
        int(stored["height"]),
        tuple(stored["also_present"]),
        tuple(stored["texts"]),
        str(stored["scene"]),
        stored["background_colors"],
    )
