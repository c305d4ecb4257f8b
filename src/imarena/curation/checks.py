"""Checks of a file: valid, large enough, normalised. The aspect ratio is kept; nothing is scaled."""

import io
from dataclasses import dataclass

from imarena.core import FoundImage, InvalidImage, find_licence, sha256_hex
from imarena.curation.settings import CurationSettings
from imarena.curation.task_needs import TaskNeeds
from imarena.images import JPEG, PNG, check_image, decode, strip_metadata

MEASURED = frozenset({"small", "blur", "compression"})
"""Codes of refusals whose reason begins with the measured quantity and a colon."""
SMALL_LONG_SIDE = 256
"""Minimum long side for tasks about small images (ours)."""


@dataclass(frozen=True)
class NormalImage:
    """An image in its stored form: JPEG or PNG, grey or RGB, 8 bits, upright, one frame, without EXIF."""

    data: bytes
    width: int
    height: int
    original_sha256: str
    converted: str = ""
    """Why the file was converted; empty if its pixels are untouched."""


class Refused(InvalidImage):
    """A file that cannot be used. `code` is the reason for counts: licence, not_an_image, small."""

    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.code = code


def check_licence(result: FoundImage) -> tuple[str, ...]:
    """Flags for review; raises if a result has no licence that permits redistribution of image and edits.

    A licence that only a search filter confirms is accepted and flagged: a person has to check the page.
    """
    if not result.licence:
        raise Refused("licence", "the source states no licence")
    licence = find_licence(result.licence) or find_licence(result.licence_url)
    if licence is None:
        if result.licence_by_filter:
            return ("licence_by_filter",)
        raise Refused("licence", f"the licence '{result.licence}' is not known to permit redistribution")
    if not licence.derivatives:
        raise Refused("licence", f"the licence {licence.id} forbids edited copies")
    return ("licence_by_filter",) if result.licence_by_filter else ()


def least_long_side(settings: CurationSettings, needs: TaskNeeds) -> int:
    """Pixels that the long side must have; fewer are enough for a task about small images."""
    return min(SMALL_LONG_SIDE, settings.min_long_side) if "small" in needs.allows else settings.min_long_side


def check_file(data: bytes, settings: CurationSettings, needs: TaskNeeds) -> NormalImage:
    """Decode the file completely, check the size and normalise it."""
    try:
        info = check_image(data)
    except InvalidImage as error:
        raise Refused("not_an_image", str(error).splitlines()[0]) from error
    least = least_long_side(settings, needs)
    if max(info.width, info.height) < least:
        task = " (the limit of this task)" if least < settings.min_long_side else ""
        raise Refused("small", f"{info.width} x {info.height}: the long side is below {least} pixels{task}")
    return _normal(data, info.media_type)


def _normal(data: bytes, media_type: str) -> NormalImage:
    original = sha256_hex(data)
    info = check_image(data)
    plain = info.orientation == 1 and info.frames == 1 and info.mode in ("L", "RGB") and info.bit_depth <= 8
    if media_type in (JPEG, PNG) and plain:
        return NormalImage(strip_metadata(data), info.width, info.height, original)
    image = decode(data)
    file = io.BytesIO()
    image.save(file, "PNG", optimize=False)
    why = "format" if media_type not in (JPEG, PNG) else "orientation, colour mode, depth or frames"
    return NormalImage(file.getvalue(), image.width, image.height, original, why)
