"""The networks whose weights are bundled (weights/ATTRIBUTION.md), each loaded on first use."""

import hashlib
from functools import cache
from importlib.resources import files
from typing import Any


@cache
def network(name: str) -> Any:
    """An ONNX session for ``weights/NAME.onnx`` on the CPU."""
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1  # images run in parallel anyway, and one thread always gives the same result
    options.log_severity_level = 3  # published files hold weights that no node reads, and each causes a warning
    return onnxruntime.InferenceSession(_weights(name), options, providers=["CPUExecutionProvider"])


@cache
def network_version(name: str) -> str:
    """The first digits of the hash of ``weights/NAME.onnx``: new weights make a new version of the tool."""
    return hashlib.sha256(_weights(name)).hexdigest()[:12]


def _weights(name: str) -> bytes:
    return files("imarena.vision").joinpath("weights", f"{name}.onnx").read_bytes()
