"""Classical restoration and adjustment: light, noise, blur, haze, colour. Arrays are (height, width, 3), 0 to 1."""

from collections.abc import Callable

import cv2
import numpy as np
import numpy.typing as npt

from imarena.core import Floats

_MIDDLE = 0.46
"""Target median luminance of exposure correction."""


def _clipped(rgb: npt.NDArray[np.floating]) -> Floats:
    return np.asarray(np.clip(rgb, 0.0, 1.0), np.float32)


def _bytes(rgb: Floats) -> npt.NDArray[np.uint8]:
    return np.asarray(np.clip(rgb * 255 + 0.5, 0, 255), np.uint8)


def _luminance(rgb: Floats) -> Floats:
    return np.asarray(rgb @ np.array([0.2126, 0.7152, 0.0722], np.float32), np.float32)


def _stretched(rgb: Floats, low: float, high: float) -> Floats:
    """Levels: map these percentiles of luminance to black and white."""
    bottom, top = (float(v) for v in np.percentile(_luminance(rgb), [low, high]))
    return _clipped((rgb - bottom) / max(top - bottom, 0.05))


def brighten(rgb: Floats) -> Floats:
    """Brighten: levels, then a gamma that brings the median to middle grey, then light denoising."""
    lifted = _stretched(rgb, 0.5, 99.5)
    median = float(np.clip(np.median(_luminance(lifted)), 0.01, 0.99))
    gamma = float(np.clip(np.log(_MIDDLE) / np.log(median), 0.4, 1.0))
    return denoise(_clipped(lifted**gamma), strength=3.0) if gamma < 0.8 else _clipped(lifted**gamma)


def darken(rgb: Floats) -> Floats:
    """Darken by gamma, with highlights rolled off."""
    median = float(np.clip(np.median(_luminance(rgb)), 0.01, 0.99))
    gamma = float(np.clip(np.log(_MIDDLE * 0.85) / np.log(median), 1.2, 3.0))
    return _clipped(rgb**gamma)


def denoise(rgb: Floats, strength: float | None = None) -> Floats:
    """Non-local means, as strong as the measured noise (median absolute deviation of the fine detail)."""
    grey = _luminance(rgb)
    fine = grey - cv2.GaussianBlur(grey, (0, 0), 1.0)
    sigma = float(np.median(np.abs(fine))) / 0.6745 * 255
    power = strength if strength is not None else float(np.clip(1.3 * sigma, 3.0, 22.0))
    cleaned = cv2.fastNlMeansDenoisingColored(_bytes(rgb), None, power, power, 5, 15)
    return np.asarray(cleaned, np.float32) / np.float32(255)


def deblur(rgb: Floats) -> Floats:
    """Richardson-Lucy with a small Gaussian on the luminance; few iterations avoid ringing."""
    light = np.maximum(_luminance(rgb), 1e-3)
    sigma = max(1.1, 1.6 * max(rgb.shape[:2]) / 768)
    estimate = light.copy()
    for _ in range(12):
        blurred = np.maximum(cv2.GaussianBlur(estimate, (0, 0), sigma), 1e-3)
        estimate = np.asarray(estimate * cv2.GaussianBlur(light / blurred, (0, 0), sigma), np.float32)
    return _clipped(rgb + (np.clip(estimate, 0, 1) - light)[..., None])


def dehaze(rgb: Floats) -> Floats:
    """Dark channel prior (He, Sun and Tang 2009) with a guided transmission map."""
    side = max(3, round(min(rgb.shape[:2]) / 40)) | 1
    kernel = np.ones((side, side), np.uint8)
    dark = cv2.erode(rgb.min(axis=2), kernel)
    far = dark >= np.percentile(dark, 99.8)
    air = np.maximum(rgb[far].mean(axis=0), 0.3)
    veil = cv2.erode((rgb / air).min(axis=2).astype(np.float32), kernel)
    clear = _guided(_luminance(rgb), np.asarray(1.0 - 0.85 * veil, np.float32), 4 * side)
    return _clipped((rgb - air) / np.maximum(clear, 0.15)[..., None] + air)


def _guided(guide: Floats, values: Floats, radius: int) -> Floats:
    """The guided filter: smooth `values` along the edges of `guide`."""

    def mean(array: npt.NDArray[np.floating]) -> Floats:
        return np.asarray(cv2.boxFilter(np.asarray(array, np.float32), -1, (radius, radius)), np.float32)

    m_guide, m_values = mean(guide), mean(values)
    slope = (mean(guide * values) - m_guide * m_values) / (mean(guide * guide) - m_guide**2 + 1e-3)
    return np.asarray(mean(slope) * guide + mean(m_values - slope * m_guide), np.float32)


def contrast(rgb: Floats) -> Floats:
    """Levels and a mild S curve."""
    levels = _stretched(rgb, 1.0, 99.0)
    return _clipped(levels + 0.35 * levels * (1 - levels) * (2 * levels - 1) * 2)


def _saturation(rgb: Floats, factor: float) -> Floats:
    grey = _luminance(rgb)[..., None]
    return _clipped(grey + factor * (rgb - grey))


def saturate(rgb: Floats) -> Floats:
    """Increase saturation by half."""
    return _saturation(rgb, 1.5)


def desaturate(rgb: Floats) -> Floats:
    """Halve the saturation."""
    return _saturation(rgb, 0.5)


def white_balance(rgb: Floats) -> Floats:
    """Shades of grey with p = 6 (Finlayson and Trezzi 2004)."""
    cast = np.power(np.power(np.maximum(rgb, 1e-4), 6).mean(axis=(0, 1)), 1 / 6)
    return _clipped(rgb * (cast.mean() / np.maximum(cast, 1e-3)))


def upscale(rgb: Floats) -> Floats:
    """Sharpen at the same size: the benchmark's super-resolution items keep the frame."""
    return deblur(denoise(rgb, strength=2.0))


def enhance(rgb: Floats) -> Floats:
    """Slightly adjust everything: levels, colour balance, saturation."""
    return _saturation(_stretched(white_balance(rgb), 0.5, 99.5), 1.15)


def black_and_white(rgb: Floats) -> Floats:
    """Luminance only."""
    return np.repeat(_luminance(rgb)[..., None], 3, axis=2)


def sepia(rgb: Floats) -> Floats:
    """Luminance in shades of brown; no lighter than before, so that highlights keep their detail."""
    return _clipped(_luminance(rgb)[..., None] * np.array([1.07, 0.92, 0.70], np.float32) + np.float32(0.02))


def golden(rgb: Floats) -> Floats:
    """Warm, low light."""
    return _clipped(rgb * np.array([1.12, 0.98, 0.74], np.float32) + np.array([0.05, 0.02, 0.0], np.float32))


def night(rgb: Floats) -> Floats:
    """Darker and bluer."""
    return _clipped(_saturation(rgb, 0.7) ** 1.4 * np.array([0.42, 0.5, 0.72], np.float32))


ADJUSTMENTS: dict[str, Callable[[Floats], Floats]] = {
    "brighten": brighten,
    "darken": darken,
    "denoise": denoise,
    "deblur": deblur,
    "dehaze": dehaze,
    "contrast": contrast,
    "saturate": saturate,
    "desaturate": desaturate,
    "white_balance": white_balance,
    "upscale": upscale,
    "enhance": enhance,
}
"""By the instruction reader's name of the enhancement."""

TONES: dict[str, Callable[[Floats], Floats]] = {
    "black and white": black_and_white,
    "monochrome": black_and_white,
    "grayscale": black_and_white,
    "greyscale": black_and_white,
    "noir": black_and_white,
    "sepia": sepia,
    "sepia tone": sepia,
    "vintage": sepia,
    "golden": golden,
    "sunset": golden,
    "evening": golden,
    "sunrise": golden,
    "night": night,
    "nighttime": night,
    "moonlight": night,
}
"""By a word of the style or the ambience."""
