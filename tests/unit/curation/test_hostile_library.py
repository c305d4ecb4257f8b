"""A folder that somebody else made: links, pipes, odd names, huge texts. Each is skipped or cut by a stated rule."""

import csv
import os
from pathlib import Path

import pytest

from imarena.core import ImageQuery, UserError
from imarena.curation import LocalLibrary
from imarena.curation.library import LibraryContents
from tests.small_data.curation_library import photograph


@pytest.fixture(scope="module")
def cat() -> bytes:
    return photograph("cat", long_side=64)


def built(folder: Path, index: Path) -> tuple[LocalLibrary, LibraryContents]:
    library = LocalLibrary(folder, index, licence="CC0-1.0")
    return library, library.build()


def test_links_pipes_and_names_that_cannot_be_printed_are_left_out(tmp_path: Path, cat: bytes) -> None:
    outside = tmp_path / "private"
    outside.mkdir()
    (outside / "secret.jpg").write_bytes(cat)
    (outside / "secret.txt").write_text("a password")
    folder = tmp_path / "photos"
    (folder / "deep").mkdir(parents=True)
    (folder / "cat.jpg").write_bytes(cat)
    (folder / "cat.txt").symlink_to(outside / "secret.txt")
    (folder / "same.jpg").symlink_to(folder / "cat.jpg")
    (folder / "stolen.jpg").symlink_to(outside / "secret.jpg")
    (folder / "everything").symlink_to(outside)
    (folder / "deep" / "loop").symlink_to(folder)
    (folder / "nothing.jpg").symlink_to(folder / "gone.jpg")
    (folder / "two\nlines.jpg").write_bytes(cat)
    (folder / "\x1b[31mred.jpg").write_bytes(cat)
    Path(os.fsdecode(os.fsencode(folder) + b"/\xff\xfe.jpg")).write_bytes(cat)
    os.mkfifo(folder / "pipe.jpg")
    os.mkfifo(folder / "metadata.csv")
    library, contents = built(folder, tmp_path / "index.db")
    assert [image.key for image in library.images()] == ["cat.jpg", "same.jpg"]
    assert contents.images == 2
    assert {(cause.reason, cause.count) for cause in contents.skipped} == {
        ("a link that leads out of the folder", 2),
        ("the file name has characters that cannot be printed", 3),
    }
    assert "password" not in library.images()[0].text
    assert all(example.isprintable() for cause in contents.skipped for example in cause.examples)


def test_texts_are_cut_and_searched_as_words(tmp_path: Path, cat: bytes) -> None:
    folder = tmp_path / "photos"
    folder.mkdir()
    for name in ("a.jpg", "b.jpg", "c.jpg"):
        (folder / name).write_bytes(cat)
    (folder / "b.txt").write_bytes(b"dog " * 5_000_000)
    with (folder / "metadata.csv").open("w", newline="", encoding="utf-8") as file:
        table = csv.writer(file)
        table.writerow(("file_name", "shows", "text"))
        table.writerow(("a.jpg", "猫", 'x" OR words MATCH "' + "y" * 100_000))
        table.writerow(("c.jpg", "قطة", ""))
    library, _ = built(folder, tmp_path / "index.db")
    assert max(len(image.text) for image in library.images()) == 2000

    def search(words: str, *exclude: str) -> list[str]:
        return [found.key for found in library.search(ImageQuery(words, exclude), 20)]

    assert search("猫") == ["a.jpg"]
    assert search("قطة") == ["c.jpg"]
    assert search("dog") == ["b.jpg"]
    assert search('" OR NEAR( * dog', 'x"') == ["b.jpg"], "no operator of the search gets through"
    assert search('"*()') == []


def test_an_index_of_five_thousand_files_changes_only_by_what_changed(tmp_path: Path, cat: bytes) -> None:
    folder = tmp_path / "photos"
    folder.mkdir()
    (folder / "first.jpg").write_bytes(cat)
    for at in range(5000):
        os.link(folder / "first.jpg", folder / f"bird{at}.jpg")
    seen: list[bytes] = []

    def describe(data: bytes) -> str:
        seen.append(data)
        return "a bird"

    library = LocalLibrary(folder, tmp_path / "index.db", licence="CC0-1.0")
    assert library.build().images == 5001
    assert len(library.search(ImageQuery("bird7 bird4999"), 20)) == 0, "numbers of a camera are no words"
    (folder / "first.jpg").unlink()
    (folder / "new dog.jpg").write_bytes(cat)
    (folder / "new dog.txt").write_text("a dog")
    assert library.build().images == 5001
    assert [found.key for found in library.search(ImageQuery("dog"), 20)] == ["new dog.jpg"]
    (folder / "few").mkdir()
    (folder / "few" / "cat.jpg").write_bytes(cat)
    small = LocalLibrary(folder / "few", tmp_path / "small.db")
    small.build(describe)
    small.build(describe)
    assert len(seen) == 1, "an image is looked at once"


def test_a_table_without_file_names_is_an_error(tmp_path: Path, cat: bytes) -> None:
    (tmp_path / "photos").mkdir()
    (tmp_path / "photos" / "a.jpg").write_bytes(cat)
    (tmp_path / "photos" / "metadata.csv").write_text("text\na cat\n")
    with pytest.raises(UserError, match="no column file_name"):
        built(tmp_path / "photos", tmp_path / "index.db")
    with pytest.raises(UserError, match="no folder or file"):
        LocalLibrary(tmp_path / "gone", tmp_path / "index.db")


def test_other_tools_look_again_and_make_another_library(tmp_path: Path, cat: bytes) -> None:
    """What the tools see is searched: with other tools, a run must not take the answers of earlier searches."""
    (tmp_path / "photos").mkdir()
    (tmp_path / "photos" / "a.jpg").write_bytes(cat)

    def identity(tools: str, words: str) -> str:
        library = LocalLibrary(tmp_path / "photos", tmp_path / "index.db", tools=tools)
        library.build((lambda _: words) if words else None)
        return library.source().identity

    plain = identity("detector 1", "")
    first = identity("detector 1", "a cat")
    assert identity("detector 1", "a dog") == first, "the same tools are not asked again"
    assert identity("detector 2", "") == first, "without --describe nobody looks, and what was seen stays"
    second = identity("detector 2", "a lion")
    assert len({plain, first, second}) == 3
    (image,) = LocalLibrary(tmp_path / "photos", tmp_path / "index.db").images()
    assert image.seen == "a lion"
