"""What an agent asks beside its edits: questions to the endpoints of its judge and its mind, and their price."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from imarena.core import Editor, Exhibit, ExtraQuestions, JudgeTraits, UserError
from imarena.core.records import ImageRef, Item, Mode, Usage
from imarena.judges import (
    CHARACTERS_PER_TOKEN,
    OUTPUT_TOKENS,
    PIXELS_PER_TOKEN,
    UNKNOWN_PIXELS,
    Size,
    endpoint_tokens,
    question_size,
)
from imarena.workflows.views import instruction_of, references_of
from imarena.workflows.wiring import JudgeChat

_MADE = b"made"
"""Stands for the picture that is judged and not yet there: it is taken to be as large as the source."""
_WORDS = 500
"""Assumed tokens of a question whose words are not known."""


@dataclass(frozen=True)
class MissingOutput:
    """Where an output is missing."""

    item: Item
    mode: Mode
    turn: int


@dataclass(frozen=True)
class ExtraQuestionsCost:
    """What is charged beside the edits of a run, at most. `cost_usd` is None where a price is not known."""

    cost_usd: float | None
    told: str


@dataclass(frozen=True)
class _Asked:
    """One endpoint, who asks it, and how often for one output at most."""

    aside: ExtraQuestions
    door: JudgeChat
    times: int

    @property
    def who(self) -> str:
        """`judge` or `mind`."""
        return self.aside.who


def estimate_extra_questions(editor: Editor, places: Sequence[MissingOutput]) -> ExtraQuestionsCost | None:
    """The price of all questions that an agent or a best of N may ask for these outputs; None where it asks nobody."""
    asked = [one for one in _asked(editor) if not one.door.runs_here and one.times]
    if not asked or not places:
        return None
    total, told = 0.0, []
    for one in asked:
        what = f"{one.times} {'verdicts' if one.who == 'judge' else 'questions'} at '{one.door.endpoint.name}'"
        cost = _cost(one, places)
        if cost is None:
            words = f"what the {what} by its {one.who} cost is not known: set input_usd_per_million and "
            return ExtraQuestionsCost(None, words + "output_usd_per_million there")
        total += cost
        told.append(f"{cost / len(places):.4f} USD for {what} by its {one.who}")
    return ExtraQuestionsCost(total, f"on top, at most: {', '.join(told)} (tokens assumed)")


def _asked(editor: Editor, edits: int = 1) -> Iterator[_Asked]:
    """Endpoints of an editor and of those that it wraps, which may be asked once for each of its own edits."""
    wraps = editor.traits.wraps
    if wraps is None:
        return
    for aside in wraps.asides:
        if isinstance(aside.door, JudgeChat):
            yield _Asked(aside, aside.door, aside.times * edits)
    yield from _asked(wraps.editor, edits * wraps.edits)


def _cost(one: _Asked, places: Sequence[MissingOutput]) -> float | None:
    given = written = 0.0
    for place in places:
        size, replies = (_thought if one.who == "mind" else _verdict)(one, place)
        given += one.times * (size.words + size.pixels)
        written += one.times * replies * OUTPUT_TOKENS
    return one.door.endpoint.cost_usd(Usage(input_tokens=round(given), output_tokens=round(written)))


def _verdict(one: _Asked, place: MissingOutput) -> tuple[Size, int]:
    """The size of one verdict on an output, and its replies; nothing where the judge cannot be shown such an item."""
    sources, references = place.item.sources, references_of(place.item, place.turn)
    known = {image.sha256.encode(): image for image in (*sources, *references)}
    known |= {_MADE: sources[0]} if sources else {}
    traits = one.aside.judge.traits if one.aside.judge is not None else JudgeTraits()
    if not traits.prompts:
        pictures = [*sources, *references, *sources[:1]]
        return Size(_WORDS, sum(_tokens(one, image) for image in pictures), len(pictures)), 1
    shown = Exhibit(
        instruction_of(place.item, place.turn, place.mode), _MADE,
        sources=tuple(image.sha256.encode() for image in sources),
        references=tuple(image.sha256.encode() for image in references),
        task=place.item.turns[place.turn].task or place.item.task,
    )  # fmt: skip
    passes = traits.passes
    try:
        size = question_size(traits.prompts.values(), shown, lambda part: _tokens(one, known.get(part)))
    except UserError:
        return Size(0, 0, 0), 0
    return Size(size.words * passes, size.pixels * passes, size.pictures * passes), traits.questions


def _thought(one: _Asked, place: MissingOutput) -> tuple[Size, int]:
    """The mean size of the mind's two questions about an output."""
    questions = one.aside.texts(instruction_of(place.item, place.turn, place.mode)) if one.aside.texts else ()
    pictures = (*place.item.sources, *references_of(place.item, place.turn))
    words = sum(len(question) for question in questions) / max(1, len(questions)) / CHARACTERS_PER_TOKEN
    return Size(words, sum(_tokens(one, image) for image in pictures), len(pictures)), 1


def _tokens(one: _Asked, image: ImageRef | None) -> float:
    """What a picture counts there; one of unknown size where it is not known."""
    if image is None:
        return UNKNOWN_PIXELS / PIXELS_PER_TOKEN
    return endpoint_tokens(one.door.endpoint, image)
