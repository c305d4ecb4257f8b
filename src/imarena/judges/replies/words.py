"""The table of words that name a side, a draw or a refusal, and the normalisation of phrases for it."""

import re
import unicodedata
from dataclasses import dataclass
from functools import cache
from typing import Any

from imarena.core import package_yaml

_MARKUP = re.compile(r"[*_`~#\"“”«»„\u200b\u200e\u200f\ufeff]+")
_SPACE = re.compile(r"\s+")
_EDGES = " .,:;!。、，：；！\t\r\n"
_BRACKETS = ("[]", "()", "{}", "<>", "【】", "「」", "''", "‘’")


@dataclass(frozen=True)
class WordTable:
    """`words.yaml`, with every form normalised."""

    version: str
    nouns: tuple[str, ...]
    left: frozenset[str]
    right: frozenset[str]
    left_with_noun: frozenset[str]
    right_with_noun: frozenset[str]
    tie: frozenset[str]
    both_bad: frozenset[str]
    both_good: frozenset[str]
    not_applicable: frozenset[str]
    qualifiers: frozenset[str]
    praise: frozenset[str]
    ambiguous: frozenset[str]
    also_words: frozenset[str]
    verbs: frozenset[str]
    articles: tuple[str, ...]
    fillers: frozenset[str]
    doubts: frozenset[str]
    keys: frozenset[str]
    refusals: tuple[str, ...]


def normalise_phrase(text: str) -> str:
    """Normalise a phrase: NFKC, case folded, straight apostrophes, no markup, no outer brackets or punctuation."""
    text = unicodedata.normalize("NFKC", text).casefold().replace("’", "'")
    text = _SPACE.sub(" ", _MARKUP.sub("", text.replace("_", " "))).strip(_EDGES)
    for _ in range(4):  # "[[A]]", "(A)": with more layers it is not a label
        if len(text) < 2 or f"{text[0]}{text[-1]}" not in _BRACKETS:
            break
        text = text[1:-1].strip(_EDGES)
    return text


@cache
def word_table() -> WordTable:
    """Read the table once; nouns are sorted with the longest first."""
    data: dict[str, Any] = package_yaml("imarena.judges", "words.yaml")
    version, articles = str(data.pop("version")), tuple(data.pop("articles"))
    forms: dict[str, Any] = {
        name: frozenset(normalise_phrase(str(word)) for word in words) for name, words in data.items()
    }
    ordered = {
        "nouns": tuple(sorted(forms["nouns"], key=len, reverse=True)),
        "refusals": tuple(sorted(forms["refusals"])),
    }
    return WordTable(version=version, articles=articles, **forms | ordered)
