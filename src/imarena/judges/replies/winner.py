"""Read a phrase as a side: 'Image B' means right, 'Equal' a tie, 'banana' nothing."""

import re

from imarena.core.records import Outcome
from imarena.judges.replies.words import WordTable, normalise_phrase, word_table

_COMPARED = re.compile(r"^(a|b)\s*([<>]{1,2}|=)\s*(a|b)$")
_BETTER_THAN = re.compile(r"^(?P<first>.+?) better than (?P<second>.+)$")
_SEPARATORS = re.compile(r"[\s(),;:–—-]+")
_OPENED = re.compile(r"\s*[(–—-]")
_CJK = re.compile(r"([\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af])")


def side_named(phrase: str) -> Outcome | None:
    """The outcome that a short phrase names, according to the table of accepted forms; else None.

    The whole phrase must be understood: a letter inside a word never counts.
    """
    text = normalise_phrase(phrase)
    if not text or len(text) > 120:
        return None
    table = word_table()
    if text in table.both_bad:
        return Outcome.BOTH_BAD
    if text in table.tie or text in table.both_good:
        return Outcome.TIE
    return _compared(text) or _label(text, table) or _qualified(text, table) or _better_than(text, table)


def label_named(phrase: str) -> Outcome | None:
    """The side that a phrase names with only a label: 'B', 'the second image'."""
    return _label(normalise_phrase(phrase), word_table())


def _compared(text: str) -> Outcome | None:
    """Read a comparison: 'A>B', 'B<<A'."""
    match = _COMPARED.match(text)
    if match is None or match[1] == match[3]:
        return None
    if match[2] == "=":
        return Outcome.TIE
    return Outcome.LEFT if (match[1] == "a") == match[2].startswith(">") else Outcome.RIGHT


def _label(text: str, table: WordTable) -> Outcome | None:
    """Read a label, alone or next to a noun: 'b', 'image b', 'second picture', '图像a'."""
    for article in table.articles:
        if text.startswith(f"{article} ") or (article.endswith("'") and text.startswith(article)):
            text = text[len(article) :].strip()
            break
    if text in table.ambiguous:
        return None
    if text in table.left:
        return Outcome.LEFT
    if text in table.right:
        return Outcome.RIGHT
    for noun in table.nouns:
        for label_text in _beside(text, noun):
            label = normalise_phrase(label_text.removeprefix("is ").removeprefix("number "))
            if label in table.left or label in table.left_with_noun:
                return Outcome.LEFT
            if label in table.right or label in table.right_with_noun:
                return Outcome.RIGHT
    return None


def _beside(text: str, noun: str) -> list[str]:
    """What remains of `text` without `noun` at its start or its end, at a word boundary."""
    rests = []
    glued = bool(_CJK.match(noun))
    if text.startswith(noun) and (glued or text[len(noun) : len(noun) + 1] in (" ", "-", ":", "#", "(")):
        rests.append(text[len(noun) :].lstrip(" -:"))
    if text.endswith(noun) and (glued or text[-len(noun) - 1 : -len(noun)] in (" ", "-")):
        remainder = text[: -len(noun)].rstrip(" -")
        if glued or remainder != "a":  # 'a picture' can be any picture
            rests.append(remainder)
    return rests


def _qualified(text: str, table: WordTable) -> Outcome | None:
    """Read a label followed only by praise: 'b (marginally better)', 'image a is the winner', 'a更好'."""
    spaced = _SEPARATORS.sub(" ", text)
    for cut in range(len(spaced) - 1, 0, -1):
        head, tail = spaced[:cut].strip(), spaced[cut:].strip()
        boundary = spaced[cut] == " " or _CJK.match(spaced[cut])
        if boundary and tail and _praises(tail, table):
            outcome = _label(head, table)
            glued = _CJK.match(tail)  # 'A更好': before such a script, a letter cannot be an article
            if outcome is not None and (head not in table.also_words or glued or _set_apart(text, head, tail, table)):
                return outcome
    return None


def _set_apart(text: str, head: str, tail: str, table: WordTable) -> bool:
    """Is `head` a label? Yes in 'A wins' and 'A (better)'; no in 'a winner', 'second best' and 'right, better'."""
    return tail.split(maxsplit=1)[0] in table.verbs or _OPENED.match(text[len(head) :]) is not None


def _praises(tail: str, table: WordTable) -> bool:
    if tail in table.praise:
        return True
    words = tail.split()
    if words[-1] in ("a", "an", "the", "is"):  # 'B wins A' does not end with an article
        return False
    return any(word in table.praise for word in words) and all(
        word in table.qualifiers or word in table.praise for word in words
    )


def _better_than(text: str, table: WordTable) -> Outcome | None:
    """Read 'B is slightly better than A'; both sides must be named and differ."""
    match = _BETTER_THAN.match(text)
    if match is None:
        return None
    second, words = _label(match["second"], table), match["first"].split()
    for cut in range(len(words), 0, -1):  # longest label first: 'image a', then 'is slightly'
        first = _label(" ".join(words[:cut]), table)
        if first is not None and all(word in table.qualifiers or word == "was" for word in words[cut:]):
            return first if second is not None and first is not second else None
    return None
