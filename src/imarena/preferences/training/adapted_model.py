"""A Qwen-VL model with LoRA layers: loading, loss, choice between two answers, saving and merging."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from imarena.core import MissingExtra, UserError
from imarena.preferences.training.batches import IGNORED, TrainingBatch, make_batch
from imarena.preferences.training.examples import ANSWERS, TrainingExample, winner_answer
from imarena.preferences.training.settings import TrainingSettings
from imarena.vision import (
    QwenChat,
    device_of,
    import_torch,
    is_qwen_vl,
    load_pretrained,
    load_qwen_chat,
    model_folder,
    takes_token_types,
)

FEATURE = "Training a judge"
ADAPTER = "adapter"


@dataclass(frozen=True)
class AdaptedModel:
    """The model with its adapter, its processor, and its device."""

    model: Any
    processor: QwenChat
    device: str

    @property
    def base(self) -> Any:
        """The base model inside; its linear layers contain the adapter."""
        return self.model.get_base_model()

    def parameters(self) -> dict[str, Any]:
        """The trained parameters, by name."""
        return {name: value for name, value in self.model.named_parameters() if value.requires_grad}

    def batch(self, examples: Sequence[TrainingExample], answers: Sequence[str] | None = None) -> TrainingBatch:
        """Examples as a batch; `answers` replace their own."""
        texts = [example.answer for example in examples] if answers is None else answers
        return make_batch(self.processor, examples, texts, token_types=takes_token_types(self.base))

    def loss(self, batch: TrainingBatch) -> tuple[Any, int]:
        """The mean negative log-likelihood of the answers' tokens, and the number of these tokens."""
        scores, targets, _ = self._scores(batch)
        torch, _ = import_torch(FEATURE)
        return torch.nn.functional.cross_entropy(scores, targets), len(targets)

    def likelihoods(self, batch: TrainingBatch) -> list[float]:
        """The log-likelihood of each row's answer."""
        torch, _ = import_torch(FEATURE)
        with torch.inference_mode():
            scores, targets, rows = self._scores(batch)
            logs = -torch.nn.functional.cross_entropy(scores, targets, reduction="none")
            sums = torch.zeros(batch.labels.shape[0], device=logs.device).index_add_(0, rows, logs)
        return [float(value) for value in sums.tolist()]

    def _scores(self, batch: TrainingBatch) -> tuple[Any, Any, Any]:
        """Logits (n, vocabulary) of only the answers' tokens, their labels (n,), and their rows (n,).

        The language model's head is applied only to these few positions: for all positions its output would take
        more memory than the model.
        """
        inputs = {name: value.to(self.device) for name, value in batch.inputs.items()}
        if "pixel_values" in inputs:
            inputs["pixel_values"] = inputs["pixel_values"].to(self.base.dtype)
        labels = batch.labels.to(self.device)[:, 1:]
        states = self.base.model(**inputs, use_cache=False).last_hidden_state[:, :-1]
        mask = labels != IGNORED
        return self.base.lm_head(states[mask]).float(), labels[mask], mask.nonzero()[:, 0]

    def choices(self, examples: Sequence[TrainingExample], batch_size: int) -> list[str]:
        """For each example the more likely of the two answers, `A` or `B`."""
        self.model.eval()
        letters = []
        for start in range(0, len(examples), batch_size):
            part = examples[start : start + batch_size]
            first, second = (self.likelihoods(self.batch(part, [winner_answer(letter)] * len(part)))
                             for letter in ANSWERS)  # fmt: skip
            letters += [ANSWERS[0] if a >= b else ANSWERS[1] for a, b in zip(first, second, strict=True)]
        return letters


def import_peft() -> Any:
    """Import PEFT, or raise with the command that installs it."""
    import_torch(FEATURE)
    try:
        import peft
    except ImportError as error:
        raise MissingExtra(FEATURE, "training") from error
    return peft


def load_for_training(base: str, settings: TrainingSettings, device: str = "auto") -> AdaptedModel:
    """Load a model (a folder, listed weights or a hub id) with a new adapter."""
    peft = import_peft()
    torch, transformers = import_torch(FEATURE)
    folder = model_folder(base, FEATURE)
    if not is_qwen_vl(folder):
        raise UserError(f"{folder} is not a Qwen-VL model.", hint="Give a Qwen2-VL, Qwen2.5-VL or Qwen3-VL model.")
    device_name = device_of(torch, device)
    dtype = {"auto": torch.bfloat16 if device_name.startswith("cuda") else torch.float32}.get(
        settings.dtype, getattr(torch, settings.dtype, None)
    )
    model = load_pretrained(
        transformers.AutoModelForImageTextToText, folder, use_safetensors=True, dtype=dtype
    ).to(device_name)  # fmt: skip
    processor = load_qwen_chat(folder, (settings.min_pixels, settings.max_pixels))
    return with_adapter(peft, torch, model, processor, settings, device_name)


def with_adapter(
    peft: Any, torch: Any, model: Any, processor: QwenChat, settings: TrainingSettings, device: str
) -> AdaptedModel:
    """Add a new adapter to a loaded model, initialised from the seed."""
    torch.manual_seed(settings.seed)
    config = peft.LoraConfig(
        r=settings.rank,
        lora_alpha=settings.alpha,
        lora_dropout=settings.dropout,
        target_modules=r".*language_model.*\.(" + "|".join(settings.targets) + ")",
        task_type="CAUSAL_LM",
    )
    try:
        adapted = peft.get_peft_model(model, config)
    except ValueError as error:
        raise UserError(
            f"No layer of the language model is called {', '.join(settings.targets)}.",
            hint="Change the training setting `targets`.",
        ) from error
    if settings.gradient_checkpointing:
        recompute_activations(adapted.get_base_model())
    return AdaptedModel(adapted, processor, device)


def recompute_activations(model: Any) -> None:
    """Do not store activations of the layers for the backward pass: less memory, a third more time."""
    enable = getattr(model, "activation_checkpointing_enable", None) or model.gradient_checkpointing_enable
    enable({"use_reentrant": False})


def merge_adapter(base: str, adapter: Path, target: Path) -> None:
    """Write the base model with the adapter merged into its weights: a folder that any judge loads."""
    peft = import_peft()
    _, transformers = import_torch(FEATURE)
    if not (adapter / "adapter_config.json").is_file():
        raise UserError(f"{adapter} holds no adapter.", hint="Give the folder that `pvc train` wrote.")
    folder = model_folder(base, FEATURE)
    model = load_pretrained(transformers.AutoModelForImageTextToText, folder, use_safetensors=True, dtype="auto")
    merged = peft.PeftModel.from_pretrained(model, str(adapter)).merge_and_unload()
    merged.save_pretrained(str(target), safe_serialization=True)
    load_qwen_chat(folder, _image_sizes(adapter)).save(target)


def _image_sizes(adapter: Path) -> tuple[int, int] | None:
    """The image sizes used in training, if its record is next to the adapter."""
    import json

    record = adapter.parent / "training.json"
    if not record.is_file():
        return None
    settings = json.loads(record.read_text(encoding="utf-8"))["settings"]
    return int(settings["min_pixels"]), int(settings["max_pixels"])
