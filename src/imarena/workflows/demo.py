"""demo: the full pipeline on the bundled benchmark, offline: items, outputs, judgments, battles, rankings, report."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from imarena.core import Progress, command_line, suggest_for
from imarena.core.records import ImageRef, Item, Judgment, Mode, Output, Status
from imarena.datasets import DATASET, studio_items
from imarena.editors import studio_editors
from imarena.judges import JUDGES
from imarena.reports import board_conclusion
from imarena.routing import Sampler, sampled_pairs
from imarena.storage import Workspace, init_workspace
from imarena.studio import DEMO_KEYS
from imarena.workflows.boards import BoardQuery, Boards, all_boards, describe_source
from imarena.workflows.editing import EditSettings, edit_items
from imarena.workflows.exchange import WorkspaceIntake
from imarena.workflows.questions import (
    QuestionSettings,
    cases_of,
    judge_cases,
    load_outputs,
    pointwise_cases,
)
from imarena.workflows.reporting import known_truth, write_report
from imarena.workflows.views import View


@dataclass(frozen=True)
class Demo:
    """The results of the demo."""

    workspace: Path
    report: Path
    items: int
    of_items: int
    outputs: int
    judgments: int
    battles: int
    tau: dict[str, float]
    """Kendall's tau of each board with the known order of the editors."""
    conclusion: str
    """The result of the board that `imarena rank` shows, in one sentence."""


def demo(
    root: Path,
    *,
    full: bool = False,
    progress: Progress | None = None,
    ready: Callable[[Workspace], None] | None = None,
) -> Demo:
    """Run the demo in a new or an interrupted demo workspace; finished work is not repeated.

    `ready` is called when all outputs are there: people can vote from then on, while judges are still running.
    """
    keys = None if full else DEMO_KEYS
    with suggest_for(root), init_workspace(root, name="imarena demo") as workspace:
        items = _items(workspace, keys, progress)
        settings = EditSettings(modes=(Mode.SINGLE, Mode.MULTI_TURN, Mode.COMPLEX), concurrency=2, checks=True)
        edit_items(workspace, items, studio_editors(), settings, progress=progress)
        if ready is not None:
            ready(workspace)
        board = load_outputs(workspace, datasets=[DATASET])
        judge = JUDGES.get("builtin")({}, None)
        scores = pointwise_cases(board)
        judge_cases(
            workspace, judge, scores, parents=board.parents, progress=_step("different questions for scores", progress)
        )
        battles = cases_of(board, sampled_pairs(board, Sampler()), "both")
        judge_cases(
            workspace, judge, battles, question_settings=QuestionSettings("battle"), parents=board.parents,
            progress=_step("different questions for comparisons (both orders)", progress),
        )  # fmt: skip
        boards = Boards(View(workspace))
        first = boards.board(BoardQuery())
        truth = known_truth(workspace, all_boards(boards))
        page = write_report(
            workspace,
            root / "report.html",
            title="imarena demo: eight editors with known habits",
            known=truth,
            next_steps=next_steps(root),
            progress=progress,
        )
        tau = truth.tau if truth is not None else {}
        counts = _tally(workspace)
    conclusion = board_conclusion(first.ranking, describe_source(first.chosen))
    return Demo(root, page, len(items), _benchmark_size(), *counts, tau, conclusion)


def _step(name: str, progress: Progress | None) -> Progress | None:
    """Return a progress callback that reports under the name of a step."""
    return progress and (lambda _, done, total: progress(name, done, total))


def next_steps(root: Path, program: str = "imarena") -> tuple[str, ...]:
    """Return commands to try next."""
    return (
        command_line("status", workspace=root, program=program),
        command_line("rank", workspace=root, program=program),
        command_line("site", f"{root}-site", workspace=root, program=program),
        command_line("export native", f"{root}-exported", workspace=root, program=program),
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


def _tally(workspace: Workspace) -> tuple[int, int, int]:
    """Count outputs, scores, and battles; a battle in both orders counts once."""
    outputs = workspace.store.count(Output, status=Status.OK.value).get((), 0)
    scores = workspace.store.count(Judgment, "status", right_id=None)
    every = workspace.store.count(Judgment, "status")
    return outputs, sum(scores.values()), sum((n - scores.get(state, 0)) // 2 for state, n in every.items())
