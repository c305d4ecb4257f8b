"""The record of one candidate for an instruction; why an instruction has too few images."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from imarena.core import FoundImage, counted
from imarena.curation.scoring import ImageScore


@dataclass(frozen=True)
class CandidateRecord:
    """One candidate and its outcome."""

    found: FoundImage
    round: int
    query: str
    outcome: str
    """pooled, below, duplicate, refused (by a check or filter) or failed (no answer; the next run tries again)."""
    reason: str = ""
    code: str = ""
    """Code of a refusal: licence, not_an_image, small, compression, blur, watermark."""
    sha256: str = ""
    original_sha256: str = ""
    width: int = 0
    height: int = 0
    flags: tuple[str, ...] = ()
    caption: str = ""
    score: float | None = None
    parts: dict[str, float] = field(default_factory=dict)


def explain_shortage(
    records: Sequence[CandidateRecord], pool: int, rounds: int, long_side: int, task: str | None = None
) -> str:
    """One sentence for a person. `long_side` is the minimum long side in pixels that the checks required."""
    if not records:
        return f"no query found an image in {counted(rounds, 'round')}"
    small = sum(record.code == "small" for record in records)
    advice = f"smaller than {long_side} pixels (long side); lower the limit with --min-long-side N"
    if small == len(records):
        return f"the only candidate is {advice}" if small == 1 else f"all {small} candidates are {advice}"
    n_pooled = sum(record.outcome == "pooled" for record in records)
    copies = [record for record in records if record.outcome == "duplicate" and record.score is not None]
    verb = "was chosen" if copies and not n_pooled else "were chosen" if copies else "reached the threshold"
    why = f"only {n_pooled} of {pool} images {verb}" if n_pooled else f"no image {verb}"
    parts = [f"{why} in {counted(rounds, 'round')}", _best_other(records, task)]
    if small:
        parts.append(f"{small} of {counted(len(records), 'candidate')} {'is' if small == 1 else 'are'} {advice}")
    return "; ".join(parts)


def _best_other(records: Sequence[CandidateRecord], task: str | None) -> str:
    """The best candidate that was not chosen, and the reason."""
    rivals = [record for record in records if record.outcome in ("below", "duplicate") and record.score is not None]
    if not rivals:
        refused = next((record for record in records if record.outcome == "refused" and record.code != "small"), None)
        example = f" ({refused.found.key}: {refused.reason})" if refused else ""
        return f"no other candidate passed the checks{example}"
    best = max(rivals, key=lambda record: record.score or 0.0)
    scores = f"the best other candidate, {best.found.key}, scores {best.score or 0.0:.2f}"
    if best.outcome == "duplicate":
        return f"{scores} but is a {best.reason}"
    lacks = ImageScore(best.score or 0.0, best.parts).missing
    why = f" (for the task {task})" if task and any(name.startswith("condition: ") for name in lacks) else ""
    return f"{scores} and lacks {', '.join(lacks)}{why}" if lacks else scores
