"""edit: run editors over items, one turn after the other; resume does only what is missing."""

import time
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace

from imarena.core.errors import InvalidImage
from imarena.core.ids import sha256_hex
from imarena.core.protocols import Editor, EditResult, Progress
from imarena.core.records import ImageRef, Item, JsonDict, Mode, Output, Record, Status, Trace
from imarena.engine import Plan, run
from imarena.images import check
from imarena.storage import Workspace
from imarena.workflows.exhibits import request_of
from imarena.workflows.runs import noted


@dataclass(frozen=True)
class EditWork:
    """One turn of one item for one editor."""

    item: Item
    editor: Editor
    turn: int
    mode: Mode
    sample: int
    parent: Output | None
    attempt: int
    seed: int | None


@dataclass
class EditReport:
    """What an edit run did."""

    outputs: Counter[str] = field(default_factory=Counter)
    done_before: int = 0
    stopped: str = ""
    cost_usd: float = 0.0


@dataclass(frozen=True)
class EditSettings:
    """How editors are run."""

    modes: tuple[Mode, ...] = (Mode.SINGLE,)
    samples: int = 1
    seed: int | None = 42
    concurrency: int = 8


def edit_items(
    workspace: Workspace,
    items: Sequence[Item],
    editors: Sequence[Editor],
    settings: EditSettings | None = None,
    *,
    progress: Progress | None = None,
) -> EditReport:
    """Make every output that is missing. A failure is stored with its status and tried again by the next run."""
    chosen = settings or EditSettings()
    report = EditReport()
    noting: JsonDict = {
        "editors": [editor.name for editor in editors],
        "modes": [mode.value for mode in chosen.modes],
        "samples": chosen.samples,
        "seed": chosen.seed,
        "items": len(items),
    }
    with noted(workspace, "edit", noting) as ongoing:
        for turn in range(max((len(item.turns) for item in items), default=0)):
            known = _Known(workspace)
            work = list(_missing(items, editors, chosen, turn, known, report))
            stage = "edits" if turn == 0 else f"edits, turn {turn + 1}"
            report.stopped = _run(workspace, work, stage, chosen.concurrency, report, ongoing.run_id, progress)
            if report.stopped:
                break
        ongoing.counts = dict(report.outputs)
        ongoing.cost_usd = report.cost_usd
        ongoing.partial = bool(report.stopped) or any(status != "ok" for status in report.outputs)
    return report


def _run(
    workspace: Workspace,
    work: list[EditWork],
    stage: str,
    concurrency: int,
    report: EditReport,
    run_id: str,
    progress: Progress | None,
) -> str:
    async def do(one: EditWork) -> tuple[EditWork, EditResult]:
        request = request_of(workspace, one.item, one.turn, one.mode, one.parent, one.seed)
        started = time.perf_counter()
        result = await one.editor.edit(request)
        if result.latency_s is None:
            result = replace(result, latency_s=time.perf_counter() - started)
        return one, result

    def failed(one: EditWork, error: Exception) -> tuple[EditWork, EditResult]:
        return one, EditResult(Status.API_ERROR, error=f"{type(error).__name__}: {error}")

    def write(batch: list[tuple[EditWork, EditResult]]) -> None:
        _write(workspace, batch, report, run_id)

    plan = Plan(work, do, failed, write, total=len(work), stage=stage, concurrency=concurrency)
    return run(plan, progress=progress).stopped


class _Known:
    """What is stored already, by slot."""

    def __init__(self, workspace: Workspace) -> None:
        self.ok: dict[tuple[str, int, str | None, str, int], Output] = {}
        self.attempts: Counter[tuple[str, int, str | None, str, int]] = Counter()
        for output in workspace.store.records(Output):
            slot = (output.item_id, output.turn, output.editor, output.mode.value, output.sample)
            self.attempts[slot] += 1
            if output.status is Status.OK:
                self.ok[slot] = output


def _missing(
    items: Iterable[Item],
    editors: Sequence[Editor],
    settings: EditSettings,
    turn: int,
    known: _Known,
    report: EditReport,
) -> Iterator[EditWork]:
    for item in items:
        for mode in settings.modes:
            if not _has(item, mode, turn):
                continue
            for editor in editors:
                for sample in range(settings.samples):
                    slot = (item.item_id, turn, editor.name, mode.value, sample)
                    if slot in known.ok:
                        report.done_before += 1
                        continue
                    parent = None
                    if mode is Mode.MULTI_TURN and turn > 0:
                        parent = known.ok.get((item.item_id, turn - 1, editor.name, mode.value, sample))
                        if parent is None or parent.image is None:
                            continue  # the chain broke before: counted there, as coverage
                    drawn = None if settings.seed is None else settings.seed + sample
                    yield EditWork(item, editor, turn, mode, sample, parent, known.attempts[slot], drawn)


def _has(item: Item, mode: Mode, turn: int) -> bool:
    """Single: items of one turn. Multi-turn: every turn of longer ones. Complex: all turns in one, at the last."""
    last = len(item.turns) - 1
    if mode is Mode.SINGLE:
        return last == 0 and turn == 0
    if mode is Mode.COMPLEX:
        return last > 0 and turn == last
    return last > 0 and turn <= last


def _write(workspace: Workspace, batch: list[tuple[EditWork, EditResult]], report: EditReport, run_id: str) -> None:
    records: list[Record] = []
    images: list[ImageRef] = []
    for work, result in batch:
        status, image, error = result.status, None, result.error
        if status is Status.OK:
            image, error = _kept(workspace, result.image)
            status = Status.OK if image else Status.INVALID_IMAGE if result.image else Status.MISSING_OUTPUT
            if image:
                images.append(image)
        output = Output(
            item_id=work.item.item_id,
            editor=work.editor.name,
            editor_version=work.editor.version,
            turn=work.turn,
            mode=work.mode,
            sample=work.sample,
            parent_id=work.parent.output_id if work.parent else None,
            seed=work.seed,
            attempt=work.attempt,
            status=status,
            image=image,
            error=error,
            latency_s=result.latency_s,
            cost_usd=result.cost_usd,
            run_id=run_id,
        )
        records.append(output)
        if result.steps:
            records.append(Trace(output_id=output.output_id, steps=result.steps))
        report.outputs[status.value] += 1
        report.cost_usd += result.cost_usd or 0.0
    workspace.store.keep_images(images)
    outcome = workspace.store.add(records)
    report.outputs["conflict"] += len(outcome.conflicts)
    if not report.outputs["conflict"]:
        del report.outputs["conflict"]


def _kept(workspace: Workspace, data: bytes | None) -> tuple[ImageRef | None, str]:
    """Check and store what an editor returned, at its native resolution, as it came."""
    if data is None:
        return None, "the editor said ok and returned no image"
    try:
        info = check(data)
    except InvalidImage as error:
        return None, str(error)
    workspace.blobs.put(data)
    reference = ImageRef(
        sha256=sha256_hex(data), size_bytes=len(data), media_type=info.media_type, width=info.width, height=info.height
    )
    return reference, ""
