"""Rendering: a pure function from a scene to pixels and their exact ground truth."""

from dataclasses import dataclass
from functools import lru_cache
from io import BytesIO

import cv2
import numpy as np
import numpy.typing as npt
from PIL import Image

from imarena.core import Floats, Mask, Pixels
from imarena.studio.backdrops import paint_backdrop
from imarena.studio.effects import apply_effect
from imarena.studio.kinds import object_kind
from imarena.studio.photos import PREFIX, photo_bytes, photo_of, photo_pixels, subject_mask
from imarena.studio.scene import Effect, Scene, Thing
from imarena.studio.surface import sprite

GEOMETRIC = ("tilt", "keystone", "mirror")
BACKGROUND, SUBJECT = -1, -2
"""Index values of pixels without a thing: background, or the subject of a photograph."""


@dataclass(frozen=True)
class VisibleObject:
    """One thing in the image: its visible mask (height, width) and box (left, top, right, bottom) in pixels."""

    thing: Thing
    mask: Mask
    box: tuple[int, int, int, int] | None
    """None if no part of it is visible."""
    depth: int
    """0 is the farthest."""

    @property
    def name(self) -> str:
        return self.thing.name


@dataclass(frozen=True)
class RenderedScene:
    """An image (height, width, 3) of bytes, and what each pixel shows: index in `order`, BACKGROUND or SUBJECT."""

    pixels: Pixels
    index: npt.NDArray[np.int16]
    order: tuple[Thing, ...]

    def seen(self) -> tuple[VisibleObject, ...]:
        """The ground truth about every thing, from the farthest to the nearest."""
        return tuple(self._visible_object(depth, thing) for depth, thing in enumerate(self.order))

    def mask(self, uid: str) -> Mask:
        """The visible pixels of one thing."""
        indices = [i for i, thing in enumerate(self.order) if thing.uid == uid]
        return np.isin(self.index, indices)

    @property
    def foreground(self) -> Mask:
        """The visible pixels of all foreground things."""
        return _front(self.index, self.order)

    def _visible_object(self, depth: int, thing: Thing) -> VisibleObject:
        mask = self.index == depth
        rows, columns = np.flatnonzero(mask.any(axis=1)), np.flatnonzero(mask.any(axis=0))
        box = (int(columns[0]), int(rows[0]), int(columns[-1]) + 1, int(rows[-1]) + 1) if rows.size else None
        return VisibleObject(thing, mask, box, depth)


def render_scene(scene: Scene) -> RenderedScene:
    """Draw a scene: background, shadows and things from back to front, then the view and the effects."""
    rgb, subject = _ground(scene)
    index = np.where(subject, np.int16(SUBJECT), np.int16(BACKGROUND))
    order = scene.in_depth_order()
    for number, thing in enumerate(order):
        _shadow(rgb, thing, scene.light)
        _stand(rgb, index, thing, number, scene.light)
        _shine(rgb, thing)
    rgb, index = _looked_at(rgb, index, scene)
    for effect in scene.effects:
        if effect.kind in GEOMETRIC:
            rgb, index = _bent(rgb, index, effect)
        else:
            rgb = apply_effect(rgb, effect, _front(index, order))
    return RenderedScene(np.asarray(np.clip(rgb * 255 + 0.5, 0, 255), np.uint8), index, order)


@lru_cache(maxsize=64)
def render_picture(scene: Scene) -> bytes:
    """The encoded image of a scene, byte-for-byte reproducible. A photograph is returned as bundled."""
    if is_photo(scene) and scene == photo_scene(scene.backdrop):
        return photo_bytes(scene.backdrop)
    return encode_pixels(render_scene(scene).pixels, photo=is_photo(scene))


def encode_pixels(pixels: Pixels, *, photo: bool = False) -> bytes:
    """Encode pixels (height, width, 3) as PNG; photographs as JPEG, because PNG would need many megabytes."""
    sink = BytesIO()
    if photo:
        Image.fromarray(pixels).save(sink, format="JPEG", quality=93, subsampling=0)
    else:
        Image.fromarray(pixels).save(sink, format="PNG", compress_level=3)
    return sink.getvalue()


def is_photo(scene: Scene) -> bool:
    """Does the scene show one of the bundled photographs?"""
    return scene.backdrop.startswith(PREFIX)


def photo_scene(name: str) -> Scene:
    """The scene that shows a bundled photograph as it is."""
    photo = photo_of(name)
    return Scene(width=photo.width, height=photo.height, backdrop=PREFIX + photo.name)


def _ground(scene: Scene) -> tuple[Floats, Mask]:
    """The empty background, and the mask of a photograph's subject."""
    if not is_photo(scene):
        painting = paint_backdrop(scene.backdrop, scene.mood, scene.width, scene.height, scene.seed)
        return painting.copy(), np.zeros(painting.shape[:2], np.bool_)
    pixels = photo_pixels(scene.backdrop)
    if pixels.shape[:2] != (scene.height, scene.width):
        pixels = np.asarray(cv2.resize(pixels, (scene.width, scene.height), interpolation=cv2.INTER_AREA), np.uint8)
    return pixels.astype(np.float32) / np.float32(255), subject_mask(scene.backdrop, *pixels.shape[:2])


def _front(index: npt.NDArray[np.int16], order: tuple[Thing, ...]) -> Mask:
    return np.isin(index, [SUBJECT, *(i for i, thing in enumerate(order) if thing.foreground)])


def _size(thing: Thing, height: int) -> tuple[int, int]:
    tall = max(6, round(thing.size * height))
    return max(6, round(tall * object_kind(thing.kind).aspect * thing.stretch)), tall


def _shadow(rgb: Floats, thing: Thing, light: str) -> None:
    """Draw a soft contact shadow away from the light; flat things get a faint drop shadow instead."""
    if not thing.shadow or not object_kind(thing.kind).casts:
        return
    height, width = rgb.shape[:2]
    wide, tall = _size(thing, height)
    kind = object_kind(thing.kind)
    side = 1.0 if light == "left" else -1.0
    lift = 0.0 if not kind.floats else 0.12 * height
    cx, cy = thing.x * width + side * 0.12 * wide, thing.y * height - 0.015 * tall + lift
    rx, ry = 0.56 * wide, max(3.0, min(0.15 * wide, 0.1 * tall))
    if kind.flat:
        cx, cy, rx, ry = thing.x * width, (thing.y - thing.size / 2) * height + 0.05 * tall, 0.53 * wide, 0.56 * tall
    x0, x1 = max(0, int(cx - 2 * rx)), min(width, int(cx + 2 * rx) + 1)
    y0, y1 = max(0, int(cy - 2.4 * ry)), min(height, int(cy + 2.4 * ry) + 1)
    if x0 >= x1 or y0 >= y1:
        return
    dx = (np.arange(x0, x1, dtype=np.float32) - cx)[None, :] / rx
    dy = (np.arange(y0, y1, dtype=np.float32) - cy)[:, None] / ry
    power = 8 if kind.flat else 2
    strength = (0.12 if kind.flat else 0.5) * (0.4 if kind.floats else 1.0)
    rgb[y0:y1, x0:x1] *= 1 - strength * np.exp(-1.4 * (dx**power + dy**power))[..., None]


def _stand(rgb: Floats, index: npt.NDArray[np.int16], thing: Thing, number: int, light: str) -> None:
    """Draw one thing on the image."""
    height, width = rgb.shape[:2]
    wide, tall = _size(thing, height)
    colours, alpha = sprite(thing.kind, wide, tall, thing.colour, thing.material, thing.text, thing.state, light)
    if thing.flip:
        colours, alpha = colours[:, ::-1], alpha[:, ::-1]
    if thing.angle:
        colours, alpha = _turned(colours, alpha, thing.angle)
    left = round(thing.x * width - wide / 2 - (alpha.shape[1] - wide) / 2)
    top = round(thing.y * height - tall - (alpha.shape[0] - tall) / 2)
    x0, y0 = max(0, left), max(0, top)
    x1, y1 = min(width, left + alpha.shape[1]), min(height, top + alpha.shape[0])
    if x0 >= x1 or y0 >= y1:
        return
    part = np.s_[y0 - top : y1 - top, x0 - left : x1 - left]
    part_of_image = rgb[y0:y1, x0:x1]
    part_of_image += (colours[part] - part_of_image) * alpha[part][..., None]
    index[y0:y1, x0:x1][alpha[part] > 0.5] = number


def _turned(colours: Floats, alpha: Floats, angle: float) -> tuple[Floats, Floats]:
    """A sprite rotated clockwise about its centre, on a larger square."""
    height, width = alpha.shape
    side = int(np.ceil(np.hypot(height, width)))
    matrix = cv2.getRotationMatrix2D((width / 2, height / 2), -angle, 1.0)
    matrix[:, 2] += ((side - width) / 2, (side - height) / 2)
    layers = np.dstack([colours * alpha[..., None], alpha])
    turned = cv2.warpAffine(layers, matrix, (side, side), flags=cv2.INTER_LINEAR)
    share = turned[..., 3]
    return np.asarray(turned[..., :3] / np.maximum(share, 1e-4)[..., None], np.float32), share


def _shine(rgb: Floats, thing: Thing) -> None:
    """Light the surroundings of a lamp or candle that is on."""
    if thing.kind not in {"lamp", "candle"} or thing.state == "off":
        return
    height, width = rgb.shape[:2]
    cx, cy = thing.x, thing.y - thing.size * (0.66 if thing.kind == "lamp" else 0.85)
    dx = (np.linspace(0, 1, width, dtype=np.float32)[None, :] - cx) * width / height
    dy = np.linspace(0, 1, height, dtype=np.float32)[:, None] - cy
    spot = (0.34 if thing.kind == "lamp" else 0.2) * np.exp(-(dx**2 + dy**2) / (2 * (0.55 * thing.size) ** 2))
    rgb += (np.array([1.0, 0.92, 0.7], np.float32) - rgb) * spot[..., None]


def _looked_at(rgb: Floats, index: npt.NDArray[np.int16], scene: Scene) -> tuple[Floats, npt.NDArray[np.int16]]:
    view, height, width = scene.view, rgb.shape[0], rgb.shape[1]
    x0, x1 = round(view.left * width), round(view.right * width)
    y0, y1 = round(view.top * height), round(view.bottom * height)
    return (rgb, index) if (x0, y0, x1, y1) == (0, 0, width, height) else (rgb[y0:y1, x0:x1], index[y0:y1, x0:x1])


def _bent(rgb: Floats, index: npt.NDArray[np.int16], effect: Effect) -> tuple[Floats, npt.NDArray[np.int16]]:
    """Effects that move pixels, applied to the image and its ground truth."""
    height, width = rgb.shape[:2]
    if effect.kind == "mirror":
        return np.ascontiguousarray(rgb[:, ::-1]), np.ascontiguousarray(index[:, ::-1])
    if effect.kind == "tilt":
        flat = cv2.getRotationMatrix2D((width / 2, height / 2), 7 * effect.amount, 1.0 + 0.17 * abs(effect.amount))
        matrix = np.vstack([flat, [0, 0, 1]])
    else:
        inset = 0.16 * effect.amount * width
        corners = np.array([[0, 0], [width, 0], [width, height], [0, height]], np.float32)
        bent = np.array([[-inset * 0.2, 0], [width * 1.03, 0], [width - inset, height], [inset, height]], np.float32)
        matrix = cv2.getPerspectiveTransform(bent, corners)
    size = (width, height)
    moved = cv2.warpPerspective(rgb, matrix, size, flags=cv2.INTER_LINEAR, borderMode=cv2.BORDER_REFLECT)
    bent_index = cv2.warpPerspective(
        index, matrix, size, flags=cv2.INTER_NEAREST, borderMode=cv2.BORDER_CONSTANT, borderValue=-1
    )
    return moved, bent_index
