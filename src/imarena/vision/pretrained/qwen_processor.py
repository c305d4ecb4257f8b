"""Qwen's processor of text and images without torchvision, which the `vision` extra does not install.

transformers builds a `Qwen2VLProcessor` only if torchvision is installed, because its video part needs it. Editing
an image needs no videos: this module builds one from the tokenizer and the Pillow image processor.
"""

from collections.abc import Iterator, Sequence
from importlib.util import find_spec
from typing import Any

PLACE = "<|image_pad|>"
"""Occurs once per image in the text and is repeated as often as the image has tokens."""


def needs_own_processor() -> bool:
    """Is transformers unable to build the processor itself?"""
    return find_spec("torchvision") is None


def load_qwen_processor(model: str, revision: str | None) -> Any:
    """The processor of a pipeline in a folder or on the hub; errors of transformers are passed on."""
    import transformers

    loading = {"subfolder": "processor", "revision": revision, "trust_remote_code": False}
    tokenizer = transformers.Qwen2TokenizerFast.from_pretrained(model, **loading)
    return make_qwen_processor(tokenizer, qwen_image_processor().from_pretrained(model, **loading))


def qwen_image_processor() -> Any:
    """The image processor class that uses Pillow; transformers 5 renamed it."""
    import transformers

    processor = getattr(transformers, "Qwen2VLImageProcessorPil", None)
    return processor if processor is not None else transformers.Qwen2VLImageProcessor


def make_qwen_processor(tokenizer: Any, pictures: Any) -> Any:
    """A `Qwen2VLProcessor` (a subclass, so that diffusers accepts it) that never processes videos."""
    import transformers

    def start(self: Any) -> None:
        self.tokenizer, self.image_processor = tokenizer, pictures
        self.image_token = PLACE
        self.chat_template = None

    def call(_self: Any, images: Any = None, text: Any = None, padding: Any = False, return_tensors: Any = None) -> Any:
        patches = {} if images is None else pictures(images=images, return_tensors=return_tensors)
        texts = [text] if isinstance(text, str) else list(text)
        if images is not None:
            sizes = [int(grid.prod()) // pictures.merge_size**2 for grid in patches["image_grid_thw"]]
            texts = fill_placeholders(texts, sizes)
        tokens = tokenizer(texts, padding=padding, return_tensors=return_tensors)
        return transformers.BatchFeature({**tokens, **patches})

    kind = type("PictureProcessor", (transformers.Qwen2VLProcessor,), {"__init__": start, "__call__": call})
    return kind()


def fill_placeholders(texts: Sequence[str], sizes: Sequence[int]) -> list[str]:
    """Repeat each placeholder in the texts, in order, as often as its image has tokens."""
    left: Iterator[int] = iter(sizes)
    filled: list[str] = []
    for text in texts:
        first, *parts = text.split(PLACE)
        filled.append(first + "".join(PLACE * next(left, 1) + part for part in parts))
    return filled
