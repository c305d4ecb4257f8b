"""Packs are hostile input: each attack is refused by one clear message, and nothing is stored."""

import io
import json
import stat
import struct
import zipfile
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from imarena.core import UserError, sha256_hex
from imarena.core.records import Output
from imarena.datasets.pack_reader import PackLimits, open_pack
from imarena.images import describe_image
from imarena.storage import open_workspace, withdrawn_images
from imarena.workflows.publishing.submission_add import add_submission
from tests import samples
from tests.command import Imarena
from tests.workflow.publishing.published import item_of

Entries = list[tuple[zipfile.ZipInfo, bytes]]
MANIFEST = "submission.json"


@pytest.fixture
def pack(imarena: Imarena, tmp_path: Path) -> Path:
    """A good pack of two outputs for the workspace `a`."""
    imarena("init", "a")
    with open_workspace(tmp_path / "a") as workspace:
        workspace.store.add([item_of(workspace, key, "CC0-1.0") for key in ("one", "two")])
    for number, key in enumerate(("one", "two")):
        (tmp_path / "mine").mkdir(exist_ok=True)
        (tmp_path / "mine" / f"{key}.png").write_bytes(samples.png(number + 50))
    imarena("-w", "a", "submission", "make", "mine", "--editor", "gamma", "--out", "good.zip")
    return tmp_path / "good.zip"


def entries_of(pack: Path) -> Entries:
    with zipfile.ZipFile(pack) as archive:
        return [(zipfile.ZipInfo(entry.filename), archive.read(entry)) for entry in archive.infolist()]


def write(path: Path, entries: Entries, compression: int = zipfile.ZIP_STORED) -> Path:
    with zipfile.ZipFile(path, "w", compression) as archive:
        for entry, data in entries:
            archive.writestr(entry, data, compression)
    return path


def refused(imarena: Imarena, path: Path) -> str:
    """Add a pack that must be refused: what is said; the workspace is as before."""
    root = path.parent / "a"
    blobs = sorted((root / "blobs").rglob("*"))
    ended = imarena("-w", "a", "submission", "add", path.name, code=2)
    assert "Traceback" not in ended.err
    with open_workspace(root) as workspace:
        assert workspace.store.count(Output).get((), 0) == 0
    assert sorted((root / "blobs").rglob("*")) == blobs
    assert not (path.parent / "evil.png").exists()
    return ended.err


def entry(name: str, mode: int = 0) -> zipfile.ZipInfo:
    made = zipfile.ZipInfo("placeholder")
    made.filename = made.orig_filename = name
    made.external_attr = mode << 16
    return made


NAMES = {
    "../evil.png": "leads out of the pack",
    "outputs/../../evil.png": "leads out of the pack",
    "/tmp/evil.png": "an absolute path",
    "C:/evil.png": "an absolute path",
    "outputs\\evil.png": "backslash",
    "outputs//evil.png": "leads out of the pack",
    "./evil.png": "leads out of the pack",
    "outputs/e\u202evil.png": "cannot be printed",
    "outputs/new\nline.png": "cannot be printed",
    "inner.zip": "an archive inside the archive",
    "inner.tar.gz": "an archive inside the archive",
    "outputs/000001.PNG": "only in case or Unicode form",
    "outputs/\uff10\uff10\uff10\uff10\uff10\uff11.png": "only in case or Unicode form",
    "outputs/000009.png": "in the pack, and not listed",
    "x" * 600: "empty or too long",
}


@pytest.mark.parametrize("name", NAMES, ids=lambda name: repr(name[:30]))
def test_bad_names_are_refused(imarena: Imarena, pack: Path, name: str) -> None:
    path = write(pack.with_name("bad.zip"), [*entries_of(pack), (entry(name), samples.png(3))])
    assert NAMES[name] in refused(imarena, path)


def test_a_name_with_a_zero_byte_is_refused(imarena: Imarena, pack: Path) -> None:
    path = write(pack.with_name("bad.zip"), [*entries_of(pack), (entry("outputs/evilX.png"), samples.png(3))])
    path.write_bytes(path.read_bytes().replace(b"evilX.png", b"evil\x00.png"))
    assert "cannot be printed" in refused(imarena, path)


def test_the_same_name_twice_is_refused(imarena: Imarena, pack: Path) -> None:
    path = pack.with_name("bad.zip")
    with pytest.warns(UserWarning, match="Duplicate name"):
        write(path, [*entries_of(pack), (entry("outputs/000001.png"), samples.png(3))])
    assert "appears twice" in refused(imarena, path)


@pytest.mark.parametrize(("kind", "message"), [(stat.S_IFLNK, "a link"), (stat.S_IFIFO, "not a plain file")])
def test_links_and_devices_are_refused(imarena: Imarena, pack: Path, kind: int, message: str) -> None:
    path = write(pack.with_name("bad.zip"), [*entries_of(pack), (entry("outputs/x.png", kind | 0o777), b"/etc/passwd")])
    assert message in refused(imarena, path)


def test_encrypted_files_are_refused(imarena: Imarena, pack: Path) -> None:
    path = write(pack.with_name("bad.zip"), entries_of(pack))
    _patch_directory(path, "outputs/000002.png", 8, struct.pack("<H", 0x1))
    assert "encrypted" in refused(imarena, path)


def test_other_compressions_are_refused(imarena: Imarena, pack: Path) -> None:
    path = write(pack.with_name("bad.zip"), entries_of(pack), zipfile.ZIP_LZMA)
    assert "compressed in a way that is not read" in refused(imarena, path)


def test_a_decompression_bomb_is_refused(imarena: Imarena, pack: Path) -> None:
    entries = [*entries_of(pack), (entry("outputs/bomb.png"), bytes(40 << 20))]
    path = write(pack.with_name("bad.zip"), entries, zipfile.ZIP_DEFLATED)
    assert path.stat().st_size < 1 << 20
    assert "decompression bomb" in refused(imarena, path)


def test_many_small_bombs_are_refused(imarena: Imarena, pack: Path) -> None:
    entries = [*entries_of(pack), *((entry(f"outputs/b{n}.png"), bytes(1 << 20)) for n in range(20))]
    path = write(pack.with_name("bad.zip"), entries, zipfile.ZIP_DEFLATED)
    assert "times its size" in refused(imarena, path)


def test_a_picture_bomb_is_refused(imarena: Imarena, pack: Path) -> None:
    """A small PNG that says it has 50,000 x 50,000 pixels."""
    data = bytearray(samples.png(1))
    data[16:24] = struct.pack(">II", 50_000, 50_000)
    data[29:33] = struct.pack(">I", zlib.crc32(data[12:29]))
    assert "2,500,000,000 pixels" in refused(imarena, _replaced(pack, bytes(data)))


def test_files_that_say_they_are_huge_are_refused(imarena: Imarena, pack: Path) -> None:
    path = write(pack.with_name("bad.zip"), entries_of(pack))
    _patch_directory(path, "outputs/000002.png", 24, struct.pack("<L", 3 << 30))
    assert "bytes; at most" in refused(imarena, path)


def test_a_file_larger_than_it_says_is_refused(imarena: Imarena, pack: Path) -> None:
    path = write(pack.with_name("bad.zip"), entries_of(pack), zipfile.ZIP_DEFLATED)
    _patch_directory(path, "outputs/000002.png", 24, struct.pack("<L", 100))
    assert "outputs/000002.png" in refused(imarena, path)


def test_overlapping_files_are_refused(imarena: Imarena, pack: Path) -> None:
    path = write(pack.with_name("bad.zip"), entries_of(pack))
    _patch_directory(path, "outputs/000002.png", 20, struct.pack("<L", path.stat().st_size))
    assert "overlap" in refused(imarena, path)


def test_too_many_files_are_refused_before_the_list_is_read(imarena: Imarena, pack: Path) -> None:
    path = write(pack.with_name("bad.zip"), [(entry(f"{n}"), b"") for n in range(100_002)])
    assert "100,002 files; a submission has at most 100,000" in refused(imarena, path)


def test_a_list_that_lies_about_its_length_is_refused(imarena: Imarena, pack: Path) -> None:
    data = bytearray(pack.read_bytes())
    data[-10:-6] = struct.pack("<L", 500 << 20)
    path = pack.with_name("bad.zip")
    path.write_bytes(data)
    assert "list of files has 524,288,000 bytes" in refused(imarena, path)


def test_the_total_size_is_limited(pack: Path) -> None:
    size = sum(len(data) for _, data in entries_of(pack))
    with open_pack(pack, PackLimits(total_bytes=size)):
        pass
    with pytest.raises(UserError, match="bytes together"), open_pack(pack, PackLimits(total_bytes=size - 1)):
        pass
    with pytest.raises(UserError, match="at most 1"), open_pack(pack, PackLimits(files=1)):
        pass
    with (
        open_workspace(pack.parent / "a") as workspace,
        pytest.raises(UserError, match="at most 99 are read"),
    ):
        add_submission(workspace, pack, limits=PackLimits(file_bytes=99))


@pytest.mark.parametrize("cut", [0, 10, 300, -1, -30])
def test_a_damaged_pack_is_refused(imarena: Imarena, pack: Path, cut: int) -> None:
    path = pack.with_name("bad.zip")
    path.write_bytes(pack.read_bytes()[:cut])
    assert "ZIP archive" in refused(imarena, path)


def test_a_changed_byte_is_refused(imarena: Imarena, pack: Path) -> None:
    data = bytearray(pack.read_bytes())
    at = data.rfind(b"IDAT", 0, data.find(b"PK\x01\x02")) + 20
    data[at] ^= 1
    path = pack.with_name("bad.zip")
    path.write_bytes(data)
    assert "cannot be read" in refused(imarena, path)


def test_bytes_that_do_not_match_the_manifest_are_refused(imarena: Imarena, pack: Path) -> None:
    entries = entries_of(pack)
    entries[2] = (entries[2][0], samples.png(999))
    assert "do not match the hash" in refused(imarena, write(pack.with_name("bad.zip"), entries))


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"PK\x03\x04" + bytes(100), "a ZIP archive is not read"),
        (b"<svg onload='alert(1)'/>", "an SVG drawing is not read"),
        (b"#!/bin/sh\nrm -rf /\n", "not an image"),
        (samples.png(1)[:70], "damaged or truncated"),
    ],
    ids=["archive", "svg", "script", "truncated"],
)
def test_files_that_are_no_pictures_are_refused(imarena: Imarena, pack: Path, data: bytes, message: str) -> None:
    assert message in refused(imarena, _replaced(pack, data))


def _drop_manifest(manifest: dict[str, Any]) -> dict[str, Any] | None:
    return None


def _set(**values: Any) -> Callable[[dict[str, Any]], dict[str, Any]]:
    return lambda manifest: {**manifest, **values}


def _set_file(**values: Any) -> Callable[[dict[str, Any]], dict[str, Any]]:
    return lambda manifest: {**manifest, "files": [{**manifest["files"][0], **values}, manifest["files"][1]]}


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (_drop_manifest, "has no submission.json"),
        (_set(format="other"), "format"),
        (_set(version=2), "version"),
        (_set(editor=""), "editor"),
        (_set(editor="x\u202ey"), "plain name"),
        (_set(editor="e" * 300), "editor"),
        (_set(editor="../../x"), "it looks like a path"),
        (_set(editor="/etc/passwd"), "it looks like a path"),
        (_set(editor="g\u0430mma"), "mixes letters of several scripts"),
        (_set(editor="gam\u3164ma"), "cannot be seen"),
        (_set(surprise=1), "surprise"),
        (_set(files=[]), "files"),
        (_set(seed=1e400), "submission.json"),
        (_set_file(file="../evil.png"), "listed, and not in the pack"),
        (_set_file(file="outputs/000002.png"), "listed 2 times"),
        (_set_file(key="two"), "other images or instructions"),
        (_set_file(key="nowhere"), "no item of this workspace"),
        (_set_file(dataset="nowhere"), "no item of this workspace"),
        (_set_file(content_id="content_0"), "other images or instructions"),
        (_set_file(mode="complex"), "no item of this workspace"),
        (_set_file(mode="other"), "mode"),
        (_set_file(turn=1), "no item of this workspace"),
        (_set_file(turn=-1), "turn"),
        (_set_file(sha256="0" * 64), "do not match the hash"),
        (_set_file(sha256="../x"), "sha256"),
        (_set_file(width=9), "type or size"),
        (_set_file(media_type="image/jpeg"), "type or size"),
    ],
)
def test_a_manifest_that_does_not_match_is_refused(
    imarena: Imarena, pack: Path, change: Callable[[dict[str, Any]], dict[str, Any] | None], message: str
) -> None:
    entries = entries_of(pack)
    changed = change(json.loads(entries[0][1]))
    first = [] if changed is None else [(entries[0][0], json.dumps(changed).encode())]
    assert message in refused(imarena, write(pack.with_name("bad.zip"), [*first, *entries[1:]]))


@pytest.mark.parametrize(
    "text", ["", "[1", "{" * 100_000, '{"a":' * 100_000, "null", "\ud800".encode("utf-8", "surrogatepass")]
)
def test_a_manifest_that_is_no_json_is_refused(imarena: Imarena, pack: Path, text: str | bytes) -> None:
    data = text if isinstance(text, bytes) else text.encode()
    path = write(pack.with_name("bad.zip"), [(zipfile.ZipInfo(MANIFEST), data), *entries_of(pack)[1:]])
    assert "submission.json is not valid" in refused(imarena, path)


def test_repeated_keys_are_refused(imarena: Imarena, pack: Path) -> None:
    entries = entries_of(pack)
    text = entries[0][1].decode()
    for change in (('"editor":', '"editor": "alpha", "editor":'), ('"sha256":', '"sha256": "0", "sha256":')):
        changed = (entries[0][0], text.replace(*change).encode())
        message = refused(imarena, write(pack.with_name("bad.zip"), [changed, *entries[1:]]))
        assert f"the key '{change[0].strip(chr(34) + ':')}' appears twice" in message


@pytest.mark.parametrize(
    "name", ["gam\u043ca", "\u0433amma", "GAMMA", "garnma", "g\u00e0mma".replace("\u00e0", "\uff41")]
)
def test_names_that_look_like_an_editor_of_the_workspace_are_refused(imarena: Imarena, pack: Path, name: str) -> None:
    imarena("-w", "a", "submission", "add", "good.zip")
    ended = imarena("-w", "a", "submission", "add", "good.zip", "--as", name, code=2)
    assert "looks like" in ended.err or "mixes letters of several scripts" in ended.err
    imarena("-w", "a", "submission", "add", "good.zip", "--as", "org/delta-2 \u03b2", "--dry-run")
    assert "path" in imarena("-w", "a", "submission", "make", "mine", "--editor", "../x", "--out", "x.zip", code=2).err


def test_a_name_of_another_script_alone_may_look_the_same(imarena: Imarena, pack: Path) -> None:
    imarena("-w", "a", "submission", "add", "good.zip", "--as", "sora")
    cyrillic = "\u0455\u043e\u0433\u0430"
    assert "looks like" in imarena("-w", "a", "submission", "add", "good.zip", "--as", cyrillic, code=2).err


def test_two_files_for_one_output_are_refused(imarena: Imarena, pack: Path) -> None:
    entries = entries_of(pack)
    manifest = json.loads(entries[0][1])
    data = samples.png(3)
    more = {**manifest["files"][0], "file": "outputs/3.png", "sha256": sha256_hex(data), "size_bytes": len(data)}
    manifest["files"].append(more)
    entries = [(entries[0][0], json.dumps(manifest).encode()), *entries[1:], (entry("outputs/3.png"), data)]
    assert "there is another file for it" in refused(imarena, write(pack.with_name("bad.zip"), entries))


def test_a_withdrawn_picture_does_not_come_back(imarena: Imarena, pack: Path) -> None:
    data = entries_of(pack)[2][1]
    with open_workspace(pack.parent / "a") as workspace:
        workspace.keep(describe_image(data), data)
    imarena("-w", "a", "withdraw", "image", sha256_hex(data))
    with open_workspace(pack.parent / "a") as workspace:
        assert sha256_hex(data) in withdrawn_images(workspace)
    assert "withdrawn from this workspace" in refused(imarena, pack)


def test_the_good_pack_is_good(imarena: Imarena, pack: Path) -> None:
    """The attacks above change one thing each; without it the pack is taken, also when it was zipped again."""
    again = write(
        pack.with_name("again.zip"), [(entry("outputs/", 0o40755), b""), *entries_of(pack)], zipfile.ZIP_DEFLATED
    )
    assert imarena("-w", "a", "--json", "submission", "add", again.name).json["new"] == 2


def _replaced(pack: Path, data: bytes) -> Path:
    """The pack with other bytes as its second output, and a manifest that says so."""
    entries = entries_of(pack)
    manifest = json.loads(entries[0][1])
    manifest["files"][1] |= {"sha256": sha256_hex(data), "size_bytes": len(data)}
    entries[0] = (entries[0][0], json.dumps(manifest).encode())
    entries[2] = (entries[2][0], data)
    return write(pack.with_name("bad.zip"), entries)


def _patch_directory(path: Path, name: str, offset: int, value: bytes) -> None:
    """Change a field of an entry in the archive's list of files."""
    data = bytearray(path.read_bytes())
    at = data.rfind(name.encode()) - 46
    assert bytes(io.BytesIO(data).getvalue()[at : at + 4]) == b"PK\x01\x02"
    data[at + offset : at + offset + len(value)] = value
    path.write_bytes(data)
