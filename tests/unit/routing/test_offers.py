"""Who gets what next, decided on plain values."""

from dataclasses import replace
from datetime import UTC, datetime

import pytest

from imarena.core.records import Assignment
from imarena.routing.campaign_plan import CampaignPlan, KnownTask
from imarena.routing.offers import (
    RaterFact,
    RaterFacts,
    RaterStanding,
    TasksGiven,
    due_purposes,
    expected_repeats,
    fixed_chance,
    known_assignments,
    may_prefetch,
    quota_start,
    rater_standing,
    repeat_gap,
    repeat_of,
    standing_after_answer,
    standing_of_lead,
    tasks_to_come,
)

KNOWN = tuple(KnownTask(item_id=f"item_{n}", left_id="a", right_id="b", preference="left") for n in range(4))
FACTS = RaterFacts(is_open=True, invited=True)
OPEN = RaterStanding("open", 0, 200, 200)


def stage(plan: CampaignPlan, facts: RaterFacts) -> str:
    found = rater_standing(plan, facts)
    return found.stage if isinstance(found, RaterStanding) else f"needs {found.value}"


@pytest.mark.parametrize(
    ("plan", "facts", "expected"),
    [
        ({}, {"invited": False, "is_open": False}, "not_invited"),
        ({"paused": True}, {"is_open": False}, "closed"),
        ({"paused": True}, {"active": False}, "on_hold"),
        ({"consent": "yes?"}, {"active": False}, "paused"),
        ({"consent": "yes?"}, {}, "consent"),
        ({"consent": "yes?", "consent_since": "2026-02"}, {"consented_at": "2026-01"}, "consent"),
        ({"consent": "yes?", "consent_since": "2026-02"}, {"consented_at": "2026-03"}, "open"),
        ({"weekly_quota": 3}, {"recent": 2}, "open"),
        ({"weekly_quota": 3}, {"recent": 3}, "quota"),
    ],
)
def test_the_first_reason_that_keeps_a_rater_from_work_is_their_stage(
    plan: dict[str, object], facts: dict[str, object], expected: str
) -> None:
    assert stage(CampaignPlan.model_validate({"name": "c", **plan}), replace(FACTS, **facts)) == expected  # type: ignore[arg-type]


def test_facts_are_asked_for_only_where_the_stage_depends_on_them() -> None:
    plan = CampaignPlan(name="c", practice=KNOWN[:2], qualification=KNOWN[2:], pass_share=0.5)
    assert stage(plan, FACTS) == "needs practice_skipped"
    assert stage(plan, replace(FACTS, counts={RaterFact.PRACTICE_SKIPPED: 1})) == "practice"
    assert stage(plan, replace(FACTS, counts={RaterFact.PRACTICE_SKIPPED: 2})) == "needs qualification_skipped"
    practised = replace(FACTS, practice_done=2)
    assert stage(plan, practised) == "needs qualification_skipped", "nothing to know about skipped practice"
    assert stage(plan, replace(practised, counts={RaterFact.QUALIFICATION_SKIPPED: 1})) == "qualification"
    examined = replace(practised, qualification_done=2)
    assert stage(plan, examined) == "needs qualification_right"
    assert stage(plan, replace(examined, counts={RaterFact.QUALIFICATION_RIGHT: 0})) == "not_qualified"
    assert stage(plan, replace(examined, counts={RaterFact.QUALIFICATION_RIGHT: 1})) == "open"


def test_a_skipped_test_task_counts_as_not_right() -> None:
    plan = CampaignPlan(name="c", qualification=KNOWN[:2], pass_share=1.0)
    counts = {RaterFact.QUALIFICATION_SKIPPED: 1, RaterFact.QUALIFICATION_RIGHT: 1}
    assert stage(plan, replace(FACTS, qualification_done=1, counts=counts)) == "not_qualified"


def test_the_quota_is_of_seven_days() -> None:
    assert quota_start(datetime(2026, 3, 8, tzinfo=UTC)) == datetime(2026, 3, 1, tzinfo=UTC)


def test_leads_need_no_invitation_but_agree_like_all() -> None:
    uninvited = replace(OPEN, stage="not_invited")
    assert standing_of_lead(CampaignPlan(name="c"), uninvited).stage == "open"
    assert standing_of_lead(CampaignPlan(name="c", consent="yes?"), uninvited).stage == "consent"
    closed = replace(OPEN, stage="closed")
    assert standing_of_lead(CampaignPlan(name="c"), closed) == closed


def test_nothing_is_kept_ready_past_the_quota() -> None:
    assert may_prefetch(replace(OPEN, quota_left=2))
    assert not may_prefetch(replace(OPEN, quota_left=1))
    assert may_prefetch(replace(OPEN, stage="practice", quota_left=0)), "practice is no real work"
    assert not may_prefetch(replace(OPEN, stage="quota"))
    assert standing_after_answer(replace(OPEN, done=4, quota_left=1)) == replace(OPEN, done=5, quota_left=0)


def test_gold_comes_before_a_repeat_and_asking_again_gives_the_same() -> None:
    plan = CampaignPlan(name="c", gold=KNOWN, gold_rate=0.3, repeat_rate=0.3)
    dues = [due_purposes(plan, "campaign", "rater", replace(OPEN, done=done)) for done in range(2000)]
    assert dues == [due_purposes(plan, "campaign", "rater", replace(OPEN, done=done)) for done in range(2000)]
    assert set(dues) == {(), ("gold",), ("repeat",), ("gold", "repeat")}
    assert sum("gold" in due for due in dues) / 2000 == pytest.approx(0.3, abs=0.04)
    assert sum("repeat" in due for due in dues) / 2000 == pytest.approx(0.3, abs=0.04)
    without = plan.model_copy(update={"gold": (), "repeat_rate": 0.0})
    assert not any(due_purposes(without, "campaign", "rater", replace(OPEN, done=done)) for done in range(2000))
    practising = replace(OPEN, stage="practice")
    assert due_purposes(plan, "campaign", "rater", practising) == ("practice",)


def test_known_tasks_are_made_for_one_rater_and_carry_their_answer() -> None:
    plan = CampaignPlan(name="c", gold=KNOWN[:1], practice=KNOWN[1:])
    (gold,) = known_assignments(plan, "campaign", "gold", "rater")
    assert (gold.rater_id, gold.purpose, gold.item_id) == ("rater", "gold", "item_0")
    assert gold.params["expected"] == KNOWN[0].expected()
    practice = list(known_assignments(plan, "campaign", "practice", "rater"))
    assert [one.item_id for one in practice] == ["item_1", "item_2", "item_3"]


def test_a_repeat_names_its_first_and_turns_half_of_the_pairs() -> None:
    firsts = [
        Assignment(campaign_id="c", item_id=f"i{n}", left_id="a", right_id="b", unit=f"u{n}", slot=2)
        for n in range(400)
    ]
    repeats = [repeat_of(first, "rater") for first in firsts]
    assert all(again.params["repeats"] == first.assignment_id for again, first in zip(repeats, firsts, strict=True))
    assert {(again.purpose, again.rater_id, again.slot) for again in repeats} == {("repeat", "rater", 0)}
    turned = sum((again.left_id, again.right_id) == ("b", "a") for again in repeats)
    assert 150 < turned < 250
    single = repeat_of(Assignment(campaign_id="c", item_id="i", left_id="a", unit="u0"), "rater")
    assert (single.left_id, single.right_id) == ("a", None)
    assert [repeat_gap(held) for held in (0, 1, 9)] == [5, 4, 0]


def test_the_forecast_counts_gold_and_repeats_at_the_moments_at_which_they_come() -> None:
    plan = CampaignPlan(name="c", gold=KNOWN, gold_rate=0.5, repeat_rate=0.25)
    free, done, count, gold, votes, repeats = 12, 3, 0, 0, 3, 0
    while True:  # the same walk, by what would be given out
        due = due_purposes(plan, "c", "r", replace(OPEN, done=done + count))
        if "gold" in due and gold < len(KNOWN):
            gold += 1
        elif "repeat" in due and votes - 5 > repeats:
            repeats += 1
        elif free:
            free, votes = free - 1, votes + 1
        else:
            break
        count += 1
    assert gold + repeats > 0
    given = TasksGiven(votes=3)
    assert tasks_to_come(plan, "c", "r", 3, given, 12, most=1000) == count
    assert tasks_to_come(plan, "c", "r", 3, given, 12, most=7) == 8, "one more than the most: there are more"
    assert tasks_to_come(CampaignPlan(name="c"), "c", "r", 0, TasksGiven(), 9, most=1000) == 9


@pytest.mark.parametrize("rate", [0.1, 0.3])
@pytest.mark.parametrize("gold", [(), KNOWN])
def test_the_forecast_of_repeats_is_the_mean_of_what_raters_get(rate: float, gold: tuple[KnownTask, ...]) -> None:
    plan = CampaignPlan(name="c", repeat_rate=rate, gold=gold, gold_rate=0.5)
    units, raters = 30, 400
    # 30 tasks leave no gold over: it comes at every second chance
    tasks = [tasks_to_come(plan, "c", f"r{n}", 0, TasksGiven(), units, most=1000) for n in range(raters)]
    assert expected_repeats(plan, units) == pytest.approx(sum(tasks) / raters - units - len(gold), rel=0.06)
    assert expected_repeats(plan, 5) == 0, "a repeat lies at least five answers back"
    assert expected_repeats(CampaignPlan(name="c"), units) == 0


def test_chances_are_even() -> None:
    drawn = [fixed_chance("c", "r", done, "gold") for done in range(2000)]
    assert all(0 <= one < 1 for one in drawn)
    assert sum(drawn) / 2000 == pytest.approx(0.5, abs=0.03)
