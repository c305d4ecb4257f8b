"""Image files of odd sizes and forms, each with the pixels that a tool must see, computed by hand."""

import io
from typing import Any

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from imarena.images import pixels
from tests.models.tiny_vision_models import noise

Pixels = NDArray[np.uint8]


def _file(image: Image.Image, **options: Any) -> bytes:
    file = io.BytesIO()
    image.save(file, "PNG", **options)
    return file.getvalue()


def _smooth(seed: int, height: int, width: int) -> Pixels:
    small = Image.fromarray(noise(seed, 4, 5))
    return np.asarray(small.resize((width, height), Image.Resampling.BICUBIC))


def odd_images() -> dict[str, Pixels]:
    """The pixels of each file, decoded by this package and compared with what was drawn."""
    plain, grey, behind = _smooth(1, 37, 53), _smooth(2, 64, 41)[..., 0], _smooth(3, 50, 50)
    upright = _smooth(4, 31, 77)
    orientation = Image.Exif()
    orientation[0x0112] = 6  # the file is to be turned to the right before it is shown
    alpha = np.full((50, 50), 255, np.uint8)
    alpha[10:20, 10:20] = 0
    seen_through = behind.copy()
    seen_through[10:20, 10:20] = 255
    expected = {
        "odd size": (_file(Image.fromarray(plain)), plain),
        "grayscale": (_file(Image.fromarray(grey)), np.repeat(grey[..., None], 3, axis=2)),
        "alpha": (_file(Image.fromarray(np.dstack([behind, alpha]))), seen_through),
        "EXIF-rotated": (_file(Image.fromarray(np.rot90(upright)), exif=orientation), upright),
        "one pixel": (_file(Image.fromarray(plain[:1, :1])), plain[:1, :1]),
        "three rows": (_file(Image.fromarray(plain[:3])), plain[:3]),
        "same size": (_file(Image.fromarray(plain[::-1])), plain[::-1]),
    }
    decoded = {}
    for name, (data, truth) in expected.items():
        decoded[name] = pixels(data)
        assert np.array_equal(decoded[name], truth), name
    return decoded
