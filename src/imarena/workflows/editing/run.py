"""edit: run editors on items, one turn after the other; a resumed run makes only missing outputs."""

import asyncio
import time
from collections import Counter
from collections.abc import Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass, field, replace

from imarena.clients import CostLimitReached
from imarena.core import Editor, ImarenaError, InvalidImage, Progress, StoreError
from imarena.core.records import Evidence, ImageRef, Item, JsonDict, Mode, Output, Record, Status, Trace
from imarena.engine import WorkerTask
from imarena.storage import Workspace
from imarena.workflows.editing.agent_journal import StepJournal
from imarena.workflows.editing.answer import AskEditor, EditMade, EditOrder, failed_edit, no_picture
from imarena.workflows.editing.contact_sheet import ContactSheet
from imarena.workflows.editing.plan import (
    EditReport,
    EditSettings,
    EditTally,
    EditWork,
    StoredOutputs,
    edit_key,
    missing_edits,
    named_in_folder,
)
from imarena.workflows.questions import ImageLoader, Questions, RunOptions, SharedWork, ask, computes
from imarena.workflows.views import instruction_of, request_of
from imarena.workflows.wiring import OngoingRun, record_run

__all__ = ["EditReport", "EditSettings", "EditWork", "edit_items"]


def edit_items(
    workspace: Workspace,
    items: Sequence[Item],
    editors: Sequence[Editor],
    settings: EditSettings | None = None,
    *,
    progress: Progress | None = None,
) -> EditReport:
    """Make every missing output. A failure is stored with its status and retried by the next run."""
    return asyncio.run(_edit_all(workspace, items, editors, settings or EditSettings(), progress))


async def _edit_all(
    workspace: Workspace,
    items: Sequence[Item],
    editors: Sequence[Editor],
    settings: EditSettings,
    progress: Progress | None,
) -> EditReport:
    tally = EditTally()
    started = time.monotonic()
    sheet = ContactSheet(workspace, items, editors) if settings.sheet else None
    drawing: asyncio.Task[None] | None = None
    if sheet is not None:
        sheet.draw(tally)  # the page exists from the start: its path was printed before
        drawing = asyncio.create_task(sheet.keep_drawing(tally))
    try:
        with record_run(workspace, "edit", settings.run_settings(len(items), editors)) as ongoing:
            await _edit_turns(workspace, items, editors, settings, tally, ongoing, sheet, progress)
            ongoing.counts = dict(tally.outputs)
            ongoing.cost_usd = tally.cost_usd
            ongoing.partial = bool(tally.stopped) or any(status != "ok" for status in tally.outputs)
    finally:
        if drawing is not None:
            drawing.cancel()
            await asyncio.wait([drawing])
        if sheet is not None:
            sheet.draw(tally, ended=True)
    counts = {**vars(tally), "failures": tally.failures.causes()}
    return EditReport(**counts, seconds=time.monotonic() - started)


async def _edit_turns(
    workspace: Workspace,
    items: Sequence[Item],
    editors: Sequence[Editor],
    settings: EditSettings,
    tally: EditTally,
    ongoing: OngoingRun,
    sheet: ContactSheet | None,
    progress: Progress | None,
) -> None:
    """Open the editors; make the edits turn by turn."""
    planned = 0
    async with AsyncExitStack() as stack:
        ask_editor = AskEditor(tuple(editors))
        if settings.executor != "ray":  # there each worker opens them
            await stack.enter_async_context(ask_editor.opened())
        for turn in range(max((len(item.turns) for item in items), default=0)):
            work = list(missing_edits(items, editors, settings, turn, StoredOutputs(workspace), tally))
            planned += len(work)
            ongoing.plan(planned)
            run = _Run(workspace, ask_editor, settings, tally, ongoing.run_id, sheet, ImageLoader(workspace))
            tally.stopped = await run.make(work, turn, progress)
            if tally.stopped:
                break


@dataclass
class _Run:
    """Makes and writes the edits of one turn."""

    workspace: Workspace
    ask_editor: AskEditor
    settings: EditSettings
    tally: EditTally
    run_id: str
    sheet: ContactSheet | None
    images: ImageLoader
    journals: dict[int, StepJournal] = field(default_factory=dict)
    """Journals of the edits in progress, by the `id` of the work."""
    under_way: int = 0
    highest_cost_usd: float = 0.0
    """The highest cost reported for one edit of this run."""

    async def make(self, work: Sequence[EditWork], turn: int, progress: Progress | None) -> str:
        """Make the edits; return why it stopped. Each is stored at once: a kill loses only those in progress."""
        task = WorkerTask(self.ask_editor, self.ask_editor.failed)
        questions = Questions(
            work, self._order, task, self._failed_edit, self._count, self._store,
            store_blobs=self._store_blobs,
            shared=SharedWork(self.workspace.claims(), edit_key, self._asked_since, self._leave),
            images=self.images, stage="edits" if turn == 0 else f"edits, turn {turn + 1}", flush_s=0.0,
        )  # fmt: skip
        editors = self.ask_editor.editors
        run_options = RunOptions(
            self.settings.executor, self.settings.concurrency, computes(*editors),
            self.ask_editor.opened if self.settings.executor == "ray" else None,
            gpus=max((editor.traits.gpus for editor in editors), default=0.0), progress=progress,
        )  # fmt: skip
        try:
            return (await ask(questions, run_options)).stopped
        finally:
            self.tally.cost_usd += sum(journal.paid_usd for journal in self.journals.values())

    def _asked_since(self, work: Sequence[EditWork]) -> set[str]:
        """Return the edits that another process tried after they were planned."""
        stored = StoredOutputs(self.workspace, item_id=sorted({edit.item.item_id for edit in work}))
        return {edit_key(edit) for edit in work if stored.attempts[edit.slot] > edit.attempt}

    def _leave(self, work: EditWork) -> None:
        """Count an edit that another process made or tried meanwhile."""
        stored = StoredOutputs(self.workspace, item_id=work.item.item_id)
        if work.slot in stored.ok:
            self.tally.done_before += 1
        else:
            self.tally.failed_elsewhere += 1

    def _check_limit(self) -> None:
        """Raise if one more edit, as expensive as the most expensive so far, could exceed the cost limit."""
        limit = self.settings.max_cost_usd
        if limit is None or not self.highest_cost_usd:
            return
        if self.tally.cost_usd + (self.under_way + 1) * self.highest_cost_usd > limit:
            raise CostLimitReached(
                f"The cost limit of {limit:.4f} USD is reached: {self.tally.cost_usd:.4f} spent, {self.under_way} edits"
                f" under way, and an edit may cost {self.highest_cost_usd:.4f}.",
                hint="Raise --max-cost-usd and run the same command again: finished work is not paid for twice.",
            )

    def _order(self, work: EditWork) -> EditOrder:
        self._check_limit()
        self.under_way += 1
        request = request_of(
            self.images, work.item, work.turn, work.mode, work.parent, work.seed, self.settings.connector,
            work.history,
        )  # fmt: skip
        if work.editor.traits.needs_key:
            values = named_in_folder(work.item, work.mode, work.turn)
            request = replace(request, params={**request.params, **values})
        if self.settings.wrap and work.editor.traits.wrappable:
            from imarena.editors import wrap_instruction

            request = replace(request, instruction=wrap_instruction(request))
        journal = None
        if work.editor.traits.resumable is not None:
            journal = self.journals[id(work)] = StepJournal.of(self.workspace, work)
        instruction = instruction_of(work.item, work.turn, work.mode, self.settings.connector)
        editor_index = next(n for n, editor in enumerate(self.ask_editor.editors) if editor is work.editor)
        return EditOrder(editor_index, request, instruction, self.settings.checks, journal)

    def _failed_edit(self, work: EditWork, error: Exception) -> EditMade:
        if isinstance(error, ImarenaError):
            raise error
        return failed_edit(work.editor, error)

    def _store_blobs(self, _: EditWork, edit: EditMade) -> EditMade:
        """Store the pixels before the rows that refer to them."""
        if edit.result.image is None:
            return edit
        try:
            self.workspace.blobs.put(edit.result.image)
        except InvalidImage as error:
            return EditMade(no_picture(edit.result, error))
        return replace(edit, result=replace(edit.result, image=None))

    def _store(self, batch: list[tuple[EditWork, EditMade]]) -> None:
        """Store a batch: images first, then outputs, traces and evidence in one transaction."""
        records: list[Record] = []
        images: list[ImageRef] = []
        for work, edit in batch:
            output = self._output(work, edit)
            records += [output, *edit.evidence]
            if edit.info:
                images.append(edit.info)
            if edit.result.steps:
                records.append(Trace(output_id=output.output_id, steps=edit.result.steps))
        self.workspace.store.keep_images(images)
        conflicts = self.workspace.store.add(records).conflicts
        if conflicts:
            self.tally.outputs["conflict"] += len(conflicts)
        if self.sheet is not None:
            self.sheet.changed()

    def _output(self, work: EditWork, edit: EditMade) -> Output:
        result = edit.result
        params: JsonDict = dict(work.editor.params)
        if self.settings.wrap and work.editor.traits.wrappable:
            params["wrap"] = "1"
        if work.mode is Mode.COMPLEX and self.settings.connector != "concatenate":
            params["connector"] = self.settings.connector
        if result.status is Status.OK and edit.info is None:
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
            image=edit.info,
            error=result.error,
            latency_s=result.latency_s,
            cost_usd=result.cost_usd,
            run_id=self.run_id,
        )

    def _count(self, work: EditWork, edit: EditMade) -> EditMade:
        name, status = work.editor.name, edit.result.status.value
        self.tally.outputs[status] += 1
        self.tally.by_editor.setdefault(name, Counter())[status] += 1
        journal = self.journals.pop(id(work), None)
        cost = journal.paid_usd if journal is not None else edit.result.cost_usd or 0.0
        self.tally.cost_usd += cost
        self.under_way = max(0, self.under_way - 1)
        self.highest_cost_usd = max(self.highest_cost_usd, cost)
        if edit.result.error:
            self.tally.errors.setdefault(f"{name}: {status}", edit.result.error)
            self.tally.failures.add(f"{name}, {status}: {edit.result.error}", work.item.key)
        flags = {flag for evidence in edit.evidence for flag in _flags(evidence)}
        if flags:
            self.tally.flags.setdefault(name, Counter()).update(flags)
        return edit


def _flags(evidence: Evidence) -> list[str]:
    flags = evidence.value.get("flags") if isinstance(evidence.value, dict) else None
    return [str(flag) for flag in flags] if isinstance(flags, list) else []
