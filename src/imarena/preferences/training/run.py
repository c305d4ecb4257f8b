"""The training run: steps in a fixed order, checkpoints, and a continuation that gives the same weights."""

import hashlib
import json
import math
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from imarena.core import VERSION, UserError, canonical_json, sha256_hex
from imarena.preferences.training.adapted_model import ADAPTER, FEATURE, AdaptedModel, load_for_training
from imarena.preferences.training.batches import batch_order, read_ahead
from imarena.preferences.training.checkpoints import last_checkpoint, restore_checkpoint, save_checkpoint
from imarena.preferences.training.examples import TrainingExample, read_examples
from imarena.preferences.training.settings import TrainingSettings
from imarena.vision import import_torch, model_folder, weights_sha256

if TYPE_CHECKING:
    from imarena.core import Progress

RECORD = "training.json"
LOG = "log.jsonl"


@dataclass(frozen=True)
class TrainingReport:
    """The progress of a run and its cost in time and memory."""

    steps: int
    """All steps done so far, including earlier runs."""
    total_steps: int
    resumed_from: int
    examples: int
    loss: float | None
    """Mean over the last tenth of this call's steps; None if there were none."""
    tokens: int
    seconds: float
    peak_memory_bytes: int | None
    """On a CUDA device; None elsewhere."""
    adapter: str
    """The folder of the finished adapter; empty while the run is not complete."""
    validation_accuracy: float | None = None
    validation_examples: int = 0

    @property
    def complete(self) -> bool:
        """Are all steps done?"""
        return self.steps == self.total_steps

    def to_json(self) -> dict[str, Any]:
        """Plain values."""
        rate = self.tokens / self.seconds if self.seconds else None
        return {**asdict(self), "complete": self.complete, "tokens_per_s": rate}


def train_judge(
    examples_file: Path,
    base: str,
    out: Path,
    settings: TrainingSettings,
    *,
    device: str = "auto",
    stop_after: int | None = None,
    validation: Path | None = None,
    progress: "Progress | None" = None,
) -> TrainingReport:
    """Fine-tune `base` on a file of examples. The same call continues an interrupted run.

    `stop_after`: steps to make in this call. `validation`: examples on which the finished model is tested.
    """
    examples = read_examples(examples_file)
    held_out = () if validation is None else read_examples(validation)
    _begin(examples_file, examples, base, out, settings)
    model = load_for_training(base, settings, device)
    report = run_steps(model, examples, out, settings, stop_after=stop_after, progress=progress)
    if not report.complete:
        return report
    model.model.save_pretrained(str(out / ADAPTER), safe_serialization=True)
    values = {**asdict(report), "adapter": str(out / ADAPTER)}
    if held_out:
        choices = model.choices(held_out, settings.batch_size)
        right = sum(choice == example.winner for choice, example in zip(choices, held_out, strict=True))
        values |= {"validation_accuracy": right / len(held_out), "validation_examples": len(held_out)}
    return TrainingReport(**values)


def _begin(file: Path, examples: Sequence[TrainingExample], base: str, out: Path, settings: TrainingSettings) -> None:
    """Record the parameters of the run, or check that the folder contains a run with the same ones."""
    images: set[Path] = {image for example in examples for image in example.images}
    total = hashlib.sha256(file.read_bytes())
    for image in sorted(images):
        total.update(hashlib.sha256(image.read_bytes()).digest())
    folder = model_folder(base, FEATURE)
    record = {
        "base": base,
        "base_sha256": weights_sha256(folder),
        "examples": len(examples),
        "examples_sha256": total.hexdigest(),
        "settings": settings.to_json(),
    }
    identity = sha256_hex(canonical_json({**record, "base": "", "settings": _lasting(settings)}).encode())
    target = out / RECORD
    if target.is_file():
        if json.loads(target.read_text(encoding="utf-8"))["identity"] != identity:
            raise UserError(
                f"{out} holds a run with other examples, another model or other settings.",
                hint="Repeat the same command to continue it, or give another output folder.",
            )
        return
    out.mkdir(parents=True, exist_ok=True)
    target.write_text(json.dumps({**record, "identity": identity, "software": VERSION}, indent=2), encoding="utf-8")


def _lasting(settings: TrainingSettings) -> dict[str, Any]:
    """The settings that affect the weights; the interval of checkpoints does not."""
    return {name: value for name, value in settings.to_json().items() if name != "save_every"}


def run_steps(
    model: AdaptedModel,
    examples: Sequence[TrainingExample],
    out: Path,
    settings: TrainingSettings,
    *,
    stop_after: int | None = None,
    progress: "Progress | None" = None,
) -> TrainingReport:
    """Make the remaining steps. Each depends only on its number and the seed, whatever came before it."""
    torch, _ = import_torch(FEATURE)
    parameters = model.parameters()
    optimizer = torch.optim.AdamW(parameters.values(), lr=settings.learning_rate, weight_decay=settings.weight_decay)
    plan = _plan(len(examples), settings)
    checkpoint = last_checkpoint(out)
    first = 0 if checkpoint is None else int(restore_checkpoint(checkpoint, parameters, optimizer)["step"])
    last = len(plan) if stop_after is None else min(len(plan), first + stop_after)
    makers = [partial(model.batch, [examples[at] for at in rows]) for step in plan[first:last] for rows in step]
    batches = read_ahead(makers)
    losses, tokens, started = [], 0, time.monotonic()
    if model.device.startswith("cuda"):
        torch.cuda.reset_peak_memory_stats()
    model.model.train()
    for step in range(first, last):
        torch.manual_seed((settings.seed << 32) + step)
        for group in optimizer.param_groups:
            group["lr"] = settings.rate_at(step, len(plan))
        step_loss = 0.0
        for _ in plan[step]:
            batch = next(batches)
            loss, _ = model.loss(batch)
            (loss / len(plan[step])).backward()
            step_loss += float(loss.detach()) / len(plan[step])
            tokens += batch.tokens
        if not math.isfinite(step_loss):
            raise UserError(
                f"The loss of step {step + 1} is not a number.", hint="Lower learning_rate, or set dtype to float32."
            )
        torch.nn.utils.clip_grad_norm_(parameters.values(), settings.max_gradient)
        optimizer.step()
        optimizer.zero_grad(set_to_none=True)
        losses.append(step_loss)
        _log(out, {"step": step + 1, "loss": step_loss, "learning_rate": settings.rate_at(step, len(plan))})
        if (step + 1) % settings.save_every == 0 or step + 1 == last:
            save_checkpoint(out, step + 1, parameters, optimizer, {"loss": step_loss})
        if progress is not None:
            progress("training", step + 1, len(plan))
    seconds = time.monotonic() - started
    peak = int(torch.cuda.max_memory_allocated()) if model.device.startswith("cuda") else None
    tail = losses[-max(1, len(losses) // 10) :]
    return TrainingReport(
        max(first, last), len(plan), first, len(examples), sum(tail) / len(tail) if tail else None, tokens, seconds,
        peak, "",
    )  # fmt: skip


def _plan(count: int, settings: TrainingSettings) -> list[list[list[int]]]:
    """For each step, the batches whose gradients are accumulated."""
    steps = []
    for epoch in range(settings.epochs):
        batches = batch_order(count, settings.batch_size, epoch, settings.seed)
        steps += [batches[at : at + settings.accumulate] for at in range(0, len(batches), settings.accumulate)]
    return steps


def _log(out: Path, values: dict[str, Any]) -> None:
    with (out / LOG).open("a", encoding="utf-8") as stream:
        stream.write(json.dumps(values) + "\n")
