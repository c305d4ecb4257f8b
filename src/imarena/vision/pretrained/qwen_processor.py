"""Qwen's processor of words and pictures without torchvision, which the `vision` extra does not bring.

transformers makes a `Qwen2VLProcessor` only where torchvision is installed, because of its part for videos. Editing a
picture needs no videos: this makes one from the tokenizer and from the image processor that rests on Pillow.
"""

from collections.abc import Iterator, Sequence
from importlib.util import find_spec
from typing import Any

PLACE = "<|image_pad|>"
"""Stands once for each picture in the text and is repeated as often as the picture has tokens."""


def needs_own_processor() -> bool:
    """Is transformers unable to make the processor by itself?"""
    return find_spec("torchvision") is None


def load_qwen_processor(model: str, revision: str | None) -> Any:
    """The processor of a pipeline in a folder or on the hub; raises what transformers raises."""
    import transformers

    where = {"subfolder": "processor", "revision": revision, "trust_remote_code": False}
    tokenizer = transformers.Qwen2TokenizerFast.from_pretrained(model, **where)
    return make_qwen_processor(tokenizer, qwen_image_processor().from_pretrained(model, **where))


def qwen_image_processor() -> Any:
    """The class that prepares pictures with Pillow; transformers 5 gave it a name of its own."""
    import transformers

    processor = getattr(transformers, "Qwen2VLImageProcessorPil", None)
    return processor if processor is not None else transformers.Qwen2VLImageProcessor


def make_qwen_processor(tokenizer: Any, pictures: Any) -> Any:
    """A `Qwen2VLProcessor` (so that diffusers takes it) that never asks for videos."""
    import transformers

    def start(self: Any) -> None:
        self.tokenizer, self.image_processor = tokenizer, pictures
        self.image_token = PLACE
        self.chat_template = None

    def read(_self: Any, images: Any = None, text: Any = None, padding: Any = False, return_tensors: Any = None) -> Any:
        seen = {} if images is None else pictures(images=images, return_tensors=return_tensors)
        texts = [text] if isinstance(text, str) else list(text)
        if images is not None:
            sizes = [int(grid.prod()) // pictures.merge_size**2 for grid in seen["image_grid_thw"]]
            texts = fill_placeholders(texts, sizes)
        tokens = tokenizer(texts, padding=padding, return_tensors=return_tensors)
        return transformers.BatchFeature({**tokens, **seen})

    kind = type("PictureProcessor", (transformers.Qwen2VLProcessor,), {"__init__": start, "__call__": read})
    return kind()


def fill_placeholders(texts: Sequence[str], sizes: Sequence[int]) -> list[str]:
    """Each placeholder of the texts, in order, as often as its picture has tokens."""
    left: Iterator[int] = iter(sizes)
    filled: list[str] = []
    for text in texts:
        first, *rest = text.split(PLACE)
        filled.append(first + "".join(PLACE * next(left, 1) + part for part in rest))
    return filled
