"""The report of a judging run."""

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
    """The state of an adaptive run before a round."""

    battles: int
    """Number of battles fought in earlier rounds."""
    widest: float | None
    """The widest interval, in Elo points; None before the first round."""
    too_wide: int
    """Number of intervals that are wider than requested, or unknown."""
    of: int


@dataclass(frozen=True)
class JudgeReport:
    """The result of a judging run."""

    judge: str
    judgments: Counter[str] = field(default_factory=Counter)
    stored: Counter[str] = field(default_factory=Counter)
    """Judgments written, by status: one answer counts for every output with the same pixels."""
    done_before: int = 0
    unfit: Counter[str] = field(default_factory=Counter)
    """Cases that the judge cannot be shown, by reason. They are neither asked nor missing."""
    planned: int = 0
    cost_usd: float = 0.0
    input_tokens: int = 0
    output_tokens: int = 0
    seconds: float = 0.0
    stopped: str = ""
    errors: Counter[str] = field(default_factory=Counter)
    """Why verdicts are missing, in the words of the endpoint, the parser or the judge, with counts."""
    rounds: tuple[AdaptiveRound, ...] = ()
    """Adaptive: the state before each round. Not in `to_json`: the command lists the rounds of all judges."""
    scale: tuple[float, float] | None = None
    """The lowest and highest score that the judge declares."""
    beyond_scale: int = 0
    """Number of scores outside this range, which are stored as they are."""

    @property
    def missing(self) -> int:
        """Number of cases in this run that have no verdict yet."""
        return self.planned - self.judgments[Status.OK.value]

    @property
    def notices(self) -> tuple[Notice, ...]:
        """Return what a user should know about the verdicts."""
        if self.scale is None or not self.beyond_scale:
            return ()
        low, high = self.scale
        values: JsonDict = {"judge": self.judge, "scores": self.beyond_scale, "low": low, "high": high}
        return (Notice(code="scores_beyond_scale", values=values),)

    @property
    def shared(self) -> int:
        """Number of judgments beyond one per answer, for outputs with the same pixels."""
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
    """Running counts of a run, as a `Watch` shows them. Each run has its own instance, equal to no other."""

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

    def add(self, verdict: Verdict, duplicates: int = 0) -> None:
        """Count a verdict or a failure; `duplicates` is the number of further outputs with the same pixels."""
        self.judgments[verdict.status.value] += 1
        self.stored[verdict.status.value] += 1 + duplicates
        if verdict.score is not None and self.scale is not None and verdict.status is Status.OK:
            self.beyond_scale += not self.scale[0] <= verdict.score <= self.scale[1]
        if verdict.status is not Status.OK:
            self.errors[f"{verdict.status.value}: {verdict.error}"[:ERROR_LENGTH]] += 1
        self.cost_usd += verdict.usage.cost_usd or 0.0
        self.input_tokens += verdict.usage.input_tokens or 0
        self.output_tokens += verdict.usage.output_tokens or 0

    def leave(self, number: int) -> None:
        """Count questions that another process asked meanwhile: they are done, but not by this run."""
        self.planned -= number
        self.done_before += number

    def report(self, *, stopped: str = "", seconds: float = 0.0) -> JudgeReport:
        """Return the run's results so far."""
        return JudgeReport(**vars(self), stopped=stopped, seconds=seconds)


def joined_report(judge: str, parts: Sequence[JudgeReport], rounds: Sequence[AdaptiveRound]) -> JudgeReport:
    """Join the rounds of an adaptive run into one report."""
    nothing = JudgeReport(judge)
    numbers = ("done_before", "planned", "cost_usd", "input_tokens", "output_tokens", "seconds", "beyond_scale")
    counters = ("judgments", "stored", "unfit", "errors")
    summed: dict[str, Any] = {
        name: sum((getattr(part, name) for part in parts), getattr(nothing, name)) for name in (*numbers, *counters)
    }
    last = parts[-1] if parts else nothing
    return replace(nothing, **summed, stopped=last.stopped, scale=last.scale, rounds=tuple(rounds))


Watch = Callable[[JudgeTally, int, int], None]
"""Called after every verdict with the counts so far, the number done and the total."""
