"""Choose candidates: greedy k-center over image and text features (section 4.1; Sener and Savarese 2018)."""

import re
import zlib
from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from imarena.core import Floats

PER_TASK = 1500
CANDIDATE_TASKS = (
    "subject_add", "subject_remove", "subject_replace", "size_adjustment", "color_alter", "material_alter", "ps_human",
    "motion_change", "text_editing", "background_change", "style_transfer", "tone_transfer", "camera_motion",
    "enhancement", "cref", "oref", "sref",
)  # fmt: skip
"""The paper's 17 tasks: without translation, relation, chart, line2image and hybrid."""


def joint_features(images: Floats, texts: Floats) -> Floats:
    """Join image features (n, d) and text features (n, e), rows of length 1, to rows of length 1 with equal weight."""
    return _unit(np.concatenate([_unit(images), _unit(texts)], axis=1))


def _unit(rows: Floats) -> Floats:
    return np.asarray(rows / np.maximum(np.linalg.norm(rows, axis=1, keepdims=True), 1e-12), np.float32)


def k_center(features: Floats, keys: Sequence[str], count: int) -> tuple[list[int], float]:
    """Indices of `count` rows chosen so that every row is near one of them, and the largest remaining distance.

    `features`: (n, d), rows of length 1; distance is 1 minus the cosine. The first choice is the row nearest to the
    mean, each following one the row farthest from all chosen rows. Ties are decided by the keys, so the order of the
    rows does not matter.
    """
    order = sorted(range(len(keys)), key=lambda at: keys[at])
    rows = np.asarray(features[order], np.float32)
    if not len(rows) or count < 1:
        return [], 0.0
    middle = rows.astype(np.float64).mean(axis=0)
    indices = [int(np.argmax(_rounded(rows @ middle)))]
    nearest = _rounded(1.0 - rows @ rows[indices[0]])
    nearest[indices[0]] = -1.0
    while len(indices) < min(count, len(rows)):
        farthest = int(np.argmax(nearest))
        indices.append(farthest)
        nearest = np.minimum(nearest, _rounded(1.0 - rows @ rows[farthest]))
        nearest[indices] = -1.0
    return [order[at] for at in indices], float(max(nearest.max(), 0.0))


def _rounded(values: NDArray[Any]) -> NDArray[np.float64]:
    """Round, because the last digits of float sums depend on the order, which must not affect the choice."""
    return np.asarray(np.round(values.astype(np.float64), 6), np.float64)


def hashed_words(texts: Sequence[str], width: int = 512) -> Floats:
    """Counts of words and word pairs of texts, hashed to `width` columns, (n, width), rows of length 1.

    Rare words weigh more (inverse document frequency over these texts). Needs no weights.
    """
    counts = np.zeros((len(texts), width), np.float32)
    for at, text in enumerate(texts):
        words = re.findall(r"\w+", text.lower())
        for word in [*words, *(" ".join(two) for two in pairwise(words))]:
            counts[at, zlib.crc32(word.encode()) % width] += 1.0
    frequency = (counts > 0).sum(axis=0)
    weights = np.log((1.0 + len(texts)) / (1.0 + frequency)) + 1.0
    return _unit(np.asarray(np.log1p(counts) * weights, np.float32))
