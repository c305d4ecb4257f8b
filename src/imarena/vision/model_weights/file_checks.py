"""Which files may be stored as weights: safetensors, ONNX and accompanying plain text. Nothing that can run code."""

from pathlib import Path
from typing import BinaryIO

from imarena.core import UserError
from imarena.vision.model_weights.safetensors_file import check_safetensors

WEIGHT_SUFFIXES = frozenset({".safetensors", ".onnx"})
PICKLE_SUFFIXES = frozenset({".bin", ".pt", ".pth", ".ckpt", ".pkl", ".pickle", ".joblib"})
_BESIDE_SUFFIXES = frozenset({".json", ".txt", ".model", ".jinja", ".md", ".yaml", ".yml", ".onnx_data"})
_BESIDE_NAMES = frozenset({"LICENSE", "LICENCE", "NOTICE", "COPYING"})


def weight_files(folder: Path, convertible: frozenset[str] = frozenset()) -> list[Path]:
    """The files of a folder to keep, sorted by name; raises for pickles, outside links, and a folder without weights.

    Other files (images, code) are not kept. Pickles with a name in `convertible` are skipped instead of refused.
    """
    if not folder.is_dir():
        raise UserError(f"{folder} is not a folder.", hint="Give the folder of a model, with its weights inside.")
    root = folder.resolve()
    files: list[Path] = []
    for path in sorted(folder.rglob("*")):
        if any(part.startswith(".") for part in path.relative_to(folder).parts) or path.is_dir():
            continue
        if not path.resolve().is_relative_to(root):
            raise UserError(f"{path} is a link that leads out of the folder.", hint="Copy the file into the folder.")
        if path.suffix.lower() in PICKLE_SUFFIXES:
            if path.name in convertible:
                continue
            raise UserError(
                f"{path} can run code when it is loaded.",
                hint="Only safetensors and ONNX are kept: convert it, or move it out of the folder.",
            )
        if path.suffix.lower() in WEIGHT_SUFFIXES | _BESIDE_SUFFIXES or path.name in _BESIDE_NAMES:
            files.append(path)
    if not convertible and not any(path.suffix.lower() in WEIGHT_SUFFIXES for path in files):
        raise UserError(
            f"{folder} holds no *.safetensors and no *.onnx file.", hint="Give the folder with the weights."
        )
    return files


def check_weight_file(path: Path) -> None:
    """Raise if a file named safetensors or ONNX is something else, or is truncated."""
    if path.suffix.lower() == ".safetensors":
        check_safetensors(path)
    elif path.suffix.lower() == ".onnx":
        _check_onnx(path)


def _check_onnx(path: Path) -> None:
    """An ONNX file is one protobuf message: its fields must fill the file, and one of them is the graph (7)."""
    size = path.stat().st_size
    numbers: set[int] = set()
    with path.open("rb") as file:
        while file.tell() < size:
            tag = _varint(file)
            number, kind = tag >> 3, tag & 7
            if kind not in (0, 1, 2, 5) or not 1 <= number <= 64:
                raise UserError(f"{path.name} is not an ONNX file.", hint="Download or convert it again.")
            if kind == 0:
                _varint(file)
            else:
                file.seek({1: 8, 5: 4}.get(kind) or _varint(file), 1)
            numbers.add(number)
        end = file.tell()
    if end != size or 7 not in numbers:
        raise UserError(f"{path.name} is not a whole ONNX file.", hint="Download or convert it again.")


def _varint(file: BinaryIO) -> int:
    """A protobuf varint: seven bits per byte, the lowest first; 0 at the end of the file."""
    value = 0
    for index in range(10):
        byte = (file.read(1) or b"\0")[0]
        value |= (byte & 0x7F) << (7 * index)
        if byte < 0x80:
            break
    return value
