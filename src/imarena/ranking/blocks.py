"""Where the likelihood has no maximum: blocks of models that cannot be compared by the data alone.

A maximum exists among models that are strongly connected by "beat or tied" (Ford 1957). An unbeaten or a winless model
is a block of its own; islands are blocks that never met. Within a block the fit is by maximum likelihood. The distance
between blocks is not in the data, or only on one side of it.
"""

from dataclasses import dataclass

import numpy as np

from imarena.ranking.battles import FloatArray, IntArray
from imarena.ranking.cells import Cells


@dataclass(frozen=True)
class Blocks:
    """`of` (m,) gives each model's block; `reference` (m,) marks the models whose mean is the board's centre."""

    of: IntArray
    n: int
    fixed: int | None
    """The block that stays in place (the largest, or the anchored one); None where none stands out."""
    reference: np.ndarray[tuple[int], np.dtype[np.bool_]]

    @property
    def whole(self) -> bool:
        return self.n == 1

    def inside(self, cells: Cells) -> np.ndarray[tuple[int], np.dtype[np.bool_]]:
        """(K,) True for cells whose two models are in one block."""
        return np.asarray(self.of[cells.left] == self.of[cells.right])


def find_blocks(cells: Cells, anchored: np.ndarray[tuple[int], np.dtype[np.bool_]] | None = None) -> Blocks:
    """Split the models. Anchored models hold together by definition. Names and order play no part."""
    from scipy.sparse import coo_matrix
    from scipy.sparse.csgraph import connected_components

    m = cells.n_models
    left_scored = cells.counts[:, 0] + cells.counts[:, 1] > 0
    right_scored = cells.counts[:, 2] + cells.counts[:, 1] > 0
    heads = [cells.left[left_scored], cells.right[right_scored]]
    tails = [cells.right[left_scored], cells.left[right_scored]]
    if anchored is not None and anchored.any():
        held = np.flatnonzero(anchored)
        heads.append(held)
        tails.append(np.roll(held, 1))
    head, tail = np.concatenate(heads), np.concatenate(tails)
    graph = coo_matrix((np.ones(head.size), (head, tail)), shape=(m, m))
    n, of = connected_components(graph, directed=True, connection="strong")
    sizes = np.bincount(of, minlength=n)
    if anchored is not None and anchored.any():
        fixed: int | None = int(of[np.flatnonzero(anchored)[0]])
        reference = anchored
    else:
        largest = np.flatnonzero(sizes == sizes.max())
        fixed = int(largest[0]) if largest.size == 1 else None
        reference = np.isin(of, largest)
    return Blocks(of=of.astype(np.int64), n=int(n), fixed=fixed, reference=reference)


def describe(cells: Cells, blocks: Blocks, models: tuple[str, ...]) -> list[str]:
    """What the user should know about the blocks, in sentences."""
    if blocks.whole:
        return []
    told: list[str] = []
    points, battles = _record(cells)
    for index, model in enumerate(models):
        if battles[index] > 0 and np.sum(blocks.of == blocks.of[index]) == 1:
            if points[index] == battles[index]:
                told.append(f"'{model}' won every battle: the data give no upper bound to its rating.")
            elif points[index] == 0:
                told.append(f"'{model}' lost every battle: the data give no lower bound to its rating.")
    islands = _islands(cells)
    if islands > 1:
        told.append(
            f"The models fall into {islands} islands that never met: ratings across islands are not comparable."
        )
    if not told:
        told.append(
            f"The models fall into {blocks.n} groups, each of which won or lost everything against the others: "
            "the distance between groups is not in the data."
        )
    told.append(
        "A weak symmetric prior (an even win probability against an average model) places what the likelihood cannot; "
        "ratings within the main group are untouched by it."
    )
    return told


def _record(cells: Cells) -> tuple[FloatArray, FloatArray]:
    m = cells.n_models
    left, tie, right = cells.counts.T
    total = left + tie + right
    points = np.bincount(cells.left, left + 0.5 * tie, m) + np.bincount(cells.right, right + 0.5 * tie, m)
    battles = np.bincount(cells.left, total, m) + np.bincount(cells.right, total, m)
    return np.asarray(points, np.float64), np.asarray(battles, np.float64)


def _islands(cells: Cells) -> int:
    from scipy.sparse import coo_matrix
    from scipy.sparse.csgraph import connected_components

    met = cells.counts.sum(axis=1) > 0
    graph = coo_matrix((np.ones(int(met.sum())), (cells.left[met], cells.right[met])), shape=(cells.n_models,) * 2)
    return int(connected_components(graph, directed=False)[0])
