"""What a run of questions to a judge did."""

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from imarena.core import Verdict
from imarena.core.notices import Notice, notice_fields
from imarena.core.records import JsonDict, Status

ERRORS_SHOWN = 20
ERROR_LENGTH = 300


@dataclass(frozen=True, slots=True)
class AdaptiveRound:
    """Where an adaptive run stood before a round."""

    battles: int
    """Fought in the rounds before."""
    widest: float | None
    """The widest interval, in Elo points; None before the first round."""
    too_wide: int
    """Intervals that are wider than wanted, or unknown."""
    of: int


@dataclass(frozen=True)
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
    rounds: tuple[AdaptiveRound, ...] = ()
    """Adaptive: where each round stood. Not in `to_json`: the command lists the rounds of all judges."""
    scale: tuple[float, float] | None = None
    """The lowest and highest score that the judge states."""
    beyond_scale: int = 0
    """Scores outside of it, which are stored as they are."""

    @property
    def missing(self) -> int:
        """Cases of this run that have no verdict yet."""
        return self.planned - self.judgments[Status.OK.value]

    @property
    def notices(self) -> tuple[Notice, ...]:
        """What a user should know about the verdicts."""
        if self.scale is None or not self.beyond_scale:
            return ()
        low, high = self.scale
        values: JsonDict = {"judge": self.judge, "scores": self.beyond_scale, "low": low, "high": high}
        return (Notice(code="scores_beyond_scale", values=values),)

    @property
    def shared(self) -> int:
        """Judgments of this run's answers beyond one each: of outputs with the same pixels."""
        return self.stored[Status.OK.value] - self.judgments[Status.OK.value]

    def to_json(self) -> dict[str, object]:
        """For ``--json``."""
        counts = {
            "judgments": dict(self.judgments), "stored": dict(self.stored), "unfit": dict(self.unfit),
            "missing": self.missing, "errors": dict(self.errors.most_common(ERRORS_SHOWN)),
        }  # fmt: skip
        plain = {name: value for name, value in vars(self).items() if name != "rounds"}
        return plain | counts | notice_fields(self.notices)


@dataclass(eq=False)
class JudgeTally:
    """The counts of a run while it lasts: a `Watch` shows them. Each run has its own, equal to no other."""

    judge: str
    done_before: int = 0
    unfit: Counter[str] = field(default_factory=Counter)
    judgments: Counter[str] = field(default_factory=Counter)
    stored: Counter[str] = field(default_factory=Counter)
    planned: int = 0
    cost_usd: float = 0.0
    input_tokens: int = 0
    output_tokens: int = 0
    errors: Counter[str] = field(default_factory=Counter)
    scale: tuple[float, float] | None = None
    beyond_scale: int = 0

    def add(self, verdict: Verdict, twins: int = 0) -> None:
        """Count a verdict or a failure; `twins` more outputs have the same pixels."""
        self.judgments[verdict.status.value] += 1
        self.stored[verdict.status.value] += 1 + twins
        if verdict.score is not None and self.scale is not None and verdict.status is Status.OK:
            self.beyond_scale += not self.scale[0] <= verdict.score <= self.scale[1]
        if verdict.status is not Status.OK:
            self.errors[f"{verdict.status.value}: {verdict.error}"[:ERROR_LENGTH]] += 1
        self.cost_usd += verdict.usage.cost_usd or 0.0
        self.input_tokens += verdict.usage.input_tokens or 0
        self.output_tokens += verdict.usage.output_tokens or 0

    def leave(self, number: int) -> None:
        """Count questions that another process asked meanwhile: they are done, and not by this run."""
        self.planned -= number
        self.done_before += number

    def report(self, *, stopped: str = "", seconds: float = 0.0) -> JudgeReport:
        """What the run has done by now."""
        return JudgeReport(**vars(self), stopped=stopped, seconds=seconds)


def joined_report(judge: str, parts: Sequence[JudgeReport], rounds: Sequence[AdaptiveRound]) -> JudgeReport:
    """The rounds of an adaptive run as one report."""
    nothing = JudgeReport(judge)
    numbers = ("done_before", "planned", "cost_usd", "input_tokens", "output_tokens", "seconds", "beyond_scale")
    counters = ("judgments", "stored", "unfit", "errors")
    summed: dict[str, Any] = {
        name: sum((getattr(part, name) for part in parts), getattr(nothing, name)) for name in (*numbers, *counters)
    }
    last = parts[-1] if parts else nothing
    return replace(nothing, **summed, stopped=last.stopped, scale=last.scale, rounds=tuple(rounds))


Watch = Callable[[JudgeTally, int, int], None]
"""Told after every verdict: the counts so far, how many are done, how many there are."""
