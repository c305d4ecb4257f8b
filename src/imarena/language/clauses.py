"""Split an instruction into clauses: quotes replaced by marks, courtesies dropped, prohibitions separated."""

import re
from dataclasses import dataclass

from imarena.language.lexicon import lexicon

MAX_CHARS = 2000
"""Longer instructions are cut off here, to limit the time."""

_QUOTE = re.compile(r"[“\"]([^”\"]{1,200})[”\"]|(?<![\w])['‘]([^'’]{1,200})['’](?![\w])|«([^»]{1,200})»")
_COURTESY = re.compile(
    r"^(?:please|kindly|now|then|also|next|finally|first|and|but|so|ok|okay|hey|hi"
    r"|(?:can|could|would|will)(?:\s+(?:you|we|i))(?:\s+please)?(?=\s+\w)"
    r"|(?:i|we)(?:\s+(?:want|need|would\s+like|wish|'d\s+like)|'d\s+like)(?:\s+you)?(?:\s+to)?"
    r"|you\s+(?:should|must|need\s+to)|try\s+to|help\s+me(?:\s+to)?|let's|lets|let\s+us|"
    r"what\s+if|what\s+about|how\s+about|it\s+would\s+be\s+nice\s+if"
    r"|in\s+(?:the|this)\s+(?:image|photo|picture))\b[\s,:]*"
)
_KEEP = re.compile(
    r"^(?:keep|preserve|retain|maintain|leave|do\s+not|don't|dont|never|without|ensure|"
    r"make\s+sure|while\s+(?:keeping|preserving|leaving|maintaining)"
    r"|(?:the\s+)?(?:rest|everything\s+else|nothing\s+else|others?)\b)"
)
_INLINE_KEEP = re.compile(
    r"[,\s]+(?:while|but|and)?\s*\b((?:without\s+(?:changing|altering|affecting|modifying|"
    r"touching)|keeping|preserving|leaving|maintaining)\s.+)$"
)
_FROM_IMAGE = re.compile(r"\s+(?:like the one )?(?:in|of|from|to) (?:image|picture|photo) \d+\b")
_NUMBERED = re.compile(r"(?=1\. )(?:\d+\. [^\n]*(?:\n|$)){2,}")
_NUMBER = re.compile(r"(?m)^\d+\. ")
_IN_A_WAY = re.compile(r"^(?:leave|keep)\s+(?:only|just)\b")


@dataclass(frozen=True)
class Clauses:
    """Clauses in lower case with marks such as `q0q` for quotes; the quotes themselves as written."""

    asks: tuple[str, ...]
    keeps: tuple[str, ...]
    quotes: tuple[str, ...]


def _set_quotes_aside(text: str) -> tuple[str, list[str]]:
    quotes: list[str] = []

    def mark(match: re.Match[str]) -> str:
        quotes.append(next(group for group in match.groups() if group is not None).strip())
        return f" q{len(quotes) - 1}q "

    return _QUOTE.sub(mark, text), quotes


def strip_courtesy(clause: str) -> str:
    """A clause without 'please', 'could you', 'what if' and the like at its start."""
    while True:
        shorter = _COURTESY.sub("", clause, count=1).strip()
        if shorter == clause or not shorter:
            return clause
        clause = shorter


def _split(text: str) -> list[str]:
    parts: list[str] = []
    for sentence in re.split(r"[.](?:\s|$)|[;!?\n]", text):
        verbs = "|".join(sorted(map(re.escape, lexicon().verbs), key=len, reverse=True))
        pattern = rf",?\s+(?:and|then|but)(?:\s+(?:then|also))?\s+(?=(?:{verbs})\b)|,\s+(?=(?:{verbs})\b)"
        parts.extend(re.split(pattern, sentence))
    return [part.strip(" ,.:\t") for part in parts]


def split_clauses(instruction: str) -> Clauses:
    """Split `instruction` into what it asks for and what it forbids."""
    text, quotes = _set_quotes_aside(instruction[:MAX_CHARS].replace("’", "'"))
    text = re.sub(r"[ \t\r\f\v]+", " ", text).strip().lower()
    if _NUMBERED.fullmatch(text):  # the numbers of a list are not edits
        text = _NUMBER.sub("", text)
    asks: list[str] = []
    keeps: list[str] = []
    for part in _split(text):
        clause = strip_courtesy(part)
        if not clause:
            continue
        if _KEEP.match(clause) and not _IN_A_WAY.match(clause):
            keeps.append(clause)
            continue
        clause = _FROM_IMAGE.sub("", clause)
        inline = _INLINE_KEEP.search(clause)
        if inline and inline.start() > 0:
            keeps.append(inline.group(1).strip())
            clause = clause[: inline.start()].strip()
        asks.append(clause)
    return Clauses(asks=tuple(asks), keeps=tuple(keeps), quotes=tuple(quotes))
