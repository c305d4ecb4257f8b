"""The time that a run is said to take: rate limits, tries and waiting count; a model that runs here answers in turn."""

import pytest

from imarena.clients import Endpoint
from imarena.core.records import Usage
from imarena.judges import JUDGES
from imarena.workflows.estimating import Estimate, Size, estimate_sizes
from imarena.workflows.wiring import Door, Wired

SIZE = Size(100, 100, 1)


def estimated(past: list[Usage], n: int = 80, *, local: bool = False, kind: str = "cv-judge", rpm: int = 0) -> Estimate:
    endpoint = Endpoint(
        base_url=["http://localhost:1/v1", "http://localhost:2/v1"],
        model="some-vlm",
        max_concurrency=4,
        requests_per_minute=rpm or None,
    )
    door = Door(endpoint, None, {"local_model": "folder"} if local else None)
    wired = Wired(JUDGES.get(kind)({"model": "some-vlm"}, door), kind, "pointwise", door=door)
    return estimate_sizes(wired, [SIZE] * n, [(None, usage) for usage in past], 0, concurrency=wired.concurrency)


def test_the_rate_limit_of_all_routes_is_the_least_time() -> None:
    assert estimated([]).seconds == pytest.approx(80)  # 8 s assumed, 8 at a time
    found = estimated([], rpm=10)
    assert found.seconds == pytest.approx(78 * 60 / 20)  # the first request on each route need not wait
    assert "at most 20 requests a minute" in found.basis


def test_tries_and_waiting_count_by_their_mean() -> None:
    quick, slow = Usage(latency_s=1.0, elapsed_s=1.0), Usage(latency_s=1.0, elapsed_s=21.0)
    assert estimated([quick] * 9 + [slow]).seconds == pytest.approx(3.0 * 80 / 8)
    assert estimated([Usage(latency_s=1.0)] * 3).seconds == pytest.approx(80 / 8)  # stored before it was measured


def test_a_model_that_runs_here_costs_nothing_and_answers_in_turn() -> None:
    waited = [Usage(latency_s=2.0, elapsed_s=30.0)]
    found = estimated(waited, 10, local=True, kind="viescore")
    assert found.seconds == pytest.approx(2.0 * 10 * 2)
    assert found.cost_usd == 0.0
    assert not found.spends
    assert "1 at a time" in found.basis
