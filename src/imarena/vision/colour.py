"""Colours by name: which pixels a person would call 'red', in a perceptual colour space (OKLab)."""

from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from imarena.core import UserError, package_yaml
from imarena.language import lexicon
from imarena.vision.frame import Frame

_WORDS = package_yaml("imarena.vision", "basic_colours.yaml")
BASIC_COLOURS: tuple[str, ...] = tuple(_WORDS["basic"])
_LIKE: dict[str, str] = {shade: basic for basic, shades in _WORDS["like"].items() for shade in shades}
_LEVELS = 32
_TO_LMS = np.array(
    [
        [0.4122214708, 0.5363325363, 0.0514459929],
        [0.2119034982, 0.6806995451, 0.1073969566],
        [0.0883024619, 0.2817188376, 0.6299787005],
    ]
)
_TO_OKLAB = np.array(
    [
        [0.2104542553, 0.7936177850, -0.0040720468],
        [1.9779984951, -2.4285922050, 0.4505937099],
        [0.0259040371, 0.7827717662, -0.8086757660],
    ]
)
_GREY_CHROMA = 0.035
_HUE_WEIGHT = 3.0
_LIGHT_WEIGHT = 0.6


def to_oklab(rgb: NDArray[np.floating]) -> NDArray[np.float64]:
    """SRGB, 0 to 1, shape (..., 3), to OKLab of the same shape (Ottosson 2020)."""
    values = np.asarray(rgb, dtype=np.float64)
    linear = np.where(values <= 0.04045, values / 12.92, ((values + 0.055) / 1.055) ** 2.4)
    return np.asarray(np.cbrt(np.maximum(linear @ _TO_LMS.T, 0.0)) @ _TO_OKLAB.T)


def rgb_of(colour: str) -> NDArray[np.float64]:
    """A lexicon word or `#rrggbb` as sRGB, shape (3,), 0 to 1."""
    text = colour if colour.startswith("#") else lexicon().colours.get(colour, "")
    if len(text) != 7:
        raise UserError(
            f"'{colour}' is not a colour that we know.", hint="Use a word of language/lexicon.yaml or #rrggbb."
        )
    return np.array([int(text[i : i + 2], 16) / 255.0 for i in (1, 3, 5)])


def _distance(oklab: NDArray[np.float64], anchor: NDArray[np.float64]) -> NDArray[np.float64]:
    """Distance in OKLab that weights hue more than lightness, as colour names do."""
    light = (oklab[..., 0] - anchor[0]) * _LIGHT_WEIGHT
    chroma, anchor_chroma = np.hypot(oklab[..., 1], oklab[..., 2]), float(np.hypot(anchor[1], anchor[2]))
    straight = (oklab[..., 1] - anchor[1]) ** 2 + (oklab[..., 2] - anchor[2]) ** 2
    along = (chroma - anchor_chroma) ** 2
    turned = np.maximum(straight - along, 0.0)
    # Being paler than the colour costs more than being stronger: grey is not a kind of purple.
    paler = np.where(chroma < anchor_chroma, 1.0, 0.35)
    return np.asarray(np.sqrt(light**2 + paler * along + _HUE_WEIGHT * turned))


@lru_cache(maxsize=1)
def _palette() -> NDArray[np.float32]:
    """The centre of each cell of the colour cube, shape (LEVELS**3, 3); the lookup tables have one entry per cell."""
    axis = (np.arange(_LEVELS, dtype=np.float32) + 0.5) / _LEVELS
    cube = np.stack(np.meshgrid(axis, axis, axis, indexing="ij"), axis=-1)
    return np.asarray(cube.reshape(-1, 3), dtype=np.float32)


def _cells(rgb: NDArray[np.floating]) -> NDArray[np.intp]:
    """The index of each pixel's cell in the colour cube."""
    steps = np.clip((np.asarray(rgb) * _LEVELS).astype(np.intp), 0, _LEVELS - 1)
    return np.asarray((steps[..., 0] * _LEVELS + steps[..., 1]) * _LEVELS + steps[..., 2])


@lru_cache(maxsize=1)
def _names() -> NDArray[np.intp]:
    """The basic colour of each cell: that of the nearest known shade, shape (LEVELS**3,)."""
    oklab = to_oklab(_palette())
    shades = [(word, basic_colour(word)) for word in lexicon().colours] + [
        (h, n) for n, hs in _WORDS["more"].items() for h in hs
    ]
    far = np.stack([_distance(oklab, to_oklab(rgb_of(shade))) for shade, _ in shades], axis=-1)
    coloured = np.array([name not in {"black", "white", "grey"} for _, name in shades])
    # A cell with hardly any chroma is black, grey or white, whatever hue its noise has.
    dull = np.hypot(oklab[:, 1], oklab[:, 2]) < _GREY_CHROMA * np.clip(oklab[:, 0] / 0.6, 0.5, 1.0)
    far += 1.0 * (dull[:, None] & coloured[None, :])
    return np.array([BASIC_COLOURS.index(shades[i][1]) for i in far.argmin(axis=-1)])


def basic_names(rgb: NDArray[np.floating]) -> NDArray[np.intp]:
    """For each pixel (sRGB, 0 to 1, shape (..., 3)) the index in `BASIC_COLOURS` of the name that fits best."""
    return np.asarray(_names()[_cells(rgb)])


@lru_cache(maxsize=64)
def _likeness(colour: str) -> NDArray[np.float64]:
    far = _distance(to_oklab(_palette()), to_oklab(rgb_of(colour)))
    return np.asarray(np.exp(-((far / 0.22) ** 2)))


def colour_likeness(rgb: NDArray[np.floating], colour: str) -> NDArray[np.float64]:
    """How similar each pixel (sRGB, 0 to 1, shape (..., 3)) is to `colour`, 0 to 1, shape (...,)."""
    return np.asarray(_likeness(colour)[_cells(rgb)])


def basic_colour(colour: str) -> str:
    """The basic colour of a shade ('navy' is blue). `#rrggbb` gets the name of the colour it looks like."""
    if colour.startswith("#"):
        return BASIC_COLOURS[int(basic_names(rgb_of(colour)))]
    return _LIKE.get(colour, colour)


def is_named(frame: Frame, colour: str) -> NDArray[np.bool_]:
    """Pixels that a person would call `colour` (by its basic name) or that look very similar to it. (height, width)."""
    index = BASIC_COLOURS.index(basic_colour(colour))
    return np.asarray((basic_names(frame.rgb) == index) | (colour_likeness(frame.rgb, colour) > 0.6))
