"""`compare`: is NEW better than OLD on my items? Takes two folders and returns a verdict with its interval."""

import tempfile
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

from imarena.clients import Budget
from imarena.core import OTHER_OUTPUT, Importable, Intake, Progress, Skip, UserError, counted, grouped, skip_causes
from imarena.core.notices import Notice, notice_fields, sentence
from imarena.core.records import JsonDict, Judgment, Output, Status
from imarena.judges import OrderPolicy
from imarena.reports import ComparedItem
from imarena.stats import ComparisonVerdict, compare_points
from imarena.storage import Workspace, init_workspace, is_workspace, open_workspace, scratch_copy
from imarena.workflows.exchange import ImportReport, import_records
from imarena.workflows.questions import JudgeReport, JudgingJob, Watch, ask_jobs, plan_battles, plan_scores
from imarena.workflows.views import LEFT, RIGHT, WHOLE, BattleKind, View, battles_between_named, judge_battles
from imarena.workflows.wiring import EndpointArguments, wire_judge

_KEYS = 50
"""Maximum number of keys to list for outputs that are missing or of another size."""


@dataclass(frozen=True)
class ComparedFolders:
    """The two folders and the names of their editors in the workspace."""

    old: Path
    new: Path
    old_name: str
    new_name: str


@dataclass(frozen=True)
class ComparedItems:
    """The table of items, and its names for our columns (``ours=theirs,...``)."""

    path: Path
    columns: str = ""

    @property
    def dataset(self) -> str:
        """The data set named in the table's first row, else the name of the table's folder."""
        from imarena.datasets import named_dataset

        return named_dataset(self.path, self.columns) or self.path.resolve().parent.name


def name_sides(old: Path, new: Path, old_name: str = "", new_name: str = "") -> ComparedFolders:
    """Name both sides after their folders; if those names are equal, add the parent folder."""
    for folder in (old, new):
        if not folder.is_dir():
            raise UserError(f"There is no folder {folder}.", hint="Give two folders of outputs: <key>.png in each.")
    first, second = old_name or old.resolve().name, new_name or new.resolve().name
    if first == second:
        first, second = f"{old.resolve().parent.name}/{first}", f"{new.resolve().parent.name}/{second}"
    if first == second:
        raise UserError("OLD and NEW are the same folder.", hint="Give two folders.")
    return ComparedFolders(old, new, first, second)


def import_folders(
    workspace: Workspace, items: ComparedItems, sides: ComparedFolders, *, progress: Progress | None = None
) -> ImportReport:
    """Import the items and both folders into a workspace; the report's skips list what cannot be used."""
    from imarena.datasets import DatasetIndex, items_from_table, outputs_from_folder

    if not items.path.is_file():
        raise UserError(
            f"There is no file {items.path}.",
            hint="Give a CSV with the columns key, instruction and source (a file name).",
        )

    def read_all(path: Path, intake: Intake, options: Mapping[str, str]) -> Iterator[Importable]:  # noqa: ARG001
        index = DatasetIndex(intake, items.dataset)
        yield from items_from_table(path, intake, index, items.columns)
        for folder, name in ((sides.old, sides.old_name), (sides.new, sides.new_name)):
            for record in outputs_from_folder(folder, name, intake, index):  # both folders have files of the same names
                yield replace(record, file=f"{name}: {record.file}") if isinstance(record, Skip) else record

    report = import_records(workspace, read_all, format_name="compare", path=items.path, progress=progress)
    changed = next((skip for skip in report.skips if skip.code == OTHER_OUTPUT), None)
    if changed is not None:
        raise UserError(
            f"{changed.file}: {changed.reason}.",
            hint="The folder changed since this workspace stored it: give it a new name with --old-name or --new-name.",
        )
    return report


# ---------------------------------------------------------------- judging


def plan_comparison(
    workspace: Workspace,
    sides: ComparedFolders,
    items: ComparedItems,
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
    what: dict[str, Any] = {"datasets": datasets, "editors": editors, "repeats": repeats}
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

    @property
    def tied(self) -> tuple[str, ...]:
        """Keys of the items without a winner."""
        return tuple(result.item.key for result in self.items if result.points == 0.5)

    @property
    def notices(self) -> tuple[Notice, ...]:
        """Notices about missing outputs, outputs of another size, and judgments without a verdict."""
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
        return (*missing, *_other_sizes(self.items, self.sides), *failures)

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
            "skips": [str(skip) for skip in self.skips], **notice_fields(self.notices),
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
    imported: ImportReport,
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
        verdict=_about(_verdict(results, sides, level), job.wired.dimension),
        items=results,
        coverage=_coverage(workspace, sides, job),
        judgments=dict(judged),
        left_out=left_out,
        by_task={name: _verdict(rows, sides, level) for name, rows in sorted(tasks.items())} if len(tasks) > 1 else {},
        skips=list(imported.skips),
    )
    return comparison, report


def _verdict(results: Sequence[ComparedItem], sides: ComparedFolders, level: float) -> ComparisonVerdict:
    return compare_points([result.points for result in results], sides.old_name, sides.new_name, level=level)


def _about(verdict: ComparisonVerdict, dimension: str) -> ComparisonVerdict:
    """Add a caveat: a judge of one dimension does not decide which side is better overall."""
    if dimension == WHOLE:
        return verdict
    about = sentence(Notice(code="one_dimension", values={"dimension": dimension}))
    return replace(verdict, words=f"By {dimension}: {verdict.words} {about}")


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


@contextmanager
def comparison_workspace(root: Path, *, dry_run: bool = False) -> Iterator[Workspace]:
    """Open the given workspace, or a temporary one. A dry run uses a copy, so that nothing is stored."""
    if root != Path() and not dry_run:
        with init_workspace(root) as workspace:
            yield workspace
        return
    if root != Path() and is_workspace(root):
        with open_workspace(root) as workspace, scratch_copy(workspace) as copy:
            yield copy
        return
    with tempfile.TemporaryDirectory(prefix="imarena-") as folder, init_workspace(Path(folder) / "arena") as workspace:
        yield workspace


def need_both_sides(workspace: Workspace, sides: ComparedFolders, imported: ImportReport) -> None:
    """Raise `UserError` if a folder has no output for any item, with the reasons why files were skipped."""
    names = [sides.old_name, sides.new_name]
    counts = {name: workspace.store.count(Output, editor=name).get((), 0) for name in names}
    empty = [name for name in names if not counts[name]]
    table = [skip for skip in imported.skips if not skip.file.startswith(tuple(f"{name}: " for name in names))]
    if empty and table and not imported.datasets:
        more = f"; {counted(len(table) - 1, 'more row')} cannot be used" if table[1:] else ""
        raise UserError(
            f"No item of the table can be used: {table[0]}{more}.",
            hint="Correct the table: its images are found by their paths, relative to the folder of the table.",
        )
    if empty:
        files = [skip for skip in imported.skips if skip not in table]
        causes = skip_causes(table)[:3] + skip_causes(files)[:3]
        why = "; ".join(str(cause) for cause in causes) or "the folder is empty"
        raise UserError(
            f"No output of {' and '.join(empty)} belongs to an item: {why}.",
            hint="A file is named after its item's key: <key>.png for the key in items.csv; the images that "
            "items.csv names lie in its folder or below it.",
        )
