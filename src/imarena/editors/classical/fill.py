"""Fill a hole with pieces of the same image: patches matched at several sizes, coarse to fine.

After Wexler, Shechtman and Irani (2007) and PatchMatch (Barnes et al. 2009); all patches are searched at once.
Arrays are (height, width, 3), 0 to 1. The same image and hole always give the same result.
"""

from dataclasses import dataclass

import cv2
import numpy as np
import numpy.typing as npt

from imarena.core import Floats, Mask

Ints = npt.NDArray[np.intp]
REACH = 3
"""A patch extends this many pixels from its centre to each side: 7 by 7."""
WORK_SIDE = 224
"""The search works on a copy of this size; its matches are then used at full size."""
_ROUNDS = 4
_NEIGHBOURS = ((0, 1), (0, -1), (1, 0), (-1, 0))


@dataclass
class _Level:
    """One size of the image: pixels padded by REACH, the patches to fill and the patches that may be copied."""

    padded: Floats
    hole: Mask
    wanted: tuple[Ints, Ints]
    """Centres of patches that overlap the hole."""
    usable: Mask
    """Centres of complete patches without any part of the hole."""

    def patches(self, y: Ints, x: Ints) -> Floats:
        """Patches around these centres, shape (n, 147)."""
        side = 2 * REACH + 1
        windows = np.lib.stride_tricks.sliding_window_view(self.padded, (side, side), axis=(0, 1))
        return np.asarray(windows[y, x].reshape(len(y), 3 * side * side), np.float32)


def fill(rgb: Floats, hole: Mask, start: Floats | None = None, avoid: Mask | None = None) -> Floats:
    """Return the image with the hole filled.

    `start` is a first guess of the hole's content; by default it is diffused inwards. Nothing is copied from `avoid`.
    """
    if not hole.any() or hole.all():
        return rgb
    height, width = hole.shape
    scale = min(1.0, WORK_SIDE / max(height, width))
    size = (max(1, round(width * scale)), max(1, round(height * scale)))
    small_hole = _shrunk_hole(hole, size)
    guess = inpaint_telea(rgb, hole) if start is None else np.where(hole[..., None], start, rgb)
    small = np.asarray(cv2.resize(guess, size, interpolation=cv2.INTER_AREA), np.float32)
    spared = np.zeros_like(small_hole) if avoid is None else _shrunk_hole(avoid, size)
    matched = _searched(small, small_hole, spared, np.random.default_rng(0))
    if matched is None:
        return np.asarray(guess, np.float32)
    filled, match_y, match_x = matched
    return _at_full_size(rgb, hole, filled, match_y, match_x)


def inpaint_telea(rgb: Floats, hole: Mask) -> Floats:
    """Telea's inpainting at a bounded size: smooth, without texture."""
    height, width = hole.shape
    scale = min(1.0, 400 / max(height, width))
    size = (max(1, round(width * scale)), max(1, round(height * scale)))
    small = cv2.resize(np.asarray(np.clip(rgb * 255, 0, 255), np.uint8), size, interpolation=cv2.INTER_AREA)
    filled = _inpainted(small, _shrunk_hole(hole, size).astype(np.uint8))
    large = cv2.resize(filled, (width, height), interpolation=cv2.INTER_CUBIC).astype(np.float32) / np.float32(255)
    return np.asarray(np.where(hole[..., None], large, rgb), np.float32)


def _inpainted(pixels: npt.NDArray[np.uint8], hole: npt.NDArray[np.uint8]) -> npt.NDArray[np.uint8]:
    """OpenCV reads beyond images of one or two rows or columns, so these are repeated first."""
    rows, columns = (max(0, 8 - side) for side in hole.shape)
    edges = (0, rows, 0, columns)
    wide, mask = (cv2.copyMakeBorder(image, *edges, cv2.BORDER_REPLICATE) for image in (pixels, hole))
    return np.asarray(cv2.inpaint(wide, mask, 4, cv2.INPAINT_TELEA)[: hole.shape[0], : hole.shape[1]], np.uint8)


def _shrunk_hole(hole: Mask, size: tuple[int, int]) -> Mask:
    return np.asarray(cv2.resize(hole.astype(np.float32), size, interpolation=cv2.INTER_AREA) > 0.02)


def _searched(small: Floats, hole: Mask, avoid: Mask, rng: np.random.Generator) -> tuple[Floats, Ints, Ints] | None:
    """Coarse to fine: the filled copy, and the source position of every pixel. None: nothing to copy."""
    pictures, holes, spared = [small], [hole], [avoid]
    while min(pictures[-1].shape[:2]) > 40 and len(pictures) < 5:
        size = (max(1, pictures[-1].shape[1] // 2), max(1, pictures[-1].shape[0] // 2))
        pictures.append(np.asarray(cv2.resize(pictures[-1], size, interpolation=cv2.INTER_AREA), np.float32))
        holes.append(_shrunk_hole(holes[-1], size))
        spared.append(_shrunk_hole(spared[-1], size))
    match: tuple[Ints, Ints] | None = None
    filled = pictures[-1]
    for number in range(len(pictures) - 1, -1, -1):
        shape = pictures[number].shape[:2]
        if filled.shape[:2] != shape:
            larger = cv2.resize(filled, (shape[1], shape[0]), interpolation=cv2.INTER_CUBIC)
            filled = np.asarray(np.where(holes[number][..., None], larger, pictures[number]), np.float32)
        level = _level(filled, holes[number], spared[number])
        if not level.usable.any():
            match = None
            continue
        field = _first_match(level, match, rng)
        for _ in range(_ROUNDS if number else _ROUNDS - 1):
            field, cost = _improved(level, *field, rng)
            _vote(level, *field, cost)
        filled = np.asarray(level.padded[REACH:-REACH, REACH:-REACH], np.float32)
        match = _as_map(level, *field)
    return None if match is None else (filled, *match)


def _level(picture: Floats, hole: Mask, avoid: Mask) -> _Level:
    edge = np.ones((2 * REACH + 1, 2 * REACH + 1), np.uint8)
    near = cv2.dilate(hole.astype(np.uint8), edge) > 0
    usable = ~near
    for inner in (np.s_[:REACH], np.s_[-REACH:]):
        usable[inner] = False
        usable[:, inner] = False
    if (usable & ~avoid).sum() > 0.2 * usable.sum():
        usable &= ~avoid
    y, x = np.nonzero(near)
    padded = cv2.copyMakeBorder(picture, REACH, REACH, REACH, REACH, cv2.BORDER_REFLECT_101)
    return _Level(np.asarray(padded, np.float32), hole, (y, x), np.asarray(usable))


def _first_match(level: _Level, coarser: tuple[Ints, Ints] | None, rng: np.random.Generator) -> tuple[Ints, Ints]:
    """Initial matches: twice the coarser level's; random where there are none or they may not be copied."""
    positions = np.argwhere(level.usable)
    random = positions[rng.integers(len(positions), size=len(level.wanted[0]))]
    if coarser is None:
        return random[:, 0], random[:, 1]
    y, x = level.wanted
    height, width = level.hole.shape
    from_y = np.minimum(y // 2, coarser[0].shape[0] - 1)
    from_x = np.minimum(x // 2, coarser[0].shape[1] - 1)
    near_y = np.clip(coarser[0][from_y, from_x] * 2 + y % 2, 0, height - 1)
    near_x = np.clip(coarser[1][from_y, from_x] * 2 + x % 2, 0, width - 1)
    good = level.usable[near_y, near_x]
    return np.where(good, near_y, random[:, 0]), np.where(good, near_x, random[:, 1])


def _improved(
    level: _Level, match_y: Ints, match_x: Ints, rng: np.random.Generator
) -> tuple[tuple[Ints, Ints], Floats]:
    """Two passes of PatchMatch: the neighbours' matches, then random ones in shrinking circles."""
    y, x = level.wanted
    height, width = level.hole.shape
    patches = level.patches(y, x)
    cost = _far(patches, level.patches(match_y, match_x))
    index = np.full((height, width), -1, np.intp)
    index[y, x] = np.arange(len(y))

    def take(new_y: Ints, new_x: Ints) -> None:
        nonlocal match_y, match_x, cost
        inside = (new_y >= 0) & (new_y < height) & (new_x >= 0) & (new_x < width)
        inside &= level.usable[np.clip(new_y, 0, height - 1), np.clip(new_x, 0, width - 1)]
        rows = np.flatnonzero(inside)
        new_cost = _far(patches[rows], level.patches(new_y[rows], new_x[rows]))
        better = new_cost < cost[rows]
        at = rows[better]
        match_y, match_x, cost = match_y.copy(), match_x.copy(), cost.copy()
        match_y[at], match_x[at], cost[at] = new_y[at], new_x[at], new_cost[better]

    for step in (4, 1):
        for dy, dx in _NEIGHBOURS:
            by = np.clip(y + dy * step, 0, height - 1)
            bx = np.clip(x + dx * step, 0, width - 1)
            other = index[by, bx]
            valid = other >= 0
            take(
                np.where(valid, match_y[other] - (by - y), match_y), np.where(valid, match_x[other] - (bx - x), match_x)
            )
        radius = max(height, width) / 2
        while radius >= 1:
            take(
                match_y + np.rint(rng.uniform(-radius, radius, len(y))).astype(np.intp),
                match_x + np.rint(rng.uniform(-radius, radius, len(y))).astype(np.intp),
            )
            radius /= 3
    return (match_y, match_x), cost


def _far(left: Floats, right: Floats) -> Floats:
    step = left - right
    return np.asarray(np.einsum("ij,ij->i", step, step), np.float32)


def _vote(level: _Level, match_y: Ints, match_x: Ints, cost: Floats) -> None:
    """Set every pixel of the hole to the mean of the patches that cover it; good matches have more weight."""
    y, x = level.wanted
    height, width = level.hole.shape
    deep = cv2.distanceTransform(level.hole.astype(np.uint8), cv2.DIST_L2, 3)[y, x]
    # Pixels near the hole's border are more certain: they are decided first, and the inside follows.
    trust = (np.exp(-cost / max(2 * float(np.percentile(cost, 60)), 1e-6)) + 1e-4) * np.power(1.3, -deep)
    total = np.zeros((height, width, 4), np.float64)
    flat = total.reshape(-1, 4)
    for dy in range(-REACH, REACH + 1):
        for dx in range(-REACH, REACH + 1):
            to_y, to_x = y + dy, x + dx
            inside = (to_y >= 0) & (to_y < height) & (to_x >= 0) & (to_x < width)
            at = (to_y * width + to_x)[inside]
            colours = level.padded[match_y[inside] + dy + REACH, match_x[inside] + dx + REACH]
            weight = trust[inside]
            for channel in range(3):
                flat[:, channel] += np.bincount(at, weight * colours[:, channel], height * width)
            flat[:, 3] += np.bincount(at, weight, height * width)
    mean = total[..., :3] / np.maximum(total[..., 3:], 1e-12)
    inner = level.padded[REACH:-REACH, REACH:-REACH]
    inner[level.hole] = mean[level.hole]
    level.padded = np.asarray(
        cv2.copyMakeBorder(np.ascontiguousarray(inner), REACH, REACH, REACH, REACH, cv2.BORDER_REFLECT_101), np.float32
    )


def _as_map(level: _Level, match_y: Ints, match_x: Ints) -> tuple[Ints, Ints]:
    """Matches as two maps; pixels outside the hole map to themselves."""
    maps = np.indices(level.hole.shape)
    maps[0][level.wanted], maps[1][level.wanted] = match_y, match_x
    return maps[0], maps[1]


def _at_full_size(rgb: Floats, hole: Mask, filled: Floats, match_y: Ints, match_x: Ints) -> Floats:
    """Copy fine detail from the full-size image at the matches; light and colour come from the search."""
    height, width = hole.shape
    low_height, low_width = match_y.shape
    broad = np.asarray(cv2.resize(filled, (width, height), interpolation=cv2.INTER_CUBIC), np.float32)
    ratio_y, ratio_x = height / low_height, width / low_width
    if max(ratio_y, ratio_x) <= 1:
        return np.asarray(np.where(hole[..., None], np.clip(broad, 0, 1), rgb), np.float32)
    y, x = np.nonzero(hole)
    low_y, low_x = (y / ratio_y).astype(np.intp), (x / ratio_x).astype(np.intp)
    from_y = np.clip(y + np.rint((match_y[low_y, low_x] - low_y) * ratio_y).astype(np.intp), 0, height - 1)
    from_x = np.clip(x + np.rint((match_x[low_y, low_x] - low_x) * ratio_x).astype(np.intp), 0, width - 1)
    copied = rgb.copy()
    copied[y, x] = rgb[from_y, from_x]
    soft = cv2.GaussianBlur(copied, (0, 0), max(ratio_y, ratio_x))
    smooth = cv2.GaussianBlur(np.where(hole[..., None], broad, rgb), (0, 0), max(ratio_y, ratio_x) * 0.5)
    at_full_size = np.clip(smooth + (copied - soft), 0, 1)
    return np.asarray(np.where(hole[..., None], at_full_size, rgb), np.float32)
