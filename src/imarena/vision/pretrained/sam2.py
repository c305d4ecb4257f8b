"""Masks by box, by point, or of everything: SAM 2 (Ravi et al. 2024), through transformers.

Its image processor needs torchvision, so images are preprocessed here, with Pillow.
"""

from pathlib import Path
from typing import Any

from imarena.core import SegmentMask
from imarena.vision.local_models import import_torch, load_pretrained
from imarena.vision.pretrained.placement import Placement
from imarena.vision.pretrained.preparation import ImagePreparation, read_preparation
from imarena.vision.pretrained.prompted_masks import EverythingOptions, MaskNetwork, PromptedSegmenter
from imarena.vision.pretrained.registered_tool import PretrainedTool

FEATURE = "The segmenter 'sam2'"
SAM2_OPTIONS = EverythingOptions(min_score=0.8)
"""The authors' own threshold on the predicted IoU for SAM 2."""


def sam2_segmenter(
    model: Any, preparation: ImagePreparation, placement: Placement, options: EverythingOptions = SAM2_OPTIONS
) -> PromptedSegmenter:
    """The segmenter for a loaded `Sam2Model`."""
    torch, _ = import_torch(FEATURE)
    model = model.to(placement.torch_device(torch)).eval()

    def encode(pixel_values: Any) -> list[Any]:
        levels = [level.float() for level in model.get_image_embeddings(pixel_values)]
        return [[level[at : at + 1] for level in levels] for at in range(len(pixel_values))]

    def decode(code: Any, points: Any, boxes: Any, several: bool) -> tuple[Any, Any]:
        outputs = model(image_embeddings=code, input_points=points, input_boxes=boxes, multimask_output=several)
        return outputs.pred_masks[0], outputs.iou_scores[0]

    return PromptedSegmenter(MaskNetwork("sam2", preparation, encode, decode), placement, options)


def load_sam2(folder: Path, placement: Placement, options: EverythingOptions = SAM2_OPTIONS) -> PromptedSegmenter:
    """The segmenter of a local folder: safetensors, config.json and preprocessor_config.json."""
    _, transformers = import_torch(FEATURE)
    model = load_pretrained(transformers.Sam2Model, folder, use_safetensors=True)
    return sam2_segmenter(model, read_preparation(folder, fit="stretch", rounds=False), placement, options)


segment_sam2: PretrainedTool[tuple[SegmentMask, ...]] = PretrainedTool(FEATURE, "sam2.1-hiera-tiny", load_sam2)
