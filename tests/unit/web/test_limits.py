"""Buckets for visitors: a steady rate, and no more of them than fit."""

import pytest

from imarena.web import limits
from imarena.web.limits import Buckets, Rate

SLOW = Rate(per_s=0.001, burst=2)


def test_a_bucket_is_empty_after_its_burst() -> None:
    buckets = Buckets()
    assert [buckets.wait_s("a", SLOW) for _ in range(2)] == [0.0, 0.0]
    assert buckets.wait_s("a", SLOW) == pytest.approx(1000, rel=0.01)
    assert buckets.wait_s("b", SLOW) == 0.0


def test_the_bucket_not_used_for_longest_is_forgotten(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "_MOST_KEYS", 2)
    buckets = Buckets()
    for key in ("a", "a", "b", "b", "a", "c"):  # "a" was refused, and with that used after "b"
        buckets.wait_s(key, SLOW)
    assert buckets.wait_s("a", SLOW) > 0
    assert buckets.wait_s("b", SLOW) == 0.0
