"""What an import and an export print: notes apart from warnings, causes before their consequences, whole sentences."""

from pathlib import Path

import pytest

from tests.command import Imarena
from tests.samples import png


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Three items with outputs, and a column that we do not use."""
    data = tmp_path / "data"
    for name in ("sources", "outputs/new"):
        (data / name).mkdir(parents=True)
    for number in range(3):
        (data / "sources" / f"k{number}.png").write_bytes(png(number))
        (data / "outputs" / "new" / f"k{number}.png").write_bytes(png(10 + number))
    rows = [f"k{number},make it red,sources/k{number}.png,kitchen" for number in range(3)]
    (data / "items.csv").write_text("\n".join(["key,instruction,source,room", *rows]) + "\n")
    return data


def test_a_stored_column_is_a_note(imarena: Imarena, folder: Path) -> None:
    imarena("init", "w")
    told = imarena("-w", "w", "import", "table", folder).out
    assert "note: items.csv: other columns are stored with the item: room" in " ".join(told.split())
    assert "warning" not in told


def test_the_missing_image_comes_before_the_outputs_of_its_item(imarena: Imarena, folder: Path) -> None:
    (folder / "sources" / "k1.png").unlink()
    (folder / "outputs" / "old").mkdir()
    (folder / "outputs" / "old" / "k1.png").write_bytes(png(7))
    imarena("init", "w")
    told = imarena("-w", "w", "import", "table", folder, code=3).out
    lines = [" ".join(line.split()) for line in told.splitlines() if line.startswith("left out")]
    assert "sources/k1.png" in lines[0]
    assert "2 x its item was left out: see items.csv, line 3" in lines[1]
    assert "no item with the key" not in told


def test_missing_outputs_of_a_folder_are_one_clear_cause(imarena: Imarena, folder: Path) -> None:
    imarena("init", "w")
    imarena("-w", "w", "import", "table", folder)
    (folder.parent / "part").mkdir()
    told = imarena("-w", "w", "edit", "-e", "folder:part", "--yes", code=None).out
    assert "3 x part, missing_output: The folder part has no image for this item, such as k0 and k1" in told
    assert "…" not in told
