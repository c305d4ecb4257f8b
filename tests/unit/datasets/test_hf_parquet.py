"""Parquet files with pictures inside: read in small batches, whatever the file's size."""

import os
import subprocess
import sys
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from imarena.datasets.hf_parquet import BATCH_BYTES, parquet_rows

MEASURE = """
import sys
from pathlib import Path
import pyarrow as pa
from imarena.datasets.hf_parquet import parquet_rows
rows = sum(1 for _ in parquet_rows(Path(sys.argv[1]), "items", ("key", "source")))
print(rows, pa.default_memory_pool().max_memory())
"""


def test_memory_stays_flat(tmp_path: Path) -> None:
    """Eight row groups of 8 MiB: a reader that fetches ahead needs the whole file."""
    rows, size = 64, 1 << 20
    pictures = [{"bytes": os.urandom(size), "path": None} for _ in range(rows)]
    table = pa.table({"key": [str(n) for n in range(rows)], "source": pictures})
    pq.write_table(table, tmp_path / "items.parquet", row_group_size=8)
    measured = subprocess.run(
        [sys.executable, "-c", MEASURE, tmp_path / "items.parquet"], capture_output=True, text=True, check=True
    )
    read, most = (int(number) for number in measured.stdout.split())
    assert read == rows
    assert most < 40 * size, "a row group twice (packed and unpacked), and a batch"


def test_one_value_in_every_row_is_read_one_row_at_a_time(tmp_path: Path) -> None:
    """A dictionary makes a large value small in the file, however many rows hold it."""
    large = b"x" * (2 * BATCH_BYTES)
    column = pa.array([large] * 50, pa.dictionary(pa.int32(), pa.binary()))
    path = tmp_path / "items.parquet"
    pq.write_table(pa.table({"source": column}), path, dictionary_pagesize_limit=4 * BATCH_BYTES)
    assert path.stat().st_size < 3 * BATCH_BYTES
    before = pa.default_memory_pool().bytes_allocated()
    for number, row in parquet_rows(path, "items", ("source",)):
        assert row["source"] == large
        assert pa.default_memory_pool().bytes_allocated() - before < 12 * BATCH_BYTES, "50 rows at once are 100"
        if number == 3:
            break
