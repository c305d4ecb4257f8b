"""Worlds for `imarena simulate`: recorded scores and ratings, or a judge and raters of given reliability."""

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from imarena.core import FloatArray, UserError, unknown_name
from imarena.judges import range_of
from imarena.stats import PAPER_RANGE, ScoreRange, observed_range


@dataclass(frozen=True)
class World:
    """N items, m models, P pairs, R raters. `scores` (N, m); `votes` (R, N, P) points of the left model, NaN if that
    rater did not see both; `truth` (N, P) people's joint verdict: 1, 0 or -1; `task` (N,) codes.
    """

    models: tuple[str, ...]
    scores: FloatArray
    votes: FloatArray
    truth: FloatArray
    task: NDArray[np.int64]
    tasks: tuple[str, ...] = ("",)
    strengths: FloatArray | None = None
    """(m,) if known: in simulated worlds."""
    score_range: ScoreRange | None = None
    """Lowest and highest score of the judge; None: taken from the scores."""

    @property
    def range(self) -> ScoreRange:
        """The range in which gaps, bands and threshold shifts are expressed."""
        return self.score_range or observed_range(self.scores)

    @property
    def sides(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """(P,) models of each pair."""
        left, right = np.triu_indices(len(self.models), 1)
        return left.astype(np.int64), right.astype(np.int64)

    @property
    def gap(self) -> FloatArray:
        """(N, P) left score minus right score."""
        left, right = self.sides
        return self.scores[:, left] - self.scores[:, right]

    @property
    def lower(self) -> FloatArray:
        """(N, P) the lower score of the two."""
        left, right = self.sides
        return np.minimum(self.scores[:, left], self.scores[:, right])

    def ask(self, item: NDArray[np.int64], pair: NDArray[np.int64], rng: np.random.Generator) -> FloatArray:
        """(k,) points from one rater per battle, chosen at random among those who saw it."""
        votes = self.votes[:, item, pair]
        keys = np.where(np.isfinite(votes), rng.random(votes.shape), -1.0)
        return np.asarray(votes[keys.argmax(axis=0), np.arange(item.size)])


def recorded_world(
    scores: Path, ratings: Path, judge: str | None = None, score_range: ScoreRange | None = None
) -> World:
    """Build a world from judge scores (unit, model, judge, score) and people's ratings (unit, model, rater, value).

    A rater prefers the output with the higher rating; equal ratings are a tie.
    """
    from imarena.agreement import ratings_from_file, scores_from_file

    judged, rated = scores_from_file(scores), ratings_from_file(ratings)
    names = sorted(set(judged.judge))
    if judge is None and len(names) > 1:
        raise UserError(f"{scores} holds {len(names)} judges.", hint=f"Choose one with --judge: {', '.join(names)}.")
    judge_name = judge or names[0]
    if judge_name not in names:
        raise unknown_name("No scores of a judge", judge_name, names)
    if "model" not in rated.labels:
        raise UserError(f"{ratings} has no column 'model'.", hint="Ratings need unit, model, rater and value.")
    world = _make_world(judged, rated, judge_name)
    return replace(world, score_range=range_of(judge_name, world.scores, score_range).range)


def _make_world(judged: Any, rated: Any, judge: str) -> World:
    rows = [row for row, name in enumerate(judged.judge) if name == judge]
    models = sorted({judged.labels["model"][row] for row in rows} & set(rated.labels["model"]))
    units = sorted(set(rated.unit) & {judged.unit[row] for row in rows})
    raters = sorted(set(rated.rater))
    if len(models) < 2 or len(units) < 4:
        raise UserError(
            f"Scores and ratings share {len(models)} models and {len(units)} units.",
            hint="Units and models must be named alike in both tables.",
        )
    at_unit, at_model = {u: n for n, u in enumerate(units)}, {m: n for n, m in enumerate(models)}
    at_rater = {r: n for n, r in enumerate(raters)}
    table = np.full((len(units), len(models)), np.nan)
    for row in rows:
        unit, model, score = judged.unit[row], judged.labels["model"][row], judged.score[row]
        if unit in at_unit and model in at_model and score is not None:
            table[at_unit[unit], at_model[model]] = score
    values = np.full((len(raters), len(units), len(models)), np.nan)
    for unit, rater, value, model in zip(rated.unit, rated.rater, rated.value, rated.labels["model"], strict=True):
        if unit in at_unit and model in at_model and value is not None:
            values[at_rater[rater], at_unit[unit], at_model[model]] = float(value)
    return world_of(tuple(models), table, values)


def world_of(models: tuple[str, ...], scores: FloatArray, values: FloatArray) -> World:
    """Build a world from scores (N, m) and ratings (R, N, m). Differences are rounded, lest float noise decide."""
    left, right = np.triu_indices(len(models), 1)
    lead = np.round(values[:, :, left] - values[:, :, right], 9)
    with np.errstate(invalid="ignore"):
        votes = np.where(np.isfinite(lead), 0.5 + 0.5 * np.sign(lead), np.nan)
        counted = np.isfinite(lead).sum(axis=0)
        mean = np.where(np.isfinite(lead), lead, 0.0).sum(axis=0) / np.maximum(counted, 1)
    return World(models, scores, votes, np.sign(np.round(mean, 9)), np.zeros(len(scores), np.int64))


def simulated_world(
    *,
    n_models: int = 21,
    n_items: int = 400,
    n_raters: int = 3,
    bias: float = 0.3,
    spread: float = 0.8,
    seed: int = 0,
) -> World:
    """Simulate a judge that agrees with people as in CV-Arena table 5 and favours some models.

    Strengths are N(0, spread^2) in log odds. Every output has a quality: its model's strength plus noise of the item.
    Raters vote by Bradley-Terry on the qualities. The judge's score (0 to 1000) is the quality on its scale, with an
    error on each output and a bias per model of N(0, (bias * SLOPE)^2) points.
    """
    rng = np.random.default_rng(seed)
    strengths = np.sort(rng.normal(0, spread, n_models))[::-1]
    quality = strengths[None, :] + rng.normal(0, 0.8, (n_items, n_models))
    favour = rng.normal(0, bias, n_models) * SLOPE
    scores = np.clip(500.0 + SLOPE * quality + rng.normal(0, NOISE, quality.shape) + favour[None, :], 0, 1000)
    left, right = np.triu_indices(n_models, 1)
    chance = 0.5 + 0.5 * np.tanh(0.5 * SHARPNESS * (quality[:, left] - quality[:, right]))
    votes = (rng.random((n_raters, *chance.shape)) < chance).astype(np.float64)
    truth = np.sign(votes.mean(axis=0) - 0.5)
    names = tuple(f"model-{n + 1:02d}" for n in range(n_models))
    return World(names, scores, votes, truth, np.zeros(n_items, np.int64), strengths=strengths, score_range=PAPER_RANGE)


SHARPNESS = 2.0
"""How reliably a rater sees a quality difference of 1."""
SLOPE, NOISE = 110.0, 70.0
"""Score points for a quality of 1, and the judge's error per output. Without bias they give agreement of .57, .69, .83,
.96 in the bands of table 5 (printed: .563, .691, .835, .948) and fractions of .22, .21, .32, .25 (printed: .182, .246,
.314, .258)."""
