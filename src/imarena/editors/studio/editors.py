"""Built-in editors with a known quality order, for the bundled benchmark.

They stand in for real models: each has one habit, from doing exactly what was asked to drawing something else. They
may look up the scene behind a request (`imarena.studio.recognise`); judges cannot. The order below is the order of
their mean true quality, which `tests/unit/editors/studio/test_editors.py` measures. `flaky` is a special case: its
outputs are nearly exact, but it often delivers none.
"""

import asyncio
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from pydantic import JsonValue

from imarena.core import EditorTraits, EditRequest, EditResult, sha256_hex, unknown_name
from imarena.core.records import JsonDict, Status
from imarena.editors.catalog import Ports
from imarena.editors.studio import recipes
from imarena.editors.studio.work import EditFailed, StudioRequest, studio_request

STUDIO_RECIPES: dict[str, Callable[[StudioRequest], recipes.RecipeResult]] = {
    "exact": recipes.exact,
    "timid": recipes.timid,
    "over-editing": recipes.over_editing,
    "artefacts": recipes.artefacts,
    "wrong-target": recipes.wrong_target,
    "returns-input": recipes.returns_input,
    "new-image": recipes.new_image,
    "flaky": recipes.flaky,
}
QUALITY_ORDER = tuple(name for name in STUDIO_RECIPES if name != "flaky")
"""From best to worst. The place of `flaky` depends on how missing outputs count."""
STRANGER = (
    "Studio editors edit only the bundled 'studio' items. For your own images use another editor, such as classical "
    "(`edit --list` shows all)."
)


@dataclass(frozen=True)
class StudioEditor:
    """One habit under any name: the name is only shown on leaderboards; the pixels do not depend on it."""

    habit: str
    name: str
    version: str = "1"

    @property
    def traits(self) -> EditorTraits:
        """Free, and does not need opening."""
        return EditorTraits()

    @property
    def params(self) -> JsonDict:
        """Empty: an output depends only on the habit and the item."""
        return {}

    async def edit(self, request: EditRequest) -> EditResult:
        """Edit according to the habit; requests that are not from the benchmark are refused."""
        start = time.perf_counter()
        result = await asyncio.to_thread(self._result, request)
        spent = time.perf_counter() - start
        if isinstance(result, EditFailed):
            return EditResult(status=result.status, error=result.reason, latency_s=spent)
        return EditResult(status=Status.OK, image=result, latency_s=spent, cost_usd=0.0)

    def _result(self, request: EditRequest) -> recipes.RecipeResult:
        render = recipes.new_image if self.habit == "new-image" else None
        work = studio_request(request, sha256_hex(self.habit.encode())[:8], render)
        if work is None:
            return EditFailed(Status.REFUSED, STRANGER)
        return STUDIO_RECIPES[self.habit](work)


def studio_editor(habit: str, name: str | None = None) -> StudioEditor:
    """The editor with a habit (see `STUDIO_RECIPES`), shown under `name`."""
    if habit not in STUDIO_RECIPES:
        raise unknown_name("There is no studio editor called", habit, STUDIO_RECIPES)
    return StudioEditor(habit=habit, name=name or f"studio-{habit}")


def make(name: str, options: Mapping[str, JsonValue], _ports: Ports) -> StudioEditor:
    """Build the editor from a table with `habit`."""
    return studio_editor(str(options.get("habit", "")), name)


def describe_habit(habit: str) -> str:
    """One sentence on what an editor with this habit does."""
    return (STUDIO_RECIPES[habit].__doc__ or "").partition("\n")[0]


def studio_editors() -> tuple[StudioEditor, ...]:
    """All eight, in the known order, `flaky` last."""
    return tuple(studio_editor(habit) for habit in STUDIO_RECIPES)
