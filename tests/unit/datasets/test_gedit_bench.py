"""GEdit-Bench: Parquet, result trees and score tables."""

import math
from collections import Counter
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from imarena.core.errors import UserError
from imarena.core.records import Item, Judgment, Output
from imarena.datasets.gedit_bench import read
from tests.unit.datasets.intake import MemoryIntake, import_all, picture

HEADER = "source_image,edited_image,instruction,sementics_score,quality_score,intersection_exist,instruction_language"


def row(key: str, task: str, language: str, seed: int, **changes: Any) -> dict[str, Any]:
    image = {"bytes": picture(seed), "path": None}
    return {
        "key": key, "task_type": task, "instruction": f"do {key}", "instruction_language": language,
        "input_image": image, "input_image_raw": image, "Intersection_exist": seed % 2 == 0, **changes,
    }  # fmt: skip


ROWS = [row("k1", "color_alter", "en", 1), row("k2", "color_alter", "cn", 2), row("k3", "subject-add", "en", 3)]


def table(path: Path, rows: list[dict[str, Any]]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    pq.write_table(pa.Table.from_pylist(rows), path)


def tree(root: Path, model: str, seed: int, *, sources: bool = True) -> None:
    for number, values in enumerate(ROWS):
        folder = root / "results" / model / "fullset" / values["task_type"] / values["instruction_language"]
        folder.mkdir(parents=True, exist_ok=True)
        (folder / f"{values['key']}.png").write_bytes(picture(seed + number))
        if sources:
            (folder / f"{values['key']}_SRCIMG.png").write_bytes(values["input_image"]["bytes"])


def scores(root: Path, lines: list[str]) -> None:
    path = root / "scores/gpt4o/flux_color_alter_en_vie_score.csv"
    path.parent.mkdir(parents=True)
    path.write_text("\n".join([HEADER, *lines]) + "\n")


def line(task: str, language: str, key: str, semantics: str, quality: str, model: str = "flux") -> str:
    place = f"/some/where/{model}/fullset/{task}/{language}/{key}"
    return f"{place}_SRCIMG.png,{place}.png,do {key},{semantics},{quality},True,{language}"


GOOD = [line("color_alter", "en", "k1", "8", "5.0"), line("color_alter", "cn", "k2", "0", "7")]


def make(root: Path) -> Path:
    table(root / "data/train.parquet", ROWS)
    tree(root, "flux", 50)
    tree(root, "a_vs_b", 60)
    scores(root, GOOD)
    return root


def test_items_outputs_and_scores_are_counted(tmp_path: Path) -> None:
    intake = import_all(read, make(tmp_path))
    assert intake.skips == []
    items = {item.key: item for item in intake.all(Item)}
    assert {key: (item.language, item.task) for key, item in items.items()} == {
        "color_alter/en/k1": ("en", "color_alter"),
        "color_alter/cn/k2": ("zh", "color_alter"),
        "subject-add/en/k3": ("en", "subject-add"),
    }
    assert items["color_alter/cn/k2"].provenance == {"intersection_exist": True}
    assert Counter(output.editor for output in intake.all(Output)) == {"flux": 3, "a_vs_b": 3}
    first, second = intake.all(Judgment)
    assert first.score == pytest.approx(math.sqrt(40))
    assert first.scores == {"semantics": 8, "quality": 5}
    assert (second.score, first.judge) == (0, "gpt4o")


def test_importing_twice_gives_the_same_ids(tmp_path: Path) -> None:
    root = make(tmp_path)
    intake = import_all(read, root)
    before = ids(intake)
    intake.take(read(root, intake, {}))
    assert intake.skips == []
    assert ids(intake) == before
    assert len(before) == 3 + 6 + 2


def ids(intake: MemoryIntake) -> set[str]:
    return (
        {item.item_id for item in intake.all(Item)}
        | {output.output_id for output in intake.all(Output)}
        | {judgment.judgment_id for judgment in intake.all(Judgment)}
    )


def test_a_tree_alone_brings_its_sources_and_takes_instructions_from_the_scores(tmp_path: Path) -> None:
    tree(tmp_path, "flux", 50)
    scores(tmp_path, [*GOOD, line("color_alter", "en", "k9", "1", "1", model="ghost")])
    intake = import_all(read, tmp_path, judge="gpt-4.1-2025-04-14")
    assert intake.skips == []
    items = {item.key: item for item in intake.all(Item)}
    assert items["color_alter/en/k1"].absent == ()
    assert items["color_alter/en/k1"].instruction == "do k1"
    assert items["subject-add/en/k3"].absent == ("the instruction of subject-add/en/k3",)
    assert items["color_alter/en/k9"].absent == ("the source image of color_alter/en/k9",)
    ghost = [output for output in intake.all(Output) if output.editor == "ghost"]
    assert [output.image for output in ghost] == [None]
    assert {judgment.judge for judgment in intake.all(Judgment)} == {"gpt-4.1-2025-04-14"}


def test_bad_rows_are_left_out_with_file_and_row(tmp_path: Path) -> None:
    table(
        tmp_path / "a.parquet",
        [
            ROWS[0], ROWS[0], row("k4", "x", "zz", 4), row("", "x", "en", 5),
            row("k5", "x", "en", 6, input_image={"bytes": b"no picture", "path": None}),
        ],
    )  # fmt: skip
    tree(tmp_path, "flux", 50)
    scores(
        tmp_path,
        [
            GOOD[0], line("color_alter", "en", "k1", "41", "5"), line("color_alter", "en", "k1", "good", "5"),
            line("color_alter", "en", "k1", "", "5"), line("color_alter", "en", "gone", "1", "5"), "a.png,b.png,x,1,2,True,en",
        ],
    )  # fmt: skip
    (tmp_path / "other.csv").write_text("a,b\n1,2\n")
    (tmp_path / "empty.csv").write_text("")
    (tmp_path / "mixed.csv").write_bytes(HEADER.encode() + b"\ncaf\xe9,,,,,,\n")
    intake = import_all(read, tmp_path)
    assert [item.key for item in intake.all(Item)] == ["color_alter/en/k1"]
    assert len(intake.all(Output)) == len(intake.all(Judgment)) == 1
    found = [str(skip) for skip in intake.skips]
    for part in (
        "a.parquet, row 1: the key 'color_alter/en/k1' appears twice",
        "a.parquet, row 2: unknown instruction_language 'zz'",
        "a.parquet, row 3: one of key",
        "a.parquet, row 4: ",
        "k2.png: there is no item 'color_alter/cn/k2'",
        "line 3: sementics_score is 41, outside the scale 0 to 10",
        "line 4: sementics_score is 'good', not a number",
        "line 5: sementics_score is '', not a number",
        "line 6: there is no item 'color_alter/en/gone'",
        "line 7: edited_image 'b.png' is not",
        "other.csv: the columns edited_image, sementics_score and quality_score are missing",
        "empty.csv: the file is empty",
        "mixed.csv, line 2: not UTF-8",
    ):
        assert any(part in text for text in found), part
    assert len(found) == 14


def test_links_out_of_the_folder_are_named(tmp_path: Path) -> None:
    root = make(tmp_path / "in")
    (tmp_path / "secret.png").write_bytes(picture(1))
    (root / "results/flux/fullset/color_alter/en/k9.png").symlink_to(tmp_path / "secret.png")
    (root / "more.parquet").symlink_to(tmp_path / "secret.png")
    intake = import_all(read, root)
    assert len(intake.all(Output)) == 6
    assert sorted(skip.file for skip in intake.skips) == ["more.parquet", "results/flux/fullset/color_alter/en/k9.png"]
    assert all("leads out of the folder" in skip.reason for skip in intake.skips)


def test_nothing_and_unknown_options_raise(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="holds nothing of GEdit-Bench"):
        import_all(read, tmp_path)
    with pytest.raises(UserError, match="no option 'language'"):
        import_all(read, tmp_path, language="en")
    table(tmp_path / "x.parquet", [{"key": "a"}])
    with pytest.raises(
        UserError, match=r"x.parquet: the columns task_type, instruction and instruction_language are missing"
    ):
        import_all(read, tmp_path / "x.parquet")
    assert "the columns task_type" in str(import_all(read, tmp_path).skips[0])
