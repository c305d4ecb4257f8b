"""Built-in classical editors: they parse the instruction with `language` and really edit the image, without a model.

`classical` uses all operations; `classical-exposure` and the like know one operation each. Impossible edits are
refused and named; partial edits report what is left out.
"""

import asyncio
import re
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

import numpy as np
from PIL import Image
from pydantic import JsonValue

from imarena.core import EditorTraits, EditRequest, EditResult, Floats, InvalidImage, Mask, UserError, unknown_name
from imarena.core.records import JsonDict, Status
from imarena.editors.catalog import Ports
from imarena.editors.classical import frame, light, things
from imarena.editors.classical.find import target_mask
from imarena.editors.classical.text import write_text
from imarena.images import JPEG, PNG, decode, encode_image, media_type_of
from imarena.language import Edit, EditKind, read_instruction

VERSION = "7"
_EXPOSURE = ("brighten", "darken", "contrast", "saturate", "desaturate", "white_balance", "enhance")


@dataclass(frozen=True)
class _Canvas:
    """The current image, the masks of the request, and the area that "it" refers to."""

    rgb: Floats
    masks: tuple[bytes, ...]
    last: Mask | None = None


@dataclass(frozen=True)
class _Changed:
    """The image after a change, and the area of the changed thing if there is one."""

    rgb: Floats
    thing: Mask | None = None


def _adjust(canvas: _Canvas, edit: Edit) -> _Changed | None:
    name = edit.operation
    if name in ("deblur", "enhance") and re.search(r"\b(?:dark|dim|underexposed)\b", edit.clause):
        name = "brighten"  # "make this dark picture clear" is about its brightness
    change = light.ADJUSTMENTS.get(name)
    return _Changed(change(canvas.rgb)) if change else None


def _tone(canvas: _Canvas, edit: Edit) -> _Changed | None:
    words = [edit.value, *re.findall(r"[a-z]+", edit.value)]
    change = next((light.TONES[word] for word in words if word in light.TONES), None)
    return _Changed(change(canvas.rgb)) if change else None


def _recolour(canvas: _Canvas, edit: Edit) -> _Changed | None:
    if not edit.colours:
        return None
    mask = target_mask(canvas.rgb, edit, canvas.masks, canvas.last)
    return None if mask is None else _Changed(things.recolour(canvas.rgb, mask, edit.colours[0], edit.value), mask)


def _remove(canvas: _Canvas, edit: Edit) -> _Changed | None:
    mask = target_mask(canvas.rgb, edit, canvas.masks, canvas.last)
    return None if mask is None else _Changed(things.remove(canvas.rgb, mask))


def _text(canvas: _Canvas, edit: Edit) -> _Changed | None:
    result = write_text(canvas.rgb, edit)
    return None if result is None else _Changed(*result)


def _background(canvas: _Canvas, edit: Edit) -> _Changed | None:
    behind = things.background(canvas.rgb, edit, canvas.masks)
    return None if behind is None else _Changed(behind)


def _view(canvas: _Canvas, edit: Edit) -> _Changed | None:
    if edit.kind is EditKind.EXTEND:
        return _Changed(frame.extend(canvas.rgb, edit.places))
    if edit.operation == "level":
        level = frame.level(canvas.rgb)
        return None if level is None else _Changed(level)
    if re.match(r"crop\b", edit.clause):
        return _Changed(frame.crop_edit(canvas.rgb, edit))
    return _Changed(frame.flip(canvas.rgb)) if re.match(r"(?:flip|mirror)\b", edit.clause) else None


_Change = Callable[[_Canvas, Edit], _Changed | None]
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
"""For each operation: the function that applies it, and a test for the edits that it handles."""


@dataclass(frozen=True)
class ClassicalEditor:
    """An editor with all operations, or with one of them."""

    name: str
    operations: tuple[str, ...]
    version: str = VERSION

    @property
    def traits(self) -> EditorTraits:
        """Not wrappable: the rules would treat words around an instruction as orders. Deterministic: no randomness."""
        return EditorTraits(wrappable=False, deterministic=True)

    @property
    def params(self) -> JsonDict:
        """The parameters that an output depends on."""
        return {"operations": list(self.operations)}

    async def edit(self, request: EditRequest) -> EditResult:
        """Parse the instruction and edit the first source."""
        started = time.perf_counter()
        result = await asyncio.to_thread(self._edited, request)
        return replace(result, cost_usd=0.0, latency_s=time.perf_counter() - started)

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
        last: Mask | None = None
        edits = read_instruction(request.instruction).edits
        for edit in edits:
            changed = self._changed(_Canvas(rgb, request.masks, last), edit)
            (left if changed is None else done).append(edit.clause)
            if changed is not None:
                rgb, last = changed.rgb, changed.thing
        if not done:
            return EditResult(Status.REFUSED, error=self._why(edits, request.instruction))
        picture = Image.fromarray(np.asarray(np.clip(rgb * 255 + 0.5, 0, 255), np.uint8))
        steps: tuple[JsonDict, ...] = ({"stage": "classical", "done": list(done), "left": list(left)},) if left else ()
        return EditResult(Status.OK, encode_image(picture, JPEG if kind == JPEG else PNG, quality=95), steps=steps)

    def _why(self, edits: tuple[Edit, ...], instruction: str) -> str:
        """Why nothing was done: no such operation, or the target was not found."""
        text = ("; ".join(edit.clause for edit in edits) or instruction)[:300]
        if any(OPERATIONS[name][1](edit) and edit.target for name in self.operations for edit in edits):
            return (
                f"{self.name} cannot distinguish what is meant from the rest: {text}. Add a mask, a colour or a place."
            )
        return f"{self.name} has no operation for: {text}"

    def _changed(self, canvas: _Canvas, edit: Edit) -> _Changed | None:
        for name in self.operations:
            change, fits = OPERATIONS[name]
            if fits(edit):
                return change(canvas, edit)
        return None


def make(name: str, options: Mapping[str, JsonValue], _ports: Ports) -> ClassicalEditor:
    """An editor with all operations, or with the one in the option `operation` or in a name (`classical-denoise`)."""
    unknown = sorted(set(options) - {"operation"})
    if unknown:
        raise UserError(f"The editor '{name}' does not take: {', '.join(unknown)}.", hint="Known: operation.")
    from_name = name.removeprefix("classical-") if name.startswith("classical-") else ""
    operation = str(options.get("operation", from_name))
    if operation and operation not in OPERATIONS:
        raise unknown_name("There is no classical editor", operation, OPERATIONS)
    return ClassicalEditor(name, (operation,) if operation else tuple(OPERATIONS))
