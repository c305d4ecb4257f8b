"""One question and its answer, wherever it is answered: here, in another process, on another machine."""

from collections.abc import Awaitable, Callable
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, field
from typing import Generic, Protocol, TypeVar

from imarena.core import VERSION, ImarenaError, UserError, first_line

Q = TypeVar("Q")
A = TypeVar("A")
Q_contra = TypeVar("Q_contra", contravariant=True)
A_co = TypeVar("A_co", covariant=True)


class NotNow(Exception):
    """This work cannot go on now, because another process is doing it or the run is to stop: try again later."""


class WorkerDied(Exception):
    """The worker with the question ended before it answered. That is a result of the question, not the run's end."""


@dataclass(frozen=True)
class WorkerTask(Generic[Q, A]):
    """The work of the workers. Each gets it once, so its contents (a judge, its cache) live as long as the worker."""

    answer: Callable[[Q], Awaitable[A]]
    failed: Callable[[Q, Exception], A]
    """Turns an unexpected failure into an answer with a status."""
    version: str = VERSION
    """Version of the asking software: another one might give other answers."""
    opening: Callable[[], AbstractAsyncContextManager[object]] | None = None
    """Opened by each worker before its first question, until the worker ends: loads a model. Threads open nothing."""
    _open: list[AbstractAsyncContextManager[object]] = field(default_factory=list, init=False, compare=False)

    async def attempt(self, question: Q) -> A:
        """Return the answer, or the failure as an answer. Only errors raised on purpose pass: they end the run."""
        try:
            return await self.answer(question)
        except (ImarenaError, NotNow):
            raise
        except Exception as error:  # noqa: BLE001  # a failure becomes a record, where its traceback still is
            return self.failed(question, error)

    async def outcome(self, question: Q) -> tuple[A | None, ImarenaError | None]:
        """Same as `attempt`, but return errors as values: exceptions that pass through libraries change their types.

        Workers outside the asking process call it, always in the same event loop.
        """
        try:
            if self.opening is not None and not self._open:
                self._open.append(await _opened(self.opening))
            return await self.attempt(question), None
        except ImarenaError as error:
            return None, error


async def _opened(
    opening: Callable[[], AbstractAsyncContextManager[object]],
) -> AbstractAsyncContextManager[object]:
    """Enter the context. A failure ends the run: the next question would fail in the same way."""
    try:
        context = opening()
        await context.__aenter__()
    except ImarenaError:
        raise
    except Exception as error:
        raise UserError(
            f"A worker could not load its model: {type(error).__name__}: {first_line(error)}.",
            hint="Is there enough memory for a model per worker? --concurrency N sets the number of workers.",
        ) from error
    return context


class Executor(Protocol[Q_contra, A_co]):
    """Answers questions. Each comes with its slot number; a slot has one question at a time."""

    async def __call__(self, slot: int, question: Q_contra, /) -> A_co: ...


class Worker(Protocol[Q_contra, A_co]):
    """One worker outside this process. Raises `WorkerDied` if it ended; `stop` ends it, at once if requested."""

    async def ask(self, question: Q_contra, /) -> A_co: ...

    def stop(self, *, at_once: bool) -> None: ...
