"""The Active Elo report as Markdown: one section a table, figures that do not exist left empty."""

from collections.abc import Iterable, Sequence
from typing import Any


def active_markdown(document: dict[str, Any]) -> str:
    """The document of `imarena route report` as a page."""
    parts = [
        f"# Active Elo with {document['judge']}",
        f"Quality gate: {_cell(document['tau'])}. Ambiguity gate: {_cell(document['delta'])}.",
        "## Deferral by task family",
        _table(
            ("family", "pairs", "routed", "rate"),
            ([row["family"] or "(none)", row["pairs"], row["routed"], row["rate"]] for row in document["deferral"]),
        ),
        "## Boards side by side",
        _boards(document),
    ]
    if document["dimension_means"]:
        rows = document["dimension_means"]
        parts += ["## Mean scores of the best by dimension", _table(tuple(rows[0]), (list(r.values()) for r in rows))]
    if document["weights"]:
        lines = [[w["weights"], str(w["values"]), w["spearman"], ", ".join(w["top"])] for w in document["weights"]]
        parts += ["## Dimension weights", _table(("weights", "values", "Spearman", "best"), lines)]
    if document["metrics"]:
        lines = [
            [m["metric"], m["spearman"], m["kendall"], f"{m['significant_pairs']} of {len(m['pairs'])}", m["reversals"]]
            for m in document["metrics"]
        ]
        head = ("metric", "Spearman with the board", "Kendall", "significant pairs", "of these against the board")
        parts += ["## Other judges and metrics", _table(head, lines)]
    if document["missing"]:
        parts += ["## Not here", "\n".join(f"- {what}: {why}" for what, why in document["missing"].items())]
    return "\n\n".join(parts) + "\n"


def _boards(document: dict[str, Any]) -> str:
    names = list(document["boards"])
    rates: dict[str, dict[str, float]] = {name: document["win_rates"][name] or {} for name in names}
    by_model = {name: {row["model"]: row for row in document["boards"][name]} for name in names}
    lines = []
    for row in document["boards"][names[0]]:
        model = row["model"]
        cells: list[Any] = [model]
        for name in names:
            found = by_model[name].get(model)
            cells += [None, None] if found is None else [f"{found['rating']:.0f}", rates[name].get(model)]
        lines.append(cells)
    head = ("model", *(title for name in names for title in (name, "wins against the top ten")))
    return _table(head, lines)


def _table(head: Sequence[str], rows: Iterable[Sequence[Any]]) -> str:
    lines = [list(head), ["---"] * len(head), *([_cell(cell) for cell in row] for row in rows)]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def _cell(value: Any) -> str:
    if value is None:
        return ""
    return f"{value:.3f}" if isinstance(value, float) else str(value).replace("|", "\\|")
