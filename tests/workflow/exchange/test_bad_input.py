"""Bad input through the command line: one clear line that names the file and the row, the good records stay in."""

from collections.abc import Callable
from pathlib import Path

import pytest

from imarena.core.ids import sha256_hex
from tests import samples
from tests.command import Ended, Imarena
from tests.unit.datasets.bad_pictures import BROKEN, UNUSUAL

Spoil = Callable[[Path], object]
REASONS = {"truncated": "truncated", "bomb": "900,000,000", "text": "not an image", "empty": "empty"}


def good_folder(root: Path) -> Path:
    """Two good items with an output each, and a vote."""
    (root / "outputs" / "one").mkdir(parents=True)
    (root / "outputs" / "two").mkdir(parents=True)
    (root / "items.csv").write_text("key,instruction,source\na,make it red,a.png\nb,make it blue,b.png\n")
    for n, key in enumerate("ab"):
        (root / f"{key}.png").write_bytes(samples.png(n))
        (root / "outputs" / "one" / f"{key}.png").write_bytes(samples.png(10 + n))
        (root / "outputs" / "two" / f"{key}.png").write_bytes(samples.png(20 + n))
    (root / "votes.csv").write_text("key,left,right,winner,rater\na,one,two,left,r1\n")
    return root


def run_import(imarena: Imarena, folder: Path, code: int) -> Ended:
    imarena("init", "arena")
    ended = imarena("-w", "arena", "--json", "import", "table", folder, code=code)
    assert "Traceback" not in ended.err
    assert imarena("-w", "arena", "--json", "verify", "--deep").json["clean"] is True
    return ended


def add_row(folder: Path, row: str) -> None:
    with (folder / "items.csv").open("a") as file:
        file.write(row + "\n")


@pytest.mark.parametrize("name", BROKEN)
def test_a_bad_picture_is_left_out_by_name(imarena: Imarena, tmp_path: Path, name: str) -> None:
    folder = good_folder(tmp_path / "data")
    (folder / "bad.png").write_bytes(BROKEN[name])
    add_row(folder, "c,make it green,bad.png")
    report = run_import(imarena, folder, code=3).json
    (skip,) = report["skips"]
    assert "items.csv" in skip["file"]
    assert "4" in skip["row"]
    assert "bad.png" in skip["reason"]
    assert REASONS[name] in skip["reason"]
    assert report["new"]["Item"] == 2


def test_a_path_that_leaves_the_folder(imarena: Imarena, tmp_path: Path) -> None:
    (tmp_path / "secret.png").write_bytes(samples.png(99))
    folder = good_folder(tmp_path / "data")
    add_row(folder, "c,make it green,../secret.png")
    report = run_import(imarena, folder, code=3).json
    assert "out of the folder" in report["skips"][0]["reason"]
    assert report["new"]["Item"] == 2


def test_a_link_out_of_the_folder(imarena: Imarena, tmp_path: Path) -> None:
    (tmp_path / "secret.png").write_bytes(samples.png(99))
    folder = good_folder(tmp_path / "data")
    (folder / "link.png").symlink_to(tmp_path / "secret.png")
    add_row(folder, "c,make it green,link.png")
    report = run_import(imarena, folder, code=3).json
    assert "out of the folder" in report["skips"][0]["reason"]


def test_an_unknown_outcome_is_not_a_tie(imarena: Imarena, tmp_path: Path) -> None:
    folder = good_folder(tmp_path / "data")
    with (folder / "votes.csv").open("a") as file:
        file.write("b,one,two,lefft,r1\n")
    report = run_import(imarena, folder, code=3).json
    (skip,) = report["skips"]
    assert "votes.csv" in skip["file"]
    assert "3" in skip["row"]
    assert "lefft" in skip["reason"]
    assert report["new"]["Vote"] == 1


def test_a_rating_of_41_on_a_scale_of_1_to_5(imarena: Imarena, tmp_path: Path) -> None:
    folder = good_folder(tmp_path / "data")
    (folder / "ratings.csv").write_text("key,editor,rater,scale,realism\na,one,r1,1-5,4\nb,one,r1,1-5,41\n")
    report = run_import(imarena, folder, code=3).json
    (skip,) = report["skips"]
    assert "ratings.csv" in skip["file"]
    assert "41" in skip["reason"]
    assert report["new"]["Vote"] == 2


def test_a_duplicate_key(imarena: Imarena, tmp_path: Path) -> None:
    folder = good_folder(tmp_path / "data")
    add_row(folder, "a,make it purple,a.png")
    report = run_import(imarena, folder, code=3).json
    (skip,) = report["skips"]
    assert "4" in skip["row"]
    assert report["new"]["Item"] == 2


@pytest.mark.parametrize(
    ("spoil", "message"),
    [
        (lambda folder: (folder / "items.csv").write_text("key,source\na,a.png\n"), "instruction is missing"),
        (lambda folder: (folder / "items.csv").write_text(""), "empty"),
        (
            lambda folder: (folder / "items.csv").write_bytes(b"key,instruction\na,caf\xc3\xa9\nb,caf\xe9\n"),
            "line 3: not UTF-8",
        ),
    ],
)
def test_a_file_that_cannot_be_read_at_all(imarena: Imarena, tmp_path: Path, spoil: Spoil, message: str) -> None:
    folder = good_folder(tmp_path / "data")
    spoil(folder)
    imarena("init", "arena")
    ended = imarena("-w", "arena", "import", "table", folder, code=None)
    assert ended.code in (2, 3)
    said = (ended.out + ended.err).replace("\n", " ")
    assert "items.csv" in said
    assert message in said
    assert "Traceback" not in ended.err
    assert imarena("-w", "arena", "--json", "verify").json["clean"] is True


@pytest.mark.parametrize("name", ["../../x", "a_vs_b", "=cmd()", "<script>", "a/b"])
def test_hostile_model_names_are_only_names(imarena: Imarena, tmp_path: Path, name: str) -> None:
    folder = good_folder(tmp_path / "data")
    (folder / "outputs.csv").write_text(
        f'key,editor,file\na,"{name}",outputs/one/a.png\nb,"{name}",outputs/one/b.png\n'
    )
    (folder / "votes.csv").unlink()
    run_import(imarena, folder, code=0)
    before = set(tmp_path.rglob("*"))
    found = imarena("-w", "arena", "--json", "status").json
    assert found["outputs"] == {name: {"ok": 2}}
    for format_name in ("native", "table", "native_jsonl", "native_parquet"):
        imarena("-w", "arena", "export", format_name, f"out-{format_name}")
    new = set(tmp_path.rglob("*")) - before
    assert all("out-" in str(path.relative_to(tmp_path)) for path in new)
    imarena("init", "again")
    imarena("-w", "again", "import", "table", "out-table")
    assert imarena("-w", "again", "--json", "status").json["outputs"] == {name: {"ok": 2}}


def test_pictures_with_a_stated_rule_are_kept_as_they_came(imarena: Imarena, tmp_path: Path) -> None:
    folder = good_folder(tmp_path / "data")
    made = UNUSUAL
    for n, (name, data) in enumerate(made.items()):
        (folder / name).write_bytes(data)
        add_row(folder, f"u{n},make it green,{name}")
    report = run_import(imarena, folder, code=0).json
    assert report["new"]["Item"] == 2 + len(made)
    for name, data in made.items():
        sha256 = sha256_hex(data)
        assert (tmp_path / "arena" / "blobs" / sha256[:2] / sha256[2:4] / sha256).read_bytes() == data, name


def test_unknown_formats_and_options_suggest(imarena: Imarena, tmp_path: Path) -> None:
    folder = good_folder(tmp_path / "data")
    imarena("init", "arena")
    assert "Did you mean 'table'?" in imarena("-w", "arena", "import", "tabel", folder, code=2).err
    assert "--option" not in imarena("-w", "arena", "import", "table", folder, "-o", "datset=x", code=2).out
    assert "does not exist" in imarena("-w", "arena", "import", "table", "nothing", code=2).err
