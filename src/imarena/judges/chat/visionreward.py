"""VisionReward (arXiv 2412.21059): the authors' yes-or-no questions and linear weights, read from their own files.

Their image scorer asks 30 questions about the image alone. A yes is 1, a no is -1. Three questions only switch others
off (is there a body, a face, a hand?): questions switched off count 0, and the three have no weight. The first
feature is a number for how well the image shows the prompt. The score is the dot product with `coef`, plus
`intercept`. The video release has a plain list of weights and uses the mean of answer times weight.
"""

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal

from pydantic import Field, JsonValue

from imarena.core import Chat, UserError, Verdict, sha256_hex
from imarena.judges.chat.checklist import Checklist, ChecklistQuestion, read_answers, read_yes_no
from imarena.judges.chat.judge import ChatJudge, ChatSettings, need_chat
from imarena.judges.chat.prompt import Prompt, load_prompt
from imarena.judges.options import read_judge_options

Masks = dict[str, tuple[int, ...]]
PUBLISHED_QUESTIONS = 30
PUBLISHED_MASKS: Masks = {"0": (22, 23, 24, 28, 29), "1": (25, 26), "2": (27,)}
"""For `VisionReward_image_qa_select.txt`: indices, from 0, of body, face and hands, and of the questions about each."""
ALIGNMENT = "alignment"
_PROMPT_MARK = "[[prompt]]"


class VisionRewardSettings(ChatSettings):
    """`questions`, `weights`: the paths of the published files. `masks`: which questions switch which others off."""

    questions: str
    weights: str
    alignment: Literal["ask", "none"] = "ask"
    """The authors use VQAScore's probability. `ask`: one more question, 1 for yes, 0 for no. `none`: omit it."""
    masks: Masks | None = None
    max_tokens: int = Field(default=16, ge=1)
    structured: bool = False
    """Off, because the authors' model answers with a single word."""


class _Identity(ChatSettings):
    """The settings in a judgment's identity: the files by content, not by path."""

    questions_sha256: str
    weights_sha256: str
    alignment: str
    masks: Masks


@dataclass(frozen=True)
class Head:
    """The linear head over a list of questions, and the weight of the alignment (0 if the file has none)."""

    checklist: Checklist
    alignment: float = 0.0
    has_alignment: bool = False


def make(options: Mapping[str, JsonValue], chat: Chat | None) -> ChatJudge:
    """Make the judge. It makes one call per question: 31 per image with the published image files."""
    settings = read_judge_options(VisionRewardSettings, options, "visionreward")
    questions, weights = _read(settings.questions, "questions"), _read(settings.weights, "weights")
    lines = [line.strip() for line in questions.splitlines() if line.strip()]
    document = _parsed(weights)
    masks = settings.masks
    if masks is None:
        published = isinstance(document, dict) and len(lines) == PUBLISHED_QUESTIONS
        masks = PUBLISHED_MASKS if published else {}
    head = read_head(lines, document, masks)
    asks = head.has_alignment and settings.alignment == "ask"
    prompts = {question.id: _prompt(question.text) for question in head.checklist.questions}
    if asks:
        prompts[ALIGNMENT] = load_prompt("visionreward-alignment")
    identity = _Identity(
        **settings.model_dump(exclude={"questions", "weights", "masks", "alignment"}),
        questions_sha256=sha256_hex("\n".join(lines).encode()),
        weights_sha256=sha256_hex(weights.encode()),
        alignment=settings.alignment,
        masks=masks,
    )
    return ChatJudge(
        kind="visionreward",
        prompts=prompts,
        read=lambda replies: read_reward(replies, head, ask_alignment=asks),
        chat=need_chat(chat, "visionreward"),
        settings=identity,
        check=lambda name, text: read_yes_no(text, name),
    )


def read_head(lines: list[str], document: JsonValue, masks: Masks) -> Head:
    """Build the head from the question lines and a weight file's JSON; raises if the two files do not match."""
    switches = {int(switch): {int(index) for index in indices} for switch, indices in masks.items()}
    _check_masks(lines, switches)
    coefficients, intercept, alignment = _weights(document, len(lines), len(switches))
    bare = isinstance(document, list)
    weight = iter(coefficients[1:] if alignment else coefficients)
    questions = tuple(
        ChecklistQuestion(
            id=_name(index),
            text=line,
            weight=next(weight) if bare or index not in switches else 0.0,
            only_if=next((_name(switch) for switch, off in switches.items() if index in off), None),
        )
        for index, line in enumerate(lines)
    )
    checklist = Checklist(name="visionreward", version="1", intercept=intercept, questions=questions)
    return Head(checklist, coefficients[0] if alignment else 0.0, has_alignment=alignment)


def _weights(document: JsonValue, lines: int, switches: int) -> tuple[list[float], float, bool]:
    """Return coefficients, intercept, and whether the first coefficient is that of the alignment."""
    if isinstance(document, list):
        coefficients, intercept, expected = _numbers(document, "weights"), 0.0, lines
        coefficients = [value / max(1, lines) for value in coefficients]
    else:
        fields = document if isinstance(document, dict) else {}
        coefficients, intercept = (
            _numbers(fields.get("coef"), "coef"),
            _numbers(fields.get("intercept"), "intercept")[0],
        )
        expected = lines - switches
    alignment = isinstance(document, dict) and len(coefficients) == expected + 1
    if not lines or len(coefficients) != expected + alignment:
        raise UserError(
            f"{lines} questions, {switches} of which only switch others off, need {expected} weights, and one more for "
            f"the alignment; the file has {len(coefficients)}.",
            hint="Give the two files of one release, and `masks` where the questions are not the published selection.",
        )
    return coefficients, intercept, alignment


def read_reward(replies: Mapping[str, str], head: Head, *, ask_alignment: bool) -> Verdict:
    """Combine all answers into the reward. Raises `Unreadable` if an answer that counts is neither yes nor no."""
    verdict = read_answers(replies, head.checklist)
    if not ask_alignment:
        return verdict
    alignment = 1.0 if read_yes_no(replies[ALIGNMENT], ALIGNMENT) else 0.0
    score = (verdict.score or 0.0) + head.alignment * alignment
    return replace(verdict, score=score, scores={ALIGNMENT: alignment, **verdict.scores})


def _name(index: int) -> str:
    return f"q{index + 1:02d}"


def _prompt(question: str) -> Prompt:
    """The question as in the file, after the image; `[[prompt]]` is replaced by the instruction, quoted as data."""
    base = load_prompt("visionreward").model_dump(mode="json")
    image, _ = base["user"]
    shows_instruction = _PROMPT_MARK in question
    text = question.replace("{", "(").replace("}", ")").replace(_PROMPT_MARK, "\n{instruction}\n")
    filled = {**base, "user": [image, {"text": text}], "input": {**base["input"], "instruction": shows_instruction}}
    return Prompt.model_validate(filled)


def _check_masks(lines: list[str], switches: dict[int, set[int]]) -> None:
    indices_used = {*switches, *(index for indices in switches.values() for index in indices)}
    if any(not 0 <= index < len(lines) for index in indices_used) or any(
        set(switches) & off for off in switches.values()
    ):
        raise UserError(
            f"The masks name questions that are not among the {len(lines)} of the file, or switch a switch off.",
            hint='Count from 0: --option \'masks={"0": [22, 23], "1": [25]}\'.',
        )


def _numbers(value: Any, name: str) -> list[float]:
    """Read one number, a list of numbers, or a list that contains such a list, as model libraries write them."""
    flat = value[0] if isinstance(value, list) and len(value) == 1 and isinstance(value[0], list) else value
    numbers = flat if isinstance(flat, list) else [flat]
    if not numbers or any(
        isinstance(x, bool) or not isinstance(x, int | float) or not math.isfinite(x) for x in numbers
    ):
        raise UserError(f"The weight file's {name} is not a list of numbers.", hint="Give the published weight JSON.")
    return [float(number) for number in numbers]


def _parsed(weights: str) -> JsonValue:
    try:
        document: JsonValue = json.loads(weights)
    except ValueError as error:
        raise UserError(f"The weight file is not JSON: {error}.", hint="Give the published weight JSON.") from error
    return document


def _read(path: str, name: str) -> str:
    file = Path(path)
    try:
        return file.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise UserError(
            f"The judge 'visionreward' cannot read its {name} file {path}: {error}.",
            hint="Take both files from the authors' release: see docs/guide/judges.md.",
        ) from error
