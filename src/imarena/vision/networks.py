"""The networks whose weights are bundled (weights/ATTRIBUTION.md), each loaded on first use."""

import hashlib
from functools import cache
from importlib.resources import files
from typing import Any


@cache
def network(name: str) -> Any:
    """An ONNX session over ``weights/NAME.onnx``, on the processor."""
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1  # several pictures are worked on at once anyway, and one thread gives one answer
    options.log_severity_level = 3  # published files hold weights that no node reads, and each is a warning
    return onnxruntime.InferenceSession(_weights(name), options, providers=["CPUExecutionProvider"])


@cache
def network_version(name: str) -> str:
    """The first digits of the hash of ``weights/NAME.onnx``: other weights are another version of a tool."""
    return hashlib.sha256(_weights(name)).hexdigest()[:12]


def _weights(name: str) -> bytes:
    return files("imarena.vision").joinpath("weights", f"{name}.onnx").read_bytes()
