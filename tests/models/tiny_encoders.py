"""Tiny random CLIP and DINO models on disk, as transformers saves them. Needs the vision extra."""

from importlib import import_module
from pathlib import Path
from typing import Any

WORDS = [
    "<pad>",
    "<s>",
    "</s>",
    "<unk>",
    "<image>",
    "<reward>",
    "make",
    "it",
    "green",
    "red",
    "a",
    "dog",
    "the",
    "picture",
    "is",
    "good",
    "how",
]


def tokenizer() -> Any:
    tokenizers = import_module("tokenizers")
    words = tokenizers.Tokenizer(
        tokenizers.models.WordLevel({word: i for i, word in enumerate(WORDS)}, unk_token="<unk>")
    )
    words.pre_tokenizer = tokenizers.pre_tokenizers.WhitespaceSplit()
    words.post_processor = tokenizers.processors.TemplateProcessing(
        single="<s> $A </s>", special_tokens=[("<s>", 1), ("</s>", 2)]
    )
    return import_module("transformers").PreTrainedTokenizerFast(
        tokenizer_object=words, pad_token="<pad>", bos_token="<s>", eos_token="</s>", unk_token="<unk>", model_max_length=64,
        additional_special_tokens=["<image>", "<reward>"],
    )  # fmt: skip


def vision_config() -> dict[str, int]:
    return {
        "hidden_size": 16,
        "intermediate_size": 16,
        "num_hidden_layers": 2,
        "num_attention_heads": 2,
        "image_size": 32,
        "patch_size": 8,
    }


def image_processor(kind: str) -> Any:
    return getattr(import_module("transformers"), kind)(
        size={"shortest_edge": 32}, crop_size={"height": 32, "width": 32}
    )


def make_clip(folder: Path) -> Path:
    """A CLIP model with random weights."""
    transformers = import_module("transformers")
    text = {"vocab_size": len(WORDS), "hidden_size": 16, "intermediate_size": 16, "num_hidden_layers": 1, "num_attention_heads": 2,
            "max_position_embeddings": 16, "bos_token_id": 1, "eos_token_id": 2, "pad_token_id": 0}  # fmt: skip
    config = transformers.CLIPConfig(text_config=text, vision_config=vision_config(), projection_dim=8)
    transformers.CLIPModel(config).save_pretrained(folder)
    image_processor("CLIPImageProcessor").save_pretrained(folder)
    tokenizer().save_pretrained(folder)
    return folder


def make_dino(folder: Path) -> Path:
    """A DINOv2 encoder with random weights."""
    transformers = import_module("transformers")
    options = {key: value for key, value in vision_config().items() if key != "intermediate_size"}
    transformers.Dinov2Model(transformers.Dinov2Config(**options)).save_pretrained(folder)
    image_processor("BitImageProcessor").save_pretrained(folder)
    return folder
