"""Battles as arrays, the input of every ranking method."""

from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from imarena.core import CodeArray, FloatArray, IntArray, UserError
from imarena.core.notices import left_out_texts
from imarena.tables import build_column, row_slices, used_codes

OutcomeArray: TypeAlias = NDArray[np.int8]

LEFT_WINS, TIED, RIGHT_WINS = 0, 1, 2
"""Outcome codes: the left side wins, a tie, the right side wins."""


@dataclass(frozen=True)
class CodedColumn:
    """A text column as codes: `of[k]` is the index of row k's text in `names`."""

    of: CodeArray
    names: tuple[str, ...]
    unnamed: int | None = None
    """The code of rows without a name."""

    @cached_property
    def n_unnamed(self) -> int:
        """How many rows have no name. Cached, because it is needed for every part of the rows."""
        if self.unnamed is None:
            return 0
        return sum(int(np.count_nonzero(self.of[rows] == self.unnamed)) for rows in row_slices(self.of.size))

    @cached_property
    def _unit_of_code(self) -> IntArray:
        """(names,) the cluster number of each name that occurs."""
        used = used_codes(len(self.names), self.of)
        if self.unnamed is not None:
            used[self.unnamed] = False
        return np.cumsum(used) - 1

    @property
    def n_units(self) -> int:
        """Number of clusters."""
        return int(self._unit_of_code.max(initial=-1)) + 1 + self.n_unnamed

    def units(self, begin: int = 0, end: int | None = None) -> IntArray:
        """(n,) the cluster of each row, or of some rows, from 0. Rows without a name are clusters after the others."""
        return self._units[begin:end] if self.n_unnamed else self._unit_of_code[self.of[begin:end]]

    @cached_property
    def _units(self) -> IntArray:
        unit_of_code, free = self._unit_of_code, self.n_units - self.n_unnamed

        def units(rows: slice) -> IntArray:
            nonlocal free
            clusters, alone = unit_of_code[self.of[rows]], np.flatnonzero(self.of[rows] == self.unnamed)
            clusters[alone] = np.arange(free, free + alone.size)
            free += alone.size
            return clusters

        return build_column(self.of.size, np.int64, units)

    def part(self, rows: NDArray[np.bool_]) -> "CodedColumn":
        """The column for some of the rows."""
        return replace(self, of=self.of[rows])


@dataclass(frozen=True)
class Battles:
    """n battles among m models. Contains only ok verdicts; the code that builds it counts what is left out.

    `left`, `right` (n,) are indices into `models`, which are sorted by name so that no result depends on the order of
    rows. `outcome` (n,) is LEFT_WINS, TIED or RIGHT_WINS. `weight` (n,) scales a battle's whole contribution.
    """

    models: tuple[str, ...]
    left: CodeArray
    right: CodeArray
    outcome: OutcomeArray
    weight: FloatArray | None = None
    item: CodedColumn | None = None
    rater: CodedColumn | None = None
    dimension: CodedColumn | None = None
    judged: NDArray[np.bool_] | None = None
    """(n,) True if a machine gave the verdict; None if the source is unknown."""
    score_left: FloatArray | None = None
    score_right: FloatArray | None = None
    """(n,) the judge's scores; NaN if missing."""
    covariates: FloatArray | None = None
    """(n, p) left minus right."""
    covariate_names: tuple[str, ...] = ()
    excluded: dict[str, int] = field(default_factory=dict)
    """Number of rows left out, by reason."""
    unranked: tuple[str, ...] = ()
    """Models whose rows were all left out."""
    computed: dict[str, Any] = field(default_factory=dict, init=False, repr=False, compare=False)
    """Cache of results that several steps need; a changed copy starts with an empty one."""

    def __post_init__(self) -> None:
        if len(self.models) < 2 or self.left.size == 0:
            raise UserError(
                "There is nothing to rank: no battle between two models is left.",
                hint=f"Check the winner column. Left out: {'; '.join(left_out_texts(self.excluded))}."
                if self.excluded
                else "The table needs rows with two different models: columns left, right and winner.",
            )

    @cached_property
    def of_people(self) -> "Battles":
        """Sides and outcomes of the battles that people decided; all battles if the source is unknown or the same."""
        if self.judged is None or self.judged.all() or not self.judged.any():
            return self
        people = ~self.judged
        return Battles(self.models, self.left[people], self.right[people], self.outcome[people])

    def __len__(self) -> int:
        return int(self.left.size)

    @property
    def points(self) -> FloatArray:
        """(n,) the left side's share of the win: 1, 0.5 or 0."""
        return np.asarray(1.0 - self.outcome * 0.5, dtype=np.float64)


COLUMNS = (
    "left", "right", "outcome", "weight", "item", "rater", "dimension", "judged", "score_left", "score_right",
    "covariates",
)  # fmt: skip
"""The fields of `Battles` with one value per battle."""


@dataclass(frozen=True)
class ModelTally:
    """Per model: unweighted numbers of battles, wins, losses and ties (m,)."""

    battles: FloatArray
    wins: FloatArray
    losses: FloatArray
    ties: FloatArray


def scale_weights(battles: Battles) -> Battles:
    """Scale weights so that they sum to the number of equal battles with the same information (Kish 1965).

    Only the ratio of weights is meaningful. Without this, a table whose weights sum to 1 would look like one battle
    to everything that counts battles: the weak priors and the model's own error.
    """
    if battles.weight is None:
        return battles
    relative = battles.weight / battles.weight.max()
    return replace(battles, weight=relative * (relative.sum() / (relative**2).sum()))
