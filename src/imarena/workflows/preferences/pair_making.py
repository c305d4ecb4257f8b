"""Collect a workspace's pairs with their verdicts, make preference pairs from them, and write and export these."""

import json
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal

from imarena import preferences
from imarena.core import Exhibit, Progress, UserError, command_line
from imarena.core.records import ImageRef, Outcome, Output
from imarena.judges import load_prompt, render_prompt
from imarena.preferences import JudgedPair
from imarena.storage import Workspace
from imarena.workflows import views
from imarena.workflows.preferences.measuring import NO_SOURCE, RegionOptions, measure_workspace, shared_source
from imarena.workflows.questions import ShowableOutputs, load_outputs

PairOrigin = Literal["metrics", "votes", "judgments"]
PROMPT = "pvc-judge"


@dataclass(frozen=True)
class PairOptions:
    """Where pairs come from, and which ones are kept."""

    origin: PairOrigin = "metrics"
    dimension: str = "visual_consistency"
    judge: str = ""
    rules: Path | None = None
    """Path of a file like the bundled `tasks.yaml`."""
    regions: RegionOptions = RegionOptions()
    agreement: preferences.AgreementFilter = preferences.AgreementFilter()
    datasets: tuple[str, ...] = ()
    tasks: tuple[str, ...] = ()
    editors: tuple[str, ...] = ()
    seed: int = 42


@dataclass(frozen=True)
class PairReport:
    """The pairs that were made, and how and where they were written."""

    made: preferences.PairSet
    origin: PairOrigin
    seed: int
    dimension: str
    folder: str

    def to_json(self) -> dict[str, Any]:
        """Return the document of `pairs.json` and of ``--json``."""
        options = {"origin": self.origin, "seed": self.seed, "dimension": self.dimension, "folder": self.folder}
        return {**self.made.to_json(), **options}


def write_pairs(
    workspace: Workspace, folder: Path, options: PairOptions, progress: Progress | None = None
) -> PairReport:
    """Make pairs and write `pairs.jsonl`, `ties.jsonl`, `pairs.json` and the images."""
    if folder.exists() and any(folder.iterdir()):
        raise UserError(f"{folder} is not empty.", hint="Give a new folder.")
    pair_set = _make(workspace, options, progress)
    report = PairReport(pair_set, options.origin, options.seed, options.dimension, str(folder))
    folder.mkdir(parents=True, exist_ok=True)
    parts = {"pairs": pair_set.pairs, "ties": pair_set.ties}
    preferences.export_pairs("pairs", parts, folder, workspace.load, _question(PROMPT))
    preferences.write_pair_file(folder / "pairs.jsonl", pair_set.pairs)
    (folder / "pairs.json").write_text(json.dumps(report.to_json(), indent=2) + "\n", encoding="utf-8")
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
                "Pairs from judgments need a judge.", hint=f"Add --judge NAME, as `{command_line('status')}` shows it."
            )
        judged, skipped = judged_pairs_of(workspace, options.judge, options.dimension, datasets, tasks)
    pair_set = preferences.pairs_from_verdicts(
        judged, options.agreement, options.origin, options.dimension, options.seed
    )
    return _with_skipped(pair_set, skipped)


def _with_skipped(pair_set: preferences.PairSet, skipped: Counter[str]) -> preferences.PairSet:
    return replace(pair_set, skipped=dict(Counter(pair_set.skipped) + skipped))


def export_pair_folder(
    form: str, source: Path, folder: Path, *, split: str, seed: int, prompt: str = PROMPT, limit: int | None = None
) -> preferences.ExportReport:
    """Export a folder of pairs (and its ties) in one format, split by item. `limit`: most pairs per task."""
    if folder.exists() and any(folder.iterdir()):
        raise UserError(f"{folder} is not empty.", hint="Give a new folder.")
    pairs = limit_per_task(preferences.read_pair_file(source), limit)
    home = source if source.is_dir() else source.parent
    ties = preferences.read_pair_file(home / "ties.jsonl") if (home / "ties.jsonl").is_file() else ()
    if not pairs and not ties:
        hint = (
            f"`{command_line('pvc pairs')}` makes them; --from votes needs votes that reach --min-votes and "
            "--min-share."
        )
        raise UserError(f"There are no pairs in {source}.", hint=hint)
    parts = preferences.split_pairs([*pairs, *ties], preferences.parse_shares(split), seed)

    def load(image: ImageRef) -> bytes:
        return preferences.image_file(home, image).read_bytes()

    return preferences.export_pairs(form, parts, folder, load, _question(prompt))


def limit_per_task(
    pairs: Sequence[preferences.PreferencePair], limit: int | None
) -> tuple[preferences.PreferencePair, ...]:
    """Return at most `limit` pairs per task, the first by id: more pairs barely change this choice."""
    if limit is None:
        return tuple(pairs)
    number_of: Counter[str] = Counter()
    first_pairs = []
    for pair in sorted(pairs, key=lambda pair: pair.pair_id):
        if number_of[pair.task] < limit:
            number_of[pair.task] += 1
            first_pairs.append(pair)
    return tuple(first_pairs)


def _question(prompt: str) -> Any:
    """Return the question of the judge `pvc-judge`, so that a model is trained on the question that it gets later."""
    loaded = load_prompt(prompt)

    def ask(
        pair: preferences.PreferencePair, images: tuple[bytes, bytes, bytes]
    ) -> tuple[str, tuple[str | bytes, ...]]:
        source, left, right = images
        exhibit = Exhibit(pair.instruction, left, right, sources=(source,), task=pair.task or None)
        rendered = render_prompt(loaded, exhibit)
        return rendered.system, rendered.parts

    return ask


_PairVerdict = tuple[str, str, tuple[Outcome, ...], bool | None]
"""Left and right output, outcomes, and whether both orders agree."""


def voted_pairs_of(
    workspace: Workspace, dimension: str, datasets: Sequence[str] | None, tasks: Sequence[str] | None
) -> tuple[list[JudgedPair], Counter[str]]:
    """Return the pairs that people voted on, with all votes on the dimension that count."""
    view = views.View(workspace)
    battles = views.people_battles(view, dimension=dimension)
    votes: dict[tuple[str, str], list[Outcome]] = defaultdict(list)
    columns = (battles.left.tolist(), battles.right.tolist(), battles.winner.tolist())
    for left, right, code in zip(*columns, strict=True):
        first, second = view.entries.id_of(left), view.entries.id_of(right)
        outcome = Outcome(views.PREFERENCES[code])
        key = (first, second) if first < second else (second, first)
        votes[key].append(outcome if first < second else outcome.mirrored())
    verdicts = [(left, right, tuple(outcomes), None) for (left, right), outcomes in votes.items()]
    return _pairs(load_outputs(workspace, datasets=datasets, tasks=tasks), verdicts, "people")


def judged_pairs_of(
    workspace: Workspace, judge: str, dimension: str, datasets: Sequence[str] | None, tasks: Sequence[str] | None
) -> tuple[list[JudgedPair], Counter[str]]:
    """Return the pairs that a judge compared in both orders; failed ones are counted by status."""
    view = views.View(workspace)
    verdicts: list[_PairVerdict] = []
    failures: Counter[str] = Counter()
    for version in views.chosen_judges(view, [judge]):
        variants = [variant for variant in version.variants if variant.pairwise and variant.dimension == dimension]
        columns = views.live_judgments(view, variants)
        fought = views.combine_columns(
            columns, columns.of_variants([0] * len(columns.variants)).astype("int32"), view.entries
        )
        failures.update(fought.incomplete())
        for row in fought.decided.nonzero()[0].tolist():
            code, agreed = int(fought.outcome[row]), int(fought.agreed[row])
            name = views.PREFERENCES[code]
            outcome = Outcome.TIE if name == "equal" else Outcome(name)
            left, right = (view.entries.id_of(int(side[row])) for side in (fought.left, fought.right))
            verdicts.append((left, right, (outcome,), None if agreed < 0 else bool(agreed)))
    pairs, skipped = _pairs(load_outputs(workspace, datasets=datasets, tasks=tasks), verdicts, judge)
    return pairs, skipped + failures


def _pairs(
    showable: ShowableOutputs, verdicts: Sequence[_PairVerdict], by: str
) -> tuple[list[JudgedPair], Counter[str]]:
    skipped: Counter[str] = Counter()
    by_id = {output.output_id: output for outputs in showable.slots.values() for output in outputs}
    return list(_known_pairs(showable, by_id, verdicts, skipped, by)), skipped


def _known_pairs(
    showable: ShowableOutputs,
    by_id: dict[str, Output],
    verdicts: Sequence[_PairVerdict],
    skipped: Counter[str],
    by: str,
) -> Iterator[JudgedPair]:
    for left_id, right_id, outcomes, agreed in verdicts:
        left, right = by_id.get(left_id), by_id.get(right_id)
        if left is None or right is None or left.image is None or right.image is None:
            skipped["pixels_absent_or_not_chosen"] += 1
            continue
        item = showable.items[left.item_id]
        source = shared_source(item, (left, right), showable.parents)
        if source is None:
            skipped[NO_SOURCE] += 1
            continue
        details = {"by": by, "left": {"output": left_id, "editor": left.editor},
                   "right": {"output": right_id, "editor": right.editor}}  # fmt: skip
        yield JudgedPair(
            item.item_id, views.instruction_of(item, left.turn, left.mode),
            item.turns[left.turn].task or item.task or "", source, left.image, right.image, outcomes, agreed, details,
        )  # fmt: skip
