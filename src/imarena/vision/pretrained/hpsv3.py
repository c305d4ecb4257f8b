"""Human preference score of an image: HPSv3 (Ma et al. 2025), a reward head on Qwen2-VL.

The wording is ours (`QUESTION`, `CAPTION`). The released model was trained with another one, so compare rewards of
this tool only with each other. A reward has no bounds; higher is better.
"""

import inspect
from collections.abc import Sequence
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any

from imarena.core import Pixels, UserError, command_line, sha256_hex
from imarena.vision.local_models import import_torch, model_folder
from imarena.vision.pretrained.placement import Placement
from imarena.vision.pretrained.preparation import run_image_processor
from imarena.vision.pretrained.qwen_processor import PLACE, fill_placeholders, qwen_image_processor
from imarena.vision.pretrained.registered_tool import PretrainedTool
from imarena.vision.pretrained.reward_heads import RewardLayers, apply_head, is_head_tensor, read_heads

FEATURE = "The metric 'hpsv3'"
REWARD_TOKEN = "<|Reward|>"  # noqa: S105
"""The token whose hidden state the head reads; it is the last one in the released tokenizer."""
QUESTION = "Rate this image: how much would people like it? Consider its composition, its details and its flaws."
CAPTION = " It should show: {caption}"
_CHAT = (
    "<|im_start|>user\n<|vision_start|>" + PLACE + "<|vision_end|>{question}" + REWARD_TOKEN + "<|im_end|>\n"
    "<|im_start|>assistant\n"
)


@dataclass(frozen=True)
class HumanPreference:
    """The reward of one image, and the logarithm of its uncertainty if the head gives one."""

    reward: float
    log_uncertainty: float | None = None


def hpsv3_prompt(caption: str = "") -> str:
    """The full text that the model reads for an image, with one placeholder for the image."""
    question = QUESTION + (CAPTION.replace("{caption}", caption) if caption else "")
    return _CHAT.replace("{question}", question)


def hpsv3_prompt_id() -> str:
    """A name for the wording, recorded with the rewards."""
    return f"hpsv3-{sha256_hex(hpsv3_prompt('{caption}').encode())[:12]}"


class HpsV3:
    """Backbone, tokenizer, image processor and head in memory."""

    def __init__(self, backbone: Any, head: RewardLayers, tokenizer: Any, processor: Any, placement: Placement) -> None:
        self._torch, _ = import_torch(FEATURE)
        self._device, self._placement = placement.torch_device(self._torch), placement
        self._dtype = placement.torch_dtype(self._torch)
        self._backbone = backbone.to(self._device, self._dtype).eval()
        self._head = [
            (weight.to(self._device), None if bias is None else bias.to(self._device)) for weight, bias in head
        ]
        self._tokenizer, self._processor = tokenizer, processor
        tokenizer.add_tokens([REWARD_TOKEN], special_tokens=True)  # does nothing if the token exists
        self._reward_id = tokenizer.convert_tokens_to_ids(REWARD_TOKEN)
        if self._reward_id >= backbone.get_input_embeddings().weight.shape[0]:
            raise UserError(f"The weights have no embedding for {REWARD_TOKEN}.", hint="Use the tokenizer of HPSv3.")

    def batch(self, images: Sequence[Pixels]) -> list[float]:
        """The reward of each image (height, width, 3) alone, without a caption."""
        return [preference.reward for preference in self.preferences(images)]

    def preferences(self, images: Sequence[Pixels], captions: Sequence[str] | None = None) -> list[HumanPreference]:
        """The rewards of images; a caption says what an image should show."""
        captions = [""] * len(images) if captions is None else captions
        if len(captions) != len(images):
            raise UserError("There are not as many captions as images.", hint="Give one caption per image.")
        results: list[HumanPreference] = []
        size = self._placement.batch_size
        for start in range(0, len(images), size):
            results += self._rewards(images[start : start + size], captions[start : start + size])
        return results

    def _rewards(self, images: Sequence[Pixels], captions: Sequence[str]) -> list[HumanPreference]:
        torch = self._torch
        inputs = self._inputs(images, captions)
        with torch.inference_mode():
            states = self._backbone(**inputs, use_cache=False).last_hidden_state
            results = []
            for row, ids in zip(states, inputs["input_ids"], strict=True):
                (position,) = (ids == self._reward_id).nonzero().flatten().tolist()
                values = apply_head(torch, self._head, row[position])
                results.append(HumanPreference(values[0], values[1] if len(values) > 1 else None))
        return results

    def _inputs(self, images: Sequence[Pixels], captions: Sequence[str]) -> dict[str, Any]:
        """Patches of all images, and texts padded on the right: a causal model does not see later tokens."""
        patches = {
            name: self._torch.from_numpy(value) for name, value in run_image_processor(self._processor, images).items()
        }
        merged = self._processor.merge_size**2
        lengths = [int(grid.prod()) // merged for grid in patches["image_grid_thw"]]
        texts = fill_placeholders([hpsv3_prompt(_plain(caption)) for caption in captions], lengths)
        tokens = self._tokenizer(texts, padding=True, padding_side="right", return_tensors="pt")
        inputs = {
            "input_ids": tokens["input_ids"],
            "attention_mask": tokens["attention_mask"],
            "image_grid_thw": patches["image_grid_thw"],
        }
        if "mm_token_type_ids" in inspect.signature(self._backbone.forward).parameters:
            inputs["mm_token_type_ids"] = (tokens["input_ids"] == self._tokenizer.convert_tokens_to_ids(PLACE)).int()
        inputs = {name: value.to(self._device) for name, value in inputs.items()}
        return {**inputs, "pixel_values": patches["pixel_values"].to(self._device, self._dtype)}


def _plain(caption: str) -> str:
    """A caption with the model's special tokens broken up."""
    return caption.replace("<|", "< |")


def load_hpsv3(folder: Path, placement: Placement) -> HpsV3:
    """The model of a local folder: safetensors with the head, and config, tokenizer and preprocessor of Qwen2-VL."""
    torch, transformers = import_torch(FEATURE)
    loading = {"local_files_only": True, "trust_remote_code": False}
    config = transformers.AutoConfig.from_pretrained(str(folder), **loading)
    tensors = _read_tensors(folder)
    rows = next((value.shape[0] for name, value in tensors.items() if name.endswith("embed_tokens.weight")), None)
    if config.model_type != "qwen2_vl" or rows is None:
        raise UserError(f"{folder} is not a Qwen2-VL model.", hint="HPSv3 is a head on Qwen2-VL.")
    config.text_config.vocab_size = rows  # one token more than Qwen2-VL has
    model = transformers.Qwen2VLForConditionalGeneration.from_pretrained(
        None, config=config, state_dict=tensors, dtype=placement.torch_dtype(torch)
    )
    tokenizer = transformers.AutoTokenizer.from_pretrained(str(folder), **loading)
    processor = qwen_image_processor().from_pretrained(str(folder), **loading)
    (head, *_) = read_heads(folder, "cpu")
    return HpsV3(model.model, head, tokenizer, processor, placement)


def _read_tensors(folder: Path) -> dict[str, Any]:
    load_file = import_module("safetensors.torch").load_file
    tensors: dict[str, Any] = {}
    for file in sorted(folder.glob("*.safetensors")):
        tensors |= {name: value for name, value in load_file(file).items() if not is_head_tensor(name)}
    return tensors


def _with_config(name: str, feature: str) -> Path:
    """The folder of the weights. The released repository contains only the weights."""
    from imarena.vision.model_weights.installed import installed_folder

    folder = installed_folder(name)
    if folder is not None and not (folder / "config.json").is_file():
        raise UserError(
            f"{feature} needs config.json, the tokenizer and preprocessor_config.json next to the weights in {folder}.",
            hint="Copy those of Qwen/Qwen2-VL-7B-Instruct into a folder with the weights, then: "
            f"{command_line('weights add')}",
        )
    return model_folder(name, feature)


class PreferenceMetric(PretrainedTool[float]):
    """The reward of a single image, as a metric."""

    def __call__(self, pixels: Pixels, against: Pixels | None = None) -> float:  # noqa: ARG002
        """The reward; higher is better."""
        return self.batch([pixels])[0]


human_preference = PreferenceMetric(FEATURE, "hpsv3", load_hpsv3, _with_config, hpsv3_prompt_id())
