"""Masks over all battles give what looking at each battle gives."""

from itertools import pairwise
from typing import Any, cast

import numpy as np
import pytest

from imarena.tables import KeptRows, large_columns
from imarena.workflows.serving.battle_index import BattleIndex
from imarena.workflows.serving.judge_monitor import _met
from imarena.workflows.views import Names, ReadPosition

NOTHING = np.zeros(0, np.int64)


def index(start: Any) -> BattleIndex:
    """Pairs with these verdicts; nothing else of them matters here."""
    names = Names(NOTHING.astype(np.int32), ())
    return BattleIndex(
        left=np.zeros(len(start) - 1, np.int32), right=np.zeros(len(start) - 1, np.int32), named=NOTHING, start=start,
        outcome=NOTHING.astype(np.int8), judge=names, dimension=names, created_us=NOTHING, asking=NOTHING.astype(bool),
        variants=(), outputs=NOTHING, voted="", seen=cast(ReadPosition, None),
    )  # fmt: skip


@pytest.mark.parametrize("repeated", [0.0, 0.1, 0.9])
def test_a_pair_is_kept_with_any_of_its_verdicts(monkeypatch: pytest.MonkeyPatch, repeated: float) -> None:
    monkeypatch.setattr(large_columns, "ROWS_AT_ONCE", 64)
    random = np.random.default_rng(3)
    sizes = 1 + (random.random(500) < repeated) * random.integers(1, 4, 500)
    start = np.append(0, np.cumsum(sizes)).astype(np.int64)
    pairs = index(start)
    for share in (0.0, 0.3, 1.0):
        verdicts = random.random(int(start[-1])) < share
        expected = [number for number, (begin, end) in enumerate(pairwise(start)) if verdicts[begin:end].any()]
        kept = KeptRows(len(pairs), lambda some, said=verdicts: pairs.has_any(some, lambda rows: said[rows]))  # type: ignore[misc]
        assert kept[:].tolist() == expected
        assert kept[5:90].tolist() == expected[5:90]
        assert kept[-70:].tolist() == expected[-70:]
        even = kept.filter(lambda numbers: numbers % 2 == 0)
        assert even[:].tolist() == [number for number in expected if number % 2 == 0]


def test_pairs_that_people_voted_on_are_found() -> None:
    random = np.random.default_rng(5)
    keys = random.integers(0, 30, 400) << 32 | random.integers(0, 30, 400)
    for pairs in (np.unique(random.choice(keys, 40)), NOTHING, np.array([(29 << 32) + 99])):
        rows, at = _met(pairs, keys, 30)
        known = pairs.tolist()
        assert rows.tolist() == [row for row, key in enumerate(keys.tolist()) if key in known]
        assert pairs[at].tolist() == keys[rows].tolist()
