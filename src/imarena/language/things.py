"""Things named in a sentence: roughly its noun phrases, found by the words that end one. English only."""

import re
from dataclasses import dataclass
from functools import lru_cache

from imarena.core import package_yaml
from imarena.language.lexicon import lexicon

LONGEST = 5
_JOINS = ("of",)
_TOKEN = re.compile(r"[^\W_](?:[\w'-]*\w)?|[^\w\s]")
_LATIN = re.compile(r"[a-z]")


@dataclass(frozen=True)
class _Stops:
    ending: frozenset[str]
    determiners: frozenset[str]
    numbered: frozenset[str]
    not_things: frozenset[str]
    not_phrases: frozenset[str]
    made: frozenset[str]
    """Words for images, such as 'painting': the words before them describe how the image is made."""
    photos: frozenset[str]
    """Words for images, such as 'photo': the words before them describe what the image shows."""


@lru_cache(maxsize=1)
def _stops() -> _Stops:
    raw = package_yaml("imarena.language", "things.yaml")
    ending = {word for name in ("prepositions", "linking", "pronouns", "auxiliaries") for word in raw[name]}
    return _Stops(
        frozenset(ending) | lexicon().verbs - {"color", "colour", "cover", "light", "copy", "lower"},
        frozenset(raw["determiners"]),
        frozenset(raw["numbered"]),
        frozenset(raw["not_things"]) | lexicon().image_words,
        frozenset(raw["not_phrases"]),
        frozenset(raw["made"]),
        frozenset(raw["photos"]),
    )


def things_in(text: str) -> tuple[str, ...]:
    """Noun phrases in order, each once, without articles; numbers stay: ``a cat on two red chairs`` has two."""
    stops = _stops()
    things: list[str] = []
    phrase: list[str] = []
    tokens = [token.strip("'-") for token in _TOKEN.findall(text.lower().replace("’", "'"))]
    for at, token in enumerate([*tokens, "."]):
        following = tokens[at + 1] if at + 1 < len(tokens) else "."
        if token in stops.determiners:
            _close(phrase, things)
            phrase = [token] if token in stops.numbered or token.isdecimal() else []
        elif token in _JOINS and phrase and following not in stops.determiners and not _is_picture(phrase, stops):
            phrase.append(token)  # "a cup of coffee" is one thing; "a photo of a cat" is the cat
        elif _ends(token, following, phrase, stops):
            _close(phrase, things)
            phrase = []
        else:
            phrase.append(token)
    return tuple(dict.fromkeys(things))


def _ends(token: str, following: str, phrase: list[str], stops: _Stops) -> bool:
    if token in stops.ending or not (_LATIN.search(token) or (token.isdecimal() and len(token) <= 3)):
        return True
    # "a cat sleeping on ...", "a boy quickly ...": an action, unless followed by something it could describe
    acting = token.endswith(("ing", "ly")) and len(token) > 4 and bool(phrase) and token not in stops.made
    return acting and (following in stops.ending or following in stops.determiners or not following[0].isalnum())


def _is_picture(phrase: list[str], stops: _Stops) -> bool:
    return phrase[-1] in stops.not_things | stops.made | stops.photos


def _close(phrase: list[str], things: list[str]) -> None:
    """Keep the end of a long phrase, where the noun is; drop a phrase without a noun."""
    stops = _stops()
    words = phrase[-LONGEST:]
    while words and (words[-1] in _JOINS or words[-1].isdecimal() or words[-1].endswith("ly")):
        words = words[:-1]
    while words and words[0] in _JOINS:
        words = words[1:]
    if words and words[-1] in stops.made:
        return
    if words and words[-1] in stops.photos:
        words = words[:-1]
    naming = [word for word in words if word not in stops.numbered and word not in stops.not_things]
    looks = lexicon().colours.keys() - lexicon().also_things | lexicon().shades
    if (
        " ".join(words) not in stops.not_phrases
        and naming
        and not all(word in looks or word.isdecimal() or word in _JOINS for word in naming)
    ):
        things.append(" ".join(words))
