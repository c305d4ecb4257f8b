"""A draft of one turn of a chain: its object, its position, and the words that can fill its open field.

Each function returns None if its type does not fit the scene. What a draft offers or accepts is never already true
of the image.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from random import Random
from typing import Literal

from imarena.core import EditType, ObjectTurn, PositionName, SceneObject
from imarena.instructions.chain_state import ChainState
from imarena.instructions.phrases import (
    basic_colors_of,
    materials_of,
    renamed,
    same_noun,
    same_text,
    text_fits,
)
from imarena.instructions.vocabulary import TextLanguage, vocabulary

OpenField = Literal["new_object", "color", "material", "text", "background"]
POSITIONS: tuple[PositionName, ...] = ("left", "right", "above", "below")
MOST = 10
"""Maximum count in an instruction."""
ROOM = 0.15
"""Fraction of the image's side that must be free next to a reference."""
CROWDED = 0.6
"""Maximum share of the image that all copies of an object may cover."""
LONGEST_NOUN_WORDS = 3


@dataclass(frozen=True)
class TurnDraft:
    """A turn with one open field, and the words that fit it, in the order in which they were drawn."""

    turn: ObjectTurn
    field: OpenField | None = None
    options: tuple[str, ...] = ()
    refused: Callable[[str], str] | None = None
    """Why an external word does not fit the open field; empty if it fits."""

    def filled(self, word: str | None = None) -> ObjectTurn:
        """The turn with this word, or by default the first option, in its open field."""
        if self.field is None:
            return self.turn
        return self.turn.model_copy(update={self.field: self.options[0] if word is None else word})


def draft_turn(state: ChainState, kind: EditType, random: Random, language: TextLanguage = "en") -> TurnDraft | None:
    """A draft of this type; None if it does not fit the scene."""
    if kind == "text_change":
        return _text(state, random, language)
    return _DRAFTS[kind](state, random)


def _shuffled(words: Iterable[str], random: Random) -> tuple[str, ...]:
    unique = list(dict.fromkeys(words))
    random.shuffle(unique)
    return tuple(unique)


def _pick(things: Sequence[SceneObject], random: Random) -> SceneObject:
    return things[random.randrange(len(things))]


def _new_nouns(state: ChainState, nouns: Iterable[str], random: Random) -> tuple[str, ...]:
    """Nouns of things that are not in the image; if all are, nouns of the vocabulary with a distinguishing color."""
    fresh = [noun for noun in nouns if not state.was_there(noun)]
    if not fresh:
        every = (noun for category in vocabulary().categories.values() for noun in category.new)
        fresh = [noun for noun in every if not state.was_there(noun)]
    if not fresh:
        names = set(state.pools.all_objects)
        every = (noun for category in vocabulary().categories.values() for noun in category.new)
        fresh = [f"{color} {noun}" for noun in every for color in vocabulary().colors if f"{color} {noun}" not in names]
    return _shuffled(fresh, random)


def _refuses_noun(state: ChainState, old: str = "") -> Callable[[str], str]:
    def refused(word: str) -> str:
        letters = word.replace("-", "").replace(" ", "")
        if not letters.isalpha() or not letters.isascii() or len(word.split()) > LONGEST_NOUN_WORDS or len(word) > 32:
            return "not the name of an object"
        if same_noun(word, "person") or state.was_there(word) or (old and same_noun(word, old)):
            return "in the image already"
        return ""

    return refused


def _add(state: ChainState, random: Random) -> TurnDraft | None:
    if not state.objects:
        anything = _new_nouns(state, vocabulary().categories["Other"].new, random)
        return TurnDraft(ObjectTurn(type="subject_add"), "new_object", anything, _refuses_noun(state))
    places = [(thing, position) for thing in state.objects for position in _free_sides(state, thing)]
    reference, position = places[random.randrange(len(places))]
    words = vocabulary()
    beside = words.categories[words.category_of(reference.object)].beside
    nouns = [noun for name in beside for noun in words.categories[name].new]
    if position == "above":
        nouns = list(words.high)
    turn = ObjectTurn(type="subject_add", position=position, reference=reference.name)
    return TurnDraft(turn, "new_object", _new_nouns(state, nouns, random), _refuses_noun(state))


def _free_sides(state: ChainState, thing: SceneObject) -> list[PositionName]:
    """The sides of a reference with free space; all sides if its place is unknown or it fills the image."""
    if not thing.boxes:
        return list(POSITIONS)
    wide, high = state.contents.width, state.contents.height
    space = {
        "left": min(box[0] for box in thing.boxes) / wide,
        "right": 1 - max(box[2] for box in thing.boxes) / wide,
        "above": min(box[1] for box in thing.boxes) / high,
        "below": 1 - max(box[3] for box in thing.boxes) / high,
    }
    return [position for position in POSITIONS if space[position] >= ROOM] or list(POSITIONS)


def _remove(state: ChainState, random: Random) -> TurnDraft | None:
    if not state.objects:
        return None
    return TurnDraft(ObjectTurn(type="subject_remove", object=_pick(state.objects, random).name))


def _replace(state: ChainState, random: Random) -> TurnDraft | None:
    if not state.objects:
        return None
    thing = _pick(state.objects, random)
    words = vocabulary()
    category = words.categories[words.category_of(thing.object)]
    beside = [noun for name in category.beside for noun in words.categories[name].new]
    fresh = [noun for noun in category.new if not state.was_there(noun)]
    nouns = _new_nouns(state, fresh or beside, random)
    turn = ObjectTurn(type="subject_replace", object=thing.name)
    return TurnDraft(turn, "new_object", nouns, _refuses_noun(state, thing.object))


def _recolor(state: ChainState, random: Random) -> TurnDraft | None:
    """Only objects of known color, because for others a new color may be no change."""
    names = {thing.name for thing in state.objects}

    def colors_for(thing: SceneObject) -> list[str]:
        now = basic_colors_of(thing.color or "")
        return [color for color in vocabulary().colors if color not in now and renamed(thing, color=color) not in names]

    able = [thing for thing in state.objects if basic_colors_of(thing.color or "") and colors_for(thing)]
    if not able:
        return None
    thing = _pick(able, random)
    options = _shuffled(colors_for(thing), random)
    turn = ObjectTurn(type="color_alter", object=thing.name)
    return TurnDraft(
        turn, "color", options, lambda word: "" if word in options else "not a basic color, or its color now"
    )


def _rematerial(state: ChainState, random: Random) -> TurnDraft | None:
    """Only objects whose material is known."""
    names, words = {thing.name for thing in state.objects}, vocabulary()

    def materials_for(thing: SceneObject, every: Iterable[str]) -> list[str]:
        now = materials_of(thing.material or "")
        return [
            material for material in every if material not in now and renamed(thing, material=material) not in names
        ]

    def usual_for(thing: SceneObject) -> list[str]:
        return materials_for(thing, words.categories[words.category_of(thing.object)].materials)

    able = [thing for thing in state.objects if materials_of(thing.material or "") and usual_for(thing)]
    if not able:
        return None
    thing = _pick(able, random)
    turn = ObjectTurn(type="material_alter", object=thing.name)
    allowed = frozenset(materials_for(thing, words.materials))
    return TurnDraft(
        turn,
        "material",
        _shuffled(usual_for(thing), random),
        lambda word: "" if word in allowed else "not a material of the vocabulary, or its material now",
    )


def _text(state: ChainState, random: Random, language: TextLanguage) -> TurnDraft | None:
    """New text on an object that has text, or otherwise a text anywhere in the image."""

    def refused(word: str) -> str:
        if not text_fits(word):
            return "longer than two English words or four Chinese characters"
        return "in the image already" if any(same_text(word, text) for text in state.texts) else ""

    options = _shuffled((word for word in vocabulary().texts[language] if not refused(word)), random)
    if not options:
        return None
    lettered = [thing for thing in state.objects if thing.text]
    if lettered:
        thing = _pick(lettered, random)
        turn = ObjectTurn(type="text_change", object=thing.name, old_text=thing.text)
    else:
        turn = ObjectTurn(type="text_change")
    return TurnDraft(turn, "text", options, refused)


def _move(state: ChainState, random: Random) -> TurnDraft | None:
    """Only single objects, and only to positions where they are known not to be."""
    single = [thing for thing in state.objects if thing.count == 1]
    moves = [
        (thing.name, position, reference.name)
        for thing in single
        for reference in single
        if thing is not reference
        for position in _free_sides(state, reference)
        if state.surely_not(thing.name, position, reference.name)
    ]
    if not moves:
        return None
    name, position, reference = moves[random.randrange(len(moves))]
    return TurnDraft(ObjectTurn(type="position_change", object=name, position=position, reference=reference))


def _recount(state: ChainState, random: Random) -> TurnDraft | None:
    able = [(thing, counts) for thing in state.objects if (counts := _counts_for(state, thing))]
    if not able:
        return None
    thing, counts = able[random.randrange(len(able))]
    count = counts[random.randrange(len(counts))]
    return TurnDraft(ObjectTurn(type="count_change", object=thing.name, count=count))


def _counts_for(state: ChainState, thing: SceneObject) -> list[int]:
    """Counts near the current one that leave enough room; never the current one, and at most 10."""
    most = MOST
    if thing.boxes:
        largest = max((box[2] - box[0]) * (box[3] - box[1]) for box in thing.boxes)
        share = max(largest / (state.contents.width * state.contents.height), 1e-9)
        most = max(1, min(MOST, int(CROWDED / share)))
    near = range(max(1, thing.count - 2), thing.count + 5)
    counts = [count for count in near if count <= most and count != thing.count]
    return counts or [count for count in range(1, most + 1) if count != thing.count]


def _rebackground(state: ChainState, random: Random) -> TurnDraft | None:
    """Only if there is a foreground object to keep, and only to a background that is certainly different."""
    if not any(thing.foreground for thing in state.objects):
        return None
    options = _shuffled((name for name in vocabulary().backgrounds if not _may_show(state, name)), random)
    if not options:
        return None

    def refused(word: str) -> str:
        if not word.replace("-", "").replace(" ", "").isalpha() or len(word.split()) > 2 or len(word) > 32:
            return "not a background in one or two words"
        scene_words = {*state.contents.scene.lower().split(), *(state.background or "").lower().split()}
        if not scene_words:
            return "nobody said what the background shows now"
        return "the background already" if scene_words & set(word.lower().split()) else ""

    return TurnDraft(ObjectTurn(type="background_change"), "background", options, refused)


def _may_show(state: ChainState, name: str) -> bool:
    """Could the background already be this one? Decided by a turn, a description, or its colors."""
    background = vocabulary().backgrounds[name]
    if state.background is not None:
        return bool(set(state.background.lower().split()) & {*background.words, *name.split()})
    if set(state.contents.scene.lower().split()) & set(background.words):
        return True
    if state.contents.background_colors is not None:
        return sum(state.contents.background_colors.get(color, 0.0) for color in background.colors) >= background.share
    return not state.contents.scene


_DRAFTS: dict[EditType, Callable[[ChainState, Random], TurnDraft | None]] = {
    "subject_add": _add,
    "subject_remove": _remove,
    "subject_replace": _replace,
    "color_alter": _recolor,
    "material_alter": _rematerial,
    "position_change": _move,
    "count_change": _recount,
    "background_change": _rebackground,
}
EDIT_TYPES: tuple[EditType, ...] = (*_DRAFTS, "text_change")
