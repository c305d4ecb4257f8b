"""The time of a judge that computes here: it looks at a picture once in a run, and what follows from that is quick.

A median over earlier questions would be that of the quick ones: where every pair of editors fights, most questions are
about pictures that were looked at already.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class ComputeTime:
    """Seconds that a picture takes at first sight, and a question about pictures that were seen; None: not known."""

    first_s: float | None = None
    n_first: int = 0
    again_s: float | None = None

    def seconds(self, questions: Iterable[Sequence[str | None]], assumed_s: float) -> float:
        """All questions, by their outputs, one after the other. What is not known about pictures that were seen is
        taken as nothing.
        """
        seen: set[str] = set()
        looks = [count_new(outputs, seen) for outputs in questions]
        first_s = assumed_s if self.first_s is None else self.first_s
        return first_s * sum(looks) + (self.again_s or 0.0) * looks.count(0)

    def basis(self, assumed_s: float) -> str:
        """In words."""
        if self.first_s is None:
            return f"assumes {assumed_s:g} s per image"
        basis = f"{self.first_s:.2g} s per new image (mean of {self.n_first:,} earlier images)"
        if self.again_s is not None:
            basis += f", {self.again_s:.2g} s per question about images seen before"
        return basis


def measure_compute_time(questions: Sequence[tuple[int, float]]) -> ComputeTime:
    """From earlier questions: how many new pictures each had, and its seconds.

    Two questions about one new picture are asked at once, and which of them waits for the look is chance. So the quick
    quarter tells what a question takes without a look, and all the rest of the time is the looks'.
    """
    pictures = sum(looks for looks, _ in questions)
    if not pictures:
        return ComputeTime()
    quick = sorted(seconds for looks, seconds in questions if not looks)
    again_s = quick[len(quick) // 4] if quick else None
    left = sum(seconds for _, seconds in questions) - (again_s or 0.0) * len(quick)
    return ComputeTime(max(0.0, left) / pictures, pictures, again_s)


def count_new(outputs: Sequence[str | None], seen: set[str]) -> int:
    """How many of the outputs were not seen yet; they are from now on."""
    new = {output for output in outputs if output is not None} - seen
    seen |= new
    return len(new)
