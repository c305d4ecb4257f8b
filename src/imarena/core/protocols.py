"""Ports: how rooms that may not import each other meet. Each is as narrow as it can be."""

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
    """Told how far something is: which stage, how many are done, how many there are (None: not known)."""

    def __call__(self, stage: str, done: int, total: int | None) -> None: ...


# ---------------------------------------------------------------- importing and exporting


OTHER_OUTPUT = "other_output"
"""The code of a skip: the workspace has another output of this editor for this item."""


@dataclass(frozen=True)
class Skip:
    """A row or a file that was left out of an import or an export: where it stands and why."""

    file: str
    row: str
    reason: str
    by_format: bool = False
    """An export's format has no place for this kind of record: to be told, and nothing that went wrong."""
    code: str = ""
    """What kind of reason it is, for code that handles it, such as `OTHER_OUTPUT`; empty for most."""

    @property
    def where(self) -> str:
        """The file and, where it has one, the row."""
        return f"{self.file}, {self.row}" if self.row else self.file

    def __str__(self) -> str:
        return f"{self.where}: {self.reason}"


Importable: TypeAlias = Record | Skip | Notice
"""Importers make items, outputs, judgments, votes, raters, replies and evidence; other records come from the native
formats only. A notice is about the whole, such as columns that are no field of an item."""


class Intake(Protocol):
    """What an importer may ask of the workspace that it imports into."""

    def keep(self, data: bytes, *, name: str) -> ImageRef:
        """Check a picture and store its original bytes. Raises `InvalidImage` with a reason."""
        ...

    def items(self, dataset: str) -> Mapping[str, Item]:
        """The items of a data set that are in the workspace already, by key."""
        ...

    def outputs(self, dataset: str) -> Mapping[tuple[str, str], str]:
        """Ids of the ok single-turn outputs (sample 0) that are there already, by (item key, editor)."""
        ...


class ReadFormat(Protocol):
    """An importer: a folder or file in, records and skips out, in an order where nothing refers ahead."""

    def __call__(self, path: Path, intake: Intake, options: Mapping[str, str]) -> Iterator[Importable]: ...


class Archive(Protocol):
    """What an exporter may ask of the workspace that it exports."""

    def records(self, kind: type[R]) -> Iterator[R]:
        """All records of a kind, oldest first."""
        ...

    def uncounted_judgments(self) -> Mapping[str, str]:
        """Ids of the judgments that do not count, each with the reason: superseded, or by an earlier version."""
        ...

    def uncounted_votes(self) -> Mapping[str, str]:
        """Ids of the votes that do not count, each with the reason: superseded, retracted, practice, gold, ..."""
        ...

    def load(self, image: ImageRef) -> bytes:
        """The original bytes of a picture."""
        ...


class WriteFormat(Protocol):
    """An exporter: writes into an empty or new folder; yields what could not be written, and why."""

    def __call__(self, directory: Path, archive: Archive, options: Mapping[str, str]) -> Iterator[Skip]: ...


# ---------------------------------------------------------------- editing


@dataclass(frozen=True)
class PastEdit:
    """One earlier turn of a conversation with an in-context editor."""

    instruction: str
    sources: tuple[bytes, ...]
    """What was shown with the instruction; from the second turn on nothing, since the last result was there already."""
    image: bytes
    """What the editor made."""


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
    """What one part of a longer piece of work answered: words and figures, and the picture that it is about."""

    value: JsonDict
    image: bytes | None = None
    cost_usd: float = 0.0
    ok: bool = True
    """A failure is remembered while this attempt lasts; the next one asks again."""


class Journal(Protocol):
    """Keeps what the parts of one piece of work answered, so that after a kill it goes on from there."""

    def find(self, call: str) -> JournalEntry | None:
        """What was answered to this call by an earlier run that did not come to its end."""
        ...

    def note(self, call: str, noted: JournalEntry) -> None:
        """Store an answer. Raises `InvalidImage` where its picture is none."""
        ...


# ---------------------------------------------------------------- chatting


@dataclass(frozen=True)
class ChatPrompt:
    """One question to a vision-language model: words and encoded pictures, in the order in which they are shown."""

    system: str
    parts: tuple[str | bytes, ...]
    schema: JsonDict | None = None
    """JSON schema that the reply should follow; an endpoint may ignore it, so the reply is parsed all the same."""
    max_tokens: int = 2048
    temperature: float | None = 0.0
    """None leaves the choice to the endpoint."""
    seed: int | None = None


@dataclass(frozen=True)
class ChatAnswer:
    """What came back: text when `status` is ok, else the reason why not."""

    status: Status
    text: str = ""
    model: str = ""
    usage: Usage = Usage()
    error: str = ""


class Chat(Protocol):
    """One model behind one door. Failures come back as a status; they are never raised."""

    async def __call__(self, prompt: ChatPrompt) -> ChatAnswer: ...


# ---------------------------------------------------------------- judging


@dataclass(frozen=True)
class PlannedEdit:
    """An output of an object-centric item: what it was made from, and what was measured on its images before."""

    plan: ObjectPlan
    turn: int
    mode: Mode
    chain: tuple[bytes, ...]
    """The images before the output, encoded: the base image first, then in multi-turn mode the output of each turn."""
    known: tuple[Evidence, ...] = ()
    """What is stored about these images, of the kinds that the judge measures: it need not be measured again."""


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
