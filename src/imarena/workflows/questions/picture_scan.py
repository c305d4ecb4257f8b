"""scan: run a tool once on every output and source. Results are stored as evidence, so a scan resumes where it stopped:
an image that this version of the tool has answered is skipped.
"""

import asyncio
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from imarena.core import ImarenaError, Progress, UserError, command_line, content_id
from imarena.core.records import Evidence, Item, JsonDict, Output, Status
from imarena.engine import WorkerDied, WorkerTask
from imarena.storage import Workspace, withdrawn_images
from imarena.vision import PictureTool, find_picture_tool
from imarena.workflows.questions.executor_choice import executor_for
from imarena.workflows.questions.loop import Questions, RunOptions, ask
from imarena.workflows.questions.past_attempts import PastAttempts
from imarena.workflows.questions.shared_work import SharedWork
from imarena.workflows.wiring import record_run


@dataclass(frozen=True)
class ScanReport:
    """The result of a scan."""

    planned: int
    tool: str = "words"
    read: Counter[str] = field(default_factory=Counter)
    done_before: int = 0
    flagged: int = 0
    seconds: float = 0.0
    stopped: str = ""
    errors: Counter[str] = field(default_factory=Counter)

    @property
    def missing(self) -> int:
        """Number of images not scanned yet."""
        return self.planned - self.read[Status.OK.value]

    def to_json(self) -> dict[str, Any]:
        """For ``--json``."""
        return {**self.__dict__, "read": dict(self.read), "errors": dict(self.errors), "missing": self.missing}


def pictures_to_scan(workspace: Workspace) -> dict[str, None]:
    """Return the hashes of all outputs and sources, each once."""
    hashes: dict[str, None] = {}
    for row in workspace.store.rows(Output, status=Status.OK.value):
        if row["image_sha256"]:
            hashes[row["image_sha256"]] = None
    for item in workspace.store.records(Item):
        hashes |= dict.fromkeys(image.sha256 for image in item.sources)
    withdrawn = withdrawn_images(workspace)
    return {sha256: None for sha256 in hashes if sha256 not in withdrawn}


def scan_with_tool(
    workspace: Workspace,
    tool_name: str,
    *,
    executor: str = "",
    progress: Progress | None = None,
    finish: Callable[[Workspace], int] | None = None,
) -> ScanReport:
    """Run a tool on every image that has no result. Ctrl-C stops it cleanly; results so far are kept.

    `finish` then runs over the stored results and returns how many images it flagged.
    """
    tool = find_picture_tool(tool_name)
    run_options = RunOptions(
        executor_for(workspace.settings, executor, None), computes=True, gpus=tool.gpus, progress=progress
    )
    past = _earlier(workspace, tool)
    images = pictures_to_scan(workspace)
    if not images:
        raise UserError(
            "There are no images to read.", hint=f"Import items or outputs, or run `{command_line('edit')}`."
        )
    work = [sha256 for sha256 in images if sha256 not in past.done]
    report = ScanReport(len(work), tool.name, done_before=len(images) - len(work))
    noting: JsonDict = {"reader": tool.tool, "version": tool.version()}
    with record_run(workspace, "scan", noting) as ongoing:
        ongoing.plan(report.planned)
        try:
            elsewhere: list[str] = []
            tally = asyncio.run(ask(_questions(workspace, tool, work, past, report, elsewhere), run_options))
            if elsewhere:
                answered = len(_earlier(workspace, tool).done & set(elsewhere))
                report = replace(report, planned=report.planned - answered, done_before=report.done_before + answered)
            flagged = finish(workspace) if finish is not None else 0
            report = replace(report, stopped=tally.stopped, seconds=tally.seconds, flagged=flagged)
        finally:
            ongoing.counts = {**report.read, **({"flagged": report.flagged} if finish is not None else {})}
            ongoing.partial = report.missing > 0
            if report.missing:
                ongoing.counts["missing"] = report.missing
    return report


def _earlier(workspace: Workspace, tool: PictureTool, **where: Any) -> PastAttempts:
    """Return the images that this version of the tool has answered, and the number of the next attempt for each."""
    past, version = PastAttempts(), f'"tool_version":"{tool.version()}"'
    for row in workspace.store.rows(Evidence, kind=tool.kind, tool=tool.tool, **where):
        if version not in row["body"]:
            continue
        past.attempts[row["image_sha256"]] = past.attempts.get(row["image_sha256"], 0) + 1
        if row["status"] == Status.OK.value:
            past.done.add(row["image_sha256"])
    return past


@dataclass(frozen=True)
class PictureAnswer:
    """A tool's result for an image, or the status that explains why there is none."""

    status: Status
    value: JsonDict | None = None
    error: str = ""


@dataclass(frozen=True)
class LookAtPicture:
    """Runs a tool on the bytes of an image. It is pickled by the tool's name."""

    tool_name: str

    async def __call__(self, data: bytes) -> PictureAnswer:
        """Return the answer; a file that is no longer a readable image gives a status."""
        from imarena.images import pixels

        try:
            image = pixels(data)
        except ImarenaError as error:  # `verify` names the file
            return PictureAnswer(Status.INVALID_IMAGE, error=str(error))
        return PictureAnswer(Status.OK, find_picture_tool(self.tool_name).look(image))


def _failed_answer(_: object, error: Exception) -> PictureAnswer:
    if isinstance(error, ImarenaError):
        return PictureAnswer(Status.INVALID_IMAGE, error=str(error))
    status = Status.API_ERROR if isinstance(error, WorkerDied) else Status.INVALID_IMAGE
    return PictureAnswer(status, error=f"{type(error).__name__}: {error}")


def _questions(
    workspace: Workspace,
    tool: PictureTool,
    work: Sequence[str],
    past: PastAttempts,
    report: ScanReport,
    elsewhere: list[str],
) -> Questions[str, bytes, PictureAnswer]:
    version = tool.version()

    def on_answer(_: str, answer: PictureAnswer) -> PictureAnswer:
        report.read[answer.status.value] += 1
        if answer.error:
            report.errors[answer.error[:300]] += 1
        return answer

    def evidence(sha256: str, answer: PictureAnswer) -> Evidence:
        attempt = past.attempts.get(sha256, 0)
        return Evidence(
            image_sha256=sha256, tool=tool.tool, tool_version=version, kind=tool.kind, status=answer.status,
            error=answer.error, params={"attempt": attempt} if attempt else {}, value=answer.value,
        )  # fmt: skip

    def write(batch: list[tuple[str, PictureAnswer]]) -> None:
        workspace.store.add([evidence(sha256, answer) for sha256, answer in batch])

    def key(sha256: str) -> str:
        return content_id("work", "scan", tool.tool, version, sha256)

    def asked_elsewhere(hashes: Sequence[str]) -> set[str]:
        planned = {sha256: past.attempts.get(sha256, 0) for sha256 in hashes}
        return {key(sha256) for sha256 in _earlier(workspace, tool, image_sha256=list(hashes)).since(planned)}

    return Questions(
        work, workspace.blobs.get, WorkerTask(LookAtPicture(tool.name), _failed_answer), _failed_answer, on_answer,
        write, shared=SharedWork(workspace.claims(), key, asked_elsewhere, elsewhere.append), stage="images read",
    )  # fmt: skip
