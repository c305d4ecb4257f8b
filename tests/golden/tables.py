"""Raw files of the shared data as plain tables, and the command line on them."""

import ast
import csv
import json
import math
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from tests.command import run

CRITERIA = ("SC", "PQ", "O")


def imarena(*arguments: str) -> dict[str, Any]:
    """Run the command with ``--json``; it must succeed, and stdout must be one JSON document."""
    done = run(*arguments, "--json")
    assert done.code == 0, done.err
    document: dict[str, Any] = done.json
    return document


def write_table(path: Path, columns: Sequence[str], rows: Sequence[Sequence[Any]]) -> Path:
    """Write CSV, TSV, JSON Lines or Parquet, told by the ending."""
    if path.suffix == ".parquet":
        import pyarrow as pa
        from pyarrow import parquet

        cells = [pa.array(column) for column in zip(*rows, strict=True)]
        parquet.write_table(pa.table(dict(zip(columns, cells, strict=True))), path)
    elif path.suffix == ".jsonl":
        path.write_text("".join(json.dumps(dict(zip(columns, row, strict=True))) + "\n" for row in rows))
    else:
        with path.open("w", newline="") as file:
            writer = csv.writer(file, delimiter="\t" if path.suffix == ".tsv" else ",")
            writer.writerow(columns)
            writer.writerows(rows)
    return path


def overall(semantic: float, quality: float) -> float:
    """O = sqrt(SC * PQ)."""
    return math.sqrt(semantic * quality)


def imagenhub(shared_data: Path, task: str) -> Iterator[tuple[str, str, int, tuple[float, float, float]]]:
    """model, unit, rater, (SC, PQ, O) of every rating."""
    for rater in (1, 2, 3):
        path = shared_data / "imagenhub" / "human_ratings" / task / f"{task}_rater{rater}.tsv"
        with path.open() as file:
            for row in csv.DictReader(file, delimiter="\t"):
                unit = row.pop("uid")
                for model, cell in row.items():
                    semantic, quality = ast.literal_eval(cell)
                    yield model, unit, rater, (semantic, quality, overall(semantic, quality))
