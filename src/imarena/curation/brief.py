"""What a source image must show for an instruction: requirements that can be checked against pixels and metadata."""

import re
from dataclasses import dataclass
from typing import Literal

from imarena.core import JsonDict
from imarena.curation.task_needs import TaskNeeds, needs_of, task_file
from imarena.language import Edit, EditKind, colours_in, is_english, read_instruction, things_in

RequirementKind = Literal["thing", "colour", "condition", "text", "several", "absent"]
_SHADE = re.compile(r"\b(?:light|dark|bright|pale|deep)\b")
_PLACEHOLDER = re.compile(r"\bq\d+q\b")
"""Placeholder of the instruction reader for quoted words."""
_PART_OF_NEW = re.compile(
    r"\bin an? (.+?) (?:to|on|onto|into|at|beside|behind|above|under|near|next to|in front of) the\b"
)
"""`a hiker in a red jacket to the path`: part of the added thing, not a place."""


@dataclass(frozen=True)
class Requirement:
    """One requirement of an image. If an essential one is not met, the score is at most `scoring.CEILING`."""

    kind: RequirementKind
    value: str
    weight: float = 1.0
    essential: bool = True
    of: str = ""
    """For a colour: the thing that has it."""

    @property
    def name(self) -> str:
        """Name for logs, such as `thing: dog`."""
        return f"{self.kind}: {f'{self.value} {self.of}' if self.of else self.value}"


@dataclass(frozen=True)
class CurationRequest:
    """One instruction that needs images."""

    key: str
    instruction: str
    task: str | None = None
    topic: str | None = None
    keywords: tuple[str, ...] = ()
    """Base track: queries written by a person. If given, no planner is used."""

    def to_json(self) -> JsonDict:
        """Everything that the result depends on."""
        return {
            "key": self.key, "instruction": self.instruction, "task": self.task, "keywords": list(self.keywords),
        }  # fmt: skip


@dataclass(frozen=True)
class ImageBrief:
    """The parsed instruction: what must be visible, and whether the reader knows its language."""

    request: CurationRequest
    requirements: tuple[Requirement, ...]
    needs: TaskNeeds
    english: bool

    @property
    def things(self) -> tuple[str, ...]:
        """Things that must be visible."""
        return tuple(need.value for need in self.requirements if need.kind == "thing")

    @property
    def conditions(self) -> tuple[str, ...]:
        """Conditions of the pixels."""
        return tuple(need.value for need in self.requirements if need.kind == "condition")


def read_brief(request: CurationRequest) -> ImageBrief:
    """Requirements of an instruction, from its words and its task. English only (otherwise `english` is False)."""
    needs = needs_of(request.task)
    if not is_english(request.instruction):
        return ImageBrief(request, _conditions(needs), needs, english=False)
    requirements: list[Requirement] = []
    for edit in read_instruction(request.instruction).edits:
        requirements += _of_edit(edit, inserts=needs.inserts)
    unique = {(need.kind, need.value, need.of): need for need in reversed([*requirements, *_conditions(needs)])}
    ordered = tuple(reversed(unique.values()))
    added = {need.value for need in ordered if need.kind == "absent"}
    remaining = tuple(need for need in ordered if need.kind != "thing" or need.value not in added)
    return ImageBrief(request, remaining, needs, english=True)


def _conditions(needs: TaskNeeds) -> tuple[Requirement, ...]:
    conditions = tuple(Requirement("condition", name, weight=1.5) for name in needs.needs)
    several = (Requirement("several", str(needs.several)),) if needs.several > 1 else ()
    return conditions + several


def _of_edit(edit: Edit, *, inserts: bool) -> list[Requirement]:
    adds = edit.kind is EditKind.ADD or (inserts and edit.kind in (EditKind.TEXT, EditKind.ACTION, EditKind.POSITION))
    new = set(_things(edit.value)) if edit.kind in (EditKind.ADD, EditKind.REPLACE, EditKind.COUNT) else set()
    if adds:
        new |= set(_things(edit.target)) | (set(_things(edit.clause)) if edit.kind is not EditKind.ADD else set())
    other = {word for text in (edit.text, edit.old_text) for word in _things(text)}
    if adds and (part := _PART_OF_NEW.search(edit.clause)):
        other |= set(_things(part[1]))
    things = _things(edit.target) if edit.target and not adds else ()
    things = tuple(thing for thing in things or _things(edit.clause) if thing not in new | other)
    requirements = [Requirement("thing", thing) for thing in things]
    for phrase in things_in(edit.clause):
        bare = _bare(phrase)
        requirements += [
            Requirement("colour", colour, weight=0.5, essential=False, of=bare)
            for colour in colours_in(phrase)
            if bare in things and colour not in edit.colours
        ]
    requirements += [Requirement("absent", thing, weight=0.5, essential=False) for thing in sorted(new)]
    if not adds and (edit.old_text or (edit.kind is EditKind.TEXT and edit.text)):
        requirements.append(Requirement("text", edit.old_text or edit.text, weight=0.5, essential=False))
    return requirements


def _things(text: str) -> tuple[str, ...]:
    """Noun phrases without colours and without words that do not name a thing."""
    ignored = task_file().not_things
    things = [bare for phrase in things_in(_PLACEHOLDER.sub(" ", text)) if (bare := _bare(phrase))]
    return tuple(dict.fromkeys(thing for thing in things if thing not in ignored and thing.split()[-1] not in ignored))


def _bare(phrase: str) -> str:
    """The phrase without colours and words that are irrelevant for a search."""
    dropped = {*colours_in(phrase), *task_file().plain}
    return " ".join(word for word in _SHADE.sub("", phrase).split() if word not in dropped)
