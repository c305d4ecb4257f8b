"""Make preference pairs from a workspace, write them with their images, and export them."""

import json
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal

from imarena import preferences
from imarena.core import Exhibit, Progress, UserError
from imarena.core.records import ImageRef
from imarena.judges import load_prompt, render_prompt
from imarena.storage import Workspace
from imarena.workflows.preferences.judged_pairs import judged_pairs_of, voted_pairs_of
from imarena.workflows.preferences.measuring import RegionOptions, measure_workspace

PairOrigin = Literal["metrics", "votes", "judgments"]
PROMPT = "pvc-judge"


@dataclass(frozen=True)
class PairOptions:
    """Where pairs come from and which are kept."""

    origin: PairOrigin = "metrics"
    dimension: str = "visual_consistency"
    judge: str = ""
    rules: Path | None = None
    """A file like the bundled `tasks.yaml`."""
    regions: RegionOptions = RegionOptions()
    agreement: preferences.AgreementFilter = preferences.AgreementFilter()
    datasets: tuple[str, ...] = ()
    tasks: tuple[str, ...] = ()
    editors: tuple[str, ...] = ()
    seed: int = 42


def write_pairs(
    workspace: Workspace, folder: Path, options: PairOptions, progress: Progress | None = None
) -> dict[str, Any]:
    """Make pairs and write `pairs.jsonl`, `ties.jsonl`, `pairs.json` and the images; returns the counts."""
    if folder.exists() and any(folder.iterdir()):
        raise UserError(f"{folder} is not empty.", hint="Give a new folder.")
    made = _make(workspace, options, progress)
    report = {
        **made.to_json(),
        "origin": options.origin,
        "seed": options.seed,
        "dimension": options.dimension,
        "folder": str(folder),
    }
    folder.mkdir(parents=True, exist_ok=True)
    parts = {"pairs": made.pairs, "ties": made.ties}
    preferences.export_pairs("pairs", parts, folder, workspace.load, _asked(PROMPT))
    preferences.write_pair_file(folder / "pairs.jsonl", made.pairs)
    (folder / "pairs.json").write_text(json.dumps(report, indent=2) + "\n", encoding="utf-8")
    return report


def _make(workspace: Workspace, options: PairOptions, progress: Progress | None) -> preferences.PairSet:
    datasets, tasks = options.datasets or None, options.tasks or None
    if options.origin == "metrics":
        text = None if options.rules is None else options.rules.read_text(encoding="utf-8")
        rules = preferences.task_rules() if text is None else preferences.read_task_rules(text, str(options.rules))
        groups, skipped = measure_workspace(
            workspace, rules, options.regions, datasets=datasets, tasks=tasks, editors=options.editors or None,
            progress=progress,
        )  # fmt: skip
        return _with_skipped(preferences.make_pairs(groups, rules, options.seed), skipped)
    if options.origin == "votes":
        judged, skipped = voted_pairs_of(workspace, options.dimension, datasets, tasks)
    else:
        if not options.judge:
            raise UserError(
                "Pairs from judgments need a judge.", hint="Add --judge NAME, as `imarena status` shows it."
            )
        judged, skipped = judged_pairs_of(workspace, options.judge, options.dimension, datasets, tasks)
    made = preferences.pairs_from_verdicts(judged, options.agreement, options.origin, options.dimension, options.seed)
    return _with_skipped(made, skipped)


def _with_skipped(made: preferences.PairSet, skipped: Counter[str]) -> preferences.PairSet:
    return replace(made, skipped=dict(Counter(made.skipped) + skipped))


def export_pair_folder(
    form: str, source: Path, folder: Path, *, split: str, seed: int, prompt: str = PROMPT, limit: int | None = None
) -> preferences.ExportReport:
    """Export a folder of pairs (and its ties) in one format, split by item. `limit`: pairs per task at most."""
    if folder.exists() and any(folder.iterdir()):
        raise UserError(f"{folder} is not empty.", hint="Give a new folder.")
    pairs = limited(preferences.read_pair_file(source), limit)
    home = source if source.is_dir() else source.parent
    ties = preferences.read_pair_file(home / "ties.jsonl") if (home / "ties.jsonl").is_file() else ()
    if not pairs and not ties:
        hint = "`imarena pvc pairs` makes them; --from votes needs votes that reach --min-votes and --min-share."
        raise UserError(f"There are no pairs in {source}.", hint=hint)
    parts = preferences.split_pairs([*pairs, *ties], preferences.parse_shares(split), seed)

    def load(image: ImageRef) -> bytes:
        return preferences.image_file(home, image).read_bytes()

    return preferences.export_pairs(form, parts, folder, load, _asked(prompt))


def limited(pairs: Sequence[preferences.PreferencePair], limit: int | None) -> tuple[preferences.PreferencePair, ...]:
    """At most so many pairs of each task, the first by their ids: a choice that more pairs do not upset."""
    if limit is None:
        return tuple(pairs)
    kept: Counter[str] = Counter()
    chosen = []
    for pair in sorted(pairs, key=lambda each: each.pair_id):
        if kept[pair.task] < limit:
            kept[pair.task] += 1
            chosen.append(pair)
    return tuple(chosen)


def _asked(prompt: str) -> Any:
    """The question of the judge `pvc-judge`: what a model is trained on is what it is asked later."""
    loaded = load_prompt(prompt)

    def ask(
        pair: preferences.PreferencePair, images: tuple[bytes, bytes, bytes]
    ) -> tuple[str, tuple[str | bytes, ...]]:
        source, left, right = images
        exhibit = Exhibit(pair.instruction, left, right, sources=(source,), task=pair.task or None)
        rendered = render_prompt(loaded, exhibit)
        return rendered.system, rendered.parts

    return ask
