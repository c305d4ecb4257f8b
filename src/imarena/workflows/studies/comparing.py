"""compare: is NEW better than OLD on my items? Two folders in, a verdict with its interval out."""

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from imarena.core import OTHER_OUTPUT, Importable, Intake, Progress, Skip, UserError
from imarena.core.notices import Notice, notice_fields, sentence
from imarena.core.records import Item, JsonDict, Judgment, Output, Status
from imarena.judges import OrderPolicy
from imarena.stats import ComparisonVerdict, compare_points
from imarena.storage import Workspace
from imarena.workflows.exchange import ImportReport, import_records
from imarena.workflows.questions import JudgeReport, JudgingJob, Watch, ask_jobs, plan_battles, plan_scores
from imarena.workflows.views import LEFT, RIGHT, WHOLE, Kind, View, battles_between_named, judge_battles
from imarena.workflows.wiring import EndpointArguments, wire_judge


@dataclass(frozen=True)
class ComparedFolders:
    """The two folders and what their editors are called in the workspace."""

    old: Path
    new: Path
    old_name: str
    new_name: str


def name_sides(old: Path, new: Path, old_name: str = "", new_name: str = "") -> ComparedFolders:
    """Names from the folders; where those are the same, with the folder above."""
    for folder in (old, new):
        if not folder.is_dir():
            raise UserError(f"There is no folder {folder}.", hint="Give two folders of outputs: <key>.png in each.")
    one, other = old_name or old.resolve().name, new_name or new.resolve().name
    if one == other:
        one, other = f"{old.resolve().parent.name}/{one}", f"{new.resolve().parent.name}/{other}"
    if one == other:
        raise UserError("OLD and NEW are the same folder.", hint="Give two folders.")
    return ComparedFolders(old, new, one, other)


def import_folders(
    workspace: Workspace, items: Path, sides: ComparedFolders, *, progress: Progress | None = None
) -> ImportReport:
    """Items and both folders into a workspace; what cannot be used is in the report's skips."""
    from imarena.datasets import DatasetIndex, items_from_csv, outputs_from_folder

    if not items.is_file():
        raise UserError(
            f"There is no file {items}.", hint="Give a CSV with the columns key, instruction and source (a file name)."
        )

    def read(path: Path, intake: Intake, options: Mapping[str, str]) -> Iterator[Importable]:  # noqa: ARG001
        shelf = DatasetIndex(intake, _dataset(items))
        yield from items_from_csv(path, intake, shelf)
        for folder, name in ((sides.old, sides.old_name), (sides.new, sides.new_name)):
            yield from outputs_from_folder(folder, name, intake, shelf)

    report = import_records(workspace, read, format_name="compare", path=items, progress=progress)
    changed = next((skip for skip in report.skips if skip.code == OTHER_OUTPUT), None)
    if changed is not None:
        raise UserError(
            f"{changed.file}: {changed.reason}.",
            hint="The folder changed since this workspace saw it: name it anew with --old-name or --new-name.",
        )
    return report


def _dataset(items: Path) -> str:
    """The data set that the file names in its first row, else the name of its folder."""
    import csv

    delimiter = "\t" if items.suffix.lower() == ".tsv" else ","
    with items.open(encoding="utf-8-sig", newline="", errors="replace") as file:
        first: dict[str, Any] = next(csv.DictReader(file, delimiter=delimiter), {})
    return str(first.get("dataset") or items.resolve().parent.name)


# ---------------------------------------------------------------- judging


def plan_comparison(
    workspace: Workspace,
    sides: ComparedFolders,
    items: Path,
    judge: str,
    words: EndpointArguments,
    budget: Any = None,
    *,
    orders: OrderPolicy = "both",
    repeats: int = 1,
) -> JudgingJob:
    """What the judge has to be asked: pairs, or single outputs where it scores only."""
    editors, datasets = [sides.old_name, sides.new_name], [_dataset(items)]
    shape = wire_judge(workspace.settings, judge, words, budget).shape
    if shape == "pointwise":
        plan: Any = plan_scores
        (job,) = plan(workspace, [judge], words, budget, datasets=datasets, editors=editors, repeats=repeats)
    else:
        (job,) = plan_battles(
            workspace, [judge], words, budget, orders=orders, datasets=datasets, editors=editors, repeats=repeats
        )
    found: JudgingJob = job
    return found


# ---------------------------------------------------------------- the verdict


@dataclass(frozen=True)
class ItemResult:
    """One item: NEW's share of the points and, where the judge gives scores, by how much it is ahead."""

    item: Item
    old: Output
    new: Output
    points: float
    """1: NEW is better; 0: OLD is; 1/2: a tie."""
    gap: float | None


@dataclass(frozen=True)
class ModelComparison:
    """Everything that `compare` found."""

    sides: ComparedFolders
    judge: str
    verdict: ComparisonVerdict
    items: list[ItemResult]
    coverage: dict[str, dict[str, Any]]
    judgments: dict[str, int]
    left_out: dict[str, int]
    by_task: dict[str, ComparisonVerdict] = field(default_factory=dict)
    skips: list[Skip] = field(default_factory=list)

    @property
    def notices(self) -> tuple[Notice, ...]:
        """What is missing on either side, and judgments without a verdict."""
        found = [
            Notice(
                code="outputs_missing",
                values={
                    "editor": name, "items": row["items"], "missing": row["items"] - row["outputs"],
                    "keys": row["missing"],
                },
            )
            for name, row in self.coverage.items()
            if row["outputs"] < row["items"]
        ]  # fmt: skip
        failed: JsonDict = {status: n for status, n in self.judgments.items() if status != Status.OK.value and n}
        return (*found, *([Notice(code="judgments_failed", values={"statuses": failed})] if failed else []))

    def to_json(self, *, top: int = 10) -> dict[str, Any]:
        """For ``--json``."""
        return {
            "old": self.sides.old_name, "new": self.sides.new_name, "judge": self.judge,
            "verdict": self.verdict.__dict__,
            "by_task": {task: verdict.__dict__ for task, verdict in self.by_task.items()},
            "differ_most": [_item_json(result) for result in largest_differences(self.items, top)],
            "coverage": self.coverage, "judgments": self.judgments, "left_out": self.left_out,
            "skips": [str(skip) for skip in self.skips], **notice_fields(self.notices),
        }  # fmt: skip


def _item_json(result: ItemResult) -> dict[str, Any]:
    turn = result.item.turns[0]
    return {"key": result.item.key, "instruction": turn.instruction, "points": result.points, "gap": result.gap}


def largest_differences(results: Sequence[ItemResult], top: int) -> list[ItemResult]:
    """The clearest differences first; where the judge gives no scores, those that both orders agree on."""
    ranked = sorted(results, key=lambda r: (-abs(r.points - 0.5), -abs(r.gap or 0.0), r.item.key))
    return [result for result in ranked if result.points != 0.5][:top]


def compare(
    workspace: Workspace, sides: ComparedFolders, job: JudgingJob, imported: ImportReport, *, watch: Watch | None = None
) -> tuple[ModelComparison, JudgeReport]:
    """Ask the judge what is missing and say how NEW stands against OLD."""
    (report,) = ask_jobs(workspace, [job], watch=watch)
    results, left_out = _results(workspace, sides, job)
    tasks: dict[str, list[ItemResult]] = defaultdict(list)
    for result in results:
        tasks[result.item.task or "(none)"].append(result)
    judged = Counter(report.judgments)
    judged[Status.OK.value] += report.done_before
    comparison = ModelComparison(
        sides=sides,
        judge=job.wired.judge.name,
        verdict=_about(_verdict(results, sides), job.wired.dimension),
        items=results,
        coverage=_coverage(workspace, sides, job),
        judgments=dict(judged),
        left_out=left_out,
        by_task={name: _verdict(rows, sides) for name, rows in sorted(tasks.items())} if len(tasks) > 1 else {},
        skips=imported.skips,
    )
    return comparison, report


def _verdict(results: Sequence[ItemResult], sides: ComparedFolders) -> ComparisonVerdict:
    return compare_points([result.points for result in results], sides.old_name, sides.new_name)


def _about(verdict: ComparisonVerdict, dimension: str) -> ComparisonVerdict:
    """A judge of one dimension does not say which one is better."""
    if dimension == WHOLE:
        return verdict
    about = sentence(Notice(code="one_dimension", values={"dimension": dimension}))
    return replace(verdict, words=f"By {dimension}: {verdict.words} {about}")


def _results(workspace: Workspace, sides: ComparedFolders, job: JudgingJob) -> tuple[list[ItemResult], dict[str, int]]:
    """One result for each item: the mean over its battles (repeats)."""
    names = {sides.old_name, sides.new_name}
    outputs: dict[str, dict[str, Output]] = defaultdict(dict)
    for (item_id, _, _), shown in job.board.slots.items():
        for output in shown:
            outputs[item_id][output.editor or ""] = output
    view = View(workspace)
    kind: Kind = "scored" if job.asking.command == "judge" else "compared"
    forms = view.forms.counting([job.wired.judge.name], job.wired.dimension)
    table = battles_between_named(judge_battles(view, forms, kinds=(kind,)), view.entries)
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
        ItemResult(
            job.board.items[item_id], outputs[item_id][sides.old_name], outputs[item_id][sides.new_name],
            sum(values) / len(values), gaps.get(item_id),
        )
        for item_id, values in points.items()
    ]  # fmt: skip
    return sorted(results, key=lambda result: result.item.key), dict(table.excluded)


def _gaps(
    workspace: Workspace, sides: ComparedFolders, job: JudgingJob, outputs: Mapping[str, Mapping[str, Output]]
) -> dict[str, float]:
    """By how much NEW is ahead on the judge's own scale, where it has one."""
    editors = {output.output_id: name for shown in outputs.values() for name, output in shown.items()}
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
    if job.asking.command == "judge":
        return {
            item: single[item, sides.new_name] - single[item, sides.old_name]
            for item, editor in single
            if editor == sides.old_name and (item, sides.new_name) in single
        }
    return {item: sum(values) / len(values) for item, values in sums.items()}


def _coverage(workspace: Workspace, sides: ComparedFolders, job: JudgingJob) -> dict[str, dict[str, Any]]:
    total = len(job.board.items)
    found: dict[str, dict[str, Any]] = {}
    keys = {item.item_id: item.key for item in job.board.items.values()}
    for name in (sides.old_name, sides.new_name):
        have = {output.item_id for output in workspace.store.records(Output, editor=name, status=Status.OK.value)}
        missing = sorted(key for item_id, key in keys.items() if item_id not in have)
        found[name] = {"items": total, "outputs": total - len(missing), "missing": missing[:50]}
    return found
