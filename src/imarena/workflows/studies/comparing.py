"""`compare`: is NEW better than OLD on my items? Takes two folders and returns a verdict with its interval."""

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Any

from imarena.clients import Budget
from imarena.core import Skip, grouped
from imarena.core.notices import Notice, notice_fields, sentence
from imarena.core.records import JsonDict, Judgment, Output, Status
from imarena.judges import OrderPolicy, stated_scale
from imarena.reports import ComparedItem
from imarena.stats import ComparisonVerdict, compare_points
from imarena.storage import Workspace
from imarena.workflows.boards import judge_limits
from imarena.workflows.questions import JudgeReport, JudgingJob, Watch, ask_jobs, plan_battles, plan_scores
from imarena.workflows.studies.compared_folders import ComparedFolders, ComparedItems, ImportedFolders
from imarena.workflows.views import LEFT, RIGHT, WHOLE, BattleKind, View, battles_between_named, judge_battles
from imarena.workflows.wiring import EndpointArguments, wire_judge

_FILES = 3
_KEYS = 50
"""Maximum number of keys to list for outputs that are missing or of another size."""


def plan_comparison(
    workspace: Workspace,
    sides: ComparedFolders,
    items: ComparedItems,
    imported: ImportedFolders,
    judge: str,
    arguments: EndpointArguments,
    budget: Budget | None = None,
    *,
    orders: OrderPolicy = "both",
    repeats: int = 1,
) -> JudgingJob:
    """Plan the questions for the judge: pairs, or single outputs if the judge only scores."""
    editors, datasets = [sides.old_name, sides.new_name], [items.dataset]
    shape = wire_judge(workspace.settings, judge, arguments, budget).shape
    what: dict[str, Any] = {
        "datasets": datasets, "editors": editors, "only_items": imported.item_ids, "repeats": repeats,
    }  # fmt: skip
    if shape == "pointwise":
        (job,) = plan_scores(workspace, [judge], arguments, budget, **what)
    else:
        (job,) = plan_battles(workspace, [judge], arguments, budget, orders=orders, **what)
    return job


# ---------------------------------------------------------------- the verdict


@dataclass(frozen=True, slots=True)
class FolderCoverage:
    """How many items a folder has outputs for, and the keys of the first items without one."""

    items: int
    outputs: int
    missing: tuple[str, ...]


@dataclass(frozen=True)
class ModelComparison:
    """The full result of `compare`."""

    sides: ComparedFolders
    judge: str
    verdict: ComparisonVerdict
    items: list[ComparedItem]
    coverage: Mapping[str, FolderCoverage]
    judgments: dict[str, int]
    left_out: dict[str, int]
    by_task: dict[str, ComparisonVerdict] = field(default_factory=dict)
    skips: list[Skip] = field(default_factory=list)
    """Rows and files that cannot be used."""
    not_asked: list[Skip] = field(default_factory=list)
    """Files that no item asks for: nothing is missing without them."""
    scale: tuple[float, float] | None = None
    """The judge's lowest and highest score, if it states them."""

    @property
    def tied(self) -> tuple[str, ...]:
        """Keys of the items without a winner."""
        return tuple(result.item.key for result in self.items if result.points == 0.5)

    @property
    def notices(self) -> tuple[Notice, ...]:
        """What the judge cannot judge, missing outputs, other sizes, failed judgments, and files of no item."""
        missing = [
            Notice(
                code="outputs_missing",
                values={
                    "editor": name, "items": row.items, "missing": row.items - row.outputs, "keys": list(row.missing),
                },
            )
            for name, row in self.coverage.items()
            if row.outputs < row.items
        ]  # fmt: skip
        failed: JsonDict = {status: n for status, n in self.judgments.items() if status != Status.OK.value and n}
        failures = [Notice(code="judgments_failed", values={"statuses": failed})] if failed else []
        sizes = _other_sizes(self.items, self.sides)
        return (*judge_limits([self.judge]), *missing, *sizes, *failures, *_files_of_no_item(self.not_asked))

    def to_json(self, *, top: int = 10) -> dict[str, Any]:
        """For ``--json``."""
        return {
            "old": self.sides.old_name, "new": self.sides.new_name, "judge": self.judge,
            "verdict": self.verdict.__dict__,
            "by_task": {task: verdict.__dict__ for task, verdict in self.by_task.items()},
            "differ_most": [_item_json(result) for result in largest_differences(self.items, top)],
            "tied": list(self.tied),
            "coverage": {name: asdict(row) for name, row in self.coverage.items()},
            "judgments": self.judgments, "left_out": self.left_out,
            "skips": [str(skip) for skip in self.skips], "not_asked": [str(skip) for skip in self.not_asked],
            **notice_fields(self.notices),
        }  # fmt: skip


def _other_sizes(results: Sequence[ComparedItem], sides: ComparedFolders) -> list[Notice]:
    """Notices about outputs whose size differs from their source: judges see them scaled."""
    keys: dict[str, list[str]] = {sides.old_name: [], sides.new_name: []}
    for result in results:
        source = result.item.sources[0] if result.item.sources else None
        for name, output in ((sides.old_name, result.old), (sides.new_name, result.new)):
            sizes = {(image.width, image.height) for image in (source, output.image) if image is not None}
            if source is not None and output.image is not None and len(sizes) > 1:
                keys[name].append(result.item.key)
    return [
        Notice(code="outputs_of_other_size", values={"editor": name, "outputs": len(item_keys), "of": len(results),
                                                     "keys": list(item_keys[:_KEYS])})
        for name, item_keys in keys.items()
        if item_keys
    ]  # fmt: skip


def _files_of_no_item(skips: Sequence[Skip]) -> list[Notice]:
    values: JsonDict = {"files": len(skips), "examples": [skip.file for skip in skips[:_FILES]]}
    return [Notice(code="files_not_asked", values=values)] if skips else []


def _item_json(result: ComparedItem) -> dict[str, Any]:
    turn = result.item.turns[0]
    return {"key": result.item.key, "instruction": turn.instruction, "points": result.points, "gap": result.gap}


def largest_differences(results: Sequence[ComparedItem], top: int) -> list[ComparedItem]:
    """The clearest differences first; up to half of them are wins of the side that won less often.

    Without scores, items on which both orders agree come first.
    """
    ranked = sorted(results, key=lambda r: (-abs(r.points - 0.5), -(r.lead or 0.0), r.item.key))
    sides = [[result for result in ranked if result.points > 0.5], [result for result in ranked if result.points < 0.5]]
    fewer, more = sorted(sides, key=len)
    few = min(len(fewer), max(top // 2, top - len(more)))
    ids = {id(result) for result in (*fewer[:few], *more[: top - few])}
    return [result for result in ranked if id(result) in ids]


def compare(
    workspace: Workspace,
    sides: ComparedFolders,
    job: JudgingJob,
    imported: ImportedFolders,
    *,
    watch: Watch | None = None,
    level: float = 0.95,
) -> tuple[ModelComparison, JudgeReport]:
    """Ask the judge the missing questions and compare NEW with OLD."""
    (report,) = ask_jobs(workspace, [job], watch=watch)
    results, left_out = _results(workspace, sides, job)
    tasks = grouped((result.item.task or "(none)", result) for result in results)
    judged = Counter(report.judgments)
    judged[Status.OK.value] += report.done_before
    comparison = ModelComparison(
        sides=sides,
        judge=job.wired.judge.name,
        verdict=_by_judge(_verdict(results, sides, level), job),
        items=results,
        coverage=_coverage(workspace, sides, job),
        judgments=dict(judged),
        left_out=left_out,
        by_task={name: _verdict(rows, sides, level) for name, rows in sorted(tasks.items())} if len(tasks) > 1 else {},
        skips=imported.unusable,
        not_asked=imported.not_asked,
        scale=stated_scale(job.wired.judge, job.wired.kind),
    )
    return comparison, report


def _verdict(results: Sequence[ComparedItem], sides: ComparedFolders, level: float) -> ComparisonVerdict:
    return compare_points([result.points for result in results], sides.old_name, sides.new_name, level=level)


def _by_judge(verdict: ComparisonVerdict, job: JudgingJob) -> ComparisonVerdict:
    """Name the judge in the verdict. A judge of one dimension does not decide which side is better overall."""
    if not verdict.n_items:
        return verdict
    by, dimension = f"By the verdicts of judge {job.wired.judge.name}", job.wired.dimension
    words = verdict.words.replace("There is", "there is", 1) if verdict.words.startswith("There is") else verdict.words
    if dimension == WHOLE:
        return replace(verdict, words=f"{by}, {words}")
    about = sentence(Notice(code="one_dimension", values={"dimension": dimension}))
    return replace(verdict, words=f"{by} on {dimension}, {words} {about}")


def _results(
    workspace: Workspace, sides: ComparedFolders, job: JudgingJob
) -> tuple[list[ComparedItem], dict[str, int]]:
    """One result for each item: the mean over its battles (repeats)."""
    names = {sides.old_name, sides.new_name}
    outputs: dict[str, dict[str, Output]] = defaultdict(dict)
    for (item_id, _, _), slot_outputs in job.showable.slots.items():
        for output in slot_outputs:
            outputs[item_id][output.editor or ""] = output
    view = View(workspace)
    kind: BattleKind = "scored" if job.question_settings.command == "judge" else "compared"
    variants = view.variants.counting([job.wired.judge.name], job.wired.dimension)
    table = battles_between_named(judge_battles(view, variants, kinds=(kind,)), view.entries)
    points: dict[str, list[float]] = defaultdict(list)
    editors, items = view.entries.editor, view.entries.item_id
    for left, right, winner in zip(table.left.tolist(), table.right.tolist(), table.winner.tolist(), strict=True):
        first, second = (editors.names[editors.of[side]] for side in (left, right))
        item_id = items[view.entries.item[left]]
        if {first, second} == names and item_id in outputs:
            better = {LEFT: first, RIGHT: second}.get(winner)
            points[item_id].append(0.5 if better is None else float(better == sides.new_name))
    gaps = _gaps(workspace, sides, job, outputs)
    results = [
        ComparedItem(
            job.showable.items[item_id], outputs[item_id][sides.old_name], outputs[item_id][sides.new_name],
            sum(values) / len(values), gaps.get(item_id),
        )
        for item_id, values in points.items()
    ]  # fmt: skip
    return sorted(results, key=lambda result: result.item.key), dict(table.excluded)


def _gaps(
    workspace: Workspace, sides: ComparedFolders, job: JudgingJob, outputs: Mapping[str, Mapping[str, Output]]
) -> dict[str, float]:
    """NEW's lead per item on the judge's own scale, if it has one."""
    editors = {output.output_id: name for by_editor in outputs.values() for name, output in by_editor.items()}
    sums: dict[str, list[float]] = defaultdict(list)
    single: dict[tuple[str, str], float] = {}
    for judgment in workspace.store.records(Judgment, judge=job.wired.judge.name, status=Status.OK.value):
        if judgment.left_id not in editors:
            continue
        if judgment.right_id is None:
            if judgment.score is not None:
                single[judgment.item_id, editors[judgment.left_id]] = judgment.score
            continue
        for name in ("score", "preference"):
            left, right = judgment.scores.get(f"left.{name}"), judgment.scores.get(f"right.{name}")
            if left is not None and right is not None and judgment.right_id in editors:
                sign = 1 if editors[judgment.left_id] == sides.new_name else -1
                sums[judgment.item_id].append(sign * (left - right))
                break
    if job.question_settings.command == "judge":
        return {
            item: single[item, sides.new_name] - single[item, sides.old_name]
            for item, editor in single
            if editor == sides.old_name and (item, sides.new_name) in single
        }
    return {item: sum(values) / len(values) for item, values in sums.items()}


def _coverage(workspace: Workspace, sides: ComparedFolders, job: JudgingJob) -> dict[str, FolderCoverage]:
    total = len(job.showable.items)
    coverage: dict[str, FolderCoverage] = {}
    keys = {item.item_id: item.key for item in job.showable.items.values()}
    for name in (sides.old_name, sides.new_name):
        have = {output.item_id for output in workspace.store.records(Output, editor=name, status=Status.OK.value)}
        missing = sorted(key for item_id, key in keys.items() if item_id not in have)
        coverage[name] = FolderCoverage(total, total - len(missing), tuple(missing[:_KEYS]))
    return coverage
