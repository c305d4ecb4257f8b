"""The `builtin` mind: understanding and planning by rules, where no vision-language model is at hand."""

import re

from imarena.agent.spec import EditPlan, Spec, Thought, fitted
from imarena.core.protocols import EditRequest
from imarena.language import Edit, lexicon, read_instruction

_GAP = re.compile(r"""(?:(?<=[.!?])|(?<=[.!?]["'”’])|(?<=;))\s+(?=[A-Z0-9"'“‘]|\w+ )""")
_QUOTED = re.compile(r"""["“][^"”]*["”]|(?<!\w)['‘][^'’]*['’](?!\w)""")
_COURTESY = re.compile(
    r"^(?:please|kindly|then|also|now|next|finally|first|and|could you|can you)[\s,]+", re.IGNORECASE
)


class RuleMind:
    """Reads the instruction with `language`; keeps its words, since rules cannot tell what a better word would be."""

    name = "builtin"

    async def understand(self, request: EditRequest) -> tuple[Spec, Thought]:
        """The instruction with what must not change said beside it."""
        reading = read_instruction(request.instruction)
        local = bool(reading.edits) and not reading.whole_image
        constraints = [*reading.keep]
        if request.sources and local:
            constraints.append("everything that is not mentioned stays exactly as it is")
        elif request.sources:
            constraints.append("the scene, its things and the framing stay the same")
        words = " ".join(request.instruction.split())
        closed = words if words.endswith((".", "!", "?")) else f"{words}."
        added = f" {constraints[-1][:1].upper()}{constraints[-1][1:]}." if request.sources and not reading.keep else ""
        changes = tuple(_told(edit) for edit in reading.edits)
        note = f"not understood: {'; '.join(reading.unread)}" if reading.unread else ""
        return Spec(closed + added, changes, tuple(constraints)), Thought(note=note)

    async def plan(self, request: EditRequest, spec: Spec, most: int) -> tuple[EditPlan, Thought]:
        """One step for each sentence that asks for something; one step in all where there is only one."""
        steps = requests_in(request.instruction)
        if len(steps) < 2:
            return EditPlan((spec.instruction,), most), Thought()
        return EditPlan(fitted(steps, most), most, tentative=True), Thought()


def _told(edit: Edit) -> str:
    words = [edit.kind.value, edit.operation, edit.target, f"to {edit.value}" if edit.value else "", edit.text]
    return " ".join(word for word in words if word)


def requests_in(instruction: str) -> tuple[str, ...]:
    """The sentences that ask for something. A statement ("the photo is too dark") goes with the request behind it."""
    found: list[str] = []
    held = ""
    for sentence in _sentences(" ".join(instruction.split())):
        text = f"{held} {sentence}".strip()
        if _asks(sentence):
            found.append(text)
            held = ""
        else:
            held = text
    if held:
        found = [*found[:-1], f"{found[-1]} {held}"] if found else [held]
    return tuple(found)


def requests_about(instruction: str, clauses: tuple[str, ...]) -> tuple[str, ...]:
    """The requests of an instruction that hold these clauses; none where that is all of them, or nothing is known."""
    requests = requests_in(instruction)
    wanted = frozenset(clauses)
    chosen = tuple(r for r in requests if wanted & {edit.clause for edit in read_instruction(r).edits})
    return chosen if len(chosen) < len(requests) else ()


def _sentences(words: str) -> list[str]:
    """Cut at ends of sentences and at semicolons, never inside quotes."""
    quoted = [match.span() for match in _QUOTED.finditer(words)]
    found: list[str] = []
    start = 0
    for gap in _GAP.finditer(words):
        inside = any(left < gap.start() < right for left, right in quoted)
        if not inside and (words[gap.end()].isupper() or words[gap.start() - 1] == ";" or words[gap.end()] in "\"'“‘"):
            found.append(words[start : gap.start()])
            start = gap.end()
    return [*found, words[start:]]


def _asks(sentence: str) -> bool:
    plain = sentence.strip(" \"'“")
    while True:
        shorter = _COURTESY.sub("", plain, count=1)
        if shorter == plain:
            break
        plain = shorter
    first = re.match(r"[a-z'-]+", plain.lower())
    verbs = lexicon().verbs - {"keep", "preserve", "leave", "don't", "do", "ensure"}
    return first is not None and first[0] in verbs
