"""scan: read the words in every output and source once, and flag those that speak to a judge, whatever the judge.

The words of a picture are stored as evidence, so that reading goes on where it stopped; the flags are made from the
stored words, so that a new list of tell-tale words costs no second reading.
"""

import asyncio
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from importlib.metadata import version
from typing import Any

from imarena.core import ImarenaError, Progress, UserError
from imarena.core.records import Evidence, Item, JsonDict, Output, Status
from imarena.engine import WorkerDied, WorkerTask
from imarena.storage import Workspace, withdrawn_images
from imarena.workflows.questions.executor_choice import executor_for
from imarena.workflows.questions.loop import Questions, Terms, ask
from imarena.workflows.questions.past_attempts import PastAttempts
from imarena.workflows.wiring import record_run

TEXT = "text"
FLAG = "injected_text"
READER = "rapidocr"
FLAGGER = "injection-words"


@dataclass
class ScanReport:
    """What a scan did."""

    planned: int = 0
    read: Counter[str] = field(default_factory=Counter)
    done_before: int = 0
    flagged: int = 0
    seconds: float = 0.0
    stopped: str = ""
    errors: Counter[str] = field(default_factory=Counter)

    @property
    def missing(self) -> int:
        """Pictures that are not read yet."""
        return self.planned - self.read[Status.OK.value]

    def to_json(self) -> dict[str, Any]:
        """For ``--json``."""
        return {**self.__dict__, "read": dict(self.read), "errors": dict(self.errors), "missing": self.missing}


def pictures_to_scan(workspace: Workspace) -> dict[str, None]:
    """The hashes of all outputs and sources, each once."""
    found: dict[str, None] = {}
    for row in workspace.store.rows(Output, status=Status.OK.value):
        if row["image_sha256"]:
            found[row["image_sha256"]] = None
    for item in workspace.store.records(Item):
        found |= dict.fromkeys(image.sha256 for image in item.sources)
    gone = withdrawn_images(workspace)
    return {sha256: None for sha256 in found if sha256 not in gone}


def scan_images(workspace: Workspace, *, executor: str = "", progress: Progress | None = None) -> ScanReport:
    """Read every picture that was not read yet, then flag. Ctrl-C stops cleanly; what was read is kept."""
    report = ScanReport()
    past = _earlier(workspace)
    wanted = pictures_to_scan(workspace)
    if not wanted:
        raise UserError("There are no pictures to read.", hint="Import items or outputs, or run `imarena edit`.")
    terms = Terms(executor_for(workspace.settings, executor, None), computes=True, progress=progress)
    work = [sha256 for sha256 in wanted if sha256 not in past.done]
    report.planned, report.done_before = len(work), len(wanted) - len(work)
    noting: JsonDict = {"reader": READER, "version": _reader_version()}
    with record_run(workspace, "scan", noting) as ongoing:
        ongoing.plan(report.planned)
        try:
            tally = asyncio.run(ask(_questions(workspace, work, past, report), terms))
            report.stopped, report.seconds = tally.stopped, tally.seconds
            report.flagged = flag_texts(workspace)
        finally:
            ongoing.counts = {**report.read, "flagged": report.flagged}
            ongoing.partial = report.missing > 0
            if report.missing:
                ongoing.counts["missing"] = report.missing
    return report


def _earlier(workspace: Workspace) -> PastAttempts:
    """Pictures that this reader read, and the number of the next attempt at each."""
    found = PastAttempts()
    for row in workspace.store.rows(Evidence, kind=TEXT, tool=READER):
        if f'"{_reader_version()}"' not in row["body"]:
            continue
        found.attempts[row["image_sha256"]] = found.attempts.get(row["image_sha256"], 0) + 1
        if row["status"] == Status.OK.value:
            found.done.add(row["image_sha256"])
    return found


def _reader_version() -> str:
    return version(READER)


@dataclass(frozen=True)
class Read:
    """The words of a picture: each line's text, confidence and box; or the status that says why there are none."""

    status: Status
    lines: list[Any] = field(default_factory=list)
    error: str = ""


def _questions(
    workspace: Workspace, work: Sequence[str], past: PastAttempts, report: ScanReport
) -> Questions[str, bytes, Read]:
    def settle(_: str, read: Read) -> Read:
        report.read[read.status.value] += 1
        if read.error:
            report.errors[read.error[:300]] += 1
        return read

    def evidence(sha256: str, read: Read) -> Evidence:
        attempt = past.attempts.get(sha256, 0)
        return Evidence(
            image_sha256=sha256, tool=READER, tool_version=_reader_version(), kind=TEXT, status=read.status,
            error=read.error, params={"attempt": attempt} if attempt else {},
            value={"lines": read.lines} if read.status is Status.OK else None,
        )  # fmt: skip

    def write(batch: list[tuple[str, Read]]) -> None:
        workspace.store.add([evidence(*one) for one in batch])

    return Questions(
        work, workspace.blobs.get, WorkerTask(_read, _unread), _unread, settle, write, stage="pictures read"
    )  # fmt: skip


async def _read(data: bytes) -> Read:
    """The words of a picture, as the built-in judge reads them."""
    from imarena.images import decode
    from imarena.vision import read_lines

    try:
        lines = read_lines(decode(data))
    except ImarenaError as error:  # its file is no picture any more: `verify` tells
        return Read(Status.INVALID_IMAGE, error=str(error))
    return Read(
        Status.OK, [[line.text, round(line.confidence, 3), [round(end, 4) for end in line.box]] for line in lines]
    )


def _unread(_: object, error: Exception) -> Read:
    if isinstance(error, ImarenaError):
        return Read(Status.INVALID_IMAGE, error=str(error))
    status = Status.API_ERROR if isinstance(error, WorkerDied) else Status.INVALID_IMAGE
    return Read(status, error=f"{type(error).__name__}: {error}")


# ---------------------------------------------------------------- flags


def flag_texts(workspace: Workspace) -> int:
    """Flag stored words that speak to a judge; returns how many pictures hold some."""
    from imarena.vision import TextLine, find_injections, injection_words_version

    flags: list[Evidence] = []
    for evidence in workspace.store.records(Evidence, kind=TEXT, status=Status.OK.value):
        value: Any = evidence.value.get("lines") if isinstance(evidence.value, dict) else None
        lines = [TextLine(text, sure, tuple(box)) for text, sure, box in value] if isinstance(value, list) else []
        found = find_injections(lines)
        if found:
            told: list[Any] = [
                {"kind": one.kind, "text": one.text, "box": [round(end, 4) for end in one.box]} for one in found
            ]
            flags.append(
                Evidence(
                    image_sha256=evidence.image_sha256, tool=FLAGGER, tool_version=injection_words_version(),
                    kind=FLAG, params={"text": evidence.evidence_id}, value={"found": told},
                )
            )  # fmt: skip
    workspace.store.add(flags)
    return len({one.image_sha256 for one in flags})


@dataclass(frozen=True)
class FlaggedText:
    """Words found in a picture that speak to a judge: by which trick, the text, its box as shares of the picture."""

    kind: str
    text: str
    box: tuple[float, float, float, float]


def flags_of(workspace: Workspace, images: Sequence[str] | None = None) -> dict[str, tuple[FlaggedText, ...]]:
    """Picture to the words that speak to a judge, by the present list of them; all pictures without `images`."""
    where: dict[str, Any] = {"image_sha256": list(images)} if images is not None else {}
    found: dict[str, tuple[FlaggedText, ...]] = {}
    if images is not None and not images:
        return found
    for evidence in workspace.store.records(Evidence, kind=FLAG, **where):
        if evidence.tool_version == _words_version():
            found[evidence.image_sha256] = tuple(_read_flags(evidence))
    return found


def _words_version() -> str:
    from imarena.vision import injection_words_version  # only where there is a flag: it loads OpenCV

    return injection_words_version()


def _read_flags(evidence: Evidence) -> Iterator[FlaggedText]:
    told = evidence.value.get("found") if isinstance(evidence.value, dict) else None
    for one in told if isinstance(told, list) else []:
        if isinstance(one, dict):
            box = one.get("box")
            ends = [float(end) for end in box if isinstance(end, int | float)] if isinstance(box, list) else []
            left, top, right, bottom = ends if len(ends) == 4 else (0.0, 0.0, 1.0, 1.0)
            yield FlaggedText(str(one.get("kind")), str(one.get("text")), (left, top, right, bottom))
