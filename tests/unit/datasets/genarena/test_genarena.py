"""GenArena folders: what comes in, what is refused, and that an export comes back as it was."""

import json
from collections import Counter
from pathlib import Path

import pytest

from imarena.core.errors import UserError
from imarena.core.records import Item, Judgment, Order, Outcome, Output, Record, Reply, Status
from imarena.datasets.genarena.exporter import write
from imarena.datasets.genarena.importer import read
from tests.unit.datasets.genarena.genarena_sample import (
    EXPERIMENT,
    battle,
    call,
    make,
    reasons,
    reply,
    write_lines,
)
from tests.unit.datasets.intake import MemoryIntake, import_all, picture


def judgments(intake: MemoryIntake, left: str, right: str, index: int) -> list[Judgment]:
    editors = {output.output_id: output.editor for output in intake.all(Output)}
    keys = {item.item_id: item.key for item in intake.all(Item)}
    return [
        judgment
        for judgment in intake.all(Judgment)
        if (editors[judgment.left_id], editors[judgment.right_id or ""]) == (left, right)
        and keys[judgment.item_id] == f"basic/{index}"
    ]


def test_everything_in_the_sample_is_imported_and_counted(tmp_path: Path) -> None:
    intake = import_all(read, make(tmp_path))
    assert intake.skips == []
    items = {item.key: item for item in intake.all(Item)}
    assert sorted(items) == ["basic/0", "basic/1", "basic/2", "multiref/0", "multiref/1"]
    assert [len(items[key].sources) for key in sorted(items)] == [1, 1, 1, 3, 2]
    assert items["basic/1"].track == "basic"
    assert items["basic/1"].provenance == {"prompt_source": "imgedit", "original_metadata": {"id": "x1"}}
    assert Counter(output.editor for output in intake.all(Output)) == {"flux": 5, "zeta": 5, "qwen_edit": 3}
    assert all(output.image is not None for output in intake.all(Output))
    assert Counter(judgment.order for judgment in intake.all(Judgment)) == {
        Order.BOTH: 5, Order.LEFT_FIRST: 4, Order.RIGHT_FIRST: 4,
    }  # fmt: skip
    assert len(intake.all(Reply)) == 6
    assert {judgment.judge for judgment in judgments(intake, "flux", "zeta", 0)} == {"Qwen/Qwen3-VL-32B-Instruct-FP8"}
    assert {judgment.prompt_id for judgment in judgments(intake, "flux", "zeta", 0)} == {"mmrb2"}


def test_combined_verdicts_keep_both_orders_and_their_agreement(tmp_path: Path) -> None:
    intake = import_all(read, make(tmp_path))
    twice = judgments(intake, "flux", "zeta", 0)
    assert [(j.preference, j.consistent, j.repeat) for j in twice] == [(Outcome.LEFT, True, 0), (Outcome.LEFT, True, 1)]
    assert len({judgment.judgment_id for judgment in twice}) == 2
    (tie,) = judgments(intake, "flux", "zeta", 2)
    assert (tie.preference, tie.consistent, tie.order) == (Outcome.TIE, False, Order.BOTH)


def test_an_audit_line_gives_two_judgments_and_a_failed_call_is_no_tie(tmp_path: Path) -> None:
    intake = import_all(read, make(tmp_path))
    agreed, swayed, unread = (judgments(intake, "flux", "qwen_edit", index) for index in range(3))
    assert [j.preference for j in agreed[:2]] == [Outcome.LEFT, Outcome.LEFT]
    assert [j.preference for j in swayed] == [Outcome.LEFT, Outcome.RIGHT]
    assert [(j.status, j.preference) for j in unread] == [(Status.OK, Outcome.LEFT), (Status.UNPARSABLE, None)]
    assert [(j.status, j.repeat) for j in agreed[2:]] == [(Status.API_ERROR, 1), (Status.TIMEOUT, 1)]
    assert Outcome.TIE not in {j.preference for j in (*agreed, *swayed, *unread)}
    replies = {item.reply_id: item.raw for item in intake.all(Reply)}
    assert replies[unread[1].reply_id or ""] == "Equal, I think"
    assert agreed[2].reply_id is None


def test_importing_twice_gives_the_same_ids(tmp_path: Path) -> None:
    root = make(tmp_path)
    first, second = import_all(read, root), import_all(read, root)
    assert ids(first) == ids(second)
    again = len(first.taken)
    first.take(read(root, first, {}))
    assert first.skips == []
    assert len(first.taken) == 2 * again
    assert ids(first) == ids(second)


def ids(intake: MemoryIntake) -> dict[str, set[str]]:
    return {
        "items": {item.item_id for item in intake.all(Item)},
        "outputs": {output.output_id for output in intake.all(Output)},
        "judgments": {judgment.judgment_id for judgment in intake.all(Judgment)},
        "replies": {item.reply_id for item in intake.all(Reply)},
    }


def test_a_log_that_grew_keeps_its_old_ids(tmp_path: Path) -> None:
    root = make(tmp_path)
    before = ids(import_all(read, root))["judgments"]
    log = root / "arena/basic/pk_logs" / EXPERIMENT / "flux_vs_zeta.jsonl"
    with log.open("a") as file:
        file.write(json.dumps(battle("flux", "zeta", 1, "flux")) + "\n")
    after = ids(import_all(read, root))["judgments"]
    assert before < after
    assert len(after) == len(before) + 1


def test_logs_alone_bring_items_and_outputs_without_pixels(tmp_path: Path) -> None:
    make(tmp_path)
    log = tmp_path / "arena/basic/pk_logs" / EXPERIMENT / "flux_vs_zeta.jsonl"
    arena, alone = import_all(read, tmp_path / "arena"), import_all(read, log)
    assert arena.skips == alone.skips == []
    assert all(item.absent for item in (*arena.all(Item), *alone.all(Item)))
    assert all(output.image is not None for output in arena.all(Output))
    assert all(output.image is None for output in alone.all(Output))
    assert (len(arena.all(Judgment)), len(alone.all(Judgment))) == (13, 4)
    assert {item.key for item in alone.all(Item)} == {"basic/0", "basic/1", "basic/2"}


def test_any_part_of_a_subset_can_be_named(tmp_path: Path) -> None:
    basic = make(tmp_path) / "arena/basic"
    counts = {
        basic / "pk_logs": 12,
        basic / "pk_logs" / EXPERIMENT: 12,
        basic / "pk_logs" / EXPERIMENT / "flux_vs_qwen_edit.jsonl": 8,
        basic / "pk_logs" / EXPERIMENT / "raw_outputs/flux_vs_qwen_edit.jsonl": 8,
        basic / "models": 0,
    }
    whole = import_all(read, basic)
    for path, count in counts.items():
        intake = import_all(read, path, judge="Qwen/Qwen3-VL-32B-Instruct-FP8")
        assert intake.skips == [], path
        assert len(intake.all(Judgment)) == count, path
        assert {item.item_id for item in intake.all(Item)} <= ids(whole)["items"], path


def test_an_export_imports_as_the_same_records(tmp_path: Path) -> None:
    before = import_all(read, make(tmp_path / "one"))
    assert list(write(tmp_path / "two", before, {})) == []
    after = import_all(read, tmp_path / "two")
    assert after.skips == []
    assert ids(after) == ids(before)
    for kind, key in ((Item, "item_id"), (Output, "output_id"), (Judgment, "judgment_id"), (Reply, "reply_id")):
        old = {getattr(record, key): facts(record) for record in before.all(kind)}
        assert {getattr(record, key): facts(record) for record in after.all(kind)} == old
    assert after.blobs == before.blobs


def facts(record: Record) -> dict[str, object]:
    found = record.model_dump(exclude={"created_at", "software"})
    origin = found.get("origin")
    return {**found, "origin": (origin["source"], origin["row"]) if origin else None}


def test_logs_without_pixels_survive_an_export_too(tmp_path: Path) -> None:
    root = make(tmp_path / "one") / "arena/multiref"
    before = import_all(read, root / "pk_logs" / EXPERIMENT / "flux_vs_zeta.jsonl")
    assert list(write(tmp_path / "two", before, {})) == []
    assert ids(import_all(read, tmp_path / "two")) == ids(before)


def test_hostile_model_names_never_become_paths(tmp_path: Path) -> None:
    names = ["../../x", "a_vs_b", "b", "..", "tie-break/..", "C:\\con", "ü" * 200]
    lines = [battle(left, right, 0, left) for left in names for right in names if left < right]
    write_lines(tmp_path / "one/basic/pk_logs/e_20260101/mixed.jsonl", lines)
    before = import_all(read, tmp_path / "one")
    assert before.skips == []
    assert {output.editor for output in before.all(Output)} == set(names)
    image = before.keep(picture(1), name="x")
    before.take(
        Output.model_validate({**output.model_dump(exclude={"image"}), "image": image, "seed": 1})
        for output in before.all(Output)
    )
    out = tmp_path / "deep/er/two"
    assert list(write(out, before, {})) == []
    written = [path for path in tmp_path.rglob("*") if path.is_file() and "one" not in path.parts]
    assert all(path.is_relative_to(out) for path in written)
    after = import_all(read, out)
    assert {output.editor for output in after.all(Output)} == set(names)
    old, new = (sorted(verdict(intake, j) for j in intake.all(Judgment)) for intake in (before, after))
    assert old == new
    assert len(old) == 21


def verdict(intake: MemoryIntake, judgment: Judgment) -> tuple[str, str, str]:
    editors = {output.output_id: output.editor or "" for output in intake.all(Output)}
    return editors[judgment.left_id], editors[judgment.right_id or ""], str(judgment.preference)


def test_a_winner_that_both_replies_deny_is_not_believed(tmp_path: Path) -> None:
    line = {
        **battle("a", "b", 0, "a"), "original_call": call(reply("B")), "swapped_call": call(reply("A")),
    }  # fmt: skip
    home = tmp_path / "basic/pk_logs/e_20260101"
    write_lines(home / "raw_outputs/a_vs_b.jsonl", [line, {**battle("a", "b", 1, "b")}])
    write_lines(home / "a_vs_b.jsonl", [battle("a", "b", 0, "a"), battle("a", "b", 1, "b")])
    intake = import_all(read, tmp_path)
    assert [
        "contradicts both raw replies" in text or "original_call is missing" in text for text in reasons(intake)
    ] == [True, True]
    assert [(j.order, j.preference) for j in intake.all(Judgment)] == [(Order.BOTH, Outcome.RIGHT)]


def test_what_genarena_cannot_say_is_left_out_and_counted(tmp_path: Path) -> None:
    intake = import_all(read, make(tmp_path / "one"))
    base = intake.all(Judgment)[0]
    native = base.model_dump(exclude={"origin", "work_id"})
    intake.take(
        [
            Judgment(**{**native, "work_id": "w1", "preference": Outcome.BOTH_BAD}),
            Judgment(**{**native, "work_id": "w2", "dimension": "quality"}),
            Judgment(**{**native, "work_id": "w3", "right_id": None, "preference": None, "score": 4.0, "order": None}),
            Judgment(**{**native, "work_id": "w4", "order": Order.LEFT_FIRST, "repeat": 9, "judge": "other"}),
        ]
    )
    found = {str(skip) for skip in write(tmp_path / "two", intake, {})}
    assert found == {
        "judgments: 1 left out: GenArena has no verdict 'both bad'",
        "judgments: 1 left out: GenArena has no dimension 'quality'",
        "judgments: 1 left out: GenArena has no scores of single images",
        "judgments: 1 left out: only one order was judged",
    }
    with pytest.raises(UserError, match="not an empty folder"):
        list(write(tmp_path / "two", intake, {}))
    with pytest.raises(UserError, match="must end in _yyyymmdd"):
        list(write(tmp_path / "three", intake, {"experiment": "../x"}))


def test_two_judges_get_an_experiment_each(tmp_path: Path) -> None:
    log = write_lines(tmp_path / "one/basic/pk_logs/e_20260101/a_vs_b.jsonl", [battle("a", "b", 0, "a")])
    intake = import_all(read, log, judge="first")
    intake.take(read(log, intake, {"judge": "second"}))
    assert list(write(tmp_path / "two", intake, {})) == []
    after = import_all(read, tmp_path / "two")
    assert {judgment.judge for judgment in after.all(Judgment)} == {"first", "second"}
