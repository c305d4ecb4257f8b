"""A weighted checklist as a judge, as in VisionReward: yes-or-no questions, +1 or -1, linear weights.

`visionreward` reads VisionReward's own files; this judge is for your own lists. An answer that cannot be read makes
the verdict unreadable rather than counting as a no, unless another question has switched its question off.
"""

from collections.abc import Mapping
from pathlib import Path

from pydantic import Field, JsonValue, model_validator

from imarena.core import Chat, UserError, Verdict, canonical_json, sha256_hex
from imarena.core.records import FrozenModel, JsonDict, Status
from imarena.judges.chat.judge import ChatJudge, ChatSettings, need_chat
from imarena.judges.chat.prompt import Prompt, PromptCriterion, load_prompt, read_yaml_model
from imarena.judges.options import read_judge_options
from imarena.judges.replies.parse import field, is_refusal
from imarena.judges.replies.reply_text import Unreadable, answer_part, find_object
from imarena.judges.replies.words import normalise_phrase

_ANSWERS = {"yes": True, "no": False, "true": True, "false": False, "是": True, "否": False}


class ChecklistQuestion(FrozenModel):
    """`only_if`: this question counts only if the one with this id, such as 'are there hands?', is answered yes."""

    id: str = Field(pattern=r"^[a-z][a-z0-9_]*$")
    text: str = Field(min_length=3)
    weight: float
    only_if: str | None = None


class Checklist(FrozenModel):
    """A file of questions. The score is the intercept plus the weights of yes answers minus those of no answers."""

    name: str
    version: str
    questions: tuple[ChecklistQuestion, ...] = Field(min_length=1, max_length=200)
    intercept: float = 0.0

    @model_validator(mode="after")
    def _check_ids(self) -> "Checklist":
        ids = [question.id for question in self.questions]
        if len(set(ids)) != len(ids):
            raise ValueError("two questions have the same id")
        for question in self.questions:
            if question.only_if is not None and question.only_if not in ids:
                raise ValueError(f"'{question.id}' depends on '{question.only_if}', which is not in the list")
        return self

    @property
    def sha256(self) -> str:
        return sha256_hex(canonical_json(self.model_dump(mode="json")).encode())


class ChecklistSettings(ChatSettings):
    """`questions`: the path of the checklist's YAML file."""

    questions: str
    max_tokens: int = Field(default=64, ge=1)


class _Identity(ChatSettings):
    """The settings in a judgment's identity: the checklist by its content, not its path."""

    checklist: str
    checklist_sha256: str


def read_checklist(path: str) -> Checklist:
    """Load a checklist from its file; an error names the place of the mistake."""
    file = Path(path)
    if not file.is_file():
        raise UserError(f"There is no checklist {path}.", hint="Give the path of a YAML file of questions.")
    return read_yaml_model(Checklist, file.read_text(encoding="utf-8"), f"The checklist {file.name}")


def make(options: Mapping[str, JsonValue], chat: Chat | None) -> ChatJudge:
    """Make the judge. It makes one call per question, so a long list is expensive."""
    settings = read_judge_options(ChecklistSettings, options, "checklist")
    checklist = read_checklist(settings.questions)
    base = settings.model_dump(exclude={"questions"})
    return ChatJudge(
        kind=f"checklist-{checklist.name}",
        prompts={question.id: _prompt(question) for question in checklist.questions},
        read=lambda replies: read_answers(replies, checklist),
        chat=need_chat(chat, "checklist"),
        settings=_Identity(**base, checklist=checklist.version, checklist_sha256=checklist.sha256),
        version=checklist.version,
        check=lambda name, text: read_yes_no(text, name),
    )


def _prompt(question: ChecklistQuestion) -> Prompt:
    return load_prompt("checklist").model_copy(
        update={"criteria": (PromptCriterion(name="question", definition=question.text),)}
    )


def read_answers(replies: Mapping[str, str], checklist: Checklist) -> Verdict:
    """Combine all answers into one score. Raises `Unreadable` if an answer that counts is neither yes nor no."""
    read_before: dict[str, bool] = {}

    def answer(name: str) -> bool:
        if name not in read_before:
            read_before[name] = read_yes_no(replies[name], name)
        return read_before[name]

    score, counted = checklist.intercept, {}
    for question in checklist.questions:
        if question.only_if is None or answer(question.only_if):
            counted[question.id] = 1.0 if answer(question.id) else -1.0
            score += question.weight * counted[question.id]
    answers: JsonDict = {name: "yes" if yes else "no" for name, yes in read_before.items()}
    return Verdict(Status.OK, score=score, scores=counted, reasons={"answers": answers})


def read_yes_no(text: str, name: str) -> bool:
    """Read a reply as yes or no, from its JSON object or a bare word."""
    fields = find_object(text)
    value = field(fields, "answer") if fields is not None else answer_part(text)
    if isinstance(value, bool):
        return value
    answer = _ANSWERS.get(normalise_phrase(value)) if isinstance(value, str) else None
    if answer is None:
        status = Status.REFUSED if isinstance(value, str) and is_refusal(value) else Status.UNPARSABLE
        raise Unreadable(f"{name} is {str(value)[:60]!r}, neither yes nor no", status)
    return answer
