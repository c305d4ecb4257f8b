"""Draw a batch with known probabilities, evenly over tasks and items."""

from dataclasses import dataclass

import numpy as np

from imarena.core import FloatArray, IntArray, UserError, command_line
from imarena.routing.pool import Pool


@dataclass(frozen=True)
class Batch:
    """k battles: item (k,), pair (k,), and the probability with which each was chosen (k,)."""

    item: IntArray
    pair: IntArray
    probability: FloatArray

    def __len__(self) -> int:
        return int(self.item.size)


def sample_battles(
    weights: FloatArray, size: int, pool: Pool, rng: np.random.Generator, *, by_task: bool = True
) -> Batch:
    """Draw `size` different battles with probability exactly proportional to `weights` (N, P).

    Systematic sampling along tasks, then items in random order, then pairs in a separate order for each item: the
    number of battles of an item, and of a task, differs from its expected value by less than one. `by_task` gives every
    task its share of the items.
    """
    if size < 1:
        raise UserError("The budget is zero: nothing to ask.", hint="Give a budget of at least one vote.")
    if by_task:
        weights = _by_task(weights, pool.task)
    order = np.lexsort((rng.permutation(pool.n_items), pool.task))
    # with one order of pairs for all items, a step that divides the number of pairs would always pick the same pair
    inner = np.argsort(rng.random(weights.shape, dtype=np.float32), axis=1)
    flat = np.take_along_axis(weights[order], inner, axis=1).ravel()
    usable = np.flatnonzero(flat > 0)
    if usable.size == 0:
        raise UserError(
            "There is no battle left to ask: each was given to people already, by any campaign, or passes no gate.",
            hint=f"`{command_line('campaign status')}` shows what is asked already; --tau and --delta loosen the "
            "gates.",
        )
    chance = _inclusion(flat[usable], min(size, usable.size))
    ends = np.cumsum(chance)
    ticks = rng.random() + np.arange(round(float(ends[-1])))
    positions = np.minimum(np.searchsorted(ends, ticks, side="right"), usable.size - 1)
    positions = np.unique(positions)
    cells = usable[positions]
    pairs = pool.left.size
    return Batch(order[cells // pairs].astype(np.int64), inner.ravel()[cells].astype(np.int64), chance[positions])


def _by_task(weights: FloatArray, task: IntArray) -> FloatArray:
    total = np.bincount(task, weights.sum(axis=1))
    items = np.bincount(task, minlength=total.size).astype(np.float64)
    share = np.divide(items, total, out=np.zeros_like(items), where=total > 0)
    return np.asarray(weights * share[task][:, None])


def _inclusion(weights: FloatArray, size: int) -> FloatArray:
    """Return (k,) probabilities of being drawn that add up to `size`, none above 1."""
    sure = np.zeros(weights.size, bool)
    chance = np.zeros(weights.size)
    while True:
        left = size - int(sure.sum())
        chance = np.where(sure, 1.0, left * weights / max(float(weights[~sure].sum()), 1e-300))
        over = (chance > 1) & ~sure
        if not over.any():
            return chance
        sure |= over
