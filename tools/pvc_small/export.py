"""Write `pvc-small` as ONNX from the weights that training left, and check that both give the same scores.

    python -m tools.pvc_small.export OUT/weights.npz src/imarena/vision/weights/pvc_small.onnx

Needs torch and onnx. Prints the file's size and SHA-256 for weights/ATTRIBUTION.md.
"""

import argparse
import hashlib
from pathlib import Path

import numpy as np
import onnxruntime
import torch

from tools.pvc_small.training import load_weights


def main() -> None:
    """Export and compare."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("weights", type=Path)
    parser.add_argument("out", type=Path)
    options = parser.parse_args()
    network = load_weights(options.weights)
    shown = torch.rand(2, 3, 512, 512)
    free = {0: "n", 2: "height", 3: "width"}
    torch.onnx.export(
        network, (shown, shown.flip(0)), str(options.out), opset_version=17, input_names=["source", "output"],
        output_names=["score", "edit"], dynamic_axes={"source": free, "output": free, "score": {0: "n"}, "edit": free},
        dynamo=False,
    )  # fmt: skip
    session = onnxruntime.InferenceSession(options.out.read_bytes(), providers=["CPUExecutionProvider"])
    worst = 0.0
    rng = np.random.default_rng(0)
    for height, width in ((512, 512), (384, 512), (128, 160)):
        source = rng.random((3, 3, height, width), dtype=np.float32)
        output = np.clip(source + rng.normal(0, 0.1, source.shape).astype(np.float32), 0, 1)
        ours = session.run(["score"], {"source": source, "output": output})[0]
        with torch.no_grad():
            theirs = network(torch.from_numpy(source), torch.from_numpy(output))[0].numpy()
        worst = max(worst, float(np.abs(ours - theirs).max()))
    data = options.out.read_bytes()
    print(f"{len(data) / 1e6:.2f} MB, SHA-256 {hashlib.sha256(data).hexdigest()}")
    print(f"largest difference between torch and ONNX: {worst:.2e}")
    if worst > 1e-3:
        raise SystemExit("The two do not agree.")


if __name__ == "__main__":
    main()
