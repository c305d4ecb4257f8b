"""Tiny random diffusion pipelines, saved to a folder as safetensors. Needs the vision extra."""

import json
from importlib import import_module
from pathlib import Path
from typing import Any

from imarena.vision.pretrained.qwen_processor import qwen_image_processor

LETTERS = [chr(code) for code in range(ord("a"), ord("z") + 1)]


def _clip_tokenizer(folder: Path) -> Any:
    transformers = import_module("transformers")
    words = [*LETTERS, *(f"{letter}</w>" for letter in LETTERS), "<|startoftext|>", "<|endoftext|>"]
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "vocab.json").write_text(json.dumps({word: n for n, word in enumerate(words)}))
    (folder / "merges.txt").write_text("#version: 0.2\n")
    return transformers.CLIPTokenizer.from_pretrained(str(folder), model_max_length=77)


def _clip_text(projection: bool = False) -> Any:
    transformers = import_module("transformers")
    config = transformers.CLIPTextConfig(
        vocab_size=60, hidden_size=32, intermediate_size=37, num_hidden_layers=2, num_attention_heads=4,
        projection_dim=32, bos_token_id=52, eos_token_id=53, pad_token_id=53, hidden_act="gelu",
    )  # fmt: skip
    kind = transformers.CLIPTextModelWithProjection if projection else transformers.CLIPTextModel
    return kind(config).eval()


def _vae(latent: int = 4) -> Any:
    diffusers = import_module("diffusers")
    return diffusers.AutoencoderKL(
        block_out_channels=[32, 64], in_channels=3, out_channels=3, latent_channels=latent, sample_size=32,
        down_block_types=["DownEncoderBlock2D"] * 2, up_block_types=["UpDecoderBlock2D"] * 2,
    ).eval()  # fmt: skip


def _unet(channels: int, **more: Any) -> Any:
    diffusers = import_module("diffusers")
    return diffusers.UNet2DConditionModel(
        block_out_channels=(32, 64), layers_per_block=1, sample_size=32, in_channels=channels, out_channels=4,
        down_block_types=("DownBlock2D", "CrossAttnDownBlock2D"), up_block_types=("CrossAttnUpBlock2D", "UpBlock2D"),
        **{"cross_attention_dim": 32, **more},
    ).eval()  # fmt: skip


def instruct_pix2pix(folder: Path) -> Path:
    """Tiny InstructPix2Pix."""
    diffusers = import_module("diffusers")
    pipe = diffusers.StableDiffusionInstructPix2PixPipeline(
        vae=_vae(), text_encoder=_clip_text(), tokenizer=_clip_tokenizer(folder / "words"), unet=_unet(8),
        scheduler=diffusers.PNDMScheduler(skip_prk_steps=True), safety_checker=None, feature_extractor=None,
        image_encoder=None, requires_safety_checker=False,
    )  # fmt: skip
    pipe.save_pretrained(str(folder / "model"), safe_serialization=True)
    return folder / "model"


def sdxl(folder: Path, *, from_picture: bool = False) -> Path:
    """Tiny SDXL, from words or from a picture."""
    diffusers = import_module("diffusers")
    name = "StableDiffusionXLImg2ImgPipeline" if from_picture else "StableDiffusionXLPipeline"
    unet = _unet(
        4, cross_attention_dim=64, addition_embed_type="text_time", addition_time_embed_dim=8,
        attention_head_dim=(2, 4), transformer_layers_per_block=(1, 2), use_linear_projection=True,
        projection_class_embeddings_input_dim=6 * 8 + 32,
    )  # fmt: skip
    words = _clip_tokenizer(folder / "words")
    pipe = getattr(diffusers, name)(
        vae=_vae(), text_encoder=_clip_text(), text_encoder_2=_clip_text(projection=True), tokenizer=words,
        tokenizer_2=words, unet=unet, scheduler=diffusers.EulerDiscreteScheduler(), add_watermarker=False,
    )  # fmt: skip
    pipe.save_pretrained(str(folder / "model"), safe_serialization=True)
    return folder / "model"


def flux_kontext(folder: Path) -> Path:
    """Tiny FLUX Kontext."""
    diffusers, transformers = import_module("diffusers"), import_module("transformers")
    t5 = transformers.T5EncoderModel(
        transformers.T5Config(vocab_size=64, d_model=32, d_kv=8, d_ff=37, num_layers=2, num_heads=4)
    )
    pipe = diffusers.FluxKontextPipeline(
        scheduler=diffusers.FlowMatchEulerDiscreteScheduler(),
        vae=diffusers.AutoencoderKL(
            sample_size=32, in_channels=3, out_channels=3, block_out_channels=(4,), layers_per_block=1,
            latent_channels=1, norm_num_groups=1, use_quant_conv=False, use_post_quant_conv=False,
            shift_factor=0.0609, scaling_factor=1.5035,
        ),
        text_encoder=_clip_text(), tokenizer=_clip_tokenizer(folder / "words"), text_encoder_2=t5.eval(),
        tokenizer_2=_t5_tokenizer(),
        transformer=diffusers.FluxTransformer2DModel(
            patch_size=1, in_channels=4, num_layers=1, num_single_layers=1, attention_head_dim=16,
            num_attention_heads=2, joint_attention_dim=32, pooled_projection_dim=32, axes_dims_rope=[4, 4, 8],
        ),
    )  # fmt: skip
    pipe.save_pretrained(str(folder / "model"), safe_serialization=True)
    return folder / "model"


def _t5_tokenizer() -> Any:
    transformers, tokenizers = import_module("transformers"), import_module("tokenizers")
    words = ["<pad>", "</s>", "<unk>", "▁", *LETTERS]
    table = [(word, -float(n)) for n, word in enumerate(words)]
    backend = tokenizers.Tokenizer(tokenizers.models.Unigram(table, unk_id=2))
    return transformers.T5TokenizerFast(tokenizer_object=backend, extra_ids=0, model_max_length=64)


def qwen_image_edit(folder: Path, *, plus: bool = False) -> Path:
    """Tiny Qwen-Image-Edit (`plus`: the one that takes several pictures). Its processor is saved part by part."""
    diffusers, transformers = import_module("diffusers"), import_module("transformers")
    latent = 4
    vae = diffusers.AutoencoderKLQwenImage(
        base_dim=12, z_dim=latent, dim_mult=[1, 1, 1, 1], num_res_blocks=1, temperal_downsample=[False, True, True],
        latents_mean=[0.0] * latent, latents_std=[1.0] * latent,
    )  # fmt: skip
    transformer = diffusers.QwenImageTransformer2DModel(
        patch_size=2, in_channels=4 * latent, out_channels=latent, num_layers=1, attention_head_dim=16,
        num_attention_heads=2, joint_attention_dim=32, axes_dims_rope=(4, 6, 6),
    )  # fmt: skip
    tokenizer = qwen_tokenizer()
    ids = {name: tokenizer.convert_tokens_to_ids(token) for name, token in _QWEN.items()}
    config = transformers.Qwen2_5_VLConfig(
        text_config={
            "vocab_size": len(tokenizer), "hidden_size": 32, "intermediate_size": 37, "num_hidden_layers": 1,
            "num_attention_heads": 4, "num_key_value_heads": 2, "max_position_embeddings": 4096,
            "rope_scaling": {"type": "mrope", "mrope_section": [1, 1, 2]},
        },
        vision_config={
            "depth": 1, "hidden_size": 32, "intermediate_size": 37, "num_heads": 2, "out_hidden_size": 32,
            "patch_size": 14, "spatial_merge_size": 2, "fullatt_block_indexes": [0],
        },
        **ids,
    )  # fmt: skip
    name = "QwenImageEditPlusPipeline" if plus else "QwenImageEditPipeline"
    pipe = getattr(diffusers, name)(
        scheduler=diffusers.FlowMatchEulerDiscreteScheduler(), vae=vae.eval(), transformer=transformer.eval(),
        text_encoder=transformers.Qwen2_5_VLForConditionalGeneration(config).eval(), tokenizer=tokenizer,
        processor=None,
    )  # fmt: skip
    pipe.save_pretrained(str(folder / "model"), safe_serialization=True)
    for part in (tokenizer, qwen_image_processor()()):
        part.save_pretrained(str(folder / "model" / "processor"))
    index = folder / "model" / "model_index.json"
    parts = json.loads(index.read_text())
    index.write_text(json.dumps({**parts, "processor": ["transformers", "Qwen2VLProcessor"]}))
    return folder / "model"


_QWEN = {
    "image_token_id": "<|image_pad|>", "video_token_id": "<|video_pad|>", "vision_start_token_id": "<|vision_start|>",
    "vision_end_token_id": "<|vision_end|>",
}  # fmt: skip


def qwen_tokenizer() -> Any:
    transformers, tokenizers = import_module("transformers"), import_module("tokenizers")
    letters = sorted(tokenizers.pre_tokenizers.ByteLevel.alphabet())
    vocabulary = {letter: n for n, letter in enumerate([*letters, "<|endoftext|>"])}
    special = ["<|im_start|>", "<|im_end|>", *_QWEN.values()]
    made = transformers.Qwen2Tokenizer(vocab=vocabulary, merges=[])
    made.add_special_tokens({"additional_special_tokens": special})
    return made
