"""LoRA training of a full-size Qwen-VL model with random weights: tokens per second and memory.

No weights are downloaded: the model has the sizes of Qwen3-VL-8B-Instruct. What is timed
is the training loop of `imarena pvc train`: reading three images per example, the forward and the backward pass, the
step of the optimiser. Needs torch, transformers, PEFT, accelerate, safetensors, NumPy, Pillow and PyYAML, besides
`src` on the path:

    PYTHONPATH=src python3 -m benchmarks.judges.pvc_training_gpu --out result.json
"""

import argparse
import gc
import importlib
import json
import tempfile
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.vision.gpu import provide_lazy_loader

TEXT_TOKENS = 520
"""About as many as the question of the judge `pvc-judge` has, with an instruction."""
SPECIAL = ("<|im_start|>", "<|im_end|>", "<|image_pad|>", "<|video_pad|>", "<|vision_start|>", "<|vision_end|>")


def tokenizer() -> Any:
    """One token per letter, so that a text has as many tokens as letters, with the special tokens of Qwen."""
    transformers: Any = importlib.import_module("transformers")
    tokenizers: Any = importlib.import_module("tokenizers")
    letters = sorted(tokenizers.pre_tokenizers.ByteLevel.alphabet())
    vocabulary = {letter: number for number, letter in enumerate([*letters, "<|endoftext|>"])}
    made = transformers.Qwen2Tokenizer(vocab=vocabulary, merges=[])
    made.add_special_tokens({"additional_special_tokens": list(SPECIAL)})
    return made


def qwen3_vl_8b(transformers: Any, ids: dict[str, int]) -> Any:
    text = {
        "vocab_size": 151_936, "hidden_size": 4096, "intermediate_size": 12_288, "num_hidden_layers": 36,
        "num_attention_heads": 32, "num_key_value_heads": 8, "head_dim": 128, "max_position_embeddings": 262_144,
        "rope_parameters": {
            "rope_type": "default", "rope_theta": 5_000_000, "mrope_section": [24, 20, 20], "mrope_interleaved": True,
        },
    }  # fmt: skip
    vision = {
        "depth": 27, "hidden_size": 1152, "intermediate_size": 4304, "num_heads": 16, "out_hidden_size": 4096,
        "patch_size": 16, "deepstack_visual_indexes": [8, 16, 24], "num_position_embeddings": 2304,
    }  # fmt: skip
    config = transformers.Qwen3VLConfig(text_config=text, vision_config=vision, tie_word_embeddings=False, **ids)
    return transformers.Qwen3VLForConditionalGeneration, config, 16


MODELS = {"qwen3-vl-8b": qwen3_vl_8b}


def build(name: str, device: str, shrink: int) -> tuple[Any, Any]:
    """The model with random weights in bfloat16, and its processor. `shrink` leaves one layer in so many (trials)."""
    import torch
    import transformers

    from imarena.vision.pretrained.qwen_chat import QwenChat
    from imarena.vision.pretrained.qwen_processor import qwen_image_processor

    words = tokenizer()
    places = dict(zip(("image", "video", "vision_start", "vision_end"), SPECIAL[2:], strict=True))
    ids = {f"{place}_token_id": words.convert_tokens_to_ids(token) for place, token in places.items()}
    kind, config, patch = MODELS[name](transformers, ids)
    if shrink > 1:
        config.text_config.num_hidden_layers //= shrink
        config.text_config.hidden_size = config.vision_config.out_hidden_size = 256
        config.text_config.intermediate_size = 512
        if getattr(config.text_config, "layer_types", None) is not None:
            config.text_config.layer_types = config.text_config.layer_types[: config.text_config.num_hidden_layers]
    before = torch.get_default_dtype()
    torch.set_default_dtype(torch.bfloat16)
    try:
        with torch.device(device):
            model = kind(config)
    finally:
        torch.set_default_dtype(before)
    return model, QwenChat(words, qwen_image_processor()(patch_size=patch), None)


def examples(count: int, folder: Path, side: tuple[int, int]) -> list[Any]:
    """Examples with three smooth random images each, of one size."""
    from PIL import Image

    from imarena.preferences.training.examples import TrainingExample, winner_answer

    rng = np.random.default_rng(3)
    made = []
    for number in range(count):
        files = []
        for shown in range(3):
            small = Image.fromarray(rng.integers(0, 256, (12, 16, 3), dtype=np.uint8))
            files.append(folder / f"{number}-{shown}.jpg")
            small.resize(side, Image.Resampling.BICUBIC).save(files[-1], quality=92)
        content = [{"type": "image"}] * 3 + [{"type": "text", "text": "x" * TEXT_TOKENS}]
        message = {"role": "user", "content": content}
        letter = "AB"[number % 2]
        made.append(TrainingExample((message,), tuple(files), winner_answer(letter), letter))
    return made


def measure(model: Any, shown: list[Any], settings: Any, folder: Path, warmup: int) -> dict[str, Any]:
    """Train; the clock runs from the end of the warm-up to the last step but one, which is followed by a checkpoint."""
    import torch

    from imarena.preferences.training.run import run_steps

    moments: dict[int, float] = {}

    def note(stage: str, done: int, total: int | None) -> None:
        if model.device.startswith("cuda"):
            torch.cuda.synchronize()
        moments[done] = time.monotonic()

    folder.mkdir()
    report = run_steps(model, shown, folder, settings, progress=note)
    last = report.steps - 1
    seconds = moments[last] - moments[warmup]
    steps = last - warmup
    tokens = report.tokens / report.steps * steps
    saved = sum(file.stat().st_size for file in folder.rglob("*.safetensors"))
    return {
        "steps_timed": steps,
        "seconds": round(seconds, 3),
        "tokens_per_s": round(tokens / seconds, 1),
        "examples_per_s": round(steps * settings.batch_size / seconds, 3),
        "tokens_per_example": round(report.tokens / report.steps / settings.batch_size, 1),
        "peak_memory_gib": None if report.peak_memory_bytes is None else round(report.peak_memory_bytes / 2**30, 2),
        "last_step_with_checkpoint_s": round(moments[report.steps] - moments[last], 3),
        "checkpoint_gib": round(saved / 2**30, 3),
        "loss": report.loss,
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--models", default="qwen3-vl-8b")
    parser.add_argument("--device", default="cuda")
    parser.add_argument("--steps", type=int, default=20)
    parser.add_argument("--warmup", type=int, default=4)
    parser.add_argument("--shrink", type=int, default=1, help="For a trial without a GPU: a much smaller model.")
    parser.add_argument("--out", type=Path, required=True)
    options = parser.parse_args()
    provide_lazy_loader()
    import peft
    import torch
    import transformers

    from imarena.preferences.training.adapted_model import AdaptedModel, with_adapter
    from imarena.preferences.training.settings import read_training_settings

    cuda = options.device.startswith("cuda")
    result: dict[str, Any] = {
        "device": torch.cuda.get_device_name() if cuda else "cpu",
        "versions": {"torch": torch.__version__, "transformers": transformers.__version__, "peft": peft.__version__},
        "runs": [],
    }
    for name in options.models.split(","):
        model, processor = build(name, options.device, options.shrink)
        whole = sum(value.numel() for value in model.parameters())
        defaults = read_training_settings(None, {"gradient_checkpointing": False, "save_every": 10**6, "epochs": 1})
        adapted = with_adapter(peft, torch, model, processor, defaults, options.device)
        trained = sum(value.numel() for value in adapted.parameters().values())
        for batch, recompute, side in ((2, True, (1280, 1024)), (2, False, (1280, 1024)), (8, True, (1280, 1024)),
                                       (2, True, (512, 512))):  # fmt: skip
            base = adapted.base
            switch = (
                "activation" if hasattr(base, "activation_checkpointing_enable") else "gradient"
            ) + "_checkpointing"
            getattr(base, f"{switch}_{'enable' if recompute else 'disable'}")(
                *([{"use_reentrant": False}] if recompute else [])
            )
            settings = replace(defaults, batch_size=batch, gradient_checkpointing=recompute)
            pixels = side[0] * side[1] if options.shrink == 1 else 128 * 128
            processor.image_processor.size = {"shortest_edge": min(pixels, 262_144), "longest_edge": pixels}
            row: dict[str, Any] = {
                "model": name, "parameters": whole, "trained_parameters": trained, "batch_size": batch,
                "gradient_checkpointing": recompute, "image": f"{side[0]} x {side[1]}",
            }  # fmt: skip
            with tempfile.TemporaryDirectory() as folder:
                shown = examples(batch * options.steps, Path(folder), side)
                try:
                    row |= measure(AdaptedModel(adapted.model, processor, options.device), shown, settings,
                                   Path(folder) / "run", options.warmup)  # fmt: skip
                except torch.OutOfMemoryError as error:
                    row["error"] = " ".join(str(error).split())[:200]
            for value in adapted.parameters().values():
                value.grad = None
            gc.collect()
            if cuda:
                torch.cuda.empty_cache()
            result["runs"].append(row)
            print(json.dumps(row), flush=True)
            options.out.write_text(json.dumps(result, indent=2) + "\n", encoding="utf-8")
        del model, adapted
        gc.collect()


if __name__ == "__main__":
    main()
