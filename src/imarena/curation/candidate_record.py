"""One candidate of an instruction and what became of it."""

from dataclasses import dataclass, field

from imarena.core import FoundImage


@dataclass(frozen=True)
class CandidateRecord:
    """One candidate and what became of it."""

    found: FoundImage
    round: int
    query: str
    outcome: str
    """pooled, below, duplicate, refused (by a check or filter) or failed (no answer; tried again by the next run)."""
    reason: str = ""
    code: str = ""
    """Of a refusal: licence, not_an_image, small, compression, blur, watermark."""
    sha256: str = ""
    original_sha256: str = ""
    width: int = 0
    height: int = 0
    flags: tuple[str, ...] = ()
    caption: str = ""
    score: float | None = None
    parts: dict[str, float] = field(default_factory=dict)
