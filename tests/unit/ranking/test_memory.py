"""Memory of a board: more battles on the same items and pairs need no more of it; parts give what the whole gives."""

import tracemalloc

import numpy as np
import pyarrow as pa
import pytest

from imarena.ranking import CodedColumn, Options, rank_battles, resample, signature
from imarena.ranking.resample import BattleParts, Units, grouped_units
from imarena.tables import large_columns
from tests.unit.ranking.simulated import battles

ITEMS = 40


def _peak(n: int, options: Options) -> int:
    """Bytes that ranking needs beside the battles themselves."""
    item = CodedColumn((np.arange(n) % ITEMS).astype(np.int32), tuple(f"item-{k}" for k in range(ITEMS)))
    given = battles(np.linspace(1, -1, 6), n, seed=1, ties=0.1, item=item)
    tracemalloc.start()
    rank_battles(given, options)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return peak


@pytest.mark.parametrize("options", [Options(rounds=20), Options(rounds=20, method="davidson", position=True)])
def test_four_times_the_battles_need_no_more_memory(monkeypatch: pytest.MonkeyPatch, options: Options) -> None:
    monkeypatch.setattr(large_columns, "ROWS_AT_ONCE", 1 << 16)
    monkeypatch.setattr(large_columns, "LEAST_BYTES", 1 << 18)
    rank_battles(battles(np.linspace(1, -1, 6), 1000, seed=2), options)  # what is imported on the way is not counted
    few, many = (_peak(n, options) for n in (200_000, 800_000))
    assert many < 1.2 * few


def _units(entry: np.ndarray, unit: np.ndarray, step: int) -> Units:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(large_columns, "ROWS_AT_ONCE", step)
        battles_read = BattleParts(entry.size, lambda begin, end: entry[begin:end], lambda begin, end: unit[begin:end])
        return grouped_units(battles_read, int(unit.max()) + 1, 12)


def test_units_from_parts_are_those_of_the_whole() -> None:
    rng = np.random.default_rng(3)
    unit = np.concatenate([np.repeat(0, 2000), rng.integers(1, 60, 900), np.arange(60, 90)])  # one unit has many alike
    entry = np.where(unit == 0, 5, rng.integers(0, 12, unit.size))
    order = rng.permutation(unit.size)
    whole, parts = (_units(entry[order], unit[order], step) for step in (unit.size, 70))
    np.testing.assert_array_equal(whole.number, parts.number)
    np.testing.assert_array_equal(whole.touches.toarray(), parts.touches.toarray())
    assert whole.touches.toarray().max() == 2000  # more than a byte holds
    assert whole.total == 90
    assert (whole.number[:, None] * whole.touches.toarray()).sum() == unit.size


@pytest.mark.parametrize("limit", [0, 10_000], ids=["poisson", "multinomial"])
def test_draws_in_parts_are_those_of_one_call(monkeypatch: pytest.MonkeyPatch, limit: int) -> None:
    monkeypatch.setattr(resample, "EXACT_LIMIT", limit)
    rng = np.random.default_rng(4)
    units = _units(rng.integers(0, 12, 3000), rng.integers(0, 200, 3000), 3000)
    at_once = units.draw(np.random.default_rng(5), 30)
    drawn = np.random.default_rng(5)
    if limit:
        expected = drawn.multinomial(units.total, units.number / units.total, size=30).T
    else:
        expected = drawn.poisson(units.number[:, None], size=(units.number.size, 30))
    np.testing.assert_array_equal(at_once, units.touches.T @ expected)
    monkeypatch.setattr(resample, "DRAWN_AT_ONCE", 700)
    monkeypatch.setattr(resample, "UNITS_AT_ONCE", 9)
    np.testing.assert_array_equal(units.draw(np.random.default_rng(5), 30), at_once)


def test_units_without_a_name_are_numbered_alike_in_parts() -> None:
    column = CodedColumn(np.array([4, 1, 3, 4, 1, 0, 4], np.int32), tuple("abcd?"), unnamed=4)
    whole = column.units()
    assert whole.tolist() == [3, 1, 2, 4, 1, 0, 5]
    assert column.n_units == 6
    assert np.concatenate([column.units(k, k + 2) for k in range(0, 7, 2)]).tolist() == whole.tolist()


def test_a_signature_does_not_depend_on_the_parts_that_are_hashed(monkeypatch: pytest.MonkeyPatch) -> None:
    table = pa.table({"left": ["a", None, "b'", "a", "ü"], "list": [[1], [], None, [2, 3], [4]], "none": pa.nulls(5)})
    whole = signature.table_data(table)
    monkeypatch.setattr(signature, "AT_ONCE", 2)
    assert signature.table_data(table) == whole
    assert signature.table_data(table.slice(0, 4)) != whole
    assert signature.table_data(table.slice(0, 0))["battles"].startswith("0#")
    assert signature.listed_text(table["left"].combine_chunks()) == repr(table["left"].to_pylist())[1:-1]
