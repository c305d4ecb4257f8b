"""Images that are unsuitable as a base: checks that need no model, made before objects are listed."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from imarena.core import Pixels
from imarena.core.records import JsonDict
from imarena.vision import find_faces

LIGHTING = ((40, "very dark"), (85, "dark"), (150, "medium"), (205, "bright"), (256, "very bright"))
"""Mean luminance (0 to 255) below which an image gets this name (as in appendix A)."""


@dataclass(frozen=True)
class ScreenSettings:
    """When an image is left out."""

    smallest_side: int = 64
    least_contrast: float = 2.0
    """Standard deviation of luminance (0 to 255) below which an image is blank."""
    largest_face: float = 0.1
    """Maximum share of the image that one face may cover; larger ones make the image a portrait of a person."""


def screen_image(
    pixels: Pixels, settings: ScreenSettings, people: Sequence[tuple[float, float, float, float]]
) -> tuple[str, JsonDict]:
    """Why an image is left out (empty: it is kept), and the measurements.

    `people` are the boxes of persons: a face outside them belongs to an animal or a picture and is ignored.
    """
    height, width = pixels.shape[:2]
    luminance = pixels.astype(np.float32) @ np.array([0.2126, 0.7152, 0.0722], np.float32)
    mean, spread = float(luminance.mean()), float(luminance.std())
    lighting = next(name for limit, name in LIGHTING if mean < limit)
    facts: JsonDict = {"lighting": lighting, "luminance": round(mean, 1)}
    if min(height, width) < settings.smallest_side:
        return f"a side of {min(height, width)} pixels (under {settings.smallest_side})", facts
    if spread < settings.least_contrast:
        return "blank: hardly any contrast", facts
    faces = [face.box for face in find_faces(pixels) if any(_overlaps(face.box, person) for person in people)]
    areas = [(right - left) * (bottom - top) / (height * width) for left, top, right, bottom in faces]
    facts |= {"faces": len(faces), "largest_face": round(max(areas, default=0.0), 3)}
    if max(areas, default=0.0) > settings.largest_face:
        return f"personal: a face covers {max(areas):.2f} of the image (over {settings.largest_face})", facts
    return "", facts


def _overlaps(box: tuple[float, float, float, float], other: tuple[float, float, float, float]) -> bool:
    return min(box[2], other[2]) > max(box[0], other[0]) and min(box[3], other[3]) > max(box[1], other[1])
