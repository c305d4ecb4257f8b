"""A judge with a local model on a cluster: each worker makes it again and loads the model for itself."""

from contextlib import AbstractAsyncContextManager
from typing import Any

from imarena.core import Exhibit, Judge, JudgeTraits, Verdict
from imarena.core.records import JsonDict
from imarena.workflows.wiring.judges import JudgeRecipe


class RemadeJudge:
    """The judge of a recipe. Pickled as the recipe: judges hold functions and models that cannot be sent."""

    def __init__(self, recipe: JudgeRecipe) -> None:
        self._recipe = recipe
        self._judge: Judge
        self._judge, self._client = recipe.make()

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self._recipe,)

    def opened(self) -> AbstractAsyncContextManager[None]:
        """Load the model."""
        return self._client.opened()

    @property
    def gpus(self) -> float:
        """GPUs for the judge and its model."""
        return max(self.traits.gpus, 0.0 if self._recipe.model.get("device") == "cpu" else 1.0)

    @property
    def name(self) -> str:
        """As the judge says, like the following."""
        return self._judge.name

    @property
    def version(self) -> str:
        """Part of a judgment's identity."""
        return self._judge.version

    @property
    def prompt_id(self) -> str:
        """Part of a judgment's identity."""
        return self._judge.prompt_id

    @property
    def prompt_version(self) -> str:
        """Part of a judgment's identity."""
        return self._judge.prompt_version

    @property
    def params(self) -> JsonDict:
        """Part of a judgment's identity."""
        return self._judge.params

    @property
    def traits(self) -> JudgeTraits:
        """What the judge needs and can do."""
        return self._judge.traits

    async def judge(self, exhibit: Exhibit) -> Verdict:
        """Ask the judge, whose model must be loaded."""
        return await self._judge.judge(exhibit)
