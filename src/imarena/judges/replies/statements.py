"""Find every place where a reply's prose names a winner: marked statements, and clauses that do nothing else.

'B is better', 'I would pick A' and 'the winner is B' are claims; 'A is better in colour', about one aspect, is not.
"""

import re
from functools import cache, lru_cache

from imarena.core.records import Outcome
from imarena.judges.replies.winner import label_named, side_named
from imarena.judges.replies.words import normalise_phrase, word_table

_MAX_CLAUSES = 200
_LINE = re.compile(r"^\s*[*_#>\-\s]*([^\n:：]{1,40}?)[*_]*\s*[:：]\s*(.{1,120}?)\s*$")
_ROW = re.compile(r"^\s*\|([^|\n]{1,60})\|([^|\n]{1,60})\|\s*$")
_MARKS = (
    re.compile(r"\[\[([^\[\]\n]{1,40})\]\]"),
    re.compile(r"\\boxed\{(?:\\text\{)?([^{}\n]{1,60})\}?\}"),
    re.compile(r"<answer>\s*([^<>\n]{1,60}?)\s*</answer>", re.IGNORECASE),
    re.compile(r"<\|begin_of_box\|>\s*([^<>\n]{1,60}?)\s*<\|end_of_box\|>"),
)
_CLAUSE_ENDS = re.compile(
    r"[.!?;\n。！？；]+|\b(?:but|however|yet|though|although|aber|pero|mais|ma|mas)\b|但是|但|不过", re.IGNORECASE
)
_COMMA = re.compile(r"[,，、]+")
_ASPECT = re.compile(r"\s*(?:in|on|for|with|by|as|if|when|where|regarding|concerning|at)\b", re.IGNORECASE)
_THEREFORE = re.compile(r"[,，]\s*(?=(?:so|thus|hence|therefore|which is why|making it clear that)\b)", re.IGNORECASE)
_REASON = re.compile(
    r"[\s,]*\b(?:because|since|due to|thanks to|for its|(?<!vote )(?<!voting )(?<!going )for the|as it|weil|porque|"
    r"car|perché)\b.*$"
)
_CHOOSES = re.compile(
    r"^(?:i|we)(?:'d|'ll|'m| am| would| will| do| have to| must)?(?: rather| still)? "
    r"(?:choose|chose|pick|prefer|select|vote for|voting for|go with|going with|going for|favou?r|"
    r"change my answer to) (?P<side>.+)$"
    r"|^(?:ich (?:wähle|bevorzuge|nehme|entscheide mich für)|(?:yo )?(?:prefiero|elijo|escojo)|je (?:préfère|choisis)|"
    r"(?:io )?(?:preferisco|scelgo)|(?:eu )?(?:prefiro|escolho)|я (?:выбираю|предпочитаю)) (?P<side_2>.+)$"
    r"|^我(?:选择|选|更喜欢|偏好)(?P<side_3>.+)$"
)
_LABEL = re.compile(
    r"^(?:the |my |our |der |die |das |el |la |le |il )?(?P<key>.+?) "
    r"(?:is|should be|should have been|would be|must be|ist|es|est|è|é) (?P<side>.+)$"
    r"|^(?P<key_2>更好的|较好的|获胜者|胜者|答案|最终答案)是(?P<side_2>.+)$"
)
_OVER = re.compile(r" (?:over|rather than|to) ")
_BETTER_ONE = re.compile(
    r"\b(better|best|preferred|superior) (?:one|image|picture|edit|result|output|candidate|option)$"
)
_SHOULD_BE = re.compile(r"^(?:it|this|that) (?:should be|should have been|must be|has to be) (?P<side>.+)$")
_SHOULD_WIN = re.compile(
    r"^(?P<side>.+?) (?:should|deserves to|has to|must) (?:win|have won|be (?:the )?(?:winner|preferred))$"
)


def marked_statements(text: str) -> tuple[list[Outcome], bool, int, int]:
    """Marked statements ('Winner: B', '[[A>B]]', '\\boxed{A}', a row '| Winner | B |') in a text.

    Returns the outcomes that they name, whether one of them names none, and where the first begins and ends.
    """
    statements: list[tuple[Outcome | None, int, int]] = [
        (side_named(match[1]), match.start(), match.end()) for pattern in _MARKS for match in pattern.finditer(text)
    ]
    start = 0
    for line in text.splitlines(keepends=True):
        key_value = _LINE.match(line.rstrip("\r\n"))
        if key_value is not None and normalise_phrase(key_value[1]) in word_table().keys:
            statements.append((side_named(key_value[2]), start, start + len(line)))
        row = _ROW.match(line.rstrip("\r\n"))
        if row is not None and normalise_phrase(row[1]) in word_table().keys and side_named(row[2]) is not None:
            statements.append((side_named(row[2]), start, start + len(line)))
        start += len(line)
    for match in _inline().finditer(text):
        side = side_named(match["side"])
        if side is not None:  # 'my answer: as follows' names nothing, and whole lines are handled above
            statements.append((side, match.start(), match.end()))
    outcomes = [outcome for outcome, _, _ in statements if outcome is not None]
    first = min(((start, end) for _, start, end in statements), default=(len(text), len(text)))
    return outcomes, len(outcomes) < len(statements), *first


@cache
def _inline() -> re.Pattern[str]:
    """Matches a key anywhere in a line and the rest of its clause: '... but Winner: B'."""
    keys = "|".join(re.escape(key) for key in sorted(word_table().keys, key=len, reverse=True))
    return re.compile(
        rf"(?:\b|(?<=[\u3400-\u9fff]))(?:{keys})[*_]*\s?[:：]\s?(?P<side>[^\n.,;:。，；]{{1,60}})", re.IGNORECASE
    )


def claims(text: str, *, ties: bool = False) -> list[Outcome]:
    """The overall claims of a text, in order. With `ties`, draws count and every comma ends a clause."""
    outcomes = []
    for clause in _candidates(_at_commas(text) if ties else _THEREFORE.sub("\n", text)):
        outcome = _claim(clause)
        if outcome is None and ties and " " in clause and clause in word_table().tie:
            outcome = Outcome.TIE
        if outcome is not None:
            outcomes.append(outcome)
    return outcomes


def _at_commas(text: str) -> str:
    """End a clause at every comma, except after an aspect: 'in colour, A is better' is not a claim."""
    return "\n".join(part if _ASPECT.match(part) else _COMMA.sub("\n", part) for part in _CLAUSE_ENDS.split(text))


def _candidates(text: str) -> list[str]:
    """Clauses short enough to be only a claim; if there are very many, only the first and the last ones."""
    clauses = [stripped for part in _CLAUSE_ENDS.split(text) if 3 <= len(part) <= 160 and (stripped := _stripped(part))]
    return clauses if len(clauses) <= 2 * _MAX_CLAUSES else clauses[:_MAX_CLAUSES] + clauses[-_MAX_CLAUSES:]


def _stripped(clause: str) -> str:
    text = _REASON.sub("", normalise_phrase(clause))
    for _ in range(4):
        before, after = _fillers()
        shorter = normalise_phrase(after.sub("", before.sub("", text)))
        if shorter == text:
            break
        text = shorter
    return text


@cache
def _fillers() -> tuple[re.Pattern[str], re.Pattern[str]]:
    """Match words before or after a claim that do not change it: 'I think', 'overall'."""

    def either(forms: frozenset[str]) -> str:
        return "|".join(re.escape(form) for form in sorted(forms, key=len, reverse=True))

    return (
        re.compile(rf"^(?:{either(word_table().fillers)})(?:[\s,，:]+|(?<=[\u3400-\u9fff]))"),
        re.compile(rf"[\s,，]+(?:{either(word_table().fillers)})$"),
    )


def _preferred(phrase: str) -> Outcome | None:
    """Read 'B', or 'image A over image B', where both sides must be named and differ."""
    first, _, second = (part.strip() for part in _OVER.sub("\n", phrase, count=1).partition("\n"))
    side = label_named(first)
    if not second:
        return side
    return side if side is not None and label_named(second) not in (None, side) else None


def _group(match: re.Match[str], name: str) -> str:
    """The group of the language that matched."""
    return next(value for key, value in match.groupdict().items() if key.startswith(name) and value is not None)


@lru_cache(maxsize=2048)
def _claim(clause: str) -> Outcome | None:
    choice = _CHOOSES.match(clause) or _SHOULD_WIN.match(clause) or _SHOULD_BE.match(clause)
    if choice is not None:
        return _preferred(_group(choice, "side"))
    label = _LABEL.match(clause)
    if label is not None and _group(label, "key") in word_table().keys | word_table().praise | {"更好的", "较好的"}:
        return label_named(_group(label, "side"))
    clause = _BETTER_ONE.sub(r"\1", clause)
    praised = any(word in word_table().praise for word in clause.split()) or any(
        form in clause for form in word_table().praise if not form.isascii()
    )
    return side_named(clause) if praised else None
