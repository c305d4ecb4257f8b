"""The figures over samples of a board: pass@k, best of k, spread, cost and seconds per success."""

from collections.abc import Mapping
from typing import Any

from imarena.core import counted
from imarena.core.records import Ranking
from imarena.reports.rank_details import interval_level_text
from imarena.reports.tables import CellValue, Column, Table
from imarena.reports.tables.table import interval

ABSENT = "not available"
_ORIGINS = {
    "option": "--success",
    "settings": "[board] success in imarena.toml",
    "judge": "its threshold of the score; its own success may also need every dimension",
}


def sample_table(ranking: Ranking) -> Table | None:
    """One row per model, in the board's order; None for boards without figures over samples."""
    samples: Any = ranking.details.get("samples")
    if not isinstance(samples, dict):
        return None
    ends = f"{interval_level_text(ranking)} interval".strip()
    most = samples["k"][-1]
    sizes = [str(k) for k in dict.fromkeys((1, most))]
    columns = [Column("model"), Column("items", ","), Column("samples", ","), Column("failed", ",")]
    for k in sizes:
        columns += [Column(f"pass@{k}", ".1%", ABSENT), Column(ends, ".1%", "–", key=f"pass@{k}", drop=2)]
    for k in sizes:
        columns += [_score_column("mean score" if k == "1" else f"best of {k}")]
    if most > 1:
        columns += [Column(ends, ".4g", "–", key=f"best of {most}", drop=2), _score_column("spread")]
    columns += [Column("USD per success", ".4g", ABSENT), Column("seconds per success", ".3g", ABSENT)]
    rows = tuple(_row(model, sizes) for model in samples["models"])
    return Table(tuple(columns), rows, f"Samples: up to {most} per item", _notes(samples, sizes))


def _score_column(title: str) -> Column:
    return Column(title, ".4g", ABSENT)


def _row(model: Mapping[str, Any], sizes: list[str]) -> tuple[CellValue, ...]:
    cells: list[CellValue] = [model["model"], model["items"], model["samples"], model["failed"]]
    for k in sizes:
        figure = model["pass_at"][k]
        cells += [figure["value"], interval(figure.get("low"), figure.get("high"))]
    cells += [model["best_of"][k]["value"] for k in sizes]
    if len(sizes) > 1:
        best = model["best_of"][sizes[-1]]
        cells += [interval(best.get("low"), best.get("high")), model["spread"]["value"]]
    return (*cells, model["cost_usd_per_success"]["value"], model["seconds_per_success"]["value"])


def _notes(samples: Mapping[str, Any], sizes: list[str]) -> tuple[str, ...]:
    """Explain the terms, what was left out, and why figures are missing."""
    most = sizes[-1]
    side = "or more" if samples["higher_is_better"] else "or less"
    notes = []
    if samples["success"] is None:
        notes.append(
            f"A success has no definition for {samples['judge']}: set one with --success SCORE, or in imarena.toml "
            "([board] success)."
        )
    else:
        notes.append(
            f"Success: a score of {samples['success']:g} {side} by {samples['judge']} "
            f"({_ORIGINS[samples['success_from']]})."
        )
    meaning = "pass@k: the chance that at least one of k samples succeeds."
    if most != "1":
        meaning += (
            f" best of {most}: the mean best score of {most} samples, of draws with at least one output."
            " spread: the mean standard deviation of the scores within items."
        )
    notes.append(
        f"{meaning} Per success: the total over all samples, failed ones included, divided by the number of successes."
    )
    notes.append(_missing(samples, most))
    reasons = {
        f"{model['model']}: {figure['reason']}"
        for model in samples["models"]
        for figure in (model["cost_usd_per_success"], model["seconds_per_success"])
        if figure.get("reason") and samples["success"] is not None
    }
    notes += [f"{ABSENT.capitalize()}: {'; '.join(sorted(reasons))}."] if reasons else []
    return tuple(notes)


def _missing(samples: Mapping[str, Any], most: str) -> str:
    """Explain how failures, items that were not asked for and outputs without a score count."""
    parts = ["A failed output is an unsuccessful sample"]
    if samples["missing"] == "loss":
        parts.append("items that a model was not asked for count as failures (--missing loss)")
    else:
        parts.append("items that a model was not asked for are left out (--missing loss counts them as failures)")
    fewer = {model["model"]: model["items"] - model["pass_at"][most]["n"] for model in samples["models"]}
    if samples["success"] is not None and any(fewer.values()):
        lists = ", ".join(f"{number:,} of {name}" for name, number in fewer.items() if number)
        parts.append(f"items with fewer than {most} samples are left out of pass@{most}: {lists}")
    if samples["not_judged"]:
        parts.append(f"{counted(samples['not_judged'], 'output')} without a score left out")
    if samples["unpriced"] and any(model["cost_usd_per_success"]["value"] for model in samples["models"]):
        parts.append(f"{counted(samples['unpriced'], 'failed attempt')} without a stored cost counted as free")
    return "; ".join(parts) + "."
