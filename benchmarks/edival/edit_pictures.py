"""The pictures of the listed edits (edits.py): made by cutting, pasting and filling."""

from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

import cv2
import numpy as np
from numpy.typing import NDArray
from PIL import Image, ImageDraw, ImageFont

from benchmarks.edival.edits import PLACES, WORDS
from imarena.core import ObjectPlan, ObjectTurn, SceneObject
from imarena.editors.classical.fill import fill
from imarena.editors.classical.things import recolour
from imarena.studio.backdrops import paint_backdrop

SIDE = 640
Pixels = NDArray[np.uint8]
Box = tuple[float, float, float, float]


@dataclass(frozen=True)
class KnownEdit:
    """An edit and its truth."""

    before: Pixels
    after: Pixels
    plan: ObjectPlan
    right: bool


@lru_cache(maxsize=64)
def photograph(folder: Path, name: str) -> Pixels:
    """A photograph, at most 640 pixels a side."""
    path = folder / name
    matches = [path] if path.is_file() else sorted(path.parent.glob(f"{path.name}*"))
    image = Image.open(matches[0]).convert("RGB")
    image.thumbnail((SIDE, SIDE), Image.Resampling.LANCZOS)
    return np.asarray(image, np.uint8)


@lru_cache(maxsize=64)
def cut_out(folder: Path, name: str, box: Box) -> tuple[Pixels, NDArray[np.float32], tuple[int, int, int, int]]:
    """A labelled thing: its pixels, its mask (soft), and its box in pixels of the photograph."""
    pixels = photograph(folder, name)
    height, width = pixels.shape[:2]
    left, top = int(box[0] * width / 100), int(box[1] * height / 100)
    right, bottom = max(left + 8, int(box[2] * width / 100)), max(top + 8, int(box[3] * height / 100))
    mask = np.full((height, width), cv2.GC_BGD, np.uint8)
    mask[top:bottom, left:right] = cv2.GC_PR_FGD
    middle_x, middle_y, across, down = (
        (left + right) // 2,
        (top + bottom) // 2,
        (right - left) // 5,
        (bottom - top) // 5,
    )
    mask[middle_y - down : middle_y + down, middle_x - across : middle_x + across] = cv2.GC_FGD
    cv2.setRNGSeed(1)
    cv2.grabCut(pixels[:, :, ::-1].copy(), mask, None, np.zeros((1, 65)), np.zeros((1, 65)), 5, cv2.GC_INIT_WITH_MASK)
    thing = ((mask == cv2.GC_FGD) | (mask == cv2.GC_PR_FGD)).astype(np.float32)
    if thing[top:bottom, left:right].mean() < 0.25:  # nothing stands out: take an ellipse
        thing = np.zeros_like(thing)
        cv2.ellipse(thing, (middle_x, middle_y), ((right - left) // 2, (bottom - top) // 2), 0, 0, 360, 1.0, -1)
    soft = np.asarray(cv2.GaussianBlur(thing, (0, 0), 1.0), np.float32)[top:bottom, left:right]
    return pixels[top:bottom, left:right], soft, (left, top, right, bottom)


def paste(
    onto: Pixels, thing: tuple[Pixels, NDArray[np.float32], Any], x: float, y: float, tall: float, wide: float = 0.42
) -> tuple[Pixels, Box, NDArray[np.bool_]]:
    """A thing in a picture, its centre at shares (x, y), at most `tall` of its height and `wide` of its width.

    Also its box in pixels and its mask.
    """
    pixels, soft, _ = thing
    height, width = onto.shape[:2]
    scale = min(tall * height / pixels.shape[0], wide * width / pixels.shape[1])
    size = max(8, round(pixels.shape[1] * scale)), max(8, round(pixels.shape[0] * scale))
    way = cv2.INTER_AREA if scale < 1 else cv2.INTER_CUBIC
    small = cv2.resize(pixels, size, interpolation=way)
    alpha = np.clip(cv2.resize(soft, size, interpolation=cv2.INTER_LINEAR), 0, 1)[..., None]
    left = int(np.clip(round(x * width - size[0] / 2), 0, width - size[0]))
    top = int(np.clip(round(y * height - size[1] / 2), 0, height - size[1]))
    out = onto.astype(np.float32)
    here = out[top : top + size[1], left : left + size[0]]
    here += (small - here) * alpha
    mask = np.zeros((height, width), np.bool_)
    mask[top : top + size[1], left : left + size[0]] = alpha[..., 0] > 0.5
    box = (float(left), float(top), float(left + size[0]), float(top + size[1]))
    return np.asarray(np.clip(out, 0, 255), np.uint8), box, mask


def _floats(pixels: Pixels) -> NDArray[np.float32]:
    return pixels.astype(np.float32) / np.float32(255)


def _bytes(rgb: NDArray[np.floating[Any]]) -> Pixels:
    return np.asarray(np.clip(rgb * 255 + 0.5, 0, 255), np.uint8)


def written(pixels: Pixels, text: str, box: Box) -> Pixels:
    """Text on a plain plate inside a box."""
    image = Image.fromarray(pixels)
    pen = ImageDraw.Draw(image)
    left, top, right, bottom = box
    size = 10
    while size < 90:
        wide = pen.textbbox((0, 0), text, font=ImageFont.load_default(size + 2))
        if wide[2] - wide[0] > 0.9 * (right - left) or wide[3] - wide[1] > 0.7 * (bottom - top):
            break
        size += 2
    font = ImageFont.load_default(size)
    ends = pen.textbbox((0, 0), text, font=font)
    tall, wide_ = ends[3] - ends[1], ends[2] - ends[0]
    x, y = (left + right - wide_) / 2, (top + bottom - tall) / 2
    pen.rectangle((x - 8, y - 8, x + wide_ + 8, y + tall + 8), fill=(245, 242, 232))
    pen.text((x - ends[0], y - ends[1]), text, font=font, fill=(25, 25, 35))
    return np.asarray(image, np.uint8)


def make_edit(row: dict[str, Any], folder: Path) -> KnownEdit:
    """The pictures of a row."""
    rng = np.random.default_rng(row["seed"])
    thing = cut_out(folder, row["picture"], tuple(row["box"]))
    if row["ground"] is None:
        before = photograph(folder, row["picture"])
        box: Box = tuple(float(end) for end in thing[2])  # type: ignore[assignment]
        mask = np.zeros(before.shape[:2], np.bool_)
        mask[thing[2][1] : thing[2][3], thing[2][0] : thing[2][2]] = thing[1] > 0.5
    else:
        ground = photograph(folder, row["ground"])
        x, y = (0.5, 0.6) if row["type"] not in ("count_change", "position_change") else (0.22, 0.6)
        before, box, mask = paste(ground, thing, x, y, float(rng.uniform(0.4, 0.6)))
    made: KnownEdit = _MAKERS[row["type"]](row, folder, before, box, mask, rng)
    return made


def _plan(row: dict[str, Any], turn: ObjectTurn, *objects: SceneObject) -> ObjectPlan:
    return ObjectPlan(objects=objects, turns=(turn,))


def _known(kind: str, *boxes: Box) -> SceneObject:
    return SceneObject(name=kind, object=kind, boxes=boxes, count=len(boxes))


def _color(row: Any, folder: Path, before: Pixels, box: Box, mask: Any, rng: Any) -> KnownEdit:
    how, wanted = row["how"], row["color"]
    after = before
    if how == "done":
        after = _bytes(recolour(_floats(before), mask, wanted))
    elif how == "other color":
        others = [colour for colour in ("red", "blue", "green", "yellow") if colour != wanted]
        after = _bytes(recolour(_floats(before), mask, others[row["seed"] % len(others)]))
    elif how == "a corner only":
        part = mask.copy()
        part[int(box[1] + 0.3 * (box[3] - box[1])) :] = False
        after = _bytes(recolour(_floats(before), part, wanted))
    turn = ObjectTurn(type="color_alter", object=row["kind"], color=wanted)
    return KnownEdit(before, after, _plan(row, turn, _known(row["kind"], box)), row["right"])


def _remove(row: Any, folder: Path, before: Pixels, box: Box, mask: Any, rng: Any) -> KnownEdit:
    how, after = row["how"], before
    grown = np.asarray(cv2.dilate(mask.astype(np.uint8), np.ones((13, 13), np.uint8)), np.bool_)
    if how == "done":
        if row["ground"] is not None:
            after = photograph(folder, row["ground"])
        else:
            whole = np.zeros_like(grown)
            whole[int(box[1]) : int(box[3]), int(box[0]) : int(box[2])] = True
            after = _bytes(fill(_floats(before), whole | grown))
    elif how == "darker":
        after = np.where(mask[..., None], (before * 0.7).astype(np.uint8), before)
    elif how == "moved":
        clean = photograph(folder, row["ground"]) if row["ground"] else _bytes(fill(_floats(before), grown))
        after, _, _ = paste(clean, cut_out(folder, row["picture"], tuple(row["box"])), 0.3, 0.6, 0.5)
    turn = ObjectTurn(type="subject_remove", object=row["kind"])
    return KnownEdit(before, after, _plan(row, turn, _known(row["kind"], box)), row["right"])


def _count(row: Any, folder: Path, before: Pixels, box: Box, mask: Any, rng: Any) -> KnownEdit:
    """Copies of a thing side by side: `count` of them, one more, or others of another kind."""
    thing, other = cut_out(folder, row["picture"], tuple(row["box"])), row["other"]
    ground = photograph(folder, row["ground"])
    how, count = row["how"], row["count"]
    tall = 0.42
    before, box, _ = paste(ground, thing, 0.2, 0.6, tall)
    shown = {"done": count, "nothing": 1, "one more": count + 1, "another kind": 1}[how]
    after = ground
    places = np.linspace(0.16, 0.84, max(shown, count))
    for at in range(shown):
        after, _, _ = paste(after, thing, float(places[at]), 0.45 + 0.25 * (at % 2), tall * 0.8)
    if how == "another kind":
        stranger = cut_out(folder, other["picture"], tuple(other["box"]))
        for at in range(1, count):
            after, _, _ = paste(after, stranger, float(places[at]), 0.45 + 0.25 * (at % 2), tall * 0.8)
    turn = ObjectTurn(type="count_change", object=row["kind"], count=count)
    return KnownEdit(before, after, _plan(row, turn, _known(row["kind"], box)), row["right"])


def _text(row: Any, folder: Path, before: Pixels, box: Box, mask: Any, rng: Any) -> KnownEdit:
    height, width = before.shape[:2]
    on_object, wanted = row["on_object"], row["text"]
    plate = (
        (box[0], (box[1] + box[3]) / 2 - 40, box[2], (box[1] + box[3]) / 2 + 40)
        if on_object
        else (0.06 * width, 0.04 * height, 0.6 * width, 0.2 * height)
    )
    if on_object and plate[2] - plate[0] < 160:
        middle = (plate[0] + plate[2]) / 2
        plate = (middle - 80, plate[1], middle + 80, plate[3])
    others = [word for word in WORDS if word != wanted]
    if on_object:
        before = written(before, others[row["seed"] % len(others)], plate)
    said = {
        "done": wanted,
        "nothing": others[row["seed"] % len(others)] if on_object else "",
        "misspelt": wanted[:-2] + wanted[-1] + ("Z" if wanted[-1] != "Z" else "Q"),
        "another word": others[(row["seed"] + 3) % len(others)],
    }[row["how"]]
    after = written(before, said, plate) if said else before
    turn = ObjectTurn(type="text_change", object=row["kind"] if on_object else None, text=wanted)
    grown = box
    if on_object:
        grown = min(box[0], plate[0]), min(box[1], plate[1]), max(box[2], plate[2]), max(box[3], plate[3])
    inside = (max(grown[0], 0.0), max(grown[1], 0.0), min(grown[2], float(width)), min(grown[3], float(height)))
    return KnownEdit(before, after, _plan(row, turn, _known(row["kind"], inside)), row["right"])


def _background(row: Any, folder: Path, before: Pixels, box: Box, mask: Any, rng: Any) -> KnownEdit:
    height, width = before.shape[:2]
    how, wanted = row["how"], row["background"]

    def place(name: str) -> NDArray[np.float32]:
        if name in PLACES:
            return np.asarray(paint_backdrop(name, "day", width, height, row["seed"]), np.float32)
        plain = recolour(np.full((height, width, 3), 0.6, np.float32), np.ones((height, width), np.bool_), name)
        shade = np.linspace(1.0, 0.85, height, dtype=np.float32)[:, None, None]
        return np.asarray(plain * shade, np.float32)

    after = _floats(before)
    soft = cv2.GaussianBlur(mask.astype(np.float32), (0, 0), 1.2)[..., None]
    if how == "another tone":
        after = np.clip(after * np.array([1.15, 1.0, 0.8], np.float32) + 0.04, 0, 1)
    elif how != "nothing":
        opposite = {"beach": "forest", "forest": "snow", "snow": "forest", "meadow": "desert", "desert": "snow"}
        name = opposite.get(wanted, "blue" if wanted != "blue" else "red") if how == "another place" else wanted
        new = place(name).copy()
        if how == "a part only":
            new[: int(0.75 * height)] = after[: int(0.75 * height)]
        after = after * soft + new * (1 - soft)
    turn = ObjectTurn(type="background_change", background=wanted, all_objects=(row["kind"],))
    return KnownEdit(before, _bytes(after), _plan(row, turn, _known(row["kind"], box)), row["right"])


def _position(row: Any, folder: Path, before: Pixels, box: Box, mask: Any, rng: Any) -> KnownEdit:
    """A thing and a reference in the middle: moved to the side that was asked for, or not."""
    thing, other = cut_out(folder, row["picture"], tuple(row["box"])), row["other"]
    reference = cut_out(folder, other["picture"], tuple(other["box"]))
    ground = photograph(folder, row["ground"])
    ends = {"left": (0.16, 0.5), "right": (0.84, 0.5), "above": (0.5, 0.17), "below": (0.5, 0.83)}
    across = {"left": "right", "right": "left", "above": "below", "below": "above"}
    wanted = row["position"]
    side = 0.28  # three of them fit beside each other: nothing covers the reference

    def scene(*places: tuple[float, float]) -> tuple[Pixels, Box, Box]:
        out, reference_box, _ = paste(ground, reference, 0.5, 0.5, side, side)
        box_: Box = reference_box
        for x, y in places:
            out, box_, _ = paste(out, thing, x, y, side, side)
        return out, box_, reference_box

    start, wrong = ends[across[wanted]], ends[across[wanted]]
    before, box, reference_box = scene(start)
    moved = {
        "done": (ends[wanted],),
        "nothing": (start,),
        "wrong side": ((wrong[0], min(wrong[1] + 0.08, 0.8)),),
        "a second one": (start, ends[wanted]),
    }[row["how"]]
    after, _, _ = scene(*moved)
    turn = ObjectTurn(type="position_change", object=row["kind"], position=wanted, reference=other["kind"])
    plan = _plan(row, turn, _known(row["kind"], box), _known(other["kind"], reference_box))
    return KnownEdit(before, after, plan, row["right"])


_MAKERS: dict[str, Any] = {
    "color_alter": _color, "subject_remove": _remove, "count_change": _count, "text_change": _text,
    "background_change": _background, "position_change": _position,
}  # fmt: skip
