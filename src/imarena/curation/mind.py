"""Who plans, captions, scores and reflects: rules with the bundled tools, or a vision-language model (`vlm.py`)."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from imarena.core import FoundImage, ImageQuery
from imarena.core.records import Status
from imarena.curation.brief import ImageBrief
from imarena.curation.file_names import path_words, stated_text
from imarena.curation.perception import Perception, make_caption
from imarena.curation.planner import plan_queries
from imarena.curation.reflection import Reflection, Scored, reflect
from imarena.curation.scoring import ImageScore, score_image


@dataclass(frozen=True)
class PlannedQueries:
    """The queries of a round; `note` says where rules stood in for a model."""

    queries: tuple[ImageQuery, ...]
    note: str = ""
    cost_usd: float = 0.0


@dataclass(frozen=True)
class Caption:
    """A dense caption."""

    text: str
    note: str = ""
    cost_usd: float = 0.0


@dataclass(frozen=True)
class ScoreAnswer:
    """A score, or the status that says why there is none: such an image never enters a pool."""

    status: Status
    score: ImageScore | None = None
    error: str = ""
    cost_usd: float = 0.0


@dataclass(frozen=True)
class ReflectionAnswer:
    """A reflection; `note` of it says where rules stood in for a model."""

    reflection: Reflection
    cost_usd: float = 0.0


@dataclass(frozen=True)
class Candidate:
    """An image that passed the checks, as a mind sees it."""

    found: FoundImage
    data: bytes
    seen: Perception

    @property
    def text(self) -> str:
        """What the source states."""
        return " ".join(filter(None, (self.found.title, self.found.shows, self.found.text)))


class CurationMind(Protocol):
    """The four decisions of the agentic track."""

    @property
    def name(self) -> str:
        """What its answers depend on."""
        ...

    @property
    def reads_all_languages(self) -> bool: ...

    async def plan(self, brief: ImageBrief, memory: Sequence[Reflection], number: int) -> PlannedQueries: ...

    async def caption(self, candidate: Candidate) -> Caption: ...

    async def score(self, brief: ImageBrief, candidate: Candidate, caption: str) -> ScoreAnswer: ...

    async def reflect(
        self, brief: ImageBrief, number: int, below: Sequence[Scored], empty_queries: Sequence[str]
    ) -> ReflectionAnswer: ...


class RuleMind:
    """Works offline: the planner's rules, the bundled tools, and what the sources state."""

    name = "rules-2"
    reads_all_languages = False

    async def plan(self, brief: ImageBrief, memory: Sequence[Reflection], number: int) -> PlannedQueries:
        """Queries by rules."""
        return PlannedQueries(plan_queries(brief, memory, number))

    async def caption(self, candidate: Candidate) -> Caption:
        """A caption of metadata and what the tools see."""
        return Caption(
            make_caption(candidate.seen, candidate.found.title, f"{candidate.found.shows} {candidate.found.text}")
        )

    async def score(self, brief: ImageBrief, candidate: Candidate, caption: str) -> ScoreAnswer:  # noqa: ARG002
        """The weighted mean of the requirements."""
        found = candidate.found
        return ScoreAnswer(
            Status.OK, score_image(brief, candidate.seen, stated_text(found), found.shows, path_words(found.key))
        )

    async def reflect(
        self, brief: ImageBrief, number: int, below: Sequence[Scored], empty_queries: Sequence[str]
    ) -> ReflectionAnswer:
        """Counts of what was missing and what was unexpected."""
        return ReflectionAnswer(reflect(brief, number, below, empty_queries))
