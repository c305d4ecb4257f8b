"""A judge made of prompts, a chat and a reader: everything that asks a vision-language model is one of these."""

import asyncio
import json
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property

from pydantic import Field, JsonValue

from imarena.core import BudgetSpent, Chat, ChatAnswer, ChatPrompt, Exhibit, JudgeTraits, UserError, Verdict
from imarena.core.records import JsonDict, Noun, Reply, Status, Usage
from imarena.judges.chat.prompt import Prompt, render_prompt
from imarena.judges.replies.parse import PARSER_VERSION
from imarena.judges.replies.reply_text import Unreadable

Read = Callable[[Mapping[str, str]], Verdict]
"""Replies by question name in, verdict out; raises `Unreadable` where they state none."""


Check = Callable[[str, str], object]
"""A question's name and the reply to it in; raises `Unreadable` where that reply is of no use."""


class ChatSettings(Noun):
    """Options of every judge that asks a model. They are part of a judgment's identity."""

    model: str = ""
    """The model asked for, as the judge's name shows it."""
    max_tokens: int = Field(default=2048, ge=1)
    temperature: float | None = Field(default=0.0, ge=0)
    seed: int | None = None
    images: str = ""
    """The label of the way in which pictures are made ready (`Preparation.label`): another way is other work."""
    structured: bool = True
    """Send the reply's JSON schema along; servers that do not know it ignore it or refuse it."""


class PromptSettings(ChatSettings):
    """`prompt`: a prompt file of your own with the same fields in its reply, such as a model was trained with."""

    prompt: str = ""


@dataclass(frozen=True)
class ChatJudge:
    """A judge that asks one or more questions (`prompts`, by name) and reads the replies together."""

    kind: str
    prompts: Mapping[str, Prompt]
    read: Read
    chat: Chat
    settings: ChatSettings
    version: str = "1"
    dimension: str = "overall"
    passes: int = 1
    """How often each question is asked; the passes differ by their seed."""
    check: Check | None = None
    """Tells whether a reply to one question can be read by itself: one that cannot is asked for again, the others not.
    Without it a reply that cannot be read has all questions asked again."""

    @property
    def name(self) -> str:
        """The kind and the model, so that two models never share a column."""
        return f"{self.kind}/{self.settings.model}" if self.settings.model else self.kind

    @property
    def prompt_id(self) -> str:
        return "+".join(dict.fromkeys(prompt.prompt_id for prompt in self.prompts.values()))

    @property
    def prompt_version(self) -> str:
        return "+".join({prompt.prompt_id: prompt.version for prompt in self.prompts.values()}.values())

    @cached_property
    def traits(self) -> JudgeTraits:
        """Its questions, and that it can read replies again and ask for a part of them."""
        return JudgeTraits(
            dimension=self.dimension, prompts=self.prompts, passes=self.passes,
            max_reply_tokens=self.settings.max_tokens, reader=self, partly_asked=self,
        )  # fmt: skip

    @property
    def params(self) -> JsonDict:
        """All that changes what is asked or how the reply is used, the prompts' hashes included."""
        return dict(self._identity)

    @cached_property
    def _identity(self) -> JsonDict:
        hashes: JsonDict = {name: prompt.sha256 for name, prompt in self.prompts.items()}
        return {**self.settings.model_dump(mode="json", exclude={"prompt"}), "prompt_sha256": hashes}

    async def judge(self, exhibit: Exhibit) -> Verdict:
        """Ask, and read what came back. A failed question gives its status, never a part of a verdict."""
        return await self.go_on(exhibit, {})

    async def go_on(self, exhibit: Exhibit, held: Mapping[str, str]) -> Verdict:
        """Ask what is not in `held` (answers from before, see `usable`), and read all together."""
        questions = {
            pass_name(name, number): self._question(prompt, exhibit, number)
            for number in range(self.passes)
            for name, prompt in self.prompts.items()
        }
        new = [name for name in questions if name not in held]
        answers = await self._answers({name: questions[name] for name in new})
        raw = pack_replies({name: answers[name].text if name in answers else held[name] for name in questions})
        models = sorted({answer.model for answer in answers.values() if answer.model})
        answered = tuple(name for name, answer in answers.items() if answer.status is Status.OK)
        asked_verdict = Verdict(
            status=Status.OK,
            raw=raw,
            model=", ".join(models),
            usage=_total([a.usage for a in answers.values()]),
            answered=answered if len(questions) > 1 else (),
        )
        for name, answer in answers.items():
            if answer.status is not Status.OK:
                where = f"{name}: " if len(questions) > 1 else ""
                return replace(asked_verdict, status=answer.status, error=f"{where}{answer.error}")
        verdict = self.reread(raw)
        return replace(
            verdict,
            raw=asked_verdict.raw,
            model=asked_verdict.model,
            usage=asked_verdict.usage,
            answered=asked_verdict.answered,
        )

    async def _answers(self, questions: Mapping[str, ChatPrompt]) -> dict[str, ChatAnswer]:
        """All at once. A spent budget is raised, unless some were answered: those are paid for, and have to be kept."""
        spent: list[BudgetSpent] = []

        async def ask(question: ChatPrompt) -> ChatAnswer:
            try:
                return await self.chat(question)
            except BudgetSpent as error:
                spent.append(error)
                return ChatAnswer(Status.API_ERROR, error=f"not asked: {error}")

        answers = dict(zip(questions, await asyncio.gather(*map(ask, questions.values())), strict=True))
        if spent and all(answer.status is not Status.OK for answer in answers.values()):
            raise spent[0]
        return answers

    def usable(self, reply: Reply) -> Mapping[str, str]:
        """The answers in a stored reply that need not be asked for again; none where all are there but no verdict."""
        names = self._names
        try:
            texts = unpack_replies(reply.raw, names) if len(names) > 1 else {}
        except Unreadable:
            return {}
        kept = {name: text for name, text in texts.items() if name in reply.answered and self._is_readable(name, text)}
        return kept if len(kept) < len(names) else {}

    def _is_readable(self, name: str, text: str) -> bool:
        try:
            if self.check is not None:
                self.check(name, text)
        except Unreadable:
            return False
        return True

    @property
    def _names(self) -> tuple[str, ...]:
        return tuple(pass_name(name, number) for number in range(self.passes) for name in self.prompts)

    def reread(self, raw: str) -> Verdict:
        """Read a stored reply again, for nothing; the result says `unparsable` or `refused` where it has to."""
        try:
            verdict = self.read(unpack_replies(raw, self._names))
        except Unreadable as why:
            return Verdict(status=why.status, error=str(why), raw=raw)
        return replace(verdict, raw=raw)

    @property
    def parser_version(self) -> str:
        """Which reader made the verdict."""
        return PARSER_VERSION

    def _question(self, prompt: Prompt, exhibit: Exhibit, number: int) -> ChatPrompt:
        rendered = render_prompt(prompt, exhibit)
        return ChatPrompt(
            system=rendered.system,
            parts=rendered.parts,
            schema=prompt.output if self.settings.structured else None,
            max_tokens=self.settings.max_tokens,
            temperature=self.settings.temperature,
            seed=None if self.settings.seed is None else self.settings.seed + number,
        )


def pass_name(name: str, number: int) -> str:
    """What the reply to a question is called: its name in the first pass, with the pass's number after that."""
    return name if number == 0 else f"{name}.{number + 1}"


def reply_question(name: str) -> str:
    """The question that a reply called `name` is to, whatever the pass."""
    return name.partition(".")[0]


def pack_replies(texts: Mapping[str, str]) -> str:
    """One text to store: the reply itself, or a JSON object of replies where there were several questions."""
    if len(texts) == 1:
        return next(iter(texts.values()))
    return json.dumps(dict(texts), ensure_ascii=False)


def unpack_replies(raw: str, names: tuple[str, ...]) -> Mapping[str, str]:
    """What `pack_replies` packed."""
    if len(names) == 1:
        return {names[0]: raw}
    try:
        texts = json.loads(raw)
    except (ValueError, RecursionError) as error:
        raise Unreadable("the stored replies are damaged") from error
    if not isinstance(texts, dict) or any(not isinstance(texts.get(name), str) for name in names):
        raise Unreadable(f"the stored replies lack one of: {', '.join(names)}")
    return {name: texts[name] for name in names}


def _total(usages: list[Usage]) -> Usage:
    """What several calls took together; latency is the longest, since they run at once."""

    def added(values: list[int | None]) -> int | None:
        known = [value for value in values if value is not None]
        return sum(known) if known else None

    costs = [usage.cost_usd for usage in usages if usage.cost_usd is not None]
    latencies = [usage.latency_s for usage in usages if usage.latency_s is not None]
    return Usage(
        input_tokens=added([usage.input_tokens for usage in usages]),
        output_tokens=added([usage.output_tokens for usage in usages]),
        cost_usd=sum(costs) if costs else None,
        latency_s=max(latencies) if latencies else None,
    )


def need_chat(chat: Chat | None, kind: str) -> Chat:
    """The chat, or a message that says how to give one."""
    if chat is None:
        raise UserError(
            f"The judge '{kind}' asks a model and was given none.",
            hint="Give an address and a model, for example --base-url http://localhost:8000/v1 --model Qwen3-VL-8B.",
        )
    return chat


def reasons_text(value: JsonValue, depth: int = 0) -> JsonValue:
    """Reasons as given, cut to what a record can hold: no half characters, no endless text, no endless nesting."""
    if isinstance(value, str):
        return _storable(value[:4000])
    if isinstance(value, dict | list) and depth >= 3:
        return "(nested further)"
    if isinstance(value, dict):
        return {_storable(str(key)[:80]): reasons_text(item, depth + 1) for key, item in list(value.items())[:40]}
    if isinstance(value, list):
        return [reasons_text(item, depth + 1) for item in value[:40]]
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)
    return value


def _storable(text: str) -> str:
    """JSON may spell half a surrogate pair or a NUL, which no database takes."""
    return text.encode("utf-8", "replace").decode("utf-8").replace("\x00", "\ufffd")
