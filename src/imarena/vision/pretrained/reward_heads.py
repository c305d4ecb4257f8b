"""Heads of reward models: a small MLP with ReLUs on the hidden state of one token.

It predicts a mean reward and, if it has a second output, the logarithm of the reward's uncertainty. The layers are
found by the tensors' names and shapes (``rm_head.*``, ``rm_heads.head_0.*``).
"""

import math
import re
from importlib import import_module
from pathlib import Path
from typing import Any

from imarena.core import UserError

RewardLayers = list[tuple[Any, Any | None]]
"""Weight and bias (or None) of each linear layer."""
_HEAD = re.compile(r"^rm_heads?\.(?:(?P<head>head_\d+)\.)?(?:(?P<layer>\d+)\.)?(?P<part>weight|bias)$")


def is_head_tensor(name: str) -> bool:
    """Is this the name of a tensor of a head?"""
    return _HEAD.match(name) is not None


def read_heads(folder: Path, device: str) -> list[RewardLayers]:
    """The heads' linear layers, in order, from the safetensors files."""
    safe_open = import_module("safetensors").safe_open
    heads: dict[str, dict[int, dict[str, Any]]] = {}
    for file in sorted(folder.glob("*.safetensors")):
        with safe_open(str(file), framework="pt", device=device) as tensors:
            for name in tensors.keys():  # noqa: SIM118 - not a mapping
                match = _HEAD.match(name)
                if match is not None:
                    layers = heads.setdefault(match["head"] or "head_0", {})
                    layers.setdefault(int(match["layer"] or 0), {})[match["part"]] = tensors.get_tensor(name).float()
    if not heads:
        raise UserError(
            f"{folder} holds no reward head.", hint="The weights need tensors called rm_head.* or rm_heads.head_0.*."
        )
    names = sorted(heads, key=lambda name: int(name.rpartition("_")[2]))
    return [[(layer["weight"], layer.get("bias")) for _, layer in sorted(heads[name].items())] for name in names]


def apply_head(torch: Any, layers: RewardLayers, state: Any) -> tuple[float, ...]:
    """The head's outputs for a hidden state (d,); raises if a number is not finite."""
    state = state.float()
    for number, (weight, bias) in enumerate(layers):
        state = torch.nn.functional.linear(state, weight, bias)
        state = torch.relu(state) if number < len(layers) - 1 else state
    values = tuple(float(value) for value in state)
    if not all(map(math.isfinite, values)):
        raise UserError("The reward model gives a number that is not finite.", hint="Check its weights.")
    return values
