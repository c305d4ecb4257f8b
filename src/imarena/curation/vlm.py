"""A vision-language model as the planner of the agentic track, through the chat port, with our own prompt files.

If a reply to a plan, caption or reflection cannot be used, the rules replace it and the note reports it. A score is
never invented: without a usable reply the candidate has a status and no score.
"""

from collections.abc import Sequence
from typing import Any

from imarena.clients import StagePrompt, field_text, field_texts, read_fields, stage_prompt
from imarena.core import Chat, ChatAnswer, ChatPrompt, ImageQuery
from imarena.core.records import Status
from imarena.curation.brief import ImageBrief
from imarena.curation.planner import (
    Candidate,
    Caption,
    PlannedQueries,
    ReflectionAnswer,
    RuleCurationPlanner,
    ScoreAnswer,
)
from imarena.curation.reflection import Reflection, Scored
from imarena.curation.scoring import ImageScore

_PROMPTS = ("plan", "caption", "score", "reflect")
_PARTS = ("fits", "visible", "feasible", "judgeable")
_LONGEST = 2000
_MOST_CAPTIONS = 8


def curation_prompt(name: str) -> StagePrompt:
    """A prompt file."""
    return stage_prompt("imarena.curation", name)


class ChatCurationPlanner:
    """Asks a model, whose name is `model`."""

    reads_all_languages = True

    def __init__(self, chat: Chat, model: str) -> None:
        self._chat = chat
        self._rules = RuleCurationPlanner()
        versions = "+".join(f"{name}{curation_prompt(name).version}" for name in _PROMPTS)
        self.name = f"{model} {versions}"

    async def plan(self, brief: ImageBrief, memory: Sequence[Reflection], number: int) -> PlannedQueries:
        """Queries by the model; keywords of a person, or of `curate rescore`, are used as they are."""
        if brief.request.keywords:
            return await self._rules.plan(brief, memory, number)
        learnt = " ".join(f"Round {reflection.round}: {reflection.note}" for reflection in memory)
        answer = await self._ask("plan", (), instruction=brief.request.instruction, task=brief.request.task or "any",
                                 memory=learnt, number=number)  # fmt: skip
        fields, note = read_fields(answer)
        entries = fields.get("queries")
        queries = [_query(entry) for entry in entries] if isinstance(entries, list) else []
        plan = tuple({query.text: query for query in queries if query.text}.values())[:number]
        if not plan:
            rules = await self._rules.plan(brief, memory, number)
            return PlannedQueries(rules.queries, note or "the reply holds no queries; rules were used", _cost(answer))
        return PlannedQueries(plan, note, _cost(answer))

    async def caption(self, candidate: Candidate) -> Caption:
        """A dense caption by the model."""
        answer = await self._ask("caption", (candidate.data,), text=candidate.text[:_LONGEST])
        fields, note = read_fields(answer)
        text = field_text(fields.get("caption"), _LONGEST)
        if not text:
            rules = await self._rules.caption(candidate)
            return Caption(rules.text, note or "the reply holds no caption; rules were used", _cost(answer))
        return Caption(text, note, _cost(answer))

    async def score(self, brief: ImageBrief, candidate: Candidate, caption: str) -> ScoreAnswer:
        """A score in [0, 1] by the model, or a status."""
        answer = await self._ask("score", (candidate.data,), instruction=brief.request.instruction,
                                 task=brief.request.task or "any", caption=caption)  # fmt: skip
        if answer.status is not Status.OK:
            return ScoreAnswer(answer.status, None, answer.error, _cost(answer))
        fields, _ = read_fields(answer)
        value = _share(fields.get("score"))
        if value is None:
            return ScoreAnswer(Status.UNPARSABLE, None, "the reply holds no score from 0 to 1", _cost(answer))
        parts = {name: part for name in _PARTS if (part := _share(fields.get(name))) is not None}
        note = field_text(fields.get("reason"), _LONGEST)
        return ScoreAnswer(Status.OK, ImageScore(value, parts, note), "", _cost(answer))

    async def reflect(
        self, brief: ImageBrief, number: int, below: Sequence[Scored], empty_queries: Sequence[str]
    ) -> ReflectionAnswer:
        """What the candidates lack, according to the model."""
        rules = (await self._rules.reflect(brief, number, below, empty_queries)).reflection
        worst = sorted(below, key=lambda image: -image.score.value)[:_MOST_CAPTIONS]
        captions = "\n".join(f"- {image.score.value:.2f}: {image.score.note or image.text}" for image in worst)
        answer = await self._ask("reflect", (), instruction=brief.request.instruction,
                                 empty="; ".join(empty_queries) or "none", captions=captions or "none")  # fmt: skip
        fields, note = read_fields(answer)
        missing, unexpected = _texts(fields.get("missing")), _texts(fields.get("unexpected"))
        if not fields:
            return ReflectionAnswer(rules, _cost(answer))
        note_text = field_text(fields.get("note"), _LONGEST)
        lacks = (
            f"Missing: {', '.join(missing) or 'nothing'}. Unexpected: {', '.join(unexpected) or 'nothing'}. {note_text}"
        )
        reflection = Reflection(number, missing, unexpected, tuple(empty_queries), f"{lacks} {note}".strip())
        return ReflectionAnswer(reflection, _cost(answer))

    async def _ask(self, name: str, images: tuple[bytes, ...], **values: object) -> ChatAnswer:
        prompt = curation_prompt(name)
        safe = {key: str(value) for key, value in values.items()}
        return await self._chat(ChatPrompt(prompt.system, (*images, prompt.ask.format(**safe)), max_tokens=1024))


def _cost(answer: ChatAnswer) -> float:
    return answer.usage.cost_usd or 0.0


def _query(entry: Any) -> ImageQuery:
    if not isinstance(entry, dict):
        return ImageQuery("")
    texts = [field_text(entry.get(name), 200) for name in ("text", "aspect")]
    return ImageQuery(texts[0], _texts(entry.get("exclude"))[:3], texts[1])


def _share(value: Any) -> float | None:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return round(float(value), 4) if 0 <= value <= 1 else None


def _texts(value: Any) -> tuple[str, ...]:
    return field_texts(value, 200, 16)
