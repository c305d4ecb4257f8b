"""The state of an agent's request: the current image, the best one so far, the steps taken and their cost."""

from dataclasses import dataclass, field

from imarena.agent.completion import Completion, completion_of
from imarena.agent.feedback import Feedback, feedback_of, improved_changes
from imarena.agent.memory import Memory
from imarena.core import EditRequest, EditResult, Verdict, sha256_hex
from imarena.core.records import JsonDict, Status

StateRank = tuple[bool, int, int, float]
"""How good an image is to the judge: whether nothing is left to do, how many changes were carried out when asked for
alone, minus the number of changes that have hardly begun, then its score. An image that lacks a change is never
preferred for being cleaner. For a judge that does not check changes, the score decides."""


@dataclass(frozen=True)
class StepPicture:
    """A step's image and the judge's view of it."""

    image: bytes
    verdict: Verdict
    feedback: Feedback
    completion: Completion = Completion()
    carried: frozenset[str] = frozenset()
    """Changes that were carried out on the way to this image when they were asked for alone."""

    @property
    def standing(self) -> StateRank | None:
        """The ranking key of the image; None if the judge gave no score."""
        if self.verdict.status is not Status.OK or self.verdict.score is None:
            return None
        return self.completion.final, len(self.carried), -self.feedback.untouched, self.verdict.score


@dataclass
class State:
    """The state of one request."""

    request: EditRequest
    success_score: float | None = None
    """The score from which an edit counts as a success."""
    memory: Memory = field(default_factory=Memory)
    current: bytes | None = None
    """The image that the next step edits; None: the source."""
    seen: StepPicture | None = None
    """The judge's view of that image or the source; None if the judge was not asked."""
    best: bytes | None = None
    best_standing: StateRank | None = None
    best_completion: Completion = Completion()
    spare: bytes | None = None
    """The last image made before the plan's last step: the answer only if there is no other."""
    failure: EditResult | None = None
    cost_usd: float = 0.0
    unpriced: bool = False
    steps: list[JsonDict] = field(default_factory=list)

    def pay(self, cost: float | None) -> None:
        """Add a cost; an unknown one makes the total unknown."""
        self.unpriced = self.unpriced or cost is None
        self.cost_usd += cost or 0.0

    def look(self, image: bytes, verdict: Verdict, order: str) -> StepPicture:
        """The judge's view of an image that was made from the current one with this order."""
        feedback = feedback_of(verdict, self.request.instruction)
        before = self.seen or StepPicture(b"", verdict, Feedback())
        carried = before.carried | improved_changes(before.feedback, feedback, order)
        return StepPicture(image, verdict, feedback, self.completion(verdict), carried)

    def completion(self, verdict: Verdict) -> Completion:
        """Which parts of the instruction are done according to this verdict."""
        return completion_of(verdict, self.request.instruction, self.success_score)

    def resume(self, image: bytes, seen: StepPicture | None) -> None:
        """Let the next step start from this image."""
        self.current, self.seen = image, seen

    def remember(self, look: StepPicture) -> None:
        """Keep the best image; one without a score is kept only if no other has a score."""
        image, standing = look.image, look.standing
        if standing is None:
            self.best = self.best if self.best_standing is not None else image
        elif self.best_standing is None or standing > self.best_standing:
            self.best, self.best_standing, self.best_completion = image, standing, look.completion

    def result(self, seconds: float) -> EditResult:
        """The best image with the trace, or a failure with the trace if no step made an image."""
        cost = None if self.unpriced else self.cost_usd
        seconds += self.memory.earlier_s
        image = self.best if self.best is not None else self.spare
        if image is None:
            failed = self.failure or EditResult(Status.MISSING_OUTPUT, error="no step made a picture")
            return EditResult(
                failed.status, None, failed.error, cost_usd=cost, latency_s=seconds, steps=tuple(self.steps)
            )
        score = None if self.best_standing is None else self.best_standing[-1]
        last: JsonDict = {
            "stage": "choose", "image_sha256": sha256_hex(image), "score": score,
            "edits": sum(1 for step in self.steps if step["stage"] == "edit"),
            **self.best_completion.to_json(),
        }  # fmt: skip
        return EditResult(Status.OK, image, cost_usd=cost, latency_s=seconds, steps=(*self.steps, last))
