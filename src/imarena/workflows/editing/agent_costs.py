"""The cost of an agent beyond its edits: questions to the endpoints of its judge and its mind."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from imarena import judges
from imarena.core import Editor, Exhibit, ExtraCalls, JudgeTraits, UserError
from imarena.core.records import Item, Mode, Usage
from imarena.workflows.views import instruction_of, references_of

_MADE = b"made"
"""Placeholder for the output that the judge will see; assumed to be as large as the source."""
_WORDS = 500
"""Assumed tokens of a question whose text is not known."""


@dataclass(frozen=True)
class MissingOutput:
    """The place of a missing output."""

    item: Item
    mode: Mode
    turn: int


@dataclass(frozen=True)
class ExtraQuestionsCost:
    """The maximum cost of a run beyond its edits. `cost_usd` is None if a price is not known."""

    cost_usd: float | None
    basis: str


def estimate_extra_questions(editor: Editor, outputs: Sequence[MissingOutput]) -> ExtraQuestionsCost | None:
    """Return the price of all questions that an agent or a best of N may ask for these outputs; None without any."""
    parties = [party for party in _endpoints(editor) if not party.client.runs_here and party.times]
    if not parties or not outputs:
        return None
    total, costs = 0.0, []
    for party in parties:
        what = f"{party.times} {'verdicts' if party.who == 'judge' else 'questions'} at '{party.client.endpoint_name}'"
        cost = _cost(party, outputs)
        if cost is None:
            reason = f"what the {what} by its {party.who} cost is not known: set input_usd_per_million and "
            return ExtraQuestionsCost(None, reason + "output_usd_per_million there")
        total += cost
        costs.append(f"{cost / len(outputs):.4f} USD for {what} by its {party.who}")
    return ExtraQuestionsCost(total, f"on top, at most: {', '.join(costs)} (tokens assumed)")


def _endpoints(editor: Editor, edits: int = 1) -> Iterator[ExtraCalls]:
    """Yield the questions of an editor and of those that it wraps, which may be asked once per edit of their own."""
    wraps = editor.traits.wraps
    if wraps is None:
        return
    for extra in wraps.extra_calls:
        yield replace(extra, times=extra.times * edits)
    yield from _endpoints(wraps.editor, edits * wraps.edits)


def _cost(party: ExtraCalls, outputs: Sequence[MissingOutput]) -> float | None:
    tokens_in = tokens_out = 0.0
    for output in outputs:
        size, replies = (_thought if party.who == "mind" else _verdict)(party, output)
        tokens_in += party.times * (size.text_tokens + size.image_tokens)
        tokens_out += party.times * replies * judges.OUTPUT_TOKENS
    return party.client.cost_usd(Usage(input_tokens=round(tokens_in), output_tokens=round(tokens_out)))


def _verdict(party: ExtraCalls, output: MissingOutput) -> tuple[judges.Size, int]:
    """Return the size of one verdict on an output, and its replies; zero if the judge cannot be shown such an item."""
    sources, references = output.item.sources, references_of(output.item, output.turn)
    image_of = {image.sha256.encode(): image for image in (*sources, *references)}
    image_of |= {_MADE: sources[0]} if sources else {}
    traits = party.judge.traits if party.judge is not None else JudgeTraits()
    if not traits.prompts:
        pictures = [*sources, *references, *sources[:1]]
        return judges.Size(_WORDS, sum(party.client.image_tokens(image) for image in pictures), len(pictures)), 1
    exhibit = Exhibit(
        instruction_of(output.item, output.turn, output.mode), _MADE,
        sources=tuple(image.sha256.encode() for image in sources),
        references=tuple(image.sha256.encode() for image in references),
        task=output.item.turns[output.turn].task or output.item.task,
    )  # fmt: skip
    passes = traits.passes
    try:
        size = judges.question_size(
            traits.prompts.values(), exhibit, lambda part: party.client.image_tokens(image_of.get(part))
        )
    except UserError:
        return judges.Size(0, 0, 0), 0
    return judges.Size(size.text_tokens * passes, size.image_tokens * passes, size.pictures * passes), traits.questions


def _thought(party: ExtraCalls, output: MissingOutput) -> tuple[judges.Size, int]:
    """Return the mean size of the mind's two questions about an output."""
    questions = party.texts(instruction_of(output.item, output.turn, output.mode)) if party.texts else ()
    pictures = (*output.item.sources, *references_of(output.item, output.turn))
    tokens = sum(len(question) for question in questions) / max(1, len(questions)) / judges.CHARACTERS_PER_TOKEN
    return judges.Size(tokens, sum(party.client.image_tokens(image) for image in pictures), len(pictures)), 1
