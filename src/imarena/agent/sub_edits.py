"""Split an instruction into orders that make sense on their own: sentences, then clauses, with pronouns resolved."""

import re

from imarena.language import Edit, EditKind, lexicon, read_instruction

_GAP = re.compile(r"""(?:(?<=[.!?])|(?<=[.!?]["'”’])|(?<=;))\s+(?=[A-Z0-9"'“‘]|\w+ )""")
_QUOTED = re.compile(r"""["“][^"”]*["”]|(?<!\w)['‘][^'’]*['’](?!\w)""")
_COURTESY = re.compile(
    r"^(?:please|kindly|then|also|now|next|finally|first|and|could you|can you)[\s,]+", re.IGNORECASE
)
_JOINT = re.compile(r",?\s+and\s+(?:then\s+|also\s+)?(?=[a-z])|,\s+(?:then\s+)?(?=[a-z])")
_PRONOUN = re.compile(r"\b(?:it|them|its|their|they|this|that|these|those|one|ones)\b", re.IGNORECASE)
_OBJECT = re.compile(r"^(\w+)\s+(?:it|them)\b")
_TARGET = re.compile(
    r"\b(?:the|this|that|his|her|its|their|my)\s+[\w -]+?(?=\s+(?:to|into|with|from|on|in|of|at|so)\b|[.,;]|$)"
)
_MARK = re.compile(r"\bq(\d{1,4})q\b")
_NOT_ASKING = frozenset({"keep", "preserve", "leave", "don't", "do", "ensure"})


def split_into_edits(instruction: str) -> tuple[str, ...]:
    """Split an instruction into one order per request.

    "Change the button to read 'Go' and make it red." becomes "Change the button to read 'Go'." and "Make the button
    red." What cannot be split without losing its meaning stays together.
    """
    return tuple(order for request in requests_in(instruction) for order in _parted(request))


def edits_about(instruction: str, clauses: tuple[str, ...]) -> tuple[str, ...]:
    """The orders that contain these clauses; none if that is all orders, or no clause is known."""
    bare_clauses = frozenset(remove_quote_marks(clause) for clause in clauses)
    for orders in (split_into_edits(instruction), requests_in(instruction)):
        matches = tuple(
            order
            for order in orders
            if bare_clauses & {remove_quote_marks(edit.clause) for edit in read_instruction(order).edits}
        )
        if bare_clauses and len(matches) >= len(bare_clauses):
            return matches if len(matches) < len(orders) else ()
    return matches if len(matches) < len(orders) else ()


def clauses_in(order: str, clauses: tuple[str, ...]) -> frozenset[str]:
    """The clauses that an order asks for."""
    edit_clauses = {remove_quote_marks(edit.clause) for edit in read_instruction(order).edits}
    return frozenset(clause for clause in clauses if remove_quote_marks(clause) in edit_clauses)


def restore_quotes(clause: str, instruction: str) -> str:
    """Replace the marks in a clause from the instruction reader by the quoted words of the instruction."""
    quotes = [match[0] for match in _QUOTED.finditer(instruction)]
    return _MARK.sub(lambda match: quotes[int(match[1])] if int(match[1]) < len(quotes) else "'...'", clause)


def remove_quote_marks(clause: str) -> str:
    """Remove the marks of quotes. They are numbered per instruction, so the same clause has others in a part of it."""
    return _QUOTED.sub("''", _MARK.sub("''", clause))


def requests_in(instruction: str) -> tuple[str, ...]:
    """The sentences that ask for something. A statement ("the photo is too dark") is joined to the next request."""
    requests: list[str] = []
    pending = ""
    for sentence in _sentences(" ".join(instruction.split())):
        text = f"{pending} {sentence}".strip()
        if _asks(sentence):
            requests.append(text)
            pending = ""
        else:
            pending = text
    if pending:
        requests = [*requests[:-1], f"{requests[-1]} {pending}"] if requests else [pending]
    return tuple(requests)


def _sentences(text: str) -> list[str]:
    """Split at the ends of sentences and at semicolons, never inside quotes."""
    quoted = [match.span() for match in _QUOTED.finditer(text)]
    sentences: list[str] = []
    start = 0
    for gap in _GAP.finditer(text):
        inside = any(left < gap.start() < right for left, right in quoted)
        if not inside and (text[gap.end()].isupper() or text[gap.start() - 1] == ";" or text[gap.end()] in "\"'“‘"):
            sentences.append(text[start : gap.start()])
            start = gap.end()
    return [*sentences, text[start:]]


def _asks(sentence: str) -> bool:
    plain = sentence.strip(" \"'“")
    while True:
        shorter = _COURTESY.sub("", plain, count=1)
        if shorter == plain:
            break
        plain = shorter
    first = re.match(r"[a-z'-]+", plain.lower())
    return first is not None and first[0] in lexicon().verbs - _NOT_ASKING


def _parted(request: str) -> list[str]:
    """Split a sentence at "and" before a verb, if both parts are understood and ask for different things."""
    quoted = [match.span() for match in _QUOTED.finditer(request)]
    for joint in _JOINT.finditer(request):
        if any(left < joint.start() < right for left, right in quoted):
            continue
        before, after = request[: joint.start()], request[joint.end() :]
        if not _asks(after) or re.search(r"[.!?]\s", before):
            continue
        plain = _resolved(after, before)
        if plain is not None and _apart(before, plain):
            return [_sentence(before), *_parted(_sentence(plain))]
    return [request]


def _resolved(after: str, before: str) -> str | None:
    """The second part with its pronoun replaced by a noun; None if it is unclear what a pronoun refers to."""
    if _OBJECT.match(after):
        target = _TARGET.search(before)
        if target is None:
            return None
        after = _OBJECT.sub(lambda match: f"{match[1]} {target[0]}", after)
    return None if _PRONOUN.search(_QUOTED.sub("", after)) else after


def _apart(before: str, after: str) -> bool:
    """Are both parts understood as edits, and as different ones?"""
    first, second = read_instruction(before).edits, read_instruction(after).edits
    if len(first) != 1 or not second or EditKind.OTHER in {edit.kind for edit in (*first, *second)}:
        return False
    return _different(first[0], second[0])


def _different(first: Edit, second: Edit) -> bool:
    return (first.kind, first.operation) != (second.kind, second.operation) or first.target != second.target


def _sentence(text: str) -> str:
    sentence = text.strip(" ,;")
    sentence = sentence[:1].upper() + sentence[1:]
    return sentence if sentence.endswith((".", "!", "?")) else f"{sentence}."
