"""Compare the bundled `efficientdet_lite2.onnx` with the original network on 20 pictures.

PYTHONPATH=src python tools/compare_efficientdet.py efficientdet-lite2.tflite FOLDER [--record FILE.json]

FOLDER holds pictures, such as those of benchmarks/photographs/fetch.py; the first 20 in the order of their hashes are
compared. Needs ai-edge-litert 2.3.0, which runs the original. Both get the same pixels. Compared are every score of the
networks, and the things that remain after the original's last step and after ours.
"""

import argparse
import hashlib
import json
from pathlib import Path
from typing import Any

import numpy as np
from ai_edge_litert.interpreter import Interpreter
from numpy.typing import NDArray

from imarena.images import pixels
from imarena.vision.efficientdet import _COLUMNS, anchors, decode_boxes, network_input, suppress
from imarena.vision.networks import network

SURE = 0.3
NEAR = 0.05
Thing = tuple[int, float, list[float]]
"""A kind, a score, a box."""
SUFFIXES = frozenset({".jpg", ".png", ".webp", ""})


def things(boxes: NDArray[np.float32], scores: NDArray[np.float32]) -> list[Thing]:
    """What remains of our network's answer when boxes of any kind suppress each other, as in the original."""
    likely = np.flatnonzero(scores.max(axis=1) >= SURE)
    kinds, sure = scores[likely].argmax(axis=1), scores[likely].max(axis=1)
    shares = decode_boxes(boxes[likely], anchors()[likely])
    return [(int(kinds[at]), float(sure[at]), shares[at].tolist()) for at in suppress(shares, sure)]


def original_things(interpreter: Any) -> list[Thing]:
    """What the original's last operator returns: boxes, kinds and scores of at most 25 things."""
    boxes, kinds, scores, _ = (interpreter.get_tensor(each["index"])[0] for each in interpreter.get_output_details())
    return [
        (int(kind), float(score), [float(box[1]), float(box[0]), float(box[3]), float(box[2])])
        for box, kind, score in zip(boxes, kinds, scores, strict=True)
        if score >= SURE
    ]


def apart_by(one: Thing, other: Thing) -> float:
    """The largest difference of the ends of two boxes, as a share of the network's input."""
    return float(np.abs(np.subtract(one[2], other[2])).max())


def main() -> None:
    """Print the differences of each picture, and the largest."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("original", type=Path)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--record", type=Path)
    chosen = parser.parse_args()
    interpreter = Interpreter(str(chosen.original), experimental_preserve_all_tensors=True, num_threads=1)
    interpreter.allocate_tensors()
    (last,) = (each for each in interpreter._get_ops_details() if "PostProcess" in each["op_name"])
    files = [path for path in chosen.folder.rglob("*") if path.is_file() and path.suffix in SUFFIXES]
    files.sort(key=lambda path: hashlib.sha256(path.read_bytes()).hexdigest())
    rows, recorded = [], {}
    for file in files[:20]:
        given, _ = network_input(pixels(file.read_bytes()))
        given = np.round(given)
        interpreter.set_tensor(0, given.transpose(0, 2, 3, 1).astype(np.uint8))
        interpreter.invoke()
        scores = interpreter.get_tensor(last["inputs"][1])[0]
        own_boxes, own_scores = (each[0] for each in network("efficientdet_lite2").run(None, {"pixels": given}))
        before, after = original_things(interpreter), things(own_boxes, own_scores)
        same = [(a, b) for a in before for b in after if a[0] == b[0] and apart_by(a, b) < NEAR]
        apart = max((apart_by(a, b) for a, b in same), default=0.0)
        shift = max((abs(a[1] - b[1]) for a, b in same), default=0.0)
        largest = float(np.abs(scores - own_scores)[:, _COLUMNS].max())
        rows.append((largest, len(before), len(after), len(same), apart, shift))
        recorded[file.name] = before
        print(f"{file.name:40} scores {rows[-1][0]:.3f}  things {len(before)} {len(after)}, same {len(same)},"
              f" boxes {apart:.3f}, their scores {shift:.3f}")  # fmt: skip
    table = np.array(rows)
    print(f"largest difference of a score {table[:, 0].max():.3f}; things {table[:, 1].sum():.0f}, ours", end=" ")
    print(
        f"{table[:, 2].sum():.0f}, in both {table[:, 3].sum():.0f}; there boxes differ by {table[:, 4].max():.3f}",
        end=" ",
    )
    print(f"at most, scores by {table[:, 5].max():.3f}")
    if chosen.record:
        chosen.record.write_text(json.dumps(recorded) + "\n")


if __name__ == "__main__":
    main()
