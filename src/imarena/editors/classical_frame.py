"""Classical changes of the frame: words on the picture, crop, extend, level, flip."""

import re

import cv2
import numpy as np
from PIL import Image, ImageDraw, ImageFont

from imarena.editors.classical_light import Floats
from imarena.editors.classical_things import remove
from imarena.language import Edit, lexicon

EXTENDED = 0.35
"""How much wider or higher an extended picture is."""


def write_text(rgb: Floats, edit: Edit) -> Floats | None:
    """Put words on the picture, in place of the old ones where those are named and can be read."""
    box = _old_text_box(rgb, edit.old_text) if edit.old_text else None
    if edit.old_text and box is None:
        return None
    if box is not None:
        rgb = remove(rgb, _box_mask(rgb, box))
    if not edit.text:
        return rgb if box is not None else None
    return _drawn(rgb, edit, box or _text_box(rgb, edit.places))


def _old_text_box(rgb: Floats, text: str) -> tuple[int, int, int, int] | None:
    from imarena.vision import read_lines, text_match

    height, width = rgb.shape[:2]
    lines = read_lines(Image.fromarray(np.asarray(np.clip(rgb * 255, 0, 255), np.uint8)))
    best = max(lines, key=lambda line: text_match(text, (line,)), default=None)
    if best is None or text_match(text, (best,)) < 0.6:
        return None
    left, top, right, bottom = best.box
    return int(left * width), int(top * height), int(right * width), int(bottom * height)


def _box_mask(rgb: Floats, box: tuple[int, int, int, int]) -> np.ndarray[tuple[int, ...], np.dtype[np.bool_]]:
    mask = np.zeros(rgb.shape[:2], np.bool_)
    mask[box[1] : box[3], box[0] : box[2]] = True
    return mask


def _text_box(rgb: Floats, places: tuple[str, ...]) -> tuple[int, int, int, int]:
    height, width = rgb.shape[:2]
    tall = height * 0.14
    top = height * 0.04 if "top" in places else (height * 0.82 if "bottom" in places else (height - tall) / 2)
    left = width * 0.04 if "left" in places else (width * 0.5 if "right" in places else width * 0.1)
    right = width * 0.5 if "left" in places else (width * 0.96 if "right" in places else width * 0.9)
    x, y = min(round(left), width - 1), min(round(top), height - 1)
    return x, y, max(x + 1, round(right)), max(y + 1, round(top + tall))


def _drawn(rgb: Floats, edit: Edit, box: tuple[int, int, int, int]) -> Floats:
    picture = Image.fromarray(np.asarray(np.clip(rgb * 255 + 0.5, 0, 255), np.uint8))
    pen = ImageDraw.Draw(picture)
    size = max(8, box[3] - box[1])
    font = ImageFont.load_default(size)
    while size > 8 and pen.textlength(edit.text, font=font) > box[2] - box[0]:
        size = max(8, int(size * 0.92))
        font = ImageFont.load_default(size)
    named = [w for w in re.findall(r"[a-z]+", edit.clause) if w in lexicon().colours]
    under = rgb[box[1] : box[3], box[0] : box[2]].mean()
    colour = lexicon().colours[named[0]] if named else ("#101010" if under > 0.55 else "#f5f5f5")
    pen.text(((box[0] + box[2]) / 2, (box[1] + box[3]) / 2), edit.text, fill=colour, font=font, anchor="mm")
    return np.asarray(picture, np.float32) / np.float32(255)


def extend(rgb: Floats, places: tuple[str, ...]) -> Floats:
    """A larger canvas; the new part is the mirrored edge, softer with distance."""
    height, width = rgb.shape[:2]
    sides = [place for place in places if place in ("left", "right", "top", "bottom")] or ["left", "right"]
    share = EXTENDED / (2 if len(sides) > 1 else 1)
    left, right = (round(width * share) if side in sides else 0 for side in ("left", "right"))
    top, bottom = (round(height * share) if side in sides else 0 for side in ("top", "bottom"))
    wide = cv2.copyMakeBorder(rgb, top, bottom, left, right, cv2.BORDER_REFLECT_101)
    soft = cv2.GaussianBlur(wide, (0, 0), max(height, width) / 90)
    new = np.ones(wide.shape[:2], np.float32)
    new[top : top + height, left : left + width] = 0
    far = np.clip(cv2.GaussianBlur(new, (0, 0), max(height, width) / 60) * new, 0, 1)[..., None]
    return np.asarray(wide * (1 - far) + soft * far, np.float32)


def crop(rgb: Floats, places: tuple[str, ...]) -> Floats:
    """Two thirds of the frame, at the named side; the middle where none is named."""
    height, width = rgb.shape[:2]
    h, w = round(height * 2 / 3), round(width * 2 / 3)
    x = 0 if "left" in places else (width - w if "right" in places else (width - w) // 2)
    y = 0 if "top" in places else (height - h if "bottom" in places else (height - h) // 2)
    return np.ascontiguousarray(rgb[y : y + h, x : x + w])


def level(rgb: Floats) -> Floats | None:
    """Turn the picture so that its long, nearly level lines become level. None where there are none."""
    grey = np.asarray(np.clip(rgb.mean(axis=2) * 255, 0, 255), np.uint8)
    height, width = grey.shape
    edges = cv2.Canny(cv2.GaussianBlur(grey, (0, 0), 2), 20, 60)
    lines = cv2.HoughLinesP(edges, 1, np.pi / 720, 60, minLineLength=width // 5, maxLineGap=width // 25)
    if lines is None:
        return None
    drawn = np.asarray(lines, np.float64).reshape(-1, 4)
    run, rise = drawn[:, 2] - drawn[:, 0], drawn[:, 3] - drawn[:, 1]
    angles, lengths = np.degrees(np.arctan2(rise, run)), np.hypot(run, rise)
    near = np.abs(angles) < 20
    if not near.any():
        return None
    order = np.argsort(angles[near])
    weight = np.cumsum(lengths[near][order])
    angle = float(angles[near][order][int(np.searchsorted(weight, weight[-1] / 2))])
    if abs(angle) < 0.3:
        return None
    turn = np.radians(abs(angle))
    zoom = np.cos(turn) + np.sin(turn) * max(width / height, height / width)  # so that no corner is empty
    matrix = cv2.getRotationMatrix2D((width / 2, height / 2), angle, float(zoom))
    return np.asarray(cv2.warpAffine(rgb, matrix, (width, height), flags=cv2.INTER_CUBIC), np.float32)


def flip(rgb: Floats) -> Floats:
    """Left and right exchanged."""
    return np.ascontiguousarray(rgb[:, ::-1])
