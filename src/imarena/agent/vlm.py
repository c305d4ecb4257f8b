"""A vision-language model as the planner, through the chat port.

If a reply is unusable, the rules' specification or a plan with one step is used instead, and the trace says so.
"""

from imarena.agent.rules import RulePlanner
from imarena.agent.spec import EditPlan, EditSpec, StageResult, limit_steps
from imarena.clients import StagePrompt, field_text, field_texts, read_fields, stage_prompt
from imarena.core import Chat, ChatAnswer, ChatPrompt, EditRequest
from imarena.core.records import JsonDict

_LIST: JsonDict = {"type": "array", "items": {"type": "string"}}
UNDERSTAND: JsonDict = {
    "type": "object", "additionalProperties": False, "required": ["instruction", "changes", "constraints"],
    "properties": {"instruction": {"type": "string"}, "changes": _LIST, "constraints": _LIST},
}  # fmt: skip
PLAN: JsonDict = {
    "type": "object", "additionalProperties": False, "required": ["steps", "budget"],
    "properties": {"steps": _LIST, "budget": {"type": "integer"}},
}  # fmt: skip
LONGEST, MOST = 4000, 32


def _prompt(name: str) -> StagePrompt:
    return stage_prompt("imarena.agent", name)


class ChatPlanner:
    """Asks a model; falls back to rules, or to a plan with one step, if a reply is unusable."""

    def __init__(self, chat: Chat, model: str) -> None:
        self.chat = chat
        self._rules = RulePlanner()
        self.name = model
        self.prompts = tuple(f"{_prompt(n).prompt_id} {_prompt(n).version}" for n in ("understand", "plan"))

    def questions(self, instruction: str) -> tuple[str, str]:
        """The texts of both questions about an instruction, as if the first changed nothing, for estimates."""
        asks = _understanding(instruction), _planning(EditSpec(instruction), 1)
        return _prompt("understand").system + asks[0], _prompt("plan").system + asks[1]

    async def understand(self, request: EditRequest) -> tuple[EditSpec, StageResult]:
        """Stage 1."""
        answer = await self._ask("understand", _understanding(request.instruction), request, UNDERSTAND)
        fields, note = read_fields(answer)
        instruction = field_text(fields.get("instruction"), LONGEST)
        if not instruction:
            spec, _ = await self._rules.understand(request)
            return spec, StageResult(
                answer.usage.cost_usd or 0.0, note or "the reply holds no instruction; rules were used"
            )
        spec = EditSpec(
            instruction,
            field_texts(fields.get("changes"), LONGEST, MOST),
            field_texts(fields.get("constraints"), LONGEST, MOST),
        )
        return spec, StageResult(answer.usage.cost_usd or 0.0, note)

    async def plan(self, request: EditRequest, spec: EditSpec, most: int) -> tuple[EditPlan, StageResult]:
        """Stage 2."""
        answer = await self._ask("plan", _planning(spec, most), request, PLAN)
        fields, note = read_fields(answer)
        steps = field_texts(fields.get("steps"), LONGEST, MOST)
        cost = answer.usage.cost_usd or 0.0
        if not steps:
            return EditPlan((spec.instruction,), most), StageResult(
                cost, note or "the reply holds no steps; one step it is"
            )
        number = fields.get("budget")
        budget = number if isinstance(number, int) and not isinstance(number, bool) else most
        plan_steps = limit_steps(steps, most)
        return EditPlan(plan_steps, max(len(plan_steps), min(budget, most))), StageResult(cost, note)

    async def _ask(self, name: str, question: str, request: EditRequest, schema: JsonDict) -> ChatAnswer:
        pictures: list[str | bytes] = []
        for number, data in enumerate((*request.sources, *request.references)):
            pictures += [f"Picture {number + 1}:", data]
        prompt = ChatPrompt(_prompt(name).system, (*pictures, question), schema=schema, max_tokens=1024)
        return await self.chat(prompt)


def _understanding(instruction: str) -> str:
    return _prompt("understand").ask.format(instruction=instruction)


def _planning(spec: EditSpec, most: int) -> str:
    return _prompt("plan").ask.format(
        instruction=spec.instruction,
        changes="; ".join(spec.changes) or "as said",
        constraints="; ".join(spec.constraints) or "nothing more",
        most=most,
    )
