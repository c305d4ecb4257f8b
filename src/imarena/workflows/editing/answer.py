"""One order to an editor, and what comes of it: asked and looked at wherever the executor has workers."""

import asyncio
import math
import time
from dataclasses import dataclass, replace

from imarena.core import Editor, EditRequest, EditResult, InvalidImage, error_message, first_line, sha256_hex
from imarena.core.records import Evidence, ImageRef, JsonDict, Status
from imarena.editors import FunctionEditor
from imarena.images import describe_image
from imarena.workflows.editing.agent_journal import StepJournal


@dataclass(frozen=True)
class EditOrder:
    """What is put to an editor, by its place in the list, and whether what it makes is measured."""

    editor: int
    request: EditRequest
    words: str
    measured: bool
    journal: StepJournal | None = None
    """Of an editor of many steps: keeps each of them, so that it goes on where an earlier run broke off."""


@dataclass(frozen=True)
class EditMade:
    """An edit that was tried: what the editor said, its picture if that is one, and what was measured on it."""

    result: EditResult
    evidence: tuple[Evidence, ...] = ()
    info: ImageRef | None = None


@dataclass(frozen=True)
class AskEditor:
    """Puts an order to an editor and looks at what came back."""

    editors: tuple[Editor, ...]

    async def __call__(self, order: EditOrder) -> EditMade:
        """Ask, and look in a thread."""
        editor = self.editors[order.editor]
        started = time.perf_counter()
        resumable = editor.traits.resumable
        if order.journal is not None and resumable is not None:
            result = await resumable.go_on(order.request, order.journal)
        else:
            result = await editor.edit(order.request)
        result = replace(result, cost_usd=_amount(result.cost_usd), latency_s=_amount(result.latency_s))
        if result.latency_s is None:
            result = replace(result, latency_s=time.perf_counter() - started)
        return await asyncio.to_thread(_inspect, order, result) if result.status is Status.OK else EditMade(result)

    def failed(self, order: EditOrder, error: Exception) -> EditMade:
        """An unexpected failure as a status."""
        return failed_edit(self.editors[order.editor], error)


def _amount(stated: float | None) -> float | None:
    """A cost or a time as the editor states it; None, which means not known, where it is below 0 or not finite."""
    return stated if stated is not None and math.isfinite(stated) and stated >= 0 else None


def failed_edit(editor: Editor, error: Exception) -> EditMade:
    """An unexpected failure; that of a function in the words of who wrote it."""
    own = f"{type(error).__name__}: {error_message(error)}"
    message = editor.raised(error) if isinstance(editor, FunctionEditor) else own
    return EditMade(EditResult(Status.API_ERROR, error=message))


def _inspect(order: EditOrder, result: EditResult) -> EditMade:
    """Check the pixels, at their native resolution, as they came."""
    if result.image is None:
        why = result.error or "the editor said ok and returned no image"
        return EditMade(replace(result, status=Status.MISSING_OUTPUT, error=why))
    try:
        reference = describe_image(result.image)
    except InvalidImage as error:
        return EditMade(no_picture(result, error))
    return EditMade(result, _measure(order, result.image, reference) if order.measured else (), reference)


def no_picture(result: EditResult, error: InvalidImage) -> EditResult:
    """What came back is no picture, or one that must not be kept."""
    start = (result.image or b"")[:60].decode("utf-8", "replace").strip()
    message = first_line(error)
    if start[:1] in "<{" and start:
        message += f"; it begins with {start!r}: the address may be wrong"
    return replace(result, status=Status.INVALID_IMAGE, image=None, error=message)


def _measure(order: EditOrder, image: bytes, output: ImageRef) -> tuple[Evidence, ...]:
    """Failure modes against the first source and against each reference."""
    from imarena.editors import failure_modes as modes

    measured: list[tuple[bytes, str, JsonDict]] = []
    request = order.request
    if request.sources:
        measured.append((request.sources[0], "edit", modes.against_source(image, request.sources[0], order.words)))
    measured += [(data, "reference", modes.against_reference(image, data)) for data in request.references]
    return tuple(
        Evidence(
            image_sha256=output.sha256, against_sha256=sha256_hex(data), tool=modes.TOOL, tool_version=modes.VERSION,
            kind=f"failure_modes.{kind}", params=modes.THRESHOLDS, value=value,
        )
        for data, kind, value in measured
    )  # fmt: skip
