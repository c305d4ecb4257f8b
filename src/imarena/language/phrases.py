"""Noun phrases, and the colours, numbers, places and materials named in them."""

import re

from imarena.language.lexicon import lexicon

_ARTICLES = frozenset(("a", "an", "the", "some", "any", "his", "her", "its", "their", "this", "that", "these", "those"))
_HEX = re.compile(r"#[0-9a-f]{6}\b")


def phrase_words(phrase: str) -> list[str]:
    """The words of a phrase, without possessive endings."""
    return [re.sub(r"'s$", "", w) for w in re.findall(r"#[0-9a-f]{6}\b|[\w][\w'-]*", phrase)]


def strip_article(phrase: str) -> str:
    """The phrase without a leading article or possessive."""
    tokens = phrase.strip(" ,.").split(" ")
    while len(tokens) > 1 and tokens[0] in _ARTICLES:
        tokens = tokens[1:]
    return " ".join(tokens).strip()


def has_article(phrase: str) -> bool:
    """Does it begin with 'a', 'an', 'some' or a number, like a new thing?"""
    first = phrase.strip().split(" ")[0] if phrase.strip() else ""
    return first in {"a", "an", "some", "another"} or (first in lexicon().numbers and first != "one")


def colours_in(phrase: str) -> tuple[str, ...]:
    """Colour words of the lexicon (and `#rrggbb`) used as colours, in order, each once."""
    tokens = phrase_words(phrase)
    names = lexicon().colours
    colours = [t for t in tokens if _HEX.fullmatch(t)]
    plain = [t for t in tokens if t not in _ARTICLES]
    only_colour = " ".join(plain) in lexicon().colour_names or (
        bool(plain) and all(t in names or t in lexicon().shades or t in {"and", "color", "colour"} for t in plain)
    )
    for at, token in enumerate(tokens):
        if token not in names:
            continue
        last = at + 1 == len(tokens) or tokens[at + 1] in {"on", "in", "at", "and", "with", "near", "next", "of", "to"}
        noun = (
            token in lexicon().also_things
            and last
            and not (only_colour and (at == 0 or tokens[at - 1] not in {"a", "an"}))
        )
        if not noun:
            colours.append(token)
    return tuple(dict.fromkeys(colours))


def named_colour(phrase: str) -> str | None:
    """The value (`#rrggbb`) of the longest colour name of several words in a phrase: 'sea green', 'dark sea green'."""
    tokens = phrase_words(phrase)
    for length in range(min(len(tokens), 4), 1, -1):
        for start in range(len(tokens) - length + 1):
            value = lexicon().colour_names.get(" ".join(tokens[start : start + length]))
            if value is not None:
                return value
    return None


def is_colour_phrase(phrase: str) -> bool:
    """Does the phrase contain only colours ('dark blue', 'red and white', 'all white')?"""
    tokens = [
        t
        for t in phrase_words(phrase)
        if t not in {"the", "a", "color", "colour", "colored", "coloured", "in", "and", "or", "instead"}
    ]
    if " ".join(tokens) in lexicon().colour_names:
        return True
    names = lexicon().colours
    if not tokens or (has_article(phrase) and tokens[-1] in lexicon().also_things and len(tokens) == 1):
        return False
    return any(t in names or _HEX.fullmatch(t) for t in tokens) and all(
        t in names or t in lexicon().shades or _HEX.fullmatch(t) for t in tokens
    )


def is_material_phrase(phrase: str) -> bool:
    """Does the phrase contain only a material ('wooden', 'made of glass', 'cement')?"""
    cleaned = re.sub(r"^(?:be )?(?:made |built )?(?:out of|of|from)\s+", "", phrase.strip())
    tokens = [t for t in phrase_words(cleaned) if t not in _ARTICLES and t not in lexicon().shades]
    return bool(tokens) and all(t in lexicon().materials for t in tokens)


def count_in(phrase: str) -> int | None:
    """The number at the beginning of a phrase, if any: 'two dogs' is 2, 'a dog' is 1, 'dogs' None."""
    for token in phrase_words(phrase)[:3]:
        if token.isdecimal() and token.isascii() and len(token) <= 3:
            return int(token)
        if token in lexicon().numbers:
            return lexicon().numbers[token]
        if token not in {"the", "exactly", "only", "about", "at", "least"}:
            return None
    return None


def places_in(phrase: str) -> tuple[str, ...]:
    """Places in the image: left, right, top, bottom, centre, background, foreground, corner."""
    tokens = set(
        phrase_words(
            re.sub(
                r"\bon top of\b|\bright (?:next|away|now)\b|\bin front of\b|(?:tank|crop|'s) top\b|"
                r"\bfront (?:leg|paw|door)s?\b",
                " ",
                phrase,
            )
        )
    )
    return tuple(side for side, names in lexicon().places.items() if tokens & names)


def is_whole_image(phrase: str) -> bool:
    """Is the phrase about the image itself?"""
    tokens = [t for t in phrase_words(phrase) if t not in _ARTICLES and t not in {"of", "in"}]
    return all(t in lexicon().image_words for t in tokens) if tokens else True


def head_noun(phrase: str) -> str:
    """The last word of the phrase before any preposition, which is roughly its head noun."""
    before = re.split(
        r"\b(?:of|on|in|at|with|near|next|by|from|under|over|behind|beside|that|which|to|"
        r"for)\b",
        strip_article(phrase),
    )[0]
    tokens = phrase_words(before)
    return tokens[-1] if tokens else ""
