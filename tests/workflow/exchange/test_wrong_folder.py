"""An import of the wrong folder or of the wrong column warns, names the data set, and can be taken back."""

from pathlib import Path

import pytest

from tests import samples
from tests.command import Imarena


@pytest.fixture
def bench(imarena: Imarena, tmp_path: Path) -> Path:
    """A benchmark of two items with two editors, and a workspace that holds it."""
    folder = tmp_path / "bench"
    for name in ("photos", "outputs/old", "outputs/new"):
        (folder / name).mkdir(parents=True)
        for number, key in enumerate(("cat", "fig")):
            (folder / name / f"{key}.png").write_bytes(samples.png(3 * number + len(name)))
    (folder / "items.csv").write_text("key,instruction,source\ncat,red,photos/cat.png\nfig,blue,photos/fig.png\n")
    imarena("init", "arena")
    ended = imarena("-w", "arena", "import", "table", "bench")
    assert "data set 'bench': 2 items" in ended.out
    assert "warning" not in ended.out + ended.err
    return folder


def test_folders_of_outputs_are_imported_with_a_warning(imarena: Imarena, bench: Path) -> None:
    ended = imarena("-w", "arena", "import", "table", "bench/outputs")
    assert "data set 'outputs': 2 items" in ended.out
    assert "No item of data set 'outputs' has an instruction" in ended.out
    assert "as the outputs of editors (new, old)" in ended.out
    assert str(bench / "items.csv") in ended.out
    assert "2 items of it are also in the data set 'bench'" in ended.out
    assert "imarena -w arena dataset remove outputs --yes" in ended.out


def test_json_has_the_data_sets_and_the_notices(imarena: Imarena, bench: Path) -> None:
    found = imarena("-w", "arena", "--json", "import", "table", "bench/outputs").json
    assert found["datasets"] == {"outputs": 2}
    assert [notice["code"] for notice in found["notices"]] == ["folders_as_editors", "dataset_repeated"]
    again = imarena("-w", "arena", "--json", "import", "table", "bench").json
    assert again["datasets"] == {"bench": 2}
    assert again["notices"] == []


def test_a_folder_one_level_too_high_names_the_right_one(imarena: Imarena, bench: Path) -> None:
    ended = imarena("-w", "arena", "import", "table", ".", code=2)
    assert "bench/items.csv is one" in ended.err
    assert f"Import the folder of the table: {bench}" in ended.err


def test_other_items_with_the_same_keys_are_no_repetition(imarena: Imarena, bench: Path, tmp_path: Path) -> None:
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "items.csv").write_text("key,instruction\ncat,draw a cat\nfig,draw a fig\n")
    ended = imarena("-w", "arena", "--json", "import", "table", "other")
    assert "dataset_repeated" not in [notice["code"] for notice in ended.json["notices"]]


def test_a_table_without_source_suggests_the_usual_column(imarena: Imarena, bench: Path, tmp_path: Path) -> None:
    (tmp_path / "own.csv").write_text("key,instruction,image\ncat,draw a cat,bench/photos/cat.png\n")
    ended = imarena("-w", "arena", "import", "table", "own.csv")
    assert "--columns source=image" in ended.out


def test_a_submission_check_names_the_repeated_data_set(imarena: Imarena, bench: Path) -> None:
    assert imarena("-w", "arena", "submission", "check", "bench/outputs/old").code == 0
    imarena("-w", "arena", "import", "table", "bench", "-o", "dataset=again")
    ended = imarena("-w", "arena", "submission", "check", "bench/outputs/old", code=3)
    assert "The data sets again, bench have items with the same keys" in ended.out
    assert "imarena -w arena dataset remove NAME" in ended.out
    found = imarena("-w", "arena", "--json", "submission", "check", "bench/outputs/old", code=3).json
    assert found["datasets_with_same_keys"] == ["again", "bench"]


def test_a_misspelt_column_gets_a_suggestion(imarena: Imarena, bench: Path) -> None:
    ended = imarena("-w", "arena", "import", "table", "bench", "--columns", "instruction=instructin", code=2)
    assert "Did you mean 'instruction'? The file has: key, instruction, source." in ended.err


def test_images_of_other_types_name_the_step(imarena: Imarena, bench: Path) -> None:
    (bench / "outputs" / "new" / "cat.heic").write_bytes(b"x")
    (bench / "outputs" / "new" / "notes.txt").write_text("x")
    ended = imarena("-w", "arena", "import", "table", "bench", code=3)
    assert "cat.heic: save this image as PNG or JPEG" in ended.out
    assert "notes.txt: not an image, by its name" in ended.out
