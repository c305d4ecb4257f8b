"""What each task needs from its source images: the data file `tasks.yaml`, validated when it is read."""

from functools import cache

from pydantic import Field

from imarena.core import FrozenModel, UserError, package_yaml

ASPECTS = ("subject", "scene", "style", "lighting", "viewpoint")
"""The complementary aspects that the planner's queries cover (appendix C of the paper)."""


class ConditionWords(FrozenModel):
    """A condition of pixels: search words for it, and its name in a sentence."""

    words: tuple[str, ...]
    about: str


class TaskNeeds(FrozenModel):
    """What a task needs, what it additionally allows, and query words by aspect."""

    needs: tuple[str, ...] = ()
    allows: tuple[str, ...] = ()
    several: int = Field(default=1, ge=1)
    inserts: bool = False
    """The instruction adds things, which must not be in the image yet."""
    scene: tuple[str, ...] = ()
    style: tuple[str, ...] = ()
    lighting: tuple[str, ...] = ()
    viewpoint: tuple[str, ...] = ()

    def aspect(self, name: str) -> tuple[str, ...]:
        """Words of one aspect; the general ones if the task has none of its own."""
        own: tuple[str, ...] = getattr(self, name, ())
        return own or getattr(task_file(), name, ())


class TaskFile(FrozenModel):
    """The whole data file."""

    version: int
    not_things: frozenset[str]
    plain: frozenset[str]
    conditions: dict[str, ConditionWords]
    tasks: dict[str, TaskNeeds]
    scene: tuple[str, ...]
    style: tuple[str, ...]
    lighting: tuple[str, ...]
    viewpoint: tuple[str, ...]


@cache
def task_file() -> TaskFile:
    """Read the data file."""
    parsed = TaskFile.model_validate(package_yaml("imarena.curation", "tasks.yaml"))
    for name, needs in parsed.tasks.items():
        if strange := set(needs.needs) - parsed.conditions.keys():
            raise UserError(f"tasks.yaml: {name} needs unknown conditions: {', '.join(sorted(strange))}.")
    return parsed


def needs_of(task: str | None) -> TaskNeeds:
    """The needs of a task; empty for an unknown task."""
    return task_file().tasks.get(task or "", TaskNeeds())
