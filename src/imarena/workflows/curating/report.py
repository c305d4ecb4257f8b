"""The report of a curation run: each instruction's images, and why candidates were left out."""

from collections import Counter
from dataclasses import dataclass, field
from typing import Any

from imarena import curation
from imarena.core import Cause, CauseTally, Document


@dataclass(frozen=True)
class ChosenImage:
    """An image that became an item."""

    item: str
    """The item's key, which `curate log` takes."""
    source: str
    file: str
    """The file in a folder, or the image's key in another source."""
    score: float | None


@dataclass(frozen=True)
class RequestOutcome(Document):
    """One instruction: its items, the number of candidates by outcome, and why a person has to take over."""

    key: str
    chosen: tuple[ChosenImage, ...] = ()
    """Sorted by score, highest first."""
    rounds: int = 0
    candidates: dict[str, int] = field(default_factory=dict)
    """Their number by outcome."""
    review: str = ""
    flags: tuple[str, ...] = ()
    failures: tuple[str, ...] = ()
    too_small: int = 0
    """Number of candidates whose long side is below the limit."""
    error: str = ""
    """Why the instruction failed as a whole; the next run tries it again."""

    @property
    def items(self) -> tuple[str, ...]:
        """Keys of its items."""
        return tuple(image.item for image in self.chosen)

    @property
    def complete(self) -> bool:
        """Whether its pool is full."""
        return not self.review and not self.error

    def to_json(self) -> dict[str, Any]:
        """For ``--json``."""
        texts = {"review": self.review or None, "error": self.error or None}
        return {**super().to_json(), **texts, "items": list(self.items)}


@dataclass(frozen=True)
class CurationReport(Document):
    """The result of a run."""

    dataset: str
    requests: tuple[RequestOutcome, ...]
    """The decided instructions, in their order: all, unless the run was stopped."""
    new_items: int
    cost_usd: float
    left_out: tuple[Cause, ...]
    """Why candidates were left out, with counts."""
    failures: tuple[Cause, ...]
    earlier: tuple[str, ...] = ()
    """Keys of items for the same instructions from earlier runs that this one did not choose."""
    warnings: tuple[str, ...] = ()
    left: int = 0
    """Number of instructions that are not decided, because the run was stopped."""
    stopped: str = ""

    @property
    def complete(self) -> bool:
        """Whether every instruction has its images."""
        return not self.left and all(outcome.complete for outcome in self.requests)

    def to_json(self) -> dict[str, Any]:
        """For ``--json``."""
        return {**super().to_json(), "complete": self.complete}


@dataclass
class CurationTally:
    """Counts of the instructions that were decided."""

    outcomes: list[RequestOutcome] = field(default_factory=list)
    new: int = 0
    causes: CauseTally = field(default_factory=CauseTally)
    failures: CauseTally = field(default_factory=CauseTally)
    _left_out: set[tuple[str, str]] = field(default_factory=set)
    """Reason and image of each candidate in `causes`: an image found for several instructions counts once."""

    def add(self, request: str, result: curation.CurationResult, keys: list[str], new: int) -> None:
        """Count the result for one instruction, the keys of its items, and how many of them are new."""
        pool = {record.sha256 for record in result.pool}
        outcomes = Counter("chosen" if record.sha256 in pool and record.outcome == "pooled" else record.outcome
                           for record in result.candidates)  # fmt: skip
        flags = tuple(sorted({flag for record in result.pool for flag in record.flags}))
        images = tuple(ChosenImage(key, record.found.source, record.found.key, record.score)
                       for key, record in zip(keys, result.pool, strict=True))  # fmt: skip
        small = sum(record.code == "small" for record in result.candidates)
        outcome = RequestOutcome(
            request, images, result.rounds, dict(outcomes), result.review, flags, result.failures, small
        )
        self.outcomes.append(outcome)
        self.new += new
        for record in result.candidates:
            if record.outcome in ("refused", "duplicate") and (cause := _cause(record)) not in self._left_out:
                self._left_out.add(cause)
                self.causes.add(*cause)
        for failure in result.failures:
            self.failures.add(failure, request)

    def fail(self, request: str, error: str) -> None:
        """Count an instruction that failed as a whole."""
        self.outcomes.append(RequestOutcome(request, error=error))
        self.failures.add(error, request)


def _cause(record: curation.CandidateRecord) -> tuple[str, str]:
    """Return the reason for leaving out a candidate, in uniform words; its own figures go to the example."""
    image = f"{record.found.source}/{record.found.key}"
    if record.outcome == "duplicate" and record.score is not None:
        return "a near-duplicate of an image that was chosen", f"{image} ({record.reason})"
    if record.code in curation.MEASURED:
        measured, _, reason = record.reason.partition(": ")
        return reason, f"{image} ({measured})"
    return record.reason, image
