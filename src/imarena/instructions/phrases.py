"""Names of objects, colors and materials: which have the same meaning, and how they are written in a sentence."""

import re
from functools import lru_cache

from imarena.core import SceneObject, package_yaml, plural
from imarena.instructions.vocabulary import vocabulary
from imarena.language import colours_in, lexicon, named_colour
from imarena.vision import basic_colour, kinds_in_phrase

_PLURALS = frozenset(package_yaml("imarena.instructions", "plurals.yaml"))
_CHINESE = re.compile(r"[㐀-鿿]")
_SPELLING = {"grey": "gray", "colour": "color"}
MOST_ENGLISH_WORDS, MOST_CHINESE_CHARACTERS, LONGEST_TEXT = 2, 4, 24


def object_name(noun: str, color: str | None, material: str | None) -> str:
    """Material, color and object, without unknown parts: `ceramic white cup`."""
    return " ".join(part for part in (material, color, noun) if part)


def renamed(thing: SceneObject, *, color: str | None = None, material: str | None = None) -> str:
    """The new name of an object whose color or material changed."""
    for old, new in ((thing.color, color), (thing.material, material)):
        before, match, after = f" {thing.name} ".partition(f" {old} ")
        if old and new and match:
            return f"{before} {new} {after}".strip()
    return object_name(thing.object, color or thing.color, material or thing.material)


@lru_cache(maxsize=4096)
def _noun_forms(phrase: str) -> frozenset[str]:
    words = phrase.lower().split()
    last = words[-1] if words else ""
    endings = {last, last.removesuffix("s"), last.removesuffix("es"), re.sub(r"ies$", "y", last)}
    return frozenset(" ".join([*words[:-1], ending]) for ending in endings)


@lru_cache(maxsize=16384)
def same_noun(one: str, other: str) -> bool:
    """Do two nouns mean the same kind of object: `mug` and `cup`, `bikes` and `bicycle`?"""
    if _noun_forms(one) & _noun_forms(other):
        return True
    heads = _noun_forms(_head(one)) & _noun_forms(_head(other))
    return bool(heads or kinds_in_phrase(one) & kinds_in_phrase(other))


def _head(phrase: str) -> str:
    return phrase.rsplit(maxsplit=1)[-1] if phrase.split() else ""


@lru_cache(maxsize=4096)
def basic_colors_of(phrase: str) -> frozenset[str]:
    """The basic colors (US spelling) named in a phrase: `dark red and white`, `navy`; empty if there are none."""
    words = phrase.lower()
    basics = {basic_colour(colour) for colour in colours_in(words)}
    colour = named_colour(words)
    if colour is not None:
        basics.add(basic_colour(colour))
    basics |= {basic_colour(word) for word in re.findall(r"[a-z]+", words) if word in lexicon().colours}
    return frozenset(_SPELLING.get(basic, basic) for basic in basics)


@lru_cache(maxsize=4096)
def materials_of(phrase: str) -> frozenset[str]:
    """The vocabulary's materials named in a phrase: `oak` is wood; empty if there are none."""
    words = set(re.findall(r"[a-z]+", phrase.lower()))
    return frozenset(name for name, forms in vocabulary().materials.items() if words.intersection(forms))


def text_fits(text: str) -> bool:
    """Is it at most two English words, or four Chinese characters?"""
    if not text or text != text.strip() or len(text) > LONGEST_TEXT or not text.isprintable() or "'" in text:
        return False
    if _CHINESE.search(text):
        return len(text) <= MOST_CHINESE_CHARACTERS
    return len(text.split()) <= MOST_ENGLISH_WORDS and any(character.isalnum() for character in text)


def same_text(text: str, other: str) -> bool:
    """Are they equal except for case, punctuation and spaces?"""
    return _plain(text) == _plain(other)


def _plain(text: str) -> str:
    return "".join(character for character in text.casefold() if character.isalnum())


def with_article(noun: str) -> str:
    """With an indefinite article: `a bench`, `an apple`; plural nouns are unchanged."""
    last = noun.rsplit(maxsplit=1)[-1].lower() if noun.split() else ""
    if last in _PLURALS or (last.endswith("s") and not last.endswith(("ss", "us", "bus", "is"))):
        return noun
    return f"{'an' if noun[:1].lower() in 'aeiou' else 'a'} {noun}"


def with_definite_article(thing: SceneObject) -> str:
    """With a definite article: `the red cup`, `the red cups`."""
    return f"the {in_number(thing.name, thing.count)}"


def in_number(name: str, count: int) -> str:
    """The name, in the plural if there are several."""
    last = name.rsplit(maxsplit=1)[-1].lower() if name.split() else ""
    is_plural = last in _PLURALS or (last.endswith("s") and not last.endswith(("ss", "us", "is")))
    return name if is_plural else plural(name, count)
