"""EditScore's EditReward-Bench: the first output won, the dimension is kept, the side says nothing."""

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from imarena.core.errors import UserError
from imarena.core.records import Item, Outcome, Output, Vote
from imarena.datasets import editscore_bench
from tests.unit.datasets.bad_pictures import BROKEN, UNUSUAL
from tests.unit.datasets.intake import MemoryIntake, import_all, picture


def row(number: int, **changes: Any) -> dict[str, Any]:
    cell = [{"bytes": picture(100 * number + n), "path": None} for n in range(3)]
    return {
        "key": [f"k{number}a", f"k{number}b"],
        "instruction": f"edit {number}",
        "input_image": cell[0],
        "output_images": cell[1:],
        "task_type": "color",
        "dimension": "overall",
        **changes,
    }


def parquet(path: Path, rows: list[dict[str, Any]]) -> Path:
    pq.write_table(pa.Table.from_pylist(rows), path)
    return path


def told(intake: MemoryIntake) -> list[str]:
    return [str(skip) for skip in intake.skips]


def winner(intake: MemoryIntake, vote: Vote) -> bytes:
    images = {output.output_id: output.image for output in intake.all(Output)}
    image = images[vote.left_id if vote.preference is Outcome.LEFT else vote.right_id or ""]
    assert image is not None
    return intake.load(image)


def test_the_first_output_won(tmp_path: Path) -> None:
    intake = import_all(editscore_bench.read, parquet(tmp_path / "a.parquet", [row(n) for n in range(40)]))
    assert told(intake) == []
    counts = Counter(type(record).__name__ for record in intake.taken)
    assert counts == {"Rater": 1, "Item": 40, "Output": 80, "Vote": 40}
    for n, vote in enumerate(intake.all(Vote)):
        assert winner(intake, vote) == picture(100 * n + 1)
    assert 8 < sum(vote.preference is Outcome.LEFT for vote in intake.all(Vote)) < 32, "sides carry no signal"
    assert {output.editor for output in intake.all(Output)} == {None}


def test_dimensions_of_one_pair_share_item_and_outputs(tmp_path: Path) -> None:
    first = row(1, dimension="prompt_following")
    second = row(1, dimension="consistency")
    second |= {"key": first["key"][::-1], "output_images": first["output_images"][::-1]}
    intake = import_all(editscore_bench.read, parquet(tmp_path / "a.parquet", [first, second]))
    assert told(intake) == []
    assert len(intake.all(Item)) == 1
    assert len(intake.all(Output)) == 2
    following, consistency = intake.all(Vote)
    assert (following.dimension, consistency.dimension) == ("prompt_following", "consistency")
    assert (following.left_id, following.right_id) == (consistency.left_id, consistency.right_id)
    assert following.preference is not consistency.preference


def test_json_lines_with_picture_files(tmp_path: Path) -> None:
    for n in range(3):
        (tmp_path / f"{n}.png").write_bytes(picture(n))
    line = row(1, input_image="0.png", output_images=["1.png", "2.png"])
    (tmp_path / "a.jsonl").write_text(json.dumps(line) + "\n")
    assert len(import_all(editscore_bench.read, tmp_path).all(Vote)) == 1


def test_a_second_import_gives_the_same_ids(tmp_path: Path) -> None:
    path = parquet(tmp_path / "a.parquet", [row(1), row(2)])
    intake = import_all(editscore_bench.read, path)
    before = {vote.vote_id for vote in intake.all(Vote)}
    intake.take(editscore_bench.read(path, intake, {}))
    assert {vote.vote_id for vote in intake.all(Vote)} == before


@pytest.mark.parametrize(
    ("changes", "complaint"),
    [
        ({"dimension": "beauty"}, "the dimension is 'beauty'"),
        ({"key": ["k1a", "k1b"]}, "appears twice"),
        ({"key": ["one"]}, "not a list of two names"),
        ({"task_type": ""}, "the field task_type is empty"),
        ({"output_images": [{"bytes": picture(1), "path": None}]}, "not a list of two images"),
        ({"output_images": [{"bytes": picture(1), "path": None}] * 2}, "the same image"),
        ({"input_image": {"bytes": None, "path": "../x.png"}}, "out of the folder"),
        *[({"input_image": {"bytes": data, "path": None}}, "input_image") for data in BROKEN.values()],
    ],
)
def test_a_bad_row_is_named_and_the_others_stay(tmp_path: Path, changes: dict[str, Any], complaint: str) -> None:
    path = parquet(tmp_path / "a.parquet", [row(1), row(2, **changes), row(3)])
    intake = import_all(editscore_bench.read, path)
    (line,) = told(intake)
    assert line.startswith("a.parquet, row 1: ")
    assert complaint in line
    assert len(intake.all(Vote)) == 2


@pytest.mark.parametrize("name", sorted(UNUSUAL))
def test_unusual_pictures_are_kept(tmp_path: Path, name: str) -> None:
    path = parquet(tmp_path / "a.parquet", [row(1, input_image={"bytes": UNUSUAL[name], "path": None})])
    intake = import_all(editscore_bench.read, path)
    assert told(intake) == []
    assert UNUSUAL[name] in intake.blobs.values()


def test_a_missing_column_and_unknown_options_are_told(tmp_path: Path) -> None:
    path = parquet(tmp_path / "a.parquet", [{"key": ["a", "b"]}])
    assert "a.parquet: the columns instruction" in told(import_all(editscore_bench.read, path))[0]
    with pytest.raises(UserError, match="no option"):
        import_all(editscore_bench.read, path, split="test")
