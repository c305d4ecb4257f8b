"""Other records: runs, calibrations, verifications, traces and tombstones."""

from functools import cached_property

from pydantic import Field

from imarena.core.ids import content_id
from imarena.core.records.base import JsonDict, Moment, Record


class Run(Record):
    """One run of a command: its settings, its time, and its result."""

    run_id: str
    command: str
    settings: JsonDict = Field(default_factory=dict)
    finished_at: Moment | None = None
    state: str = "running"
    """running, done, partial, failed or interrupted. A run that is 'running' and has no process was killed."""
    counts: dict[str, int] = Field(default_factory=dict)
    cost_usd: float = 0.0


class Calibration(Record):
    """How far a judge can be trusted, by score gap, with the underlying data."""

    judge: str
    method: str
    group: str = "all"
    data: JsonDict
    curve: JsonDict
    n_pairs: int

    @cached_property
    def calibration_id(self) -> str:
        """Identity: the judge, the method and the data."""
        return content_id("calibration", self.judge, self.method, self.group, self.data)


class Verification(Record):
    """A person's check of a collected item: task matches, target visible, feasible, judgeable."""

    item_id: str
    rater_id: str
    checks: dict[str, bool]
    decision: str
    """accept, repair or discard."""
    comment: str = ""

    @cached_property
    def verification_id(self) -> str:
        """Identity: who checked what, and when."""
        return content_id("verification", self.item_id, self.rater_id, self.created_at.isoformat())


class Trace(Record):
    """The steps of an agent on the way to one output."""

    output_id: str
    steps: tuple[JsonDict, ...]

    @cached_property
    def trace_id(self) -> str:
        """Identity: one trace per output."""
        return content_id("trace", self.output_id)


class Tombstone(Record):
    """A removal on request: what, when and why. The bytes or the personal data are gone."""

    subject: str
    """An image's SHA-256 or a rater id."""
    kind: str
    reason: str = ""

    @cached_property
    def tombstone_id(self) -> str:
        """Identity: one tombstone per subject."""
        return content_id("tombstone", self.kind, self.subject)
