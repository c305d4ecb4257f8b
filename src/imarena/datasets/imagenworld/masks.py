"""Segment masks of ImagenWorld (set-of-mark, made by Semantic-SAM): the area of each numbered segment."""

import zipfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from imarena.core import Skip, UserError, file_sha256, first_line
from imarena.core.records import Evidence, ImageRef
from imarena.datasets.folder import Folder

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

MAX_BYTES = 1 << 30
"""Maximum unpacked size of a mask file; larger ones are rejected."""


def segments(folder: Folder, directory: Path, images: Mapping[str, ImageRef]) -> Iterator[Evidence | Skip]:
    """One evidence per output with pixels: area and box (left, top, right, bottom) of each segment, from 1 on."""
    if not directory.is_dir():
        return
    for editor in sorted(path for path in directory.iterdir() if path.is_dir()):
        for file in sorted(editor.glob("*.npz")):
            name = folder.name(file)
            image = images.get(editor.name)
            if image is None:
                yield Skip(name, "", f"there is no image of '{editor.name}' that the masks could be of")
                continue
            try:
                measured = _measure(folder.file(name))
            except UserError as error:
                yield Skip(name, "", first_line(error))
                continue
            yield Evidence(
                image_sha256=image.sha256,
                tool="semantic-sam",
                kind="segments",
                params={"source": "imagenworld", "file": name, "file_sha256": file_sha256(file)},
                value=measured,
            )


def _measure(path: Path) -> dict[str, Any]:
    import numpy as np

    try:
        with zipfile.ZipFile(path) as archive:
            size = sum(entry.file_size for entry in archive.infolist())
        if size > MAX_BYTES:
            raise UserError(f"the masks unpack to {size:,} bytes; at most {MAX_BYTES:,} are read")
        with np.load(path, allow_pickle=False) as arrays:
            masks = [mask for name in sorted(arrays.files) for mask in _masks(arrays[name])]
    except (zipfile.BadZipFile, ValueError, OSError, EOFError, KeyError) as error:
        raise UserError(f"not masks that can be read ({' '.join(str(error).split())[:120]})") from error
    if not masks:
        raise UserError("the file holds no masks")
    height, width = masks[0].shape
    return {
        "width": int(width),
        "height": int(height),
        "segments": [{"segment": n, **_box(mask)} for n, mask in enumerate(masks, start=1)],
    }


def _masks(array: "NDArray[Any]") -> "Iterator[NDArray[np.bool_]]":
    """The masks (height, width) in an array that is one mask, a stack of masks, or a map of segment numbers."""
    if array.ndim == 3:
        yield from (layer.astype(bool) for layer in array)
    elif array.ndim == 2 and array.dtype.kind in "iu" and array.max(initial=0) > 1:
        yield from (array == number for number in range(1, int(array.max()) + 1))
    elif array.ndim == 2:
        yield array.astype(bool)


def _box(mask: "NDArray[np.bool_]") -> dict[str, Any]:
    import numpy as np

    rows, columns = np.flatnonzero(mask.any(axis=1)), np.flatnonzero(mask.any(axis=0))
    if not len(rows):
        return {"area": 0, "box": None}
    box = [int(columns[0]), int(rows[0]), int(columns[-1]) + 1, int(rows[-1]) + 1]
    return {"area": int(mask.sum()), "box": box}
