"""The built-in cases of `judge --check` and `edit --check`: scenes rendered here, with nothing to download."""

from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from PIL import Image

from imarena.core import Detection, EditRequest, Exhibit, sha256_hex
from imarena.core.records import Evidence
from imarena.images import EDIT_BOXES, boxes_value, encode_image
from imarena.studio import change_mask, decode_pixels, entry_of, render_picture

SUCCESS, FAILURE, UNUSUAL = "obvious success", "obvious failure", "odd size with alpha"
PAIR, UNUSUAL_PAIR = "success against failure", "odd size with alpha, in a pair"
SIMPLE, NO_SOURCE, ODD_SOURCE = "simple edit", "no source image", "source of an odd size with alpha"
SEED = 42
_EDITED, _UNRELATED, _GENERATED = "edival-04", "edival-09", "A red kite above a green hill."
_ODD_SIZE = (317, 201)
BOX_KINDS = (EDIT_BOXES, "boxes")
"""Kinds of evidence that the built-in cases provide."""


@dataclass(frozen=True)
class BuiltInPictures:
    """An edit carried out as instructed, and images that do not match the instruction."""

    instruction: str
    task: str
    source: bytes
    edited: bytes
    unrelated: bytes
    transparent: bytes
    """An image of an unusual size, with an alpha channel and a transparent border."""
    box: tuple[float, float, float, float]
    """Bounding box of the pixels that the edit changes."""


@lru_cache(maxsize=1)
def built_in_pictures() -> BuiltInPictures:
    """Render the images, once per process."""
    entry, other = entry_of(_EDITED), entry_of(_UNRELATED)
    before, after = entry.scene, entry.scene_after(1)
    if before is None or after is None or other.scene is None:
        raise ValueError("the entries of the built-in cases have a source")
    source, edited = render_picture(before), render_picture(after)
    rows, columns = np.nonzero(change_mask(decode_pixels(source), decode_pixels(edited)))
    box = (float(columns.min()), float(rows.min()), float(columns.max() + 1), float(rows.max() + 1))
    return BuiltInPictures(
        entry.steps[0].instruction, entry.task, source, edited, render_picture(other.scene), _transparent(edited), box
    )


def _transparent(data: bytes) -> bytes:
    pixels = Image.fromarray(decode_pixels(data)).resize(_ODD_SIZE).convert("RGBA")
    alpha = Image.new("L", _ODD_SIZE, 0)
    alpha.paste(255, (20, 20, _ODD_SIZE[0] - 20, _ODD_SIZE[1] - 20))
    pixels.putalpha(alpha)
    return encode_image(pixels)


def single_exhibits(*, with_source: bool, evidence: tuple[str, ...] = ()) -> dict[str, Exhibit]:
    """One output per case. `with_source`: give the unusual case a source too, for a judge that needs one."""
    images = built_in_pictures()
    odd = _exhibit(images.transparent, None, evidence) if with_source else Exhibit(_GENERATED, images.transparent)
    return {
        SUCCESS: _exhibit(images.edited, None, evidence),
        FAILURE: _exhibit(images.unrelated, None, evidence),
        UNUSUAL: odd,
    }


def paired_exhibits(*, with_source: bool, evidence: tuple[str, ...] = ()) -> dict[str, tuple[Exhibit, Exhibit]]:
    """Two outputs per case, in both orders; the first order shows the better output first."""
    images = built_in_pictures()
    good, bad, odd = images.edited, images.unrelated, images.transparent
    unusual = (
        (_exhibit(odd, bad, evidence), _exhibit(bad, odd, evidence))
        if with_source
        else (Exhibit(_GENERATED, odd, bad), Exhibit(_GENERATED, bad, odd))
    )
    return {PAIR: (_exhibit(good, bad, evidence), _exhibit(bad, good, evidence)), UNUSUAL_PAIR: unusual}


def _exhibit(left: bytes, right: bytes | None, evidence: tuple[str, ...]) -> Exhibit:
    """An exhibit of outputs for the edit, with boxes of the requested kinds."""
    images = built_in_pictures()
    height, width = decode_pixels(images.source).shape[:2]
    boxes = tuple(
        Evidence(
            image_sha256=sha256_hex(images.source), tool="imarena", tool_version="1", kind=kind,
            value=boxes_value([Detection(images.box)], width, height),
        )
        for kind in evidence if kind in BOX_KINDS
    )  # fmt: skip
    return Exhibit(images.instruction, left, right, sources=(images.source,), task=images.task, evidence=boxes)


def edit_requests() -> dict[str, EditRequest]:
    """Requests for an editor: a simple edit, one without a source, and a source of an unusual size with alpha."""
    images = built_in_pictures()
    return {
        SIMPLE: EditRequest(images.instruction, sources=(images.source,), task=images.task, seed=SEED),
        NO_SOURCE: EditRequest(_GENERATED, seed=SEED),
        ODD_SOURCE: EditRequest(
            images.instruction, sources=(images.transparent,), references=(images.edited,), task=images.task, seed=SEED
        ),
    }
