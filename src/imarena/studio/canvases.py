"""Pixels on a common canvas: decode, and align the image before a step with the image after it."""

from io import BytesIO

import cv2
import numpy as np
import numpy.typing as npt
from PIL import Image

from imarena.core import Pixels
from imarena.studio.scene import Scene


def decode_pixels(data: bytes) -> Pixels:
    """Decode bytes to pixels (height, width, 3)."""
    with Image.open(BytesIO(data)) as picture:
        return np.array(picture.convert("RGB"))


def align_canvas(pixels: Pixels | None, before: Scene | None, after: Scene, shape: tuple[int, int]) -> Pixels:
    """The image before a step on the canvas (height, width) of the image after it.

    If the view widened, the old part keeps its place and its border is extended; without an image, the canvas is
    plain grey. This is what "nothing done" looks like.
    """
    height, width = shape
    if pixels is None:
        return np.full((height, width, 3), 150, np.uint8)
    if pixels.shape[:2] == shape:
        return pixels
    if before is None:
        return np.asarray(cv2.resize(pixels, (width, height), interpolation=cv2.INTER_AREA), np.uint8)
    left = round(before.view.left * before.width) - round(after.view.left * after.width)
    top = round(before.view.top * before.height) - round(after.view.top * after.height)
    right, bottom = width - left - pixels.shape[1], height - top - pixels.shape[0]
    if min(left, top, right, bottom) >= 0:
        return np.asarray(cv2.copyMakeBorder(pixels, top, bottom, left, right, cv2.BORDER_REPLICATE), np.uint8)
    return np.asarray(cv2.resize(pixels, (width, height), interpolation=cv2.INTER_AREA), np.uint8)


def change_mask(before: Pixels, after: Pixels) -> npt.NDArray[np.bool_]:
    """Mask (height, width) where two images of the same size differ visibly, widened by two pixels."""
    differs = np.abs(before.astype(np.int16) - after).max(axis=2) > 6
    return np.asarray(cv2.dilate(differs.astype(np.uint8), np.ones((5, 5), np.uint8))) > 0
