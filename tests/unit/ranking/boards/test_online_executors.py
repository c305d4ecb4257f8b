"""The rounds of online Elo give the same ratings wherever they are played, and however they are divided."""

from typing import Any

import numpy as np
import pytest

from imarena.core import ExecutorKind, UserError
from imarena.engine import map_on_executor
from imarena.ranking import Battles, CodedColumn, Options, rank_battles
from imarena.ranking.boards import online
from imarena.ranking.options import EloOptions
from tests.unit.ranking.simulated import battles

N = 2_000


def _battles() -> Battles:
    item = CodedColumn((np.arange(N) % 90).astype(np.int32), tuple(f"item-{k}" for k in range(90)))
    return battles(np.linspace(1, -1, 5), N, seed=3, ties=0.1, item=item, judged=np.arange(N) % 2 == 0)


@pytest.mark.parametrize("cluster", ["item", "battle"])
@pytest.mark.parametrize(
    "options",
    [Options(method="elo"), Options(method="elo", elo=EloOptions(order="shuffled")), Options(method="active-elo")],
)
def test_threads_give_what_one_after_the_other_gives(
    monkeypatch: pytest.MonkeyPatch, options: Options, cluster: str
) -> None:
    here = _board(options, cluster, "auto")
    monkeypatch.setattr(online, "BATCH_BATTLES", 7 * N)  # 60 rounds: nine parts, the last one smaller
    assert _board(options, cluster, "auto") == here
    assert _board(options, cluster, "threads") == here
    monkeypatch.setattr(online, "MANY_BATTLES", 0)
    assert _board(options, cluster, "auto") == here


@pytest.mark.slow
def test_processes_give_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    here = _board(Options(method="elo"), "item", "auto")
    monkeypatch.setattr(online, "BATCH_BATTLES", 20 * N)
    assert _board(Options(method="elo"), "item", "processes") == here


def _board(options: Options, cluster: str, executor: ExecutorKind) -> object:
    asked = Options(method=options.method, elo=options.elo, rounds=60, cluster=cluster, executor=executor)
    board = rank_battles(_battles(), asked)
    assert all(standing.low is not None for standing in board.models)
    return board.model_dump(exclude={"created_at", "ranking_id"})


def test_a_function_that_fails_in_a_worker_ends_the_run() -> None:
    assert map_on_executor("threads", abs, [-1, 2, -3], 3) == [1, 2, 3]
    assert map_on_executor("processes", abs, iter([-1, 2, -3]), 3) == [1, 2, 3]
    words: list[Any] = [-1, "two"]
    with pytest.raises(UserError, match="A worker failed: TypeError: bad operand"):
        map_on_executor("processes", abs, words, 2)
