"""Built-in editors with a known order of quality, for the bundled benchmark.

They stand in for real models: each has one habit, from doing exactly what was asked to drawing something else. They
may look up the scene behind a request (`imarena.studio.recognise`); judges cannot. The order below is the order of
their mean true quality, and `tests/unit/editors/studio/test_editors.py` measures it. `flaky` stands apart: what it
delivers is nearly exact, but it often delivers nothing.
"""

import asyncio
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from pydantic import JsonValue

from imarena.core import EditorTraits, EditRequest, EditResult, UnknownName, sha256_hex
from imarena.core.records import JsonDict, Status
from imarena.editors.catalog import Ports
from imarena.editors.studio import recipes
from imarena.editors.studio.work import EditFailed, StudioRequest, studio_request

RECIPES: dict[str, Callable[[StudioRequest], recipes.Made]] = {
    "exact": recipes.exact,
    "timid": recipes.timid,
    "over-editing": recipes.over_editing,
    "artefacts": recipes.artefacts,
    "wrong-target": recipes.wrong_target,
    "returns-input": recipes.returns_input,
    "new-image": recipes.new_image,
    "flaky": recipes.flaky,
}
QUALITY_ORDER = tuple(name for name in RECIPES if name != "flaky")
"""From the best to the worst. What `flaky` is worth depends on how missing outputs count."""
STRANGER = (
    "This editor draws the bundled 'studio' items only, and this image with these words is none of them; "
    "for images of your own use another editor, such as classical (`imarena edit --list` shows all)."
)


@dataclass(frozen=True)
class StudioEditor:
    """One habit under any name: the name is only what a leaderboard shows, the pixels do not depend on it."""

    habit: str
    name: str
    version: str = "1"

    @property
    def traits(self) -> EditorTraits:
        """Free, and nothing to open."""
        return EditorTraits()

    @property
    def params(self) -> JsonDict:
        """None: an output depends on the habit and the item alone."""
        return {}

    async def edit(self, request: EditRequest) -> EditResult:
        """Carry out the request in the editor's manner; a request that is not from the benchmark is refused."""
        start = time.perf_counter()
        made = await asyncio.to_thread(self._made, request)
        spent = time.perf_counter() - start
        if isinstance(made, EditFailed):
            return EditResult(status=made.status, error=made.reason, latency_s=spent)
        return EditResult(status=Status.OK, image=made, latency_s=spent, cost_usd=0.0)

    def _made(self, request: EditRequest) -> recipes.Made:
        drawn = recipes.new_image if self.habit == "new-image" else None
        work = studio_request(request, sha256_hex(self.habit.encode())[:8], drawn)
        if work is None:
            return EditFailed(Status.REFUSED, STRANGER)
        return RECIPES[self.habit](work)


def studio_editor(habit: str, name: str | None = None) -> StudioEditor:
    """The editor with a habit (see `RECIPES`), shown under `name`."""
    if habit not in RECIPES:
        raise UnknownName(f"There is no studio editor called '{habit}'.", hint="Known: " + ", ".join(RECIPES) + ".")
    return StudioEditor(habit=habit, name=name or f"studio-{habit}")


def make(name: str, options: Mapping[str, JsonValue], _ports: Ports) -> StudioEditor:
    """From a table with `habit`."""
    return studio_editor(str(options.get("habit", "")), name)


def describe_habit(habit: str) -> str:
    """What an editor with a habit does, in a sentence."""
    return (RECIPES[habit].__doc__ or "").partition("\n")[0]


def studio_editors() -> tuple[StudioEditor, ...]:
    """All eight, in the known order, `flaky` last."""
    return tuple(studio_editor(habit) for habit in RECIPES)
