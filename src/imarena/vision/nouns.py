"""Which of the detector's 80 categories a noun means: one table for all callers that look for named things."""

import re
from functools import lru_cache

from imarena.core import package_yaml

_NOUNS = package_yaml("imarena.vision", "nouns.yaml")
KINDS: tuple[str, ...] = tuple(_NOUNS["kinds"])
"""The names of COCO's 80 categories."""
_END = re.compile(
    r"\b(?:on|in|with|near|next|under|over|at|behind|beside|by|from|that|which|who|inside|to|for|instead|and|\w+ing)\b"
)


@lru_cache(maxsize=1)
def _table() -> tuple[dict[str, frozenset[int]], frozenset[str]]:
    kinds_by_noun: dict[str, set[int]] = {kind: {at} for at, kind in enumerate(KINDS)}
    for kind, names in _NOUNS["words"].items():
        for name in names:
            kinds_by_noun.setdefault(name, set()).add(KINDS.index(kind))
    return {word: frozenset(kinds) for word, kinds in kinds_by_noun.items()}, frozenset(_NOUNS["measures"])


def _singulars(noun: str) -> tuple[str, ...]:
    """The noun and its possible singular forms."""
    return noun, noun.removesuffix("s"), noun.removesuffix("es"), re.sub(r"ies$", "y", noun), re.sub(r"ves$", "f", noun)


def kinds_in_phrase(phrase: str) -> frozenset[int]:
    """Indices in `KINDS` of the phrase's head noun ('two brown dogs on a chair': dog); empty if there is none."""
    table, measures = _table()
    for part in _END.split(phrase.lower())[0].split(" of "):
        tokens = re.findall(r"[a-z-]+", part)
        for length in (2, 1):
            for noun in _singulars(" ".join(tokens[-length:])):
                if noun in table and not (length == 1 and noun in measures and " of " in phrase):
                    return table[noun]
        if not tokens or not measures.intersection(_singulars(tokens[-1])):
            break
    return frozenset()


def related_nouns(phrase: str) -> tuple[str, ...]:
    """Other names for the thing in a phrase: the detector's name for its category first, then that category's nouns.

    Empty if the phrase names none of the 80 categories.
    """
    kinds = sorted(kinds_in_phrase(phrase))
    table, _ = _table()
    nouns = [KINDS[kind] for kind in kinds] + [noun for noun, its in table.items() if its & set(kinds)]
    return tuple(dict.fromkeys(nouns))


def labels_in_phrase(phrase: str) -> frozenset[str]:
    """The detector labels that match the phrase's head noun; empty if none does."""
    return frozenset(KINDS[kind] for kind in kinds_in_phrase(phrase))
