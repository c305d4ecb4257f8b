"""Help with instructions: paraphrases, easier and harder variants, feasibility, balance across tasks and topics.

Rules work offline. A paraphrase counts only if the instruction reader finds the same edits in it; a harder
variant adds a condition about something that the tools detect in the image.
"""

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from imarena.clients import field_text, field_texts, read_fields
from imarena.core import Chat, ChatPrompt, JsonDict, package_yaml
from imarena.core.records import Status, Usage
from imarena.curation.brief import CurationRequest, read_brief
from imarena.curation.perception import Perception
from imarena.curation.scoring import score_image
from imarena.curation.vlm import curation_prompt
from imarena.language import is_english, read_instruction

_VERBS: Mapping[str, list[str]] = package_yaml("imarena.curation", "verbs.yaml")
_FRAMES = ("Please {}", "Edit the image: {}", "In this picture, {}", "What I need: {}")
_LONGEST = 2000
_KEEP = "Keep everything else exactly as it is."


@dataclass(frozen=True)
class InstructionVariants:
    """Alternative wordings of one instruction."""

    instruction: str
    paraphrases: tuple[str, ...]
    easier: str = ""
    harder: str = ""
    note: str = ""


@dataclass(frozen=True)
class Feasibility:
    """Can an instruction be carried out on an image, as far as the tools can tell?"""

    feasible: bool
    score: float
    missing: tuple[str, ...]


@dataclass(frozen=True)
class Balance:
    """The distribution of instructions over tasks and topics, and what is missing."""

    tasks: dict[str, int]
    topics: dict[str, int]
    missing_tasks: tuple[str, ...]
    rare_tasks: tuple[str, ...]
    """Tasks with less than half of the mean count."""
    missing_cells: tuple[tuple[str, str], ...]
    """Pairs of a task and a topic that both occur, but not together."""

    def to_json(self) -> JsonDict:
        """For ``--json``."""
        cells: list[Any] = [list(cell) for cell in self.missing_cells]
        return {
            "tasks": {**self.tasks}, "topics": {**self.topics}, "missing_tasks": list(self.missing_tasks),
            "rare_tasks": list(self.rare_tasks), "missing_cells": cells,
        }  # fmt: skip


def suggest_variants(instruction: str, seen: Perception | None = None, number: int = 3) -> InstructionVariants:
    """Paraphrases and variants by rules; English only."""
    if not is_english(instruction):
        return InstructionVariants(instruction, (), note="not in English: a model is needed")
    meaning = _meaning(instruction)
    paraphrases = [text for text in _reworded(instruction) if text != instruction and _meaning(text) == meaning]
    clauses = [edit.clause for edit in read_instruction(instruction).edits if edit.clause]
    easier = f"{clauses[0][:1].upper()}{clauses[0][1:]}." if len(clauses) > 1 else ""
    return InstructionVariants(
        instruction, tuple(dict.fromkeys(paraphrases))[:number], easier, _harder(instruction, seen)
    )


@dataclass(frozen=True)
class VariantsAnswer:
    """A model's variants of one instruction; by rules, with another status than ok, if its reply cannot be used."""

    variants: InstructionVariants
    status: Status = Status.OK
    error: str = ""
    usage: Usage = Usage()
    raw: str = ""


def variants_prompt(instruction: str, caption: str, number: int = 3) -> ChatPrompt:
    """The question for paraphrases and variants; `caption` is what the image shows, if known."""
    prompt = curation_prompt("instructions")
    ask = prompt.ask.format(instruction=instruction, caption=caption or "not known", number=number)
    return ChatPrompt(prompt.system, (ask,), max_tokens=1024)


async def ask_variants(chat: Chat, instruction: str, caption: str, number: int = 3) -> VariantsAnswer:
    """Paraphrases and variants by a model; falls back to rules if its reply cannot be used."""
    answer = await chat(variants_prompt(instruction, caption, number))
    fields, note = read_fields(answer)
    texts = field_texts(fields.get("paraphrases"), _LONGEST, number)
    if answer.status is not Status.OK or not texts:
        status = Status.UNPARSABLE if answer.status is Status.OK else answer.status
        why = note or "the reply holds no paraphrases; rules were used"
        return rule_answer(instruction, status, why, number, answer.usage, answer.text)
    easier, harder = (field_text(fields.get(name), _LONGEST) for name in ("easier", "harder"))
    return VariantsAnswer(InstructionVariants(instruction, texts, easier, harder), usage=answer.usage, raw=answer.text)


def rule_answer(
    instruction: str, status: Status, why: str, number: int = 3, usage: Usage | None = None, raw: str = ""
) -> VariantsAnswer:
    """The answer for an instruction without a usable reply: variants by rules, with the reason as their note."""
    variants = replace(suggest_variants(instruction, number=number), note=why)
    return VariantsAnswer(variants, status, why, usage or Usage(), raw)


def check_feasibility(
    request: CurationRequest, seen: Perception, text: str, threshold: float, shows: str = ""
) -> Feasibility:
    """Compare what the instruction needs with what the tools detect and what source and user (`shows`) state."""
    score = score_image(read_brief(request), seen, text, shows)
    return Feasibility(score.value >= threshold, score.value, score.missing)


def measure_balance(labels: Iterable[tuple[str | None, str | None]], known_tasks: Sequence[str]) -> Balance:
    """Count (task, topic) pairs and compare them with the tasks of a taxonomy."""
    pairs = [(task or "not stated", topic or "not stated") for task, topic in labels]
    tasks, topics = Counter(task for task, _ in pairs), Counter(topic for _, topic in pairs)
    mean = len(pairs) / len(known_tasks) if known_tasks else 0.0
    missing = tuple(task for task in known_tasks if task not in tasks)
    rare = tuple(task for task in known_tasks if 0 < tasks[task] < mean / 2)
    filled = set(pairs)
    stated = [task for task in tasks if task != "not stated"], [topic for topic in topics if topic != "not stated"]
    cells = tuple((task, topic) for task in stated[0] for topic in stated[1] if (task, topic) not in filled)
    return Balance(dict(tasks), dict(topics), missing, rare, cells)


def _reworded(instruction: str) -> Iterable[str]:
    first, _, others = instruction.partition(" ")
    for verb in _VERBS.get(first.casefold(), ()):
        yield f"{verb.capitalize()} {others}"
    lower = instruction[:1].lower() + instruction[1:]
    for frame in _FRAMES:
        yield frame.format(lower)
    yield f"{instruction.rstrip('.')}. {_KEEP}"


def _meaning(instruction: str) -> tuple[tuple[str, ...], ...]:
    """The reader's interpretation, independent of wording: kind, target, value, colours, text of every edit."""
    return tuple(
        (edit.kind.value, _plain(edit.target), _plain(edit.value), *edit.colours, edit.text, edit.operation)
        for edit in read_instruction(instruction).edits
    )


def _plain(text: str) -> str:
    return re.sub(r"^(?:the|a|an)\s+", "", text.strip().casefold())


def _harder(instruction: str, perception: Perception | None) -> str:
    named_words = {word for thing in read_brief(CurationRequest("", instruction)).things for word in thing.split()}
    bystanders = [thing for thing in perception.things if thing.label not in named_words] if perception else []
    base = instruction.rstrip(". ")
    if bystanders:
        return f"{base}, and do not change the {bystanders[0].label}, its shadow or its reflection."
    if perception and perception.words:
        return f"{base}, and keep the words '{perception.words[0].text}' legible."
    return f"{base}, with light, shadows and perspective that agree with the rest of the image."
