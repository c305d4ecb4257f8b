"""Plan, run, resume: what is done, where, and how it is stopped."""

from imarena.engine.executors import Open, opened, read_executor
from imarena.engine.run import Plan, Tally, run, run_async
from imarena.engine.task import Executor, Task, WorkerDied

__all__ = [
    "Executor",
    "Open",
    "Plan",
    "Tally",
    "Task",
    "WorkerDied",
    "opened",
    "read_executor",
    "run",
    "run_async",
]
