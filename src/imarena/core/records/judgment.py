"""Judgment: a machine's verdict (scores or a preference), or the status that explains why there is none."""

from collections.abc import Mapping
from enum import StrEnum
from functools import cached_property

from pydantic import Field, JsonValue, model_validator

from imarena.core.ids import content_id
from imarena.core.records.base import FrozenModel, JsonDict, Origin, Outcome, Record, Status


class Order(StrEnum):
    """Which side a pairwise judge saw first. `BOTH`: an imported verdict already combined from two calls."""

    LEFT_FIRST = "left_first"
    RIGHT_FIRST = "right_first"
    BOTH = "both"
    UNKNOWN = "unknown"


TIE_KIND = "tie"
"""The key in a judgment's `reasons` that states the kind of its tie."""
UNSTATED = "unstated"
"""The judge calls both equal and does not say whether both are good or both bad. Its preference is `tie`."""


def tie_is_unstated(reasons: Mapping[str, JsonValue]) -> bool:
    """Return whether a judgment with the preference `tie` leaves open if both outputs are good or both bad."""
    if reasons.get(TIE_KIND) == UNSTATED:
        return True
    # earlier versions of the GenAI-Bench import stored only the label
    label = reasons.get("label")
    return isinstance(label, str) and "".join(label.split()).upper() == "[[A=B]]"


class Usage(FrozenModel):
    """The resources that one call used."""

    input_tokens: int | None = None
    output_tokens: int | None = None
    cost_usd: float | None = None
    latency_s: float | None = None
    elapsed_s: float | None = None
    """Time from question to verdict, including earlier tries, pauses and waits for a rate limit."""


class Reply(Record):
    """The raw answer of a judge, stored before it is parsed, so that a better parser can read it again at no cost."""

    work_id: str
    attempt: int = Field(default=0, ge=0)
    raw: str
    usage: Usage = Usage()
    model: str = ""
    """The model name that the endpoint reported, which may differ from the one asked for."""
    run_id: str | None = None
    answered: dict[str, int] = Field(default_factory=dict)
    """With several questions: the answered ones in `raw`, each with the attempt that asked it. Questions that an
    earlier attempt asked were not asked again; `usage` covers this attempt only."""

    @cached_property
    def reply_id(self) -> str:
        """Identity of this reply: the work and the attempt."""
        return content_id("reply", self.work_id, self.attempt)


class Judgment(Record):
    """A judge's verdict on one output (`right_id` is None: scores) or on two (a preference and optional scores).

    Preferences refer to the recorded sides, whatever the order shown to the judge.
    """

    work_id: str
    attempt: int = Field(default=0, ge=0)
    judge: str
    judge_version: str = ""
    prompt_id: str = ""
    prompt_version: str = ""
    params: JsonDict = Field(default_factory=dict)
    item_id: str
    turn: int = 0
    left_id: str
    right_id: str | None = None
    order: Order | None = None
    repeat: int = 0
    dimension: str = "overall"
    status: Status = Status.OK
    preference: Outcome | None = None
    score: float | None = None
    """The headline score of a pointwise verdict, on the judge's own scale."""
    scores: dict[str, float] = Field(default_factory=dict)
    """Scores by criterion; for a pair, `left.<criterion>` and `right.<criterion>`."""
    success: bool | None = None
    consistent: bool | None = None
    """For a verdict combined from both orders: whether they agreed."""
    confidence: float | None = None
    reasons: JsonDict = Field(default_factory=dict)
    error: str = ""
    reply_id: str | None = None
    parser_version: str = ""
    usage: Usage = Usage()
    supersedes: str | None = None
    run_id: str | None = None
    origin: Origin | None = None

    @model_validator(mode="after")
    def _status_is_not_a_verdict(self) -> "Judgment":
        verdict = self.preference is not None or self.score is not None or bool(self.scores)
        if self.status is Status.OK and not verdict:
            raise ValueError("an ok judgment needs a preference or a score")
        if self.status is not Status.OK and verdict:
            raise ValueError(f"a judgment with status {self.status} carries no verdict")
        if self.preference is not None and self.right_id is None:
            raise ValueError("a preference needs two outputs")
        return self

    @property
    def tie_unstated(self) -> bool:
        """Whether this is a tie of unstated kind (both good or both bad); it counts as correct for either kind."""
        return self.preference is Outcome.TIE and tie_is_unstated(self.reasons)

    @cached_property
    def judgment_id(self) -> str:
        """Identity of this attempt, parser and pair of outputs. Outputs with the same pixels share the work."""
        return content_id(
            "judgment", self.work_id, self.attempt, self.parser_version, self.left_id, self.right_id, self.order
        )
