"""VCReward-Bench: pairs, the experts' choice, and judges' answers."""

from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from imarena.core.errors import UserError
from imarena.core.records import Item, Judgment, Outcome, Output, Rater, Status, Vote
from imarena.datasets.vcreward import EXPERTS, read
from tests.unit.datasets.genarena.genarena_sample import write_lines
from tests.unit.datasets.intake import import_all, picture


def image(seed: int) -> dict[str, Any]:
    return {"bytes": picture(seed), "path": None}


def row(number: int, winner: str, **changes: Any) -> dict[str, Any]:
    return {
        "key": f"color_alter_pair_{number}", "instruction": f"do {number}", "source_image": image(number),
        "edited_images": [image(10 + number), image(20 + number)], "winner": winner, "task": "color_alter", **changes,
    }  # fmt: skip


def make(root: Path, rows: list[dict[str, Any]]) -> Path:
    (root / "data").mkdir(parents=True, exist_ok=True)
    pq.write_table(pa.Table.from_pylist(rows), root / "data/test-0.parquet")
    return root


def test_pairs_become_votes_on_visual_consistency(tmp_path: Path) -> None:
    intake = import_all(read, make(tmp_path, [row(0, "Image A"), row(1, "Image B"), row(2, "Image A")]))
    assert intake.skips == []
    assert [rater.rater_id for rater in intake.all(Rater)] == [EXPERTS]
    assert [(item.key, item.task) for item in intake.all(Item)][1] == ("color_alter_pair_1", "color_alter")
    assert [output.editor for output in intake.all(Output)] == [None] * 6
    votes = intake.all(Vote)
    assert [(vote.preference, vote.dimension) for vote in votes] == [
        (Outcome.LEFT, "visual_consistency"), (Outcome.RIGHT, "visual_consistency"), (Outcome.LEFT, "visual_consistency"),
    ]  # fmt: skip
    images = {output.output_id: output.image for output in intake.all(Output)}
    left = images[votes[0].left_id]
    assert left is not None
    assert intake.blobs[left.sha256] == picture(10)


def test_the_same_picture_on_both_sides_stays_two_outputs(tmp_path: Path) -> None:
    intake = import_all(read, make(tmp_path, [row(0, "Image A", edited_images=[image(5), image(5)])]))
    assert len({output.output_id for output in intake.all(Output)}) == 2


def test_results_become_judgments_and_a_failure_is_a_status(tmp_path: Path) -> None:
    root = make(tmp_path, [row(0, "Image A"), row(1, "Image B")])
    lines = [
        {"key": "color_alter_pair_0", "results": {"winner": "Image B", "gt_winner": "Image A", "raw_responses": {}}},
        {"key": "color_alter_pair_1", "results": {"winner": "Failed", "gt_winner": "Image B"}},
        {"key": "color_alter_pair_9", "results": {"winner": "Tie"}},
        {"key": "color_alter_pair_0", "results": {"winner": "maybe"}},
        {"key": "color_alter_pair_0"},
    ]
    write_lines(root / "vc_reward/eval_vc_gpt5d1/20260401.jsonl", lines)
    intake = import_all(read, root, judge="gpt-5.1")
    wrong, failed = intake.all(Judgment)
    assert (wrong.preference, wrong.judge, wrong.dimension) == (Outcome.RIGHT, "gpt-5.1", "visual_consistency")
    assert (failed.status, failed.preference) == (Status.API_ERROR, None)
    assert [str(skip).partition(", ")[2] for skip in intake.skips] == [
        "line 3: there is no pair 'color_alter_pair_9' in this import",
        "line 4: unknown outcome 'maybe': expected 'Image A', 'Image B', 'Tie' or 'Failed'",
        "line 5: expected an object with key and results",
    ]


def test_importing_twice_gives_the_same_ids(tmp_path: Path) -> None:
    root = make(tmp_path, [row(0, "Image A"), row(1, "Image B")])
    intake = import_all(read, root)
    before = {vote.vote_id for vote in intake.all(Vote)} | {output.output_id for output in intake.all(Output)}
    intake.take(read(root, intake, {}))
    assert intake.skips == []
    assert {vote.vote_id for vote in intake.all(Vote)} | {output.output_id for output in intake.all(Output)} == before
    assert len(before) == 2 + 4


def test_the_older_layout_with_files_is_read_too(tmp_path: Path) -> None:
    (tmp_path / "img").mkdir()
    for name in ("s", "a", "b"):
        (tmp_path / f"img/{name}.png").write_bytes(picture(ord(name)))
    line = row(0, "Image B", source_image="img/s.png", edited_images=["img/a.png", "img/b.png"])
    write_lines(
        tmp_path / "metadata.jsonl", [line, {**line, "key": "x", "source_image": "../s.png"}, {"key": "y"}, "nonsense"]
    )
    intake = import_all(read, tmp_path)
    assert [vote.preference for vote in intake.all(Vote)] == [Outcome.RIGHT]
    assert [str(skip) for skip in intake.skips] == [
        "metadata.jsonl, line 2: the path '../s.png' leads out of the folder",
        "metadata.jsonl, line 3: the field instruction is missing",
        "metadata.jsonl, line 4: not JSON (Expecting value)",
    ]


def test_bad_rows_are_left_out_with_file_and_row(tmp_path: Path) -> None:
    rows = [
        row(0, "Image A"), row(0, "Image A"), row(1, "Image C"), row(2, "Image A", edited_images=[image(1)]),
        row(3, "Image A", source_image={"bytes": picture(1, size=(99, 99))[:70], "path": None}),
    ]  # fmt: skip
    intake = import_all(read, make(tmp_path, rows))
    assert len(intake.all(Vote)) == 1
    found = [str(skip) for skip in intake.skips]
    assert found[0] == "data/test-0.parquet, row 1: the key 'color_alter_pair_0' appears twice"
    assert found[1] == "data/test-0.parquet, row 2: unknown outcome 'Image C': expected 'Image A', 'Image B' or 'Tie'"
    assert found[2] == "data/test-0.parquet, row 3: expected two edited images, got 1"
    assert found[3].startswith("data/test-0.parquet, row 4: ")


def test_whole_file_problems_raise(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="holds nothing of VCReward-Bench"):
        import_all(read, tmp_path)
    pq.write_table(pa.table({"key": ["x"]}), tmp_path / "t.parquet")
    with pytest.raises(UserError, match="the columns instruction, source_image, edited_images and winner are missing"):
        import_all(read, tmp_path / "t.parquet")
    assert "are missing" in str(import_all(read, tmp_path).skips[0])
