"""Reflection: what the candidates of a round lacked and unexpectedly showed, remembered for the next round."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from imarena.core import JsonDict
from imarena.curation.brief import ImageBrief
from imarena.curation.perception import Perception
from imarena.curation.scoring import ImageScore, stated_words
from imarena.vision import kinds_in_phrase

_OFTEN = 0.5
_MOST_LABELS = 3


@dataclass(frozen=True)
class Reflection:
    """One entry of the memory m_t."""

    round: int
    missing: tuple[str, ...]
    """Names of requirements that most candidates did not meet."""
    unexpected: tuple[str, ...]
    """Things that many candidates showed although nobody asked for them."""
    empty_queries: tuple[str, ...]
    note: str = ""

    def to_json(self) -> JsonDict:
        """For the journal."""
        return {
            "round": self.round, "missing": list(self.missing), "unexpected": list(self.unexpected),
            "empty_queries": list(self.empty_queries), "note": self.note,
        }  # fmt: skip


def read_reflection(value: JsonDict) -> Reflection:
    """The inverse of `Reflection.to_json`."""

    def texts(name: str) -> tuple[str, ...]:
        entries = value.get(name)
        return tuple(str(entry) for entry in entries) if isinstance(entries, list) else ()

    number = value.get("round")
    return Reflection(
        number if isinstance(number, int) else 0, texts("missing"), texts("unexpected"), texts("empty_queries"),
        str(value.get("note") or ""),
    )  # fmt: skip


@dataclass(frozen=True)
class Scored:
    """A scored candidate that did not enter the pool."""

    seen: Perception
    score: ImageScore
    text: str


def reflect(brief: ImageBrief, number: int, below: Sequence[Scored], empty_queries: Sequence[str]) -> Reflection:
    """Without a model: count the requirements that were not met, and the things that were seen instead."""
    names = [requirement.name for requirement in brief.requirements]
    lacks = Counter(name for candidate in below for name in candidate.score.missing)
    missing = tuple(name for name in names if not below or lacks[name] >= _OFTEN * len(below))
    kinds = frozenset().union(*(kinds_in_phrase(thing) for thing in brief.things)) if brief.things else frozenset()
    counts = Counter(
        label
        for candidate in below
        for label in {thing.label for thing in candidate.seen.things}
        if not kinds & kinds_in_phrase(label) and label in stated_words(candidate.text)
    )
    unexpected = tuple(label for label, count in counts.most_common(_MOST_LABELS) if count >= _OFTEN * len(below))
    return Reflection(number, missing, unexpected, tuple(empty_queries), _sentence(missing, unexpected, below))


def _sentence(missing: Sequence[str], unexpected: Sequence[str], below: Sequence[Scored]) -> str:
    if not below:
        return "No query found an image that could be scored; use more common words."
    lacked = f"most lack {', '.join(missing)}" if missing else "each lacks something else"
    extra = f"; unwanted: {', '.join(unexpected)}" if unexpected else ""
    return f"{len(below)} candidates below the threshold: {lacked}{extra}."
