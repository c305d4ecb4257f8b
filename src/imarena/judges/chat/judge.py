"""`ChatJudge`, the base of all judges that ask a vision-language model: prompts, a chat and a reply reader."""

import asyncio
import json
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property

from pydantic import Field, JsonValue

from imarena.core import BudgetSpent, Chat, ChatAnswer, ChatPrompt, Exhibit, JudgeTraits, UserError, Verdict
from imarena.core.records import FrozenModel, JsonDict, Reply, Status, Usage
from imarena.judges.chat.prompt import Prompt, load_prompt, render_prompt
from imarena.judges.options import read_judge_options
from imarena.judges.replies.parse import PARSER_VERSION
from imarena.judges.replies.reply_text import Unreadable

Read = Callable[[Mapping[str, str]], Verdict]
"""Takes replies by question name and returns a verdict; raises `Unreadable` if they state none."""


ReplyCheck = Callable[[str, str], object]
"""Takes a question's name and its reply; raises `Unreadable` if the reply is unusable."""


class ChatSettings(FrozenModel):
    """Options of every judge that asks a model. They are part of a judgment's identity."""

    model: str = ""
    """The model asked for, as the judge's name shows it."""
    max_tokens: int = Field(default=2048, ge=1)
    temperature: float | None = Field(default=0.0, ge=0)
    seed: int | None = None
    images: str = ""
    """`Preparation.label` of the image preparation; images prepared differently need new judgments."""
    structured: bool = True
    """Send the reply's JSON schema with the request; servers without support ignore or reject it."""


class PromptSettings(ChatSettings):
    """`prompt`: your own prompt file with the same reply fields, for example the one that a model was trained with."""

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
    """How often each question is asked; the passes differ in their seed."""
    check: ReplyCheck | None = None
    """Checks whether the reply to one question is readable, so that only unreadable ones are asked again.
    Without a check, an unreadable reply makes the judge ask all questions again."""

    @property
    def name(self) -> str:
        """Kind and model, so that two models are never mixed."""
        return f"{self.kind}/{self.settings.model}" if self.settings.model else self.kind

    @property
    def prompt_id(self) -> str:
        return "+".join(dict.fromkeys(prompt.prompt_id for prompt in self.prompts.values()))

    @property
    def prompt_version(self) -> str:
        return "+".join({prompt.prompt_id: prompt.version for prompt in self.prompts.values()}.values())

    @cached_property
    def traits(self) -> JudgeTraits:
        """Its questions, and that it can reread stored replies and ask only the missing questions."""
        return JudgeTraits(
            dimension=self.dimension, prompts=self.prompts, passes=self.passes,
            max_reply_tokens=self.settings.max_tokens, reader=self, resumable=self,
        )  # fmt: skip

    @property
    def params(self) -> JsonDict:
        """Everything that affects the question or the use of the reply, including the prompts' hashes."""
        return dict(self._identity)

    @cached_property
    def _identity(self) -> JsonDict:
        hashes: JsonDict = {name: prompt.sha256 for name, prompt in self.prompts.items()}
        return {**self.settings.model_dump(mode="json", exclude={"prompt"}), "prompt_sha256": hashes}

    async def judge(self, exhibit: Exhibit) -> Verdict:
        """Ask all questions and read the replies. A failed question gives its status, never a partial verdict."""
        return await self.resume(exhibit, {})

    async def resume(self, exhibit: Exhibit, previous_answers: Mapping[str, str]) -> Verdict:
        """Ask the questions without an answer in `previous_answers` (see `usable`), then read all answers."""
        questions = {
            pass_name(name, number): self._question(prompt, exhibit, number)
            for number in range(self.passes)
            for name, prompt in self.prompts.items()
        }
        new = [name for name in questions if name not in previous_answers]
        answers = await self._answers({name: questions[name] for name in new})
        raw = pack_replies(
            {name: answers[name].text if name in answers else previous_answers[name] for name in questions}
        )
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
                prefix = f"{name}: " if len(questions) > 1 else ""
                return replace(asked_verdict, status=answer.status, error=f"{prefix}{answer.error}")
        verdict = self.reread(raw)
        return replace(
            verdict,
            raw=asked_verdict.raw,
            model=asked_verdict.model,
            usage=asked_verdict.usage,
            answered=asked_verdict.answered,
        )

    async def _answers(self, questions: Mapping[str, ChatPrompt]) -> dict[str, ChatAnswer]:
        """Ask all questions at once. A spent budget raises unless some were answered: those are paid for and kept."""
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
        """The answers in a stored reply that can be reused; none if all are readable but gave no verdict."""
        names = self._names
        try:
            texts = unpack_replies(reply.raw, names) if len(names) > 1 else {}
        except Unreadable:
            return {}
        readable = {
            name: text for name, text in texts.items() if name in reply.answered and self._is_readable(name, text)
        }
        return readable if len(readable) < len(names) else {}

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
        """Read a stored reply again, at no cost; the status is `unparsable` or `refused` if it states no verdict."""
        try:
            verdict = self.read(unpack_replies(raw, self._names))
        except Unreadable as why:
            return Verdict(status=why.status, error=str(why), raw=raw)
        return replace(verdict, raw=raw)

    @property
    def parser_version(self) -> str:
        """The version of the reply reader."""
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


def ask_one_question(
    kind: str,
    prompt: str,
    read: Callable[[str], Verdict],
    *,
    question: str,
    settings: type[ChatSettings] = ChatSettings,
    dimension: str = "overall",
) -> Callable[[Mapping[str, JsonValue], Chat | None], ChatJudge]:
    """The maker of a judge that asks one question, and reads the reply with `read`.

    `prompt`: the bundled prompt, if the settings name no other one. `question`: its name in a judgment's identity.
    """

    def make(options: Mapping[str, JsonValue], chat: Chat | None) -> ChatJudge:
        own = read_judge_options(settings, options, kind)
        own_prompt = own.prompt if isinstance(own, PromptSettings) else ""
        return ChatJudge(
            kind=kind,
            prompts={question: load_prompt(own_prompt or prompt)},
            read=lambda replies: read(replies[question]),
            chat=need_chat(chat, kind),
            settings=own,
            dimension=dimension,
        )

    return make


def pass_name(name: str, number: int) -> str:
    """The name of a question's reply: the question's name, followed by the pass number from the second pass on."""
    return name if number == 0 else f"{name}.{number + 1}"


def reply_question(name: str) -> str:
    """The question that the reply called `name` answers, in any pass."""
    return name.partition(".")[0]


def pack_replies(texts: Mapping[str, str]) -> str:
    """One text to store: the reply itself or, for several questions, a JSON object of replies."""
    if len(texts) == 1:
        return next(iter(texts.values()))
    return json.dumps(dict(texts), ensure_ascii=False)


def unpack_replies(raw: str, names: tuple[str, ...]) -> Mapping[str, str]:
    """Undo `pack_replies`."""
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
    """The total usage of several calls. The latency is the longest one, because the calls run at once."""

    def added(values: list[int | None]) -> int | None:
        numbers = [value for value in values if value is not None]
        return sum(numbers) if numbers else None

    costs = [usage.cost_usd for usage in usages if usage.cost_usd is not None]
    latencies = [usage.latency_s for usage in usages if usage.latency_s is not None]
    return Usage(
        input_tokens=added([usage.input_tokens for usage in usages]),
        output_tokens=added([usage.output_tokens for usage in usages]),
        cost_usd=sum(costs) if costs else None,
        latency_s=max(latencies) if latencies else None,
    )


def need_chat(chat: Chat | None, kind: str) -> Chat:
    """Return the chat, or raise an error that says how to give one."""
    if chat is None:
        raise UserError(
            f"The judge '{kind}' needs a model, and none is set.",
            hint="Give an address and a model, for example --base-url http://localhost:8000/v1 --model Qwen3-VL-8B.",
        )
    return chat


def reasons_text(value: JsonValue, depth: int = 0) -> JsonValue:
    """Reasons cut to what a record can hold: no half characters, limited length, limited nesting."""
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
    """Replace half surrogate pairs and NULs, which JSON allows but databases do not accept."""
    return text.encode("utf-8", "replace").decode("utf-8").replace("\x00", "\ufffd")
