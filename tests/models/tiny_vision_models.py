"""Tiny random detectors, segmenters, encoders and reward models on disk, as transformers saves them. Needs the vision extra."""

import json
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np

from tests.models.tiny_encoders import make_clip, vision_config
from tests.models.tiny_encoders import tokenizer as word_tokenizer
from tests.unit.editors.tiny_pipelines import qwen_tokenizer

NOUNS = ("cup", "dog", "red", "person", "car")


def bert_tokenizer() -> Any:
    """One token per word, with BERT's ids of the special tokens, which Grounding DINO looks for."""
    tokenizers = import_module("tokenizers")
    vocabulary = {"[PAD]": 0, "[UNK]": 100, "[CLS]": 101, "[SEP]": 102, ".": 1012}
    vocabulary |= {word: 1020 + at for at, word in enumerate(NOUNS)}
    made = tokenizers.Tokenizer(tokenizers.models.WordLevel(vocabulary, unk_token="[UNK]"))
    made.pre_tokenizer = tokenizers.pre_tokenizers.Whitespace()
    made.post_processor = tokenizers.processors.TemplateProcessing(
        single="[CLS] $A [SEP]", special_tokens=[("[CLS]", 101), ("[SEP]", 102)]
    )
    return import_module("transformers").PreTrainedTokenizerFast(
        tokenizer_object=made, pad_token="[PAD]", unk_token="[UNK]"
    )


def make_grounding_dino(folder: Path) -> Path:
    """Swin with one block per stage, two encoder and two decoder layers, 20 queries."""
    transformers = import_module("transformers")
    config = transformers.GroundingDinoConfig(
        backbone_config=transformers.SwinConfig(
            image_size=64, embed_dim=8, depths=[1, 1, 1, 1], num_heads=[1, 1, 2, 2], window_size=4,
            out_indices=[2, 3, 4],
        ),
        text_config=transformers.BertConfig(
            vocab_size=1040, hidden_size=16, num_hidden_layers=1, num_attention_heads=2, intermediate_size=16
        ),
        d_model=64, encoder_layers=2, decoder_layers=2, encoder_attention_heads=2, decoder_attention_heads=2,
        encoder_ffn_dim=16, decoder_ffn_dim=16, num_queries=20, max_text_len=16,
    )  # fmt: skip
    _shaken(transformers.GroundingDinoForObjectDetection(config)).save_pretrained(folder)
    size = {"shortest_edge": 64, "longest_edge": 96}
    transformers.GroundingDinoImageProcessorPil(size=size).save_pretrained(folder)
    bert_tokenizer().save_pretrained(folder)
    return folder


def _make_owl(folder: Path, family: str, side: int) -> Path:
    transformers = import_module("transformers")
    text = {
        "vocab_size": 32, "hidden_size": 16, "intermediate_size": 16, "num_hidden_layers": 1, "num_attention_heads": 2,
        "max_position_embeddings": 16, "bos_token_id": 1, "eos_token_id": 2, "pad_token_id": 0,
    }  # fmt: skip
    config = getattr(transformers, f"{family}Config")(
        text_config=text, vision_config={**vision_config(), "image_size": side}, projection_dim=16
    )
    model = _shaken(getattr(transformers, f"{family}ForObjectDetection")(config))
    model.box_head.dense2.weight.data *= 0.05  # else all boxes lie at an edge and have no area
    model.save_pretrained(folder)
    sizes = {"size": {"height": side, "width": side}}
    getattr(transformers, f"{family}ImageProcessorPil")(**sizes).save_pretrained(folder)
    word_tokenizer().save_pretrained(folder)
    return folder


def make_owl_vit(folder: Path) -> Path:
    """OWL-ViT: an image is stretched to a square."""
    return _make_owl(folder, "OwlViT", 32)


def make_owlv2(folder: Path) -> Path:
    """OWLv2: an image is padded to a square."""
    return _make_owl(folder, "Owlv2", 48)


def make_dinov3(folder: Path) -> Path:
    """DINOv3; its processor needs torchvision, so that its settings are written by hand."""
    transformers = import_module("transformers")
    config = transformers.DINOv3ViTConfig(**vision_config(), num_register_tokens=2)
    _shaken(transformers.DINOv3ViTModel(config)).save_pretrained(folder)
    write_preprocessor(folder, 32)
    return folder


def write_preprocessor(folder: Path, side: int, **more: Any) -> None:
    settings = {
        "size": {"height": side, "width": side}, "resample": 2, "image_mean": [0.485, 0.456, 0.406],
        "image_std": [0.229, 0.224, 0.225], "do_resize": True, "do_rescale": True, "do_normalize": True,
    }  # fmt: skip
    (folder / "preprocessor_config.json").write_text(json.dumps({**settings, **more}))


def make_siglip(folder: Path) -> Path:
    """SigLIP with 16 tokens of text at most."""
    transformers = import_module("transformers")
    text = {
        "vocab_size": 32, "hidden_size": 16, "intermediate_size": 16, "num_hidden_layers": 1, "num_attention_heads": 2,
        "max_position_embeddings": 16,
    }  # fmt: skip
    config = transformers.SiglipConfig(text_config=text, vision_config=vision_config())
    _shaken(transformers.SiglipModel(config)).save_pretrained(folder)
    transformers.SiglipImageProcessorPil(size={"height": 32, "width": 32}).save_pretrained(folder)
    word_tokenizer().save_pretrained(folder)
    return folder


_DECODER = {"hidden_size": 32, "mlp_dim": 32, "iou_head_hidden_dim": 32}


def make_sam(folder: Path) -> Path:
    """SAM for inputs of 64 pixels."""
    transformers = import_module("transformers")
    config = transformers.SamConfig(
        vision_config={
            "hidden_size": 16, "output_channels": 32, "num_hidden_layers": 2, "num_attention_heads": 2, "mlp_dim": 16,
            "image_size": 64, "patch_size": 16, "window_size": 2, "global_attn_indexes": [1], "num_pos_feats": 16,
            "initializer_range": 0.02,
        },
        prompt_encoder_config={"hidden_size": 32, "image_size": 64, "patch_size": 16},
        mask_decoder_config=_DECODER,
    )  # fmt: skip
    _shaken(transformers.SamModel(config)).save_pretrained(folder)
    sizes = {"size": {"longest_edge": 64}, "pad_size": {"height": 64, "width": 64}}
    transformers.SamImageProcessorPil(**sizes).save_pretrained(folder)
    return folder


def make_sam2(folder: Path) -> Path:
    """SAM 2 for inputs of 64 pixels."""
    transformers = import_module("transformers")
    hiera = transformers.Sam2HieraDetConfig(
        hidden_size=8, num_attention_heads=1, image_size=[64, 64], blocks_per_stage=[1, 1, 2, 1],
        embed_dim_per_stage=[8, 16, 32, 64], num_attention_heads_per_stage=[1, 1, 2, 2],
        window_size_per_stage=[4, 4, 4, 2], global_attention_blocks=[3],
        window_positional_embedding_background_size=[2, 2],
    )  # fmt: skip
    vision = transformers.Sam2VisionConfig(
        backbone_config=hiera, backbone_channel_list=[64, 32, 16, 8], fpn_hidden_size=32,
        backbone_feature_sizes=[[16, 16], [8, 8], [4, 4]],
    )  # fmt: skip
    config = transformers.Sam2Config(
        vision_config=vision,
        prompt_encoder_config={"hidden_size": 32, "image_size": 64, "patch_size": 16},
        mask_decoder_config=_DECODER,
    )
    _shaken(transformers.Sam2Model(config)).save_pretrained(folder)
    write_preprocessor(folder, 64)
    return folder


def mobile_sam_tensors() -> dict[str, Any]:
    """MobileSAM's tensors under their released names, tiny: a TinyViT of this package and the decoder of a tiny SAM."""
    torch, transformers = import_module("torch"), import_module("transformers")
    module = import_module("imarena.vision.pretrained.tiny_vit")
    stages = [module.TinyVitStage(*stage) for stage in MOBILE_SAM_STAGES]
    encoder = _shaken(module.TinyViT(stages, 32))
    for part in encoder.modules():
        if isinstance(part, torch.nn.BatchNorm2d):
            part.running_var.uniform_(0.5, 2)
            part.running_mean.normal_()
    tensors = {f"image_encoder.{name}": value for name, value in encoder.state_dict().items()}
    tensors |= {"image_encoder.norm_head.weight": torch.ones(32), "image_encoder.head.bias": torch.ones(3)}
    config = transformers.SamConfig(
        vision_config={"num_hidden_layers": 1, "hidden_size": 16, "output_channels": 32, "num_pos_feats": 16},
        prompt_encoder_config={"hidden_size": 32}, mask_decoder_config=_DECODER,
    )  # fmt: skip
    for name, value in _shaken(transformers.SamModel(config)).state_dict().items():
        if not name.startswith(("vision_encoder.", "prompt_encoder.shared_embedding.")):
            tensors[released_name(name)] = value
    return {name: value.clone() for name, value in tensors.items()}


MOBILE_SAM_STAGES = ((8, 1, 1, 1, True), (16, 1, 2, 3, True), (16, 2, 2, 2, False), (32, 1, 4, 3, False))


def released_name(name: str) -> str:
    """The released name of a tensor of the decoder in transformers: the other way round, written independently."""
    if name == "shared_image_embedding.positional_embedding":
        return "prompt_encoder.pe_layer.positional_encoding_gaussian_matrix"
    parts = {
        "point_embed": "point_embeddings", "mask_embed.conv1": "mask_downscaling.0",
        "mask_embed.layer_norm1": "mask_downscaling.1", "mask_embed.conv2": "mask_downscaling.3",
        "mask_embed.layer_norm2": "mask_downscaling.4", "mask_embed.conv3": "mask_downscaling.6",
        "upscale_conv1": "output_upscaling.0", "upscale_layer_norm": "output_upscaling.1",
        "upscale_conv2": "output_upscaling.3", "layer_norm_final_attn": "norm_final_attn",
        **{f"layer_norm{n}": f"norm{n}" for n in range(1, 5)},
    }  # fmt: skip
    if "_mlps." in name or "iou_prediction_head" in name:
        parts = {"layers.0": "layers.1", "proj_in": "layers.0", "proj_out": "layers.2"}
    for ours in sorted(parts, key=len, reverse=True):
        if f".{ours}." in name:
            return name.replace(f".{ours}.", f".{parts[ours]}.")
    return name


def make_mobile_sam(folder: Path) -> Path:
    """MobileSAM as `imarena weights get` leaves it: one safetensors file."""
    folder.mkdir(parents=True, exist_ok=True)
    import_module("safetensors.torch").save_file(mobile_sam_tensors(), folder / "model.safetensors")
    (folder / "config.json").write_text('{"image_size": 128}')
    return folder


def make_depth_anything(folder: Path) -> Path:
    """Depth Anything on a tiny DINOv2."""
    transformers = import_module("transformers")
    backbone = transformers.Dinov2Config(
        hidden_size=16, num_hidden_layers=4, num_attention_heads=2, image_size=28, patch_size=14,
        out_indices=[1, 2, 3, 4], reshape_hidden_states=False, apply_layernorm=True,
    )  # fmt: skip
    config = transformers.DepthAnythingConfig(
        backbone_config=backbone, reassemble_hidden_size=16, neck_hidden_sizes=[8, 8, 8, 8], fusion_hidden_size=8,
        head_hidden_size=8, patch_size=14,
    )  # fmt: skip
    _shaken(transformers.DepthAnythingForDepthEstimation(config)).save_pretrained(folder)
    transformers.DPTImageProcessorPil(
        size={"height": 224, "width": 224}, keep_aspect_ratio=True, ensure_multiple_of=14
    ).save_pretrained(folder)
    return folder


def make_hpsv3(folder: Path) -> Path:
    """HPSv3: Qwen2-VL with one more token, and a reward head in the weights' file."""
    torch, transformers = import_module("torch"), import_module("transformers")
    tokenizer = qwen_tokenizer()
    tokenizer.add_tokens(["<|Reward|>"], special_tokens=True)
    names = {"image": "image_pad", "video": "video_pad", "vision_start": "vision_start", "vision_end": "vision_end"}
    ids = {f"{name}_token_id": tokenizer.convert_tokens_to_ids(f"<|{token}|>") for name, token in names.items()}
    config = transformers.Qwen2VLConfig(
        text_config={
            "vocab_size": len(tokenizer), "hidden_size": 32, "intermediate_size": 37, "num_hidden_layers": 2,
            "num_attention_heads": 4, "num_key_value_heads": 2, "max_position_embeddings": 4096,
            "rope_parameters": {"rope_type": "default", "rope_theta": 1e4, "mrope_section": [1, 1, 2]},
        },
        vision_config={"depth": 1, "embed_dim": 32, "hidden_size": 32, "num_heads": 2, "mlp_ratio": 1},
        **ids,
    )  # fmt: skip
    _shaken(transformers.Qwen2VLForConditionalGeneration(config)).save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    size = {"shortest_edge": 56 * 56, "longest_edge": 28 * 28 * 9}
    transformers.Qwen2VLImageProcessorPil(size=size).save_pretrained(folder)
    files = import_module("safetensors.torch")
    tensors = files.load_file(folder / "model.safetensors")
    for place, (out, inner) in {0: (16, 32), 3: (8, 16), 5: (2, 8)}.items():
        tensors |= {f"rm_head.{place}.weight": torch.randn(out, inner), f"rm_head.{place}.bias": torch.randn(out)}
    files.save_file(tensors, folder / "model.safetensors", metadata={"format": "pt"})
    config = json.loads((folder / "config.json").read_text())
    config["text_config"]["vocab_size"] -= 1  # as of Qwen2-VL itself: the reward token is one more
    (folder / "config.json").write_text(json.dumps(config))
    return folder


def make_quality_heads(folder: Path) -> Path:
    """A tiny CLIP, with heads of two layers (plausibility) and of one without a bias (aesthetics)."""
    torch = import_module("torch")
    make_clip(folder)
    heads = {
        "plausibility.0.weight": torch.randn(5, 8), "plausibility.0.bias": torch.randn(5),
        "plausibility.2.weight": torch.randn(1, 5), "plausibility.2.bias": torch.randn(1),
        "aesthetics.0.weight": torch.randn(1, 8),
    }  # fmt: skip
    import_module("safetensors.torch").save_file(heads, folder / "heads.safetensors")
    return folder


def make_qwen3_vl(folder: Path) -> Path:
    """Qwen3-VL with two layers each, which knows bytes and the special tokens of a chat."""
    transformers = import_module("transformers")
    tokenizer = qwen_tokenizer()
    names = {"image": "image_pad", "video": "video_pad", "vision_start": "vision_start", "vision_end": "vision_end"}
    ids = {f"{name}_token_id": tokenizer.convert_tokens_to_ids(f"<|{token}|>") for name, token in names.items()}
    config = transformers.Qwen3VLConfig(
        text_config={
            "vocab_size": len(tokenizer), "hidden_size": 32, "intermediate_size": 37, "num_hidden_layers": 2,
            "num_attention_heads": 4, "num_key_value_heads": 2, "head_dim": 8, "max_position_embeddings": 8192,
            "rope_parameters": {"rope_type": "default", "rope_theta": 1e4, "mrope_section": [1, 1, 2]},
        },
        vision_config={
            "depth": 2, "hidden_size": 32, "intermediate_size": 37, "num_heads": 2, "out_hidden_size": 32,
            "patch_size": 16, "spatial_merge_size": 2, "deepstack_visual_indexes": [0], "num_position_embeddings": 16,
        },
        **ids,
    )  # fmt: skip
    import_module("torch").manual_seed(0)
    model = _shaken(transformers.Qwen3VLForConditionalGeneration(config))
    with import_module("torch").no_grad():
        model.lm_head.weight.mul_(20)  # so that an adapter can learn to be sure of a token
    model.generation_config.eos_token_id = tokenizer.convert_tokens_to_ids("<|im_end|>")
    model.generation_config.pad_token_id = tokenizer.convert_tokens_to_ids("<|endoftext|>")
    model.save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    size = {"shortest_edge": 32 * 32, "longest_edge": 64 * 64}
    transformers.Qwen2VLImageProcessorPil(patch_size=16, size=size).save_pretrained(folder)
    return folder


def _shaken(model: Any) -> Any:
    """Random numbers everywhere: layers that start at zero or one would hide a mistake."""
    torch = import_module("torch")
    with torch.no_grad():
        for weight in model.parameters():
            weight.add_(torch.randn_like(weight) * 0.05)
    return model.eval()


MAKERS: dict[str, Callable[[Path], Path]] = {
    "grounding-dino-tiny": make_grounding_dino,
    "owlvit-base-patch32": make_owl_vit,
    "owlv2-base-patch16-ensemble": make_owlv2,
    "dinov3-vitb16": make_dinov3,
    "siglip-base-patch16-224": make_siglip,
    "sam-vit-base": make_sam,
    "sam2.1-hiera-tiny": make_sam2,
    "mobile-sam": make_mobile_sam,
    "depth-anything-v2-small": make_depth_anything,
    "hpsv3": make_hpsv3,
}
"""By the name of the weights that they take the place of."""


def noise(seed: int, height: int, width: int) -> np.ndarray[Any, np.dtype[np.uint8]]:
    return np.random.default_rng(seed).integers(0, 256, (height, width, 3), dtype=np.uint8)
