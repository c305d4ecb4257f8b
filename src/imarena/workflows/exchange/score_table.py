"""export scores: every score and verdict of the judges as one CSV, with all digits.

`views` decides what counts. With `everything`, rows that do not count are included, each with the reason.
"""

import json
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from sqlalchemy import select

from imarena.core import Document, UserError, grouped
from imarena.core.records import Item
from imarena.reports.tables import csv_rows
from imarena.storage import JudgeVariant, Workspace, reading
from imarena.storage.schema import judgments
from imarena.workflows.views import MODES, View, first_scores, judgment_reason

FILE = "scores.csv"
PAGE = 500
SECOND = "another score of the same output and repeat came first"
"""Why a score does not count although it is ok and newest: boards take one per output and repeat."""
COLUMNS = (
    "kind", "unit", "model", "judge", "score", "task", "topic", "dataset", "item", "turn", "mode", "sample",
    "other_model", "preference", "order", "dimension", "repeat", "success", "confidence", "scores", "reasons",
    "higher_is_better", "judge_version", "prompt_id", "prompt_version", "status", "error", "output_id",
    "other_output_id", "judgment_id", "created_at",
)  # fmt: skip
COUNTS = "not_counted"
"""The last column with `everything`: why a row does not count, empty if it does."""


@dataclass(frozen=True)
class ScoreTable(Document):
    """What was written: the file, its rows by kind, and why other rows were left out or do not count."""

    file: Path
    rows: Mapping[str, int]
    not_counted: Mapping[str, int]

    def to_json(self) -> dict[str, Any]:
        """Return plain values for JSON."""
        return {"format": "scores", **super().to_json()}


def export_scores(workspace: Workspace, target: Path, *, everything: bool = False) -> ScoreTable:
    """Write `target` (a .csv file), or `scores.csv` in the folder `target`. An existing file is not replaced."""
    file = target if target.suffix == ".csv" else target / FILE
    if file.exists():
        raise UserError(f"{file} exists already.", hint="Name a new file.")
    rows, not_counted = Counter[str](), Counter[str]()
    table = _rows(View(workspace), rows, not_counted, everything=everything)
    names = (*COLUMNS, COUNTS) if everything else COLUMNS
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        with file.open("x", encoding="utf-8", newline="") as out:
            out.writelines(csv_rows(names, table))
    except OSError as error:
        raise UserError(f"Cannot write {file}: {error.strerror}.") from error
    return ScoreTable(file, rows, not_counted)


def _rows(view: View, rows: Counter[str], not_counted: Counter[str], *, everything: bool) -> Iterator[list[object]]:
    items = {row["id"]: row for row in view.workspace.store.rows(Item)}
    variants = {variant.form_id: variant for variant in view.variants.every}
    first = _first_scores(view)
    after = 0
    while True:
        query = select(judgments).where(judgments.c.seq > after).order_by(judgments.c.seq).limit(PAGE)
        with reading(view.workspace.store.engine) as connection:
            page = connection.execute(query).mappings().all()
        if not page:
            return
        after = page[-1]["seq"]
        for row in page:
            reason = judgment_reason(view, row)
            if not reason and row["right_id"] is None and not _contains(first, row["seq"]):
                reason = SECOND
            if reason:
                not_counted[reason] += 1
            if everything or not reason:
                written = _row(view, row, items[row["item_id"]], variants[row["form_id"]])
                rows[str(written[0])] += 1
                yield [*written, reason] if everything else written


def _first_scores(view: View) -> np.ndarray[Any, np.dtype[np.int64]]:
    """Return the sorted `seq` of the scores that boards count, of every judge and dimension."""
    kinds = grouped(((variant.judge, variant.dimension), variant) for variant in view.variants.counting(pairwise=False))
    parts = [first_scores(view.judgments(variants)).seq for variants in kinds.values()]
    return np.sort(np.concatenate(parts)) if parts else np.zeros(0, np.int64)


def _contains(values: np.ndarray[Any, np.dtype[np.int64]], value: int) -> bool:
    at = int(np.searchsorted(values, value))
    return at < values.size and int(values[at]) == value


def _row(view: View, row: Any, item: Any, variant: JudgeVariant) -> list[object]:
    body, entries = json.loads(row["body"]), view.entries
    left = entries.index_of[row["left_id"]]
    slot = (int(entries.turn[left]), MODES[entries.mode[left]], int(entries.sample[left]))
    key = str(item["key"])
    unit = key if slot == (0, MODES[0], 0) else ":".join((key, *(str(part) for part in slot)))
    right = entries.index_of[row["right_id"]] if row["right_id"] is not None else None
    return [
        "score" if right is None else "verdict", unit, _editor(view, left), row["judge"], row["score"], item["task"],
        item["topic"], item["dataset"], key, *slot, None if right is None else _editor(view, right),
        "equal" if row["tie_unstated"] else row["preference"], row["order"], variant.dimension, row["repeat"],
        body.get("success"), body.get("confidence"), _json(body.get("scores")), _json(body.get("reasons")),
        variant.higher_is_better, variant.judge_version, variant.prompt_id, variant.prompt_version, row["status"],
        body.get("error"), row["left_id"], row["right_id"], row["id"], row["created_at"],
    ]  # fmt: skip


def _editor(view: View, position: int) -> str:
    code = int(view.entries.editor.of[position])
    return view.entries.editor.names[code] if code >= 0 else f"(not named: {view.entries.id_of(position)})"


def _json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False) if value else ""
