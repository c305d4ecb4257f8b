"""Plan, run, resume."""

from imarena.engine.run import Plan, Tally, computing, run, run_async

__all__ = ["Plan", "Tally", "computing", "run", "run_async"]
