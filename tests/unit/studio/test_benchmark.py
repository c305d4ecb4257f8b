"""The bundled benchmark: what it covers, its pictures and licences, and the oracle's known answers."""

from collections import Counter
from importlib.resources import files
from io import BytesIO

import cv2
import numpy as np
import pytest
from PIL import Image

from imarena.core.errors import UnknownName
from imarena.core.ids import sha256_hex
from imarena.core.records import ImageRef, Item
from imarena.datasets.studio import studio_items
from imarena.datasets.taxonomy import load_taxonomy as load
from imarena.studio import (
    DEMO_KEYS,
    entries,
    entry_of,
    is_photo,
    photo_of,
    photos,
    recognise_request,
    render_picture,
    render_scene,
    true_quality,
)
from imarena.studio.canvases import decode_pixels
from imarena.studio.photos import LICENCE_ADDRESSES, photo_bytes
from imarena.studio.render import encode_pixels

FOLDER = files("imarena.studio").joinpath("photographs")


class Shelf:
    """Keeps pictures in memory."""

    def __init__(self) -> None:
        self.held: dict[str, bytes] = {}

    def keep(self, data: bytes, name: str) -> ImageRef:
        with Image.open(BytesIO(data)) as opened:
            width, height = opened.size
            media = Image.MIME[opened.format or ""]
        ref = ImageRef(sha256=sha256_hex(data), size_bytes=len(data), media_type=media, width=width, height=height)
        assert name.endswith(".jpg" if media == "image/jpeg" else ".png")
        self.held[ref.sha256] = data
        return ref


@pytest.fixture(scope="module")
def demo_items() -> list[Item]:
    return list(studio_items(Shelf().keep, DEMO_KEYS))


def test_counts() -> None:
    assert Counter(entry.key.split("-")[0] for entry in entries()) == {"edival": 18, "cv": 32, "world": 36, "photo": 14}
    assert len({entry.key for entry in entries()}) == 100
    assert len(DEMO_KEYS) == len(set(DEMO_KEYS)) == 20


def test_all_nine_edival_types_come_up_on_all_three_turns() -> None:
    wanted = {task.name for task in load("edival").tasks}
    chains = [entry for entry in entries() if entry.key.startswith("edival")]
    for turn in range(3):
        assert {entry.steps[turn].task for entry in chains} == wanted
    assert all(len(entry.steps) == 3 for entry in chains)
    assert all(len({step.task for step in entry.steps}) == 3 for entry in chains)


@pytest.mark.parametrize("taxonomy", ["edival", "cv_arena", "imagenworld"])
def test_tasks_and_families_are_those_of_the_taxonomy(taxonomy: str) -> None:
    tasks = {task.name: task.family for task in load(taxonomy).tasks}
    mine = [entry for entry in entries() if entry.taxonomy == taxonomy]
    assert all(tasks[entry.task] == entry.family for entry in mine)
    assert {entry.task for entry in mine} == set(tasks)
    assert {entry.family for entry in mine} == set(tasks.values())


def test_six_tasks_by_six_topics_with_the_right_number_of_pictures() -> None:
    cells = {(e.task, e.topic) for e in entries() if e.key.startswith("world")}
    assert len(cells) == 36
    spec = {task.name: task for task in load("imagenworld").tasks}
    for entry in entries():
        if entry.taxonomy == "imagenworld":
            task = spec[entry.task]
            assert task.sources == (entry.scene is not None)
            assert task.references is not None
            low, high = task.references
            assert low <= len(entry.references) <= (high if high is not None else 99)


def test_every_turn_changes_the_picture() -> None:
    for entry in entries():
        if entry.scene is not None and is_photo(entry.scene):
            continue
        for turn in range(len(entry.steps)):
            before, after = entry.scene_after(turn), entry.scene_after(turn + 1)
            assert after is not None
            if before is not None:
                a, b = render_scene(before).pixels, render_scene(after).pixels
                assert a.shape != b.shape or (np.abs(a.astype(int) - b).max(axis=2) > 12).sum() > 120, (entry.key, turn)


def test_items_have_what_an_item_needs(demo_items: list[Item]) -> None:
    again = list(studio_items(Shelf().keep, DEMO_KEYS))
    assert [item.item_id for item in again] == [item.item_id for item in demo_items]
    for item in demo_items:
        assert item.dataset == "studio"
        assert item.licence in LICENCE_ADDRESSES
        assert item.provenance["attribution"]
        assert Item.from_json(item.to_json()) == item
        assert item.taxonomy
        assert load(item.taxonomy).check(item) is None
    families = {item.family for item in demo_items if item.taxonomy == "cv_arena"}
    assert families == {family.name for family in load("cv_arena").families}
    assert {item.task for item in demo_items if item.key.startswith("world")} == {
        t.name for t in load("imagenworld").tasks
    }
    assert {item.topic for item in demo_items if item.key.startswith("world")} == {"A", "P", "I", "T", "CG", "S"}


def test_unknown_key_raises() -> None:
    with pytest.raises(UnknownName, match="no-such"):
        list(studio_items(Shelf().keep, ["no-such"]))


def test_photographs_are_small_licensed_and_attributed() -> None:
    names = {file.name for file in FOLDER.iterdir()}
    assert names == {f"{photo.name}.jpg" for photo in photos()} | {"photographs.yaml", "ATTRIBUTION.md"}
    assert sum(len(photo_bytes(photo.name)) for photo in photos()) < 12_000_000
    attribution = FOLDER.joinpath("ATTRIBUTION.md").read_text(encoding="utf-8")
    large = 0
    for photo in photos():
        line = next(row for row in attribution.splitlines() if row.startswith(f"| {photo.name}.jpg "))
        for fact in (photo.author, photo.title, photo.licence, photo.original, LICENCE_ADDRESSES[photo.licence]):
            assert fact in line
        with Image.open(BytesIO(photo_bytes(photo.name))) as opened:
            assert opened.size == (photo.width, photo.height)
            large += max(opened.size) > 2048
    assert len(photos()) >= 8
    assert large >= 3


def test_photo_items_name_author_and_licence(demo_items: list[Item]) -> None:
    for item in demo_items:
        if item.key.startswith("photo"):
            photo = photo_of(entry_of(item.key).scene.backdrop)  # type: ignore[union-attr]
            assert item.licence == photo.licence
            assert photo.author in str(item.provenance["attribution"])


@pytest.mark.parametrize("key", ["edival-01", "cv-dehazing-1", "cv-outpainting-1", "world-tig-p", "photo-flower"])
def test_oracle_known_answers(key: str) -> None:
    entry = entry_of(key)
    after = entry.scene_after(1)
    assert after is not None
    assert true_quality(key, render_picture(after)).score > 0.95
    noise = np.random.default_rng(0).integers(0, 256, render_scene(after).pixels.shape, dtype=np.uint8)
    assert true_quality(key, encode_pixels(noise)).score < 0.25
    if entry.scene is not None:
        unchanged = true_quality(key, render_picture(entry.scene))
        assert unchanged.made < 0.05
        assert unchanged.clean > 0.9


def test_oracle_grows_with_the_share_of_the_change() -> None:
    entry = entry_of("edival-04")
    before, after = (
        render_scene(scene).pixels.astype(float) for scene in (entry.scene_after(0), entry.scene_after(1)) if scene
    )
    scores = [
        true_quality(entry.key, encode_pixels(np.asarray(before + share * (after - before), np.uint8))).score
        for share in (0.0, 0.25, 0.5, 0.75, 1.0)
    ]
    assert scores == sorted(scores)
    assert scores[-1] - scores[0] > 0.5


def test_every_request_is_recognised_from_words_and_pixels() -> None:
    for entry in entries():
        sources = () if entry.scene is None else (render_picture(entry.scene),)
        for turn, step in enumerate(entry.steps):
            found = recognise_request(step.instruction, sources)
            assert found is not None
            assert (found.entry.key, found.first, found.last) == (entry.key, turn, turn + 1)


def test_recognition_survives_wrapping_joining_and_rewriting() -> None:
    chain = entry_of("edival-03")
    assert chain.scene is not None
    source = (render_picture(chain.scene),)
    wrapped = recognise_request(f"Task: editing.\nPrompt: {chain.steps[1].instruction} Keep the size.", source)
    assert wrapped is not None
    assert (wrapped.entry.key, wrapped.first) == (chain.key, 1)
    joined = recognise_request(" ".join(step.instruction for step in chain.steps), source)
    assert joined is not None
    assert (joined.first, joined.last) == (0, 3)
    rewritten = recognise_request("do something nice", source)
    assert rewritten is not None
    assert rewritten.entry.key == chain.key
    assert recognise_request("do something nice", ()) is None
    stranger = np.full((300, 300, 3), (0, 255, 0), np.uint8)
    assert recognise_request("do something nice", (encode_pixels(stranger),)) is None


def plain_drawing(key: str) -> bytes:
    """What somebody else might draw: an entry's broad colours in a few flat fields, whose thumbnails lie near."""
    scene = entry_of(key).scene
    assert scene is not None
    fields = cv2.resize(render_scene(scene).pixels, (4, 6), interpolation=cv2.INTER_AREA)
    return encode_pixels(np.asarray(cv2.resize(fields, (640, 512), interpolation=cv2.INTER_NEAREST), np.uint8))


@pytest.mark.parametrize("words", ["make it night", "Switch the lamp on.", "Remove the blue bench."])
@pytest.mark.parametrize("key", ["cv-functional-state-change-1", "edival-09", "cv-object-insertion-1"])
def test_a_plain_drawing_is_no_scene_of_ours(words: str, key: str) -> None:
    assert recognise_request(words, (plain_drawing(key),)) is None


def worn(data: bytes, how: str) -> bytes:
    pixels = decode_pixels(data)
    if how == "small":
        return encode_pixels(
            np.asarray(cv2.resize(pixels, None, fx=0.3, fy=0.3, interpolation=cv2.INTER_AREA), np.uint8)
        )
    if how == "noise":
        noise = np.random.default_rng(0).normal(0, 30, pixels.shape)
        return encode_pixels(np.asarray(np.clip(pixels + noise, 0, 255), np.uint8))
    sink = BytesIO()
    Image.fromarray(pixels).save(sink, "JPEG", quality=25)
    return sink.getvalue()


@pytest.mark.parametrize("how", ["small", "noise", "jpeg"])
@pytest.mark.parametrize("words", ["do something nice", ""])
def test_own_pictures_are_known_however_worn(how: str, words: str) -> None:
    for key in ("edival-16", "cv-low-light-enhancement-1", "cv-ui-recovery-1", "photo-flower"):
        entry = entry_of(key)
        for turn in range(len(entry.steps) + 1):
            scene = entry.scene_after(turn)
            assert scene is not None
            found = recognise_request(words or entry.steps[0].instruction, (worn(render_picture(scene), how),))
            assert found is not None
            assert found.entry.key == key
