"""Where a judge or an editor can run. It follows from their traits."""

from collections.abc import Sequence

from imarena.core import Editor, ExecutorKind, Judge, Settings, UserError
from imarena.engine import read_executor
from imarena.workflows.questions.loop import Terms
from imarena.workflows.wiring import WiredJudge


def computes(*asked: Judge | Editor) -> bool:
    """Return whether all answers are computed locally, instead of waiting for an endpoint, a program or a file."""
    return bool(asked) and all(each.traits.cpu_bound for each in asked)


def executor_for(settings: Settings, option: str, staying: str | None) -> ExecutorKind:
    """Return the executor of a command: its option, else the workspace's setting.

    `staying` names a judge or editor that can only run in this process; None if there is none. If it is set, an option
    for other processes raises an error, and the setting is ignored.
    """
    if not option:
        return settings.executor if staying is None else "threads"
    kind = read_executor(option)
    if staying is not None and kind in ("processes", "ray"):
        raise UserError(
            f"'{staying}' can only be asked from this process: its connection, its model or its cost limit is here.",
            hint="Use --executor threads or auto; --concurrency N sets how many questions are asked at once.",
        )
    return kind


def judge_terms(settings: Settings, wired: WiredJudge, *, executor: str = "", concurrency: int | None = None) -> Terms:
    """Return how a judge is asked: by the command's options and the judge's needs."""
    judge, client = wired.judge, wired.client
    if client is None:
        return Terms(executor_for(settings, executor, None), concurrency, computes(judge), gpus=judge.traits.gpus)
    kind = executor_for(settings, executor, judge.name)
    return Terms(kind, concurrency or wired.concurrency, computes(judge), client.opened)


def executor_of_editors(settings: Settings, option: str, editors: Sequence[Editor]) -> ExecutorKind:
    """Same as `executor_for`, for editors. One that is opened or keeps a journal cannot be shared by processes."""
    staying = (
        editor.name for editor in editors if editor.traits.opening is not None or editor.traits.resumable is not None
    )
    return executor_for(settings, option, next(staying, None))
