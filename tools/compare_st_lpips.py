"""Compare the bundled `st_lpips.onnx` with the original weights in torch on 20 pictures, and record the values.

PYTHONPATH=src:. python tools/compare_st_lpips.py alex_shift_tolerant.pth [--record tests/fixtures/st_lpips.json]

Needs torch (the `vision` extra). The layers are written here a second time, in torch, as the package stlpips-pytorch
0.0.2 arranges them, and the file is read by torch: nothing is shared with the conversion.
"""

import argparse
import json
from pathlib import Path

import torch
from torch import Tensor, nn
from torch.nn import functional

from imarena.vision.lpips import shift_tolerant_lpips
from tests.small_data.perceptual_pairs import PAIRS, Pixels, perceptual_pair


class BlurPool(nn.Module):
    """Reflection of two pixels, a binomial 3 x 3 filter, stride 2."""

    def __init__(self, channels: int) -> None:
        """The filter is a buffer of the file."""
        super().__init__()
        self.register_buffer("filt", torch.zeros(channels, 1, 3, 3))

    def forward(self, values: Tensor) -> Tensor:
        """Half the size."""
        return functional.conv2d(nn.ReflectionPad2d(2)(values), self.filt, stride=2, groups=values.shape[1])


class Original(nn.Module):
    """AlexNet with stride 1 in its first layer, blur after it and after each pooling, and a linear head a level."""

    def __init__(self) -> None:
        """Layers have the names of the file."""
        super().__init__()
        layers: list[nn.Module] = [
            nn.Conv2d(3, 64, 11, padding=2), BlurPool(64), nn.ReLU(),
            nn.MaxPool2d(3, 1), BlurPool(64), nn.Conv2d(64, 192, 5, padding=2), nn.ReLU(),
            nn.MaxPool2d(3, 1), BlurPool(192), nn.Conv2d(192, 384, 3, padding=1), nn.ReLU(),
            nn.Conv2d(384, 256, 3, padding=1), nn.ReLU(), nn.Conv2d(256, 256, 3, padding=1), nn.ReLU(),
        ]  # fmt: skip
        self.net, self.scaling_layer = nn.Module(), nn.Module()
        for number, (start, end) in enumerate(((0, 3), (3, 7), (7, 11), (11, 13), (13, 15)), start=1):
            level = nn.Sequential()
            for index in range(start, end):
                level.add_module(str(index), layers[index])
            self.net.add_module(f"slice{number}", level)
        for name in ("shift", "scale"):
            self.scaling_layer.register_buffer(name, torch.zeros(1, 3, 1, 1))
        for number, channels in enumerate((64, 192, 384, 256, 256)):
            head = nn.Module()
            head.model = nn.Sequential(nn.Dropout(), nn.Conv2d(channels, 1, 1, bias=False))
            self.add_module(f"lin{number}", head)

    def features(self, image: Tensor) -> list[Tensor]:
        """Unit vectors of five levels, of an image from -1 to 1."""
        values = (image - self.scaling_layer.shift) / self.scaling_layer.scale
        levels = []
        for number in range(1, 6):
            values = getattr(self.net, f"slice{number}")(values)
            levels.append(values / (torch.sqrt(torch.sum(values**2, dim=1, keepdim=True)) + 1e-10))
        return levels

    def forward(self, left: Tensor, right: Tensor) -> Tensor:
        """The distance."""
        total = torch.zeros(())
        for number, (one, other) in enumerate(zip(self.features(left), self.features(right), strict=True)):
            total = total + getattr(self, f"lin{number}").model((one - other) ** 2).mean()
        return total


def to_tensor(image: Pixels) -> Tensor:
    """As the package prepares an image: -1 to 1."""
    return torch.tensor(image / 127.5 - 1.0, dtype=torch.float32).permute(2, 0, 1)[None]


def main() -> None:
    """Print both values of each pair and the largest difference."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("weights", type=Path)
    parser.add_argument("--record", type=Path)
    chosen = parser.parse_args()
    original = Original().eval()
    original.load_state_dict(torch.load(chosen.weights, map_location="cpu", weights_only=True))
    recorded, largest = {}, 0.0
    for name in PAIRS:
        left, right = perceptual_pair(name)
        with torch.inference_mode():
            recorded[name] = round(float(original(to_tensor(left), to_tensor(right))), 7)
        own = shift_tolerant_lpips(left, right)
        if own is None:
            raise SystemExit(f"Pair {name} is too small.")
        largest = max(largest, abs(own - recorded[name]))
        print(f"{name}  original {recorded[name]:.6f}  bundled {own:.6f}  {own - recorded[name]:+.1e}")
    print(f"largest difference: {largest:.1e}")
    if chosen.record:
        chosen.record.write_text(json.dumps(recorded, indent=1) + "\n")


if __name__ == "__main__":
    main()
