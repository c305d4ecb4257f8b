"""Small editors, judges and minds for testing the agent."""

import json
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

from imarena.core.protocols import (
    ChatAnswer,
    ChatPrompt,
    EditorTraits,
    EditRequest,
    EditResult,
    Exhibit,
    JudgeTraits,
    Verdict,
)
from imarena.core.records import JsonDict, Status, Usage


@dataclass
class StepEditor:
    """Appends a letter to the picture: `b"x"` becomes `b"x1"`, and so on. Remembers what it was asked."""

    results: Iterable[EditResult | None] = ()
    name: str = "step"
    version: str = "1"
    asked: list[EditRequest] = field(default_factory=list)
    params: JsonDict = field(default_factory=dict)
    traits: EditorTraits = EditorTraits(usd_per_image=0.25)

    def __post_init__(self) -> None:
        self._results = iter(self.results)

    async def edit(self, request: EditRequest) -> EditResult:
        self.asked.append(request)
        scripted = next(self._results, None)
        if scripted is not None:
            return scripted
        start = request.sources[0] if request.sources else b""
        return EditResult(Status.OK, start + str(len(self.asked)).encode(), cost_usd=0.25)


@dataclass
class ScoreJudge:
    """Scores by a function of the picture. Remembers what it was shown."""

    score: Callable[[bytes], float | None]
    success_from: float = 900.0
    name: str = "scores"
    version: str = "1"
    prompt_id: str = ""
    prompt_version: str = ""
    params: JsonDict = field(default_factory=dict)
    traits: JudgeTraits = JudgeTraits()
    shown: list[Exhibit] = field(default_factory=list)
    reasons: Callable[[bytes], JsonDict] | None = None

    async def judge(self, exhibit: Exhibit) -> Verdict:
        self.shown.append(exhibit)
        value = self.score(exhibit.left)
        if value is None:
            return Verdict(Status.UNPARSABLE, error="no number in the reply")
        words: dict[str, str] = {"feedback": "more red"} if value < self.success_from else {}
        cost = Usage(cost_usd=0.01)
        reasons: JsonDict = self.reasons(exhibit.left) if self.reasons else dict(words)
        return Verdict(Status.OK, score=value, success=value >= self.success_from, reasons=reasons, usage=cost)


def by_length(*scores: float | None) -> Callable[[bytes], float | None]:
    """The n-th score for a picture that was edited n times; the source, b"x", has none of what was asked: 0."""
    return lambda image: scores[len(image) - 2] if len(image) > 1 else 0.0


@dataclass
class ScriptedChat:
    """Answers with these texts or statuses, one after the other."""

    replies: list[str | dict[str, object] | Status]
    prompts: list[ChatPrompt] = field(default_factory=list)

    async def __call__(self, prompt: ChatPrompt) -> ChatAnswer:
        self.prompts.append(prompt)
        reply = self.replies.pop(0)
        if isinstance(reply, Status):
            return ChatAnswer(reply, error="as scripted")
        text = reply if isinstance(reply, str) else json.dumps(reply)
        return ChatAnswer(Status.OK, text, "vlm", Usage(cost_usd=0.001))
