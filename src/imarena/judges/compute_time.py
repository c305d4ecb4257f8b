"""The time of a judge that computes locally: it processes each image once per run; later questions are quick.

A median over earlier questions would reflect only the quick ones: if every pair of editors battles, most questions are
about images that were processed before.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class ComputeTime:
    """Seconds for a new image, and for a question about images processed before; None: not known."""

    first_s: float | None = None
    n_first: int = 0
    again_s: float | None = None

    def seconds(self, questions: Iterable[Sequence[str | None]], assumed_s: float) -> float:
        """Seconds for all questions, given by their outputs, one after the other. An unknown time for images
        processed before counts as 0.
        """
        processed: set[str] = set()
        looks = [count_new(outputs, processed) for outputs in questions]
        first_s = assumed_s if self.first_s is None else self.first_s
        return first_s * sum(looks) + (self.again_s or 0.0) * looks.count(0)

    def basis(self, assumed_s: float) -> str:
        """What the estimate is based on, in words."""
        if self.first_s is None:
            return f"assumes {assumed_s:g} s per image"
        basis = f"{self.first_s:.2g} s per new image (mean of {self.n_first:,} earlier images)"
        if self.again_s is not None:
            basis += f", {self.again_s:.2g} s per question about images seen before"
        return basis


def measure_compute_time(questions: Sequence[tuple[int, float]]) -> ComputeTime:
    """Estimate from earlier questions, each with its number of new images and its seconds.

    If two questions about one new image run at once, either may wait for the processing. So the lower quartile gives
    the time of a question without new images, and all the remaining time counts as processing.
    """
    pictures = sum(looks for looks, _ in questions)
    if not pictures:
        return ComputeTime()
    quick = sorted(seconds for looks, seconds in questions if not looks)
    again_s = quick[len(quick) // 4] if quick else None
    left = sum(seconds for _, seconds in questions) - (again_s or 0.0) * len(quick)
    return ComputeTime(max(0.0, left) / pictures, pictures, again_s)


def count_new(outputs: Sequence[str | None], seen: set[str]) -> int:
    """Count the outputs that are not in `seen`, and add them to it."""
    new = {output for output in outputs if output is not None} - seen
    seen |= new
    return len(new)
