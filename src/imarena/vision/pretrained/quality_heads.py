"""Small heads on an image encoder that each predict one number: plausibility, aesthetics (EdiVal-Agent, O.3, O.5).

You supply the weights as a folder: an encoder as transformers saves it (CLIP, SigLIP, DINO), and `heads.safetensors`
with the linear layers of each head (`plausibility.0.weight`, `plausibility.0.bias`, `plausibility.1.weight`, ...). The
paper's own heads are not published. The layers are joined by ReLUs; their input is the encoder's image features,
scaled to length 1.
"""

import re
from collections.abc import Sequence
from importlib import import_module
from pathlib import Path
from typing import Any

from imarena.core import Pixels, UserError
from imarena.vision.local_models import import_torch, load_pretrained
from imarena.vision.pretrained.image_features import (
    ImageFeatures,
    class_token,
    processor_preparation,
    projected_features,
)
from imarena.vision.pretrained.placement import Placement
from imarena.vision.pretrained.registered_tool import PretrainedTool
from imarena.vision.pretrained.reward_heads import RewardLayers, apply_head

QUALITY_HEADS = "quality-heads"
"""The name of the weights: `imarena weights add quality-heads FOLDER`."""
HEAD_NAMES = ("plausibility", "aesthetics")
FEATURE = "The quality heads"
_TENSOR = re.compile(r"^(?P<head>[a-z_]+)\.(?P<layer>\d+)\.(?P<part>weight|bias)$")


class QualityHeads:
    """The encoder and its heads in memory."""

    def __init__(self, encoder: ImageFeatures, heads: dict[str, RewardLayers]) -> None:
        self._torch, _ = import_torch(FEATURE)
        self._encoder, self._heads = encoder, heads

    def batch(self, images: Sequence[Pixels]) -> list[dict[str, float]]:
        """Number by head name, for each image (height, width, 3)."""
        states = [self._torch.from_numpy(vector) for vector in self._encoder.batch(images)]
        return [
            {name: apply_head(self._torch, layers, state)[0] for name, layers in self._heads.items()}
            for state in states
        ]


def load_quality_heads(folder: Path, placement: Placement) -> QualityHeads:
    """The encoder of a local folder and the heads of its `heads.safetensors`."""
    _, transformers = import_torch(FEATURE)
    model = load_pretrained(transformers.AutoModel, folder, use_safetensors=True)
    features = projected_features if callable(getattr(model, "get_image_features", None)) else class_token
    encoder = ImageFeatures(model, processor_preparation(transformers, folder), features, placement, FEATURE)
    return QualityHeads(encoder, read_quality_heads(folder))


def read_quality_heads(folder: Path) -> dict[str, RewardLayers]:
    """The linear layers of each head, in order. Each head outputs one number."""
    file = folder / "heads.safetensors"
    if not file.is_file():
        raise UserError(f"{folder} has no heads.safetensors.", hint="It holds plausibility.0.weight and so on.")
    layers_by_head: dict[str, dict[int, dict[str, Any]]] = {}
    for name, tensor in import_module("safetensors.torch").load_file(file).items():
        match = _TENSOR.match(name)
        if match is None or match["head"] not in HEAD_NAMES:
            raise UserError(f"{file} holds '{name}'.", hint=f"Heads are {' and '.join(HEAD_NAMES)}: NAME.0.weight.")
        layers_by_head.setdefault(match["head"], {}).setdefault(int(match["layer"]), {})[match["part"]] = tensor.float()
    heads = {
        name: [(layer["weight"], layer.get("bias")) for _, layer in sorted(layers_by_head[name].items())]
        for name in HEAD_NAMES
        if name in layers_by_head
    }
    for name, layers in heads.items():
        if layers[-1][0].shape[0] != 1:
            raise UserError(f"The head '{name}' of {file} gives {layers[-1][0].shape[0]} numbers, not one.")
    return heads


rate_quality: PretrainedTool[dict[str, float]] = PretrainedTool(FEATURE, QUALITY_HEADS, load_quality_heads)
