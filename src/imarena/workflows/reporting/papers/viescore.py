"""ImagenHub and VIEScore: people's ratings by model, raters and judges against people by task, and score gaps."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace

import numpy as np

from imarena.agreement import Alignment, AlignOptions, GroupAlignment, RatingColumns, ScoreColumns, align, take_rows
from imarena.core import UserError, command_line, grouped
from imarena.reports import columns
from imarena.reports.tables import CellValue, Column, Table
from imarena.stats import GapBand, average
from imarena.workflows import studies
from imarena.workflows.reporting.papers.data import NOTHING, Block, PaperData
from imarena.workflows.views import WHOLE

GAPS = (50.0, 100.0, 200.0, 400.0)
"""Edges of the score gaps on a scale of GAP_SCALE."""
GAP_SCALE = 1000.0


def ratings_by_model(data: PaperData) -> Block:
    """ImagenHub's table: for each model, the average of each rater's mean, its spread over raters, kappa and alpha."""
    ratings = studies.ratings_in_workspace(data.workspace, "ratings")[0]
    if not len(ratings) or len(set(ratings.rater)) < 2:
        return NOTHING
    agreed = {
        (group.group["task"], group.group["model"]): group
        for group in studies.agree_on_each([ratings], ("task", "model"), (), (), rounds=0)[0].groups
        if group.criterion == _whole(ratings)
    }
    means = _means_by_rater(ratings)
    criteria = _criteria(ratings)
    rows: list[tuple[CellValue, ...]] = []
    for (task, model), group in sorted(agreed.items()):
        cells: list[CellValue] = [task or "all", model]
        for criterion in criteria:
            values = means.get((task, model, criterion))
            cells += [None, None] if values is None else [float(values.mean()), float(values.std())]
        rows.append((*cells, group.fleiss_kappa.value, group.alpha["ordinal"].value, group.n_units))
    head = [Column("task"), Column("model")]
    for criterion in criteria:
        head += [Column(criterion.replace("_", " "), ".3f"), Column("±", ".3f", key=f"{criterion} ±")]
    head += [Column("kappa", ".4f", "undefined"), Column("alpha", ".4f", "undefined"), Column("outputs", ",")]
    note = (
        "Average of the raters' means, on the raters' scale; ±: standard deviation over raters. kappa (Fleiss) and "
        f"alpha (Krippendorff, ordinal) of {_whole(ratings)}, as `{command_line('agree --by task --by model')}`."
    )
    return Block((Table(tuple(head), tuple(rows), notes=(note,)),))


def _means_by_rater(ratings: RatingColumns) -> dict[tuple[str, str, str], np.ndarray]:
    """Task, model and criterion to the mean rating of each rater."""
    values_by_key: dict[tuple[str, str, str], dict[str, list[float]]] = {}
    names = zip(*(ratings.labels[name] for name in ("task", "model", "criterion")), strict=True)
    for key, rater, value in zip(names, ratings.rater, ratings.value, strict=True):
        if isinstance(value, int | float):
            values_by_key.setdefault(key, {}).setdefault(rater, []).append(float(value))
    return {key: np.array([np.mean(values) for values in by_rater.values()]) for key, by_rater in values_by_key.items()}


def against_people(data: PaperData) -> Block:
    """VIEScore's table: raters and judges against people by task, averaged over models through Fisher's z."""
    ratings, scores = data.ratings_and_scores
    if not len(ratings) or not len(scores):
        return NOTHING
    by_model = align(scores, ratings, AlignOptions(by=("task", "model"), rounds=0))
    pooled = align(scores, ratings, AlignOptions(by=("task",), rounds=0))
    criteria = _criteria(ratings)
    rows: list[tuple[CellValue, ...]] = []
    for task in sorted({group.group["task"] for group in by_model.groups if group.n}):
        groups = [group for group in by_model.groups if group.group["task"] == task and group.n]
        together = {(group.judge, group.criterion): group for group in pooled.groups if group.group["task"] == task}
        rows += _rater_rows(ratings, task, {group.group["model"] for group in groups}, criteria)
        rows += _judge_rows(groups, together, task, criteria)
    titles = [name.replace("_", " ") for name in criteria]
    head = columns(
        "task", "raters or judge", *(Column(name, ".4f", "undefined") for name in titles),
        Column(f"{_whole(ratings).replace('_', ' ')}, all models together", ".4f", "undefined"), Column("models", ","),
        Column("outputs", ","),
    )  # fmt: skip
    notes = (
        "Spearman's rho, averaged over the models through Fisher's z; undefined correlations are left out.",
        "Raters: each rater against the mean of the others, on the models that a judge scored, as "
        f"`{command_line('agree --by model --leave-one-out --only task=TASK --only model=NAME')}`.",
        f"Judges: against the mean of all raters, as `{command_line('align --by model --only task=TASK')}`; a "
        "judge's own mark of "
        "a criterion where it has one.",
        f"All models together: as `{command_line('agree --by task --leave-one-out')}` on the same models, and as "
        f"`{command_line('align --by task')}`.",
    )
    return Block((Table(head, tuple(rows), notes=notes),))


def _rater_rows(
    ratings: RatingColumns, task: str, models: set[str], criteria: Sequence[str]
) -> Iterator[tuple[CellValue, ...]]:
    """Each rater against the mean of the others, on these models; nothing if no output has two raters."""
    labels = zip(ratings.labels["task"], ratings.labels["model"], strict=True)
    part = take_rows(ratings, [row for row, (where, model) in enumerate(labels) if where == task and model in models])
    if len(set(part.rater)) < 2:
        return
    try:
        split, together = (
            studies.agree_on_each([part], by, (), (), rounds=0, leave_one_out=True)[0] for by in (("model",), ())
        )
    except UserError:  # no output has two raters
        return
    averages = {line.criterion: line.spearman.value for line in split.averages}
    about = _whole(ratings)
    pooled = next((group for group in together.groups if group.criterion == about), None)
    folds = pooled.leave_one_out if pooled is not None else None
    yield (
        task or "all", "each rater against the others", *(averages.get(name) for name in criteria),
        folds.folds.spearman.value if folds is not None else None, len(models), pooled.n_units if pooled else 0,
    )  # fmt: skip


def _judge_rows(
    groups: Sequence[GroupAlignment], together: Mapping[tuple[str, str | None], GroupAlignment], task: str,
    criteria: Sequence[str],
) -> Iterator[tuple[CellValue, ...]]:  # fmt: skip
    by_judge: dict[str, dict[str, list[float | None]]] = {}
    for group in groups:
        by_judge.setdefault(group.judge, {}).setdefault(group.criterion or "", []).append(group.spearman)
    about = _about(criteria)
    marks = {f"{judge}: {name}" for judge in by_judge for name in criteria} & by_judge.keys()
    for judge in sorted(by_judge.keys() - marks):
        cells = [average(by_judge.get(f"{judge}: {name}", by_judge[judge]).get(name, [])).value for name in criteria]
        pooled = together.get((judge, about))
        number = len(by_judge[judge].get(about, []))
        rho, outputs = (pooled.spearman, pooled.n) if pooled is not None else (None, 0)
        yield (task or "all", judge, *cells, rho, number, outputs)


def score_gaps(data: PaperData) -> Block:
    """Agreement on the pairs that people decide, by the gap between the judge's two scores on a scale of 0 to 1000."""
    ratings, scores = data.ratings_and_scores
    about = _whole(ratings)
    overall = take_rows(scores, [row for row, name in enumerate(scores.labels.get("criterion", ())) if name == about])
    if not len(overall) or not len(ratings):
        return NOTHING
    widths = _widths(overall)
    stretched = replace(
        overall, scales={},
        score=[
            None if score is None else score * GAP_SCALE / widths[judge]
            for judge, score in zip(overall.judge, overall.score, strict=True)
        ],
    )  # fmt: skip
    alignment: Alignment = align(stretched, ratings, AlignOptions(by=("task",), gaps=GAPS, rounds=0))
    rows = tuple(
        (line.group["task"] or "all", line.judge, *map(_band, line.by_gap), line.n_gap_zero)
        for line in sorted(alignment.pairs, key=lambda line: (line.group["task"], line.judge))
        if sum(band.n for band in line.by_gap) + line.n_gap_zero
    )
    names = [f"{'[' if low else '('}{low:g}, {high:g})" for low, high in zip((0.0, *GAPS), GAPS, strict=False)]
    head = columns("task", "judge", *names, f"{GAPS[-1]:g} and more", Column("gap 0", ","))
    notes = (
        f"Share of pairs on which the output that people rate higher has the higher {about} score, and the number of "
        "pairs. Pairs that people rate as equal are left out. gap 0: pairs with equal scores.",
        f"The columns are gaps between the two scores, with the scale of each judge stretched to 0 to {GAP_SCALE:g}; "
        f"`{command_line('align --by task --gaps')}` uses the judge's own scale.",
    )
    return Block((Table(head, rows, notes=notes),))


def _band(band: GapBand) -> CellValue:
    return None if band.agreement is None else f"{band.agreement:.3f} of {band.n:,}"


def _widths(scores: ScoreColumns) -> dict[str, float]:
    """The width of each judge's scale; if it is not known, of the range of its scores."""
    pairs = zip(scores.judge, scores.score, strict=True)
    scores_of = grouped((judge, score) for judge, score in pairs if score is not None)
    widths = {judge: max(values) - min(values) for judge, values in scores_of.items()}
    widths |= {judge: high - low for judge, (low, high) in scores.scales.items()}
    return {judge: widths.get(judge) or 1.0 for judge in set(scores.judge)}


def _criteria(ratings: RatingColumns) -> list[str]:
    """What people rated; the overall comes last."""
    return sorted(set(ratings.labels["criterion"]), key=lambda name: (name == WHOLE, name))


def _about(criteria: Sequence[str]) -> str:
    return WHOLE if WHOLE in criteria else criteria[0]


def _whole(ratings: RatingColumns) -> str:
    """The overall, or the first criterion if there is none."""
    return _about(_criteria(ratings)) if len(ratings) else WHOLE


MAKERS: dict[str, Callable[[PaperData], Block]] = {
    made.__name__: made for made in (ratings_by_model, against_people, score_gaps)
}
