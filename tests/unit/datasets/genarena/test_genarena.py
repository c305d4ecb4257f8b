"""GenArena folders: what comes in, what is refused, and that an export comes back as it was."""

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from imarena.core.errors import UserError
from imarena.core.records import Item, Judgment, Order, Outcome, Output, Record, Reply, Status
from imarena.datasets.genarena.exporter import write
from imarena.datasets.genarena.importer import read
from tests.unit.datasets.bad_pictures import BROKEN, UNUSUAL
from tests.unit.datasets.genarena.genarena_sample import (
    EXPERIMENT,
    battle,
    call,
    entry,
    make,
    reply,
    write_benchmark,
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


def reasons(intake: MemoryIntake) -> list[str]:
    return [str(skip) for skip in intake.skips]


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


def test_bad_lines_are_left_out_with_file_and_line(tmp_path: Path) -> None:
    log = tmp_path / "basic/pk_logs/e_20260101/flux_vs_zeta.jsonl"
    good = battle("flux", "zeta", 0, "flux")
    lines = [
        good, "{broken", json.dumps([1]), {**good, "final_winner": "a tie"}, {**good, "sample_index": "3"},
        {"model_a": "flux"}, {**good, "model_a": 7}, {**good, "model_b": "flux"}, {**good, "is_consistent": "yes"},
        battle("flux", "tie", 0, "tie"), '{"model_a": "\\ud800", "model_b": "b", "sample_index": 1, "final_winner": "b"}',
        {**good, "sample_index": 1},
    ]  # fmt: skip
    write_lines(log, lines)
    with log.open("ab") as file:
        file.write(b'{"model_a": "caf\xe9"}\n')
    write_lines(log.parent / "empty.jsonl", [])
    intake = import_all(read, tmp_path)
    assert len(intake.all(Judgment)) == 2
    name = "basic/pk_logs/e_20260101/flux_vs_zeta.jsonl"
    found = reasons(intake)
    assert found[0] == "basic/pk_logs/e_20260101/empty.jsonl: the file is empty"
    assert [text.split(":")[0] for text in found[1:]] == [
        f"{name}, line {n}" for n in (2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 13)
    ]
    assert "unknown outcome 'a tie': expected 'flux', 'zeta' or 'tie'" in found[3]
    assert "not UTF-8" in found[-1]


def test_bad_rows_and_pictures_are_left_out_and_the_good_stay(tmp_path: Path) -> None:
    cut = picture(3, size=(200, 200))[:150]
    rows = [
        entry(0), entry(0, instruction="again"), entry(1, input_images=[{"bytes": cut, "path": None}]),
        entry(2, input_images=[{"bytes": None, "path": "../secret.png"}]), entry(3, instruction=" "), entry(-4),
        entry(5, input_images=[{"bytes": b"not a picture", "path": None}]), entry(6),
    ]  # fmt: skip
    (tmp_path / "secret.png").write_bytes(picture(1))
    root = tmp_path / "in"
    write_benchmark(root / "basic/data-0.parquet", rows)
    folder = root / "basic/models/e_20260101/flux"
    folder.mkdir(parents=True)
    (folder / "0.png").write_bytes(picture(7))
    (folder / "000000.jpg").write_bytes(picture(8, kind="JPEG"))
    (folder / "6.png").write_bytes(cut)
    (folder / "9.png").write_bytes(picture(9))
    (folder / "notes.txt").write_text("x")
    (folder / "5.png").symlink_to(tmp_path / "secret.png")
    write_lines(root / "basic/pk_logs/e_20260101/x.jsonl", [battle("a", "flux", 6, "a"), battle("a", "flux", 77, "a")])
    intake = import_all(read, root)
    assert [item.key for item in intake.all(Item)] == ["basic/0", "basic/6"]
    assert [(output.editor, output.image is not None) for output in intake.all(Output)] == [
        ("flux", True), ("a", False), ("flux", False),
    ]  # fmt: skip
    assert len(intake.all(Judgment)) == 1
    found = reasons(intake)
    rows_named = [text for text in found if "data-0.parquet" in text]
    assert [text.split(":")[0].split(", ")[1] for text in rows_named] == [f"row {n}" for n in (1, 2, 3, 4, 5, 6)]
    assert "leads out of the folder" in rows_named[2]
    for part in (
        "notes.txt: not an image",
        "000000.jpg: 0.png is the image",
        "6.png: ",
        "no item 'basic/9'",
        "no item 'basic/77'",
        "5.png: ",
    ):
        assert any(part in text for text in found), part


def test_whole_file_problems_raise_one_clear_error(tmp_path: Path) -> None:
    import pyarrow as pa
    import pyarrow.parquet as pq

    (tmp_path / "basic").mkdir()
    table = tmp_path / "basic/data-0.parquet"
    pq.write_table(pa.table({"index": [1], "prompt": ["x"]}), table)
    with pytest.raises(UserError, match=r"data-0.parquet: the columns instruction and input_images are missing"):
        import_all(read, table)
    table.write_bytes(b"")
    with pytest.raises(UserError, match=r"data-0.parquet: the file is empty"):
        import_all(read, table)
    table.write_bytes(b"PAR1 but not really")
    with pytest.raises(UserError, match="cannot be read as Parquet"):
        import_all(read, table)
    table.unlink()
    with pytest.raises(UserError, match="holds no GenArena files"):
        import_all(read, tmp_path)
    with pytest.raises(UserError, match="no option 'datset'"):
        import_all(read, tmp_path, datset="x")


def test_a_file_that_is_no_use_leaves_the_others_in(tmp_path: Path) -> None:
    root = make(tmp_path)
    (root / "data/basic/data-9.parquet").write_bytes(b"")
    (root / "data/basic/old.parquet").write_bytes(b"")
    (root / "arena/multiref/pk_logs" / EXPERIMENT / "config.json").write_text("{")
    (root / "arena/multiref/models" / EXPERIMENT / "model_names.json").write_text("[]")
    intake = import_all(read, root)
    assert reasons(intake) == [
        "data/basic/old.parquet: GenArena reads only files called data-*.parquet",
        "data/basic/data-9.parquet: the file is empty.",
        f"arena/multiref/models: arena/multiref/models/{EXPERIMENT}/model_names.json: "
        "expected an object of folder names and model names.",
        f"arena/multiref/pk_logs/{EXPERIMENT}: arena/multiref/pk_logs/{EXPERIMENT}/config.json: "
        "line 1 is not JSON (Expecting property name enclosed in double quotes)",
    ]
    assert len(intake.all(Item)) == 5
    assert len(intake.all(Judgment)) == 12


@pytest.mark.parametrize("kind", sorted(BROKEN))
def test_a_broken_picture_leaves_one_row_out(tmp_path: Path, kind: str) -> None:
    rows = [entry(0, input_images=[{"bytes": BROKEN[kind], "path": None}]), entry(1)]
    write_benchmark(tmp_path / "basic/data-0.parquet", rows)
    intake = import_all(read, tmp_path)
    assert [item.key for item in intake.all(Item)] == ["basic/1"]
    assert [(skip.file, skip.row) for skip in intake.skips] == [("basic/data-0.parquet", "row 0")]


@pytest.mark.parametrize("kind", sorted(UNUSUAL))
def test_an_unusual_picture_is_kept_byte_for_byte(tmp_path: Path, kind: str) -> None:
    write_benchmark(
        tmp_path / "basic/data-0.parquet", [entry(0, input_images=[{"bytes": UNUSUAL[kind], "path": None}])]
    )
    intake = import_all(read, tmp_path)
    (source,) = intake.all(Item)[0].sources
    assert intake.blobs[source.sha256] == UNUSUAL[kind]


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3),
)


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    field=st.sampled_from(
        ["model_a", "model_b", "sample_index", "final_winner", "is_consistent", "timestamp", "imarena_repeat"]
    ),
    value=JSON,
)
def test_any_value_in_a_line_gives_a_record_that_can_be_stored_or_a_skip(
    tmp_path: Path, field: str, value: Any
) -> None:
    log = write_lines(tmp_path / "pk_logs/e_20260101/x.jsonl", [{**battle("a", "b", 0, "a"), field: value}])
    intake = import_all(read, log)
    assert len(intake.all(Judgment)) + len(intake.skips) == 1
    for judgment in intake.all(Judgment):
        assert Judgment.from_json(judgment.to_json()).same_fact(judgment)


def test_a_table_that_is_a_link_out_is_not_opened(tmp_path: Path) -> None:
    root = make(tmp_path / "in")
    write_benchmark(tmp_path / "outside.parquet", [entry(7)])
    (root / "data/basic/data-7.parquet").symlink_to(tmp_path / "outside.parquet")
    intake = import_all(read, root)
    link = "data/basic/data-7.parquet"
    assert reasons(intake) == [f"{link}: the path '{link}' is a link that leads out of the folder"]
    assert len(intake.all(Item)) == 5


def test_other_content_under_a_known_key_is_refused(tmp_path: Path) -> None:
    intake = import_all(read, make(tmp_path / "one"))
    write_benchmark(tmp_path / "two/basic/data-0.parquet", [entry(0, instruction="something else")])
    intake.take(read(tmp_path / "two", intake, {}))
    assert "has an item 'basic/0' with other content already" in reasons(intake)[0]
    assert import_all(read, tmp_path / "two", dataset="mine").all(Item)[0].dataset == "mine"


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
