"""What verify finds, one thing at a time, and what it says of it."""

import sqlite3
import sys

import pytest

from imarena.core.records import Item, Output, Turn
from imarena.storage import Workspace
from imarena.storage.upkeep import withdraw_image
from imarena.storage.verify import Finding, restart_deep, verify
from tests import samples


def filled(workspace: Workspace) -> tuple[Item, Output]:
    source, made = samples.kept(workspace, 1), samples.kept(workspace, 2)
    item = Item(dataset="d", key="k", turns=(Turn(instruction="x"),), sources=(source,))
    output = Output(item_id=item.item_id, editor="e", image=made)
    assert workspace.store.add([item, output]).new == 2
    return item, output


def found(workspace: Workspace, *, deep: bool = False) -> list[Finding]:
    return list(verify(workspace, deep=deep))


def raw(workspace: Workspace, statement: str, *values: object) -> None:
    """Damage the database behind the software's back."""
    with sqlite3.connect(workspace.root / "arena.db") as connection:
        connection.execute("PRAGMA foreign_keys = OFF")
        connection.execute(statement, values)
    connection.close()


def test_a_sound_workspace_is_clean(workspace: Workspace) -> None:
    filled(workspace)
    assert found(workspace, deep=True) == []


def test_a_missing_blob(workspace: Workspace) -> None:
    _, output = filled(workspace)
    assert output.image
    samples.blob_folder(workspace).path(output.image.sha256).unlink()
    assert [(f.kind, f.subject) for f in found(workspace)] == [("missing_blob", output.image.sha256)]


def test_a_changed_blob_of_another_size_is_found_quickly(workspace: Workspace) -> None:
    item, _ = filled(workspace)
    samples.blob_folder(workspace).path(item.sources[0].sha256).write_bytes(b"short")
    assert [(f.kind, f.subject) for f in found(workspace)] == [("changed_blob", item.sources[0].sha256)]


def test_a_changed_blob_of_the_same_size_is_found_by_the_deep_check(workspace: Workspace) -> None:
    item, _ = filled(workspace)
    path = samples.blob_folder(workspace).path(item.sources[0].sha256)
    data = bytearray(path.read_bytes())
    data[-1] ^= 1
    path.write_bytes(bytes(data))
    assert found(workspace) == []
    assert [(f.kind, f.subject) for f in found(workspace, deep=True)] == [("changed_blob", item.sources[0].sha256)]


def flip(workspace: Workspace, sha256: str) -> None:
    """Change a blob without changing its size."""
    path = samples.blob_folder(workspace).path(sha256)
    data = bytearray(path.read_bytes())
    data[-1] ^= 1
    path.write_bytes(bytes(data))


def test_a_blob_that_changes_after_a_clean_deep_check_is_found_by_the_next(workspace: Workspace) -> None:
    item, _ = filled(workspace)
    assert found(workspace, deep=True) == []
    flip(workspace, item.sources[0].sha256)
    assert [f.kind for f in found(workspace, deep=True)] == ["changed_blob"]
    assert [f.kind for f in found(workspace, deep=True)] == ["changed_blob"]


def test_a_deep_check_that_was_stopped_resumes_and_can_be_restarted(
    workspace: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    item, output = filled(workspace)
    assert output.image
    first, last = sorted((item.sources[0].sha256, output.image.sha256))
    monkeypatch.setattr(sys.modules["imarena.storage.verify"], "_HASH_BATCH", 1)
    flip(workspace, last)
    checking = verify(workspace, deep=True)
    assert next(checking).subject == last  # the first was hashed and noted; now the process dies
    del checking
    flip(workspace, first)
    stopped = verify(workspace, deep=True)
    assert next(stopped).subject == last  # it goes on where it was
    del stopped
    restart_deep(workspace)
    assert [f.subject for f in found(workspace, deep=True)] == [first, last]


def test_a_withdrawn_blob_that_is_still_there(workspace: Workspace) -> None:
    item, _ = filled(workspace)
    data = workspace.load(item.sources[0])
    withdraw_image(workspace, item.sources[0].sha256, "asked")
    assert found(workspace, deep=True) == []
    samples.blob_folder(workspace).path(item.sources[0].sha256).write_bytes(data)
    assert [(f.kind, f.subject) for f in found(workspace)] == [("withdrawn_blob", item.sources[0].sha256)]


def test_a_column_that_does_not_fit_its_record(workspace: Workspace) -> None:
    item, output = filled(workspace)
    raw(workspace, "UPDATE outputs SET image_sha256 = ?", item.sources[0].sha256)
    assert [(f.kind, f.subject) for f in found(workspace, deep=True)] == [("bad_record", output.output_id)]


def test_a_dangling_link(workspace: Workspace) -> None:
    item, output = filled(workspace)
    raw(workspace, "DELETE FROM items WHERE id = ?", item.item_id)
    findings = found(workspace)
    assert [(f.kind, f.subject) for f in findings] == [("dangling_link", output.output_id)]
    assert item.item_id in findings[0].detail


def test_a_duplicate(workspace: Workspace) -> None:
    _, output = filled(workspace)
    raw(workspace, "DROP INDEX one_ok_output_per_slot")
    columns = "work_id, attempt, item_id, editor, turn, mode, sample, status, image_sha256, created_at, body"
    raw(workspace, f"INSERT INTO outputs (id, {columns}) SELECT 'output_x', {columns} FROM outputs")  # noqa: S608
    findings = found(workspace)
    assert [f.kind for f in findings] == ["duplicate"]
    assert output.item_id in findings[0].subject


def test_a_record_changed_by_hand(workspace: Workspace) -> None:
    item, _ = filled(workspace)
    raw(workspace, "UPDATE items SET key = 'other' WHERE id = ?", item.item_id)
    assert found(workspace) == []
    assert [(f.kind, f.subject) for f in found(workspace, deep=True)] == [("bad_record", item.item_id)]


def test_a_record_that_cannot_be_read(workspace: Workspace) -> None:
    item, _ = filled(workspace)
    raw(workspace, "UPDATE items SET body = '{\"turns\": []}' WHERE id = ?", item.item_id)
    assert [(f.kind, f.subject) for f in found(workspace)] == [("bad_record", item.item_id)]


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE judge_forms SET judge_version = '9'",
        "UPDATE judge_forms SET higher_is_better = 1 - higher_is_better",
        "UPDATE judge_forms SET dimension = 'quality'",
        "DELETE FROM judge_forms",
        "UPDATE judge_forms SET id = id + 1",
    ],
)
def test_a_form_of_a_judge_changed_by_hand(workspace: Workspace, statement: str) -> None:
    _, output = filled(workspace)
    judgment = samples.judgment(output, None, "work")
    workspace.store.add([judgment])
    assert found(workspace) == []
    raw(workspace, statement)
    findings = found(workspace)
    assert findings
    assert {finding.kind for finding in findings} == {"bad_record"}
    assert any("form" in finding.detail for finding in findings)


def test_a_judgment_with_the_form_of_another_judge(workspace: Workspace) -> None:
    _, output = filled(workspace)
    mine = samples.judgment(output, None, "mine")
    other = samples.judgment(output, None, "other").model_copy(update={"judge": "another"})
    workspace.store.add([mine, other])
    assert found(workspace, deep=True) == []
    raw(workspace, "UPDATE judgments SET form_id = (SELECT id FROM judge_forms WHERE judge = 'another')")
    assert [(f.kind, f.subject) for f in found(workspace, deep=True)] == [("bad_record", mine.judgment_id)]
