"""Ratings in long form (who gave which unit which value), the input of all agreement figures."""

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from imarena.core import FloatArray, IntArray

Scale = Literal["number", "order", "label", "pair"]

NO_PAIR = "no unit has two ratings"

DECIMALS = 9
"""Values are rounded to this many decimals before they are ranked or compared: the mean of three numbers depends in its
last bit on the order of addition, which would break a tie."""


def round_values(values: ArrayLike) -> FloatArray:
    """The values rounded to nine decimals, so that floating-point noise does not break ties (and -0.0 becomes 0.0)."""
    return np.asarray(np.round(np.asarray(values, dtype=np.float64), DECIMALS) + 0.0, dtype=np.float64)


def check_columns(first: NDArray[Any], second: NDArray[Any]) -> None:
    """Raise unless both are columns of the same length."""
    if first.shape != second.shape or first.ndim != 1:
        raise ValueError(f"two columns of one length are needed, got {first.shape} and {second.shape}")


def finite_pairs(left: ArrayLike, right: ArrayLike) -> tuple[FloatArray, FloatArray]:
    """Two columns (n,) without the rows in which a value is missing or infinite."""
    first, second = np.asarray(left, np.float64), np.asarray(right, np.float64)
    check_columns(first, second)
    finite = np.isfinite(first) & np.isfinite(second)
    return first[finite], second[finite]


@dataclass(frozen=True)
class Tallies:
    """Sparse counts of raters by unit and value: `unit`, `category`, `count` are (cells,)."""

    unit: IntArray
    category: IntArray
    count: FloatArray
    n_units: int
    n_values: int

    def by_unit(self, weights: FloatArray) -> FloatArray:
        """Sum a (cells,) column within units: (n_units,)."""
        return np.asarray(np.bincount(self.unit, weights=weights, minlength=self.n_units), dtype=np.float64)

    def by_value(self, weights: FloatArray) -> FloatArray:
        """Count ratings by value if unit u counts weights[r, u] times: (rounds, n_units) to (rounds, n_values)."""
        return np.array(
            [
                np.bincount(self.category, weights=row[self.unit] * self.count, minlength=self.n_values)
                for row in weights
            ]
        )


@dataclass(frozen=True)
class Ratings:
    """N ratings of `n_units` units by `n_raters` raters; other combinations of unit and rater are missing.

    `unit`, `rater`: (N,) codes from 0; `value`: (N,) finite numbers. `scale` says what the values are: numbers, ordered
    categories, codes of labels without an order, or outcomes of votes on pairs (`pair_votes.PAIR_CODES`).
    """

    unit: IntArray
    rater: IntArray
    value: FloatArray
    n_units: int
    n_raters: int
    scale: Scale = "number"

    @property
    def n_missing(self) -> int:
        """Number of cells without a rating in the units-by-raters table."""
        return self.n_units * self.n_raters - len(self.value)

    def sizes(self) -> IntArray:
        """Number of ratings of each unit: (n_units,)."""
        return np.bincount(self.unit, minlength=self.n_units).astype(np.int64)

    def categories(self) -> tuple[FloatArray, IntArray]:
        """The distinct rounded values in order (k,), and the index of each rating's value (N,)."""
        values, category = np.unique(round_values(self.value), return_inverse=True)
        return values, category.astype(np.int64)

    def tallies(self) -> Tallies:
        """Count the raters that gave a unit a value, with one row per combination of unit and value."""
        values, category = self.categories()
        cells, counts = np.unique(self.unit * max(len(values), 1) + category, return_counts=True)
        unit, kind = np.divmod(cells, max(len(values), 1))
        return Tallies(unit, kind, counts.astype(np.float64), self.n_units, len(values))

    def others_equal(self) -> IntArray:
        """For each rating, the number of equal other ratings of its unit: (N,)."""
        values, category = self.categories()
        cells = self.unit * max(len(values), 1) + category
        _, inverse, counts = np.unique(cells, return_inverse=True, return_counts=True)
        return np.asarray(counts[inverse] - 1, dtype=np.int64)

    def means_of_others(self) -> FloatArray:
        """For each rating, the rounded mean of the other ratings of its unit; NaN if there are none: (N,)."""
        sums = np.bincount(self.unit, weights=self.value, minlength=self.n_units)
        n_others = self.sizes()[self.unit] - 1
        return round_values(np.where(n_others > 0, (sums[self.unit] - self.value) / np.maximum(n_others, 1), np.nan))

    def means_without(self, rater: int) -> FloatArray:
        """Each unit's rounded mean rating without one rater; NaN if nobody else rated it: (n_units,)."""
        mask = self.rater != rater
        sums = np.bincount(self.unit[mask], weights=self.value[mask], minlength=self.n_units)
        counts = np.bincount(self.unit[mask], minlength=self.n_units)
        return round_values(np.where(counts > 0, sums / np.maximum(counts, 1), np.nan))

    def rows_by_rater(self) -> list[IntArray]:
        """The row numbers of each rater's ratings, in the order of the raters' codes."""
        order = np.argsort(self.rater, kind="stable").astype(np.int64)
        ends = np.cumsum(np.bincount(self.rater, minlength=self.n_raters))
        return np.split(order, ends[:-1]) if self.n_raters else []

    def matrix(self) -> FloatArray:
        """The rounded ratings as a table (n_units, n_raters), with NaN for missing ratings."""
        table = np.full((self.n_units, self.n_raters), np.nan)
        table[self.unit, self.rater] = round_values(self.value)
        return table

    def pairable(self) -> "Ratings":
        """Only the units with two or more ratings, renumbered."""
        mask = self.sizes()[self.unit] >= 2
        units, codes = np.unique(self.unit[mask], return_inverse=True)
        return Ratings(
            codes.astype(np.int64), self.rater[mask], self.value[mask], len(units), self.n_raters, self.scale
        )


def from_matrix(values: ArrayLike, *, scale: Scale = "number") -> Ratings:
    """Make ratings from a (units, raters) table with NaN for missing ratings."""
    table = np.asarray(values, dtype=np.float64)
    if table.ndim != 2:
        raise ValueError(f"expected a (units, raters) table, got shape {table.shape}")
    unit, rater = np.nonzero(~np.isnan(table))
    value = table[unit, rater]
    return Ratings(unit.astype(np.int64), rater.astype(np.int64), value, table.shape[0], table.shape[1], scale)


def from_columns(
    units: Sequence[Hashable], raters: Sequence[Hashable], values: ArrayLike, *, scale: Scale = "number"
) -> tuple[Ratings, list[Any], list[Any]]:
    """Make ratings from three columns of equal length; also returns the names of units and raters, by code.

    A NaN value is a missing rating; its unit and its rater still count. Codes follow the sorted names, so that the
    order of rows does not matter.
    """
    unit_names = sorted(set(units), key=str)
    rater_names = sorted(set(raters), key=str)
    unit_code = {name: code for code, name in enumerate(unit_names)}
    rater_code = {name: code for code, name in enumerate(rater_names)}
    unit = np.array([unit_code[name] for name in units], dtype=np.int64)
    rater = np.array([rater_code[name] for name in raters], dtype=np.int64)
    value = np.asarray(values, dtype=np.float64)
    finite = ~np.isnan(value)
    cells = unit[finite] * len(rater_names) + rater[finite]
    if len(np.unique(cells)) < len(cells):
        raise ValueError("a rater rated one unit twice")
    ratings = Ratings(unit[finite], rater[finite], value[finite], len(unit_names), len(rater_names), scale)
    return ratings, unit_names, rater_names
