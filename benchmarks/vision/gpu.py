"""Full-size vision models with random weights: images per second and peak memory, in batches.

No weights are downloaded: models are built from the sizes of the released ones. What is timed is a tool's `batch`:
image preparation on the processor, the model, and results back as arrays. Needs torch, transformers, NumPy and Pillow
only, besides `src` on the path. A model that fails has its error in the result, and the others are still measured:

    PYTHONPATH=src python3 -m benchmarks.vision.gpu --out vision_gpu.json
    PYTHONPATH=src python3 -m benchmarks.vision.gpu --small --batches 1,2 --seconds 1   # does it run at all?
"""

import argparse
import gc
import importlib.util
import json
import os
import sys
import time
import traceback
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
from numpy.typing import NDArray

Pixels = NDArray[np.uint8]
Run = Callable[[Sequence[Pixels]], Any]
PHRASES = ("person", "dog", "cup", "chair", "red car", "street sign", "tree", "window")
HEIGHT, WIDTH = 768, 1024


def provide_lazy_loader() -> None:
    """The package's doors need `lazy_loader`; where it is missing, the few lines that they need of it."""
    if importlib.util.find_spec("lazy_loader") is not None:
        return
    import ast

    def attach_stub(package: str, filename: str) -> tuple[Any, Any, Any]:
        stub = Path(filename).with_suffix(".pyi")
        sources = {
            alias.asname or alias.name: (node.module, alias.name)
            for node in ast.parse(stub.read_text(encoding="utf-8")).body
            if isinstance(node, ast.ImportFrom)
            for alias in node.names
        }

        def load(name: str) -> Any:
            if name not in sources:
                raise AttributeError(f"{package} has no {name}")
            module, attribute = sources[name]
            if module is None:
                return importlib.import_module(f"{package}.{attribute}")
            return getattr(importlib.import_module(f"{package}.{module}"), attribute)

        return load, lambda: sorted(sources), sorted(sources)

    module = ModuleType("lazy_loader")
    module.attach_stub = attach_stub  # type: ignore[attr-defined]
    sys.modules["lazy_loader"] = module


def pictures(count: int) -> list[Pixels]:
    """Smooth random images of a common size, 1024 x 768."""
    from PIL import Image

    rng = np.random.default_rng(5)
    small = [rng.integers(0, 256, (12, 16, 3), dtype=np.uint8) for _ in range(count)]
    return [np.asarray(Image.fromarray(one).resize((WIDTH, HEIGHT), Image.Resampling.BICUBIC)) for one in small]


def placement_of(options: argparse.Namespace) -> Any:
    from imarena.vision.pretrained.placement import Placement

    return Placement(options.device, options.dtype, max(options.batches))


def bert_tokenizer() -> Any:
    """A tokenizer with BERT's special ids and a word per id: texts get as many tokens as the released one gives."""
    import transformers

    tokenizers: Any = importlib.import_module("tokenizers")

    special = {"[PAD]": 0, "[UNK]": 100, "[CLS]": 101, "[SEP]": 102, ".": 1012}
    words = sorted({word for phrase in PHRASES for word in phrase.split()})
    vocabulary = {**special, **{word: 2000 + at for at, word in enumerate(words)}}
    made = tokenizers.Tokenizer(tokenizers.models.WordLevel(vocabulary, unk_token="[UNK]"))  # noqa: S106
    made.pre_tokenizer = tokenizers.pre_tokenizers.Whitespace()
    made.post_processor = tokenizers.processors.TemplateProcessing(
        single="[CLS] $A [SEP]", special_tokens=[("[CLS]", 101), ("[SEP]", 102)]
    )
    return transformers.PreTrainedTokenizerFast(tokenizer_object=made, pad_token="[PAD]", unk_token="[UNK]")  # noqa: S106


def on_device(options: argparse.Namespace) -> Any:
    """Weights are made on the device: a GPU draws random numbers faster."""
    import torch

    return torch.device(placement_of(options).torch_device(torch))


def grounding_dino(options: argparse.Namespace, size: str) -> tuple[Run, int]:
    import transformers

    from imarena.vision.pretrained.grounding_dino import GroundingDinoDetector

    swin = {
        "tiny": {"embed_dim": 96, "depths": [2, 2, 6, 2], "num_heads": [3, 6, 12, 24], "window_size": 7},
        "base": {"embed_dim": 128, "depths": [2, 2, 18, 2], "num_heads": [4, 8, 16, 32], "window_size": 12},
    }[size]
    backbone = transformers.SwinConfig(
        **swin, image_size=384 if size == "base" else 224, out_indices=[2, 3, 4], drop_path_rate=0.0
    )
    config = transformers.GroundingDinoConfig(backbone_config=backbone)
    if options.small:
        config.encoder_layers = config.decoder_layers = 2
    with on_device(options):
        model = transformers.GroundingDinoForObjectDetection(config)
    on_pillow = getattr(transformers, "GroundingDinoImageProcessorPil", transformers.GroundingDinoImageProcessor)
    processor = on_pillow()
    detector = GroundingDinoDetector(model, processor, bert_tokenizer(), placement_of(options))
    return lambda images: detector.batch(images, PHRASES), parameters(model)


DINOV3_SIZES: dict[str, dict[str, Any]] = {
    "base": {"hidden_size": 768, "intermediate_size": 3072, "num_hidden_layers": 12, "num_attention_heads": 12},
    "7b": {
        "hidden_size": 4096, "intermediate_size": 8192, "num_hidden_layers": 40, "num_attention_heads": 32,
        "use_gated_mlp": True, "hidden_act": "silu", "query_bias": False, "value_bias": False,
    },
}  # fmt: skip


def dinov3(options: argparse.Namespace, size: str) -> tuple[Run, int]:
    import transformers

    from imarena.vision.pretrained.embedders import dinov3_embedder
    from imarena.vision.pretrained.preparation import ImagePreparation

    config = transformers.DINOv3ViTConfig(**DINOV3_SIZES[size], num_register_tokens=4)
    if options.small:
        config.num_hidden_layers = 1
    with on_device(options):
        model = transformers.DINOv3ViTModel(config)
    embedder = dinov3_embedder(model, ImagePreparation(224, "stretch", rounds=False), placement_of(options))
    return embedder.batch, parameters(model)


def sam2(options: argparse.Namespace) -> tuple[Run, int]:
    """One box per image: the encoder and one prompt."""
    import transformers

    from imarena.vision.pretrained.preparation import ImagePreparation
    from imarena.vision.pretrained.sam import sam2_segmenter

    hiera = transformers.Sam2HieraDetConfig(
        hidden_size=144, num_attention_heads=2, blocks_per_stage=[1, 2, 3, 2] if options.small else [2, 6, 36, 4],
        embed_dim_per_stage=[144, 288, 576, 1152],
        num_attention_heads_per_stage=[2, 4, 8, 16], window_size_per_stage=[8, 4, 16, 8],
        global_attention_blocks=[5] if options.small else [23, 33, 43],
        window_positional_embedding_background_size=[7, 7],
    )  # fmt: skip
    vision = transformers.Sam2VisionConfig(backbone_config=hiera, backbone_channel_list=[1152, 576, 288, 144])
    with on_device(options):
        model = transformers.Sam2Model(transformers.Sam2Config(vision_config=vision))
    segmenter = sam2_segmenter(model, ImagePreparation(1024, "stretch", rounds=False), placement_of(options))
    box = (WIDTH * 0.25, HEIGHT * 0.25, WIDTH * 0.75, HEIGHT * 0.75)
    return lambda images: segmenter.masks_in_boxes(images, [[box]] * len(images)), parameters(model)


def hpsv3(options: argparse.Namespace) -> tuple[Run, int]:
    import torch
    import transformers

    from imarena.vision.pretrained.hpsv3 import HpsV3
    from imarena.vision.pretrained.qwen_processor import qwen_image_processor

    placement = placement_of(options)
    tokenizer = qwen_tokenizer()
    ids = {
        f"{name}_token_id": tokenizer.convert_tokens_to_ids(f"<|{token}|>")
        for name, token in {
            "image": "image_pad", "video": "video_pad", "vision_start": "vision_start", "vision_end": "vision_end",
        }.items()
    }  # fmt: skip
    config = transformers.Qwen2VLConfig(
        text_config={
            "vocab_size": 152064, "hidden_size": 3584, "intermediate_size": 18944,
            "num_hidden_layers": 1 if options.small else 28,
            "num_attention_heads": 28, "num_key_value_heads": 4, "max_position_embeddings": 32768,
            "rope_parameters": {"rope_type": "default", "rope_theta": 1e6, "mrope_section": [16, 24, 24]},
        },
        vision_config={
            "depth": 1 if options.small else 32, "embed_dim": 1280, "hidden_size": 3584,
            "num_heads": 16, "mlp_ratio": 4,
        },
        **ids,
    )  # fmt: skip
    before = torch.get_default_dtype()
    torch.set_default_dtype(placement.torch_dtype(torch))
    try:
        with on_device(options):
            model = transformers.Qwen2VLModel(config)
    finally:
        torch.set_default_dtype(before)
    head = [
        (torch.randn(out, inner) / inner**0.5, torch.zeros(out)) for out, inner in ((1024, 3584), (16, 1024), (2, 16))
    ]
    return HpsV3(model, head, tokenizer, qwen_image_processor()(), placement).batch, parameters(model)


def qwen_tokenizer() -> Any:
    """Bytes as tokens and Qwen's special tokens: texts get more tokens than the released tokenizer gives."""
    import transformers

    tokenizers: Any = importlib.import_module("tokenizers")

    letters = sorted(tokenizers.pre_tokenizers.ByteLevel.alphabet())
    made = transformers.Qwen2Tokenizer(vocab={one: at for at, one in enumerate([*letters, "<|endoftext|>"])}, merges=[])
    special = ["im_start", "im_end", "image_pad", "video_pad", "vision_start", "vision_end"]
    made.add_special_tokens({"additional_special_tokens": [f"<|{name}|>" for name in special]})
    return made


def parameters(model: Any) -> int:
    return sum(weight.numel() for weight in model.parameters())


TOOLS: dict[str, tuple[str, Callable[[argparse.Namespace], tuple[Run, int]]]] = {
    "grounding-dino": ("Grounding DINO, Swin-T, shorter side 800, 8 phrases", lambda o: grounding_dino(o, "tiny")),
    "grounding-dino-base": ("Grounding DINO, Swin-B, shorter side 800, 8 phrases", lambda o: grounding_dino(o, "base")),
    "dinov3": ("DINOv3 ViT-B/16, 224 px", lambda o: dinov3(o, "base")),
    "dinov3-7b": ("DINOv3 ViT-7B/16, 224 px", lambda o: dinov3(o, "7b")),
    "sam2": ("SAM 2, Hiera-L, 1024 px, one box per image", sam2),
    "hpsv3": ("HPSv3: Qwen2-VL-7B with a reward head, 1024 x 768", hpsv3),
}


def measure(name: str, options: argparse.Namespace) -> Iterator[dict[str, Any]]:
    """A row per batch size: the model is built once."""
    import torch

    torch.manual_seed(0)
    cuda = placement_of(options).torch_device(torch).startswith("cuda")
    started = time.perf_counter()
    run, count = TOOLS[name][1](options)
    built_s = time.perf_counter() - started
    for batch in options.batches:
        if cuda:
            gc.collect()
            torch.cuda.empty_cache()
            torch.cuda.reset_peak_memory_stats()
        images = pictures(batch)
        first = run(images)  # warms up; the results must be there
        if len(first) != batch:
            raise RuntimeError(f"{len(first)} results for {batch} images")
        done, started = 0, time.perf_counter()
        while time.perf_counter() - started < options.seconds or done == 0:
            run(images)
            if cuda:
                torch.cuda.synchronize()
            done += batch
        elapsed = time.perf_counter() - started
        yield {
            "tool": name,
            "model": TOOLS[name][0],
            "parameters_m": round(count / 1e6, 1),
            "batch": batch,
            "dtype": str(placement_of(options).torch_dtype(torch)).removeprefix("torch."),
            "images": done,
            "seconds": round(elapsed, 2),
            "images_per_s": round(done / elapsed, 2),
            "peak_memory_gb": round(torch.cuda.max_memory_allocated() / 2**30, 2) if cuda else None,
            "build_s": round(built_s, 1),
        }


def markdown(rows: Sequence[dict[str, Any]]) -> str:
    lines = [
        "| model | parameters | batch | number format | images per second | peak memory |",
        "|---|---|---|---|---|---|",
    ]
    for row in rows:
        memory = "not measured" if row["peak_memory_gb"] is None else f"{row['peak_memory_gb']} GiB"
        lines.append(
            f"| {row['model']} | {row['parameters_m']} M | {row['batch']} | {row['dtype']} | {row['images_per_s']} |"
            f" {memory} |"
        )
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument(
        "--tools", default="grounding-dino,dinov3,sam2,hpsv3", help=f"Names by comma: {', '.join(TOOLS)}"
    )
    parser.add_argument("--batches", default="1,8,32", help="Images per batch, by comma")
    parser.add_argument("--seconds", type=float, default=8.0, help="How long each tool is timed at each batch size")
    parser.add_argument("--device", default="auto")
    parser.add_argument("--dtype", default="auto", help="auto, float32, float16 or bfloat16")
    parser.add_argument("--small", action="store_true", help="Few layers: only to see whether the script runs")
    parser.add_argument("--out", default="", help="JSON file to write, after every row")
    options = parser.parse_args()
    options.batches = [int(one) for one in options.batches.split(",")]
    names = options.tools.split(",")
    if unknown := [name for name in names if name not in TOOLS]:
        raise SystemExit(f"There is no tool called '{unknown[0]}'. Choose from: {', '.join(TOOLS)}")
    provide_lazy_loader()
    import torch
    import transformers

    rows: list[dict[str, Any]] = []
    errors: dict[str, str] = {}
    result = {
        "device": torch.cuda.get_device_name() if torch.cuda.is_available() else "cpu",
        "cores": os.cpu_count(),
        "torch": torch.__version__,
        "transformers": transformers.__version__,
        "image": [WIDTH, HEIGHT],
        "small": options.small,
        "rows": rows,
        "errors": errors,
    }

    def save() -> None:
        if options.out:
            Path(options.out).write_text(json.dumps(result, indent=2) + "\n", encoding="utf-8")

    for name in names:
        try:
            for row in measure(name, options):
                rows.append(row)
                print(json.dumps(row), file=sys.stderr, flush=True)
                save()
        except Exception:  # noqa: BLE001 - one model that fails must not lose the others
            errors[name] = traceback.format_exc(limit=-6)
            print(f"{name}: {errors[name]}", file=sys.stderr, flush=True)
        save()
        gc.collect()
        if torch.cuda.is_available():
            torch.cuda.empty_cache()
    print(json.dumps(result, indent=2))
    print(markdown(rows))
    raise SystemExit(1 if errors else 0)


if __name__ == "__main__":
    main()
