"""Masks by box, by point, or of everything: SAM (Kirillov et al. 2023), through transformers."""

from pathlib import Path
from typing import Any

from imarena.core import SegmentMask
from imarena.vision.local_models import import_torch, load_pretrained
from imarena.vision.pretrained.placement import Placement
from imarena.vision.pretrained.preparation import ImagePreparation, read_preparation
from imarena.vision.pretrained.prompted_masks import EverythingOptions, MaskNetwork, PromptedSegmenter
from imarena.vision.pretrained.registered_tool import PretrainedTool

FEATURE = "The segmenter 'sam'"


def sam_segmenter(
    model: Any,
    preparation: ImagePreparation,
    placement: Placement,
    options: EverythingOptions | None = None,
    name: str = "sam",
) -> PromptedSegmenter:
    """The segmenter for a loaded `SamModel`."""
    torch, _ = import_torch(FEATURE)
    model = model.to(placement.torch_device(torch)).eval()

    def encode(pixel_values: Any) -> list[Any]:
        return list(model.get_image_embeddings(pixel_values).float().split(1))

    def decode(code: Any, points: Any, boxes: Any, several: bool) -> tuple[Any, Any]:
        outputs = model(image_embeddings=code, input_points=points, input_boxes=boxes, multimask_output=several)
        return outputs.pred_masks[0], outputs.iou_scores[0]

    return PromptedSegmenter(MaskNetwork(name, preparation, encode, decode), placement, options)


def load_sam(folder: Path, placement: Placement, options: EverythingOptions | None = None) -> PromptedSegmenter:
    """The segmenter of a local folder: safetensors, config.json and preprocessor_config.json."""
    _, transformers = import_torch(FEATURE)
    model = load_pretrained(transformers.SamModel, folder, use_safetensors=True)
    return sam_segmenter(model, read_preparation(folder, fit="pad", rounds=True), placement, options)


segment_sam: PretrainedTool[tuple[SegmentMask, ...]] = PretrainedTool(FEATURE, "sam-vit-base", load_sam)
