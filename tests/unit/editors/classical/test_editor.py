"""Classical editors really edit: each operation against a picture whose right answer is known."""

import asyncio
import io

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from PIL import Image, ImageDraw

from imarena.core.errors import UserError
from imarena.core.protocols import EditRequest, EditResult
from imarena.core.records import Status
from imarena.editors.catalog import Ports
from imarena.editors.classical.editor import OPERATIONS, make
from imarena.editors.classical.find import detection_map
from imarena.editors.classical.things import shade
from imarena.images import PNG, encode_image, media_type_of
from imarena.studio import entry_of, render_picture, true_quality
from imarena.vision import BASIC_COLOURS, basic_names

Array = npt.NDArray[np.float64]


def photo(name: str = "coffee", side: int = 256) -> Image.Image:
    from imarena.studio.photos import photo_bytes

    image = Image.open(io.BytesIO(photo_bytes(name))).convert("RGB")
    image.thumbnail((side, side))
    return image


def png(image: Image.Image) -> bytes:
    buffer = io.BytesIO()
    image.save(buffer, "PNG")
    return buffer.getvalue()


def edit(words: str, image: Image.Image, *, editor: str = "classical", masks: tuple[bytes, ...] = ()) -> EditResult:
    return asyncio.run(make(editor, {}, Ports()).edit(EditRequest(words, (png(image),), masks=masks)))


def array(result: EditResult) -> Array:
    assert result.status is Status.OK, result.error
    assert result.image is not None
    return np.asarray(Image.open(io.BytesIO(result.image)).convert("RGB"), np.float64)


def error(left: Array, right: Image.Image) -> float:
    return float(np.abs(left - np.asarray(right, np.float64)).mean())


def test_exposure_comes_back_towards_the_original() -> None:
    good = photo()
    dark = Image.fromarray(np.asarray(np.asarray(good, np.float64) * 0.3, np.uint8))
    fixed = array(edit("The photo is too dark. Correct its exposure.", dark))
    assert error(fixed, good) < 0.6 * error(np.asarray(dark, np.float64), good)
    assert array(edit("Make the photo darker.", good)).mean() < np.asarray(good).mean() - 5


def test_noise_goes_and_the_picture_stays() -> None:
    good = photo()
    noise = np.random.default_rng(0).normal(0, 22, np.asarray(good).shape)
    noisy = Image.fromarray(np.asarray(np.clip(np.asarray(good) + noise, 0, 255), np.uint8))
    fixed = array(edit("Remove the noise.", noisy))
    assert error(fixed, good) < 0.7 * error(np.asarray(noisy, np.float64), good)


def test_blur_is_sharpened() -> None:
    import cv2

    good = photo("dogs")
    soft = Image.fromarray(np.asarray(cv2.GaussianBlur(np.asarray(good), (0, 0), 1.2)))
    fixed = array(edit("Deblur the picture.", soft))

    def detail(pixels: Array) -> float:
        return float(np.abs(np.diff(pixels.mean(axis=2), axis=1)).mean())

    assert detail(fixed) > 1.2 * detail(np.asarray(soft, np.float64))
    assert error(fixed, good) < error(np.asarray(soft, np.float64), good) * 1.05


@pytest.mark.parametrize("key", ["photo-mountains", "cv-dehazing-1"])
def test_haze_goes_by_the_studio_truth(key: str) -> None:
    entry = entry_of(key)
    assert entry.scene is not None
    source = render_picture(entry.scene)
    result = asyncio.run(make("classical", {}, Ports()).edit(EditRequest(entry.steps[0].instruction, (source,))))
    assert result.image is not None
    assert true_quality(key, result.image).score > true_quality(key, source).score + 0.1


def scene() -> Image.Image:
    """A red disc and a blue square on sand."""
    image = Image.new("RGB", (240, 180), (222, 205, 170))
    pen = ImageDraw.Draw(image)
    pen.ellipse((30, 60, 100, 130), fill=(206, 34, 34))
    pen.rectangle((150, 50, 210, 120), fill=(36, 88, 208))
    return image


def named(pixels: Array, colour: str) -> npt.NDArray[np.bool_]:
    return np.asarray(basic_names(pixels / 255) == BASIC_COLOURS.index(colour))


def test_recolouring_changes_the_named_thing_only() -> None:
    done = array(edit("Change the red ball to green.", scene()))
    assert named(done, "green")[95, 65]
    assert not named(done, "red")[70:120, 50:80].any()
    assert error(done[:, 140:], scene().crop((140, 0, 240, 180))) < 1.0


def test_removal_fills_with_what_is_around() -> None:
    done = array(edit("Remove the red ball.", scene()))
    assert np.abs(done[95, 65] - np.array([222, 205, 170])).max() < 12
    assert named(done, "blue")[80, 180]
    by_mask = np.zeros((180, 240), np.bool_)
    by_mask[45:125, 145:215] = True
    masked = array(edit("Remove the box.", scene(), masks=(encode_image(Image.fromarray(by_mask), PNG),)))
    assert np.abs(masked[80, 180] - np.array([222, 205, 170])).max() < 12
    assert named(masked, "red")[95, 65]


def test_words_can_be_read_afterwards() -> None:
    from imarena.vision import read_lines, text_match

    done = edit("Write 'SUMMER SALE' in white letters at the bottom.", photo(side=640))
    assert done.image is not None
    lines = read_lines(Image.open(io.BytesIO(done.image)).convert("RGB"))
    assert text_match("SUMMER SALE", lines) > 0.85


def test_background_frame_and_tone() -> None:
    good = photo()
    white = array(edit("Replace the background with white.", good))
    assert white[2, 2].min() > 240
    wide = array(edit("Extend the picture to the right.", good))
    assert wide.shape[1] > good.width
    assert wide.shape[0] == good.height
    assert error(wide[:, : good.width - 30], good.crop((0, 0, good.width - 30, good.height))) < 3
    grey = array(edit("Turn the photo into black and white.", good))
    assert np.abs(grey[..., 0] - grey[..., 2]).max() <= 1
    blurred = array(edit("Blur the background.", good))
    assert error(blurred, good) > 1


def test_a_tilted_horizon_is_levelled() -> None:
    level = Image.new("RGB", (300, 200), (150, 190, 230))
    ImageDraw.Draw(level).rectangle((0, 110, 300, 200), fill=(30, 90, 60))
    tilted = level.rotate(6, Image.Resampling.BICUBIC).crop((30, 30, 270, 170))
    done = array(edit("Level the tilted horizon.", tilted)).mean(axis=2)
    heights = [int(np.argmax(done[:, x] < 120)) for x in (20, 120, 220)]
    before = [int(np.argmax(np.asarray(tilted).mean(axis=2)[:, x] < 120)) for x in (20, 120, 220)]
    assert max(heights) - min(heights) <= 4 < max(before) - min(before)


def test_a_thing_that_is_not_found_is_not_called_an_unknown_operation() -> None:
    unseen = edit("Remove the cat.", photo("cat"))  # it fills the frame
    assert unseen.status is Status.REFUSED
    assert "remove the cat" in unseen.error
    assert "mask" in unseen.error
    assert "no operation" not in unseen.error
    assert "no operation" in edit("Remove the cat.", photo("cat"), editor="classical-denoise").error


def test_what_cannot_be_done_is_refused_and_named() -> None:
    refused = edit("Make the cat smile.", photo(side=64))
    assert refused.status is Status.REFUSED
    assert "smile" in refused.error
    alone = edit("Remove the noise.", photo(side=64), editor="classical-recolour")
    assert alone.status is Status.REFUSED
    part = edit("Turn the photo into black and white and make the cat smile.", photo(side=64))
    assert part.status is Status.OK
    assert part.steps[0]["left"]
    nothing = asyncio.run(make("classical", {}, Ports()).edit(EditRequest("Brighten it.")))
    assert nothing.status is Status.REFUSED
    broken = asyncio.run(make("classical", {}, Ports()).edit(EditRequest("Brighten it.", (b"x",))))
    assert broken.status is Status.INVALID_IMAGE
    with pytest.raises(UserError, match="Known"):
        make("classical-magic", {}, Ports())
    with pytest.raises(UserError, match="does not take"):
        make("classical", {"strength": 2}, Ports())
    assert make("mine", {}, Ports()).operations == make("classical", {}, Ports()).operations
    assert make("mine", {"operation": "tone"}, Ports()).operations == ("tone",)


@pytest.mark.parametrize(
    ("words", "value"),
    [
        ("sea green", "#2e8b57"), ("a light sea green", "#20b2aa"), ("chocolate brown", "#411900"), ("green", "#2c9c3c"),
    ],
)  # fmt: skip
def test_colours_with_names_of_several_words(words: str, value: str) -> None:
    colour = words.rsplit(" ", maxsplit=1)[-1]
    assert "#" + "".join(f"{round(255 * float(part)):02x}" for part in shade(colour, words)) == value


def test_the_sky_goes_on_between_towers() -> None:
    from imarena.editors.classical.sky import sky_mask

    picture = photo("rocket")
    picture.thumbnail((400, 400))
    found = sky_mask(np.asarray(picture, np.float32) / np.float32(255))
    height, width = found.shape
    assert found.mean() > 0.55  # two thirds of the picture are sky; a quarter was found where columns end at an edge
    assert found[: height // 2, width // 3].all()  # between a tower and the rocket
    assert not found[height // 2, width // 2 - 3 : width // 2 + 3].any()  # the rocket itself
    assert found[-height // 20 :].mean() < 0.2


def test_a_photograph_stays_a_jpeg() -> None:
    from imarena.studio.photos import photo_bytes

    done = asyncio.run(make("classical", {}, Ports()).edit(EditRequest("Give it a sepia tone.", (photo_bytes("fig"),))))
    assert done.image is not None
    assert media_type_of(done.image) == "image/jpeg"


WORDS = [
    "brighten",
    "remove",
    "the",
    "red",
    "ball",
    "blur",
    "background",
    "crop",
    "extend",
    "left",
    "write 'A'",
    "flip",
]


@settings(max_examples=40, deadline=None)
@given(
    st.lists(st.sampled_from(WORDS), max_size=6),
    st.tuples(st.integers(1, 40), st.integers(1, 40)),
    st.sampled_from(["classical", *(f"classical-{name}" for name in OPERATIONS)]),
    st.integers(0, 255),
)
def test_any_size_and_any_words_end_in_a_status(
    words: list[str], size: tuple[int, int], editor: str, grey: int
) -> None:
    result = edit(" ".join(words), Image.new("RGB", size, (grey, 40, 90)), editor=editor)
    assert result.status in (Status.OK, Status.REFUSED)
    assert (result.image is None) == (result.status is Status.REFUSED)


def card() -> Image.Image:
    """A green button with a word on it, on white, with a title above."""
    from PIL import ImageFont

    image = Image.new("RGB", (480, 320), (250, 250, 250))
    pen = ImageDraw.Draw(image)
    pen.text((240, 60), "My Music", fill=(30, 60, 150), font=ImageFont.load_default(40), anchor="mm")
    pen.rounded_rectangle((170, 200, 310, 260), 12, fill=(60, 150, 80))
    pen.text((240, 230), "Save", fill=(255, 255, 255), font=ImageFont.load_default(30), anchor="mm")
    return image


def test_words_take_the_place_of_old_ones_and_it_stands_for_what_they_are_on() -> None:
    from imarena.vision import read_lines, text_match

    done = edit("Change the button to read 'Delete' and make it red.", card())
    pixels = array(done)
    lines = read_lines(Image.fromarray(pixels.astype(np.uint8)))
    assert text_match("Delete", lines) > 0.85
    assert text_match("Save", lines) < 0.6
    assert text_match("My Music", lines) > 0.85
    assert named(pixels, "red")[210, 190]
    assert not named(pixels, "red")[100].any()


def test_faded_words_become_legible() -> None:
    from PIL import ImageFont

    faded = Image.new("RGB", (420, 160), (200, 60, 60))
    ImageDraw.Draw(faded).text(
        (210, 80), "SUMMER FAIR", fill=(216, 90, 90), font=ImageFont.load_default(48), anchor="mm"
    )
    done = array(edit("Recover the faded headline 'SUMMER FAIR' on the banner.", faded))
    assert done[..., 1].std() > 3 * np.asarray(faded, np.float64)[..., 1].std()
    assert np.abs(done[5, 5] - np.array([200, 60, 60])).max() < 3


def test_crop_keeps_the_subject_and_squares_are_square() -> None:
    flower = photo("flower", 300)
    close = array(edit("Crop the picture to the flower.", flower))
    assert close.shape[0] * close.shape[1] < 0.6 * flower.width * flower.height
    square = array(edit("Crop the picture to a square.", flower))
    assert square.shape[0] == square.shape[1] == flower.height


def test_a_shade_is_the_shade_that_was_said() -> None:
    pale = array(edit("Replace the background with light blue.", photo("flower", 300)))[2, 2]
    deep = array(edit("Replace the background with dark blue.", photo("flower", 300)))[2, 2]
    assert pale.mean() > deep.mean() + 80
    assert pale[2] > pale[0]
    assert deep[2] > deep[0]


def test_recolouring_keeps_the_shading() -> None:
    import cv2

    from imarena.editors.classical.things import recolour

    good = np.asarray(photo("flower", 300), np.float32) / np.float32(255)
    mask = np.zeros(good.shape[:2], np.bool_)
    mask[60:160, 80:180] = True
    done = recolour(good, mask, "blue")

    def lightness(rgb: npt.NDArray[np.float32]) -> npt.NDArray[np.float32]:
        return np.asarray(cv2.cvtColor(rgb, cv2.COLOR_RGB2LAB)[..., 0][70:150, 90:170], np.float32)

    assert np.corrcoef(lightness(good).ravel(), lightness(done).ravel())[0, 1] > 0.9
    assert np.array_equal(done[:, 220:], good[:, 220:])


def test_an_extended_frame_goes_on_without_a_seam_and_doubles_nothing() -> None:
    across = np.linspace(60, 200, 240)[None, :, None] * np.ones((160, 1, 3))
    across[110:] = (60, 130, 60)  # a horizon: it has to go on level
    source = Image.fromarray(np.asarray(across, np.uint8))
    ImageDraw.Draw(source).ellipse((150, 40, 210, 120), fill=(206, 34, 34))
    done = array(edit("Extend the picture to the right.", source))
    assert done.shape[1] == 240 + 84
    assert error(done[:, :240], source) < 1.0
    assert np.abs(done[:, 240] - done[:, 239]).max() < 12
    assert np.abs(done[:105, 240:, 0] - done[:105, 240:, 2]).max() < 40  # grey all along: no second red disc
    assert (done[116:, 240:, 1] > done[116:, 240:, 0] + 40).all()


def test_a_thing_that_the_detector_knows_is_not_taken_for_what_stands_out_more() -> None:
    entry = entry_of("edival-11")  # a grey bird below a large orange tree
    assert entry.scene is not None
    source = render_picture(entry.scene)
    result = asyncio.run(make("classical", {}, Ports()).edit(EditRequest("Remove the grey bird.", (source,))))
    assert result.image is not None
    assert true_quality("edival-11", result.image).score > true_quality("edival-11", source).score + 0.2


def test_of_two_things_that_touch_the_one_at_the_named_side_is_meant() -> None:
    source = photo("dogs")
    changed = (
        np.abs(array(edit("Make the dog on the right white.", source)) - np.asarray(source, np.float64)).mean(axis=2)
        > 25
    )
    rows, columns = np.nonzero(changed)
    height, width = changed.shape
    assert rows.size > 0.005 * changed.size
    assert np.percentile(rows, 5) > 0.42 * height  # the other dog's head is above
    assert np.percentile(columns, 5) > 0.42 * width


def test_what_hardly_touches_the_thing_is_not_changed_with_it() -> None:
    entry = entry_of("world-tie-a")  # a house, and a tree whose crown comes close to its roof
    assert entry.scene is not None
    source = Image.open(io.BytesIO(render_picture(entry.scene))).convert("RGB")
    change = np.abs(array(edit("Paint the house blue.", source)) - np.asarray(source, np.float64)).mean(axis=2)
    width = change.shape[1]
    assert change[:, : width * 3 // 10].mean() < 1.5
    assert change[:, width * 38 // 100 : width * 60 // 100].mean() > 10


def test_a_thing_is_looked_for_under_its_other_names_too() -> None:
    pixels = np.asarray(photo("cat"), np.float32) / np.float32(255)
    own, other = detection_map(pixels, ["the", "cat"]), detection_map(pixels, ["the", "kitty"])
    assert own is not None
    assert other is not None
    assert np.array_equal(own, other)
    assert detection_map(pixels, ["the", "submarine"]) is None
