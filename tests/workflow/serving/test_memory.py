"""Memory of what pages are made from: four times the battles need no more of it."""

import tracemalloc
from types import SimpleNamespace
from typing import Any, cast

import numpy as np
import pytest

from imarena.storage import JudgeVariant
from imarena.tables import large_columns
from imarena.workflows.boards import matrix_of
from imarena.workflows.serving import explorer, judge_behaviour
from imarena.workflows.serving.battle_index import BattleIds, read_battle_index
from imarena.workflows.serving.leaderboards import BattleFilters
from imarena.workflows.views import (
    LEFT,
    LEFT_FIRST,
    OK,
    Entries,
    JudgmentColumns,
    Names,
    View,
    VoteColumns,
    constant_column,
    constant_variant,
    judge_battles,
)

OUTPUTS, EDITORS = 1_000, 20
FORM = JudgeVariant("oak", "overall", True, False, "1", "p", "1", "1", "{}", "single", True)
DAY_US = 86_400_000_000


def _entries() -> Entries:
    codes = np.arange(OUTPUTS, dtype=np.int32)
    return Entries(
        item_id=("item_0",),
        labels={},
        seq=np.arange(1, OUTPUTS + 1),
        output_id=np.array([f"output_{n * 7919 % OUTPUTS:04d}" for n in range(OUTPUTS)], "S64"),
        item=np.zeros(OUTPUTS, np.int32),
        editor=Names(codes % EDITORS, tuple(f"editor-{n:02d}" for n in range(EDITORS))),
        turn=np.zeros(OUTPUTS, np.int32),
        mode=np.zeros(OUTPUTS, np.int8),
        sample=codes // EDITORS,
        status=np.full(OUTPUTS, OK, np.int8),
        pictured=np.ones(OUTPUTS, bool),
    )


def _judgments(n: int) -> JudgmentColumns:
    rng = np.random.default_rng(1)
    first, second = np.triu_indices(OUTPUTS, 1)
    pairs = rng.choice(first.size, n, replace=False)
    return JudgmentColumns(
        variants=(FORM,),
        variant=constant_variant(n),
        seq=np.arange(1, n + 1),
        left=first[pairs].astype(np.int32),
        right=second[pairs].astype(np.int32),
        order=np.full(n, LEFT_FIRST, np.int8),
        repeat=np.zeros(n, np.int32),
        status=np.full(n, OK, np.int8),
        preference=rng.integers(LEFT, LEFT + 3, n).astype(np.int8),
        score=constant_column(np.float64(np.nan), n),
        created_us=np.arange(n) * (100 * DAY_US // max(n, 1)),
    )


def _view(n: int) -> View:
    """A view of n judgments on pairs of one item, and of no votes, without a workspace."""
    judgments = _judgments(n)
    nobody, nothing, none = Names(np.zeros(0, np.int32), ()), np.zeros(0, np.int32), np.zeros(0, np.int64)
    votes = VoteColumns(
        seq=none, rater=nobody, left=nothing, right=nothing, preference=nothing.astype(np.int8), dimension=nobody,
        purpose=nobody, campaign=nobody, probability=np.zeros(0), created_us=none, reason=nothing.astype(np.int8),
    )  # fmt: skip
    variants = SimpleNamespace(counting=lambda **_: [FORM], judges=["oak"])
    marks = SimpleNamespace(judgments=n)
    view: Any = SimpleNamespace(
        entries=_entries(), votes=votes, variants=variants, asking=frozenset(), marks=marks, recent=0,
        judgments=lambda wanted: judgments if wanted else _judgments(0),
    )  # fmt: skip
    return cast(View, view)


def _peak(n: int) -> int:
    """Bytes that lists, boards and the page of judges need beside the judgments themselves."""
    view, ids = _view(n), BattleIds()
    tracemalloc.start()
    index = read_battle_index(view)
    ids.read(view, index)
    snapshot: Any = SimpleNamespace(view=view, updated=lambda *_: index)
    made = judge_behaviour._decided_pairs(view, view.judgments([FORM]), swapping=False)
    battles = judge_battles(view, [FORM])
    matrix = matrix_of(view.entries, battles)
    for filters in (
        BattleFilters(since="1970-01-20"),
        BattleFilters(dimension="overall"),
        BattleFilters(source="judge"),
    ):
        listed = explorer._pairs(snapshot, filters, ("editor-03",))
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert len(index) == ids.known[0].size == made.key.size == len(battles) == n
    assert sum(cell.wins + cell.losses + cell.ties for cell in matrix) == n
    assert len(listed) == np.count_nonzero((index.left % EDITORS == 3) | (index.right % EDITORS == 3))
    return peak


def test_pages_of_four_times_the_battles_need_no_more_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(large_columns, "LEAST_BYTES", 1 << 16)
    monkeypatch.setattr(large_columns, "ROWS_AT_ONCE", 1 << 13)
    _peak(1_000)  # what is imported on the way is not counted
    few, many = (_peak(n) for n in (100_000, 400_000))
    assert many < 1.2 * few
