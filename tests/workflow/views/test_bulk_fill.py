"""The fast way to fill a large workspace for benchmarks stores what the program's own writer stores."""

from dataclasses import fields
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sqlalchemy import inspect, select

from benchmarks.scale.bulk import fill_bulk
from benchmarks.scale.fill_workspace import fill
from imarena.storage import Workspace, init_workspace, reading, schema, verify
from imarena.tables import large_columns
from imarena.workflows.views import View, fetch, orders
from tests.servers.postgres import new_database, newest_database

BATTLES = 8_500
"""41 items: one of them has two turns, and every kind of judgment occurs."""


def _rows(workspace: Workspace) -> dict[str, list[tuple[Any, ...]]]:
    tables = (schema.items, schema.outputs, schema.judgments, schema.judge_forms, schema.votes, schema.runs)
    with reading(workspace.store.engine) as connection:
        return {
            table.name: [tuple(row) for row in connection.execute(select(table).order_by(table.primary_key.columns[0]))]
            for table in tables
        }


def _shape(workspace: Workspace) -> list[str]:
    """Indexes, unique constraints and links of the table of judgments."""
    seen = inspect(workspace.store.engine)
    indexes = [
        f"{index['name']} {index['column_names']} {index['unique']} "
        f"{[f'{name}={value}' for name, value in index.get('dialect_options', {}).items()]}"
        for index in seen.get_indexes("judgments")
    ]
    constraints = [*seen.get_unique_constraints("judgments"), *seen.get_foreign_keys("judgments")]
    return sorted([*indexes, *map(str, constraints)])


def _combines_the_same_in_parts(workspace: Workspace, monkeypatch: pytest.MonkeyPatch) -> None:
    """Judgments of three judges, put together at once and a few hundred at a time; pages of rows likewise."""
    view = View(workspace)
    columns = view.judgments(view.variants.counting(pairwise=True))
    whose = (columns.left % 3).astype(np.int32)
    at_once = orders.combine_columns(columns, whose, view.entries)
    monkeypatch.setattr(fetch, "_PAGE", 1000)
    monkeypatch.setattr(large_columns, "LEAST_BYTES", 2000)
    monkeypatch.setattr(large_columns, "ROWS_AT_ONCE", 170)
    again = View(workspace)
    pages = again.judgments(again.variants.counting(pairwise=True))
    in_parts = orders.combine_columns(pages, whose, again.entries)
    monkeypatch.undo()
    assert at_once.decided.sum() > BATTLES * 0.98
    for field in fields(at_once):
        np.testing.assert_array_equal(getattr(at_once, field.name), getattr(in_parts, field.name), field.name)
    np.testing.assert_array_equal(view.entries.output_id, again.entries.output_id)
    assert view.entries.editor.list() == again.entries.editor.list()


@pytest.mark.slow
@pytest.mark.parametrize("one_order", [True, False])
@pytest.mark.parametrize("database", ["sqlite", "postgresql"])
def test_both_ways_store_the_same_rows(
    request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, database: str, one_order: bool
) -> None:
    stored = []
    for way in (fill, fill_bulk):
        url = ""
        if database == "postgresql":
            postgres = request.getfixturevalue("postgres")
            url = new_database(postgres, like=newest_database(postgres))
        with init_workspace(tmp_path / way.__name__, url=url) as workspace:
            before = _shape(workspace)
            way(workspace, BATTLES, one_order=one_order)
            assert _shape(workspace) == before
            assert not list(verify(workspace, deep=way is fill_bulk))
            stored.append(_rows(workspace))
            if way is fill_bulk:
                _combines_the_same_in_parts(workspace, monkeypatch)
    slow, fast = stored
    for name in slow:
        assert fast[name] == slow[name], name
    numbers = {column.name: place for place, column in enumerate(schema.judgments.columns)}
    for column in ("superseded", "attempt"):
        assert {row[numbers[column]] for row in fast["judgments"]} == {0, 1}
    assert len({row[numbers["status"]] for row in fast["judgments"]}) == 2
