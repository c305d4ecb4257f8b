"""Ratings in long form: who gave which unit which value. The input of everything about agreement."""

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from imarena.core import FloatArray, IntArray

Scale = Literal["number", "order", "label", "pair"]

NO_PAIR = "no unit has two ratings"

DECIMALS = 9
"""Values are rounded to this before they are ranked or told apart: the mean of three numbers added in another order
differs in the last bit, and that would break a tie."""


def round_values(values: ArrayLike) -> FloatArray:
    """The values at nine decimals, so that float noise breaks no tie (and -0.0 is 0.0)."""
    return np.asarray(np.round(np.asarray(values, dtype=np.float64), DECIMALS) + 0.0, dtype=np.float64)


def check_columns(first: NDArray[Any], second: NDArray[Any]) -> None:
    """Raise unless both are one column, of the same length."""
    if first.shape != second.shape or first.ndim != 1:
        raise ValueError(f"two columns of one length are needed, got {first.shape} and {second.shape}")


def finite_pairs(left: ArrayLike, right: ArrayLike) -> tuple[FloatArray, FloatArray]:
    """Two columns (n,) without the rows in which a value is missing or infinite."""
    first, second = np.asarray(left, np.float64), np.asarray(right, np.float64)
    check_columns(first, second)
    both = np.isfinite(first) & np.isfinite(second)
    return first[both], second[both]


@dataclass(frozen=True)
class Tallies:
    """Counts of raters by unit and value, kept sparse: `unit`, `category`, `count` are (cells,)."""

    unit: IntArray
    category: IntArray
    count: FloatArray
    n_units: int
    n_values: int

    def by_unit(self, weights: FloatArray) -> FloatArray:
        """Sum a (cells,) column within units: (n_units,)."""
        return np.asarray(np.bincount(self.unit, weights=weights, minlength=self.n_units), dtype=np.float64)

    def by_value(self, weights: FloatArray) -> FloatArray:
        """Ratings of each value where unit u counts weights[r, u] times: (rounds, n_units) to (rounds, n_values)."""
        return np.array(
            [
                np.bincount(self.category, weights=row[self.unit] * self.count, minlength=self.n_values)
                for row in weights
            ]
        )


@dataclass(frozen=True)
class Ratings:
    """N ratings of `n_units` units by `n_raters` raters; a pair that is not there is missing.

    `unit`, `rater`: (N,) codes from 0; `value`: (N,) finite numbers. `scale` says what the values are: numbers, places
    in an order, codes of labels that have no order, or outcomes of votes on pairs (`pair_votes.PAIR_CODES`).
    """

    unit: IntArray
    rater: IntArray
    value: FloatArray
    n_units: int
    n_raters: int
    scale: Scale = "number"

    @property
    def n_missing(self) -> int:
        """Cells of the units-by-raters table that hold no rating."""
        return self.n_units * self.n_raters - len(self.value)

    def sizes(self) -> IntArray:
        """How many ratings each unit has: (n_units,)."""
        return np.bincount(self.unit, minlength=self.n_units).astype(np.int64)

    def categories(self) -> tuple[FloatArray, IntArray]:
        """The different values in order (k,), rounded, and the place of each rating among them (N,)."""
        values, category = np.unique(round_values(self.value), return_inverse=True)
        return values, category.astype(np.int64)

    def tallies(self) -> Tallies:
        """How many raters gave a unit a value, one row for each unit and value that occur together."""
        values, category = self.categories()
        cells, counts = np.unique(self.unit * max(len(values), 1) + category, return_counts=True)
        unit, kind = np.divmod(cells, max(len(values), 1))
        return Tallies(unit, kind, counts.astype(np.float64), self.n_units, len(values))

    def others_equal(self) -> IntArray:
        """For each rating, how many other ratings of its unit are equal to it: (N,)."""
        values, category = self.categories()
        cells = self.unit * max(len(values), 1) + category
        _, where, counts = np.unique(cells, return_inverse=True, return_counts=True)
        return np.asarray(counts[where] - 1, dtype=np.int64)

    def means_of_others(self) -> FloatArray:
        """For each rating, the mean of the other ratings of its unit, rounded; NaN where it is alone: (N,)."""
        sums = np.bincount(self.unit, weights=self.value, minlength=self.n_units)
        others = self.sizes()[self.unit] - 1
        return round_values(np.where(others > 0, (sums[self.unit] - self.value) / np.maximum(others, 1), np.nan))

    def means_without(self, rater: int) -> FloatArray:
        """Each unit's mean rating without one rater, rounded; NaN where nobody is left: (n_units,)."""
        kept = self.rater != rater
        sums = np.bincount(self.unit[kept], weights=self.value[kept], minlength=self.n_units)
        counts = np.bincount(self.unit[kept], minlength=self.n_units)
        return round_values(np.where(counts > 0, sums / np.maximum(counts, 1), np.nan))

    def rows_by_rater(self) -> list[IntArray]:
        """The row numbers of each rater's ratings, in the order of the raters' codes."""
        order = np.argsort(self.rater, kind="stable").astype(np.int64)
        ends = np.cumsum(np.bincount(self.rater, minlength=self.n_raters))
        return np.split(order, ends[:-1]) if self.n_raters else []

    def matrix(self) -> FloatArray:
        """(n_units, n_raters), rounded, with NaN where a rating is missing."""
        table = np.full((self.n_units, self.n_raters), np.nan)
        table[self.unit, self.rater] = round_values(self.value)
        return table

    def pairable(self) -> "Ratings":
        """Only units with two ratings or more, and units numbered anew."""
        kept = self.sizes()[self.unit] >= 2
        units, codes = np.unique(self.unit[kept], return_inverse=True)
        return Ratings(
            codes.astype(np.int64), self.rater[kept], self.value[kept], len(units), self.n_raters, self.scale
        )


def from_matrix(values: ArrayLike, *, scale: Scale = "number") -> Ratings:
    """Ratings from a (units, raters) table with NaN where a rating is missing."""
    table = np.asarray(values, dtype=np.float64)
    if table.ndim != 2:
        raise ValueError(f"expected a (units, raters) table, got shape {table.shape}")
    unit, rater = np.nonzero(~np.isnan(table))
    value = table[unit, rater]
    return Ratings(unit.astype(np.int64), rater.astype(np.int64), value, table.shape[0], table.shape[1], scale)


def from_columns(
    units: Sequence[Hashable], raters: Sequence[Hashable], values: ArrayLike, *, scale: Scale = "number"
) -> tuple[Ratings, list[Any], list[Any]]:
    """Ratings from three columns of one length, and the names of units and raters in the order of their codes.

    A NaN value is a missing rating; its unit and its rater still count. The codes follow the sorted names, so that the
    order of rows changes nothing.
    """
    unit_names = sorted(set(units), key=str)
    rater_names = sorted(set(raters), key=str)
    unit_code = {name: code for code, name in enumerate(unit_names)}
    rater_code = {name: code for code, name in enumerate(rater_names)}
    unit = np.array([unit_code[name] for name in units], dtype=np.int64)
    rater = np.array([rater_code[name] for name in raters], dtype=np.int64)
    value = np.asarray(values, dtype=np.float64)
    known = ~np.isnan(value)
    cells = unit[known] * len(rater_names) + rater[known]
    if len(np.unique(cells)) < len(cells):
        raise ValueError("a rater rated one unit twice")
    ratings = Ratings(unit[known], rater[known], value[known], len(unit_names), len(rater_names), scale)
    return ratings, unit_names, rater_names
