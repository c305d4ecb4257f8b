"""Effects on a finished image: degradations that a restorer should undo, and photographic effects."""

from collections.abc import Callable

import cv2
import numpy as np
import numpy.typing as npt
from PIL import Image, ImageDraw

from imarena.core import Floats, Mask, UserError
from imarena.studio.palette import COLOURS
from imarena.studio.pen import font
from imarena.studio.scene import Effect


def _noise(rgb: Floats, effect: Effect) -> Floats:
    rng = np.random.default_rng(effect.seed)
    return rgb + 0.11 * effect.amount * rng.standard_normal(rgb.shape, dtype=np.float32)


def _blur(rgb: Floats, effect: Effect) -> Floats:
    return np.asarray(cv2.GaussianBlur(rgb, (0, 0), 2.6 * effect.amount * rgb.shape[0] / 512), np.float32)


def _motion_blur(rgb: Floats, effect: Effect) -> Floats:
    length = max(3, round(17 * effect.amount * rgb.shape[1] / 512)) | 1
    kernel = np.zeros((length, length), np.float32)
    cv2.line(kernel, (0, round(length * 0.6)), (length - 1, round(length * 0.4)), 1.0)
    return np.asarray(cv2.filter2D(rgb, -1, kernel / kernel.sum()), np.float32)


def _low_light(rgb: Floats, effect: Effect) -> Floats:
    rng = np.random.default_rng(effect.seed)
    dark = (rgb**1.5) * (1 - 0.72 * effect.amount) * np.array([0.92, 0.96, 1.08], np.float32)
    return dark + 0.012 * rng.standard_normal(rgb.shape, dtype=np.float32)


def _overexposed(rgb: Floats, effect: Effect) -> Floats:
    return rgb * (1 + 0.75 * effect.amount) + 0.08 * effect.amount


def _haze(rgb: Floats, effect: Effect) -> Floats:
    thick = effect.amount * np.linspace(0.82, 0.5, rgb.shape[0], dtype=np.float32)[:, None, None]
    return rgb * (1 - thick) + np.array([0.86, 0.88, 0.9], np.float32) * thick


def _colour_cast(rgb: Floats, effect: Effect) -> Floats:
    return rgb * (1 + effect.amount * np.array([0.22, -0.02, -0.34], np.float32))


def _jpeg(rgb: Floats, effect: Effect) -> Floats:
    quality = max(2, round(10 - 6 * effect.amount))
    _, data = cv2.imencode(".jpg", _bytes(rgb)[..., ::-1], [cv2.IMWRITE_JPEG_QUALITY, quality])
    return np.asarray(cv2.imdecode(data, cv2.IMREAD_COLOR), np.float32)[..., ::-1] / np.float32(255)


def _low_resolution(rgb: Floats, effect: Effect) -> Floats:
    height, width = rgb.shape[:2]
    factor = 1 + 5 * effect.amount
    small = cv2.resize(rgb, (round(width / factor), round(height / factor)), interpolation=cv2.INTER_AREA)
    return np.asarray(cv2.resize(small, (width, height), interpolation=cv2.INTER_LINEAR), np.float32)


def _scratches(rgb: Floats, effect: Effect) -> Floats:
    rng = np.random.default_rng(effect.seed)
    height, width = rgb.shape[:2]
    layer = np.zeros((height, width), np.float32)
    for _ in range(round(16 * effect.amount)):
        x, y = rng.uniform(0, width), rng.uniform(0, height)
        dx, dy = rng.normal(0, width / 14), rng.normal(0, height / 4)
        cv2.line(
            layer, (round(x), round(y)), (round(x + dx), round(y + dy)), float(rng.uniform(0.5, 0.95)), 1, cv2.LINE_AA
        )
    for _ in range(round(40 * effect.amount)):
        at = (round(rng.uniform(0, width)), round(rng.uniform(0, height)))
        cv2.circle(layer, at, int(rng.integers(1, 4)), float(rng.uniform(0.5, 0.9)), -1, cv2.LINE_AA)
    return rgb + (np.array([0.95, 0.93, 0.86], np.float32) - rgb) * layer[..., None]


def _grey(rgb: Floats) -> Floats:
    return np.asarray(rgb @ np.array([0.299, 0.587, 0.114], np.float32), np.float32)[..., None]


def _black_and_white(rgb: Floats, effect: Effect) -> Floats:
    return rgb + (_grey(rgb) - rgb) * effect.amount


def _sepia(rgb: Floats, effect: Effect) -> Floats:
    tone = _grey(rgb) * np.array([1.07, 0.9, 0.68], np.float32) + 0.03
    return rgb + (tone - rgb) * effect.amount


def _colour_pop(rgb: Floats, effect: Effect, front: Mask) -> Floats:
    """Turn everything but the foreground grey."""
    return np.where(front[..., None], rgb, rgb + (_grey(rgb) - rgb) * effect.amount)


def _background_blur(rgb: Floats, effect: Effect, front: Mask) -> Floats:
    sharp = cv2.GaussianBlur(front.astype(np.float32), (0, 0), 1.2)[..., None]
    hidden = 1 - sharp
    sigma = 5.5 * effect.amount * rgb.shape[0] / 512
    weight = cv2.GaussianBlur(hidden[..., 0], (0, 0), sigma)[..., None] + 1e-3
    soft = cv2.GaussianBlur(rgb * hidden, (0, 0), sigma) / weight
    return np.asarray(rgb * sharp + soft * hidden, np.float32)


def _vignette(rgb: Floats, effect: Effect) -> Floats:
    x = np.linspace(-1, 1, rgb.shape[1], dtype=np.float32)[None, :]
    y = np.linspace(-1, 1, rgb.shape[0], dtype=np.float32)[:, None]
    dark = 0.55 * effect.amount * np.clip((x * x + y * y) / 1.6, 0, 1)
    return np.asarray(rgb * (1 - dark)[..., None], np.float32)


def _golden_hour(rgb: Floats, effect: Effect) -> Floats:
    warm = rgb * np.array([1.16, 0.99, 0.74], np.float32)
    warm = warm + np.array([0.06, 0.03, 0.0], np.float32)
    return rgb + (warm - rgb) * effect.amount


def _vivid(rgb: Floats, effect: Effect) -> Floats:
    grey = _grey(rgb)
    richer = grey + (rgb - grey) * (1 + 0.7 * effect.amount)
    return np.asarray(0.5 + (richer - 0.5) * (1 + 0.16 * effect.amount), np.float32)


def _watermark(rgb: Floats, effect: Effect) -> Floats:
    height, width = rgb.shape[:2]
    layer = Image.new("L", (width, height), 0)
    draw = ImageDraw.Draw(layer)
    size = round(height * 0.075)
    for row in range(3):
        at = (width * (0.24 + 0.26 * row), height * (0.22 + 0.28 * row))
        draw.text(at, effect.text or "SAMPLE", font=font(size), fill=255, anchor="mm", stroke_width=1)
    share = np.asarray(layer.rotate(18), np.float32)[..., None] / 255 * 0.55 * effect.amount
    return np.asarray(rgb + (1 - rgb) * share, np.float32)


def _recolour(rgb: Floats, effect: Effect, front: Mask) -> Floats:
    """Give saturated pixels with a hue near `seed` degrees the hue of the named colour, `text`."""
    hsv = cv2.cvtColor(rgb, cv2.COLOR_RGB2HSV)
    away = np.abs((hsv[..., 0] - effect.seed + 180) % 360 - 180)
    share = np.clip((34 - away) / 10, 0, 1) * np.clip((hsv[..., 1] - 0.25) / 0.2, 0, 1) * effect.amount
    share = cv2.GaussianBlur(share * front, (0, 0), 1.0)[..., None]
    target = np.array([[COLOURS[effect.text]]], np.float32) / 255
    hsv[..., 0] = float(cv2.cvtColor(target, cv2.COLOR_RGB2HSV)[0, 0, 0])
    return np.asarray(rgb + (cv2.cvtColor(hsv, cv2.COLOR_HSV2RGB) - rgb) * share, np.float32)


WHOLE: dict[str, Callable[[Floats, Effect], Floats]] = {
    "noise": _noise,
    "blur": _blur,
    "motion_blur": _motion_blur,
    "low_light": _low_light,
    "overexposed": _overexposed,
    "haze": _haze,
    "colour_cast": _colour_cast,
    "jpeg": _jpeg,
    "low_resolution": _low_resolution,
    "scratches": _scratches,
    "black_and_white": _black_and_white,
    "sepia": _sepia,
    "vignette": _vignette,
    "golden_hour": _golden_hour,
    "vivid": _vivid,
    "watermark": _watermark,
}


FRONT: dict[str, Callable[[Floats, Effect, Mask], Floats]] = {
    "colour_pop": _colour_pop,
    "background_blur": _background_blur,
    "recolour": _recolour,
}
"""Effects that need the mask of the foreground."""


def _bytes(rgb: Floats) -> npt.NDArray[np.uint8]:
    return np.asarray(np.clip(rgb * 255 + 0.5, 0, 255), np.uint8)


def apply_effect(rgb: Floats, effect: Effect, front: Mask) -> Floats:
    """The image (height, width, 3) in 0..1 after an effect; `front` (height, width) marks the foreground."""
    if effect.kind in FRONT:
        changed = FRONT[effect.kind](rgb, effect, front)
    elif effect.kind in WHOLE:
        changed = WHOLE[effect.kind](rgb, effect)
    else:
        names = ", ".join(sorted((*WHOLE, *FRONT)))
        raise UserError(f"There is no effect called '{effect.kind}'.", hint=f"Known: {names}.")
    return np.asarray(np.clip(changed, 0, 1), np.float32)
