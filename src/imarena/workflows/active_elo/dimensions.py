"""Route: CV-Judge's four dimensions: means of the best (CV-Arena table 6), scores under other weights (table 10)."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from sqlalchemy import select

from imarena.core import FloatArray
from imarena.judges import DIMENSIONS, WEIGHTS, combine_dimensions
from imarena.storage import Workspace, reading
from imarena.storage.schema import judgments
from imarena.workflows.boards import VoteData, fetch_rows

WEIGHTINGS = {
    "default": WEIGHTS,
    "uniform": (0.25, 0.25, 0.25, 0.25),
    "edit-heavy": (0.15, 0.40, 0.30, 0.15),
}
"""Semantic, editing, prompt, perceptual weights: the three settings of CV-Arena table 10."""


def dimension_scores(workspace: Workspace, vote_data: VoteData) -> dict[str, FloatArray]:
    """Return (N, m) scores on every dimension that the judge gives, NaN for none.

    The newest judgment counts; for a repeated question, the mean.
    """
    where = {bytes(name).decode(): cell for cell, name in np.ndenumerate(vote_data.output) if name}
    with reading(workspace.store.engine) as connection:
        rows = fetch_rows(
            connection,
            select(judgments.c.left_id, judgments.c.repeat, judgments.c.body)
            .where(
                judgments.c.judge == vote_data.judge, judgments.c.dimension == "overall", judgments.c.status == "ok",
                judgments.c.right_id.is_(None),
            )
            .order_by(judgments.c.seq),
        )  # fmt: skip
    answers: dict[tuple[tuple[int, ...], int], dict[str, float]] = {}
    for left_id, repeat, body in rows:
        cell = where.get(left_id)
        if cell is not None and '"scores"' in body:
            answers[cell, repeat] = json.loads(body).get("scores", {})
    sums: dict[str, FloatArray] = {}
    counts: dict[str, FloatArray] = {}
    for (cell, _), scores in answers.items():
        for name, value in scores.items():
            sums.setdefault(name, np.zeros(vote_data.output.shape))[cell] += value
            counts.setdefault(name, np.zeros(vote_data.output.shape))[cell] += 1
    return {
        name: np.divide(total, counts[name], out=np.full(total.shape, np.nan), where=counts[name] > 0)
        for name, total in sums.items()
    }


def cv_dimensions(tables: dict[str, FloatArray]) -> FloatArray | None:
    """Return (N, m, 4) CV-Judge's dimensions; None if the judge does not give all four."""
    return np.stack([tables[name] for name in DIMENSIONS], axis=2) if set(DIMENSIONS) <= tables.keys() else None


@dataclass(frozen=True, slots=True)
class DimensionMeans:
    """A model's mean score on every dimension, over its outputs that have this dimension; None without any."""

    model: str
    n: int
    """Number of outputs with a score on any dimension."""
    means: Mapping[str, float | None]

    def to_json(self) -> dict[str, Any]:
        """For ``--json``."""
        return {"model": self.model, "n": self.n, **self.means}


def means_by_model(tables: dict[str, FloatArray], vote_data: VoteData, best: list[str]) -> tuple[DimensionMeans, ...]:
    """Return the means on every dimension for the best models; an output may lack a dimension that it does not need."""
    rows = []
    for model in best:
        columns = {name: table[:, vote_data.pool.models.index(model)] for name, table in tables.items()}
        finite = {name: column[np.isfinite(column)] for name, column in columns.items()}
        scored = np.any([np.isfinite(column) for column in columns.values()], axis=0)
        means = {name: float(values.mean()) if values.size else None for name, values in finite.items()}
        rows.append(DimensionMeans(model, int(scored.sum()), means))
    return tuple(rows)


def weighted_scores(table: FloatArray, weights: tuple[float, float, float, float]) -> FloatArray:
    """Return (N, m) scores under these weights, including caps; NaN if a dimension is missing. `table` (N, m, 4)."""
    scores = np.full(table.shape[:2], np.nan)
    for cell in zip(*np.nonzero(np.isfinite(table).all(axis=2)), strict=True):
        sem, edit, prompt, perceptual = (float(value) for value in table[cell])
        scores[cell] = combine_dimensions(sem, edit, prompt, perceptual, weights).score
    return scores
