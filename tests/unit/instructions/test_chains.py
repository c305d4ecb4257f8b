"""Chains over random scenes: pools, types, feasibility, repeatability, and nothing that is true already."""

import re
from collections import Counter

from hypothesis import given, settings
from hypothesis import strategies as st

from imarena.core import ObjectTurn, SceneObject
from imarena.core.object_pools import ObjectPools
from imarena.instructions import ChainSettings, SceneContents, write_chain
from imarena.instructions.phrases import basic_colors_of, materials_of, same_noun, same_text, text_fits
from imarena.instructions.turn_drafts import EDIT_TYPES, MOST
from imarena.instructions.vocabulary import vocabulary
from imarena.language import EditKind, read_instruction
from tests.unit.instructions.scenes import World, scenes

LENGTHS = st.integers(1, 14)
SEEDS = st.integers(0, 10_000)
KINDS = {
    "subject_add": EditKind.ADD, "subject_remove": EditKind.REMOVE, "subject_replace": EditKind.REPLACE,
    "color_alter": EditKind.COLOUR, "material_alter": EditKind.MATERIAL, "text_change": EditKind.TEXT,
    "position_change": EditKind.POSITION, "count_change": EditKind.COUNT, "background_change": EditKind.BACKGROUND,
}  # fmt: skip


@given(scenes(), LENGTHS, SEEDS)
def test_pools_follow_the_world(contents: SceneContents, length: int, seed: int) -> None:
    world, before = World.of(contents), ObjectPools.of(contents.objects)
    base = {thing.name for thing in contents.objects}
    touched: set[str] = set()
    for turn in write_chain(contents, ChainSettings(length, seed), "scene").turns:
        for name in (turn.object, turn.reference):
            assert name is None or name in before.available
        world.do(turn)
        touched |= {turn.object} if turn.object else set()
        assert set(turn.available) == set(world.things)
        assert len(set(turn.available)) == len(turn.available)
        assert set(turn.available) <= set(turn.all_objects)
        assert set(before.all_objects) <= set(turn.all_objects)
        assert set(turn.unchanged) == (base & set(before.unchanged) & set(world.things)) - touched
        assert turn.score_background == (before.score_background and turn.type != "background_change")
        before = ObjectPools(turn.all_objects, turn.available, turn.unchanged, turn.score_background)


@given(scenes(), LENGTHS, SEEDS)
def test_no_type_comes_twice_except_as_a_fall_back_or_after_all_nine(
    contents: SceneContents, length: int, seed: int
) -> None:
    turns = write_chain(contents, ChainSettings(length, seed), "scene").turns
    assert len(turns) == length
    had_objects = bool(contents.objects)
    used: set[str] = set()
    for turn in turns:
        drawn = turn.instead_of or turn.type
        used = set() if len(used) == len(EDIT_TYPES) else used
        if turn.instead_of is not None:
            assert turn.type == "subject_add"
        if had_objects:
            assert drawn not in used
        else:
            assert turn.type == "subject_add"
        used.add(turn.type)
        had_objects = bool(turn.available)


@given(scenes(), LENGTHS, SEEDS)
def test_no_turn_asks_for_what_is_there(contents: SceneContents, length: int, seed: int) -> None:
    world = World.of(contents)
    texts = [thing.text for thing in contents.objects if thing.text]
    backgrounds = [contents.scene]
    for turn in write_chain(contents, ChainSettings(length, seed), "scene").turns:
        thing = world.things.get(str(turn.object), {})
        if turn.new_object is not None:
            assert not any(same_noun(turn.new_object, noun) for noun in world.nouns)
        if turn.type == "color_alter":
            assert turn.color in vocabulary().colors
            assert basic_colors_of(thing["color"])
            assert turn.color not in basic_colors_of(thing["color"])
        if turn.type == "material_alter":
            assert materials_of(thing["material"])
            assert turn.material not in materials_of(thing["material"])
        if turn.type == "text_change":
            assert turn.text is not None
            assert text_fits(turn.text)
            assert turn.old_text == thing.get("text")
            assert not any(same_text(turn.text, text) for text in texts)
            texts.append(turn.text)
        if turn.type == "count_change":
            assert turn.count is not None
            assert 1 <= turn.count <= MOST
            assert turn.count != thing["count"]
        if turn.type == "position_change":
            assert not is_there(world, turn)
        if turn.type == "background_change":
            assert turn.background is not None
            words = set(vocabulary().backgrounds[turn.background].words)
            assert not words & set(backgrounds[-1].split())
            backgrounds.append(turn.background)
        world.do(turn)


def is_there(world: World, turn: ObjectTurn) -> bool:
    """Is the object where the turn wants it, or is it not known?"""
    moving, fixed = world.things[str(turn.object)], world.things[str(turn.reference)]
    if moving["boxes"] and fixed["boxes"]:
        axis = 0 if turn.position in ("left", "right") else 1
        pairs = [
            (one[axis] + one[axis + 2], two[axis] + two[axis + 2]) for one in moving["boxes"] for two in fixed["boxes"]
        ]
        return any(one < two if turn.position in ("left", "above") else one > two for one, two in pairs)
    opposite = {"left": "right", "right": "left", "above": "below", "below": "above"}[str(turn.position)]
    known_not = (opposite, turn.reference) in moving["beside"] or (turn.position, turn.object) in fixed["beside"]
    return not known_not


@given(scenes(least=1), LENGTHS, SEEDS)
def test_the_reader_understands_every_instruction(contents: SceneContents, length: int, seed: int) -> None:
    chain = write_chain(contents, ChainSettings(length, seed), "scene")
    for turn, instruction in zip(chain.turns, chain.instructions, strict=True):
        assert KINDS[turn.type] in {edit.kind for edit in read_instruction(instruction).edits}, instruction
        assert "None" not in instruction
        for value in (turn.new_object, turn.color, turn.material, turn.text, turn.old_text):
            assert value is None or value in instruction
        if turn.type == "background_change":
            assert all(name.split()[-1] in instruction for name in turn.available)


@given(scenes(), LENGTHS, SEEDS)
def test_the_same_seed_writes_the_same_chain(contents: SceneContents, length: int, seed: int) -> None:
    chain = write_chain(contents, ChainSettings(length, seed), "scene")
    assert chain == write_chain(contents, ChainSettings(length, seed), "scene")
    shorter = write_chain(contents, ChainSettings(max(1, length - 1), seed), "scene")
    assert chain.instructions[: len(shorter.instructions)] == shorter.instructions


@settings(max_examples=10)
@given(scenes())
def test_a_chain_may_be_long(contents: SceneContents) -> None:
    assert len(write_chain(contents, ChainSettings(80), "scene").turns) == 80


def rich_scene() -> SceneContents:
    cup = SceneObject(
        name="ceramic white cup",
        object="cup",
        color="white",
        material="ceramic",
        text="TEA",
        boxes=((60, 60, 120, 150),),
    )
    chair = SceneObject(
        name="wooden brown chair", object="chair", color="brown", material="wood", boxes=((300, 150, 400, 300),)
    )
    dog = SceneObject(name="black dog", object="dog", color="black", boxes=((450, 250, 560, 330),), foreground=False)
    return SceneContents((cup, chair, dog), 640, 480, scene="kitchen")


def test_over_many_seeds_every_type_is_drawn_about_as_often() -> None:
    counts = Counter(
        turn.type for seed in range(600) for turn in write_chain(rich_scene(), ChainSettings(3, seed), "scene").turns
    )
    assert set(counts) == set(EDIT_TYPES)
    assert all(150 <= number <= 260 for kind, number in counts.items() if kind != "subject_add"), counts


def test_texts_can_be_chinese() -> None:
    texts = {
        turn.text
        for seed in range(60)
        for turn in write_chain(rich_scene(), ChainSettings(3, seed, "zh"), "scene").turns
        if turn.text
    }
    assert texts
    assert all(re.fullmatch(r"[一-鿿]{1,4}", text) for text in texts)


def test_an_empty_scene_gets_something_added_first() -> None:
    chain = write_chain(SceneContents((), 640, 480), ChainSettings(3, 5), "scene")
    assert chain.turns[0].type == "subject_add"
    assert chain.turns[0].reference is None
    assert chain.instructions[0].endswith("to the scene.")
    assert chain.turns[0].unchanged == ()
