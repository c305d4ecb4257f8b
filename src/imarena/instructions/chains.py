"""Algorithm 2 of EdiVal-Agent: a chain of instructions for one scene."""

from collections.abc import Generator
from dataclasses import dataclass
from random import Random

from imarena.core import EditType, ObjectTurn
from imarena.instructions.chain_state import ChainState
from imarena.instructions.scene_contents import SceneContents
from imarena.instructions.turn_drafts import EDIT_TYPES, TurnDraft, draft_turn
from imarena.instructions.vocabulary import TextLanguage
from imarena.instructions.wording import instruction_text

WRITER_VERSION = "1"


@dataclass(frozen=True)
class ChainSettings:
    """How chains are drawn."""

    turns: int = 3
    seed: int = 0
    language: TextLanguage = "en"
    """Of the texts that are written into images."""


@dataclass(frozen=True)
class WrittenChain:
    """The turns of a chain with their pools, and each in words."""

    turns: tuple[ObjectTurn, ...]
    instructions: tuple[str, ...]


Drafting = Generator[tuple[ChainState, TurnDraft], str | None, WrittenChain]


def draft_chain(contents: SceneContents, settings: ChainSettings, key: str) -> Drafting:
    """Draw one turn after the other. Yields each draft; send a word for its open field, or None for its first option.

    The same contents, settings and key draw the same chain. A word that the draft refuses must not be sent.
    """
    random = Random(f"{settings.seed}:{key}")
    state, used = ChainState.of(contents), set[EditType]()
    turns: list[ObjectTurn] = []
    instructions: list[str] = []
    for _ in range(settings.turns):
        kind, draft = _next_draft(state, used, random, settings.language)
        turn = draft.filled((yield state, draft))
        if turn.type != kind:
            turn = turn.model_copy(update={"instead_of": kind})
        instructions.append(instruction_text(state, turn))
        state = state.after(turn)
        turns.append(state.pools.written_to(turn))
        used.add(turn.type)
    return WrittenChain(tuple(turns), tuple(instructions))


def _next_draft(
    state: ChainState, used: set[EditType], random: Random, language: TextLanguage
) -> tuple[EditType, TurnDraft]:
    """The type that was drawn, and its draft; that of `subject_add` where it does not fit the scene."""
    unused = [kind for kind in EDIT_TYPES if kind not in used]
    if not unused:
        used.clear()
        unused = list(EDIT_TYPES)
    kind: EditType = "subject_add" if not state.objects else unused[random.randrange(len(unused))]
    draft = draft_turn(state, kind, random, language) or draft_turn(state, "subject_add", random, language)
    if draft is None:
        raise ValueError("subject_add fits every scene")
    return kind, draft


def write_chain(contents: SceneContents, settings: ChainSettings, key: str) -> WrittenChain:
    """A chain with the words of the vocabulary alone."""
    drafting = draft_chain(contents, settings, key)
    try:
        next(drafting)
        while True:
            drafting.send(None)
    except StopIteration as ended:
        chain: WrittenChain = ended.value
        return chain
