"""Tools that take a prompt besides the image, by name: detectors by phrases, and segmenters by boxes."""

from collections.abc import Sequence

from imarena.core import BoxSegmenter, Detection, PhraseDetector, Pixels, SegmentMask, UserError, suggestion
from imarena.vision.catalog import DETECTOR_TOOLS, DETECTORS, SEGMENTER_TOOLS, SEGMENTERS
from imarena.vision.pretrained.open_vocabulary import OpenVocabularyModel
from imarena.vision.pretrained.prompted_masks import Boxes, PromptedSegmenter
from imarena.vision.pretrained.registered_tool import PretrainedTool

PHRASE_DETECTORS = tuple(name for name, tool in DETECTOR_TOOLS.items() if tool.prompt == "phrases")
BOX_SEGMENTERS = tuple(name for name, tool in SEGMENTER_TOOLS.items() if tool.prompt == "boxes")


def phrase_detector(name: str, threshold: float | None = None) -> PhraseDetector:
    """The detector called `name`. `threshold`: minimum score of a box, instead of the model's default.

    The model is loaded now, so that a missing extra or missing weights are reported before any work.
    """
    tool = DETECTORS.get(name)
    model = tool.model if isinstance(tool, PretrainedTool) else None
    if not isinstance(model, OpenVocabularyModel):
        raise UserError(f"The detector '{name}' takes no phrases.", hint=suggestion(name, PHRASE_DETECTORS))

    def detect(pixels: Pixels, phrases: Sequence[str]) -> tuple[Detection, ...]:
        return model.batch([pixels], phrases, threshold)[0]

    return detect


def box_segmenter(name: str) -> BoxSegmenter:
    """The segmenter called `name`, with its model loaded."""
    tool = SEGMENTERS.get(name)
    model = tool.model if isinstance(tool, PretrainedTool) else None
    if not isinstance(model, PromptedSegmenter):
        raise UserError(f"The segmenter '{name}' takes no boxes.", hint=suggestion(name, BOX_SEGMENTERS))

    def segment(pixels: Pixels, boxes: Boxes) -> tuple[SegmentMask, ...]:
        return model.masks_in_boxes([pixels], [boxes])[0] if boxes else ()

    return segment
