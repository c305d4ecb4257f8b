"""Where a judge or an editor can run. It follows from their traits."""

from collections.abc import Sequence

from imarena.core import Editor, ExecutorKind, Judge, Settings, UserError
from imarena.engine import read_executor
from imarena.workflows.questions.loop import RunOptions
from imarena.workflows.wiring import WiredJudge


def computes(*parties: Judge | Editor) -> bool:
    """Return whether all answers are computed locally, instead of waiting for an endpoint, a program or a file."""
    return bool(parties) and all(party.traits.cpu_bound for party in parties)


def executor_for(settings: Settings, option: str, staying: str | None, model: str | None = None) -> ExecutorKind:
    """Return the executor of a command: its option, else the workspace's setting.

    `staying` names a judge or editor that can only run in this process, `model` one that loads a model: in this process
    or on Ray, where each worker loads it. For an executor that does not fit them, an option raises an error, and the
    setting is ignored.
    """
    kind = read_executor(option) if option else settings.executor
    if staying is None and (model is None or kind == "ray"):
        return kind
    if option and kind in ("processes", "ray"):
        if staying is None:
            raise UserError(
                f"'{model}' loads a model: it can be asked from this process or on Ray, not in processes.",
                hint="Use --executor threads, auto or ray.",
            )
        raise UserError(
            f"'{staying}' can only be asked from this process: its connection, its steps or its cost limit is here.",
            hint="Use --executor threads or auto; --concurrency N sets how many questions are asked at once.",
        )
    return "threads"


def judge_run_options(
    settings: Settings, wired: WiredJudge, *, executor: str = "", concurrency: int | None = None
) -> RunOptions:
    """Return how a judge is asked: by the command's options and the judge's needs."""
    judge, client = wired.judge, wired.client
    if client is None:
        return RunOptions(executor_for(settings, executor, None), concurrency, computes(judge), gpus=judge.traits.gpus)
    local = judge.name if wired.recipe is not None else None
    kind = executor_for(settings, executor, None if local else judge.name, local)
    if kind == "ray" and wired.recipe is not None:
        from imarena.workflows.wiring import RemadeJudge

        remade = RemadeJudge(wired.recipe)
        return RunOptions(kind, concurrency, computes(judge), remade.opened, judge=remade, gpus=remade.gpus)
    return RunOptions(kind, concurrency or wired.concurrency, computes(judge), client.opened)


def executor_of_editors(settings: Settings, option: str, editors: Sequence[Editor]) -> ExecutorKind:
    """Same as `executor_for`, for editors. One with a connection, or that keeps a journal, stays in this process."""
    traits = {editor.name: editor.traits for editor in editors}
    staying = (
        name
        for name, trait in traits.items()
        if trait.resumable is not None or (trait.opening is not None and not trait.loads_model)
    )
    loading = (name for name, trait in traits.items() if trait.opening is not None and trait.loads_model)
    return executor_for(settings, option, next(staying, None), next(loading, None))
