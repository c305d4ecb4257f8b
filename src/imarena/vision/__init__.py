"""Seeing: what changed and where, colours by name, artefacts, words in pictures. One file a tool."""

from imarena.vision.catalog import DETECTORS, EMBEDDERS, METRICS, SEGMENTERS
from imarena.vision.colour import BASIC_COLOURS, basic_names, basic_of, is_named, likeness, rgb_of, to_oklab
from imarena.vision.difference import Difference, Region, blocks, compare, structure_change
from imarena.vision.frame import Frame, frame_of
from imarena.vision.injection import Injection, find_injections, injection_words_version, may_hold_text
from imarena.vision.ocr import Line, read_lines, text_match
from imarena.vision.quality import Artefacts, Quality, measure_artefacts, measure_quality, noise_level

__all__ = [
    "BASIC_COLOURS",
    "DETECTORS",
    "EMBEDDERS",
    "METRICS",
    "SEGMENTERS",
    "Artefacts",
    "Difference",
    "Frame",
    "Injection",
    "Line",
    "Quality",
    "Region",
    "basic_names",
    "basic_of",
    "blocks",
    "compare",
    "find_injections",
    "frame_of",
    "injection_words_version",
    "is_named",
    "likeness",
    "may_hold_text",
    "measure_artefacts",
    "measure_quality",
    "noise_level",
    "read_lines",
    "rgb_of",
    "structure_change",
    "text_match",
    "to_oklab",
]
