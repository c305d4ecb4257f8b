"""Which metrics each task uses, in which regions, and the z-score thresholds: `tasks.yaml`, validated on reading."""

from collections.abc import Mapping
from functools import lru_cache
from importlib import resources
from typing import Literal

import yaml
from pydantic import Field, ValidationError, model_validator

from imarena.core import UnknownName, UserError, package_yaml, suggestion, validation_problem
from imarena.core.records import FrozenModel

RegionName = Literal["inside", "outside"]
Pipeline = Literal["object", "person", "judge"]
Ground = Literal["source", "output", "both"]

HIGHER_IS_BETTER: Mapping[str, bool] = package_yaml("imarena.preferences", "region_metrics.yaml")
"""Every metric of a region, and its direction."""


class RegionMetrics(FrozenModel):
    """The metrics of one region."""

    primary: tuple[str, ...] = Field(min_length=1)
    secondary: tuple[str, ...] = ()

    @model_validator(mode="after")
    def _check_names(self) -> "RegionMetrics":
        for name in (*self.primary, *self.secondary):
            if name not in HIGHER_IS_BETTER:
                raise ValueError(f"there is no region metric called '{name}'")
        return self


class TierThresholds(FrozenModel):
    """Above `elite` in all regions: tier A. Not above `failure` in one: tier C."""

    elite: float
    failure: float

    @model_validator(mode="after")
    def _in_order(self) -> "TierThresholds":
        if self.failure > self.elite:
            raise ValueError("the threshold of failure lies above that of the elite")
        return self


class TierQuantiles(FrozenModel):
    """Shares of the candidates below each threshold, for tasks without published thresholds."""

    elite: float = Field(gt=0, lt=1)
    failure: float = Field(gt=0, lt=1)


class TaskRule(FrozenModel):
    """How to make pairs for one task."""

    pipeline: Pipeline
    ground: Ground = "both"
    public_ground: Ground | None = None
    inside: RegionMetrics | None = None
    outside: RegionMetrics | None = None
    thresholds: dict[RegionName, TierThresholds] = Field(default_factory=dict)

    @model_validator(mode="after")
    def _measurable(self) -> "TaskRule":
        if self.pipeline != "judge" and self.inside is None and self.outside is None:
            raise ValueError("a task without metrics is left to a judge")
        return self

    def regions(self) -> dict[RegionName, RegionMetrics]:
        """The regions that are measured."""
        regions: dict[RegionName, RegionMetrics] = {}
        if self.inside is not None:
            regions["inside"] = self.inside
        if self.outside is not None:
            regions["outside"] = self.outside
        return regions

    def grounded_in(self, *, public: bool) -> Ground:
        """Where to search for objects: as in the paper, or as in its public code."""
        return self.public_ground if public and self.public_ground is not None else self.ground


class TaskRules(FrozenModel):
    """The content of a rules file."""

    version: str
    quantiles: TierQuantiles
    margin: float = Field(ge=0)
    """Minimum difference of the mean z-scores of tiers A and B."""
    tasks: dict[str, TaskRule]

    def rule(self, task: str) -> TaskRule:
        """The rule of a task; raises for an unknown task."""
        if task not in self.tasks:
            raise UnknownName(f"No pairs are made for the task '{task}'.", hint=suggestion(task, sorted(self.tasks)))
        return self.tasks[task]


@lru_cache(maxsize=1)
def task_rules() -> TaskRules:
    """The bundled rules: 17 tasks."""
    text = resources.files("imarena.preferences").joinpath("tasks.yaml").read_text(encoding="utf-8")
    return read_task_rules(text, "tasks.yaml")


def read_task_rules(text: str, name: str) -> TaskRules:
    """Validate the text of a rules file; an error names its position."""
    try:
        return TaskRules.model_validate(yaml.safe_load(text))
    except yaml.YAMLError as error:
        raise UserError(f"The task rules in {name} are not valid: {error}", hint="See docs/guide/pvc.md.") from error
    except ValidationError as error:
        problem = validation_problem(error, TaskRules)
        hint = f"{problem.hint} See docs/guide/pvc.md.".strip()
        raise UserError(f"The task rules in {name} are not valid: {problem.text}.", hint=hint) from error
