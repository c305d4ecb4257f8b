"""One edit order and its result: the executor's workers run the editor and inspect the output."""

import asyncio
import math
import time
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, replace

from imarena.core import Editor, EditRequest, EditResult, InvalidImage, error_message, first_line, sha256_hex
from imarena.core.records import Evidence, ImageRef, JsonDict, Status
from imarena.images import describe_image
from imarena.workflows.editing.agent_journal import StepJournal


@dataclass(frozen=True)
class EditOrder:
    """What an editor is asked, by its index in the list, and whether to measure the output."""

    editor: int
    request: EditRequest
    words: str
    measured: bool
    journal: StepJournal | None = None
    """For an editor with several steps: stores each step, so that it can resume an interrupted run."""


@dataclass(frozen=True)
class EditMade:
    """The result of an edit: the editor's answer, its image if it is one, and the measurements of it."""

    result: EditResult
    evidence: tuple[Evidence, ...] = ()
    info: ImageRef | None = None


@dataclass(frozen=True)
class AskEditor:
    """Sends an order to an editor and inspects the result."""

    editors: tuple[Editor, ...]

    @asynccontextmanager
    async def opened(self) -> AsyncIterator[None]:
        """Open the editors: here, or in a worker that loads their models."""
        async with AsyncExitStack() as stack:
            for editor in {id(editor): editor for editor in self.editors}.values():
                await stack.enter_async_context(editor.traits.opened())
            yield

    async def __call__(self, order: EditOrder) -> EditMade:
        """Run the editor, then inspect the result in a thread."""
        editor = self.editors[order.editor]
        started = time.perf_counter()
        resumable = editor.traits.resumable
        if order.journal is not None and resumable is not None:
            result = await resumable.resume(order.request, order.journal)
        else:
            result = await editor.edit(order.request)
        result = replace(result, cost_usd=_amount(result.cost_usd), latency_s=_amount(result.latency_s))
        if result.latency_s is None:
            result = replace(result, latency_s=time.perf_counter() - started)
        return await asyncio.to_thread(_inspect, order, result) if result.status is Status.OK else EditMade(result)

    def failed(self, order: EditOrder, error: Exception) -> EditMade:
        """Convert an unexpected failure to a status."""
        return failed_edit(self.editors[order.editor], error)


def _amount(amount: float | None) -> float | None:
    """Return a cost or a time as the editor states it; None (unknown) if it is negative or not finite."""
    return amount if amount is not None and math.isfinite(amount) and amount >= 0 else None


def failed_edit(editor: Editor, error: Exception) -> EditMade:
    """Convert an unexpected failure to a status, in the words of the editor's author if the editor can say it so."""
    explain = editor.traits.explain_error
    message = f"{type(error).__name__}: {error_message(error)}" if explain is None else explain(error)
    return EditMade(EditResult(Status.API_ERROR, error=message))


def _inspect(order: EditOrder, result: EditResult) -> EditMade:
    """Check the pixels at their native resolution, without changes."""
    if result.image is None:
        why = result.error or "the editor said ok and returned no image"
        return EditMade(replace(result, status=Status.MISSING_OUTPUT, error=why))
    try:
        reference = describe_image(result.image)
    except InvalidImage as error:
        return EditMade(no_picture(result, error))
    return EditMade(result, _measure(order, result.image, reference) if order.measured else (), reference)


def no_picture(result: EditResult, error: InvalidImage) -> EditResult:
    """Convert an invalid or forbidden image to a status."""
    start = (result.image or b"")[:60].decode("utf-8", "replace").strip()
    message = first_line(error)
    if start[:1] in "<{" and start:
        message += f"; it begins with {start!r}: the address may be wrong"
    return replace(result, status=Status.INVALID_IMAGE, image=None, error=message)


def _measure(order: EditOrder, image: bytes, output: ImageRef) -> tuple[Evidence, ...]:
    """Measure failure modes against the first source and against each reference."""
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
