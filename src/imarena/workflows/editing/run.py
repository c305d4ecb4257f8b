"""edit: run editors over items, one turn after the other; resume does only what is missing."""

import asyncio
import time
from collections import Counter
from collections.abc import Sequence
from contextlib import AsyncExitStack, ExitStack
from dataclasses import dataclass, field, replace

from imarena.core import Editor, ImarenaError, InvalidImage, Progress, StoreError
from imarena.core.records import Evidence, ImageRef, Item, JsonDict, Output, Record, Status, Trace
from imarena.engine import WorkerTask
from imarena.storage import Workspace
from imarena.workflows.editing.agent_journal import StepJournal
from imarena.workflows.editing.answer import AskEditor, EditMade, EditOrder, failed_edit, no_picture
from imarena.workflows.editing.contact_sheet import ContactSheet
from imarena.workflows.editing.plan import (
    EditReport,
    EditSettings,
    EditWork,
    StoredOutputs,
    missing_edits,
    named_in_folder,
)
from imarena.workflows.questions import Questions, Terms, ask, computes
from imarena.workflows.views import instruction_of, request_of
from imarena.workflows.wiring import OngoingRun, exclusive_run, record_run

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
            held.enter_context(exclusive_run(workspace, "edit", name))
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
        with record_run(workspace, "edit", settings.noted(len(items), editors)) as ongoing:
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
    ongoing: OngoingRun,
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
            work = list(missing_edits(items, editors, settings, turn, known, report))
            planned += len(work)
            ongoing.plan(planned)
            run = _Run(workspace, tuple(editors), settings, report, ongoing.run_id, sheet)
            report.stopped = await run.make(work, turn, progress)
            if report.stopped:
                break


@dataclass
class _Run:
    """Doing and writing the edits of one turn."""

    workspace: Workspace
    editors: tuple[Editor, ...]
    settings: EditSettings
    report: EditReport
    run_id: str
    sheet: ContactSheet | None
    journals: dict[int, StepJournal] = field(default_factory=dict)
    """Of the edits under way, by the identity of the work."""

    async def make(self, work: Sequence[EditWork], turn: int, progress: Progress | None) -> str:
        """Make the edits; returns why it stopped. Each is stored at once: a kill loses only those under way."""
        asking = AskEditor(self.editors)
        questions = Questions(
            work, self._order, WorkerTask(asking, asking.failed), self._unshown, self._count, self._store,
            keep=self._keep, stage="edits" if turn == 0 else f"edits, turn {turn + 1}", flush_s=0.0,
        )  # fmt: skip
        terms = Terms(
            self.settings.executor, self.settings.concurrency, computes(*self.editors), progress=progress
        )  # fmt: skip
        try:
            return (await ask(questions, terms)).stopped
        finally:
            self.report.cost_usd += sum(journal.paid_usd for journal in self.journals.values())

    def _order(self, work: EditWork) -> EditOrder:
        request = request_of(self.workspace, work.item, work.turn, work.mode, work.parent, work.seed)
        if work.editor.traits.needs_key:
            named = named_in_folder(work.item, work.mode, work.turn)
            request = replace(request, params={**request.params, **named})
        if self.settings.wrap and work.editor.traits.wrappable:
            from imarena.editors import wrap_instruction

            request = replace(request, instruction=wrap_instruction(request))
        journal = None
        if work.editor.traits.resumable is not None:
            journal = self.journals[id(work)] = StepJournal.of(self.workspace, work)
        words = instruction_of(work.item, work.turn, work.mode)
        place = next(n for n, editor in enumerate(self.editors) if editor is work.editor)
        return EditOrder(place, request, words, self.settings.checks, journal)

    def _unshown(self, work: EditWork, error: Exception) -> EditMade:
        if isinstance(error, ImarenaError):
            raise error
        return failed_edit(work.editor, error)

    def _keep(self, _: EditWork, made: EditMade) -> EditMade:
        """The pixels first, then the rows that name them."""
        if made.result.image is None:
            return made
        try:
            self.workspace.blobs.put(made.result.image)
        except InvalidImage as error:
            return EditMade(no_picture(made.result, error))
        return replace(made, result=replace(made.result, image=None))

    def _store(self, batch: list[tuple[EditWork, EditMade]]) -> None:
        """Store a batch: outputs, traces, evidence, in one transaction after the pictures."""
        records: list[Record] = []
        images: list[ImageRef] = []
        for work, made in batch:
            output = self._output(work, made)
            records += [output, *made.evidence]
            if made.info:
                images.append(made.info)
            if made.result.steps:
                records.append(Trace(output_id=output.output_id, steps=made.result.steps))
        self.workspace.store.keep_images(images)
        conflicts = self.workspace.store.add(records).conflicts
        if conflicts:
            self.report.outputs["conflict"] += len(conflicts)
        if self.sheet is not None:
            self.sheet.changed()

    def _output(self, work: EditWork, made: EditMade) -> Output:
        result = made.result
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

    def _count(self, work: EditWork, made: EditMade) -> EditMade:
        name, status = work.editor.name, made.result.status.value
        self.report.outputs[status] += 1
        self.report.by_editor.setdefault(name, Counter())[status] += 1
        journal = self.journals.pop(id(work), None)
        self.report.cost_usd += journal.paid_usd if journal is not None else made.result.cost_usd or 0.0
        if made.result.error:
            self.report.errors.setdefault(f"{name}: {status}", made.result.error)
        flags = {flag for found in made.evidence for flag in _flags(found)}
        if flags:
            self.report.flags.setdefault(name, Counter()).update(flags)
        return made


def _flags(found: Evidence) -> list[str]:
    flags = found.value.get("flags") if isinstance(found.value, dict) else None
    return [str(flag) for flag in flags] if isinstance(flags, list) else []
