"""demo: the whole path on the bundled benchmark, offline: items, outputs, judgments, battles, rankings, report."""

from collections import defaultdict
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from imarena.core.protocols import Progress
from imarena.core.records import ImageRef, Item, Mode, Output, Status
from imarena.datasets.studio import DATASET, studio_items
from imarena.editors.studio import QUALITY_ORDER, habit_told, studio_editors
from imarena.judges.catalog import JUDGES
from imarena.reports.page import Grid, Section
from imarena.stats import kendall
from imarena.storage import Workspace, init_workspace
from imarena.studio import DEMO_KEYS
from imarena.workflows.boards import boards
from imarena.workflows.cases import load_board, pointwise_cases
from imarena.workflows.editing import EditSettings, edit_items
from imarena.workflows.importing import WorkspaceIntake
from imarena.workflows.judging import judge_cases
from imarena.workflows.report_gallery import true_qualities
from imarena.workflows.reporting import report
from imarena.workflows.sampling import Sampler, cases_of, sampled


@dataclass(frozen=True)
class Demo:
    """What the demo made."""

    workspace: Path
    report: Path
    items: int
    of_items: int
    outputs: int
    judgments: int
    battles: int
    tau: dict[str, float]
    """Kendall's tau of each board with the known order of the editors."""


def demo(
    root: Path,
    *,
    full: bool = False,
    progress: Progress | None = None,
    ready: Callable[[Workspace], None] | None = None,
) -> Demo:
    """Run it in a new or an interrupted demo workspace; what is done already is not done again.

    `ready` is told when all outputs are there: people can vote from then on, while judges are still at work.
    """
    keys = None if full else DEMO_KEYS
    with init_workspace(root, name="imarena demo") as workspace:
        items = _items(workspace, keys, progress)
        settings = EditSettings(modes=(Mode.SINGLE, Mode.MULTI_TURN, Mode.COMPLEX), concurrency=2)
        edit_items(workspace, items, studio_editors(), settings, progress=progress)
        if ready is not None:
            ready(workspace)
        board = load_board(workspace, datasets=[DATASET])
        judge = JUDGES.get("builtin")({}, None)
        judge_cases(workspace, judge, pointwise_cases(board), parents=board.parents, progress=progress)
        battles = cases_of(board, sampled(board, Sampler()), "both")
        judge_cases(workspace, judge, battles, parents=board.parents, progress=progress)
        outputs = list(workspace.store.records(Output, status=Status.OK.value))
        truth = true_qualities(workspace, items, outputs)
        section, tau = _truth_section(workspace, outputs, truth)
        page = report(
            workspace,
            root / "report",
            title="imarena demo: eight editors with known habits",
            extra=(section,),
            truth=truth,
            next_steps=next_steps(root),
            progress=progress,
        )
        counts = {kind: sum(row.values()) for kind, row in _tally(workspace).items()}
    return Demo(root, page, len(items), _benchmark_size(), counts["outputs"], counts["scores"], counts["battles"], tau)


def next_steps(root: Path, program: str = "imarena") -> tuple[str, ...]:
    """Three commands to try next."""
    return (
        f"{program} -w {root} status",
        f"{program} -w {root} rank --judge builtin",
        f"{program} -w {root} export native {root}-exported",
    )


def _items(workspace: Workspace, keys: tuple[str, ...] | None, progress: Progress | None) -> list[Item]:
    intake = WorkspaceIntake(workspace)

    def keep(data: bytes, name: str) -> ImageRef:
        return intake.keep(data, name=name)

    total = len(keys) if keys is not None else _benchmark_size()
    items = []
    for item in studio_items(keep, keys):
        items.append(item)
        if progress:
            progress("items", len(items), total)
    intake.flush()
    workspace.store.add(items)
    return items


def _benchmark_size() -> int:
    from imarena.studio import entries

    return len(entries())


def _truth_section(
    workspace: Workspace, outputs: list[Output], truth: Mapping[str, float]
) -> tuple[Section, dict[str, float]]:
    """What the oracle knows, beside what the boards say. Judges never see any of this."""
    quality: dict[str, list[float]] = defaultdict(list)
    for output in outputs:
        if output.editor is not None and output.output_id in truth:
            quality[output.editor].append(truth[output.output_id])
    means = {editor: sum(values) / len(values) for editor, values in quality.items()}
    habits = {editor.name: editor.habit for editor in studio_editors()}
    tau: dict[str, float] = {}
    columns: list[tuple[str, dict[str, float]]] = []
    for board in boards(workspace):
        ratings = {standing.model: standing.rating for standing in board.ranking.models}
        known = [name for name in ratings if habits.get(name) in QUALITY_ORDER and name in means]
        value = kendall([ratings[name] for name in known], [means[name] for name in known]).value
        if value is not None:
            tau[board.title] = value
        columns.append((board.title, ratings))

    def rating(editor: str, ratings: dict[str, float]) -> str:
        return f"{ratings[editor]:.0f}" if editor in ratings else ""

    rows = tuple(
        (_with_habit(editor, habits), f"{means[editor]:.2f}", *(rating(editor, ratings) for _, ratings in columns))
        for editor in sorted(means, key=lambda name: -means[name])
    )
    agreement = "; ".join(f"{title} {value:.2f}" for title, value in tau.items())
    section = Section(
        "Known truth",
        (
            "These editors are no models: each has one habit, told below. The studio draws the exact answer to every"
            " instruction, so the true quality of each picture is known (0 to 1; the mean of what an editor delivered)."
            " Judges see pixels and words only.",
            "A judge can have the order of the editors right and still err on single pictures: the gallery says where.",
            f"Kendall's tau between each board and the true order, 1 where both are the same: {agreement}. studio-flaky"
            " is left out of it: what it is worth depends on how its missing outputs count.",
        ),
        grids=(Grid(("editor", "true quality", *(title for title, _ in columns)), rows),),
    )
    return section, tau


def _with_habit(editor: str, habits: Mapping[str, str]) -> str:
    """The editor and what it does."""
    about = habit_told(habits[editor]) if editor in habits else ""
    return f"{editor}: {about[:1].lower()}{about[1:].rstrip('.')}" if about else editor


def _tally(workspace: Workspace) -> dict[str, dict[str, int]]:
    from imarena.core.records import Judgment

    outputs = {str(key[0]): n for key, n in workspace.store.count(Output, "status", status=Status.OK.value).items()}
    scores = {str(key[0]): n for key, n in workspace.store.count(Judgment, "status", right_id=None).items()}
    every = {str(key[0]): n for key, n in workspace.store.count(Judgment, "status").items()}
    battles = {state: (n - scores.get(state, 0)) // 2 for state, n in every.items()}
    return {"outputs": outputs, "scores": scores, "battles": battles}
