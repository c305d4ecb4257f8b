"""Colour difference: CIEDE2000 (Sharma, Wu and Dalal 2005) of 8-bit sRGB pixels, white point D65.

Compiled, because 40 operations per pixel on NumPy arrays are limited by memory bandwidth. Import it only where needed.
"""

import math
from typing import Any

import numpy as np
from numba import njit
from numpy.typing import NDArray

_WHITE = (0.95047, 1.0, 1.08883)


def _linear_levels() -> NDArray[np.float64]:
    """The 256 sRGB levels as linear light."""
    values = np.arange(256) / 255.0
    return np.asarray(np.where(values <= 0.04045, values / 12.92, ((values + 0.055) / 1.055) ** 2.4))


_LEVELS = _linear_levels()


def _f(t: float) -> float:
    return float(np.cbrt(t)) if t > 0.008856 else 7.787 * t + 16.0 / 116.0


_f_compiled = njit(_f, cache=True, inline="always")


def _lab(red: float, green: float, blue: float) -> tuple[float, float, float]:
    """Linear light to CIE Lab."""
    x = _f_compiled((0.412453 * red + 0.357580 * green + 0.180423 * blue) / _WHITE[0])
    y = _f_compiled((0.212671 * red + 0.715160 * green + 0.072169 * blue) / _WHITE[1])
    z = _f_compiled((0.019334 * red + 0.119193 * green + 0.950227 * blue) / _WHITE[2])
    return 116.0 * y - 16.0, 500.0 * (x - y), 200.0 * (y - z)


def _difference(l1: float, a1: float, b1: float, l2: float, a2: float, b2: float) -> float:
    """CIEDE2000 of two colours in CIE Lab."""
    g = 1.5 - 0.5 * _saturation(0.5 * (math.sqrt(a1 * a1 + b1 * b1) + math.sqrt(a2 * a2 + b2 * b2)))
    a1, a2 = a1 * g, a2 * g
    c1, c2 = math.sqrt(a1 * a1 + b1 * b1), math.sqrt(a2 * a2 + b2 * b2)
    chroma, light = 0.5 * (c1 + c2), 0.5 * (l1 + l2)
    h1 = math.atan2(b1, a1) % _TURN if c1 > 0.0 else 0.0
    h2 = math.atan2(b2, a2) % _TURN if c2 > 0.0 else 0.0
    turn, hue = 0.0, h1 + h2
    if c1 > 0.0 and c2 > 0.0:
        turn, hue = h2 - h1, 0.5 * hue
        if abs(turn) > math.pi:
            turn -= math.copysign(_TURN, turn)
            hue += math.pi if hue < math.pi else -math.pi
    cos1, sin1 = math.cos(hue), math.sin(hue)
    cos2, sin2 = cos1 * cos1 - sin1 * sin1, 2.0 * sin1 * cos1
    cos3, sin3 = cos2 * cos1 - sin2 * sin1, sin2 * cos1 + cos2 * sin1
    cos4, sin4 = cos2 * cos2 - sin2 * sin2, 2.0 * sin2 * cos2
    t = (
        1.0
        - 0.17 * (cos1 * _COS30 + sin1 * _SIN30)
        + 0.24 * cos2
        + 0.32 * (cos3 * _COS6 - sin3 * _SIN6)
        - 0.20 * (cos4 * _COS63 + sin4 * _SIN63)
    )
    off = (light - 50.0) * (light - 50.0)
    d_light = (l2 - l1) / (1.0 + 0.015 * off / math.sqrt(20.0 + off))
    d_chroma = (c2 - c1) / (1.0 + 0.045 * chroma)
    d_hue = 2.0 * math.sqrt(c1 * c2) * math.sin(0.5 * turn) / (1.0 + 0.015 * chroma * t)
    degrees = math.degrees(hue)
    bend = math.radians(30.0) * math.exp(-(((degrees - 275.0) / 25.0) ** 2))
    rotation = -math.sin(2.0 * bend) * 2.0 * _saturation(chroma)
    return math.sqrt(max(d_light * d_light + d_chroma * d_chroma + d_hue * d_hue + rotation * d_chroma * d_hue, 0.0))


def _saturation_of(chroma: float) -> float:
    """The square root of c^7 / (c^7 + 25^7)."""
    power = chroma * chroma * chroma
    power = power * power * chroma
    return math.sqrt(power / (power + 6103515625.0))


_saturation = njit(_saturation_of, cache=True, inline="always")
_TURN = 2.0 * math.pi
_COS30, _SIN30 = math.cos(math.radians(30.0)), math.sin(math.radians(30.0))
_COS6, _SIN6 = math.cos(math.radians(6.0)), math.sin(math.radians(6.0))
_COS63, _SIN63 = math.cos(math.radians(63.0)), math.sin(math.radians(63.0))
_lab_compiled = njit(_lab, cache=True, inline="always")
lab_difference = njit(_difference, cache=True)
"""CIEDE2000 of two colours given as L, a, b, L, a, b."""


def _map(left: Any, right: Any, levels: Any, out: Any) -> None:
    height, width = out.shape
    for row in range(height):
        for column in range(width):
            r1, g1, b1 = left[row, column, 0], left[row, column, 1], left[row, column, 2]
            r2, g2, b2 = right[row, column, 0], right[row, column, 1], right[row, column, 2]
            if r1 == r2 and g1 == g2 and b1 == b2:
                out[row, column] = 0.0
                continue
            l1, a1, bb1 = _lab_compiled(levels[r1], levels[g1], levels[b1])
            l2, a2, bb2 = _lab_compiled(levels[r2], levels[g2], levels[b2])
            out[row, column] = lab_difference(l1, a1, bb1, l2, a2, bb2)


_map_compiled = njit(_map, cache=True)


def colour_difference_map(left: NDArray[np.uint8], right: NDArray[np.uint8]) -> NDArray[np.float64]:
    """CIEDE2000 at each pixel of two images of the same size, (height, width)."""
    out = np.empty(left.shape[:2], dtype=np.float64)
    _map_compiled(left, right, _LEVELS, out)
    return out
