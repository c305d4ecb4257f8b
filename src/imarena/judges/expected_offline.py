"""The expected-object list without a model: the objects that the instruction names, and which of them to remove.

It sees no image, so it lists only what the text says. English only; of other instructions it lists the quoted text.
"""

import re
from collections.abc import Callable, Iterator
from functools import lru_cache

from imarena.core import Exhibit, JudgeTraits, Verdict
from imarena.core.records import JsonDict, Status
from imarena.judges.expected_objects import MAX_OBJECTS, ExpectedObject, reasons_from_objects
from imarena.language import (
    READER_VERSION,
    Edit,
    EditKind,
    is_english,
    lexicon,
    read_instruction,
    split_clauses,
    things_in,
)

VERSION = "2"
_MARK = re.compile(r"\bq(\d+)q\b")
_ABSENT = re.compile(
    r"^(?:without (?!changing|altering|affecting|modifying|touching)"
    r"|(?:do not|don't|never) (?:add|include|show|draw|put|insert|use)\b"
    r"|(?:ensure|make sure)\b.*\bno\b)"
)
_REMOVES = re.compile(r"^(?:remove|clear|delete|erase|get rid of|take (?:away|out)|eliminate)\b")
_EXCHANGES = re.compile(r"\b(?:replace|change|swap|switch|turn|edit|correct|instead|from|to)\b")
_TEXT_WORDS = re.compile(r"\b(?:text|words?|letters?|title|caption|writing|slogan|headline|heading|font|spelling)\b")


@lru_cache(maxsize=4096)
def offline_objects(instruction: str) -> tuple[ExpectedObject, ...]:
    """List at most ten objects that `instruction` names; removed or replaced ones are marked as absent."""
    objects: dict[str, ExpectedObject] = {}
    for thing in _objects(instruction):
        name = " ".join(thing.name.split())[:200]
        if name:
            objects.setdefault(name.casefold(), ExpectedObject(name, thing.present))
    return tuple(objects.values())[:MAX_OBJECTS]


def _objects(instruction: str) -> Iterator[ExpectedObject]:
    quotes = split_clauses(instruction).quotes
    if not is_english(instruction):
        yield from (_text(quote) for quote in quotes)
        return
    reading = read_instruction(instruction)
    for edit in reading.edits:
        yield from _RULES.get(edit.kind, _clause)(edit, quotes)
    for phrase in reading.keep:
        yield from _things(phrase, quotes, present=_ABSENT.match(phrase) is None)


def _things(phrase: str, quotes: tuple[str, ...], *, present: bool = True) -> Iterator[ExpectedObject]:
    for mark in _MARK.findall(phrase):
        if int(mark) < len(quotes):
            yield _text(quotes[int(mark)], present=present)
    for thing in things_in(_MARK.sub(" , ", phrase)):
        if thing.startswith("no "):
            yield ExpectedObject(thing.removeprefix("no "), present=False)
        else:
            yield ExpectedObject(thing, present)


def _text(text: str, *, present: bool = True) -> ExpectedObject:
    return ExpectedObject(f'text "{text[:150]}"', present)


# ---------------------------------------------------------------- one rule per kind of edit


def _clause(edit: Edit, quotes: tuple[str, ...]) -> Iterator[ExpectedObject]:
    """List everything that the clause names."""
    yield from _things(edit.clause, quotes)


def _removed(edit: Edit, quotes: tuple[str, ...]) -> Iterator[ExpectedObject]:
    """List removed objects as absent, their place as present ('the vase from the table'), emptied ones as empty."""
    if edit.clause.endswith(" empty"):
        yield from (ExpectedObject(f"empty {thing.name}") for thing in _things(edit.target, quotes))
        return
    for number, thing in enumerate(_things(edit.target, quotes)):
        yield ExpectedObject(thing.name, present=number > 0 and not _joined(edit.target, thing.name))


def _joined(target: str, name: str) -> bool:
    """Is `name` one of several objects removed together, as in 'the vase and the lamp'?"""
    return re.search(r"(?:\band|,)\s*(?:the |a |an |all |both )?$", target.partition(name)[0]) is not None


def _replaced(edit: Edit, quotes: tuple[str, ...]) -> Iterator[ExpectedObject]:
    new = list(_things(edit.value, quotes))
    yield from new
    for number, thing in enumerate(_things(edit.target, quotes)):
        if not any(added.name.endswith(thing.name) for added in new):  # palm trees are trees, so trees are not absent
            yield ExpectedObject(thing.name, present=number > 0 or not new)


def _acting(edit: Edit, quotes: tuple[str, ...]) -> Iterator[ExpectedObject]:
    """List who acts and the object of the action; the action itself cannot be ticked off."""
    yield from _things(edit.target, quotes)
    for thing in _things(edit.value, quotes):
        if not edit.value.startswith(thing.name):
            yield thing


def _looking(edit: Edit, quotes: tuple[str, ...]) -> Iterator[ExpectedObject]:
    """List an object with its new colour or material: 'make the blue car red' gives 'red car'."""
    look = " ".join(edit.colours) if edit.kind is EditKind.COLOUR and edit.colours else edit.value
    things = list(_things(_without(edit.target, edit.old_colours), quotes))
    if not things:
        yield from _clause(edit, quotes)
        return
    yield ExpectedObject(f"{look} {things[0].name}".strip())
    yield from things[1:]


def _without(phrase: str, words: tuple[str, ...]) -> str:
    return re.sub(rf"\b(?:{'|'.join(map(re.escape, words))})\b", " ", phrase) if words else phrase


def _counted(edit: Edit, quotes: tuple[str, ...]) -> Iterator[ExpectedObject]:
    things = list(_things(edit.target, quotes)) or list(_things(edit.value, quotes))
    for number, thing in enumerate(things):
        more = "one more " if edit.operation == "one_more" else f"{edit.count} " if edit.count else ""
        bare = re.sub(r"^(?:\d+|two|three|four|five|six|seven|eight|nine|ten|single)\s+", "", thing.name)
        yield ExpectedObject(f"{more}{bare}") if number == 0 else thing


def _text_objects(edit: Edit, quotes: tuple[str, ...]) -> Iterator[ExpectedObject]:
    if edit.old_text and edit.operation != "remove" and not _EXCHANGES.search(edit.clause.partition(" from left")[0]):
        yield from _clause(edit, quotes)  # a text next to another one, not a replacement
        return
    if edit.text:
        yield _text(edit.text)
    if edit.old_text:
        yield _text(edit.old_text, present=False)
    carriers = list(_things(_TEXT_WORDS.sub(" , ", edit.target), quotes))
    if not edit.text and not edit.old_text:
        yield ExpectedObject("text", present=edit.operation != "remove")
    yield from carriers


def _backed(edit: Edit, quotes: tuple[str, ...]) -> Iterator[ExpectedObject]:
    if edit.target != "background":
        yield from _things(edit.target, quotes)
    if edit.operation == "blur":
        yield ExpectedObject("blurred background")
    elif edit.operation == "remove":
        yield ExpectedObject("background", present=False)
    elif edit.value:
        yield ExpectedObject(f"background: {_MARK.sub('', edit.value).strip()}")


def _whole_image(edit: Edit, quotes: tuple[str, ...]) -> Iterator[ExpectedObject]:
    """Skip the look of the image, which cannot be ticked off; list flaws to remove and other named objects."""
    flaws = {word for phrases in lexicon().enhance.values() for phrase in phrases for word in phrase.split()}
    looks = {word for phrase in lexicon().styles for word in phrase.split()} | lexicon().ambience | {"tone"}
    for thing in _things(edit.clause, quotes):
        words = set(thing.name.split())
        if words & flaws:
            if _REMOVES.match(edit.clause):
                yield ExpectedObject(thing.name, present=False)
        elif not words & looks:
            yield thing


_RULES: dict[EditKind, Callable[[Edit, tuple[str, ...]], Iterator[ExpectedObject]]] = {
    EditKind.REMOVE: _removed,
    EditKind.REPLACE: _replaced,
    EditKind.COLOUR: _looking,
    EditKind.MATERIAL: _looking,
    EditKind.COUNT: _counted,
    EditKind.TEXT: _text_objects,
    EditKind.ACTION: _acting,
    EditKind.BACKGROUND: _backed,
    EditKind.ENHANCE: _whole_image,
    EditKind.STYLE: _whole_image,
    EditKind.VIEW: _whole_image,
    EditKind.EXTEND: _whole_image,
}


class OfflineLister:
    """Has the interface of a judge that asks a model, but is free: it makes the list from an English instruction."""

    name = "builtin"
    version = VERSION
    prompt_id = ""
    prompt_version = ""
    traits = JudgeTraits(seconds=0.001)

    @property
    def params(self) -> JsonDict:
        """The instruction reader's version is part of a list's identity."""
        return {"reader": READER_VERSION}

    async def judge(self, exhibit: Exhibit) -> Verdict:
        """Read the instruction. The list is empty if it names no object; `unparsable` if it is not English."""
        if not is_english(exhibit.instruction):
            why = "the built-in reader knows English only: ask a model with --endpoint, or --base-url and --model"
            return Verdict(Status.UNPARSABLE, error=why)
        return Verdict(Status.OK, reasons=reasons_from_objects(offline_objects(exhibit.instruction)))
