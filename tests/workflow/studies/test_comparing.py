"""A model team's first command: two folders of outputs, one verdict."""

import re
import shutil
from pathlib import Path

import pytest
from PIL import Image

from tests.command import Imarena
from tests.small_data.small_arena import make_arena, write_folders

ITEMS = 8


@pytest.fixture(scope="module")
def folders(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """items.csv, its pictures, and a folder of outputs for each of three editors."""
    root = tmp_path_factory.mktemp("folders")
    make_arena(root / "arena", items=ITEMS, habits=("exact", "artefacts", "returns-input"))
    write_folders(root / "arena", root / "data")
    return root / "data"


@pytest.fixture
def data(folders: Path, tmp_path: Path) -> Path:
    shutil.copytree(folders, tmp_path / "data")
    return tmp_path / "data"


def test_the_better_model_is_named_with_its_interval_and_examples(imarena: Imarena, data: Path, tmp_path: Path) -> None:
    words = ("data/outputs/studio-returns-input", "data/outputs/studio-exact", "--items", "data/items.csv")
    ended = imarena("compare", *words)
    assert "studio-exact is better than studio-returns-input." in ended.out
    assert ended.out.startswith("By the verdicts of judge builtin, studio-exact is better")
    assert "You do not need more items to decide which one is better.\n" in ended.out
    assert "ahead by: the difference of the judge's two scores, which go from 0 to 1,000" in ended.out
    assert "95% interval" in ended.out
    page = (tmp_path / "compare-report" / "index.html").read_text()
    assert "studio-exact is better" in page
    for name in page.split('src="')[1:]:
        assert (tmp_path / "compare-report" / name.split('"')[0]).is_file()
    assert not (tmp_path / "arena.db").exists(), "without --workspace nothing is kept"


@pytest.mark.slow
def test_json_mirrors_when_old_and_new_are_exchanged_and_a_kept_workspace_asks_nothing_twice(
    imarena: Imarena, data: Path
) -> None:
    old, new = "data/outputs/studio-artefacts", "data/outputs/studio-exact"
    there = imarena("-w", "kept", "--json", "compare", old, new, "--items", "data/items.csv").json
    back = imarena("-w", "kept", "--json", "compare", new, old, "--items", "data/items.csv").json
    assert there["judgments"] == back["judgments"] == {"ok": 2 * ITEMS}
    first, second = there["verdict"], back["verdict"]
    assert first["n_items"] == ITEMS
    assert first["wins"] + first["losses"] + first["ties"] == ITEMS
    assert (first["wins"], first["losses"]) == (second["losses"], second["wins"])
    assert first["win_rate"] == pytest.approx(1 - second["win_rate"])
    assert first["win_rate_low"] == pytest.approx(1 - second["win_rate_high"])
    assert first["win_rate_low"] < first["win_rate"] < first["win_rate_high"] or first["win_rate"] in (0.0, 1.0)
    gaps = [abs(row["gap"]) for row in there["differ_most"]]
    assert gaps == sorted(gaps, reverse=True)
    with_status = imarena("-w", "kept", "--json", "status").json
    assert with_status["judgments"]["builtin"] == {"ok": 2 * ITEMS}


@pytest.mark.slow
def test_missing_and_broken_outputs_are_told_and_count_for_nobody(imarena: Imarena, data: Path) -> None:
    new = data / "outputs" / "studio-exact"
    files = sorted(new.iterdir())
    files[0].unlink()
    files[1].write_bytes(b"not a picture")
    (new / "stranger.png").write_bytes(files[2].read_bytes())
    words = ("data/outputs/studio-returns-input", new, "--items", "data/items.csv")
    found = imarena("-w", "kept", "compare", *words, "--json", code=3).json
    assert found["coverage"]["studio-exact"]["outputs"] == ITEMS - 2
    assert found["verdict"]["n_items"] == ITEMS - 2
    assert [skip.split(":")[0] for skip in found["skips"]] == ["studio-exact"]
    assert [skip.startswith("studio-exact: stranger.png") for skip in found["not_asked"]] == [True]
    assert (
        f"has no output for 2 of 8 items: {files[0].stem}, {files[1].stem}."
        in imarena("-w", "kept", "compare", *words, code=3).out
    )


def test_equal_outputs_are_all_ties_and_one_item_settles_nothing(imarena: Imarena, data: Path) -> None:
    exact = "data/outputs/studio-exact"
    shutil.copytree(data / "outputs" / "studio-exact", data / "copy")
    ended = imarena("compare", exact, "data/copy", "--items", "data/items.csv")
    assert f"0 won, 0 lost, {ITEMS} tied" in ended.out
    assert "this judge sees no difference" in ended.out
    tied = next(line for line in ended.out.splitlines() if line.startswith("Tied: "))
    assert tied.count(",") == ITEMS - 1
    for file in sorted((data / "copy").iterdir())[1:]:
        file.unlink()
    ended = imarena("compare", "data/outputs/studio-returns-input", "data/copy", "--items", "data/items.csv", code=3)
    assert "has no output for 7 of 8 items" in ended.out
    assert ", ...." in " ".join(ended.out.split())
    assert "there is no clear difference between" in ended.out
    assert "1 won, 0 lost, 0 tied" in ended.out
    assert "About 5 more items would settle it" in ended.out  # six wins of six are the first clear sweep


def test_outputs_of_another_size_are_mentioned(imarena: Imarena, data: Path) -> None:
    shutil.copytree(data / "outputs" / "studio-exact", data / "copy")
    first = min((data / "copy").iterdir())
    with Image.open(first) as image:
        image.resize((image.width // 2, image.height // 2)).save(first)
    ended = imarena("compare", "data/outputs/studio-exact", "data/copy", "--items", "data/items.csv", "-w", "kept")
    assert f"copy: 1 output of 8 has another size than the source: {first.stem}." in ended.out
    gates = ("--fail-if", "worse", "--fail-if", "not-better")  # judges see it scaled: the data are complete
    gated = imarena(
        "compare", "data/outputs/studio-exact", "data/copy", "--items", "data/items.csv", "-w", "kept", *gates, code=4
    )
    assert "Gate 'worse': passed." in gated.out
    assert "Gate 'not-better': failed." in gated.out
    document = imarena(
        "--json", "compare", "data/outputs/studio-exact", "data/copy", "--items", "data/items.csv", "-w", "kept"
    ).json
    assert [notice["code"] for notice in document["notices"]] == ["judge_cannot_see", "outputs_of_other_size"]
    assert len(document["tied"]) >= ITEMS - 1


def test_a_folder_that_fits_no_item_is_one_clear_message(imarena: Imarena, data: Path, tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    words = ("--items", "data/items.csv")
    ended = imarena("compare", "data/outputs/studio-exact", "empty", *words, code=2)
    assert "<key>.png" in ended.err
    assert "no folder" in imarena("compare", "data/outputs/studio-exact", "nowhere", *words, code=2).err
    assert "no file" in imarena("compare", "empty", "data/outputs/studio-exact", "--items", "x.csv", code=2).err


def test_columns_of_the_table_may_have_other_names(imarena: Imarena, data: Path) -> None:
    table = data / "items.csv"
    head, _, rows = table.read_text(encoding="utf-8").partition("\n")
    table.write_text(head.replace("key", "id", 1).replace("instruction", "prompt", 1) + "\n" + rows, encoding="utf-8")
    words = ("compare", "data/outputs/studio-returns-input", "data/outputs/studio-exact", "--items", "data/items.csv")
    refused = imarena(*words, code=2).err
    names = re.search(r"--columns (\S+?)\.?$", refused, re.MULTILINE)
    assert names, refused
    assert imarena(*words, "--columns", names[1], "--json").json["verdict"]["n_items"] == ITEMS


def test_without_items_the_message_says_what_they_are(imarena: Imarena) -> None:
    told = imarena("compare", "old", "new", code=2).err
    assert "--items items.csv" in told
    assert "key (outputs are called KEY.png), instruction" in told


def test_a_wrong_path_of_a_source_comes_before_its_consequence(imarena: Imarena, data: Path) -> None:
    table = data / "items.csv"
    rows = table.read_text().splitlines()
    column = rows[0].split(",").index("source")
    folder = rows[1].split(",")[column].split("/")[0]
    table.write_text("\n".join([rows[0], *(row.replace(f"{folder}/", "nowhere/") for row in rows[1:])]) + "\n")
    ended = imarena(
        "compare", "data/outputs/studio-artefacts", "data/outputs/studio-exact", "--items", "data/items.csv", code=2
    )
    assert "No item of the table can be used: items.csv, line 2: the file 'nowhere/" in ended.err
    assert f"{ITEMS - 1} more rows cannot be used" in ended.err
    assert "belongs to an item" not in ended.err


def test_what_the_judge_cannot_judge_is_in_every_form_of_the_result(imarena: Imarena, data: Path) -> None:
    outputs = data / "outputs"
    words = ("compare", outputs / "studio-returns-input", outputs / "studio-exact", "--items", data / "items.csv")
    limits = "The judge builtin cannot judge: "
    ended = imarena("-w", "kept", *words, "--summary", "gate.md")
    assert limits in ended.out.replace("\n", " ")
    assert limits in (imarena.folder / "gate.md").read_text()
    assert limits in (imarena.folder / "compare-report" / "index.html").read_text()
    document = imarena("-w", "kept", "--json", *words).json
    assert [warning.startswith(limits) for warning in document["warnings"]] == [True]
    assert [notice["code"] for notice in document["notices"]] == ["judge_cannot_see"]
    # the same words as on the board
    assert document["warnings"][0] in imarena("-w", "kept", "rank", "--judge", "builtin", "--json").json["warnings"]


def test_files_that_no_item_asks_for_leave_the_gate_decided_and_a_part_of_the_items_is_enough(
    imarena: Imarena, data: Path
) -> None:
    old, new = data / "outputs" / "studio-returns-input", data / "outputs" / "studio-exact"
    words = ("compare", old, new, "--fail-if", "worse", "--items")
    imarena("-w", "kept", *words, data / "items.csv")
    for name in ("Thumbs.db", "metadata.json"):
        (new / name).write_text("{}")
    (new / "extra").mkdir()
    strays = imarena("-w", "kept", *words, data / "items.csv")
    assert "3 files belong to no item of the table and were not compared: studio-exact: Thumbs.db" in " ".join(
        strays.out.split()
    )
    assert "left out" not in strays.out
    head, *rows = (data / "items.csv").read_text().splitlines()
    (data / "part.csv").write_text("\n".join([head, *rows[:6]]) + "\n")
    for kept in ((), ("-w", "kept")):  # the workspace has all items; the table asks for six
        document = imarena(*kept, "--json", *words, data / "part.csv").json
        assert document["verdict"]["n_items"] == 6
        assert document["coverage"]["studio-exact"] == {"items": 6, "outputs": 6, "missing": []}
        assert document["skips"] == []
        assert document["gate"]["outcome"] == "passed"
    min(new.glob("*.png")).write_bytes(b"not a picture")
    broken = imarena(*words, data / "part.csv", code=3).out
    assert "data are incomplete" in broken
    assert "has no output for 1 of 6 items" in broken


def test_few_items_state_what_they_can_show(imarena: Imarena, data: Path) -> None:
    head, *rows = (data / "items.csv").read_text().splitlines()
    (data / "part.csv").write_text("\n".join([head, *rows[:3]]) + "\n")
    outputs = data / "outputs"
    words = ("compare", outputs / "studio-returns-input", outputs / "studio-exact", "--items", data / "part.csv")
    told = " ".join(imarena(*words).out.split())
    assert "By the verdicts of judge builtin, there is no clear difference between studio-exact and" in told
    assert "With 3 items, no difference, however large, would be detected in 4 of 5 comparisons." in told
