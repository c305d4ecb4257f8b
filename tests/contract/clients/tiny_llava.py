"""A tiny LLaVA with random weights, made on the spot: real architecture, processor and files, no download."""

from pathlib import Path
from typing import Any

TEMPLATE = (
    "{% for message in messages %}{{ message['role'] | upper }}: "
    "{% if message['content'] is string %}{{ message['content'] }} {% else %}"
    "{% for part in message['content'] %}"
    "{% if part['type'] == 'image' %}<image> {% else %}{{ part['text'] }} {% endif %}"
    "{% endfor %}{% endif %}{% endfor %}{% if add_generation_prompt %}ASSISTANT:{% endif %}"
)
SIDE, PATCH = 28, 14


def make(folder: Path, *, seed: int = 0) -> Path:
    """Write the model's files into a folder, safetensors and all."""
    import torch
    from transformers import CLIPVisionConfig, LlamaConfig, LlavaConfig, LlavaForConditionalGeneration

    torch.manual_seed(seed)
    processor = _processor()
    size = len(processor.tokenizer)
    text = LlamaConfig(
        vocab_size=size,
        hidden_size=32,
        intermediate_size=64,
        num_hidden_layers=2,
        num_attention_heads=4,
        num_key_value_heads=4,
        max_position_embeddings=1024,
        bos_token_id=1,
        eos_token_id=2,
        pad_token_id=0,
    )
    vision = CLIPVisionConfig(
        hidden_size=32,
        intermediate_size=64,
        num_hidden_layers=2,
        num_attention_heads=4,
        image_size=SIDE,
        patch_size=PATCH,
        projection_dim=32,
    )
    config = LlavaConfig(
        vision_config=vision,
        text_config=text,
        image_token_index=processor.tokenizer.convert_tokens_to_ids("<image>"),
        vision_feature_select_strategy="default",
        vision_feature_layer=-1,
        image_seq_length=(SIDE // PATCH) ** 2,
    )
    model = LlavaForConditionalGeneration(config)
    with torch.no_grad():
        for parameter in model.parameters():
            if parameter.dim() > 1:
                parameter.normal_(0, 0.6)  # large enough that different pictures give different words
    model.generation_config.pad_token_id = 0
    model.save_pretrained(folder, safe_serialization=True)
    processor.save_pretrained(folder)
    return folder


def _processor() -> Any:
    from tokenizers import Tokenizer, models, pre_tokenizers  # type: ignore[import-not-found, unused-ignore]
    from transformers import CLIPImageProcessor, LlavaProcessor, PreTrainedTokenizerFast

    words = ["<pad>", "<s>", "</s>", "<unk>", "<image>", *(f"word{number}" for number in range(200))]
    raw = Tokenizer(models.WordLevel({word: number for number, word in enumerate(words)}, unk_token="<unk>"))
    raw.pre_tokenizer = pre_tokenizers.Whitespace()
    raw.add_special_tokens(["<pad>", "<s>", "</s>", "<unk>", "<image>"])
    tokenizer = PreTrainedTokenizerFast(
        tokenizer_object=raw, pad_token="<pad>", bos_token="<s>", eos_token="</s>", unk_token="<unk>"
    )
    size = {"height": SIDE, "width": SIDE}
    pictures = CLIPImageProcessor(size={"shortest_edge": SIDE}, crop_size=size)
    return LlavaProcessor(
        image_processor=pictures,
        tokenizer=tokenizer,
        patch_size=PATCH,
        vision_feature_select_strategy="default",
        num_additional_image_tokens=1,
        image_token="<image>",
        chat_template=TEMPLATE,
    )
