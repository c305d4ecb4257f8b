"""Rating forms: questions, criteria with their anchors, checks. The texts are in ``forms.yaml``."""

from functools import cache

from pydantic import BaseModel, ConfigDict

from imarena.core import package_yaml


class FormQuestion(BaseModel):
    """A criterion or a check."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    name: str
    label: str
    question: str
    anchors: dict[int, str] = {}

    @property
    def low(self) -> int:
        """The lowest value; a check has the values no (0) and yes (1)."""
        return min(self.anchors, default=0)

    @property
    def high(self) -> int:
        """The highest value."""
        return max(self.anchors, default=1)


class PaceLimits(BaseModel):
    """How fast an answer is too fast to be careful."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    least_answers: int
    """Minimum number of answers before a rater's pace is assessed."""
    least_s: dict[str, float]
    """By kind of task: a median below this leaves no time to look."""


class RatingForms(BaseModel):
    """All forms."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    version: int
    questions: dict[str, str]
    """Questions by kind, or by kind and dimension (`preference_visual_quality`)."""
    pace: PaceLimits
    criteria: tuple[FormQuestion, ...]
    checks: tuple[FormQuestion, ...]

    def question(self, kind: str, dimension: str) -> str:
        """Return the question of a campaign of this kind about a dimension."""
        return self.questions.get(f"{kind}_{dimension}") or self.questions[kind]


@cache
def forms() -> RatingForms:
    """Return the forms that ship with this version."""
    return RatingForms.model_validate(package_yaml("imarena.routing.forms", "forms.yaml"))
