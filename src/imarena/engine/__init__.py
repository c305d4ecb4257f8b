"""Plan, run, resume."""

from imarena.engine.run import Plan, Tally, processes, run, run_async

__all__ = ["Plan", "Tally", "processes", "run", "run_async"]
