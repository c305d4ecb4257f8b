"""A file of battles that is read a batch at a time gives the board and the signature of the whole table."""

import tracemalloc
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import csv, parquet

from imarena.core import UserError
from imarena.ranking import Options, rank, table_data
from imarena.ranking.battle_files import BattleFile
from imarena.ranking.boards.from_tables import load_battles
from imarena.ranking.likelihood import pair_counts
from imarena.tables import files, large_columns, read_table_batches

FORMATS = (".csv", ".tsv", ".parquet")
SMALL = Options(rounds=20)


def _table(n: int, **more: Any) -> pa.Table:
    rng = np.random.default_rng(1)
    models = np.array([f"model-{k}" for k in range(6)])
    left = rng.integers(0, 6, n)
    columns = {
        "right": models[(left + rng.integers(1, 6, n)) % 6],
        "left": models[left],
        "winner": np.array(["left", "right", "tie"])[rng.integers(0, 3, n)],
        "item": np.array([f"item-{k}" for k in rng.integers(0, 400, n)]),
    }
    return pa.table({**columns, **more})


def _written(folder: Path, ending: str, table: pa.Table, group: int = 170) -> Path:
    path = folder / f"battles{ending}"
    if ending == ".parquet":
        parquet.write_table(table, path, row_group_size=group)
    else:
        csv.write_csv(table, path, csv.WriteOptions(delimiter="\t" if ending == ".tsv" else ","))
    return path


@pytest.fixture
def small_batches(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(files, "BATCH_BYTES", 4_000)
    monkeypatch.setattr(files, "BATCH_ROWS", 64)
    monkeypatch.setattr(large_columns, "LEAST_BYTES", 512)
    monkeypatch.setattr(large_columns, "ROWS_AT_ONCE", 100)


@pytest.mark.usefixtures("small_batches")
@pytest.mark.parametrize("ending", FORMATS)
def test_batches_give_the_board_of_the_whole_table(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, ending: str
) -> None:
    n = 1_000
    rng = np.random.default_rng(2)
    gaps = rng.random(n) < 0.3
    table = _table(
        n,
        rater=pa.array([f"rater {k % 7}" if k % 5 else "" for k in range(n)]),
        weight=pa.array(rng.random(n)),
        score_left=pa.array(rng.random(n), mask=gaps),
        number=pa.array(np.arange(n), mask=gaps),
        share=pa.array(rng.random(n)),
        flag=pa.array(rng.random(n) < 0.5),
        dataset=pa.array(["b", "a", None, "b"] * (n // 4)),
        note=pa.array(["it's", None, 'a "word"', "ü"] * (n // 4)),
    )
    path = _written(tmp_path, ending, table)
    whole = load_battles(path)
    batches = BattleFile(read_table_batches(path, "battles"))
    assert batches.num_rows == whole.num_rows
    assert table_data(batches) == table_data(whole)
    flat = rank(path, options=SMALL)
    monkeypatch.setattr("imarena.tables.read_table_batches", _refused)
    same = rank(path, options=SMALL)
    assert flat.settings == same.settings
    assert [(one.model, one.rating, one.low, one.high) for one in flat.models] == [
        (one.model, one.rating, one.low, one.high) for one in same.models
    ]


def _refused(*_: Any, **__: Any) -> Any:
    raise UserError("not in batches")


@pytest.mark.usefixtures("small_batches")
@pytest.mark.parametrize("ending", FORMATS)
def test_an_error_names_the_row_of_the_file(tmp_path: Path, ending: str) -> None:
    table = _table(900)
    winner = table["winner"].to_pylist()
    winner[801] = "both"
    path = _written(tmp_path, ending, table.set_column(table.column_names.index("winner"), "winner", pa.array(winner)))
    with pytest.raises(UserError, match="row 802: unknown winner 'both'"):
        rank(path, options=SMALL)


@pytest.mark.usefixtures("small_batches")
def test_a_column_whose_kind_shows_late_is_read(tmp_path: Path) -> None:
    path = _written(tmp_path, ".csv", _table(900, extra=pa.array(["7"] * 880 + ["seven"] * 20)))
    assert rank(path, options=SMALL).n_battles == 900


@pytest.mark.parametrize("ending", [".csv", ".parquet"])
def test_four_times_the_battles_need_no_more_memory(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, ending: str
) -> None:
    monkeypatch.setattr(files, "BATCH_BYTES", 1 << 18)
    monkeypatch.setattr(files, "BATCH_ROWS", 1 << 13)
    monkeypatch.setattr(large_columns, "LEAST_BYTES", 1 << 16)
    monkeypatch.setattr(large_columns, "ROWS_AT_ONCE", 1 << 13)
    monkeypatch.setattr(pair_counts, "CHUNK", 1 << 13)
    peaks = []
    for n in (1_000, 100_000, 400_000):
        path = _written(tmp_path, ending, _table(n, note=pa.array([f"note {k}" for k in range(n)])), 1 << 14)
        arrow = pa.default_memory_pool().bytes_allocated()
        tracemalloc.start()
        table = BattleFile(read_table_batches(path, "battles"))
        board = rank(path, options=SMALL)
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
        assert board.n_battles == table.num_rows == n
        assert pa.default_memory_pool().bytes_allocated() - arrow < 1 << 21, "no table is left"
    assert peaks[2] < 1.2 * peaks[1]
