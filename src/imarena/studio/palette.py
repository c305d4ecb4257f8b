"""Named colours and simple colour arithmetic. Instructions use the colours' names."""

from imarena.core import package_yaml

RGB = tuple[int, int, int]

_PALETTE = package_yaml("imarena.studio", "palette.yaml")
COLOURS: dict[str, RGB] = {name: (red, green, blue) for name, (red, green, blue) in _PALETTE["colours"].items()}
GLOSS: dict[str, float] = _PALETTE["gloss"]
"""Shininess of each material."""


def mix(first: RGB, second: RGB, share: float) -> RGB:
    """`first` mixed with `share` (0 to 1) of `second`."""
    r, g, b = (round(a + (c - a) * share) for a, c in zip(first, second, strict=True))
    return (r, g, b)


def lighter(colour: RGB, share: float) -> RGB:
    """Mix with white."""
    return mix(colour, (255, 255, 255), share)


def darker(colour: RGB, share: float) -> RGB:
    """Mix with a warm black."""
    return mix(colour, (24, 20, 26), share)


def ink_on(colour: RGB) -> RGB:
    """A text colour that is legible on `colour`."""
    luminance = 0.299 * colour[0] + 0.587 * colour[1] + 0.114 * colour[2]
    return (40, 40, 46) if luminance > 140 else (250, 248, 242)
