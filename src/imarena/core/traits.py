"""What a judge or an editor needs and can do. It declares this itself; no other code looks for its attributes.

Everything has a default, so that a new judge or editor declares only what differs. A wrapper around another judge or
editor builds its own traits from those inside, field by field.
"""

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, nullcontext
from dataclasses import dataclass, field
from datetime import date
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from imarena.core.protocols import Editor, EditRequest, EditResult, Exhibit, Journal, Judge, Verdict
    from imarena.core.records import Reply


class Openable(Protocol):
    """Something that has to be open while it is used, such as the client of an endpoint."""

    def opened(self) -> AbstractAsyncContextManager[object]:
        """Open it for as long as the context lasts."""
        ...


# ---------------------------------------------------------------- judges


class PromptPreview(Protocol):
    """A prompt that can be checked against an exhibit and measured before anything is asked."""

    @property
    def shows_objects(self) -> bool:
        """Does it show the list of expected objects?"""
        ...

    def check(self, exhibit: "Exhibit") -> None:
        """Raise `UserError` where the exhibit lacks what the prompt needs."""
        ...

    def preview(self, exhibit: "Exhibit") -> tuple[str | bytes, ...]:
        """The system message and then all parts, text and encoded images, in the order in which they are sent."""
        ...


class ReplyReader(Protocol):
    """Reads stored replies again, for nothing."""

    @property
    def parser_version(self) -> str:
        """The version of the parser; a verdict read by another one may differ."""
        ...

    def reread(self, raw: str) -> "Verdict":
        """The verdict in a stored reply; `unparsable` or `refused` where it states none."""
        ...


class PartlyAsked(Protocol):
    """A judge with several questions, which continues where an earlier attempt at the same work failed."""

    def usable(self, reply: "Reply") -> Mapping[str, str]:
        """The answers in an earlier reply that need not be asked for again, by question."""
        ...

    async def go_on(self, exhibit: "Exhibit", held: Mapping[str, str]) -> "Verdict":
        """Ask what is not in `held`, and read all answers together."""
        ...


@dataclass(frozen=True)
class JudgeTraits:
    """What a judge needs and can do. The defaults fit a judge that computes a little and asks nobody."""

    dimension: str | None = None
    """What its verdicts are about; None: what the catalog says, and `overall` where it says nothing."""
    needs_source: bool = False
    """An item without a source image cannot be shown to it; such items are left out with a reason."""
    evidence: tuple[str, ...] = ()
    """Kinds of `Evidence` that it has to see, such as `edit_boxes`; a case without any of them is left out."""
    needs_plan: bool = False
    """It judges items that carry a plan of objects and turns (`core/scene_plans.py`); others are left out."""
    measures: tuple[str, ...] = ()
    """Kinds of `Evidence` that it makes itself (`Verdict.evidence`) and is given again where they are stored."""
    cpu_bound: bool = False
    """It computes here and waits for nobody: it runs in workers, one per core, beside the event loop."""
    gpus: float = 0.0
    """GPUs (or a share of one) that each worker on a cluster gets; none where the cluster has none."""
    seconds: float | None = None
    """Assumed seconds per verdict of a judge that computes here, until earlier verdicts are measured."""
    prompts: Mapping[str, PromptPreview] = field(default_factory=dict)
    """The questions that it puts to a model for one verdict, by name; empty for a judge without prompts."""
    passes: int = 1
    """How often each question is asked for one verdict."""
    max_reply_tokens: int | None = None
    """The longest reply that it lets a model write."""
    reader: ReplyReader | None = None
    """Reads stored replies again; None for a judge without replies."""
    partly_asked: PartlyAsked | None = None
    """Continues where an earlier attempt failed; None for a judge that asks everything again."""

    @property
    def questions(self) -> int:
        """How many requests one verdict takes."""
        return len(self.prompts) * self.passes if self.prompts else 1

    @property
    def shows_objects(self) -> bool:
        """Does one of its prompts show the list of expected objects?"""
        return any(prompt.shows_objects for prompt in self.prompts.values())


# ---------------------------------------------------------------- editors


class Resumable(Protocol):
    """An editor of many steps, which continues where an earlier run of the same work stopped."""

    async def go_on(self, request: "EditRequest", journal: "Journal") -> "EditResult":
        """As `edit`; what the journal holds is not asked again, and every new answer is noted there."""
        ...


@dataclass(frozen=True)
class ExtraQuestions:
    """Questions that a wrapped editor needs answered for one output beside its edits: by a judge or by a planner."""

    who: str
    """`judge` or `mind`."""
    door: Openable
    """The client through which they are asked."""
    times: int
    """The most questions (verdicts of a judge) per output."""
    judge: "Judge | None" = None
    texts: Callable[[str], Sequence[str]] | None = None
    """For a planner: the texts of its questions about an instruction, to estimate by."""


@dataclass(frozen=True)
class WrappedEditor:
    """The editor inside another one, such as an agent, and what one output of the outer one takes at most."""

    editor: "Editor"
    edits: int
    asides: tuple[ExtraQuestions, ...] = ()


@dataclass(frozen=True)
class EditorTraits:
    """What an editor needs and can do. The defaults fit a free editor whose output depends on the seed."""

    usd_per_image: float | None = 0.0
    """The most that one output costs; None where the price is not known."""
    price_as_of: date | None = None
    """The day of that published price; None where a user stated it."""
    price_from: str = ""
    """Who published it."""
    notice: str = ""
    """What a user should know before a run."""
    deterministic: bool = False
    """The same request gives the same image, whatever the seed."""
    wrappable: bool = True
    """Task words may be put around the instruction (`edit --wrap`)."""
    needs_key: bool = False
    """The request's `params` have to name the item: only for outputs that were made elsewhere."""
    in_context: bool = False
    """It takes the conversation: in multi-turn mode its requests have the earlier turns as `history`."""
    cpu_bound: bool = False
    """It computes here and waits for nobody."""
    gpus: float = 0.0
    """GPUs (or a share of one) that each worker on a cluster gets; none where the cluster has none."""
    opening: Callable[[], AbstractAsyncContextManager[object]] | None = None
    """Opens what it needs while it works, such as a client or a model; None where there is nothing to open."""
    resumable: Resumable | None = None
    """Continues where an earlier run stopped; None for an editor of one step."""
    wraps: WrappedEditor | None = None
    """The editor inside it; None for an editor of its own."""

    def opened(self) -> AbstractAsyncContextManager[object]:
        """The context in which the editor can be used."""
        return self.opening() if self.opening is not None else nullcontext()
