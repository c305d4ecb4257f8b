"""The store's contract: the same on SQLite and on PostgreSQL."""

import threading
from pathlib import Path

import pytest

from imarena.core.errors import StoreError
from imarena.core.records import (
    Assignment,
    Campaign,
    Evidence,
    Item,
    Judgment,
    Outcome,
    Output,
    Rater,
    Reply,
    Run,
    Status,
    Turn,
    Vote,
)
from imarena.storage import Workspace, migrate
from imarena.storage import store as store_module
from imarena.storage.schema_versions import newest_version, schema_versions
from tests import samples


def test_a_record_comes_back_equal(any_workspace: Workspace) -> None:
    item = samples.item().model_copy(update={"turns": (Turn(instruction="é 漢字 \\ \" '"),), "topic": None})
    left, right = samples.output(item, "a"), samples.output(item, None)
    rater = Rater(rater_id="r1", name="A. Person")
    records = [
        item, left, right, rater,
        Reply(work_id="w", raw="reply \u0001"),
        samples.judgment(left, right, "w"),
        samples.judgment(left, None, "w2"),
        samples.vote(rater, left, right, key="k"),
        Evidence(image_sha256="0" * 64, tool="t", kind="k", value={"box": [1, 2.5]}),
    ]  # fmt: skip
    assert any_workspace.store.add(records).new == len(records)
    for record in records:
        found = list(any_workspace.store.records(type(record)))
        assert record in found


def test_adding_twice_is_adding_once(any_workspace: Workspace) -> None:
    item = samples.item()
    records = [item, samples.output(item)]
    assert any_workspace.store.add(records).new == 2
    again = any_workspace.store.add(records)
    assert (again.new, again.same, again.conflicts) == (0, 2, ())
    assert any_workspace.store.count(Output) == {(): 1}


def test_the_same_key_with_other_content_is_a_conflict(any_workspace: Workspace) -> None:
    any_workspace.store.add([samples.item("one", instruction="make it red")])
    outcome = any_workspace.store.add([samples.item("one", instruction="make it blue"), samples.item("two")])
    assert outcome.new == 1
    assert [c.reason for c in outcome.conflicts] == [
        "another item with this key and other content is in the data set already"
    ]


def test_a_link_to_nothing_is_a_conflict_and_the_rest_goes_in(any_workspace: Workspace) -> None:
    item = samples.item()
    lost = samples.output(samples.item("elsewhere"))
    outcome = any_workspace.store.add([item, samples.output(item), lost])
    assert outcome.new == 2
    assert len(outcome.conflicts) == 1
    assert "is not stored" in outcome.conflicts[0].reason


def test_a_record_that_comes_twice_at_once_is_stored_once(any_workspace: Workspace) -> None:
    item = samples.item()
    outcome = any_workspace.store.add([item, item, samples.item()])
    assert (outcome.new, outcome.same, outcome.conflicts) == (1, 2, ())


def test_what_was_rolled_back_is_not_remembered(any_workspace: Workspace) -> None:
    """A store remembers which outputs it has met: only those of a transaction that was committed."""
    item = samples.item()
    left, right = samples.output(item, "a"), samples.output(item, "b")
    judgment = samples.judgment(left, right, "w")
    unwritable = Run(run_id="r", command="rank").model_copy(update={"command": "\ud800"})
    with pytest.raises((StoreError, UnicodeEncodeError)):
        any_workspace.store.add([item, left, right, judgment, unwritable])
    assert any_workspace.store.count(Output) == {(): 0}
    outcome = any_workspace.store.add([judgment])
    assert (outcome.new, len(outcome.conflicts)) == (0, 1)
    assert "is not stored" in outcome.conflicts[0].reason
    assert any_workspace.store.add([item, right, left, judgment]).new == 4


@pytest.mark.parametrize("remembered", [0, 3, 100])
def test_sides_have_the_number_of_their_output(
    any_workspace: Workspace, monkeypatch: pytest.MonkeyPatch, remembered: int
) -> None:
    monkeypatch.setattr(store_module, "REMEMBERED", remembered)
    item = samples.item()
    outputs = [samples.output(item, f"editor {n}") for n in range(5)]
    any_workspace.store.add([item, *outputs])
    number = {row["id"]: row["seq"] for row in any_workspace.store.rows(Output)}
    for left in outputs:  # one at a time: the later ones find outputs that the store has met
        any_workspace.store.add([samples.judgment(left, right, f"{left.editor}") for right in outputs if right != left])
    rows = list(any_workspace.store.rows(Judgment))
    assert len(rows) == 20
    assert all(row["left_seq"] == number[row["left_id"]] for row in rows)
    assert all(row["right_seq"] == number[row["right_id"]] for row in rows)


def test_one_ok_output_a_slot_but_many_failures(any_workspace: Workspace) -> None:
    item = samples.item()
    ok = samples.output(item, "a")
    other = ok.model_copy(update={"params": {"steps": 9}})
    failed = [
        Output(item_id=item.item_id, editor="a", attempt=n, status=Status.TIMEOUT, error="slow") for n in range(3)
    ]
    outcome = any_workspace.store.add([item, ok, other, *failed])
    assert outcome.new == 5
    assert len(outcome.conflicts) == 1
    assert any_workspace.store.count(Output, "editor", "status") == {("a", "ok"): 1, ("a", "timeout"): 3}


def test_one_live_vote_per_assignment_and_rater(any_workspace: Workspace) -> None:
    item = samples.item()
    left, right = samples.output(item, "a"), samples.output(item, "b")
    rater = Rater(rater_id="r1")
    campaign = Campaign(campaign_id="c1", name="c", kind="preference")
    task = Assignment(campaign_id="c1", item_id=item.item_id, left_id=left.output_id, right_id=right.output_id)
    any_workspace.store.add([item, left, right, rater, campaign, task])
    first = samples.vote(rater, left, right, key="1").model_copy(update={"assignment_id": task.assignment_id})
    second = first.model_copy(update={"idempotency_key": "2", "preference": Outcome.RIGHT})
    assert any_workspace.store.add([first], durable=True).new == 1
    assert any_workspace.store.add([first], durable=True).same == 1
    assert len(any_workspace.store.add([second], durable=True).conflicts) == 1
    undone = Vote(
        rater_id="r1", item_id=item.item_id, left_id=left.output_id, right_id=right.output_id,
        assignment_id=task.assignment_id, idempotency_key="3", supersedes=first.vote_id, retracted=True,
    )  # fmt: skip
    again = second.model_copy(update={"idempotency_key": "4", "supersedes": undone.vote_id})
    fork = second.model_copy(update={"idempotency_key": "5", "supersedes": undone.vote_id})
    assert any_workspace.store.add([undone]).new == 1
    assert any_workspace.store.add([again]).new == 1
    assert len(any_workspace.store.add([fork]).conflicts) == 1


def test_facts_cannot_be_rewritten_but_runs_can(any_workspace: Workspace) -> None:
    run = Run(run_id="run_1", command="import")
    any_workspace.store.put(run)
    any_workspace.store.put(run.model_copy(update={"state": "done"}))
    found = any_workspace.store.get(Run, "run_1")
    assert found is not None
    assert found.state == "done"
    item = samples.item()
    with pytest.raises(StoreError, match="is a fact"):
        any_workspace.store.put(samples.judgment(samples.output(item), None, "w"))


def test_pages_and_filters(any_workspace: Workspace) -> None:
    item = samples.item()
    outputs = [samples.output(item, f"e{n}") for n in range(2_300)]
    any_workspace.store.add([item, *outputs])
    assert [o.editor for o in any_workspace.store.records(Output)] == [o.editor for o in outputs]
    chosen = list(any_workspace.store.records(Output, editor=["e5", "e7"]))
    assert [o.editor for o in chosen] == ["e5", "e7"]
    assert len(list(any_workspace.store.rows(Output, limit=1_500))) == 1_500


def test_many_writers_at_once_lose_nothing(any_workspace: Workspace) -> None:
    item = samples.item()
    left, right = samples.output(item, "a"), samples.output(item, "b")
    any_workspace.store.add([item, left, right])
    errors: list[BaseException] = []

    def write(start: int) -> None:
        try:
            for n in range(start, start + 25):
                shared = samples.judgment(left, right, f"w{n % 50}")
                any_workspace.store.add([shared, samples.judgment(left, right, f"own{start}-{n}")])
        except BaseException as error:  # noqa: BLE001  # the thread must tell the test
            errors.append(error)

    threads = [threading.Thread(target=write, args=(k * 25,)) for k in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert errors == []
    works = [row["work_id"] for row in any_workspace.store.rows(Judgment)]
    assert len(works) == len(set(works)) == 50 + 150


def test_the_migrations_make_the_schema(any_workspace: Workspace) -> None:
    assert migrate.current_version(any_workspace.store.engine) == newest_version()
    assert migrate.schema_drift(any_workspace.store.engine) == []


def test_items_can_be_counted_by_column(any_workspace: Workspace) -> None:
    any_workspace.store.add([samples.item("a"), samples.item("b"), samples.item("a", dataset="other")])
    assert any_workspace.store.count(Item, "dataset") == {("test",): 2, ("other",): 1}
    assert any_workspace.store.count(Item) == {(): 3}
    assert any_workspace.store.count(Judgment) == {(): 0}


def test_versions_are_those_that_alembic_sees() -> None:
    from alembic.config import Config
    from alembic.script import ScriptDirectory

    config = Config()
    config.set_main_option("script_location", str(Path(migrate.__file__).parent / "migrations"))
    config.set_main_option("path_separator", "os")
    scripts = ScriptDirectory.from_config(config)
    assert [script.revision for script in scripts.walk_revisions()] == list(reversed(schema_versions()))
    assert scripts.get_current_head() == newest_version()
