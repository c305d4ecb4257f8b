"""Boards by maximum likelihood: Bradley-Terry, Davidson, the rater-aware mixture."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from imarena.core import FloatArray, IntArray, UserError
from imarena.core.notices import Notice
from imarena.core.records import JsonDict
from imarena.ranking.battles import Battles, CodedColumn, scale_weights
from imarena.ranking.boards.board import Result
from imarena.ranking.boards.board_settings import board_settings
from imarena.ranking.boards.intervals import present_ends
from imarena.ranking.likelihood.fit import RUNAWAY, STRENGTH_PRIOR, Fit, fit_board, runs_away
from imarena.ranking.likelihood.likelihoods import NO_AUX, Aux, BradleyTerry, Davidson, Likelihood, Mixture, sigmoid
from imarena.ranking.likelihood.mixture import expectation_maximisation, reliability_groups
from imarena.ranking.likelihood.pair_counts import PairCells, battle_cells, cell_of, count_pairs, counts_by_pair
from imarena.ranking.likelihood.replicate import Replicates, replicate
from imarena.ranking.likelihood.sandwich import model_covariance, sandwich
from imarena.ranking.likelihood.separation import describe, unbounded_models
from imarena.ranking.options import Options
from imarena.ranking.resample import (
    TOO_NARROW,
    BattleParts,
    Units,
    battle_units,
    cluster_notices,
    default_cluster,
    grouped_units,
    one_unit,
)

MOST_NAMED = 5
"""Number of models that a notice names."""
EM_STEPS = 20
"""Steps of expectation maximisation; Newton's method then finishes the fit and gives the curvature."""
LIKELIHOODS: dict[str, Likelihood] = {"bt": BradleyTerry(), "davidson": Davidson(), "mixture": Mixture()}


@dataclass(frozen=True)
class PreparedMethod:
    """A method prepared for fitting: its cells, groups and extra parameters."""

    likelihood: Likelihood
    cells: PairCells
    group: CodedColumn | None
    aux: Aux
    coefficient_names: tuple[str, ...]
    coefficient_scale: FloatArray
    """(p,) what the covariates were divided by."""
    notices: tuple[Notice, ...] = ()


def model_board(battles: Battles, options: Options) -> Result:
    """Fit and resample a board, and record how it was done."""
    battles, uneven = _in_battles(battles)
    setup, base, aux, steps = _fitted(_setup(battles, options), _anchors(battles, options), options)
    notices = [*uneven, *setup.notices, *describe(setup.cells, base.blocks, battles.models)]
    if not base.blocks.placed:
        notices.append(Notice(code="weak_prior"))
    if not base.converged:
        notices.append(Notice(code="not_converged", values={"iterations": base.solution.iterations}))
    costly = battles.covariates is not None or options.method == "mixture"
    interval = options.interval or ("sandwich" if costly else "bootstrap")
    cluster = options.cluster or default_cluster(battles)
    alone = interval != "none" and options.cluster is None and one_unit(battles, cluster)
    settings = _settings(options, "none" if alone else interval, cluster)
    details: JsonDict = {
        "converged": base.converged,
        "iterations": base.solution.iterations,
        "log_likelihood": base.solution.value,
        **steps,
    }
    centre = _Centre(base, options)
    if alone:  # resampling its battles would say nothing about other items
        settings |= {"cluster": cluster, "units": 1}
    if alone or interval == "none" or (interval == "bootstrap" and options.rounds == 0):
        details.update(_extras(setup, options, base, None))
        return Result(centre.point, None, settings, details, tuple(notices), fixed=centre.fixed)
    units = _units(battles, setup, options, cluster)
    settings["units"] = units.total
    notices += cluster_notices(battles, cluster, units.total)
    if interval == "sandwich":
        return _with_sandwich(setup, options, base, units, centre, battles.models, settings, details, notices)
    rounds = replicate(base, units, aux, rounds=options.rounds, seed=options.seed)
    settings["draw"] = "multinomial" if units.exact else "poisson"
    details["rounds_fitted_alone"] = rounds.alone
    if rounds.with_prior:
        details["rounds_with_prior"] = rounds.with_prior
        values: JsonDict = {"rounds": rounds.with_prior, "of": options.rounds}
        notices.append(Notice(code="rounds_with_prior", values=values))
    draws = _widened(base, centre, centre.draws(rounds.theta), options, battles.models, notices)
    details.update(_extras(setup, options, base, rounds))
    return Result(
        centre.point,
        draws,
        settings,
        details,
        tuple(notices),
        fixed=centre.fixed,
        unbounded=centre.unbounded,
        blocks=base.blocks.of,
    )


def _fitted(
    setup: PreparedMethod, anchors: FloatArray | None, options: Options
) -> tuple[PreparedMethod, Fit, Aux, JsonDict]:
    """The fit of all battles, the extra parameters that it began with, and details about its steps."""
    start, aux = None, setup.aux
    steps: JsonDict = {}
    if options.method == "mixture":
        start, q, iterations = expectation_maximisation(
            setup.cells, aux, anchors=anchors, limit=EM_STEPS, tolerance=1e-3
        )
        with np.errstate(divide="ignore"):
            aux = replace(aux, start=np.where(aux.free, np.log(q / (1 - q)), aux.start))
        steps["em_iterations"] = iterations
    base = fit_board(setup.cells, setup.likelihood, aux=aux, anchors=anchors, start=start)
    if base.beta.size and (not base.converged or float(np.abs(base.beta).max()) > RUNAWAY):
        base = fit_board(setup.cells, setup.likelihood, aux=aux, anchors=anchors, start=start, coefficient_prior=1.0)
        setup = replace(setup, notices=(*setup.notices, Notice(code="coefficient_unbounded")))
    if options.method == "mixture" and runs_away(base):
        base = fit_board(setup.cells, setup.likelihood, aux=setup.aux, anchors=anchors, strength_prior=STRENGTH_PRIOR)
        setup = replace(setup, notices=(*setup.notices, Notice(code="strength_unbounded")))
    return setup, base, aux, steps


class _Centre:
    """Converts strengths to ratings: the mean of each island's reference models is the centre, or anchors fix it."""

    def __init__(self, base: Fit, options: Options) -> None:
        self.options, self.base = options, base
        anchored = base.parameter < 0
        self.fixed: NDArray[np.bool_] | None = anchored if anchored.any() else None
        self.anchored: NDArray[np.bool_] = np.isin(base.blocks.island, base.blocks.island[anchored])
        self.unbounded = unbounded_models(base.cells, base.blocks)
        self.loose: NDArray[np.bool_] = np.isin(np.arange(base.theta.size), [*self.unbounded])
        self.point = self.draws(base.theta[None, :])[0]

    def draws(self, theta: FloatArray) -> FloatArray:
        """Ratings from strengths (R, m)."""
        if self.fixed is None:
            theta = self.base.blocks.centred(theta)
        elif not self.anchored.all():
            theta = np.where(self.anchored, theta, self.base.blocks.centred(theta))
        return np.asarray(self.options.centre + self.options.per_log * theta)

    def covariance(self, covariance: FloatArray) -> FloatArray:
        """The covariance of ratings from that of strengths (m, m)."""
        if not self.anchored.all():
            blocks = self.base.blocks
            beside = blocks.reference & (blocks.island[:, None] == blocks.island)  # (m, m) the row's reference models
            share = np.where(self.anchored[:, None], 0.0, beside / beside.sum(axis=1, keepdims=True))
            turn = np.eye(share.shape[0]) - share
            covariance = turn @ covariance @ turn.T
        return covariance * self.options.per_log**2


def _widened(
    base: Fit, centre: _Centre, draws: FloatArray, options: Options, names: Sequence[str], notices: list[Notice]
) -> FloatArray:
    """If resampling shows no variation (ties only, one battle), use the model's own uncertainty instead."""
    variance = _lacking(base, centre, draws.var(axis=0))
    flat = variance > 0
    if flat.any():
        rng = np.random.default_rng([options.seed, 1])
        draws = draws + np.sqrt(variance) * rng.standard_normal(draws.shape)
        if (flat | centre.loose).all():  # no interval is left that comes from resampling
            notices[:] = [notice for notice in notices if notice.code != TOO_NARROW]
        notices += _from_model(flat & ~centre.loose, names)
    return draws


def _from_model(flat: NDArray[np.bool_], names: Sequence[str]) -> list[Notice]:
    if not flat.any():
        return []
    first = [names[model] for model in np.flatnonzero(flat)[:MOST_NAMED]]
    values: JsonDict = {"models": int(flat.sum()), "of": flat.size, "names": [*first]}
    return [Notice(code="intervals_from_model", values=values)]


def _lacking(base: Fit, centre: _Centre, variance: FloatArray) -> FloatArray:
    """(m,) how far a variance falls short of the model's own, for models that resampling does not inform about; else 0.

    These are models without any variation, and models that only tied: those follow their opponents in every round.
    """
    by_model = np.maximum(np.diag(centre.covariance(model_covariance(base))), 0.0)
    cells = base.cells
    decided = cells.counts[:, 0] + cells.counts[:, 2]
    only_ties = (
        np.bincount(cells.left, decided, cells.n_models) + np.bincount(cells.right, decided, cells.n_models) == 0
    )
    return np.where(only_ties | (variance < 0.05**2 * by_model), np.maximum(by_model - variance, 0.0), 0.0)


def _with_sandwich(
    setup: PreparedMethod,
    options: Options,
    base: Fit,
    units: Units,
    centre: _Centre,
    names: Sequence[str],
    settings: JsonDict,
    details: JsonDict,
    notices: list[Notice],
) -> Result:
    from scipy.special import ndtri

    theta, beta = sandwich(base, units)
    covariance = centre.covariance(theta)
    variance = _lacking(base, centre, np.diag(covariance))
    flat = variance > 0
    if flat.any():
        covariance = covariance + np.diag(variance)
        notices += _from_model(flat & ~centre.loose, names)
    z = float(ndtri((1 + options.level) / 2))
    half = z * np.sqrt(np.maximum(np.diag(covariance), 0.0))
    values, vectors = np.linalg.eigh(covariance)
    draws = None
    if options.rounds:  # ranks and differences need draws; the intervals themselves do not
        noise = np.random.default_rng(options.seed).standard_normal((options.rounds, centre.point.size))
        draws = centre.point + (noise * np.sqrt(np.maximum(values, 0.0))) @ vectors.T
    error = np.sqrt(np.maximum(np.diag(beta), 0.0)) if beta.size else np.empty(0)
    details.update(_extras(setup, options, base, None, error * z))
    ends = (centre.point - half, centre.point + half)
    return Result(
        centre.point,
        draws,
        settings,
        details,
        tuple(notices),
        ends,
        covariance,
        centre.fixed,
        centre.unbounded,
        base.blocks.of,
    )


def _in_battles(battles: Battles) -> tuple[Battles, tuple[Notice, ...]]:
    """Scale the weights, with a notice if few battles have most of the weight."""
    scaled = scale_weights(battles)
    if scaled.weight is None:
        return battles, ()
    worth, n = float(scaled.weight.sum()), len(battles)
    uneven = Notice(code="weights_uneven", values={"battles": n, "worth": worth})
    return scaled, (uneven,) if worth < 0.1 * n else ()


def _setup(battles: Battles, options: Options) -> PreparedMethod:
    likelihood = LIKELIHOODS[options.method]
    aux = NO_AUX
    notices: tuple[Notice, ...] = ()
    group = battles.dimension if options.method == "davidson" or options.dimension_weight == "balanced" else None
    if options.method == "mixture":
        groups = reliability_groups(battles, options.mixture)
        group, aux, notices = groups.groups, groups.aux, groups.notices
    cells, names, scale = _cells(battles, options, group)
    if options.dimension_weight == "balanced" and battles.dimension is not None and options.method != "mixture":
        total = np.bincount(cells.group, cells.counts.sum(axis=1))
        cells = replace(cells, factor=(total.mean() / np.maximum(total, 1e-300))[cells.group])
    if options.method == "davidson":
        names_of = group.names if group else ("all",)
        blank = Aux(np.zeros(len(names_of)), np.zeros(len(names_of), bool), np.zeros((2, len(names_of))))
        aux = likelihood.ready(blank, cells)
        notices = _loose_ties(aux, names_of)
    return PreparedMethod(likelihood, cells, group, aux, names, scale, notices)


def _cells(
    battles: Battles, options: Options, group: CodedColumn | None
) -> tuple[PairCells, tuple[str, ...], FloatArray]:
    if battles.covariates is None:
        plain = group is None and battles.weight is None and not options.position
        cells = counts_by_pair(battles) if plain else count_pairs(battles, group=group, sided=options.position)
        if not options.position:
            return cells, (), np.empty(0)
        return replace(cells, covariates=np.ones((cells.left.size, 1))), ("position",), np.ones(1)
    scale = battles.covariates.std(axis=0)
    flat = [name for name, spread in zip(battles.covariate_names, scale, strict=True) if spread == 0]
    if flat:
        raise UserError(f"Covariate '{flat[0]}' is the same in every battle.", hint="Leave it out.")
    columns, names = battles.covariates / scale, battles.covariate_names
    if options.position:
        columns = np.column_stack([np.ones(len(battles)), columns])
        names, scale = ("position", *names), np.concatenate([[1.0], scale])
    return battle_cells(battles, group=group, covariates=columns), names, scale


def _loose_ties(aux: Aux, names: tuple[str, ...]) -> tuple[Notice, ...]:
    loose = aux.prior.any(axis=0)
    return tuple(Notice(code="tie_parameter_unbounded", values={"dimension": names[g]}) for g in np.flatnonzero(loose))


def _anchors(battles: Battles, options: Options) -> FloatArray | None:
    if not options.anchors:
        return None
    anchors = np.array([options.anchors.get(model, np.nan) for model in battles.models])
    if not np.isfinite(anchors).any():
        raise UserError("No anchored model has a battle here.", hint="Anchors must be named as in the battles.")
    return (anchors - options.centre) / options.per_log


def _units(battles: Battles, setup: PreparedMethod, options: Options, cluster: str) -> Units:
    codes = {"item": battles.item, "rater": battles.rater, "battle": None}[cluster]
    if cluster != "battle" and codes is None:
        raise UserError(f"Resampling by {cluster} needs the column '{cluster}'.", hint="Or use --cluster battle.")
    if codes is None and battles.weight is None and battles.covariates is None:
        return battle_units(setup.cells.counts)
    if codes is not None and codes.n_units <= 1:
        raise UserError(f"There is only one {cluster}: nothing to resample.", hint="Use --cluster battle.")
    n = len(battles)

    def entry(begin: int, end: int) -> IntArray:
        if battles.covariates is not None:
            return np.arange(begin, end) * 3 + battles.outcome[begin:end]
        return cell_of(battles, setup.cells, begin, end, group=setup.group, sided=options.position)

    def unit(begin: int, end: int) -> IntArray:
        return np.arange(begin, end) if codes is None else codes.units(begin, end)

    parts = BattleParts(n, entry, unit, battles.weight)
    return grouped_units(parts, n if codes is None else codes.n_units, setup.cells.counts.size)


def _settings(options: Options, interval: str, cluster: str) -> JsonDict:
    ties = {"bt": "half a win each", "davidson": "tie parameter per dimension", "mixture": "half a win each"}
    written: JsonDict = {
        "ties": ties[options.method], "interval": interval, "position": options.position,
        "dimension_weight": options.dimension_weight, "anchors": dict(options.anchors),
    }  # fmt: skip
    if interval != "none":
        written["cluster"] = cluster
    if interval == "bootstrap":
        written["rounds"] = options.rounds
    unused = {"cluster", "rounds"} if interval == "none" else set()
    if options.method != "mixture":
        return board_settings(options, written, unused=unused)
    written["reliability"], written["q_human"] = options.mixture.reliability, options.mixture.q_human
    unused |= set() if options.mixture.reliability == "gap" else {"gap_bins"}
    return board_settings(options, written, options.mixture, unused=unused)


def _extras(
    setup: PreparedMethod, options: Options, base: Fit, rounds: Replicates | None, half: FloatArray | None = None
) -> JsonDict:
    """Coefficients, tie parameters and reliabilities, with their intervals."""
    ends = [(1 - options.level) / 2, (1 + options.level) / 2]
    details: JsonDict = {}
    if setup.coefficient_names:
        limits: Any = [[None, None]] * base.beta.size
        if rounds is not None:
            limits = present_ends(*(np.quantile(rounds.beta, ends, axis=0, method="weibull") * options.per_log))
        elif half is not None:
            limits = present_ends((base.beta - half) * options.per_log, (base.beta + half) * options.per_log)
        details["coefficients"] = [
            {"name": name, "rating_points": float(value * options.per_log), "low": low, "high": high, "per": float(per)}
            for name, value, (low, high), per in zip(
                setup.coefficient_names, base.beta, limits, setup.coefficient_scale, strict=True
            )
        ]
    if setup.likelihood.has_aux:
        key, to_value = ("ties", np.exp) if options.method == "davidson" else ("reliability", sigmoid)
        names = setup.group.names if setup.group else ("all",)
        aux_ends: Any = (
            None if rounds is None else present_ends(*np.quantile(to_value(rounds.aux), ends, axis=0, method="weibull"))
        )
        details[key] = [
            {
                "group": names[g],
                "value": float(to_value(base.aux[g : g + 1])[0]),
                "low": None if aux_ends is None or not base.aux_free[g] else aux_ends[g][0],
                "high": None if aux_ends is None or not base.aux_free[g] else aux_ends[g][1],
                "battles": float(setup.cells.counts[setup.cells.group == g].sum()),
            }
            for g in range(base.aux.size)
        ]
    return details
