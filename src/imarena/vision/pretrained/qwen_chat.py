"""Chats with images for Qwen2-VL, Qwen2.5-VL and Qwen3-VL, without torchvision.

transformers builds these models' processors only if torchvision is installed, because their video part needs it.
This one has what a chat needs: the tokenizer, the Pillow image processor, and the folder's chat template, or ChatML
if there is none.
"""

import inspect
import io
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from imarena.core import UserError
from imarena.vision.local_models import load_pretrained
from imarena.vision.pretrained.qwen_processor import PLACE, fill_placeholders, qwen_image_processor

MODEL_TYPES = ("qwen2_vl", "qwen2_5_vl", "qwen3_vl", "qwen3_vl_moe")
END = "<|im_end|>"
_IMAGE = f"<|vision_start|>{PLACE}<|vision_end|>"

Messages = Sequence[Mapping[str, Any]]
"""Messages with `role` and `content`; content is a string, or parts of type `text` or `image`."""


def is_qwen_vl(folder: Path) -> bool:
    """Does the folder contain a Qwen-VL model?"""
    config = folder / "config.json"
    if not config.is_file():
        return False
    return json.loads(config.read_text(encoding="utf-8")).get("model_type") in MODEL_TYPES


def load_qwen_chat(folder: Path, pixels: tuple[int, int] | None = None) -> "QwenChat":
    """The processor of a model's folder. `pixels`: minimum and maximum number of pixels that an image is scaled to."""
    import transformers

    tokenizer = load_pretrained(transformers.AutoTokenizer, folder)
    pictures = load_pretrained(qwen_image_processor(), folder)
    return QwenChat(tokenizer, pictures, _template(folder, tokenizer), pixels)


def _template(folder: Path, tokenizer: Any) -> str | None:
    """The folder's chat template: its own file, the older JSON file, or the tokenizer's."""
    plain, wrapped = folder / "chat_template.jinja", folder / "chat_template.json"
    if plain.is_file():
        return plain.read_text(encoding="utf-8")
    if wrapped.is_file():
        return str(json.loads(wrapped.read_text(encoding="utf-8"))["chat_template"])
    template = getattr(tokenizer, "chat_template", None)
    return template if isinstance(template, str) else None


class QwenChat:
    """Turns chats into model inputs. It has the methods of a processor that `generate` needs."""

    def __init__(
        self, tokenizer: Any, pictures: Any, template: str | None, pixels: tuple[int, int] | None = None
    ) -> None:
        self.tokenizer, self.image_processor = tokenizer, pictures
        self._template = template
        if pixels is not None:
            pictures.size = {"shortest_edge": pixels[0], "longest_edge": pixels[1]}
        if tokenizer.convert_tokens_to_ids(PLACE) in (None, tokenizer.unk_token_id):
            raise UserError(f"The tokenizer has no token {PLACE}.", hint="Use the tokenizer of a Qwen-VL model.")

    @property
    def chat_template(self) -> str:
        """The chat format: the folder's template, or the name of the built-in format."""
        return self._template or "ChatML"

    def render(self, messages: Messages, *, add_generation_prompt: bool) -> str:
        """The chat as one text, with one placeholder for each image."""
        if self._template is not None:
            return str(
                self.tokenizer.apply_chat_template(
                    list(messages), chat_template=self._template, tokenize=False,
                    add_generation_prompt=add_generation_prompt,
                )
            )  # fmt: skip
        text = "".join(
            f"<|im_start|>{message['role']}\n{_content_text(message['content'])}{END}\n" for message in messages
        )
        return text + ("<|im_start|>assistant\n" if add_generation_prompt else "")

    def apply_chat_template(
        self,
        messages: Messages,
        *,
        add_generation_prompt: bool = True,
        tokenize: bool = True,
        return_dict: bool = True,  # noqa: ARG002  # the call of a processor
        return_tensors: str = "pt",
    ) -> Any:
        """The model inputs for one chat; its parts contain the images (`image`: a Pillow image)."""
        text = self.render(messages, add_generation_prompt=add_generation_prompt)
        if not tokenize:
            return text
        import transformers

        patches, filled = self.images(chat_images(messages), text, return_tensors)
        tokens = self.tokenizer([filled], return_tensors=return_tensors, add_special_tokens=False)
        inputs = {**tokens, **patches}
        inputs["mm_token_type_ids"] = (tokens["input_ids"] == self.image_token_id).int()
        return transformers.BatchFeature(inputs)

    def images(self, images: Sequence[Any], text: str, return_tensors: str = "pt") -> tuple[dict[str, Any], str]:
        """Patches and grids of the images, and the text with one placeholder per image token."""
        if not images:
            return {}, text
        patches = dict(self.image_processor(images=list(images), return_tensors=return_tensors))
        lengths = [int(grid.prod()) // self.image_processor.merge_size**2 for grid in patches["image_grid_thw"]]
        return patches, fill_placeholders([text], lengths)[0]

    @property
    def image_token_id(self) -> int:
        return int(self.tokenizer.convert_tokens_to_ids(PLACE))

    def decode(self, tokens: Any, *, skip_special_tokens: bool = True) -> str:
        """Decode tokens to text."""
        return str(self.tokenizer.decode(tokens, skip_special_tokens=skip_special_tokens))

    def save(self, folder: Path) -> None:
        """Write tokenizer, image processor and template, so that `load_qwen_chat` can load this processor again."""
        self.tokenizer.save_pretrained(str(folder))
        self.image_processor.save_pretrained(str(folder))
        if self._template is not None:
            (folder / "chat_template.jinja").write_text(self._template, encoding="utf-8")


def takes_token_types(model: Any) -> bool:
    """Does the model need to know which tokens are images? transformers 5 added this."""
    return "mm_token_type_ids" in inspect.signature(model.forward).parameters


def chat_images(messages: Messages) -> list[Any]:
    """The images of a chat in order, as Pillow images; bytes are decoded."""
    contents = [message["content"] for message in messages if not isinstance(message["content"], str)]
    return [_opened(part["image"]) for content in contents for part in content if part["type"] == "image"]


def _opened(image: Any) -> Any:
    if not isinstance(image, bytes):
        return image
    from PIL import Image

    return Image.open(io.BytesIO(image)).convert("RGB")


def _content_text(content: Any) -> str:
    """One message in ChatML. Special tokens in its text are broken up."""
    if isinstance(content, str):
        return content.replace("<|", "< |")
    return "".join(_IMAGE if part["type"] == "image" else part["text"].replace("<|", "< |") for part in content)
