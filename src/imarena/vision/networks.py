"""The networks whose weights are bundled (weights/ATTRIBUTION.md), each loaded on first use."""

from functools import cache
from importlib.resources import files
from typing import Any


@cache
def network(name: str) -> Any:
    """An ONNX session over ``weights/NAME.onnx``, on the processor."""
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1  # several pictures are worked on at once anyway, and one thread gives one answer
    weights = files("imarena.vision").joinpath("weights", f"{name}.onnx").read_bytes()
    return onnxruntime.InferenceSession(weights, options, providers=["CPUExecutionProvider"])
