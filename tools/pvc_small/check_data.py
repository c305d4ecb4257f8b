"""Make the studio part of the training pictures of `pvc-small` again and compare it with the recorded hashes.

    python -m tools.pvc_small.check_data [--packed TRAIN.npz] [--write]

The scenes must be described in the same way everywhere. Their pixels are compared where NumPy, OpenCV and Pillow have
the recorded versions. `--packed` prints the content hash of a packed file (tools/pvc_small/pack.py) and compares
its studio part, too. `--write` records the hashes of this checkout.
"""

import argparse
import json
from pathlib import Path

import numpy as np

from tools.pvc_small.packing import pack_pictures, packed_sha256
from tools.pvc_small.scenes import studio_hashes, studio_triples, versions

RECORD = Path(__file__).with_name("data.json")
PARTS = ({"first": 0, "count": 3}, {"first": 0, "count": 60}, {"first": 10_000, "count": 30})
"""The first scenes of training, all of them, and those of the test file."""


def main() -> None:
    """Regenerate and compare."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--packed", type=Path)
    parser.add_argument("--write", action="store_true")
    options = parser.parse_args()
    record = json.loads(RECORD.read_text(encoding="utf-8"))
    made = [{**part, **studio_hashes(part["first"], part["count"])} for part in PARTS]
    if options.write:
        record |= {"studio": made, "versions": versions()}
        RECORD.write_text(json.dumps(record, indent=1) + "\n", encoding="utf-8")
    wrong = compare(record, made)
    if options.packed is not None:
        wrong += compare_packed(options.packed)
    raise SystemExit("\n".join(wrong) if wrong else 0)


def compare(record: dict[str, object], made: list[dict[str, object]]) -> list[str]:
    """What differs from the record."""
    same_versions = record["versions"] == versions()
    wrong = []
    for ours, theirs in zip(made, record["studio"], strict=True):  # type: ignore[call-overload]
        name = f"{ours['count']} scenes from seed {ours['first']}"
        for key in ("scenes_sha256", "pixels_sha256"):
            if key == "pixels_sha256" and not same_versions:
                print(f"{name}: pixels not compared, other versions: {versions()}")
            elif ours[key] != theirs[key]:
                wrong.append(f"{name}: another {key}")
            else:
                print(f"{name}: {key} {ours[key]}")
    return wrong


def compare_packed(file: Path) -> list[str]:
    """Print the content hash of a packed file; is its studio part the one that the recipe gives?"""
    with np.load(file, allow_pickle=False) as archive:
        arrays = {name: archive[name] for name in archive.files}
    print(f"{file}: content SHA-256 {packed_sha256(arrays)}")
    scenes = len(arrays["edited"]) // 2
    for part in PARTS[1:]:
        if part["count"] == scenes:
            again, _ = studio_triples(part["first"], scenes)
            packed = pack_pictures("studio", again)
            same = all(np.array_equal(packed[name], arrays[name]) for name in packed)
            print(f"{file}: studio part as from seed {part['first']}: {'equal' if same else 'different'}")
            if same:
                return []
    return [f"{file}: its studio part is none that the recipe gives"]


if __name__ == "__main__":
    main()
