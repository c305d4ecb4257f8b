"""What a decomposition knows of an image: the input of instruction writing."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from imarena.core import SceneObject
from imarena.core.records import JsonDict


@dataclass(frozen=True)
class SceneContents:
    """The objects of an image that can be edited, and what else is known of it."""

    objects: tuple[SceneObject, ...]
    width: int
    height: int
    also_present: tuple[str, ...] = ()
    """Nouns of things that are, or may be, in the image and that no instruction edits."""
    texts: tuple[str, ...] = ()
    """Every text that was read in the image, on an object or not."""
    scene: str = ""
    """What a model says that the image shows, in a word or two: `kitchen`; empty where nobody said."""
    background_colors: Mapping[str, float] | None = field(default=None)
    """Share of each basic color (US spelling) outside the objects, 0 to 1; None where it was not measured."""

    def to_json(self) -> JsonDict:
        """As it is stored."""
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
    """The contents that `to_json` wrote."""
    return SceneContents(
        tuple(SceneObject.model_validate(thing) for thing in stored["objects"]),
        int(stored["width"]),
        int(stored["height"]),
        tuple(stored["also_present"]),
        tuple(stored["texts"]),
        str(stored["scene"]),
        stored["background_colors"],
    )
