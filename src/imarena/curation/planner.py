"""The component that plans, captions, scores and reflects: rules with the bundled tools, or a VLM (`vlm.py`).

The rules plan K queries over complementary aspects of an instruction, adapted to the memory. In every round after a
requirement was missing, its next word is tried: the words of the instruction, the head noun, the name of its
kind, then related kinds (a puppy is a dog). Unexpected things are excluded.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Protocol

from imarena.core import FoundImage, ImageQuery
from imarena.core.records import Status
from imarena.curation.brief import ImageBrief
from imarena.curation.file_names import path_words, stated_text
from imarena.curation.perception import Perception, make_caption
from imarena.curation.reflection import Reflection, Scored, reflect
from imarena.curation.scoring import ImageScore, score_image
from imarena.curation.task_needs import ASPECTS, task_file
from imarena.vision import related_nouns


@dataclass(frozen=True)
class PlannedQueries:
    """The queries of a round; `note` reports where rules replaced a model."""

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
    """A score, or the status that explains why there is none: an image without a score never enters a pool."""

    status: Status
    score: ImageScore | None = None
    error: str = ""
    cost_usd: float = 0.0


@dataclass(frozen=True)
class ReflectionAnswer:
    """A reflection; its `note` reports where rules replaced a model."""

    reflection: Reflection
    cost_usd: float = 0.0


@dataclass(frozen=True)
class Candidate:
    """An image that passed the checks, as input of a planner."""

    found: FoundImage
    data: bytes
    seen: Perception

    @property
    def text(self) -> str:
        """The texts stated by the source."""
        return " ".join(filter(None, (self.found.title, self.found.shows, self.found.text)))


class CurationPlanner(Protocol):
    """The four decisions of the agentic track."""

    @property
    def name(self) -> str:
        """Name and version that its answers depend on."""
        ...

    @property
    def reads_all_languages(self) -> bool: ...

    async def plan(self, brief: ImageBrief, memory: Sequence[Reflection], number: int) -> PlannedQueries: ...

    async def caption(self, candidate: Candidate) -> Caption: ...

    async def score(self, brief: ImageBrief, candidate: Candidate, caption: str) -> ScoreAnswer: ...

    async def reflect(
        self, brief: ImageBrief, number: int, below: Sequence[Scored], empty_queries: Sequence[str]
    ) -> ReflectionAnswer: ...


class RuleCurationPlanner:
    """Works offline: the planner's rules, the bundled tools, and the source's texts."""

    name = "rules-2"
    reads_all_languages = False

    async def plan(self, brief: ImageBrief, memory: Sequence[Reflection], number: int) -> PlannedQueries:
        """Queries by rules."""
        return PlannedQueries(plan_queries(brief, memory, number))

    async def caption(self, candidate: Candidate) -> Caption:
        """A caption from metadata and what the tools detect."""
        return Caption(
            make_caption(candidate.seen, candidate.found.title, f"{candidate.found.shows} {candidate.found.text}")
        )

    async def score(self, brief: ImageBrief, candidate: Candidate, caption: str) -> ScoreAnswer:  # noqa: ARG002
        """The weighted mean of the requirements."""
        result = candidate.found
        return ScoreAnswer(
            Status.OK, score_image(brief, candidate.seen, stated_text(result), result.shows, path_words(result.key))
        )

    async def reflect(
        self, brief: ImageBrief, number: int, below: Sequence[Scored], empty_queries: Sequence[str]
    ) -> ReflectionAnswer:
        """Counts of missing requirements and unexpected things."""
        return ReflectionAnswer(reflect(brief, number, below, empty_queries))


_EXCLUDED = 3


def plan_queries(brief: ImageBrief, memory: Sequence[Reflection], number: int) -> tuple[ImageQuery, ...]:
    """`number` different queries; fewer only if the instruction has no more words."""
    if brief.request.keywords:
        return tuple(ImageQuery(text, aspect="keywords") for text in brief.request.keywords[:number])
    subjects = [_next_word(thing, _times_missing(memory, f"thing: {thing}")) for thing in brief.things]
    conditions = [_condition_words(name, memory) for name in brief.conditions]
    exclude = tuple(dict.fromkeys(word for reflection in memory for word in reflection.unexpected))[:_EXCLUDED]
    queries: dict[str, ImageQuery] = {}
    for aspect, text in _texts(brief, subjects, conditions, len(memory)):
        if text and text not in queries:
            queries[text] = ImageQuery(text, exclude, aspect)
        if len(queries) == number:
            break
    return tuple(queries.values())


def _texts(
    brief: ImageBrief, subjects: list[str], conditions: list[tuple[str, ...]], past: int
) -> Iterator[tuple[str, str]]:
    subject = " ".join(subjects)
    state = " ".join(words[0] for words in conditions)
    yield "subject", " ".join(filter(None, (subject, state)))
    for aspect in ASPECTS[1:]:
        words = brief.needs.aspect(aspect)
        if words:
            yield aspect, " ".join(filter(None, (subject, words[past % len(words)])))
    yield "subject", subject
    for words in conditions:
        for word in words:
            yield "lighting", " ".join(filter(None, (subject, word)))
            yield "lighting", word
    for term in subjects:
        yield "subject", term
    for aspect in ASPECTS[1:]:
        for word in brief.needs.aspect(aspect):
            yield aspect, " ".join(filter(None, (subject, word)))
            yield aspect, word


def _times_missing(memory: Sequence[Reflection], name: str) -> int:
    return sum(name in reflection.missing for reflection in memory)


def _next_word(thing: str, times: int) -> str:
    """The phrase itself, then its head noun and other names for the same kind of thing."""
    head = thing.rsplit(maxsplit=1)[-1]
    words = tuple(dict.fromkeys((thing, *related_nouns(thing)[:1], head, *related_nouns(thing)[1:])))
    return words[min(times, len(words) - 1)]


def _condition_words(name: str, memory: Sequence[Reflection]) -> tuple[str, ...]:
    words = task_file().conditions[name].words
    start = _times_missing(memory, f"condition: {name}") % len(words)
    return words[start:] + words[:start]
