"""The planner: K queries over complementary aspects of an instruction, changed by what the memory says.

Every round in which a requirement was missing, its next word is tried: the words of the instruction, the head noun, the
name of its kind, then relatives of that kind (a puppy is a dog). Things that were unexpected are excluded.
"""

from collections.abc import Iterator, Sequence

from imarena.core import ImageQuery
from imarena.curation.brief import ImageBrief
from imarena.curation.reflection import Reflection
from imarena.curation.task_needs import ASPECTS, task_file
from imarena.vision import related_nouns

_EXCLUDED = 3


def plan_queries(brief: ImageBrief, memory: Sequence[Reflection], number: int) -> tuple[ImageQuery, ...]:
    """`number` different queries; fewer only where the instruction gives no more words."""
    if brief.request.keywords:
        return tuple(ImageQuery(text, aspect="keywords") for text in brief.request.keywords[:number])
    subjects = [_next_word(thing, _times_missing(memory, f"thing: {thing}")) for thing in brief.things]
    conditions = [_condition_words(name, memory) for name in brief.conditions]
    exclude = tuple(dict.fromkeys(word for each in memory for word in each.unexpected))[:_EXCLUDED]
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
    for one in subjects:
        yield "subject", one
    for aspect in ASPECTS[1:]:
        for word in brief.needs.aspect(aspect):
            yield aspect, " ".join(filter(None, (subject, word)))
            yield aspect, word


def _times_missing(memory: Sequence[Reflection], name: str) -> int:
    return sum(name in each.missing for each in memory)


def _next_word(thing: str, times: int) -> str:
    """The phrase itself first; then its head noun and what else the same kind of thing is called."""
    head = thing.rsplit(maxsplit=1)[-1]
    words = tuple(dict.fromkeys((thing, *related_nouns(thing)[:1], head, *related_nouns(thing)[1:])))
    return words[min(times, len(words) - 1)]


def _condition_words(name: str, memory: Sequence[Reflection]) -> tuple[str, ...]:
    words = task_file().conditions[name].words
    start = _times_missing(memory, f"condition: {name}") % len(words)
    return words[start:] + words[:start]
