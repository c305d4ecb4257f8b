"""The time that a run is said to take: rate limits, tries and waiting count; a model that runs here answers in turn."""

import os
from itertools import combinations
from pathlib import Path

import pytest

from imarena.clients import Endpoint
from imarena.core.records import Item, Judgment, Order, Outcome, Turn, Usage
from imarena.judges import JUDGES
from imarena.judges.estimates import COMPUTED_S, Estimate, Size, estimate_sizes
from imarena.storage import init_workspace
from imarena.workflows.questions.cases import Case, load_outputs
from imarena.workflows.questions.estimates import estimate
from imarena.workflows.questions.judging_plan import CaseWork, PlannedWork
from imarena.workflows.wiring.judges import JudgeChat, WiredJudge
from tests import samples

SIZE = Size(100, 100, 1)


def estimated(past: list[Usage], n: int = 80, *, local: bool = False, kind: str = "cv-judge", rpm: int = 0) -> Estimate:
    endpoint = Endpoint(
        base_url=["http://localhost:1/v1", "http://localhost:2/v1"],
        model="some-vlm",
        max_concurrency=4,
        requests_per_minute=rpm or None,
    )
    client = JudgeChat(endpoint, None, {"local_model": "folder"} if local else None)
    wired = WiredJudge(JUDGES.get(kind)({"model": "some-vlm"}, client), kind, "pointwise", client=client)
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


def test_a_judge_that_computes_is_estimated_by_the_pictures_it_has_to_look_at(tmp_path: Path) -> None:
    """An earlier run: 3 outputs, all pairs in both orders; 2 s per new image, then 0.01 s per question."""
    items = [Item(dataset="d", key=f"k{n}", turns=(Turn(instruction="x"),)) for n in range(3)]
    outputs = {item.key: [samples.output(item, name) for name in "abc"] for item in items}
    pairs = {key: list(combinations(three, 2)) for key, three in outputs.items()}
    orders = (Order.LEFT_FIRST, Order.RIGHT_FIRST)
    wired = WiredJudge(JUDGES.get("builtin")({}, None), "builtin", "pairwise")
    with init_workspace(tmp_path / "a") as workspace:
        workspace.store.add([*items, *(output for three in outputs.values() for output in three)])
        work = [
            CaseWork(Case(item, left, right, order), f"{item.key}{n}{order}", 0)
            for item in items[1:]
            for n, (left, right) in enumerate(pairs[item.key])
            for order in orders
        ]
        planned = PlannedWork(work, done_before=6)
        board = load_outputs(workspace)
        new = estimate(workspace, wired, planned, board, concurrency=8)
        lanes = os.cpu_count() or 1
        assert new.seconds == pytest.approx(6 * COMPUTED_S / lanes), "6 pictures, in 12 questions"
        took = iter([2.01, 2.01, 0.01, 2.01, 0.01, 0.01])  # two orders at once: either waits for the look
        workspace.store.add(
            [
                Judgment(
                    work_id=f"{n}{order}", judge="builtin", run_id="run_1", item_id=left.item_id, order=order,
                    left_id=left.output_id, right_id=right.output_id, preference=Outcome.LEFT,
                    usage=Usage(latency_s=next(took)),
                )
                for n, (left, right) in enumerate(pairs["k0"])
                for order in orders
            ]
        )  # fmt: skip
        found = estimate(workspace, wired, planned, board, concurrency=8)
    assert found.seconds == pytest.approx((6 * 6.02 / 3 + 8 * 0.01) / lanes)
    assert found.basis[0].startswith("2 s per new image (mean of 3 earlier images), 0.01 s per question")
    assert (found.new, found.done_before) == (12, 6)
