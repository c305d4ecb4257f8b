"""Write the bundled `st_lpips.onnx` from the package stlpips-pytorch 0.0.2 (BSD-2-Clause). Needs NumPy and onnx 1.23.2.

pip download --no-deps --no-binary :all: stlpips-pytorch==0.0.2 && tar xzf stlpips_pytorch-0.0.2.tar.gz
python tools/convert_st_lpips.py \
    stlpips_pytorch-0.0.2/src/stlpips_pytorch/weights/vST0.0/alex_shift_tolerant.pth \
    src/imarena/vision/weights/st_lpips.onnx

The graph is the whole distance: two images (1, 3, height, width), sRGB from 0 to 1, give one number. The layers follow
Ghildyal and Liu (2022), section 4, and the shapes in the file; weights are kept in half precision.
`tools/compare_st_lpips.py` compares the result with the original.
"""

import argparse
import hashlib
from pathlib import Path
from typing import Any

import numpy as np
import onnx
from numpy.typing import NDArray
from onnx import TensorProto, helper, numpy_helper
from torch_pickle import read_tensors

SOURCE_SHA256 = "b356b382f96010f77d085ee8343ecd9fd322d0a56e8de2b2d0549fafcad8b9ee"
OPSET = 17
EPSILON = 1e-10
BLUR = np.outer([1, 2, 1], [1, 2, 1]) / 16


class Graph:
    """Nodes and weights that are added one by one; each method returns the name of its result."""

    def __init__(self, tensors: dict[str, NDArray[Any]]) -> None:
        """`tensors` are the weights by name."""
        self.tensors = tensors
        self.nodes: list[onnx.NodeProto] = []
        self.weights: dict[str, onnx.TensorProto] = {}

    def node(self, operator: str, *inputs: str, **attributes: Any) -> str:
        """The result of one operator."""
        name = f"{operator.lower()}_{len(self.nodes)}"
        self.nodes.append(helper.make_node(operator, list(inputs), [name], **attributes))
        return name

    def constant(self, name: str, numbers: NDArray[Any]) -> str:
        """Numbers as they are."""
        self.weights.setdefault(name, numpy_helper.from_array(numbers, name))
        return name

    def weight(self, name: str) -> str:
        """A tensor of the file, stored in half precision and used in single precision."""
        wide = f"{name}.wide"
        if name not in self.weights:
            self.constant(name, self.tensors[name].astype(np.float16))
            self.nodes.append(helper.make_node("Cast", [name], [wide], to=TensorProto.FLOAT))
        return wide

    def convolution(self, values: str, layer: str, padding: int) -> str:
        """A convolution with bias."""
        return self.node(
            "Conv", values, self.weight(f"{layer}.weight"), self.weight(f"{layer}.bias"), pads=[padding] * 4
        )

    def halved(self, values: str, channels: int) -> str:
        """Mirrored by two pixels on each side, blurred, and every second pixel kept."""
        pads = self.constant("mirror", np.array([0, 0, 2, 2, 0, 0, 2, 2], np.int64))
        kernel = np.broadcast_to(BLUR, (channels, 1, 3, 3)).astype(np.float32)
        mirrored = self.node("Pad", values, pads, mode="reflect")
        return self.node("Conv", mirrored, self.constant(f"blur_{channels}", kernel), group=channels, strides=[2, 2])

    def largest(self, values: str) -> str:
        """The maximum of 3 x 3 pixels around each one."""
        return self.node("MaxPool", values, kernel_shape=[3, 3], strides=[1, 1])

    def features(self, image: str) -> list[str]:
        """What the five levels of the network see in an image of values from 0 to 1, each vector of length 1."""
        shift, scale = (self.tensors[f"scaling_layer.{name}"].astype(np.float64) for name in ("shift", "scale"))
        factor = self.constant("input_factor", (2 / scale).astype(np.float32))
        offset = self.constant("input_offset", (-(1 + shift) / scale).astype(np.float32))
        values = self.node("Add", self.node("Mul", image, factor), offset)
        first = self.node("Relu", self.halved(self.convolution(values, "net.slice1.0", 2), 64))
        values = self.halved(self.largest(first), 64)
        second = self.node("Relu", self.convolution(values, "net.slice2.5", 2))
        values = self.halved(self.largest(second), 192)
        third = self.node("Relu", self.convolution(values, "net.slice3.9", 1))
        fourth = self.node("Relu", self.convolution(third, "net.slice4.11", 1))
        fifth = self.node("Relu", self.convolution(fourth, "net.slice5.13", 1))
        return [self.unit(level) for level in (first, second, third, fourth, fifth)]

    def unit(self, values: str) -> str:
        """At each place, the vector over channels divided by its length."""
        epsilon = self.constant("epsilon", np.array(EPSILON, np.float32))
        length = self.node("ReduceL2", values, axes=[1], keepdims=1)
        return self.node("Div", values, self.node("Add", length, epsilon))

    def distance(self, source: str, output: str) -> str:
        """Squared differences of the images' features, weighted by channel, averaged over places, added over levels."""
        levels = []
        for level, (left, right) in enumerate(zip(self.features(source), self.features(output), strict=True)):
            apart = self.node("Sub", left, right)
            square = self.node("Mul", apart, apart)
            weighted = self.node("Conv", square, self.weight(f"lin{level}.model.1.weight"))
            levels.append(self.node("ReduceMean", weighted, axes=[1, 2, 3], keepdims=0))
        return self.node("Sum", *levels)


def model(tensors: dict[str, NDArray[Any]]) -> onnx.ModelProto:
    """The distance as an ONNX model."""
    graph = Graph(tensors)
    result = graph.distance("source", "output")
    graph.nodes.append(helper.make_node("Identity", [result], ["distance"]))
    images = [
        helper.make_tensor_value_info(name, TensorProto.FLOAT, [1, 3, "height", "width"])
        for name in ("source", "output")
    ]
    distance = helper.make_tensor_value_info("distance", TensorProto.FLOAT, [1])
    body = helper.make_graph(graph.nodes, "st_lpips", images, [distance], list(graph.weights.values()))
    made = helper.make_model(body, opset_imports=[helper.make_opsetid("", OPSET)], ir_version=8)
    onnx.checker.check_model(made, full_check=True)
    return made


def main() -> None:
    """Check the hash, convert, and print the hash of the result."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("weights", type=Path, help="alex_shift_tolerant.pth")
    parser.add_argument("result", type=Path, help="the ONNX file to write")
    chosen = parser.parse_args()
    if (found := hashlib.sha256(chosen.weights.read_bytes()).hexdigest()) != SOURCE_SHA256:
        raise SystemExit(f"{chosen.weights} has the SHA-256 {found}; {SOURCE_SHA256} was expected.")
    written = model(read_tensors(chosen.weights)).SerializeToString(deterministic=True)
    chosen.result.write_bytes(written)
    print(f"{chosen.result}: {len(written):,} bytes, SHA-256 {hashlib.sha256(written).hexdigest()}")


if __name__ == "__main__":
    main()
