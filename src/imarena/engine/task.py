"""One question and its answer, wherever it is answered: here, in another process, on another machine."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Generic, Protocol, TypeVar

from imarena.core import VERSION, ImarenaError

Q = TypeVar("Q")
A = TypeVar("A")
Q_contra = TypeVar("Q_contra", contravariant=True)
A_co = TypeVar("A_co", covariant=True)


class WorkerDied(Exception):
    """The worker that had the question ended before it answered. That is a fact about the question, not the end."""


@dataclass(frozen=True)
class WorkerTask(Generic[Q, A]):
    """What workers do. It goes to each of them once, so what it holds (a judge, its cache) lasts as long as they do."""

    answer: Callable[[Q], Awaitable[A]]
    failed: Callable[[Q, Exception], A]
    """Turns an unexpected failure into an answer with a status."""
    version: str = VERSION
    """Of the software that asks: another one might give other answers."""

    async def attempt(self, question: Q) -> A:
        """The answer, or the failure as one. Only what was raised on purpose is raised again: it ends the run."""
        try:
            return await self.answer(question)
        except ImarenaError:
            raise
        except Exception as error:  # noqa: BLE001  # a failure becomes a record, where its traceback still is
            return self.failed(question, error)

    async def outcome(self, question: Q) -> tuple[A | None, ImarenaError | None]:
        """The same, with what is raised as a value: exceptions that pass through libraries change their types."""
        try:
            return await self.attempt(question), None
        except ImarenaError as error:
            return None, error


class Executor(Protocol[Q_contra, A_co]):
    """Answers questions. Each comes with the number of its slot: questions of one slot follow one another."""

    async def __call__(self, slot: int, question: Q_contra, /) -> A_co: ...


class Lane(Protocol[Q_contra, A_co]):
    """One worker outside this process. Raises `WorkerDied` where it ended; `stop` ends it, at once where told so."""

    async def ask(self, question: Q_contra, /) -> A_co: ...

    def stop(self, *, at_once: bool) -> None: ...
