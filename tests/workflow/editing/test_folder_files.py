"""`edit -e folder:PATH` mentions the files that belong to no item; failures are printed once per cause."""

from pathlib import Path

import pytest

from imarena.editors import failure_advice
from tests import samples
from tests.command import Imarena


@pytest.fixture
def root(imarena: Imarena, tmp_path: Path) -> Path:
    """Items a to d (the last of two turns) and a folder with outputs of some of them."""
    own = tmp_path / "own"
    own.mkdir()
    rows = [f"{key},make it red,,{key}.png" for key in "abc"] + ["d,make it red,make it blue,d.png"]
    (own / "items.csv").write_text("key,instruction,instruction_2,source\n" + "\n".join(rows) + "\n")
    for number, key in enumerate("abcd"):
        (own / f"{key}.png").write_bytes(samples.png(number))
    imarena("init", "arena")
    imarena("-w", "arena", "import", "table", "own")
    return tmp_path


def put(root: Path, *names: str) -> None:
    for number, name in enumerate(names):
        path = root / "made" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(samples.png(100 + number))


def test_files_that_match_no_item_are_counted_and_named(imarena: Imarena, root: Path) -> None:
    put(root, "a.png", "own/b.webp", "d/1.png", "d/complex.png", "B.png", "d.png", "old/x1.png", "old/x2.jpg")
    (root / "made" / "notes.txt").write_text("not a picture")
    for more in ((), ("--dry-run",)):
        ended = imarena("-w", "arena", "edit", "-e", "folder:made", *more, code=None)
        assert "4 files in the folder match no item (B.png, d.png, old/x1.png, ...)" in " ".join(ended.err.split())
    estimate = imarena("-w", "arena", "--json", "edit", "-e", "folder:made", "--dry-run").json["estimates"][0]
    assert estimate["unmatched_files"] == ["B.png", "d.png", "old/x1.png", "old/x2.jpg"]


def test_a_folder_that_fits_says_nothing(imarena: Imarena, root: Path) -> None:
    put(root, "a.png", "b.png", "c.jpeg", "d/1.png", "d/2.png")
    ended = imarena("-w", "arena", "edit", "-e", "folder:made")
    assert "match" not in ended.err


def test_the_estimate_names_the_files_that_a_mode_expects(imarena: Imarena, root: Path) -> None:
    put(root, "a.png", "b.png", "c.png", "d/1.png", "d/2.png")
    command = ("-w", "arena", "edit", "-e", "folder:made", "--mode", "all")
    assert "1 file is expected and not in the folder (d/complex.png)" in " ".join(imarena(*command, code=3).err.split())
    again = imarena("-w", "arena", "edit", "-e", "folder:made", "--as", "second", "--mode", "all", "--dry-run")
    assert "5 files to read, 0 done before; free" in again.err
    (estimate,) = imarena("--json", *command, "--dry-run").json["estimates"]
    assert estimate["absent_files"] == ["d/complex.png"]
    status = imarena("-w", "arena", "--json", "status").json
    assert status["coverage"]["made"] == 5 / 6
    assert status["missing"] == {"outputs missing_output": 1}
    assert status["not_run"] == {}


def test_status_counts_what_an_imported_folder_lacks(imarena: Imarena, root: Path) -> None:
    (root / "own" / "outputs" / "theirs").mkdir(parents=True)
    (root / "own" / "outputs" / "theirs" / "a.png").write_bytes(samples.png(7))
    imarena("-w", "arena", "import", "table", "own")
    status = imarena("-w", "arena", "--json", "status").json
    assert status["coverage"] == {"theirs": 0.25}
    assert status["not_run"] == {"theirs": 3}
    assert "3 not run" in imarena("-w", "arena", "status").out


def test_failures_are_printed_once_per_cause(imarena: Imarena, root: Path) -> None:
    put(root, "a.png")
    ended = imarena("-w", "arena", "edit", "-e", "folder:made", code=3)
    lines = [line.strip() for line in ended.out.splitlines() if "failed:" in line]
    assert lines == ["failed: 2 x made, missing_output: The folder made has no image for this item, such as b and c"]
    report = imarena("-w", "arena", "--json", "edit", "-e", "folder:made", code=3).json["report"]
    assert [(cause["count"], cause["examples"]) for cause in report["failures"]] == [(2, ["b", "c"])]


def test_the_advice_for_a_missing_file_is_about_files(imarena: Imarena, root: Path) -> None:
    put(root, "a.png", "d/2.png")
    shown = " ".join(imarena("-w", "arena", "edit", "-e", "folder:made", "--mode", "all", code=3).out.split())
    advice = shown.split("What to do about missing_output: ")[1]
    assert advice.startswith("No file for these items. Name files as `imarena -w arena status --items` lists them")
    assert "--wrap" not in advice
    assert "1 later turn was skipped: the previous turn has no image" in shown
    mixed = failure_advice(
        ["missing_output"],
        {
            "made: missing_output": "The folder made has no image for this item.",
            "program: missing_output": "no picture",
        },
    )["missing_output"]
    assert mixed.startswith("For a folder: No file for these items.")
    assert "Else: No image was returned." in mixed


def test_a_folder_without_its_prefix_is_suggested_with_it(imarena: Imarena, root: Path) -> None:
    put(root, "a.png")
    assert "Did you mean 'folder:made'?" in imarena("-w", "arena", "edit", "-e", "made", code=2).err


def test_names_in_another_case_are_one_sentence_with_the_step(imarena: Imarena, root: Path) -> None:
    put(root, "A.jpg", "B.png", "c.png", "d/1.png", "d/2.png")
    ended = " ".join(imarena("-w", "arena", "edit", "-e", "folder:made", "--dry-run").err.split())
    assert "2 files in the folder match no item (A.jpg, B.png)." in ended
    assert "rename A.jpg to a.jpg, B.png to b.png." in ended
    assert "expected and not in the folder" not in ended
    assert ended.count("imarena -w arena status --items") == 1
