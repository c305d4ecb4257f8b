"""Measure one edit without a workspace: every metric of two images, whole and inside and outside of a mask."""

from collections.abc import Callable
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from imarena import vision
from imarena.core import InvalidImage, UserError
from imarena.images import Mask, check_mask, mask_from_image, pixels
from imarena.workflows.questions.single_edit import ImageInput, read_image_input

Pixels = NDArray[np.uint8]
Distance = Callable[[Pixels, Pixels], float | None]


def measure_edit(source: ImageInput, output: ImageInput, mask: ImageInput | None = None) -> vision.ImageComparison:
    """Compare an output with its source. A mask is white where the edit was requested, black elsewhere, and
    has the size of the source.

    Images are paths or bytes. Raises `UserError` if one cannot be read. `lpips` is measured if the weights
    `lpips-alex` are installed.
    """
    before, after = pixels(read_image_input(source)), pixels(read_image_input(output))
    size = before.shape[1], before.shape[0]
    region = None if mask is None else _read_mask(mask, size)
    compared = vision.compare_images(before, after, region)
    measures: dict[str, Distance] = {"st_lpips": vision.shift_tolerant_lpips}
    if vision.lpips_available():
        measures["lpips"] = vision.lpips_distance
    networks = {name: _distances(measure, before, after, region) for name, measure in measures.items()}
    networks["face_likeness"] = _likeness(before, after, region)
    return replace(compared, metrics={**compared.metrics, **networks})


def _likeness(before: Pixels, after: Pixels, region: Mask | None) -> vision.RegionValues:
    whole = vision.face_likeness(before, after)
    if region is None:
        return vision.RegionValues(whole)
    return vision.RegionValues(whole, *(vision.face_likeness(before, after, part) for part in (region, ~region)))


def _distances(measure: Distance, before: Pixels, after: Pixels, region: Mask | None) -> vision.RegionValues:
    whole = measure(before, after)
    if region is None:
        return vision.RegionValues(whole)
    return vision.RegionValues(whole, *(vision.distance_in(measure, before, after, part) for part in (region, ~region)))


def _read_mask(mask: ImageInput, size: tuple[int, int]) -> Mask:
    data = read_image_input(mask)
    try:
        check_mask(data, size)
    except InvalidImage as error:
        message, _, hint = str(error).partition("\n")
        name = "The image" if isinstance(mask, bytes) else str(mask)
        raise UserError(f"{name} is not a mask: {message}.", hint=hint) from error
    return mask_from_image(data)
