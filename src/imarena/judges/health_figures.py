"""What is known about a judge: figures grouped by question, and which data are missing for others."""

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


@dataclass(frozen=True)
class JudgeHealth:
    """All health figures of one judge."""

    judge: str
    statuses: dict[str, int]
    versions: tuple[str, ...]
    """Versions with verdicts, oldest first; the last one counts."""
    lines: tuple[HealthFigure, ...]
    notices: tuple[Notice, ...]
    """Figures that are not available, and the data that they need."""

    def to_json(self) -> dict[str, Any]:
        """For ``--json``."""
        return {
            "judge": self.judge, "statuses": self.statuses, "versions": list(self.versions),
            "missing": sentences(self.notices), "notices": [notice.model_dump(mode="json") for notice in self.notices],
            "lines": [line.to_json() for line in self.lines],
        }  # fmt: skip


@dataclass
class HealthFindings:
    """Collects the figures about one judge, question by question."""

    judge: str
    statuses: dict[str, int] = field(default_factory=dict)
    versions: tuple[str, ...] = ()
    lines: list[HealthFigure] = field(default_factory=list)
    notices: list[Notice] = field(default_factory=list)

    def add(self, question: str, *figures: Figure, group: str = "") -> None:
        """Add figures under a question."""
        self.lines += [HealthFigure(question, figure, group) for figure in figures]

    def needs(self, data: str) -> None:
        """Add a notice that a figure is not available without these data (see the notice `health_needs`)."""
        self.notices.append(Notice(code="health_needs", values={"data": data}))

    def health(self) -> JudgeHealth:
        """Return the collected figures as the result."""
        return JudgeHealth(self.judge, self.statuses, self.versions, tuple(self.lines), tuple(self.notices))
