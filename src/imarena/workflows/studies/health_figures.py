"""The health report of a judge: figures grouped by question, and the data that is missing for the rest."""

from dataclasses import dataclass, field
from typing import Any

from imarena.core.notices import Notice, sentences
from imarena.stats import Figure


@dataclass(frozen=True)
class HealthFigure:
    """One figure about a judge."""

    question: str
    figure: Figure
    group: str = ""

    def to_json(self) -> dict[str, Any]:
        """For ``--json``."""
        return {"question": self.question, "group": self.group, "name": self.figure.name, **self.figure.to_json()}


@dataclass
class JudgeHealth:
    """Everything about one judge."""

    judge: str
    statuses: dict[str, int] = field(default_factory=dict)
    versions: list[str] = field(default_factory=list)
    """Versions with verdicts, oldest first; the last one counts."""
    lines: list[HealthFigure] = field(default_factory=list)
    notices: list[Notice] = field(default_factory=list)
    """Figures that are not available, and what they need."""

    def add(self, question: str, *found: Figure, group: str = "") -> None:
        """Add figures under a question."""
        self.lines += [HealthFigure(question, figure, group) for figure in found]

    def needs(self, data: str) -> None:
        """Note that a figure is not available for want of these data (see the wordings of `health_needs`)."""
        self.notices.append(Notice(code="health_needs", values={"data": data}))

    def to_json(self) -> dict[str, Any]:
        """For ``--json``."""
        return {
            "judge": self.judge, "statuses": self.statuses, "versions": self.versions,
            "missing": sentences(self.notices), "notices": [notice.model_dump(mode="json") for notice in self.notices],
            "lines": [line.to_json() for line in self.lines],
        }  # fmt: skip
