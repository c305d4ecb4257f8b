"""Named colours and small colour arithmetic. A colour's name is what instructions call it."""

from imarena.core import package_yaml

RGB = tuple[int, int, int]

_PALETTE = package_yaml("imarena.studio", "palette.yaml")
COLOURS: dict[str, RGB] = {name: (red, green, blue) for name, (red, green, blue) in _PALETTE["colours"].items()}
GLOSS: dict[str, float] = _PALETTE["gloss"]
"""How much a material shines."""


def mix(first: RGB, second: RGB, share: float) -> RGB:
    """`first` with `share` (0 to 1) of `second` in it."""
    r, g, b = (round(a + (c - a) * share) for a, c in zip(first, second, strict=True))
    return (r, g, b)


def lighter(colour: RGB, share: float) -> RGB:
    """Towards white."""
    return mix(colour, (255, 255, 255), share)


def darker(colour: RGB, share: float) -> RGB:
    """Towards a warm black."""
    return mix(colour, (24, 20, 26), share)


def ink_on(colour: RGB) -> RGB:
    """A text colour that can be read on `colour`."""
    luminance = 0.299 * colour[0] + 0.587 * colour[1] + 0.114 * colour[2]
    return (40, 40, 46) if luminance > 140 else (250, 248, 242)
