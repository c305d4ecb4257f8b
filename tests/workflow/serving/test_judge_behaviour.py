"""The page of judges counts from columns what counting one record at a time gives."""

from itertools import product

import pytest

from imarena.core.records import Item, Judgment, Order, Outcome, Rater, Status, Turn, Usage, Vote
from imarena.storage import Workspace
from imarena.workflows.serving import run_monitor
from imarena.workflows.serving.judge_behaviour import JudgeBehaviour
from imarena.workflows.serving.judge_monitor import judge_health
from imarena.workflows.serving.leaderboards import Leaderboards
from tests import samples

ORDERS = (Order.LEFT_FIRST, Order.RIGHT_FIRST)
SAID = (
    (Outcome.LEFT, Outcome.LEFT), (Outcome.LEFT, Outcome.RIGHT), (Outcome.TIE, Outcome.TIE),
    (Outcome.RIGHT, Outcome.RIGHT), (Outcome.RIGHT, None), (Outcome.BOTH_BAD, Outcome.BOTH_BAD),
)  # fmt: skip
"""What the judge says of six items in both orders; None: it failed, twice."""
PEOPLE = (
    (Outcome.LEFT, Outcome.LEFT, Outcome.RIGHT), (Outcome.TIE,), (Outcome.LEFT, Outcome.RIGHT),
    (Outcome.LEFT,), (Outcome.RIGHT,), (Outcome.BOTH_BAD,),
)  # fmt: skip
"""What people say: they are split on the third."""


def _fill(workspace: Workspace) -> None:
    store = workspace.store
    store.add([Rater(rater_id=f"r{n}") for n in range(3)])
    for number, (said, voted) in enumerate(zip(SAID, PEOPLE, strict=True)):
        item = Item(dataset="d", key=f"k{number}", turns=(Turn(instruction="x"),))
        left, right = (samples.output(item, name) for name in ("a", "b"))
        store.add([item, left, right])
        shared = {"judge": "oak", "item_id": item.item_id, "left_id": left.output_id, "right_id": right.output_id}
        for (order, preference), attempt in product(zip(ORDERS, said, strict=True), (0, 1)):
            if preference is None or attempt == 0:
                ok = {"preference": preference} if preference else {"status": Status.REFUSED}
                store.add(
                    [
                        Judgment(
                            work_id=f"w{number}{order.value}", attempt=attempt, run_id="run_1", order=order,
                            usage=Usage(cost_usd=0.25), **shared, **ok,
                        )
                    ]
                )  # fmt: skip
        for n, preference in enumerate(voted):
            mirrored = n % 2  # sides that a campaign turned round
            sides = {"left_id": right.output_id, "right_id": left.output_id} if mirrored else {}
            vote = {**shared, **sides, "preference": preference.mirrored() if mirrored else preference}
            vote.pop("judge")
            store.add([Vote(rater_id=f"r{n}", idempotency_key=f"{number} {n}", **vote)])
    about = {key: value for key, value in vote.items() if key != "preference"}
    store.add([Vote(rater_id="r2", idempotency_key="b", dimension="beauty", preference=Outcome.LEFT, **about)])


def test_a_judge_is_counted_by_order_tie_and_agreement(any_workspace: Workspace) -> None:
    _fill(any_workspace)
    (found,) = judge_health(Leaderboards(any_workspace))
    assert found == JudgeBehaviour(
        judge="oak", dimension="overall", ok=11, failed=found.failed, both_orders=5, same=4, sided=7, first=4,
        ties=4, preferences=11, people_pairs=4, with_people=3, cost_usd=13 * 0.25,
    )  # fmt: skip
    assert dict(found.failed) == {"refused": 1}, "a question fails once, however often it was asked"


@pytest.mark.parametrize("at_once", [1, 5, 1000])
def test_costs_are_summed_in_parts(any_workspace: Workspace, monkeypatch: pytest.MonkeyPatch, at_once: int) -> None:
    _fill(any_workspace)
    monkeypatch.setattr(run_monitor, "_SUMMED_AT_ONCE", at_once)
    assert judge_health(Leaderboards(any_workspace))[0].cost_usd == pytest.approx(13 * 0.25)


def test_what_comes_later_is_added_to_the_cost(any_workspace: Workspace) -> None:
    _fill(any_workspace)
    leaderboards = Leaderboards(any_workspace)
    before = judge_health(leaderboards)[0].cost_usd
    old = next(iter(any_workspace.store.records(Judgment, judge="oak")))
    again = old.model_copy(update={"supersedes": old.judgment_id, "parser_version": "2"})
    more = old.model_copy(update={"work_id": "later", "usage": Usage(cost_usd=0.5)})
    any_workspace.store.add([again, more])
    assert judge_health(leaderboards)[0].cost_usd == pytest.approx(before + 0.5), (
        "a reply that is read again costs nothing"
    )
    assert judge_health(leaderboards, costs=False)[0].cost_usd == 0


def test_a_failed_question_counts_until_it_is_answered(any_workspace: Workspace) -> None:
    _fill(any_workspace)
    leaderboards = Leaderboards(any_workspace)
    assert judge_health(leaderboards)[0].failed == {"refused": 1}
    item = next(any_workspace.store.records(Item))
    left, right = (samples.output(item, name) for name in ("a", "b"))
    asked = {"judge": "oak", "item_id": item.item_id, "left_id": left.output_id, "right_id": right.output_id}

    def attempt(work_id: str, number: int, **ended: object) -> Judgment:
        return Judgment(
            work_id=work_id, attempt=number, run_id="run_1", order=Order.LEFT_FIRST, repeat=3, **asked, **ended
        )

    any_workspace.store.add([attempt("late", 0, status=Status.TIMEOUT), attempt("never", 0, status=Status.API_ERROR)])
    assert judge_health(leaderboards)[0].failed == {"refused": 1, "timeout": 1, "api_error": 1}
    any_workspace.store.add([attempt("late", 1, preference=Outcome.LEFT), attempt("never", 1, status=Status.REFUSED)])
    assert judge_health(leaderboards)[0].failed == {"refused": 2}
    assert judge_health(Leaderboards(any_workspace)) == judge_health(leaderboards)
