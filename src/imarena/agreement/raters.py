"""Agreement among raters: columns in, one frozen `Agreement` out.

`measure_agreement` does not depend on files or stores: `columns.ratings_from_file` fills `RatingColumns` from a plain
table, and any other source can do the same.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from imarena.agreement.columns import RatingColumns, check_groups, group_rows
from imarena.core import ROUNDS, SEED, UserError
from imarena.core.notices import Notice, notice_fields
from imarena.stats import (
    LEVELS,
    PAIR_CODES,
    Figure,
    Folds,
    RaterPair,
    RaterReport,
    Ratings,
    Recipe,
    average,
    fleiss_kappa,
    from_columns,
    human_folds,
    krippendorff_alpha,
    pairwise_agreement,
    percent_agreement,
    rater_pairs,
    rater_reports,
)

STANDS_OUT = ("constant", "backwards", "out_of_step")
"""Flags of a rater that are worth a notice."""
IDENTITY = ("model", "task")
"""Columns that, beside `unit`, tell two rated things apart."""


@dataclass(frozen=True)
class GroupAgreement:
    """One criterion in one group: every figure, with status and reason."""

    criterion: str | None
    group: dict[str, str]
    alpha: dict[str, Figure]
    fleiss_kappa: Figure
    pairwise_agreement: Figure
    percent_agreement: Figure
    n_units: int
    n_raters: int
    n_missing: int
    raters: tuple[str, ...]
    leave_one_out: Folds | None = None
    rater_pairs: tuple[RaterPair, ...] = ()

    def figures(self) -> dict[str, Figure]:
        """Every figure by its place in the document."""
        alphas = {f"alpha.{level}": figure for level, figure in self.alpha.items()}
        others = (self.fleiss_kappa, self.pairwise_agreement, self.percent_agreement)
        return alphas | {figure.name: figure for figure in others}

    @property
    def reasons(self) -> dict[str, str]:
        """Why a figure is undefined, by its place in the document."""
        return {place: figure.reason for place, figure in self.figures().items() if figure.value is None}

    @property
    def status(self) -> str:
        """``ok``; ``undefined`` where no alpha exists; ``partial`` where some figure does not."""
        if all(figure.value is None for figure in self.alpha.values()):
            return "undefined"
        return "partial" if self.reasons else "ok"

    def to_json(self) -> dict[str, Any]:
        """Plain values for JSON: the contract's names first."""
        reasons = self.reasons
        document: dict[str, Any] = {
            "criterion": self.criterion,
            "group": self.group,
            "alpha": {level: figure.value for level, figure in self.alpha.items()},
            "alpha_interval": {level: _interval(figure) for level, figure in self.alpha.items()},
            "fleiss_kappa": self.fleiss_kappa.value,
            "pairwise_agreement": self.pairwise_agreement.value,
            "percent_agreement": self.percent_agreement.value,
            "n_units": self.n_units,
            "n_raters": self.n_raters,
            "n_missing": self.n_missing,
            "status": self.status,
            "reason": "; ".join(dict.fromkeys(reasons.values())) or None,
            "reasons": reasons,
            "methods": {place: figure.method for place, figure in self.figures().items()},
        }
        if self.leave_one_out is not None:
            document["leave_one_out"] = folds_document(self.leave_one_out, self.raters, bias_scale="ratings as given")
        if self.rater_pairs:
            document["rater_pairs"] = [_pair_document(pair, self.raters) for pair in self.rater_pairs]
        return document


@dataclass(frozen=True)
class Agreement:
    """Agreement per criterion and group, the settings that made it, and what is odd about raters."""

    settings: dict[str, Any]
    n_ratings: int
    groups: tuple[GroupAgreement, ...]
    averages: tuple[dict[str, Any], ...]
    raters: tuple[dict[str, Any], ...]
    notices: tuple[Notice, ...]

    def to_json(self) -> dict[str, Any]:
        """Plain values for JSON."""
        return {
            "settings": self.settings,
            "n_ratings": self.n_ratings,
            "groups": [group.to_json() for group in self.groups],
            "averages": list(self.averages),
            "raters": list(self.raters),
            **notice_fields(self.notices),
        }


def measure_agreement(
    columns: RatingColumns,
    *,
    by: Sequence[str] = (),
    rounds: int = ROUNDS,
    seed: int = SEED,
    order: Sequence[str] = (),
    leave_one_out: bool = False,
    recipe: Recipe = "fisher",
    pairs: bool = False,
) -> Agreement:
    """Agreement among raters per criterion and per group of the columns in `by`.

    A unit is told apart by `unit` and, where they are given, `model` and `task`. `order` names the values from worst to
    best where they are words with an order. Intervals of alpha: percentile bootstrap over units, `rounds` and `seed`.
    """
    if not len(columns):
        raise UserError(
            f"{columns.source} holds no ratings.",
            hint="A ratings table (--from) has columns unit, rater, value; a workspace gets ratings and votes by"
            " `imarena import` or a campaign.",
        )
    values, scale = _numbers(columns, order)
    by = [name for name in by if name != "criterion"]  # a criterion always splits
    check_groups(columns.labels, by, columns.source)
    keys = [name for name in ("criterion", *by) if name in columns.labels]
    identity = [name for name in IDENTITY if name in columns.labels]
    units = list(zip(columns.unit, *(columns.labels[name] for name in identity), strict=True))
    _refuse_repeats(columns, units)
    groups, reports = [], []
    for key, rows in group_rows([columns.labels[name] for name in keys], len(columns)):
        ratings, _, raters = from_columns(
            [units[row] for row in rows], [columns.rater[row] for row in rows], values[rows], scale=scale
        )
        named = dict(zip(keys, key, strict=True))
        criterion = named.pop("criterion", None)
        options = {"rounds": rounds, "seed": seed, "leave_one_out": leave_one_out, "recipe": recipe, "pairs": pairs}
        groups.append(_group(ratings, tuple(map(str, raters)), criterion, named, options))
        reports += [_report(report, raters, criterion, named) for report in rater_reports(ratings)]
    settings = {
        "source": columns.source, "by": list(by), "unit": ["unit", *identity], "scale": scale, "rounds": rounds,
        "seed": seed, "confidence": 0.95, "average": recipe, "round_decimals": 9,
        "overall": columns.rule or None, "interval": "percentile bootstrap over units",
    }  # fmt: skip
    averages = tuple(_averages(groups, recipe)) if leave_one_out else ()
    return Agreement(settings, len(columns), tuple(groups), averages, tuple(reports), tuple(_notices(groups, reports)))


def folds_document(folds: Folds, raters: Sequence[str], *, bias_scale: str | None) -> dict[str, Any]:
    """Leave-one-out folds as plain values; `raters` in the order of the folds.

    `bias_scale` says on which scale a bias is; None where judge and people share none, and then there is no bias.
    """
    known = bias_scale is not None
    return {
        "spearman": folds.spearman.value,
        "spearman_spread": folds.spearman_spread,
        "kendall_accuracy": folds.kendall_accuracy.value,
        "kendall_accuracy_spread": folds.kendall_accuracy_spread,
        "bias": folds.bias if known else None,
        "bias_spread": folds.bias_spread if known else None,
        "bias_scale": bias_scale,
        "method": folds.method,
        "average": folds.spearman.method,
        "spread": "population standard deviation over folds",
        "reason": folds.spearman.reason or None,
        "folds": [
            {
                "left_out": raters[fold.rater],
                "n": fold.n,
                "spearman": fold.spearman.value,
                "kendall_accuracy": fold.kendall_accuracy.value,
                "bias": fold.bias if known else None,
                "reason": fold.spearman.reason or None,
            }
            for fold in folds.folds
        ],
    }


def _group(
    ratings: Ratings, raters: tuple[str, ...], criterion: str | None, group: dict[str, str], options: dict[str, Any]
) -> GroupAgreement:
    rounds, seed = options["rounds"], options["seed"]
    numeric = ratings.scale in ("number", "order")
    return GroupAgreement(
        criterion,
        group,
        {level: krippendorff_alpha(ratings, level, rounds=rounds, seed=seed) for level in LEVELS},
        fleiss_kappa(ratings),
        pairwise_agreement(ratings),
        percent_agreement(ratings),
        ratings.n_units,
        ratings.n_raters,
        ratings.n_missing,
        raters,
        human_folds(ratings, recipe=options["recipe"]) if options["leave_one_out"] and numeric else None,
        tuple(rater_pairs(ratings)) if options["pairs"] else (),
    )


def _numbers(columns: RatingColumns, order: Sequence[str]) -> tuple[Any, Any]:
    """Values as floats (NaN is missing) and what they are: numbers, places in `order`, labels, or outcomes of votes."""
    given = list(columns.value)
    if columns.votes:
        if order:
            raise UserError("Votes on pairs have no order.", hint="--order is for ratings that are words.")
        return np.array([np.nan if cell is None else PAIR_CODES[str(cell)] for cell in given]), "pair"
    if order:
        places = {_word(word): float(place) for place, word in enumerate(order)}
        unknown = [(row, cell) for row, cell in enumerate(given) if cell is not None and _word(cell) not in places]
        if unknown:
            row, cell = unknown[0]
            raise UserError(
                f"{columns.source}, row {row + 1}: value '{cell}' is not in the order {', '.join(order)}.",
                hint="Name every value in --order, from worst to best.",
            )
        return np.array([np.nan if cell is None else places[_word(cell)] for cell in given]), "order"
    if any(isinstance(cell, str) for cell in given):
        words = sorted({str(cell) for cell in given if cell is not None})
        codes = {word: float(code) for code, word in enumerate(words)}
        return np.array([np.nan if cell is None else codes[str(cell)] for cell in given]), "label"
    return np.array([np.nan if cell is None else cell for cell in given], dtype=np.float64), "number"


def _word(cell: object) -> str:
    """A value as a person writes it: 1.0 is "1"."""
    try:
        number = float(str(cell))
    except ValueError:
        return str(cell)
    return f"{number:g}"


def _refuse_repeats(columns: RatingColumns, units: Sequence[tuple[str, ...]]) -> None:
    criteria = columns.labels.get("criterion", [""] * len(columns))
    seen: dict[tuple[Any, ...], int] = {}
    for row, cell in enumerate(zip(units, columns.rater, criteria, strict=True)):
        if seen.setdefault(cell, row) != row:
            raise UserError(
                f"{columns.source}, row {row + 1}: rater '{columns.rater[row]}' rated '{columns.unit[row]}' already in "
                f"row {seen[cell] + 1}.",
                hint="Keep one rating for each unit and rater; a model, task or criterion column tells units apart.",
            )


def _averages(groups: Sequence[GroupAgreement], recipe: Recipe) -> Iterable[dict[str, Any]]:
    for criterion in dict.fromkeys(group.criterion for group in groups):
        folds = [group.leave_one_out for group in groups if group.criterion == criterion and group.leave_one_out]
        rho = average([fold.spearman.value for fold in folds], recipe=recipe)
        accuracy = average([fold.kendall_accuracy.value for fold in folds], recipe="plain")
        yield {
            "criterion": criterion, "recipe": recipe, "recipe_words": rho.method, "n_groups": rho.n,
            "leave_one_out": {
                "spearman": rho.value, "kendall_accuracy": accuracy.value, "reason": rho.reason or None,
            },
        }  # fmt: skip


def _report(report: RaterReport, raters: Sequence[Any], criterion: str | None, group: dict[str, str]) -> dict[str, Any]:
    return {
        "rater": str(raters[report.rater]), "criterion": criterion, "group": group, "n": report.n,
        "n_shared": report.n_shared, "with_others": report.with_others.value, "measure": report.with_others.method,
        "mean_shift": report.mean_shift, "most_common_share": report.most_common_share, "flags": list(report.flags),
    }  # fmt: skip


def _interval(figure: Figure) -> dict[str, Any] | None:
    if figure.value is None:
        return None
    return {"low": figure.low, "high": figure.high, "reason": figure.interval_reason or None}


def _pair_document(pair: RaterPair, raters: Sequence[str]) -> dict[str, Any]:
    return {
        "raters": [raters[pair.left], raters[pair.right]], "n": pair.n, "agreement": pair.agreement.value,
        "cohen_kappa": pair.kappa.value, "cohen_kappa_linear": pair.linear.value,
        "cohen_kappa_quadratic": pair.quadratic.value, "reason": pair.kappa.reason or None,
    }  # fmt: skip


def _notices(groups: Sequence[GroupAgreement], reports: Sequence[dict[str, Any]]) -> Iterable[Notice]:
    for group in groups:
        if group.status == "undefined":
            reason = group.alpha["nominal"].reason
            yield Notice(
                code="alpha_undefined", values={"group": _name(group.criterion, group.group), "reason": reason}
            )
    for report in reports:
        name = _name(report["criterion"], report["group"])
        for flag in report["flags"]:
            if flag in STANDS_OUT:
                yield Notice(code="rater_stands_out", values={"group": name, "rater": report["rater"], "flag": flag})


def _name(criterion: str | None, group: Mapping[str, str]) -> str:
    return ", ".join([*([criterion] if criterion else []), *group.values()]) or "all ratings"
