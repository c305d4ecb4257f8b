"""The `builtin` planner: understands and plans by rules, without a vision-language model."""

import re

from imarena.agent.spec import EditPlan, EditSpec, StageResult, limit_steps
from imarena.agent.sub_edits import split_into_edits
from imarena.core import EditRequest
from imarena.language import Edit, read_instruction

_FRAME = re.compile(
    r"\b(?:crop|uncrop|trim|zoom|pan|rotate|flip|mirror|straighten|level|resize|reframe|widen|extend|expand|outpaint|"
    r"canvas|aspect ratio|framing|viewpoint|camera angle|perspective|bird's[- ]eye)\w*",
    re.IGNORECASE,
)
"""Words of orders that change the framing: such an order must not get the instruction to keep it."""


class RulePlanner:
    """Reads the instruction with `language`; keeps its wording, because rules cannot improve it."""

    name = "builtin"

    def questions(self, instruction: str) -> tuple[str, ...]:  # noqa: ARG002
        """Rules ask no questions."""
        return ()

    async def understand(self, request: EditRequest) -> tuple[EditSpec, StageResult]:
        """Return the instruction, extended by what must not change."""
        reading = read_instruction(request.instruction)
        local = bool(reading.edits) and not reading.whole_image
        reframed = _FRAME.search(request.instruction) is not None
        constraints = [*reading.keep]
        if request.sources and reframed:
            constraints.append("what remains in the frame stays the same")
        elif request.sources and local:
            constraints.append("everything that is not mentioned stays exactly as it is")
        elif request.sources:
            constraints.append("the scene, its things and the framing stay the same")
        instruction = " ".join(request.instruction.split())
        closed = instruction if instruction.endswith((".", "!", "?")) else f"{instruction}."
        added = f" {constraints[-1][:1].upper()}{constraints[-1][1:]}." if request.sources and not reading.keep else ""
        changes = tuple(_change_text(edit) for edit in reading.edits)
        note = f"not understood: {'; '.join(reading.unread)}" if reading.unread else ""
        return EditSpec(closed + added, changes, tuple(constraints)), StageResult(note=note)

    async def plan(self, request: EditRequest, spec: EditSpec, most: int) -> tuple[EditPlan, StageResult]:
        """Plan one step per request in the instruction."""
        steps = split_into_edits(request.instruction)
        if len(steps) < 2:
            return EditPlan((spec.instruction,), most), StageResult()
        return EditPlan(limit_steps(steps, most), most, tentative=True), StageResult()


def _change_text(edit: Edit) -> str:
    parts = [edit.kind.value, edit.operation, edit.target, f"to {edit.value}" if edit.value else "", edit.text]
    return " ".join(word for word in parts if word)
