"""edit: run editors over items, one turn after the other; resume does only what is missing."""

import asyncio
import time
from collections import Counter
from collections.abc import Sequence
from contextlib import AsyncExitStack, ExitStack
from dataclasses import dataclass, field, replace

from imarena.core import Editor, EditRequest, EditResult, InvalidImage, Progress, StoreError, sha256_hex
from imarena.core.records import Evidence, ImageRef, Item, JsonDict, Output, Record, Status, Trace
from imarena.editors import FunctionEditor
from imarena.engine import RunPlan, run_async
from imarena.images import check_image
from imarena.storage import Workspace
from imarena.workflows.editing.agent_journal import StepJournal
from imarena.workflows.editing.contact_sheet import ContactSheet
from imarena.workflows.editing.plan import EditReport, EditSettings, EditWork, StoredOutputs, missing, named_in_folder
from imarena.workflows.views import instruction_of, request_of
from imarena.workflows.wiring import Ongoing, alone, noted

__all__ = ["EditReport", "EditSettings", "EditWork", "edit_items"]


def edit_items(
    workspace: Workspace,
    items: Sequence[Item],
    editors: Sequence[Editor],
    settings: EditSettings | None = None,
    *,
    progress: Progress | None = None,
) -> EditReport:
    """Make every output that is missing. A failure is stored with its status and tried again by the next run."""
    with ExitStack() as held:
        for name in sorted({editor.name for editor in editors}):
            held.enter_context(alone(workspace, "edit", name))
        return asyncio.run(_edit_all(workspace, items, editors, settings or EditSettings(), progress))


async def _edit_all(
    workspace: Workspace,
    items: Sequence[Item],
    editors: Sequence[Editor],
    settings: EditSettings,
    progress: Progress | None,
) -> EditReport:
    report = EditReport()
    started = time.monotonic()
    sheet = ContactSheet(workspace, items, editors) if settings.sheet else None
    drawing: asyncio.Task[None] | None = None
    if sheet is not None:
        sheet.draw(report)  # the page is there from the first moment: its path was told already
        drawing = asyncio.create_task(sheet.keep_drawing(report))
    try:
        with noted(workspace, "edit", settings.noted(len(items), editors)) as ongoing:
            await _edit_turns(workspace, items, editors, settings, report, ongoing, sheet, progress)
            ongoing.counts = dict(report.outputs)
            ongoing.cost_usd = report.cost_usd
            ongoing.partial = bool(report.stopped) or any(status != "ok" for status in report.outputs)
    finally:
        if drawing is not None:
            drawing.cancel()
            await asyncio.wait([drawing])
        if sheet is not None:
            sheet.draw(report, ended=True)
    report.seconds = time.monotonic() - started
    return report


async def _edit_turns(
    workspace: Workspace,
    items: Sequence[Item],
    editors: Sequence[Editor],
    settings: EditSettings,
    report: EditReport,
    ongoing: Ongoing,
    sheet: ContactSheet | None,
    progress: Progress | None,
) -> None:
    """Open the editors; make one turn after the other."""
    planned = 0
    async with AsyncExitStack() as stack:
        for editor in {id(editor): editor for editor in editors}.values():
            await stack.enter_async_context(editor.traits.opened())
        for turn in range(max((len(item.turns) for item in items), default=0)):
            known = StoredOutputs(workspace)
            work = list(missing(items, editors, settings, turn, known, report))
            planned += len(work)
            ongoing.plan(planned)
            stage = "edits" if turn == 0 else f"edits, turn {turn + 1}"
            run = _Run(workspace, settings, report, ongoing.run_id, sheet)
            plan = RunPlan(
                work, run.do, _failed, run.write, total=len(work), stage=stage, concurrency=settings.concurrency
            )
            report.stopped = (await run_async(plan, progress=progress)).stopped
            if report.stopped:
                break


@dataclass(frozen=True)
class _Made:
    """An edit that was tried: what the editor said, its picture if that is one, and what was measured on it."""

    work: EditWork
    result: EditResult
    evidence: tuple[Evidence, ...] = ()
    info: ImageRef | None = None
    stored: bool = False


def _failed(work: EditWork, error: Exception) -> _Made:
    editor = work.editor
    told = editor.raised(error) if isinstance(editor, FunctionEditor) else f"{type(error).__name__}: {error}"
    return _Made(work, EditResult(Status.API_ERROR, error=told))


@dataclass
class _Run:
    """Doing and writing the edits of one turn."""

    workspace: Workspace
    settings: EditSettings
    report: EditReport
    run_id: str
    sheet: ContactSheet | None
    waiting: list[_Made] = field(default_factory=list)
    storing: asyncio.Lock = field(default_factory=asyncio.Lock)

    async def do(self, work: EditWork) -> _Made:
        """Make one edit and store it before another one begins: a killed run loses only what was under way."""
        made = await self._made(work)
        self.waiting.append(made)
        async with self.storing:
            batch, self.waiting = self.waiting, []
            if batch:  # all that came while the last batch was written goes into one transaction
                await asyncio.shield(asyncio.to_thread(self._store, batch))
        return replace(made, stored=True)

    async def _made(self, work: EditWork) -> _Made:
        """Ask the editor; look at what came back in a thread."""
        request = await asyncio.to_thread(self._request, work)
        started = time.perf_counter()
        result = await self._asked(work, request)
        if result.latency_s is None:
            result = replace(result, latency_s=time.perf_counter() - started)
        if result.status is not Status.OK:
            return _Made(work, result)
        return await asyncio.to_thread(self._looked_at, work, request, result)

    async def _asked(self, work: EditWork, request: EditRequest) -> EditResult:
        """Ask the editor; one of many steps keeps each of them, and goes on where an earlier run broke off."""
        resumable = work.editor.traits.resumable
        if resumable is None:
            return await work.editor.edit(request)
        journal = StepJournal.of(self.workspace, work)
        try:
            return await resumable.go_on(request, journal)
        finally:
            self.report.cost_usd += journal.paid_usd

    def _request(self, work: EditWork) -> EditRequest:
        request = request_of(self.workspace, work.item, work.turn, work.mode, work.parent, work.seed)
        if work.editor.traits.needs_key:
            named = named_in_folder(work.item, work.mode, work.turn)
            request = replace(request, params={**request.params, **named})
        if self.settings.wrap and work.editor.traits.wrappable:
            from imarena.editors import wrapped

            request = replace(request, instruction=wrapped(request))
        return request

    def _looked_at(self, work: EditWork, request: EditRequest, result: EditResult) -> _Made:
        """Check and store the pixels, at their native resolution, as they came."""
        if result.image is None:
            why = result.error or "the editor said ok and returned no image"
            return _Made(work, replace(result, status=Status.MISSING_OUTPUT, error=why))
        try:
            info = check_image(result.image)
            self.workspace.blobs.put(result.image)
        except InvalidImage as error:
            start = result.image[:60].decode("utf-8", "replace").strip()
            told = str(error).splitlines()[0]
            if start[:1] in "<{" and start:
                told += f"; it begins with {start!r}: the address may be wrong"
            return _Made(work, replace(result, status=Status.INVALID_IMAGE, image=None, error=told))
        reference = ImageRef(
            sha256=sha256_hex(result.image), size_bytes=len(result.image), media_type=info.media_type,
            width=info.width, height=info.height,
        )  # fmt: skip
        evidence = _measured(work, request, result.image, reference) if self.settings.checks else ()
        return _Made(work, replace(result, image=None), evidence, reference)

    def write(self, batch: list[_Made]) -> None:
        """Store what is not stored yet: edits whose editor raised."""
        lacking = [made for made in batch if not made.stored]
        if lacking:
            self._store(lacking)

    def _store(self, batch: list[_Made]) -> None:
        """Store a batch: pictures, outputs, traces, evidence, in one transaction after the pictures."""
        records: list[Record] = []
        images: list[ImageRef] = []
        for made in batch:
            output = self._output(made)
            records += [output, *made.evidence]
            if made.info:
                images.append(made.info)
            if made.result.steps:
                records.append(Trace(output_id=output.output_id, steps=made.result.steps))
            self._count(made, output)
        self.workspace.store.keep_images(images)
        conflicts = self.workspace.store.add(records).conflicts
        if conflicts:
            self.report.outputs["conflict"] += len(conflicts)
        if self.sheet is not None:
            self.sheet.changed()

    def _output(self, made: _Made) -> Output:
        work, result = made.work, made.result
        params: JsonDict = dict(work.editor.params)
        if self.settings.wrap and work.editor.traits.wrappable:
            params["wrap"] = "1"
        if result.status is Status.OK and made.info is None:
            raise StoreError("an ok edit was not looked at")
        return Output(
            item_id=work.item.item_id,
            editor=work.editor.name,
            editor_version=work.editor.version,
            turn=work.turn,
            mode=work.mode,
            sample=work.sample,
            parent_id=work.parent.output_id if work.parent else None,
            params=params,
            seed=work.seed,
            attempt=work.attempt,
            status=result.status,
            image=made.info,
            error=result.error,
            latency_s=result.latency_s,
            cost_usd=result.cost_usd,
            run_id=self.run_id,
        )

    def _count(self, made: _Made, output: Output) -> None:
        name, status = made.work.editor.name, output.status.value
        self.report.outputs[status] += 1
        self.report.by_editor.setdefault(name, Counter())[status] += 1
        if made.work.editor.traits.resumable is None:  # else its steps were counted as they were paid
            self.report.cost_usd += made.result.cost_usd or 0.0
        if output.error:
            self.report.errors.setdefault(f"{name}: {status}", output.error)
        flags = {flag for found in made.evidence for flag in _flags(found)}
        if flags:
            self.report.flags.setdefault(name, Counter()).update(flags)


def _flags(found: Evidence) -> list[str]:
    flags = found.value.get("flags") if isinstance(found.value, dict) else None
    return [str(flag) for flag in flags] if isinstance(flags, list) else []


def _measured(work: EditWork, request: EditRequest, image: bytes, output: ImageRef) -> tuple[Evidence, ...]:
    """Failure modes against the first source and against each reference."""
    from imarena.editors import failure_modes as modes

    found: list[tuple[bytes, str, JsonDict]] = []
    if request.sources:
        words = instruction_of(work.item, work.turn, work.mode)
        found.append((request.sources[0], "edit", modes.against_source(image, request.sources[0], words)))
    found += [(data, "reference", modes.against_reference(image, data)) for data in request.references]
    return tuple(
        Evidence(
            image_sha256=output.sha256, against_sha256=sha256_hex(data), tool=modes.TOOL, tool_version=modes.VERSION,
            kind=f"failure_modes.{kind}", params=modes.THRESHOLDS, value=value,
        )
        for data, kind, value in found
    )  # fmt: skip
