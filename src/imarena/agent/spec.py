"""The results of CV-Agent's first two stages (CV-Arena, section 5): a task specification and a plan."""

from dataclasses import dataclass
from typing import Protocol

from imarena.core import EditRequest
from imarena.core.records import JsonDict


@dataclass(frozen=True)
class EditSpec:
    """Stage 1: an executable instruction, the changes that it requires and its constraints."""

    instruction: str
    changes: tuple[str, ...] = ()
    constraints: tuple[str, ...] = ()

    def to_json(self) -> JsonDict:
        """For the trace."""
        return {"instruction": self.instruction, "changes": list(self.changes), "constraints": list(self.constraints)}


@dataclass(frozen=True)
class EditPlan:
    """Stage 2: what to ask the editor for, step by step, and the maximum number of steps."""

    steps: tuple[str, ...]
    budget: int
    tentative: bool = False
    """The planner does not know whether one order would work better; with a judge, the whole is tried first."""

    def to_json(self) -> JsonDict:
        """For the trace."""
        many = len(self.steps) > 1
        return {"steps": list(self.steps), "budget": self.budget, "many": many, "tentative": self.tentative}


@dataclass(frozen=True)
class StageResult:
    """The cost of one stage, and a note on what went wrong, if anything."""

    cost_usd: float = 0.0
    note: str = ""


class Planner(Protocol):
    """Understands instructions and plans edits, by rules or with a vision-language model."""

    @property
    def name(self) -> str: ...

    def questions(self, instruction: str) -> tuple[str, ...]:
        """The texts of all questions that it asks a model about an instruction, for estimates; none for rules."""
        ...

    async def understand(self, request: EditRequest) -> tuple[EditSpec, StageResult]:
        """Stage 1."""
        ...

    async def plan(self, request: EditRequest, spec: EditSpec, most: int) -> tuple[EditPlan, StageResult]:
        """Stage 2, with at most `most` steps."""
        ...


def limit_steps(steps: tuple[str, ...], most: int) -> tuple[str, ...]:
    """Limit the number of steps to `most`; the last ones are joined into one, so that no request is lost."""
    if len(steps) <= most:
        return steps
    return (*steps[: most - 1], " ".join(steps[most - 1 :]))
