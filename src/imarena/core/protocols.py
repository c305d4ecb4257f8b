"""Ports: interfaces between packages that may not import each other. Each is as narrow as possible."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol, TypeAlias, TypeVar

from pydantic import JsonValue

from imarena.core.ids import sha256_hex
from imarena.core.notices import Notice
from imarena.core.records import Evidence, ImageRef, Item, JsonDict, Mode, Outcome, Record, Status, Usage
from imarena.core.scene_plans import ObjectPlan
from imarena.core.traits import EditorTraits as EditorTraits  # noqa: PLC0414  # plug-ins import it from here
from imarena.core.traits import JudgeTraits as JudgeTraits  # noqa: PLC0414

R = TypeVar("R", bound=Record)


class Progress(Protocol):
    """Called with the progress of some work: the stage, the number done, and the total (None: not known)."""

    def __call__(self, stage: str, done: int, total: int | None) -> None: ...


# ---------------------------------------------------------------- importing and exporting


OTHER_OUTPUT = "other_output"
"""The code of a skip: the workspace already has another output of this editor for this item."""


@dataclass(frozen=True)
class Skip:
    """A row or a file that was left out of an import or an export: its place and the reason."""

    file: str
    row: str
    reason: str
    by_format: bool = False
    """An export's format does not support this kind of record: worth a report, but not an error."""
    code: str = ""
    """A code for the kind of reason, for code that handles it, such as `OTHER_OUTPUT`; usually empty."""

    @property
    def where(self) -> str:
        """The file and, if it has one, the row."""
        return f"{self.file}, {self.row}" if self.row else self.file

    def __str__(self) -> str:
        return f"{self.where}: {self.reason}"


Importable: TypeAlias = Record | Skip | Notice
"""Importers make items, outputs, judgments, votes, raters, replies and evidence; other records come from the native
formats only. A notice is about the whole import, such as columns that match no field of an item."""


class Intake(Protocol):
    """The functions that importers may call on their workspace."""

    def keep(self, data: bytes, *, name: str) -> ImageRef:
        """Check an image and store its original bytes. Raises `InvalidImage` with a reason."""
        ...

    def items(self, dataset: str) -> Mapping[str, Item]:
        """Return the data set's items in the workspace, by key."""
        ...

    def outputs(self, dataset: str) -> Mapping[tuple[str, str], str]:
        """Return the ids of stored ok single-turn outputs (sample 0), by (item key, editor)."""
        ...


class ReadFormat(Protocol):
    """Reads a folder or file and yields records and skips, in an order without forward references."""

    def __call__(self, path: Path, intake: Intake, options: Mapping[str, str]) -> Iterator[Importable]: ...


class Archive(Protocol):
    """The functions that exporters may call on their workspace."""

    def records(self, kind: type[R]) -> Iterator[R]:
        """Yield all records of a kind, oldest first."""
        ...

    def uncounted_judgments(self) -> Mapping[str, str]:
        """Return the ids of judgments that do not count, each with the reason: superseded, or by an earlier version."""
        ...

    def uncounted_votes(self) -> Mapping[str, str]:
        """Return ids of votes that do not count, each with the reason: superseded, retracted, practice, gold, ..."""
        ...

    def load(self, image: ImageRef) -> bytes:
        """Return the original bytes of an image."""
        ...


class WriteFormat(Protocol):
    """Writes records into an empty or new folder; yields what could not be written, and why."""

    def __call__(self, directory: Path, archive: Archive, options: Mapping[str, str]) -> Iterator[Skip]: ...


# ---------------------------------------------------------------- editing


@dataclass(frozen=True)
class PastEdit:
    """One earlier turn of a conversation with an in-context editor."""

    instruction: str
    sources: tuple[bytes, ...]
    """The images shown with the instruction; none from the second turn on, as the last result was already there."""
    image: bytes
    """The editor's result."""


@dataclass(frozen=True)
class EditRequest:
    """The input of an editor: the instruction and encoded images, nothing else."""

    instruction: str
    sources: tuple[bytes, ...] = ()
    references: tuple[bytes, ...] = ()
    masks: tuple[bytes, ...] = ()
    mode: Mode = Mode.SINGLE
    task: str | None = None
    topic: str | None = None
    seed: int | None = None
    params: JsonDict = field(default_factory=dict)
    history: tuple[PastEdit, ...] = ()
    """The conversation before this turn, for editors whose traits request it. `sources` still contains the last
    result, so an editor may ignore the history."""


@dataclass(frozen=True)
class EditResult:
    """The result of an editor: an encoded image if `status` is ok, otherwise the reason why there is none."""

    status: Status
    image: bytes | None = None
    error: str = ""
    cost_usd: float | None = None
    latency_s: float | None = None
    steps: tuple[JsonDict, ...] = ()


class Editor(Protocol):
    """Anything that makes an image from a request. Leaderboards show `name`.

    A plug-in needs only `edit`; `plugins.adapt_editor` adds the other attributes.
    """

    @property
    def name(self) -> str: ...

    @property
    def version(self) -> str: ...

    @property
    def params(self) -> JsonDict:
        """Settings that an output depends on, besides the request and the version."""
        ...

    @property
    def traits(self) -> EditorTraits:
        """Its requirements and abilities."""
        ...

    async def edit(self, request: EditRequest) -> EditResult: ...


@dataclass(frozen=True)
class JournalEntry:
    """The answer to one part of a longer piece of work: words and figures, and an image if there is one."""

    value: JsonDict
    image: bytes | None = None
    cost_usd: float = 0.0
    ok: bool = True
    """Whether the answer is good. A failure counts only during this attempt; the next attempt asks again."""


class Journal(Protocol):
    """Stores the answers to the parts of a piece of work, so that a killed run can resume."""

    def find(self, call: str) -> JournalEntry | None:
        """Return the stored answer to this call from an earlier, interrupted run."""
        ...

    def note(self, call: str, noted: JournalEntry) -> None:
        """Store an answer. Raises `InvalidImage` if its image is invalid."""
        ...


# ---------------------------------------------------------------- chatting


@dataclass(frozen=True)
class ChatPrompt:
    """One question to a vision-language model: texts and encoded images, in the order in which they are shown."""

    system: str
    parts: tuple[str | bytes, ...]
    schema: JsonDict | None = None
    """JSON schema for the reply; an endpoint may ignore it, so the reply is parsed in any case."""
    max_tokens: int = 2048
    temperature: float | None = 0.0
    """None leaves the choice to the endpoint."""
    seed: int | None = None


@dataclass(frozen=True)
class ChatAnswer:
    """The model's answer: text if `status` is ok, else the reason why there is none."""

    status: Status
    text: str = ""
    model: str = ""
    usage: Usage = Usage()
    error: str = ""


class Chat(Protocol):
    """A function that asks one model. Failures are returned as a status, never raised."""

    async def __call__(self, prompt: ChatPrompt) -> ChatAnswer: ...


# ---------------------------------------------------------------- judging


@dataclass(frozen=True)
class PlannedEdit:
    """An output of an object-centric item, with the images before it and stored measurements of them."""

    plan: ObjectPlan
    turn: int
    mode: Mode
    chain: tuple[bytes, ...]
    """The images before the output, encoded: the base image first, then in multi-turn mode the output of each turn."""
    known: tuple[Evidence, ...] = ()
    """Stored evidence about these images, of the kinds that the judge measures, so that it need not measure again."""


@dataclass(frozen=True)
class Exhibit:
    """The input of a judge: the instruction and encoded images, without model names.

    If `right` is None, the judge scores `left`; otherwise it compares the two, with `left` shown first.
    """

    instruction: str
    left: bytes
    right: bytes | None = None
    sources: tuple[bytes, ...] = ()
    references: tuple[bytes, ...] = ()
    task: str | None = None
    expected_objects: tuple[str, ...] = ()
    evidence: tuple[Evidence, ...] = ()
    """Boxes, masks, text and other evidence about these images, of the kinds that the judge's traits request. Their
    `params` are empty, because they may contain names."""
    planned: PlannedEdit | None = None
    """Only for judges whose traits request the plan."""

    def evidence_of(self, kind: str, image: bytes | None = None) -> tuple[Evidence, ...]:
        """The evidence of a kind, oldest first; with `image`, only evidence about these bytes."""
        about = None if image is None else sha256_hex(image)
        return tuple(
            evidence for evidence in self.evidence if evidence.kind == kind and about in (None, evidence.image_sha256)
        )


@dataclass(frozen=True)
class Verdict:
    """The result of a judge: a preference or scores if `status` is ok, otherwise the reason why there is none."""

    status: Status
    preference: Outcome | None = None
    score: float | None = None
    scores: Mapping[str, float] = field(default_factory=dict)
    success: bool | None = None
    confidence: float | None = None
    reasons: Mapping[str, JsonValue] = field(default_factory=dict)
    error: str = ""
    raw: str = ""
    model: str = ""
    usage: Usage = Usage()
    answered: tuple[str, ...] = ()
    """If there are several questions: those asked now that have an answer in `raw`, whether it can be parsed or not."""
    evidence: tuple[Evidence, ...] = ()
    """Measurements made for this verdict. They are stored with it, whatever the status, and are not repeated."""


class Judge(Protocol):
    """Anything that gives a verdict on an exhibit. The first five attributes are part of a judgment's identity.

    A plug-in needs only `judge`; `plugins.adapt_judge` adds the other attributes.
    """

    @property
    def name(self) -> str: ...

    @property
    def version(self) -> str: ...

    @property
    def prompt_id(self) -> str: ...

    @property
    def prompt_version(self) -> str: ...

    @property
    def params(self) -> JsonDict: ...

    @property
    def traits(self) -> JudgeTraits:
        """Its requirements and abilities."""
        ...

    async def judge(self, exhibit: Exhibit) -> Verdict: ...
