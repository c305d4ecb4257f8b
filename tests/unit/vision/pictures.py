"""Small pictures with known content, drawn on the spot."""

import numpy as np
from numpy.typing import NDArray
from PIL import Image, ImageDraw, ImageFont

SIZE = (384, 288)
Pixels = NDArray[np.uint8]


def scene(seed: int = 0) -> Image.Image:
    """A soft, many-coloured ground with a red disc and a white box: something of everything."""
    rng = np.random.default_rng(seed)
    ground = Image.fromarray((rng.random((6, 8, 3)) * 160 + 40).astype(np.uint8))
    picture = ground.resize(SIZE, Image.Resampling.BICUBIC)
    draw = ImageDraw.Draw(picture)
    draw.ellipse((60, 80, 140, 160), fill=(214, 34, 34))
    draw.rectangle((250, 60, 320, 130), fill=(240, 240, 240))
    return picture


def with_disc(colour: tuple[int, int, int], seed: int = 0) -> Image.Image:
    """The scene with its disc in another colour."""
    picture = scene(seed)
    ImageDraw.Draw(picture).ellipse((60, 80, 140, 160), fill=colour)
    return picture


def with_text(text: str, size: int = 26) -> Image.Image:
    """The scene with a line of black text on a white strip."""
    picture = scene()
    draw = ImageDraw.Draw(picture)
    draw.rectangle((0, 220, SIZE[0], 280), fill=(255, 255, 255))
    draw.text((10, 232), text, fill=(0, 0, 0), font=ImageFont.load_default(size=size))
    return picture


def mixed(left: Image.Image, right: Image.Image, share: float) -> Image.Image:
    """`share` of the right picture over the left one."""
    return Image.blend(left, right, share)


def two_images(seed: int = 0, height: int = 67, width: int = 91) -> tuple[Pixels, Pixels]:
    """A smooth image and a noisy, partly recoloured copy."""
    rng = np.random.default_rng(seed)
    rows, columns = np.mgrid[:height, :width]
    waves = [np.sin(rows / (5 + 3 * c) + seed) * 60 + np.cos(columns / (9 - c)) * 50 + 128 for c in range(3)]
    left = np.clip(np.stack(waves, axis=-1), 0, 255).astype(np.uint8)
    right = np.clip(left + rng.normal(0, 9, left.shape), 0, 255).astype(np.uint8)
    right[10:30, 20:50] = right[10:30, 20:50, ::-1]
    return left, right
