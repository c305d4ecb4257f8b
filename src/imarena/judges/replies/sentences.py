"""Read a reply in plain sentences whose last one only names the winner: 'The winner is B.', 'I prefer Image A'.

The reply is read only if nothing in it could change its meaning: no negation, hedge, condition, question, quotation
or report of what somebody said, no other winner, and no praise that was not understood.
"""

import re
from functools import cache

from imarena.core.records import Outcome
from imarena.judges.replies.statements import claims
from imarena.judges.replies.words import normalise_phrase, word_table

_MAX_CHARACTERS = 1500
_ENDS = re.compile(r"(?:[.!](?=\s|$|\*)|[。！;；\n])+")
_ENDED = re.compile(r"[.!。！][\s*_)]*$")
_INNER = re.compile(r"[.!]\w")  # 'B.5' is not B
_QUOTED = re.compile(r"[\"“”„«»「」『』‘`]|(?<!\w)['’]|['’](?!\w)|[?？]")
_LETTER = re.compile(r"(?<![A-Za-z'’])[AB](?![A-Za-z])")
_ARTICLE = re.compile(r"(?<![A-Za-z])a[\s.!*_]*$")


def winner_in_prose(answer: str) -> Outcome | None:
    """The winner that the last sentence names, if no other sentence casts doubt on it; else None."""
    if len(answer) > _MAX_CHARACTERS or _QUOTED.search(answer) or _doubts().search(normalise_phrase(answer)):
        return None
    sentences = [part.strip() for part in _ENDS.split(answer) if part.strip(" \t*_#>-")]
    if not sentences:
        return None
    winners = [_winner(sentence) for sentence in sentences]
    last = winners[-1]
    earlier = zip(sentences[:-1], winners[:-1], strict=True)
    if last is None or any(
        side is not last if side else _praise().search(normalise_phrase(text)) for text, side in earlier
    ):
        return None
    return last if _surely_named(sentences[-1], ended=_ENDED.search(answer) is not None) else None


def _winner(sentence: str) -> Outcome | None:
    outcomes = set() if _INNER.search(sentence) else set(claims(sentence))
    return outcomes.pop() if len(outcomes) == 1 else None


def _surely_named(sentence: str, *, ended: bool) -> bool:
    """Is the name complete? 'I prefer a' and 'I prefer the right' may continue in another way."""
    if _ARTICLE.search(sentence):
        return False
    bare = normalise_phrase(sentence)
    return ended or _LETTER.search(sentence) is not None or any(bare.endswith(noun) for noun in word_table().nouns)


@cache
def _doubts() -> re.Pattern[str]:
    """Matches any word that may reverse a statement, weaken it, or attribute it to somebody else."""
    return _any_of(word_table().doubts)


@cache
def _praise() -> re.Pattern[str]:
    return _any_of(word_table().praise | word_table().keys)


def _any_of(forms: frozenset[str]) -> re.Pattern[str]:
    """Matches whole words; words of scripts without spaces match anywhere."""
    spaced = "|".join(re.escape(form) for form in sorted(forms) if form < "\u3000")
    glued = "|".join(re.escape(form) for form in sorted(forms) if form >= "\u3000")
    return re.compile(rf"(?<![\w'])(?:{spaced})(?!\w)|{glued}")
