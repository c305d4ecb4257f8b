"""Boards whose likelihood has no maximum: blocks of models that the data alone cannot compare.

A maximum exists among models that are strongly connected by "beat or tied" (Ford 1957). An unbeaten or a winless model
is a separate block. Within a block, the fit is by maximum likelihood. The data bound the distance between two blocks
only on one side. Models that no battle connects, not even through others, are islands: each has a scale of its own.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from imarena.core import FloatArray, IntArray
from imarena.core.notices import Notice
from imarena.ranking.islands import islands_of
from imarena.ranking.likelihood.pair_counts import PairCells

WON_ALL = "won every battle: no upper bound"
LOST_ALL = "lost every battle: no lower bound"
ONE_SIDED = "not bounded by the data"
"""The note of models whose block has no position on the scale; the data do bound differences within the block."""

_MOST_DENSE = 256
"""Models up to which blocks are found in a dense matrix: 13 ms at most; importing scipy's graphs takes 100."""


@dataclass(frozen=True)
class ModelBlocks:
    """`of` (m,) gives each model's block; `reference` (m,) marks the models whose mean is the board's centre."""

    of: IntArray
    n: int
    fixed: NDArray[np.bool_]
    """(n,) True for blocks whose position is fixed: of every island the anchored one or, if there is one, the single
    largest one."""
    reference: NDArray[np.bool_]
    island: IntArray
    """(m,) the island of each model, from 0. An anchored model links its island to those of other anchored models."""

    @property
    def whole(self) -> bool:
        return self.n == 1

    @property
    def placed(self) -> bool:
        """Do all blocks have a fixed position?"""
        return bool(self.fixed.all())

    @property
    def n_islands(self) -> int:
        return int(self.island.max(initial=0)) + 1

    def centred(self, theta: FloatArray) -> FloatArray:
        """Strengths (R, m) minus the mean of the reference models of each island."""
        if self.n_islands == 1:
            return np.asarray(theta - theta[:, self.reference].mean(axis=1, keepdims=True))
        centred = theta.copy()
        for number in range(self.n_islands):
            members = self.island == number
            centred[:, members] -= theta[:, members & self.reference].mean(axis=1, keepdims=True)
        return centred

    def inside(self, cells: PairCells) -> NDArray[np.bool_]:
        """(K,) True for cells whose models are in the same block."""
        return np.asarray(self.of[cells.left] == self.of[cells.right])


def find_blocks(
    cells: PairCells, anchored: NDArray[np.bool_] | None = None, island: IntArray | None = None
) -> ModelBlocks:
    """Split the models into blocks. Anchored models share a block by definition. Names and order do not matter.

    `island` (m,): the islands of the full board, for a resampled round in which some of them fall apart.
    """
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
    n, of = _strong_blocks(head, tail, m)
    if island is None:
        island = np.zeros(m, np.int64) if n == 1 else islands_of(head, tail, m)
    sizes = np.bincount(of, minlength=n)
    fixed, reference = np.zeros(n, bool), np.zeros(m, bool)
    for number in range(int(island.max(initial=0)) + 1):
        members = island == number
        if anchored is not None and (anchored & members).any():
            reference |= anchored & members
            fixed[of[np.flatnonzero(anchored & members)[0]]] = True
            continue
        largest = np.unique(of[members])
        largest = largest[sizes[largest] == sizes[largest].max()]
        fixed[largest] = largest.size == 1
        reference |= np.isin(of, largest)
    return ModelBlocks(of=of, n=n, fixed=fixed, reference=reference, island=island)


def _strong_blocks(head: IntArray, tail: IntArray, m: int) -> tuple[int, IntArray]:
    """The number of strongly connected blocks, and (m,) the block of each model."""
    if m <= _MOST_DENSE:
        beat = np.zeros((m, m), bool)
        beat[head, tail] = True
        first, of = np.unique(_first_of_block(beat), return_inverse=True)
        return first.size, of.astype(np.int64)
    from scipy.sparse import coo_matrix
    from scipy.sparse.csgraph import connected_components

    graph = coo_matrix((np.ones(head.size), (head, tail)), shape=(m, m))
    n, component = connected_components(graph, directed=True, connection="strong")
    return int(n), component.astype(np.int64)


def never_met_notices(island: IntArray, models: Sequence[str]) -> list[Notice]:
    """A notice that names the groups of models that never met, if there are several."""
    number = int(island.max(initial=0)) + 1
    if number == 1:
        return []
    groups = [[models[index] for index in np.flatnonzero(island == group).tolist()] for group in range(number)]
    return [Notice(code="groups_never_met", values={"groups": number, "models": groups})]


def block_labels(cells: PairCells, counts: FloatArray) -> IntArray:
    """(R, m) the first model of each model's block (see `find_blocks`), for rounds with `counts` (K, 3, R)."""
    m, rounds = cells.n_models, counts.shape[2]
    scored = np.zeros((m * m, rounds), np.float32)
    np.add.at(scored, cells.left * m + cells.right, counts[:, 0] + counts[:, 1])
    np.add.at(scored, cells.right * m + cells.left, counts[:, 2] + counts[:, 1])
    return _first_of_block(scored.T.reshape(rounds, m, m) > 0)


def _first_of_block(beat: NDArray[np.bool_]) -> IntArray:
    """(..., m) the first model of each model's strongly connected block, by squaring the graph (..., m, m)."""
    m = beat.shape[-1]
    reached = beat | np.eye(m, dtype=bool)
    for _ in range(int(np.ceil(np.log2(max(m, 2))))):
        steps = reached.astype(np.float32)
        reached = steps @ steps > 0
    return np.asarray((reached & reached.swapaxes(-1, -2)).argmax(axis=-1), np.int64)


def describe(cells: PairCells, blocks: ModelBlocks, models: tuple[str, ...]) -> list[Notice]:
    """Notices for the user about the blocks."""
    if blocks.whole:
        return []
    notices: list[Notice] = []
    for index, won in _alone(cells, blocks).items():
        notices.append(Notice(code="won_every_battle" if won else "lost_every_battle", values={"model": models[index]}))
    notices += never_met_notices(blocks.island, models)
    if not notices:
        notices.append(Notice(code="groups_one_sided", values={"groups": blocks.n}))
    return notices


def unbounded_models(cells: PairCells, blocks: ModelBlocks) -> dict[int, str]:
    """Models, by index, whose distance to the centre of their island the data do not bound, each with a short reason.

    These have no interval: its ends would come from the prior, not from the data.
    """
    if blocks.placed:
        return {}
    alone = _alone(cells, blocks)
    swept = {True: WON_ALL, False: LOST_ALL}
    loose = np.flatnonzero(~blocks.fixed[blocks.of]).tolist()
    return {index: swept[alone[index]] if index in alone else ONE_SIDED for index in loose}


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
