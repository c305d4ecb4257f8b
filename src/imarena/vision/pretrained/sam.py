"""Masks by box, by point, or of everything: SAM (Kirillov et al. 2023) and SAM 2 (Ravi et al. 2024), through
transformers. SAM 2's image processor needs torchvision, so images are preprocessed here, with Pillow.
"""

from pathlib import Path
from typing import Any

from imarena.core import SegmentMask
from imarena.vision.catalog import SEGMENTER_TOOLS
from imarena.vision.local_models import import_torch, load_pretrained
from imarena.vision.pretrained.placement import Placement
from imarena.vision.pretrained.preparation import ImagePreparation, read_preparation
from imarena.vision.pretrained.prompted_masks import MaskNetwork, PromptedSegmenter
from imarena.vision.pretrained.registered_tool import PretrainedTool


def sam_segmenter(
    model: Any, preparation: ImagePreparation, placement: Placement, name: str = "sam"
) -> PromptedSegmenter:
    """The segmenter for a loaded `SamModel`; `name`: that of the tool."""

    def encode(pixel_values: Any) -> list[Any]:
        return list(model.get_image_embeddings(pixel_values).float().split(1))

    return PromptedSegmenter(MaskNetwork(name, preparation, model, encode), placement)


def sam2_segmenter(model: Any, preparation: ImagePreparation, placement: Placement) -> PromptedSegmenter:
    """The segmenter for a loaded `Sam2Model`. The threshold on the predicted IoU is the authors' own for SAM 2."""

    def encode(pixel_values: Any) -> list[Any]:
        levels = [level.float() for level in model.get_image_embeddings(pixel_values)]
        return [[level[at : at + 1] for level in levels] for at in range(len(pixel_values))]

    return PromptedSegmenter(MaskNetwork("sam2", preparation, model, encode, min_score=0.8), placement)


def load_sam(folder: Path, placement: Placement) -> PromptedSegmenter:
    """The segmenter of a local folder: safetensors, config.json and preprocessor_config.json."""
    _, transformers = import_torch("The segmenter 'sam'")
    model = load_pretrained(transformers.SamModel, folder, use_safetensors=True)
    return sam_segmenter(model, read_preparation(folder, fit="pad", rounds=True), placement)


def load_sam2(folder: Path, placement: Placement) -> PromptedSegmenter:
    """The segmenter of a local folder: safetensors, config.json and preprocessor_config.json."""
    _, transformers = import_torch("The segmenter 'sam2'")
    model = load_pretrained(transformers.Sam2Model, folder, use_safetensors=True)
    return sam2_segmenter(model, read_preparation(folder, fit="stretch", rounds=False), placement)


segment_sam: PretrainedTool[tuple[SegmentMask, ...]] = PretrainedTool(
    "The segmenter 'sam'", SEGMENTER_TOOLS["sam"].weights, load_sam
)
segment_sam2: PretrainedTool[tuple[SegmentMask, ...]] = PretrainedTool(
    "The segmenter 'sam2'", SEGMENTER_TOOLS["sam2"].weights, load_sam2
)
