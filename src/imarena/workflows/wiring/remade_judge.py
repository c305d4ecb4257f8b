"""A judge with a local model on a cluster: each worker makes it again and loads the model for itself."""

from contextlib import AbstractAsyncContextManager
from typing import Any

from imarena.core import Exhibit, Judge, Verdict
from imarena.workflows.wiring.judges import JudgeRecipe


class RemadeJudge:
    """The judge of a recipe. Pickled as the recipe: judges hold functions and models that cannot be sent."""

    def __init__(self, recipe: JudgeRecipe) -> None:
        self._recipe = recipe
        judge, self._client = recipe.make()
        self._judge: Judge = judge
        self.name, self.version, self.params = judge.name, judge.version, judge.params
        self.prompt_id, self.prompt_version = judge.prompt_id, judge.prompt_version
        self.traits = judge.traits

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self._recipe,)

    def opened(self) -> AbstractAsyncContextManager[None]:
        """Load the model."""
        return self._client.opened()

    @property
    def gpus(self) -> float:
        """GPUs for the judge and its model."""
        return max(self.traits.gpus, 0.0 if self._recipe.model.get("device") == "cpu" else 1.0)

    async def judge(self, exhibit: Exhibit) -> Verdict:
        """Ask the judge, whose model must be loaded."""
        return await self._judge.judge(exhibit)
