"""Workers on a Ray cluster, behind the same door as threads and processes.

The cluster is the one that `RAY_ADDRESS` names, else one on this machine. Starting one takes 15 to 50 seconds and a
round trip 16 ms: worth it for many machines, not for one.
"""

from collections.abc import Callable
from concurrent.futures import Executor, Future
from typing import Any

from imarena.core import MissingExtra


class RayPool(Executor):
    """Runs what it is given as Ray tasks."""

    def __init__(self) -> None:
        try:
            import ray
        except ImportError as error:
            raise MissingExtra("Running on Ray", "ray") from error
        self._ray: Any = ray
        self._started = not ray.is_initialized()
        if self._started:
            ray.init(log_to_driver=False, include_dashboard=False, configure_logging=False)
        self._task: Any = ray.remote(_call)
        self.workers = max(1, int(ray.cluster_resources().get("CPU", 1)))

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> "Future[Any]":
        """One task."""
        found: Future[Any] = self._task.remote(fn, *args, **kwargs).future()
        return found

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:  # noqa: ARG002
        """Let go of a cluster that was started here; another's goes on."""
        if self._started:
            self._ray.shutdown()


def _call(fn: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
    """Ray takes functions written in Python only; this one calls any other."""
    return fn(*args, **kwargs)
