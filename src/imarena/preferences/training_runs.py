"""Training runs, and the ablation over sizes, with command-line arguments."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

import yaml

from imarena.core import Progress, UserError, command_line
from imarena.preferences.training.adapted_model import merge_adapter
from imarena.preferences.training.examples import TrainingExample, read_examples, write_examples
from imarena.preferences.training.run import TrainingReport, train_judge
from imarena.preferences.training.settings import TrainingSettings, read_training_settings
from imarena.stats import Figure, proportion_figure

SIZES = (500, 1000, 1500, 2000, 2500, 3000)


@dataclass(frozen=True)
class AblationRow:
    """One size: the number of examples found, and the accuracy on the held-out ones."""

    size: int
    examples: int
    tasks: int
    accuracy: Figure
    report: TrainingReport

    def to_json(self) -> dict[str, Any]:
        """Return plain values for JSON."""
        return {
            "size": self.size, "examples": self.examples, "tasks": self.tasks, "accuracy": self.accuracy.to_json(),
            "training": self.report.to_json(),
        }  # fmt: skip


def run_ablation(
    examples: Path,
    held_out: Path,
    base: str,
    out: Path,
    settings: TrainingSettings,
    *,
    sizes: Sequence[int] = SIZES,
    device: str = "auto",
    progress: Progress | None = None,
) -> tuple[AblationRow, ...]:
    """Train one adapter per size on the first `size` examples of each task; a stopped run resumes.

    Smaller sets are parts of larger ones. A size that adds no examples to the one before raises.
    """
    train, tests = read_examples(examples), read_examples(held_out)
    shared = {example.item for example in train if example.item} & {example.item for example in tests if example.item}
    if shared:
        raise UserError(
            f"{len(shared)} items are in both files, such as {min(shared)}.",
            hint=f"Export with a split: `{command_line('pvc export training PAIRS OUT --split 0.8,0.1,0.1')}`.",
        )
    largest = max(sum(example.task == task for example in train) for task in {example.task for example in train})
    ordered = sorted(set(sizes))
    for smaller, size in pairwise(ordered):
        if smaller >= largest:
            raise UserError(
                f"No task has more than {largest} examples, so that size {size} adds nothing.",
                hint=f"Leave out sizes above {largest}, or make more pairs.",
            )
    rows = []
    for size in ordered:
        subset = first_of_each_task(train, size)
        folder = out / f"size-{size:05d}"
        folder.mkdir(parents=True, exist_ok=True)
        file = folder / "examples.jsonl"
        write_examples(file, subset)
        report = train_judge(
            file, base, folder / "run", settings, device=device, validation=held_out, progress=progress
        )
        right = round((report.validation_accuracy or 0.0) * report.validation_examples)
        accuracy = proportion_figure("accuracy", right, report.validation_examples, "the likelier of two answers")
        rows.append(AblationRow(size, len(subset), len({example.task for example in subset}), accuracy, report))
        document = [row.to_json() for row in rows]
        (out / "ablation.json").write_text(json.dumps(document, indent=2) + "\n", encoding="utf-8")
    return tuple(rows)


def first_of_each_task(examples: Sequence[TrainingExample], size: int) -> list[TrainingExample]:
    """Return at most `size` examples of each task, in the order of the file."""
    counts: dict[str, int] = {}
    subset = []
    for example in examples:
        if counts.setdefault(example.task, 0) < size:
            counts[example.task] += 1
            subset.append(example)
    return subset


def settings_from(file: Path | None, changes: Mapping[str, str]) -> TrainingSettings:
    """Merge the defaults, a YAML file, and single values as typed."""
    values: dict[str, Any] = {name: _value(text) for name, text in changes.items()}
    return read_training_settings(file, values)


def _value(text: str) -> Any:
    """Parse a value as YAML, which reads `2e-6` as text; here it is a number."""
    try:
        return float(text) if "e" in text.lower() and text.strip()[:1].isdigit() else yaml.safe_load(text)
    except (ValueError, yaml.YAMLError) as error:
        raise UserError(f"'{text}' is not a value of a setting.", hint="Give a number, a word or a list.") from error


def train_from_files(
    examples: Path,
    model: str,
    out: Path,
    settings: Path | None,
    changes: Mapping[str, str],
    *,
    device: str,
    stop_after: int | None,
    validation: Path | None,
    progress: Progress | None,
) -> TrainingReport:
    """Train, or continue; see `train_judge`."""
    options = settings_from(settings, changes)
    return train_judge(
        examples, model, out, options, device=device, stop_after=stop_after, validation=validation, progress=progress
    )


def merge_run(model: str, run: Path, target: Path) -> None:
    """Merge the adapter of a finished run into its model."""
    if target.exists() and any(target.iterdir()):
        raise UserError(f"{target} is not empty.", hint="Give a new folder.")
    merge_adapter(model, run / "adapter" if (run / "adapter").is_dir() else run, target)


def ablation_from_files(
    examples: Path,
    held_out: Path,
    model: str,
    out: Path,
    settings: Path | None,
    changes: Mapping[str, str],
    *,
    sizes: Sequence[int] | None,
    device: str,
    progress: Progress | None,
) -> tuple[AblationRow, ...]:
    """Run the ablation over sizes; see `run_ablation`."""
    options = settings_from(settings, changes)
    return run_ablation(examples, held_out, model, out, options, sizes=sizes or SIZES, device=device, progress=progress)
