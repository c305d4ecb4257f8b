"""Instructions in words: one template per type."""

from collections.abc import Sequence

from imarena.core import ObjectTurn, SceneObject
from imarena.instructions.chain_state import ChainState
from imarena.instructions.phrases import in_number, the, with_article
from imarena.instructions.vocabulary import vocabulary

_PLACES = {"left": "to the left of", "right": "to the right of", "above": "above", "below": "below"}


def instruction_text(state: ChainState, turn: ObjectTurn) -> str:
    """What a turn says to an editor, for the scene before it."""
    thing = None if turn.object is None else state.get(turn.object)
    match turn.type, thing:
        case "subject_add", _:
            return f"Add {with_article(turn.new_object or '')}{_place(state, turn)}."
        case "text_change", None:
            return f"Add the text '{turn.text}' to the image."
        case "background_change", _:
            kept = _listed([the(other) for other in state.objects if other.foreground])
            return f"Change the background to {_background(turn.background or '')}, and leave {kept} unchanged."
        case _, SceneObject():
            return _about(state, turn, thing)
    raise ValueError(f"a turn of type {turn.type} needs an object")


def _about(state: ChainState, turn: ObjectTurn, thing: SceneObject) -> str:
    match turn.type:
        case "subject_remove":
            return f"Remove {the(thing)}."
        case "subject_replace":
            return f"Replace {the(thing)} with {with_article(turn.new_object or '')}."
        case "color_alter":
            return f"Change the color of {the(thing)} to {turn.color}."
        case "material_alter":
            return f"Change the material of {the(thing)} to {turn.material}."
        case "text_change":
            return f"Replace the text '{turn.old_text}' on {the(thing)} with '{turn.text}'."
        case "position_change":
            to = "to " if turn.position in ("above", "below") else ""
            return f"Change the position of {the(thing)} {to}{_place(state, turn).strip()}."
        case _:
            return f"Change the number of {in_number(thing.name, 2)} to {turn.count}."


def _place(state: ChainState, turn: ObjectTurn) -> str:
    if turn.position is None or turn.reference is None:
        return " to the scene"
    return f" {_PLACES[turn.position]} {the(state.get(turn.reference))}"


def _background(name: str) -> str:
    known = vocabulary().backgrounds.get(name)
    return with_article(name) if known is None else known.with_article


def _listed(names: Sequence[str]) -> str:
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"
