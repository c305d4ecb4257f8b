"""Built-in classical editors: they read the instruction with `language` and really edit the picture, without a model.

`classical` does what it can; `classical-exposure` and its kin each know one operation. What cannot be done is refused
and named; an edit that is done in part says what is left out.
"""

import asyncio
import re
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np
from PIL import Image
from pydantic import JsonValue

from imarena.core.errors import InvalidImage, UserError
from imarena.core.protocols import EditRequest, EditResult
from imarena.core.records import JsonDict, Status
from imarena.editors import classical_frame as frame
from imarena.editors import classical_light as light
from imarena.editors import classical_things as things
from imarena.editors.classical_light import Floats
from imarena.images import JPEG, PNG, decode, encode, media_type_of
from imarena.language import Edit, EditKind, read_instruction

VERSION = "1"
_EXPOSURE = ("brighten", "darken", "contrast", "saturate", "desaturate", "white_balance", "enhance")


@dataclass(frozen=True)
class _Canvas:
    rgb: Floats
    masks: tuple[bytes, ...]


def _adjust(canvas: _Canvas, edit: Edit) -> Floats | None:
    change = light.ADJUSTMENTS.get(edit.operation)
    return change(canvas.rgb) if change else None


def _tone(canvas: _Canvas, edit: Edit) -> Floats | None:
    words = [edit.value, *re.findall(r"[a-z]+", edit.value)]
    change = next((light.TONES[word] for word in words if word in light.TONES), None)
    return change(canvas.rgb) if change else None


def _recolour(canvas: _Canvas, edit: Edit) -> Floats | None:
    mask = things.target_mask(canvas.rgb, edit, canvas.masks)
    return things.recolour(canvas.rgb, mask, edit.colours[0]) if mask is not None and edit.colours else None


def _remove(canvas: _Canvas, edit: Edit) -> Floats | None:
    mask = things.target_mask(canvas.rgb, edit, canvas.masks)
    return things.remove(canvas.rgb, mask) if mask is not None else None


def _text(canvas: _Canvas, edit: Edit) -> Floats | None:
    return frame.write_text(canvas.rgb, edit)


def _background(canvas: _Canvas, edit: Edit) -> Floats | None:
    return things.background(canvas.rgb, edit, canvas.masks)


def _view(canvas: _Canvas, edit: Edit) -> Floats | None:
    if edit.kind is EditKind.EXTEND:
        return frame.extend(canvas.rgb, edit.places)
    if edit.operation == "level":
        return frame.level(canvas.rgb)
    if re.match(r"crop\b", edit.clause):
        return frame.crop(canvas.rgb, edit.places)
    return frame.flip(canvas.rgb) if re.match(r"(?:flip|mirror)\b", edit.clause) else None


_Change = Callable[[_Canvas, Edit], Floats | None]
OPERATIONS: Mapping[str, tuple[_Change, Callable[[Edit], bool]]] = {
    "exposure": (_adjust, lambda e: e.kind is EditKind.ENHANCE and e.operation in _EXPOSURE),
    "denoise": (_adjust, lambda e: e.kind is EditKind.ENHANCE and e.operation == "denoise"),
    "deblur": (_adjust, lambda e: e.kind is EditKind.ENHANCE and e.operation in ("deblur", "upscale")),
    "dehaze": (_adjust, lambda e: e.kind is EditKind.ENHANCE and e.operation == "dehaze"),
    "recolour": (_recolour, lambda e: e.kind is EditKind.COLOUR),
    "remove": (_remove, lambda e: e.kind is EditKind.REMOVE),
    "text": (_text, lambda e: e.kind is EditKind.TEXT),
    "background": (_background, lambda e: e.kind is EditKind.BACKGROUND),
    "crop-extend": (
        _view,
        lambda e: e.kind in (EditKind.EXTEND, EditKind.VIEW) or bool(re.match(r"(?:crop|flip|mirror)\b", e.clause)),
    ),
    "tone": (_tone, lambda e: e.kind is EditKind.STYLE),
}
"""What each editor changes, and which edits are its own."""


@dataclass(frozen=True)
class ClassicalEditor:
    """All operations, or one of them."""

    name: str
    operations: tuple[str, ...]
    version: str = VERSION

    @property
    def params(self) -> JsonDict:
        """What an output depends on."""
        return {"operations": list(self.operations)}

    async def edit(self, request: EditRequest) -> EditResult:
        """Read the instruction, change the first source."""
        started = time.perf_counter()
        result = await asyncio.to_thread(self._edited, request)
        return EditResult(
            result.status,
            result.image,
            result.error,
            cost_usd=0.0,
            latency_s=time.perf_counter() - started,
            steps=result.steps,
        )

    def _edited(self, request: EditRequest) -> EditResult:
        if not request.sources:
            return EditResult(Status.REFUSED, error="Classical editors change a picture; this item has no source.")
        try:
            rgb = np.asarray(decode(request.sources[0]), np.float32) / np.float32(255)
            kind = media_type_of(request.sources[0])
        except InvalidImage as error:
            return EditResult(Status.INVALID_IMAGE, error=str(error))
        done: list[str] = []
        left: list[str] = []
        for edit in read_instruction(request.instruction).edits:
            changed = self._changed(_Canvas(rgb, request.masks), edit)
            (left if changed is None else done).append(edit.clause)
            rgb = rgb if changed is None else changed
        if not done:
            what = "; ".join(left) or request.instruction
            return EditResult(Status.REFUSED, error=f"{self.name} has no operation for: {what[:300]}")
        picture = Image.fromarray(np.asarray(np.clip(rgb * 255 + 0.5, 0, 255), np.uint8))
        steps: tuple[JsonDict, ...] = ({"stage": "classical", "done": list(done), "left": list(left)},) if left else ()
        return EditResult(Status.OK, encode(picture, JPEG if kind == JPEG else PNG, quality=95), steps=steps)

    def _changed(self, canvas: _Canvas, edit: Edit) -> Floats | None:
        for name in self.operations:
            change, fits = OPERATIONS[name]
            if fits(edit):
                return change(canvas, edit)
        return None


def make(name: str, options: Mapping[str, JsonValue]) -> ClassicalEditor:
    """`classical` with all operations, `classical-NAME` with one."""
    if options:
        raise UserError(f"The editor '{name}' takes no options.", hint=f"Not known: {', '.join(options)}.")
    wanted = name.removeprefix("classical").removeprefix("-")
    if wanted and wanted not in OPERATIONS:
        raise UserError(f"There is no classical editor '{wanted}'.", hint=f"Known: {', '.join(OPERATIONS)}.")
    return ClassicalEditor(name, (wanted,) if wanted else tuple(OPERATIONS))
