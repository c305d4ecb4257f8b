"""Figures of models with several samples per item: pass@k, best of k, spread, cost and time per success.

Each figure is the ratio of two sums over items, so that one pass over the bootstrap rounds is enough for all of them.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import lru_cache

import numpy as np
from numpy.typing import ArrayLike, NDArray

from imarena.core import Document, FloatArray, IntArray
from imarena.stats.bootstrap import resampled_counts, with_interval
from imarena.stats.figure import Figure, undefined_figure

NO_THRESHOLD = "no score is known from which an output counts as a success"
NO_SUCCESS = "no sample succeeded"


@dataclass(frozen=True)
class ModelSamples:
    """s samples of one model, each for one of u units (an item, or one of its turns); units belong to m items.

    A sample without an output has the score NaN and is not a success.
    """

    unit: IntArray
    unit_item: IntArray
    """(u,) the item of each unit."""
    score: FloatArray
    """(s,) higher is better."""
    success: NDArray[np.bool_] | None
    """(s,) None if no threshold is known."""
    cost: FloatArray
    """(s,) US dollars, including failed attempts; NaN if the cost of the output is not stored."""
    seconds: FloatArray
    unasked: IntArray = field(default_factory=lambda: np.zeros(0, np.int64))
    """Items of units that the model was not asked for, if these count as failures."""

    @property
    def numbers(self) -> IntArray:
        """(u,) samples per unit."""
        return np.bincount(self.unit, minlength=self.unit_item.size)


@dataclass(frozen=True)
class SampleFigures(Document):
    """The figures of one model. `pass_at` and `best_of` by k."""

    model: str
    items: int
    """Number of units."""
    samples: int
    failed: int
    """Samples that were requested but have no output."""
    successes: int | None
    pass_at: dict[int, Figure]
    best_of: dict[int, Figure]
    spread: Figure
    cost_usd_per_success: Figure
    seconds_per_success: Figure


@dataclass(frozen=True)
class _Ratio:
    """A figure as the ratio of two sums over items: `top` (m,) and `bottom` (m,)."""

    figure: Figure
    top: FloatArray
    bottom: FloatArray


def pass_at_k(samples: IntArray, successes: IntArray, k: int) -> FloatArray:
    """(u,) 1 - C(n - c, k) / C(n, k): the probability that any of k samples from n, of which c succeed, succeeds.

    NaN with fewer than k samples.
    """
    n, failures = samples.astype(np.float64), (samples - successes).astype(np.float64)
    none = np.ones(n.shape)
    for draw in range(k):
        with np.errstate(invalid="ignore", divide="ignore"):
            none *= np.maximum(failures - draw, 0) / (n - draw)
    return np.where(samples >= k, 1 - none, np.nan)


def best_of_k(scores: ArrayLike, failed: int, k: int) -> float:
    """The mean of the best score over all choices of k samples that contain at least one score.

    `failed` samples have no score: they can be drawn but are never the best. NaN with fewer than k samples, or if none
    has a score.
    """
    ordered = np.sort(np.asarray(scores, np.float64))
    if ordered.size + failed < k or not ordered.size:
        return math.nan
    return float(ordered @ _chances_of_best(ordered.size, failed, k))


@lru_cache(4096)
def _chances_of_best(scored: int, failed: int, k: int) -> FloatArray:
    """(scored,) the probability that each score, lowest first, is the best of a choice with at least one score."""
    choices = math.comb(scored + failed, k) - math.comb(failed, k)
    return np.array([math.comb(failed + below, k - 1) / choices for below in range(scored)])


def sample_sizes(most: int) -> tuple[int, ...]:
    """The values of k for pass@k and best of k: 1, 2, 4, ... and the number of samples."""
    return (*(2**power for power in range(most.bit_length()) if 2**power < most), most)


def sample_figures(
    models: dict[str, ModelSamples],
    ks: Sequence[int],
    *,
    items: int,
    lower_is_better: bool = False,
    rounds: int,
    seed: int,
    level: float,
) -> list[SampleFigures]:
    """The figures of each model, with intervals from `rounds` resamples of the same `items` items for all of them.

    Units with fewer than k samples are left out of the figures for k; `n` is the number that remains. With
    `lower_is_better`, scores must be negated, and best of k is negated back.
    """
    ratios = {name: _ratios(samples, ks, items, -1.0 if lower_is_better else 1.0) for name, samples in models.items()}
    figures = iter(_with_intervals([ratio for group in ratios.values() for ratio in group], items, rounds, seed, level))
    rows = []
    for name, samples in models.items():
        pass_at = {k: next(figures) for k in ks}
        best_of = {k: next(figures) for k in ks}
        rows.append(
            SampleFigures(
                name,
                items=int((samples.numbers > 0).sum()) + samples.unasked.size,
                samples=samples.unit.size,
                failed=int(np.isnan(samples.score).sum()),
                successes=None if samples.success is None else int(samples.success.sum()),
                pass_at=pass_at,
                best_of=best_of,
                spread=next(figures),
                cost_usd_per_success=next(figures),
                seconds_per_success=next(figures),
            )
        )
    return rows


def _ratios(samples: ModelSamples, ks: Sequence[int], items: int, sign: float) -> list[_Ratio]:
    """All figures in the order of `SampleFigures`: pass@k, best of k, spread, cost, seconds."""
    order = np.lexsort((samples.score, samples.unit))
    starts = np.searchsorted(samples.unit[order], np.arange(1, samples.unit_item.size))
    by_unit = [part[np.isfinite(part)] for part in np.split(samples.score[order], starts)]
    failed = samples.numbers - np.array([part.size for part in by_unit], np.int64)
    figures = [_pass_ratio(samples, k, items) for k in ks]
    for k in ks:
        pairs = zip(by_unit, failed.tolist(), strict=True)
        best = np.array([best_of_k(part, lost, k) for part, lost in pairs]) * sign
        reason = f"no item has {k} samples and a score"
        figures.append(_mean(f"best of {k}", "mean best score of k samples", best, samples.unit_item, items, reason))
    spread = np.array([part.std(ddof=1) if part.size > 1 else math.nan for part in by_unit])
    figures.append(
        _mean(
            "spread", "mean standard deviation within items", spread, samples.unit_item, items, "no item has 2 scores"
        )
    )
    for name, values in (("cost per success", samples.cost), ("seconds per success", samples.seconds)):
        figures.append(_per_success(name, values, samples, items))
    return figures


def _pass_ratio(samples: ModelSamples, k: int, items: int) -> _Ratio:
    name, method = f"pass@{k}", "1 - C(n - c, k) / C(n, k), mean over items"
    if samples.success is None:
        return _undefined(name, method, NO_THRESHOLD, items)
    won = np.bincount(samples.unit[samples.success], minlength=samples.unit_item.size)
    if not (samples.numbers >= k).any():  # items that were not asked for are not enough for a figure
        return _undefined(name, method, f"no item has {k} samples", items)
    values = np.append(pass_at_k(samples.numbers, won, k), np.zeros(samples.unasked.size))
    at = np.append(samples.unit_item, samples.unasked)
    return _mean(name, method, values, at, items, f"no item has {k} samples")


def _mean(name: str, method: str, values: FloatArray, item: IntArray, items: int, reason: str) -> _Ratio:
    """The mean of the defined values over units."""
    rows = np.isfinite(values)
    if not rows.any():
        return _undefined(name, method, reason, items)
    figure = Figure(name, float(values[rows].mean()), int(rows.sum()), method)
    return _Ratio(figure, _sums(item[rows], values[rows], items), _sums(item[rows], np.ones(figure.n), items))


def _per_success(name: str, values: FloatArray, samples: ModelSamples, items: int) -> _Ratio:
    method, noun = "total of all samples / number of successes", name.partition(" ")[0].replace("seconds", "time")
    unknown = int(np.isnan(values).sum())
    if unknown:
        amount = "" if unknown == values.size else f" for {unknown} of {values.size} samples"
        return _undefined(name, method, f"no {noun} is stored{amount}", items)
    if samples.success is None or not samples.success.any():
        return _undefined(name, method, NO_THRESHOLD if samples.success is None else NO_SUCCESS, items)
    item = samples.unit_item[samples.unit]
    won = int(samples.success.sum())
    figure = Figure(name, float(values.sum()) / won, won, method)
    return _Ratio(figure, _sums(item, values, items), _sums(item, samples.success.astype(np.float64), items))


def _sums(item: IntArray, values: FloatArray, items: int) -> FloatArray:
    """(m,) the sum of the values of each item."""
    return np.bincount(item, values, items).astype(np.float64)


def _undefined(name: str, method: str, reason: str, items: int) -> _Ratio:
    return _Ratio(undefined_figure(name, reason, n=0, method=method), np.zeros(items), np.zeros(items))


def _with_intervals(ratios: Sequence[_Ratio], items: int, rounds: int, seed: int, level: float) -> list[Figure]:
    if not rounds or not ratios:
        return [ratio.figure for ratio in ratios]
    top, bottom = (np.column_stack([getattr(ratio, side) for ratio in ratios]) for side in ("top", "bottom"))
    with np.errstate(invalid="ignore", divide="ignore"):
        draws = np.concatenate([(b @ top) / (b @ bottom) for b in resampled_counts(items, rounds, seed)])
    method = f"items, {rounds} rounds, seed {seed}"
    return [
        ratio.figure if ratio.figure.value is None else with_interval(ratio.figure, column, level, what=method)
        for ratio, column in zip(ratios, draws.T, strict=True)
    ]
