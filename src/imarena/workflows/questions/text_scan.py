"""scan: read the text in every output and source once, and flag text that addresses a judge, for any judge.

The words of an image are stored as evidence, so that a scan can resume; flags are computed from the stored words, so
that a new list of suspicious words needs no second scan.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from imarena.core import Progress
from imarena.core.records import Evidence, Status
from imarena.storage import Workspace
from imarena.workflows.questions.picture_scan import ScanReport, scan_with_tool

TEXT = "text"
FLAG = "injected_text"
READER = "rapidocr"
FLAGGER = "injection-words"


def scan_images(workspace: Workspace, *, executor: str = "", progress: Progress | None = None) -> ScanReport:
    """Read every image not yet read, then flag. Ctrl-C stops it cleanly; words read so far are kept."""
    return scan_with_tool(workspace, "words", executor=executor, progress=progress, finish=flag_texts)


# ---------------------------------------------------------------- flags


def flag_texts(workspace: Workspace) -> int:
    """Flag stored text that addresses a judge; return the number of flagged images."""
    from imarena.vision import TextLine, find_injections, injection_words_version

    flags: list[Evidence] = []
    for evidence in workspace.store.records(Evidence, kind=TEXT, status=Status.OK.value):
        value: Any = evidence.value.get("lines") if isinstance(evidence.value, dict) else None
        lines = [TextLine(text, sure, tuple(box)) for text, sure, box in value] if isinstance(value, list) else []
        injections = find_injections(lines)
        if injections:
            flagged: list[Any] = [
                {"kind": injection.kind, "text": injection.text, "box": [round(end, 4) for end in injection.box]}
                for injection in injections
            ]
            flags.append(
                Evidence(
                    image_sha256=evidence.image_sha256, tool=FLAGGER, tool_version=injection_words_version(),
                    kind=FLAG, params={"text": evidence.evidence_id}, value={"found": flagged},
                )
            )  # fmt: skip
    workspace.store.add(flags)
    return len({flag.image_sha256 for flag in flags})


@dataclass(frozen=True)
class FlaggedText:
    """Text in an image that addresses a judge: the trick, the text, its box as fractions of the image."""

    kind: str
    text: str
    box: tuple[float, float, float, float]


def flags_of(workspace: Workspace, images: Sequence[str] | None = None) -> dict[str, tuple[FlaggedText, ...]]:
    """Return flagged text by image, with the current list of words; for all images without `images`."""
    where: dict[str, Any] = {"image_sha256": list(images)} if images is not None else {}
    flags: dict[str, tuple[FlaggedText, ...]] = {}
    if images is not None and not images:
        return flags
    for evidence in workspace.store.records(Evidence, kind=FLAG, **where):
        if evidence.tool_version == _words_version():
            flags[evidence.image_sha256] = tuple(_read_flags(evidence))
    return flags


def _words_version() -> str:
    from imarena.vision import injection_words_version  # only if something is flagged: this import loads OpenCV

    return injection_words_version()


def _read_flags(evidence: Evidence) -> Iterator[FlaggedText]:
    entries = evidence.value.get("found") if isinstance(evidence.value, dict) else None
    for entry in entries if isinstance(entries, list) else []:
        if isinstance(entry, dict):
            box = entry.get("box")
            ends = [float(end) for end in box if isinstance(end, int | float)] if isinstance(box, list) else []
            left, top, right, bottom = ends if len(ends) == 4 else (0.0, 0.0, 1.0, 1.0)
            yield FlaggedText(str(entry.get("kind")), str(entry.get("text")), (left, top, right, bottom))
