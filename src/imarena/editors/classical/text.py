"""Classical changes of text: new words, replaced words, and faded words made legible.

The bundled OCR finds existing text. Arrays are (height, width, 3), 0 to 1.
"""

import re
from dataclasses import dataclass

import cv2
import numpy as np
from PIL import Image, ImageDraw, ImageFont

from imarena.core import Floats, Mask
from imarena.editors.classical.fill import inpaint_telea
from imarena.language import Edit, lexicon
from imarena.vision import TextLine, colour_likeness, read_lines, text_match

_PixelBox = tuple[int, int, int, int]
_LEAST_MATCH = 0.6
_BOLD = 0.02
"""Stroke width, because signs have heavier letters than the built-in font."""
_HEADS = re.compile(r"\b(?:heading|headline|title|header)\b")
_ON_COLOUR = re.compile(r"\b(?:button|badge|label|sign|banner|box|sticker|plate|flag)\b")
_CHANGES = re.compile(r"^(?:change|replace|turn|make|update|rename|edit|set|translate|correct|let|have|swap)\b")
_MENDS = re.compile(r"^(?:restore|recover|repair|bring back|fix|enhance|sharpen)\b")
_NEW_THING = re.compile(r"^(?:put|place|add|insert|draw) an? .*\b(?:that|which) (?:says|reads)\b")


@dataclass(frozen=True)
class Ink:
    """Existing text: its pixels, its box and its colour; `ground` is the colour around it."""

    mask: Mask
    box: _PixelBox
    colour: Floats
    ground: Floats


def write_text(rgb: Floats, edit: Edit) -> tuple[Floats, Mask | None] | None:
    """The image with changed text, and the area that "it" then refers to. None if impossible."""
    if _NEW_THING.match(edit.clause):
        return None
    if _MENDS.match(edit.clause) and edit.text and not edit.old_text:
        return _mended(rgb, edit)
    replaces = bool(edit.old_text) or edit.operation == "remove" or _CHANGES.match(edit.clause) is not None
    if not replaces:
        return (_draw_words(rgb, edit, _free_box(rgb, edit.places), None), None) if edit.text else None
    line = _old_line(rgb, edit)
    ink = _ink_of(rgb, line) if line is not None else None
    if ink is None:
        return None
    thing = _thing_under(rgb, ink)
    clean = inpaint_telea(rgb, ink.mask)
    return (_draw_words(clean, edit, ink.box, ink) if edit.text else clean), thing


def _picture(rgb: Floats) -> Image.Image:
    return Image.fromarray(np.asarray(np.clip(rgb * 255 + 0.5, 0, 255), np.uint8))


def _old_line(rgb: Floats, edit: Edit) -> TextLine | None:
    """The line that the edit means: by its words, its colour, or the kind of thing under it."""
    lines = read_lines(_picture(rgb))
    if edit.old_text:
        best = max(lines, key=lambda line: text_match(edit.old_text, (line,)), default=None)
        return best if best is not None and text_match(edit.old_text, (best,)) >= _LEAST_MATCH else None
    if len(lines) < 2:
        return lines[0] if lines else None
    words = re.findall(r"[a-z]+", edit.target)
    colours = [word for word in words if word in lexicon().colours]
    if colours:
        return max(lines, key=lambda line: _colour_around(rgb, line, colours[0]))
    if _HEADS.search(edit.target):
        return max(lines, key=lambda line: (line.box[3] - line.box[1]) * (1.2 - line.box[1]))
    if _ON_COLOUR.search(edit.target):
        return max(lines, key=lambda line: _chroma_around(rgb, line))
    return max(lines, key=lambda line: (line.box[3] - line.box[1]) * (line.box[2] - line.box[0]))


def _box(rgb: Floats, line: TextLine, margin: float = 0.0) -> _PixelBox:
    height, width = rgb.shape[:2]
    left, top, right, bottom = line.box
    more = margin * (bottom - top) * height
    return (
        max(0, int(left * width - more)), max(0, int(top * height - more)),
        min(width, int(right * width + more) + 1), min(height, int(bottom * height + more) + 1),
    )  # fmt: skip


def _around(rgb: Floats, line: TextLine) -> Floats:
    """Pixels in a thin frame around a line, shape (n, 3)."""
    left, top, right, bottom = _box(rgb, line, 0.15)
    part = rgb[top:bottom, left:right]
    return np.asarray(np.concatenate([part[0], part[-1], part[:, 0], part[:, -1]]), np.float32)


def _colour_around(rgb: Floats, line: TextLine, colour: str) -> float:
    left, top, right, bottom = _box(rgb, line)
    inside = float(colour_likeness(np.clip(rgb[top:bottom, left:right], 0, 1), colour).mean())
    return max(inside, float(colour_likeness(np.clip(_around(rgb, line), 0, 1), colour).mean()))


def _chroma_around(rgb: Floats, line: TextLine) -> float:
    middle = np.median(_around(rgb, line), axis=0)
    return float(middle.max() - middle.min())


def _ink_of(rgb: Floats, line: TextLine) -> Ink | None:
    """The text pixels in the line's box: those that differ from most of it and do not continue outside."""
    left, top, right, bottom = _box(rgb, line)
    part = np.ascontiguousarray(rgb[top:bottom, left:right])
    if min(part.shape[:2]) < 4:
        return None
    lab = cv2.cvtColor(part, cv2.COLOR_RGB2LAB)
    far = np.linalg.norm(lab - np.median(lab.reshape(-1, 3), axis=0), axis=2)
    distance = np.asarray(np.clip(far * 2, 0, 255), np.uint8)
    cut, _ = cv2.threshold(distance, 0, 255, cv2.THRESH_BINARY + cv2.THRESH_OTSU)
    inked = _within(far * 2 > max(cut, 8))
    if not inked.any() or inked.mean() > 0.8:
        return None
    reach = max(1, round((bottom - top) * 0.08))
    mask = np.zeros(rgb.shape[:2], np.bool_)
    thick = np.ones((2 * reach + 1, 2 * reach + 1), np.uint8)
    mask[top:bottom, left:right] = cv2.dilate(inked.astype(np.uint8), thick) > 0
    rows, columns = np.nonzero(inked.any(axis=1))[0], np.nonzero(inked.any(axis=0))[0]
    box = (left + int(columns[0]), top + int(rows[0]), left + int(columns[-1]) + 1, top + int(rows[-1]) + 1)
    core = cv2.erode(inked.astype(np.uint8), np.ones((3, 3), np.uint8)) > 0
    colour = np.median(part[core if core.sum() > 8 else inked], axis=0)
    ground = np.median(part[~inked], axis=0)
    return Ink(mask, box, np.asarray(colour, np.float32), np.asarray(ground, np.float32))


def _within(inked: Mask) -> Mask:
    """Remove pieces that touch the box's border over a long distance: they belong to the background of the text."""
    count, labels = cv2.connectedComponents(inked.astype(np.uint8))
    border = np.concatenate([labels[0], labels[-1], labels[:, 0], labels[:, -1]])
    longest = 0.25 * min(inked.shape)
    out = [i for i in range(1, count) if (border == i).sum() > longest]
    return inked & ~np.isin(labels, out)


def _thing_under(rgb: Floats, ink: Ink) -> Mask:
    """The evenly coloured thing under the text: the area connected to the background around it."""
    near = np.linalg.norm(rgb - ink.ground, axis=2) < 0.14
    area = near | ink.mask
    _, labels = cv2.connectedComponents(area.astype(np.uint8))
    middle = labels[(ink.box[1] + ink.box[3]) // 2, (ink.box[0] + ink.box[2]) // 2]
    return np.asarray((labels == middle) & area)


def _free_box(rgb: Floats, sides: tuple[str, ...]) -> _PixelBox:
    height, width = rgb.shape[:2]
    tall = height * 0.11
    top = height * 0.05 if "top" in sides else (height * 0.84 if "bottom" in sides else (height - tall) / 2)
    left = width * 0.04 if "left" in sides else (width * 0.5 if "right" in sides else width * 0.1)
    right = width * 0.5 if "left" in sides else (width * 0.96 if "right" in sides else width * 0.9)
    x, y = min(round(left), width - 1), min(round(top), height - 1)
    return x, y, max(x + 1, round(right)), max(y + 1, round(top + tall))


def _draw_words(rgb: Floats, edit: Edit, box: _PixelBox, ink: Ink | None) -> Floats:
    """Draw the words in the box: as high as the old ones and in their colour, else in the named or best visible one."""
    picture = _picture(rgb)
    pen = ImageDraw.Draw(picture)
    room = (box[2] - box[0]) * (1.0 if ink is None else 1.15)
    size = _size_for(pen, edit.text, box[3] - box[1], room)
    font = ImageFont.load_default(size)
    colours = [w for w in re.findall(r"[a-z]+", edit.clause.rsplit(" in ", maxsplit=1)[-1]) if w in lexicon().colours]
    if ink is not None:
        colour = "#" + "".join(f"{round(float(np.clip(v, 0, 1)) * 255):02x}" for v in ink.colour)
    elif colours:
        colour = lexicon().colours[colours[0]]
    else:
        colour = "#101010" if rgb[box[1] : box[3], box[0] : box[2]].mean() > 0.55 else "#f5f5f5"
    left, top, right, bottom = pen.textbbox((0, 0), edit.text, font=font)
    at = ((box[0] + box[2] - left - right) / 2, (box[1] + box[3] - top - bottom) / 2)
    pen.text(at, edit.text, fill=colour, font=font, stroke_width=size * _BOLD if ink is not None else 0)
    return np.asarray(picture, np.float32) / np.float32(255)


def _size_for(pen: ImageDraw.ImageDraw, text: str, height: float, width: float) -> float:
    """The font size at which the words are as high as `height` and no wider than `width`."""
    _, top, right, bottom = pen.textbbox((0, 0), text, font=ImageFont.load_default(100))
    return max(6.0, min(100 * height / max(bottom - top, 1), 100 * width / max(right, 1)))


def _mended(rgb: Floats, edit: Edit) -> tuple[Floats, Mask | None] | None:
    """Restore faded but readable words: more contrast between the text and its background."""
    clear = cv2.createCLAHE(4.0, (8, 8))
    lab = cv2.cvtColor(np.asarray(np.clip(rgb * 255, 0, 255), np.uint8), cv2.COLOR_RGB2LAB)
    lab[..., 0] = clear.apply(np.ascontiguousarray(lab[..., 0]))
    raised = np.asarray(cv2.cvtColor(lab, cv2.COLOR_LAB2RGB), np.float32) / np.float32(255)
    for version in (rgb, raised):
        lines = read_lines(_picture(version))
        best = max(lines, key=lambda line: text_match(edit.text, (line,)), default=None)
        if best is not None and text_match(edit.text, (best,)) >= _LEAST_MATCH:
            ink = _ink_of(rgb, best)
            return None if ink is None else (_darker_ink(rgb, ink), None)
    return None


def _darker_ink(rgb: Floats, ink: Ink) -> Floats:
    """Move the text's colour away from its background, to almost black, or almost white on a dark background."""
    away = rgb - ink.ground
    contrast = float(np.abs(ink.colour - ink.ground).max())
    factor = float(np.clip(0.75 / max(contrast, 0.08), 1.0, 6.0))
    soft = cv2.GaussianBlur(ink.mask.astype(np.float32), (0, 0), 1.0)[..., None]
    return np.asarray(np.clip(rgb * (1 - soft) + (ink.ground + factor * away) * soft, 0, 1), np.float32)
