"""Boards whose likelihood has no maximum: blocks of models that the data alone cannot compare.

A maximum exists among models that are strongly connected by "beat or tied" (Ford 1957). An unbeaten or a winless model
is a separate block; islands are blocks that never met. Within a block, the fit is by maximum likelihood. The data do
not determine the distance between blocks, or bound it only on one side.
"""

from dataclasses import dataclass

import numpy as np

from imarena.core import FloatArray, IntArray
from imarena.core.notices import Notice
from imarena.ranking.likelihood.pair_counts import PairCells

WON_ALL = "won every battle: no upper bound"
LOST_ALL = "lost every battle: no lower bound"
NEVER_MET = "never met the other models"
ONE_SIDED = "not bounded by the data"
GROUPED = (NEVER_MET, ONE_SIDED)
"""Notes of models whose group has no position on the scale; the data do bound differences within the group."""


@dataclass(frozen=True)
class ModelBlocks:
    """`of` (m,) gives each model's block; `reference` (m,) marks the models whose mean is the board's centre."""

    of: IntArray
    n: int
    fixed: int | None
    """The block whose position is fixed (the largest, or the anchored one); None if there is no single largest one."""
    reference: np.ndarray[tuple[int], np.dtype[np.bool_]]

    @property
    def whole(self) -> bool:
        return self.n == 1

    def inside(self, cells: PairCells) -> np.ndarray[tuple[int], np.dtype[np.bool_]]:
        """(K,) True for cells whose models are in the same block."""
        return np.asarray(self.of[cells.left] == self.of[cells.right])


def find_blocks(cells: PairCells, anchored: np.ndarray[tuple[int], np.dtype[np.bool_]] | None = None) -> ModelBlocks:
    """Split the models into blocks. Anchored models share a block by definition. Names and order do not matter."""
    from scipy.sparse import coo_matrix
    from scipy.sparse.csgraph import connected_components

    m = cells.n_models
    left_scored = cells.counts[:, 0] + cells.counts[:, 1] > 0
    right_scored = cells.counts[:, 2] + cells.counts[:, 1] > 0
    heads = [cells.left[left_scored], cells.right[right_scored]]
    tails = [cells.right[left_scored], cells.left[right_scored]]
    if anchored is not None and anchored.any():
        anchors = np.flatnonzero(anchored)
        heads.append(anchors)
        tails.append(np.roll(anchors, 1))
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
    return ModelBlocks(of=of.astype(np.int64), n=int(n), fixed=fixed, reference=reference)


def block_labels(cells: PairCells, counts: FloatArray) -> IntArray:
    """(R, m) the first model of each model's block (see `find_blocks`), for rounds with `counts` (K, 3, R)."""
    m, rounds = cells.n_models, counts.shape[2]
    scored = np.zeros((m * m, rounds), np.float32)
    np.add.at(scored, cells.left * m + cells.right, counts[:, 0] + counts[:, 1])
    np.add.at(scored, cells.right * m + cells.left, counts[:, 2] + counts[:, 1])
    reached = (scored.T.reshape(rounds, m, m) > 0) | np.eye(m, dtype=bool)
    for _ in range(int(np.ceil(np.log2(max(m, 2))))):
        steps = reached.astype(np.float32)
        reached = steps @ steps > 0
    return np.asarray((reached & reached.transpose(0, 2, 1)).argmax(axis=2), np.int64)


def describe(cells: PairCells, blocks: ModelBlocks, models: tuple[str, ...]) -> list[Notice]:
    """Notices for the user about the blocks."""
    if blocks.whole:
        return []
    notices: list[Notice] = []
    for index, won in _alone(cells, blocks).items():
        notices.append(Notice(code="won_every_battle" if won else "lost_every_battle", values={"model": models[index]}))
    island = _islands(cells)
    groups = [[models[index] for index in np.flatnonzero(island == group)] for group in range(int(island.max()) + 1)]
    if len(groups) > 1:
        notices.append(Notice(code="groups_never_met", values={"groups": len(groups), "models": groups}))
    if not notices:
        notices.append(Notice(code="groups_one_sided", values={"groups": blocks.n}))
    return notices


def unbounded_models(cells: PairCells, blocks: ModelBlocks) -> dict[int, str]:
    """Models, by index, whose distance to the board's centre the data do not bound, each with a short reason.

    These have no interval: its ends would come from the prior, not from the data.
    """
    if blocks.whole:
        return {}
    island, alone = _islands(cells), _alone(cells, blocks)
    islands, main = set(island.tolist()), set(island[blocks.of == blocks.fixed].tolist())
    reasons: dict[int, str] = {}
    for index in range(blocks.of.size):
        if blocks.of[index] == blocks.fixed:
            continue
        if index in alone:
            reasons[index] = WON_ALL if alone[index] else LOST_ALL
        elif len(islands) > 1 and int(island[index]) not in main:
            reasons[index] = NEVER_MET
        else:
            reasons[index] = ONE_SIDED
    return reasons


def _alone(cells: PairCells, blocks: ModelBlocks) -> dict[int, bool]:
    """Models that are a separate block: True if the model won every battle, False if it lost every battle."""
    points, battles = _record(cells)
    single = np.bincount(blocks.of, minlength=blocks.n)[blocks.of] == 1
    swept = single & (battles > 0) & ((points == battles) | (points == 0))
    return {int(index): bool(points[index] > 0) for index in np.flatnonzero(swept)}


def _record(cells: PairCells) -> tuple[FloatArray, FloatArray]:
    m = cells.n_models
    left, tie, right = cells.counts.T
    total = left + tie + right
    points = np.bincount(cells.left, left + 0.5 * tie, m) + np.bincount(cells.right, right + 0.5 * tie, m)
    battles = np.bincount(cells.left, total, m) + np.bincount(cells.right, total, m)
    return np.asarray(points, np.float64), np.asarray(battles, np.float64)


def _islands(cells: PairCells) -> IntArray:
    """(m,) the group of each model, from 0; models in a group are linked by battles with any outcome."""
    from scipy.sparse import coo_matrix
    from scipy.sparse.csgraph import connected_components

    met = cells.counts.sum(axis=1) > 0
    graph = coo_matrix((np.ones(int(met.sum())), (cells.left[met], cells.right[met])), shape=(cells.n_models,) * 2)
    return np.asarray(connected_components(graph, directed=False)[1], np.int64)
