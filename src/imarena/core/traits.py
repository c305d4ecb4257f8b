"""Judges and editors: their ports, and what each needs and can do. It declares this itself; other code reads no more.

Everything has a default, so that a new judge or editor declares only what differs. A wrapper around another judge or
editor builds its own traits from the inner ones, field by field.
"""

from collections.abc import Callable, Container, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, nullcontext
from dataclasses import dataclass, field
from datetime import date
from pathlib import Path
from typing import Protocol

from pydantic import JsonValue

from imarena.core.questions import EditRequest, EditResult, Exhibit, Journal, Verdict
from imarena.core.records import ImageRef, JsonDict, Reply, Usage


class Openable(Protocol):
    """Something that must be open while it is used, such as the client of an endpoint."""

    def opened(self) -> AbstractAsyncContextManager[object]:
        """Open it for the duration of the context."""
        ...


class PricedClient(Openable, Protocol):
    """The client of a model, and what its questions cost."""

    @property
    def runs_here(self) -> bool:
        """Whether the model runs in this process, at no price."""
        ...

    @property
    def endpoint_name(self) -> str:
        """The name of the endpoint in the settings."""
        ...

    def cost_usd(self, usage: Usage) -> float | None:
        """Return the price of this many tokens; None if it is not known."""
        ...

    def image_tokens(self, image: ImageRef | None) -> float:
        """Return how many tokens an image counts; for an unknown image, those of a usual size."""
        ...


# ---------------------------------------------------------------- judges


class PromptPreview(Protocol):
    """A prompt that can be checked against an exhibit and measured before a question is asked."""

    @property
    def shows_objects(self) -> bool:
        """Whether it shows the list of expected objects."""
        ...

    def check(self, exhibit: Exhibit) -> None:
        """Raise `UserError` if the exhibit lacks what the prompt needs."""
        ...

    def preview(self, exhibit: Exhibit) -> tuple[str | bytes, ...]:
        """Return the system message and all parts, text and encoded images, in the order in which they are sent."""
        ...


class ReplyReader(Protocol):
    """Parses stored replies again, at no cost."""

    @property
    def parser_version(self) -> str:
        """The version of the parser; another version may read another verdict."""
        ...

    def reread(self, raw: str) -> Verdict:
        """Return the verdict in a stored reply; `unparsable` or `refused` if there is none."""
        ...


class ResumableJudge(Protocol):
    """A judge with several questions, which can resume an earlier, failed attempt at the same work."""

    def usable(self, reply: Reply) -> Mapping[str, str]:
        """Return the answers in an earlier reply that need not be asked for again, by question."""
        ...

    async def resume(self, exhibit: Exhibit, previous_answers: Mapping[str, str]) -> Verdict:
        """Ask the questions that are not in `previous_answers`, and read all answers together."""
        ...


@dataclass(frozen=True)
class JudgeTraits:
    """What a judge needs and can do. The defaults fit a judge that computes a little and asks no model."""

    dimension: str | None = None
    """The dimension of its verdicts; None: the catalog's, or `overall` if the catalog has none."""
    needs_source: bool = False
    """It needs a source image; items without one are left out with a reason."""
    evidence: tuple[str, ...] = ()
    """Kinds of `Evidence` that it needs, such as `edit_boxes`; a case without any of them is left out."""
    needs_plan: bool = False
    """It needs items with a plan of objects and turns (`core/scene_plans.py`); others are left out."""
    produces_evidence: tuple[str, ...] = ()
    """Kinds of `Evidence` that it makes itself (`Verdict.evidence`) and receives again once they are stored."""
    cpu_bound: bool = False
    """It computes locally and never waits: it runs in workers, one per core, outside the event loop."""
    gpus: float = 0.0
    """GPUs (or a fraction of one) per worker on a cluster; none if the cluster has none."""
    seconds: float | None = None
    """Assumed seconds per verdict of a judge that computes locally, until earlier verdicts are measured."""
    prompts: Mapping[str, PromptPreview] = field(default_factory=dict)
    """The questions for one verdict, by name; empty for a judge without prompts."""
    passes: int = 1
    """How many times each question is asked for one verdict."""
    max_reply_tokens: int | None = None
    """Maximum length of a model's reply, in tokens."""
    reader: ReplyReader | None = None
    """Parses stored replies again; None for a judge without replies."""
    resumable: ResumableJudge | None = None
    """Resumes an earlier, failed attempt; None for a judge that asks everything again."""

    @property
    def questions(self) -> int:
        """Number of requests for one verdict."""
        return len(self.prompts) * self.passes if self.prompts else 1

    @property
    def shows_objects(self) -> bool:
        """Whether one of its prompts shows the list of expected objects."""
        return any(prompt.shows_objects for prompt in self.prompts.values())


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


# ---------------------------------------------------------------- editors


class Resumable(Protocol):
    """An editor with several steps, which can resume an earlier, interrupted run of the same work."""

    async def resume(self, request: EditRequest, journal: Journal) -> EditResult:
        """Same as `edit`, but reuse answers in the journal and record every new one there."""
        ...


class FinishedFiles(Protocol):
    """The files of an editor whose outputs were made elsewhere, by the item's key, data set, mode and turn."""

    def file_of(self, named: Mapping[str, JsonValue]) -> Path | None:
        """Return the image for `key`, `dataset`, `turn`, `turns` and `mode` in `named`; None if there is none."""
        ...

    def files_beside(self, expected: Container[str]) -> list[str]:
        """Return images with none of the expected names (without extension), sorted by name."""
        ...


@dataclass(frozen=True)
class ExtraCalls:
    """Questions that a wrapped editor asks per output in addition to its edits, to a judge or a planner."""

    who: str
    """`judge` or `mind`."""
    client: PricedClient
    """The client through which they are asked."""
    times: int
    """Maximum number of questions (or verdicts of a judge) per output."""
    judge: Judge | None = None
    texts: Callable[[str], Sequence[str]] | None = None
    """For a planner: returns the texts of its questions about an instruction, for estimates."""


@dataclass(frozen=True)
class WrappedEditor:
    """The editor inside another one, such as an agent, and the maximum work for one output of the outer editor."""

    editor: "Editor"
    edits: int
    extra_calls: tuple[ExtraCalls, ...] = ()


@dataclass(frozen=True)
class EditorTraits:
    """What an editor needs and can do. The defaults fit a free editor whose output depends on the seed."""

    usd_per_image: float | None = 0.0
    """Maximum cost of one output; None if the price is not known."""
    price_as_of: date | None = None
    """The date of that published price; None if a user stated it."""
    price_from: str = ""
    """Who published it."""
    notice: str = ""
    """What a user should know before a run."""
    deterministic: bool = False
    """The same request gives the same image, whatever the seed."""
    wrappable: bool = True
    """Task words may be put around the instruction (`edit --wrap`)."""
    needs_key: bool = False
    """The request's `params` must name the item: only for outputs that were made elsewhere."""
    in_context: bool = False
    """It takes a conversation: in multi-turn mode its requests have the earlier turns as `history`."""
    cpu_bound: bool = False
    """It computes locally and never waits."""
    gpus: float = 0.0
    """GPUs (or a fraction of one) per worker on a cluster; none if the cluster has none."""
    opening: Callable[[], AbstractAsyncContextManager[object]] | None = None
    """Opens what it needs while it works, such as a client or a model; None if it needs nothing open."""
    loads_model: bool = False
    """`opening` only loads a model: on a cluster, each worker does so. Otherwise (a connection, a cost limit), the
    editor runs in the process that asks. Such an editor must be picklable while it is not open."""
    resumable: Resumable | None = None
    """Resumes an interrupted run; None for an editor with one step."""
    wraps: WrappedEditor | None = None
    """The editor inside it; None if it wraps none."""
    files: FinishedFiles | None = None
    """The files that it reads its outputs from; None if it makes them."""
    driven_by: str = ""
    """The judge that chose its outputs, which must not be the one that ranks them; empty if there is none."""
    explain_error: Callable[[BaseException], str] | None = None
    """Describes an exception in the words of the editor's author; None: by its type and message."""

    def opened(self) -> AbstractAsyncContextManager[object]:
        """Return the context in which the editor can be used."""
        return self.opening() if self.opening is not None else nullcontext()


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
