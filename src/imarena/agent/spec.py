"""What the first two stages of CV-Agent make (000, section 5): a task specification and a plan."""

from dataclasses import dataclass
from typing import Protocol

from imarena.core import EditRequest
from imarena.core.records import JsonDict


@dataclass(frozen=True)
class Spec:
    """Stage 1: an executable instruction, the changes that it requires and what must hold."""

    instruction: str
    changes: tuple[str, ...] = ()
    constraints: tuple[str, ...] = ()

    def to_json(self) -> JsonDict:
        """For the trace."""
        return {"instruction": self.instruction, "changes": list(self.changes), "constraints": list(self.constraints)}


@dataclass(frozen=True)
class EditPlan:
    """Stage 2: what to ask the editor for, step by step, and how many steps may be taken in all."""

    steps: tuple[str, ...]
    budget: int
    tentative: bool = False
    """Whoever planned cannot tell whether the editor does better with one order: try that first where a judge looks."""

    def to_json(self) -> JsonDict:
        """For the trace."""
        many = len(self.steps) > 1
        return {"steps": list(self.steps), "budget": self.budget, "many": many, "tentative": self.tentative}


@dataclass(frozen=True)
class StageResult:
    """What a mind gave for one stage, what it cost, and what went wrong on the way if something did."""

    cost_usd: float = 0.0
    note: str = ""


class Planner(Protocol):
    """Understands and plans: rules, or a vision-language model."""

    @property
    def name(self) -> str: ...

    def questions(self, instruction: str) -> tuple[str, ...]:
        """The texts of all questions that it asks a model about an instruction, to estimate by; none for rules."""
        ...

    async def understand(self, request: EditRequest) -> tuple[Spec, StageResult]:
        """Stage 1."""
        ...

    async def plan(self, request: EditRequest, spec: Spec, most: int) -> tuple[EditPlan, StageResult]:
        """Stage 2, with at most `most` steps."""
        ...


def limit_steps(steps: tuple[str, ...], most: int) -> tuple[str, ...]:
    """No more than `most` steps: the last ones become one, so that nothing that was asked for is lost."""
    if len(steps) <= most:
        return steps
    return (*steps[: most - 1], " ".join(steps[most - 1 :]))
