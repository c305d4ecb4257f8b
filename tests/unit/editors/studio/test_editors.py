"""The built-in editors: their known order by the oracle, chains of turns, failures, and blindness to names."""

import asyncio
from functools import cache
from itertools import pairwise

import numpy as np
import pytest

from imarena.core.errors import UnknownName
from imarena.core.protocols import EditRequest, EditResult
from imarena.core.records import Mode, Status
from imarena.core.settings import Settings
from imarena.editors.studio.editors import QUALITY_ORDER, STUDIO_RECIPES, studio_editor, studio_editors
from imarena.studio import DEMO_KEYS, entry_of, render_picture, true_quality
from imarena.studio.render import encode_pixels
from imarena.workflows.wiring.editors import editor_names

KEYS = list(DEMO_KEYS)


def request_for(key: str, turn: int = 0, source: bytes | None = None, seed: int = 42) -> EditRequest:
    entry = entry_of(key)
    if source is None and entry.scene is not None:
        source = render_picture(entry.scene)
    return EditRequest(
        instruction=entry.steps[turn].instruction,
        sources=() if source is None else (source,),
        references=tuple(render_picture(scene) for scene in entry.references),
        seed=seed,
    )


@cache
def result(habit: str, key: str) -> EditResult:
    return asyncio.run(studio_editor(habit).edit(request_for(key)))


def mean_quality(habit: str, keys: list[str] = KEYS) -> float:
    scores = [true_quality(key, made.image).score for key in keys if (made := result(habit, key)).image is not None]
    return float(np.mean(scores))


def test_the_exact_editor_is_the_best_of_all() -> None:
    means = {habit: mean_quality(habit, KEYS[::5]) for habit in QUALITY_ORDER}
    assert max(means, key=lambda habit: means[habit]) == QUALITY_ORDER[0] == "exact", means
    assert means["exact"] > 0.98


@pytest.mark.slow
def test_order_of_quality_is_as_stated() -> None:
    means = {habit: mean_quality(habit) for habit in QUALITY_ORDER}
    assert sorted(means, key=lambda habit: -means[habit]) == list(QUALITY_ORDER), means
    ordered = [means[habit] for habit in QUALITY_ORDER]
    assert min(a - b for a, b in pairwise(ordered)) > 0.03
    assert means["exact"] > 0.98
    assert mean_quality("flaky") > means["timid"]


def test_only_flaky_fails_and_says_how() -> None:
    for habit in QUALITY_ORDER:
        assert all(result(habit, key).status is Status.OK for key in KEYS[::4])
    flaky = [result("flaky", key) for key in KEYS]
    failed = [made for made in flaky if made.status is not Status.OK]
    assert 3 <= len(failed) <= 12
    assert all(made.image is None and made.error for made in failed)
    assert {made.status for made in failed} <= {Status.REFUSED, Status.TIMEOUT, Status.API_ERROR}


@pytest.mark.parametrize("habit", list(STUDIO_RECIPES))
def test_names_order_and_repetition_change_nothing(habit: str) -> None:
    keys = ["edival-05", "world-srie-cg"]
    plain, renamed = studio_editor(habit), studio_editor(habit, name="model-that-wins-everything")
    forwards = [asyncio.run(plain.edit(request_for(key))) for key in keys]
    backwards = [asyncio.run(renamed.edit(request_for(key))) for key in reversed(keys)][::-1]
    assert renamed.name == "model-that-wins-everything"
    for first, second in zip(forwards, backwards, strict=True):
        assert (first.status, first.image, first.error) == (second.status, second.image, second.error)


def test_exact_is_the_truth_through_a_chain_of_turns() -> None:
    entry, image = entry_of("edival-08"), None
    for turn in range(3):
        made = asyncio.run(studio_editor("exact").edit(request_for(entry.key, turn, image)))
        after = entry.scene_after(turn + 1)
        assert after is not None
        image = made.image
        assert image == render_picture(after)


@pytest.mark.parametrize("habit", ["timid", "artefacts", "over-editing"])
def test_imperfect_chains_keep_what_they_carry(habit: str) -> None:
    image, scores = None, []
    for turn in range(3):
        made = asyncio.run(studio_editor(habit).edit(request_for("edival-02", turn, image)))
        image = made.image
        assert image is not None
        scores.append(true_quality("edival-02", image, turn=turn).score)
    assert scores[2] < 0.95
    assert min(scores) > 0.2


def test_asking_again_brings_the_timid_editor_nearer() -> None:
    key = "edival-04"
    first = result("timid", key).image
    assert first is not None
    second = asyncio.run(studio_editor("timid").edit(request_for(key, 0, first))).image
    assert second is not None
    assert true_quality(key, second).score > true_quality(key, first).score + 0.05


def test_complex_mode_makes_all_turns_at_once() -> None:
    entry = entry_of("edival-11")
    words = " ".join(step.instruction for step in entry.steps)
    assert entry.scene is not None
    asked = EditRequest(instruction=words, sources=(render_picture(entry.scene),), mode=Mode.COMPLEX)
    made = asyncio.run(studio_editor("exact").edit(asked))
    after = entry.scene_after(3)
    assert after is not None
    assert made.image == render_picture(after)
    assert true_quality(entry.key, made.image, complex_mode=True).score > 0.99


def test_returns_input_returns_the_very_bytes() -> None:
    asked = request_for("cv-dehazing-2")
    assert asyncio.run(studio_editor("returns-input").edit(asked)).image == asked.sources[0]


def test_strangers_are_refused() -> None:
    for sources in ((), (b"not a picture",)):
        made = asyncio.run(studio_editor("exact").edit(EditRequest(instruction="Make it pop.", sources=sources)))
        assert made.status is Status.REFUSED
        assert "studio" in made.error
    with pytest.raises(UnknownName, match="excat"):
        studio_editor("excat")


@pytest.mark.parametrize("habit", STUDIO_RECIPES)
def test_a_picture_from_elsewhere_is_refused_whatever_the_words(habit: str) -> None:
    drawing = np.full((400, 600, 3), (205, 190, 170), np.uint8)
    drawing[240:] = (140, 100, 60)
    drawing[180:300, 200:300] = (200, 30, 30)
    for words in ("Make it night.", "Switch the lamp on.", "Remove the purple box."):
        made = asyncio.run(studio_editor(habit).edit(EditRequest(instruction=words, sources=(encode_pixels(drawing),))))
        assert made.status is Status.REFUSED
        assert "only the bundled 'studio' items" in made.error


@pytest.mark.parametrize("habit", QUALITY_ORDER)
def test_each_editor_goes_on_from_its_own_pictures(habit: str) -> None:
    entry = entry_of("edival-16")
    assert entry.scene is not None
    source = render_picture(entry.scene)
    for step in entry.steps:
        made = asyncio.run(studio_editor(habit).edit(EditRequest(step.instruction, (source,), seed=42)))
        assert made.image is not None
        source = made.image
        again = EditRequest(step.instruction, (source,), seed=1042)  # the same order once more, as an agent asks
        assert asyncio.run(studio_editor(habit).edit(again)).status is Status.OK


def test_the_list_tells_each_habit_and_that_they_know_the_bundled_items_only() -> None:
    named = editor_names(Settings())
    told = [about for name, about in named.items() if name.startswith("studio-")]
    assert len(set(told)) == 8
    assert all(about.startswith("bundled items only: ") and about.endswith(".") for about in told)


def test_there_are_eight() -> None:
    assert len(studio_editors()) == len({editor.name for editor in studio_editors()}) == 8


@pytest.mark.parametrize("key", ["cv-object-insertion-1", "edival-04", "cv-functional-state-change-1"])
def test_over_editing_does_what_was_asked_and_more(key: str) -> None:
    made = result("over-editing", key).image
    assert made is not None
    truth = true_quality(key, made)
    assert truth.made > 0.5
    assert truth.kept < 0.9


def test_chance_follows_the_seed() -> None:
    key = "cv-object-insertion-2"
    images = {asyncio.run(studio_editor("artefacts").edit(request_for(key, seed=seed))).image for seed in (1, 1, 2)}
    assert len(images) == 2
