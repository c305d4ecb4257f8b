"""What people wrote into image files and tables is not published: places, names, paths, e-mail addresses."""

import csv
import io
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image, ImageCms
from PIL.PngImagePlugin import PngInfo

from imarena.core import InvalidImage, sha256_hex
from imarena.core.records import Item, Output
from imarena.images import colour_profile, decode, inspect, strip_metadata
from imarena.storage import open_workspace
from tests.command import Imarena
from tests.workflow.publishing.published import everything_in, rows_of

HIDDEN = ("Alice Secretname", "/home/alice/secret", "52 deg north")
XMP = b"<x:xmpmeta xmlns:x='adobe:ns:meta/'>Alice Secretname /home/alice/secret</x:xmpmeta>"
KINDS = ("JPEG", "progressive JPEG", "PNG", "WEBP", "TIFF", "GIF", "animated GIF")


def photograph(kind: str, *, orientation: int = 6) -> bytes:
    """A picture with a place, an author, comments and a colour profile, and something behind its end."""
    pixels = np.random.default_rng(len(kind)).integers(0, 256, (24, 36, 3), dtype=np.uint8)
    image = Image.fromarray(pixels)
    exif = Image.Exif()
    exif[0x013B] = HIDDEN[0]
    exif[0x0112] = orientation
    exif.get_ifd(0x8825).update({1: "N", 2: (52.0, 31.0, 12.0), 29: HIDDEN[2]})
    exif.get_ifd(0x8769)[0x9286] = b"UNICODE\x00" + HIDDEN[1].encode("utf-16-be")
    options: dict[str, Any] = {
        "exif": exif,
        "icc_profile": ImageCms.ImageCmsProfile(ImageCms.createProfile("sRGB")).tobytes(),
    }
    file = io.BytesIO()
    if kind.endswith("GIF"):
        more = [Image.fromarray(255 - pixels)] if kind == "animated GIF" else []
        image.save(file, "GIF", comment=" ".join(HIDDEN).encode(), save_all=True, append_images=more, loop=3)
    elif kind == "PNG":
        info = PngInfo()
        info.add_text("parameters", " ".join(HIDDEN), zip=True)
        info.add_itxt("XML:com.adobe.xmp", XMP.decode())
        image.save(file, "PNG", pnginfo=info, **options)
    elif kind == "TIFF":
        image.save(file, "TIFF", description=" ".join(HIDDEN), artist=HIDDEN[0], **options)
    elif kind == "WEBP":
        image.save(file, "WEBP", lossless=True, xmp=XMP, **options)
    else:
        image.save(file, "JPEG", comment=HIDDEN[1].encode(), xmp=XMP, progressive="prog" in kind, **options)
    return file.getvalue() + (b"" if kind in ("TIFF", "WEBP") else HIDDEN[0].encode())


def texts_in(data: bytes) -> str:
    """The bytes as texts of one and of two bytes per letter."""
    return "\n".join(part.decode("latin-1") for part in (data, data[::2], data[1::2]))


@pytest.mark.parametrize("kind", KINDS)
def test_metadata_is_removed_and_pixels_stay(kind: str) -> None:
    data = photograph(kind)
    assert any(hidden in texts_in(data) for hidden in HIDDEN)
    stripped = strip_metadata(data)
    assert not [hidden for hidden in HIDDEN if hidden in texts_in(stripped)]
    assert decode(stripped).tobytes() == decode(data).tobytes()
    assert inspect(stripped) == inspect(data), "size as shown, orientation, profile and frames stay"
    assert colour_profile(stripped) == colour_profile(data)
    with Image.open(io.BytesIO(stripped)) as image:
        exif = image.getexif()
        assert not exif.get_ifd(0x8825)
        assert 0x013B not in exif
    assert strip_metadata(stripped) == stripped, "twice is the same as once"


def test_a_file_without_metadata_keeps_its_bytes() -> None:
    for kind in ("JPEG", "PNG", "WEBP", "TIFF", "GIF", "BMP"):
        file = io.BytesIO()
        Image.new("RGB", (20, 10), (200, 30, 60)).save(file, kind)
        assert strip_metadata(file.getvalue()) == file.getvalue(), kind


@pytest.mark.parametrize("kind", KINDS)
def test_damaged_files_raise_one_error(kind: str) -> None:
    data = photograph(kind)
    generator = np.random.default_rng(0)
    for _ in range(60):
        damaged = bytearray(data)
        for at in generator.integers(4, len(data), 3):
            damaged[at] = generator.integers(0, 256)
        try:
            stripped = strip_metadata(bytes(damaged[: generator.integers(len(data) // 2, len(data))]))
        except InvalidImage:
            continue
        decode(stripped)


def table_of(folder: Path) -> None:
    """A benchmark as its author has it: photographs with places, notes with paths, columns with people."""
    folder.mkdir()
    rows: list[dict[str, str]] = []
    for number, kind in enumerate(("JPEG", "PNG", "WEBP")):
        (folder / f"{number}.img").write_bytes(photograph(kind))
        rows.append(
            {
                "key": f"k{number}", "source": f"{number}.img", "instruction": "make the cup red",
                "instruction_2": "like /home/alice/cup.png, or ask alice@example.org" if number else "brighter",
                "task": "recolour", "topic": "from C:\\Users\\alice\\cups", "licence": "CC0-1.0",
                "worker_id": f"A{number % 2}SECRET", "annotated_by": "Alice Secretname", "user_prompt": "a red cup",
                "note": "see /srv/imports/notes.txt", "season": "winter",
            }
        )  # fmt: skip
    with (folder / "items.csv").open("w", newline="") as file:
        table = csv.DictWriter(file, list(rows[0]))
        table.writeheader()
        table.writerows(rows)


def test_a_benchmark_of_photographs_is_published_without_its_people(imarena: Imarena, tmp_path: Path) -> None:
    table_of(tmp_path / "mine")
    imarena("init", "a")
    imarena("-w", "a", "import", "table", "mine")
    report = imarena("-w", "a", "--json", "publish", "out").json
    assert report["images_stripped"] == 3
    assert report["redacted"] == {"instruction": 2, "topic": 3, "note": 3}
    assert report["pseudonymous"] == {"worker_id": 3, "annotated_by": 3}
    written = everything_in(tmp_path / "out")
    for secret in (*HIDDEN, "alice", "SECRET", "/srv/imports"):
        assert secret not in written
    rows = rows_of(tmp_path / "out", "item")
    columns = [json.loads(row["provenance"]) for row in rows]
    assert columns[0]["worker_id"] == columns[2]["worker_id"] != columns[1]["worker_id"]
    assert {entry["user_prompt"] for entry in columns} == {"a red cup"}
    card = (tmp_path / "out" / "README.md").read_text()
    assert "metadata removed, pixels unchanged" in card
    assert "worker_id: people are under pseudonyms" in card
    assert "| season | 3 | 1 | winter (3) |" in card
    text = imarena("-w", "a", "publish", "again").out
    assert "metadata removed: 3 images" in text
    assert "redacted: 2 texts in 'instruction'" in text
    assert "pseudonyms: 3 values in 'worker_id'" in text


def test_both_hashes_are_recorded_and_submissions_still_fit(imarena: Imarena, tmp_path: Path) -> None:
    table_of(tmp_path / "mine")
    imarena("init", "a")
    imarena("-w", "a", "import", "table", "mine")
    imarena("-w", "a", "publish", "out")
    with (tmp_path / "out" / "changed_images.csv").open() as file:
        hashes = {row["original_sha256"]: row["published_sha256"] for row in csv.DictReader(file)}
    assert hashes.keys() == {sha256_hex((tmp_path / "mine" / f"{number}.img").read_bytes()) for number in range(3)}
    imarena("init", "b")
    imarena("-w", "b", "import", "native_parquet", "out")
    with open_workspace(tmp_path / "b") as workspace:
        assert {item.sources[0].sha256 for item in workspace.store.records(Item)} == set(hashes.values())
        for item in workspace.store.records(Item):
            folder = tmp_path / "outputs" / item.key
            folder.mkdir(parents=True)
            for turn in (1, 2):
                Image.new("RGB", decode(workspace.load(item.sources[0])).size).save(folder / f"{turn}.png")
    assert imarena("-w", "b", "verify", "--deep").code == 0
    imarena("submission", "make", "outputs", "--items", "out", "--editor", "mine", "--out", "pack.zip")
    for name in "ab":
        imarena("-w", name, "submission", "add", "pack.zip")
    with open_workspace(tmp_path / "a") as workspace:
        assert workspace.store.count(Output) == {(): 6}
