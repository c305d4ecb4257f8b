"""What a run of questions to a judge did."""

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field

from imarena.core import Verdict
from imarena.core.records import Status

ERRORS_TOLD = 20
ERROR_LENGTH = 300


@dataclass
class JudgeReport:
    """What a judging run did."""

    judge: str
    judgments: Counter[str] = field(default_factory=Counter)
    stored: Counter[str] = field(default_factory=Counter)
    """Judgments that were written, by status: one answer counts for every output with the same pixels."""
    done_before: int = 0
    unfit: Counter[str] = field(default_factory=Counter)
    """Cases that the judge cannot be shown, by reason. They are not asked and not missing."""
    planned: int = 0
    cost_usd: float = 0.0
    input_tokens: int = 0
    output_tokens: int = 0
    seconds: float = 0.0
    stopped: str = ""
    errors: Counter[str] = field(default_factory=Counter)
    """Why there is no verdict, in the words of the endpoint, the parser or the judge, by number."""

    @property
    def missing(self) -> int:
        """Cases of this run that have no verdict yet."""
        return self.planned - self.judgments[Status.OK.value]

    @property
    def shared(self) -> int:
        """Judgments of this run's answers beyond one each: of outputs with the same pixels."""
        return self.stored[Status.OK.value] - self.judgments[Status.OK.value]

    def add(self, verdict: Verdict, twins: int = 0) -> None:
        """Count a verdict or a failure; `twins` more outputs have the same pixels."""
        self.judgments[verdict.status.value] += 1
        self.stored[verdict.status.value] += 1 + twins
        if verdict.status is not Status.OK:
            self.errors[f"{verdict.status.value}: {verdict.error}"[:ERROR_LENGTH]] += 1
        self.cost_usd += verdict.usage.cost_usd or 0.0
        self.input_tokens += verdict.usage.input_tokens or 0
        self.output_tokens += verdict.usage.output_tokens or 0

    def merge(self, later: "JudgeReport") -> None:
        """Add a later round of the same run."""
        self.judgments.update(later.judgments)
        self.stored.update(later.stored)
        self.unfit.update(later.unfit)
        self.errors.update(later.errors)
        for name in ("done_before", "planned", "cost_usd", "input_tokens", "output_tokens", "seconds"):
            setattr(self, name, getattr(self, name) + getattr(later, name))
        self.stopped = later.stopped

    def to_json(self) -> dict[str, object]:
        """For ``--json``."""
        counts = {
            "judgments": dict(self.judgments), "stored": dict(self.stored), "unfit": dict(self.unfit),
            "missing": self.missing, "errors": dict(self.errors.most_common(ERRORS_TOLD)),
        }  # fmt: skip
        return {**self.__dict__, **counts}


Watch = Callable[[JudgeReport, int, int], None]
"""Told after every verdict: the report so far, how many are done, how many there are."""
