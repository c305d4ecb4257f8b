"""Pixels: decode safely, colour-manage, resize, hash, masks, regions."""

from imarena.images.cache import PreparedCache
from imarena.images.decode import check, decode, pixels
from imarena.images.formats import JPEG, MEDIA_TYPES, PNG, SUFFIXES, media_type_of
from imarena.images.inspect import MAX_PIXELS, ImageInfo, inspect
from imarena.images.masks import Mask, RunLengths, mask_from_image, mask_from_rle, mask_iou, mask_to_png, mask_to_rle
from imarena.images.prepare import Preparation, Prepared, apply, encode, fit, fitted_size, prepare, preview
from imarena.images.region_evidence import BOXES, EDIT_BOXES, MASKS, boxes_in, boxes_value, masks_in, masks_value
from imarena.images.regions import Box, box_to_mask, components, crop, mask_to_box
from imarena.images.similarity import difference, hash_distance, perceptual_hash

__all__ = [
    "BOXES",
    "EDIT_BOXES",
    "JPEG",
    "MASKS",
    "MAX_PIXELS",
    "MEDIA_TYPES",
    "PNG",
    "SUFFIXES",
    "Box",
    "ImageInfo",
    "Mask",
    "Preparation",
    "Prepared",
    "PreparedCache",
    "RunLengths",
    "apply",
    "box_to_mask",
    "boxes_in",
    "boxes_value",
    "check",
    "components",
    "crop",
    "decode",
    "difference",
    "encode",
    "fit",
    "fitted_size",
    "hash_distance",
    "inspect",
    "mask_from_image",
    "mask_from_rle",
    "mask_iou",
    "mask_to_box",
    "mask_to_png",
    "mask_to_rle",
    "masks_in",
    "masks_value",
    "media_type_of",
    "perceptual_hash",
    "pixels",
    "prepare",
    "preview",
]
