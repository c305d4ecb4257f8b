"""Agreement among raters: takes columns, returns one frozen `Agreement`.

`measure_agreement` does not depend on files or stores: `columns.ratings_from_file` fills `RatingColumns` from a table,
and any other source can do the same.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from imarena.agreement.columns import RatingColumns, check_groups, group_rows
from imarena.agreement.folds import LeaveOneOut
from imarena.agreement.rater_figures import Agreement, AverageAgreement, GroupAgreement, RaterAgreement
from imarena.core import ROUNDS, SEED, FloatArray, UserError, command_line
from imarena.core.notices import Notice
from imarena.core.records import JsonDict
from imarena.stats import (
    MEASUREMENT_LEVELS,
    PAIR_CODES,
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
"""Flags of a rater that deserve a notice."""
IDENTITY = ("model", "task")
"""Columns that, besides `unit`, distinguish two rated things."""


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
    """Return agreement among raters per criterion and per group of the columns in `by`.

    A unit is identified by `unit` and, if given, `model` and `task`. `order` lists the values from worst to best if
    they are ordered words. Intervals of alpha: percentile bootstrap over units, `rounds` and `seed`.
    """
    if not len(columns):
        raise UserError(
            f"There are no ratings in {columns.source}.",
            hint="A ratings table (--from) has columns unit, rater, value; a workspace gets ratings and votes by"
            f" `{command_line('import')}` or a campaign.",
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
        labels = dict(zip(keys, key, strict=True))
        criterion = labels.pop("criterion", None)
        options = {"rounds": rounds, "seed": seed, "leave_one_out": leave_one_out, "recipe": recipe, "pairs": pairs}
        group = _group(ratings, tuple(map(str, raters)), criterion, labels, options)
        groups.append(replace(group, n_missing=_missing(columns, rows, units, values)))
        reports += [
            RaterAgreement(str(raters[report.rater]), criterion, labels, report) for report in rater_reports(ratings)
        ]
    settings = {
        "source": columns.source, "by": list(by), "unit": ["unit", *identity], "scale": scale, "rounds": rounds,
        "seed": seed, "confidence": 0.95, "average": recipe, "round_decimals": 9,
        "overall": columns.rule or None, "interval": "percentile bootstrap over units",
    }  # fmt: skip
    averages = tuple(_averages(groups, recipe)) if leave_one_out else ()
    return Agreement(settings, len(columns), tuple(groups), averages, tuple(reports), tuple(_notices(groups, reports)))


def _missing(columns: RatingColumns, rows: Sequence[int], units: Sequence[tuple[str, ...]], values: FloatArray) -> int:
    """How many ratings are missing if raters rate every unit of their tasks (without tasks: every unit)."""
    tasks = columns.labels.get("task")
    expected: dict[str, tuple[set[tuple[str, ...]], set[str]]] = {}
    for row in rows:
        of_task = expected.setdefault("" if tasks is None else tasks[row], (set(), set()))
        of_task[0].add(units[row])
        of_task[1].add(columns.rater[row])
    known = sum(not np.isnan(values[row]) for row in rows)
    return sum(len(rated) * len(raters) for rated, raters in expected.values()) - known


def _group(
    ratings: Ratings, raters: tuple[str, ...], criterion: str | None, group: dict[str, str], options: dict[str, Any]
) -> GroupAgreement:
    rounds, seed = options["rounds"], options["seed"]
    numeric = ratings.scale in ("number", "order")
    return GroupAgreement(
        criterion,
        group,
        {level: krippendorff_alpha(ratings, level, rounds=rounds, seed=seed) for level in MEASUREMENT_LEVELS},
        fleiss_kappa(ratings),
        pairwise_agreement(ratings),
        percent_agreement(ratings),
        ratings.n_units,
        ratings.n_raters,
        ratings.n_missing,
        raters,
        LeaveOneOut(human_folds(ratings, recipe=options["recipe"]), raters, "ratings as given")
        if options["leave_one_out"] and numeric
        else None,
        tuple(rater_pairs(ratings)) if options["pairs"] else (),
    )


def _numbers(columns: RatingColumns, order: Sequence[str]) -> tuple[Any, Any]:
    """Return values as floats (NaN is missing) and their kind: numbers, places in `order`, labels, or vote outcomes."""
    cells = list(columns.value)
    if columns.votes:
        if order:
            raise UserError("Votes on pairs have no order.", hint="--order is for ratings that are words.")
        return np.array([np.nan if cell is None else PAIR_CODES[str(cell)] for cell in cells]), "pair"
    if order:
        ranks = {_word(word): float(rank) for rank, word in enumerate(order)}
        unknown = [(row, cell) for row, cell in enumerate(cells) if cell is not None and _word(cell) not in ranks]
        if unknown:
            row, cell = unknown[0]
            raise UserError(
                f"{columns.source}, row {row + 1}: value '{cell}' is not in the order {', '.join(order)}.",
                hint="Name every value in --order, from worst to best.",
            )
        return np.array([np.nan if cell is None else ranks[_word(cell)] for cell in cells]), "order"
    if any(isinstance(cell, str) for cell in cells):
        words = sorted({str(cell) for cell in cells if cell is not None})
        codes = {word: float(code) for code, word in enumerate(words)}
        return np.array([np.nan if cell is None else codes[str(cell)] for cell in cells]), "label"
    return np.array([np.nan if cell is None else cell for cell in cells], dtype=np.float64), "number"


def _word(cell: object) -> str:
    """Format a value as a person would write it: 1.0 is "1"."""
    try:
        number = float(str(cell))
    except ValueError:
        return str(cell)
    return f"{number:g}"


def _refuse_repeats(columns: RatingColumns, units: Sequence[tuple[str, ...]]) -> None:
    criteria = columns.labels.get("criterion", [""] * len(columns))
    first_rows: dict[tuple[Any, ...], int] = {}
    for row, cell in enumerate(zip(units, columns.rater, criteria, strict=True)):
        if first_rows.setdefault(cell, row) != row:
            raise UserError(
                f"{columns.source}, row {row + 1}: rater '{columns.rater[row]}' rated '{columns.unit[row]}' already in "
                f"row {first_rows[cell] + 1}.",
                hint="Keep one rating for each unit and rater; a model, task or criterion column distinguishes units.",
            )


def _averages(groups: Sequence[GroupAgreement], recipe: Recipe) -> Iterable[AverageAgreement]:
    for criterion in dict.fromkeys(group.criterion for group in groups):
        folds = [group.leave_one_out.folds for group in groups if group.criterion == criterion and group.leave_one_out]
        rho = average([fold.spearman.value for fold in folds], recipe=recipe)
        accuracy = average([fold.kendall_accuracy.value for fold in folds], recipe="plain")
        yield AverageAgreement(criterion, recipe, rho, accuracy)


def _notices(groups: Sequence[GroupAgreement], reports: Sequence[RaterAgreement]) -> Iterable[Notice]:
    for group in groups:
        if group.status == "undefined":
            reason = group.alpha["nominal"].reason
            yield Notice(
                code="alpha_undefined", values={"group": _name(group.criterion, group.group), "reason": reason}
            )
    for report in reports:
        name = _name(report.criterion, report.group)
        for flag in report.report.flags:
            if flag in STANDS_OUT:
                agreement = report.report.with_others.value
                values: JsonDict = {"group": name, "rater": report.rater, "flag": flag, "agreement": agreement}
                yield Notice(code="rater_stands_out", values=values)


def _name(criterion: str | None, group: Mapping[str, str]) -> str:
    return ", ".join([*([criterion] if criterion else []), *group.values()]) or "all ratings"
