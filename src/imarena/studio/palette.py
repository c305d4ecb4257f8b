"""Named colours and small colour arithmetic. A colour's name is what instructions call it."""

RGB = tuple[int, int, int]

COLOURS: dict[str, RGB] = {
    "red": (208, 58, 54),
    "orange": (236, 136, 48),
    "yellow": (244, 198, 62),
    "green": (78, 154, 88),
    "teal": (42, 152, 154),
    "blue": (54, 110, 194),
    "purple": (128, 88, 178),
    "pink": (238, 134, 164),
    "brown": (142, 94, 60),
    "white": (240, 238, 232),
    "grey": (148, 152, 160),
    "black": (52, 53, 60),
}


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
