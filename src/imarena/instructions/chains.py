"""Algorithm 2 of EdiVal-Agent: a chain of instructions for one scene, and the sentence of each turn."""

from collections.abc import Generator, Sequence
from dataclasses import dataclass
from random import Random

from imarena.core import EditType, ObjectTurn, SceneObject
from imarena.instructions.chain_state import ChainState
from imarena.instructions.phrases import in_number, with_article, with_definite_article
from imarena.instructions.scene_contents import SceneContents
from imarena.instructions.turn_drafts import EDIT_TYPES, TurnDraft, draft_turn
from imarena.instructions.vocabulary import TextLanguage, vocabulary

WRITER_VERSION = "1"


@dataclass(frozen=True)
class ChainSettings:
    """How to draw chains."""

    turns: int = 3
    seed: int = 0
    language: TextLanguage = "en"
    """Language of the texts that are written into images."""


@dataclass(frozen=True)
class WrittenChain:
    """The turns of a chain with their pools, and their instructions."""

    turns: tuple[ObjectTurn, ...]
    instructions: tuple[str, ...]


Drafting = Generator[tuple[ChainState, TurnDraft], str | None, WrittenChain]


def draft_chain(contents: SceneContents, settings: ChainSettings, key: str) -> Drafting:
    """Draw the turns one by one. Yields each draft; send a word for its open field, or None for its first option.

    The same contents, settings and key draw the same chain. Never send a word that the draft refuses.
    """
    random = Random(f"{settings.seed}:{key}")
    state, used_types = ChainState.of(contents), set[EditType]()
    turns: list[ObjectTurn] = []
    instructions: list[str] = []
    for _ in range(settings.turns):
        kind, draft = _next_draft(state, used_types, random, settings.language)
        turn = draft.filled((yield state, draft))
        if turn.type != kind:
            turn = turn.model_copy(update={"instead_of": kind})
        instructions.append(instruction_text(state, turn))
        state = state.after(turn)
        turns.append(state.pools.written_to(turn))
        used_types.add(turn.type)
    return WrittenChain(tuple(turns), tuple(instructions))


def _next_draft(
    state: ChainState, used_types: set[EditType], random: Random, language: TextLanguage
) -> tuple[EditType, TurnDraft]:
    """The drawn type and its draft, or a draft of `subject_add` if the type does not fit the scene."""
    unused = [kind for kind in EDIT_TYPES if kind not in used_types]
    if not unused:
        used_types.clear()
        unused = list(EDIT_TYPES)
    kind: EditType = "subject_add" if not state.objects else unused[random.randrange(len(unused))]
    draft = draft_turn(state, kind, random, language) or draft_turn(state, "subject_add", random, language)
    if draft is None:
        raise ValueError("subject_add fits every scene")
    return kind, draft


def write_chain(contents: SceneContents, settings: ChainSettings, key: str) -> WrittenChain:
    """Draw a chain with words from the vocabulary only."""
    drafting = draft_chain(contents, settings, key)
    try:
        next(drafting)
        while True:
            drafting.send(None)
    except StopIteration as ended:
        chain: WrittenChain = ended.value
        return chain


_PLACES = {"left": "to the left of", "right": "to the right of", "above": "above", "below": "below"}


def instruction_text(state: ChainState, turn: ObjectTurn) -> str:
    """The instruction of a turn, given the scene before it."""
    thing = None if turn.object is None else state.get(turn.object)
    match turn.type, thing:
        case "subject_add", _:
            return f"Add {with_article(turn.new_object or '')}{_place_phrase(state, turn)}."
        case "text_change", None:
            return f"Add the text '{turn.text}' to the image."
        case "background_change", _:
            objects = _name_list([with_definite_article(other) for other in state.objects if other.foreground])
            return f"Change the background to {_background(turn.background or '')}, and leave {objects} unchanged."
        case _, SceneObject():
            return _about(state, turn, thing)
    raise ValueError(f"a turn of type {turn.type} needs an object")


def _about(state: ChainState, turn: ObjectTurn, thing: SceneObject) -> str:
    match turn.type:
        case "subject_remove":
            return f"Remove {with_definite_article(thing)}."
        case "subject_replace":
            return f"Replace {with_definite_article(thing)} with {with_article(turn.new_object or '')}."
        case "color_alter":
            return f"Change the color of {with_definite_article(thing)} to {turn.color}."
        case "material_alter":
            return f"Change the material of {with_definite_article(thing)} to {turn.material}."
        case "text_change":
            return f"Replace the text '{turn.old_text}' on {with_definite_article(thing)} with '{turn.text}'."
        case "position_change":
            to = "to " if turn.position in ("above", "below") else ""
            return f"Change the position of {with_definite_article(thing)} {to}{_place_phrase(state, turn).strip()}."
        case _:
            return f"Change the number of {in_number(thing.name, 2)} to {turn.count}."


def _place_phrase(state: ChainState, turn: ObjectTurn) -> str:
    if turn.position is None or turn.reference is None:
        return " to the scene"
    return f" {_PLACES[turn.position]} {with_definite_article(state.get(turn.reference))}"


def _background(name: str) -> str:
    entry = vocabulary().backgrounds.get(name)
    return with_article(name) if entry is None else entry.with_article


def _name_list(names: Sequence[str]) -> str:
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"
