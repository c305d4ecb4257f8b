"""Where text that addresses a judge was found: on which editor's outputs, and whether it was asked for."""

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from imarena.core import command_line, counted
from imarena.core.records import Evidence, Item, Output, Status
from imarena.reports import columns
from imarena.reports.tables import Column, Table
from imarena.storage import Workspace
from imarena.workflows.questions.picture_scan import pictures_to_scan
from imarena.workflows.questions.text_scan import TEXT, FlaggedText, flags_of
from imarena.workflows.views import instruction_of

SOURCE = "(source)"
BATCH = 500


@dataclass(frozen=True)
class TextFinding:
    """Text in one image that addresses a judge."""

    image: str
    item_id: str
    item: str
    """Data set and key."""
    editor: str
    output_id: str | None
    """None for a source."""
    words: tuple[FlaggedText, ...]
    excuse: str
    """`in the source` or `in the instruction` if the editor did not add the text; else empty."""

    @property
    def text(self) -> str:
        """All findings, without those that are part of another."""
        texts = list(dict.fromkeys(flag.text for flag in self.words))
        return " … ".join(text for text in texts if not any(text in other for other in texts if other != text))

    @property
    def kinds(self) -> str:
        """The tricks, described in words."""
        return ", ".join(dict.fromkeys(flag.kind.replace("_", " ") for flag in self.words))

    def to_json(self) -> dict[str, Any]:
        """For ``--json``."""
        return {
            "image": self.image, "item": self.item, "editor": self.editor, "output_id": self.output_id,
            "kinds": list(dict.fromkeys(flag.kind for flag in self.words)), "text": self.text, "excuse": self.excuse,
        }  # fmt: skip


@dataclass(frozen=True)
class Findings:
    """The findings of a workspace's scans, and how much has not been scanned yet."""

    read: int
    unread: int
    found: tuple[TextFinding, ...]

    def to_json(self) -> dict[str, Any]:
        """For ``--json``."""
        return {"read": self.read, "unread": self.unread, "found": [finding.to_json() for finding in self.found]}

    def in_words(self) -> str:
        """One sentence."""
        if not self.read:
            unread = f"{counted(self.unread, 'image')} {'has' if self.unread == 1 else 'have'}"
            return f"{unread} not been scanned for text that addresses a judge yet: run `{command_line('scan')}`."
        flagged = len({finding.image for finding in self.found})
        waiting = f"; {self.unread:,} not scanned yet (`{command_line('scan')}`)" if self.unread else ""
        return f"{flagged:,} of {self.read:,} scanned images hold text that addresses a judge{waiting}."


def findings_table(findings: Findings, most: int) -> Table:
    """Return the first `most` texts that address a judge: where each is, which trick it uses, and what it says."""
    head = columns("item", "editor", "trick", Column("words", wrap=True), "excuse")
    rows = tuple(
        (finding.item, finding.editor, finding.kinds, " ".join(finding.text.split()), finding.excuse)
        for finding in findings.found[:most]
    )
    return Table(head, rows)


def read_findings(workspace: Workspace) -> Findings:
    """Return the findings of the whole workspace."""
    images = pictures_to_scan(workspace)
    rows = workspace.store.rows(Evidence, kind=TEXT, status=Status.OK.value)
    scanned = {row["image_sha256"] for row in rows} & images.keys()
    flags = {image: flagged for image, flagged in flags_of(workspace).items() if image in images}
    return Findings(len(scanned), len(images) - len(scanned), tuple(_all_findings(workspace, flags)) if flags else ())


def _all_findings(workspace: Workspace, flags: dict[str, tuple[FlaggedText, ...]]) -> list[TextFinding]:
    outputs: dict[str, list[Output]] = defaultdict(list)
    images = list(flags)
    for start in range(0, len(images), BATCH):
        hashes = images[start : start + BATCH]
        for output in workspace.store.records(Output, image_sha256=hashes, status=Status.OK.value):
            outputs[output.item_id].append(output)
    items = workspace.store.records(Item)
    return [finding for item in items for finding in _of_item(item, outputs.get(item.item_id, []), flags)]


def item_findings(workspace: Workspace, item: Item, outputs: Sequence[Output]) -> list[TextFinding]:
    """Return the findings on one item's sources and outputs."""
    images = {image.sha256 for image in item.sources}
    images |= {output.image.sha256 for output in outputs if output.image is not None}
    return list(_of_item(item, outputs, flags_of(workspace, sorted(images))))


def _of_item(
    item: Item, outputs: Iterable[Output], flags: Mapping[str, tuple[FlaggedText, ...]]
) -> Iterator[TextFinding]:
    of_item = [image.sha256 for image in item.sources if image.sha256 in flags]
    before = [flag for image in of_item for flag in flags[image]]
    name = f"{item.dataset}/{item.key}"
    for image in of_item:
        yield TextFinding(image, item.item_id, name, SOURCE, None, flags[image], "")
    for output in outputs:
        if output.image is not None and output.image.sha256 in flags:
            flagged = flags[output.image.sha256]
            excuse = text_excuse(flagged, before, instruction_of(item, output.turn, output.mode))
            editor = output.editor or "(not named)"
            yield TextFinding(output.image.sha256, item.item_id, name, editor, output.output_id, flagged, excuse)


def text_excuse(flagged: tuple[FlaggedText, ...], before: list[FlaggedText], instruction: str) -> str:
    """Return `in the source` or `in the instruction` if that explains all findings; else empty."""
    letters = _letters(instruction)
    if before and {flag.kind for flag in flagged} <= {flag.kind for flag in before}:
        return "in the source"
    return "in the instruction" if all(_letters(flag.text) in letters for flag in flagged) else ""


def _letters(text: str) -> str:
    return re.sub(r"[\W_]+", "", text.casefold())
