"""Write the chains of a build: from the vocabulary alone, or with words from a model where they fit."""

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from imarena import instructions
from imarena.core import ObjectPlan, Progress
from imarena.core.records import ImageRef, Status
from imarena.engine import WorkerTask
from imarena.storage import Workspace
from imarena.workflows.questions import Questions, RunOptions, ask
from imarena.workflows.wiring import JudgeChat

MadePlan = tuple[ObjectPlan, tuple[str, ...]]
"""The plan of an item, and its instructions."""


@dataclass(frozen=True)
class ScenePlan:
    """An image that gets a chain."""

    key: str
    image: ImageRef
    contents: instructions.SceneContents


@dataclass(frozen=True)
class _ChainAnswer:
    """A chain, why words from the model were rejected, and the cost."""

    chain: instructions.WrittenChain | None
    refused: tuple[str, ...] = ()
    cost_usd: float = 0.0


@dataclass
class ChainWriter:
    """Writes the chains of many scenes. The vocabulary replaces words that a model cannot give or that do not fit."""

    workspace: Workspace
    settings: instructions.ChainSettings
    tools: dict[str, str]
    client: JudgeChat | None = None
    refused: Counter[str] = field(default_factory=Counter)
    cost_usd: float = 0.0

    async def write_all(
        self, plans: Sequence[ScenePlan], add: Callable[[ScenePlan, MadePlan], None], progress: Progress | None
    ) -> str:
        """Write every chain and pass it to `add`; return why it stopped."""
        if self.client is None:
            for number, plan in enumerate(plans, 1):
                add(
                    plan,
                    self._plan(plan, instructions.write_chain(plan.contents, self.settings, plan.image.sha256)),
                )
                if progress is not None:
                    progress("chains", number, len(plans))
            return ""

        def on_answer(_: ScenePlan, answer: _ChainAnswer) -> _ChainAnswer:
            self.refused.update(answer.refused)
            self.cost_usd += answer.cost_usd
            return answer

        def write(batch: list[tuple[ScenePlan, _ChainAnswer]]) -> None:
            for plan, answer in batch:
                if answer.chain is not None:
                    add(plan, self._plan(plan, answer.chain))

        def failed(_: object, error: Exception) -> _ChainAnswer:
            return _ChainAnswer(None, (f"{Status.API_ERROR.value}: {type(error).__name__}",))

        questions = Questions(
            plans, lambda plan: plan, WorkerTask(self._ask_chain, failed), failed, on_answer, write, stage="chains"
        )
        run_options = RunOptions(
            "threads", self.client.endpoint.max_concurrency, opening=self.client.opened, progress=progress
        )
        return (await ask(questions, run_options)).stopped

    async def _ask_chain(self, plan: ScenePlan) -> _ChainAnswer:
        """Ask the model for each open word, one turn after the other."""
        if self.client is None:
            raise ValueError("nobody to ask")
        image = self.workspace.blobs.get(plan.image.sha256)
        drafting = instructions.draft_chain(plan.contents, self.settings, plan.image.sha256)
        refused, cost, word = [], 0.0, None
        try:
            state, draft = next(drafting)
            while True:
                word = None
                if draft.field is not None:
                    answer = await self.client(
                        instructions.suggestion_prompt(image, state, draft, self.settings.language)
                    )
                    cost += answer.usage.cost_usd or 0.0
                    word, why = instructions.read_suggestion(answer, draft)
                    if word is None:
                        refused.append(f"{draft.field}: {why.splitlines()[0][:80]}")
                state, draft = drafting.send(word)
        except StopIteration as ended:
            return _ChainAnswer(ended.value, tuple(refused), cost)

    def _plan(self, plan: ScenePlan, chain: instructions.WrittenChain) -> MadePlan:
        written = ObjectPlan(
            objects=plan.contents.objects, turns=chain.turns, tools=self.tools, seed=self.settings.seed
        )
        return written, chain.instructions
