"""What editors, models and judges are asked, and what they answer."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Protocol

from pydantic import JsonValue

from imarena.core.ids import sha256_hex
from imarena.core.records import Evidence, JsonDict, Mode, Outcome, Status, Usage
from imarena.core.scene_plans import ObjectPlan

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
