"""The guide "Bring your own benchmark": its commands are run as they stand there, in its order."""

import csv
import shutil
from pathlib import Path

import pytest

from tests.command import Imarena
from tests.conftest import ROOT
from tests.cross_cutting.docs.blocks import blocks_of
from tests.small_data.small_arena import make_arena, write_folders

GUIDE = ROOT / "docs" / "guide" / "bring-your-own-benchmark.md"


def bench(root: Path) -> None:
    """The guide's folder: prompts.csv with one picture that is missing, sources, and outputs of two models."""
    make_arena(root / "made", items=4, habits=("exact", "artefacts", "returns-input"))
    write_folders(root / "made", root / "mybench")
    shutil.rmtree(root / "made")
    table = root / "mybench" / "items.csv"
    rows = list(csv.DictReader(table.open(encoding="utf-8", newline="")))
    table.unlink()
    with (root / "mybench" / "prompts.csv").open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["id", "prompt", "image", "category", "room"])
        for number, row in enumerate(rows):
            room = ("kitchen", "living room")[number % 2]
            writer.writerow([row["key"], row["instruction"], row["source"], row["task"], room])
        writer.writerow(["lost", "remove the lamp", "sources/lost.png", "remove", "kitchen"])
    for made, name in (("studio-exact", "new"), ("studio-artefacts", "old")):
        (root / "mybench" / "outputs" / made).rename(root / "mybench" / "outputs" / name)
    (root / "later").mkdir()
    (root / "mybench" / "outputs" / "studio-returns-input").rename(root / "later" / "newest")


@pytest.mark.slow
def test_from_a_folder_and_a_table_to_a_leaderboard(imarena: Imarena, tmp_path: Path) -> None:
    bench(tmp_path)
    printed: dict[str, str] = {}
    calls = [words for block in blocks_of("bring-your-own-benchmark.md", __file__) for words in block.commands()]
    for words in calls:
        partly = "import" in words  # one picture is missing
        ended = imarena(*words, code=3 if partly else 0)
        printed[" ".join(words[2:])] = ended.out + ended.err
    imported = next(text for command, text in printed.items() if command.startswith("import"))
    assert "new: 4 items, 8 outputs" in imported
    assert "left out: prompts.csv, line 6: the file 'sources/lost.png' is not there" in imported
    assert "room (`rank --by room` groups by one)" in imported
    for model in ("old", "new", "newest"):
        assert model in printed["rank"]
    assert "room kitchen" in printed["rank --by room"]
    assert "room living room" in printed["rank --by room"]
    assert (tmp_path / "arena" / "report.html").is_file()


def test_the_message_that_the_guide_shows(imarena: Imarena, tmp_path: Path) -> None:
    bench(tmp_path)
    imarena("init", "arena")
    ended = imarena("-w", "arena", "import", "table", "mybench", code=2)
    for line in ended.err.splitlines():
        assert line in GUIDE.read_text(encoding="utf-8")
