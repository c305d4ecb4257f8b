"""What a campaign asks about, and how many people each unit is given to; right answers from votes and tables."""

import pytest

from imarena.routing.campaign_plan import CampaignPlan, KnownTask
from imarena.routing.forms import forms
from imarena.routing.known_answers import KnownAnswer, agreed_answer, table_answer, table_use, with_sides_by_chance
from imarena.routing.units import (
    CandidateItem,
    CandidateOutput,
    Unit,
    another_assignment,
    choose_campaign_items,
    choose_units,
    slot_changes,
    unit_assignments,
)

ITEMS = [CandidateItem(f"i{n}", "d" if n < 8 else "e", "add" if n % 2 else "remove", None) for n in range(10)]


def output(item: str, editor: str, image: str = "", turn: int = 0) -> CandidateOutput:
    return CandidateOutput(f"{item}-{editor}-{turn}", item, turn, "turns", editor, image or f"{item}{editor}{turn}")


def test_items_are_filtered_and_sampled_by_stratum() -> None:
    assert set(choose_campaign_items(CampaignPlan(name="c", datasets=("e",)), ITEMS)) == {"i8", "i9"}
    plan = CampaignPlan(name="c", per_stratum=2, seed=3)
    chosen = choose_campaign_items(plan, ITEMS)
    assert sum(int(one[1:]) % 2 for one in chosen) == 2
    assert len(chosen) == 4
    assert chosen == choose_campaign_items(plan, reversed(ITEMS)), "the order of the store does not matter"


def test_pairs_are_of_one_question_and_never_of_one_file() -> None:
    outputs = [output("i0", "a"), output("i0", "b"), output("i0", "c", "i0a0"), output("i0", "a", turn=1)]
    outputs += [output("i9", "a"), output("i9", "b")]
    units = choose_units(CampaignPlan(name="c"), ["i0"], outputs)
    assert {(unit.left_id, unit.right_id) for unit in units} == {("i0-a-0", "i0-b-0"), ("i0-b-0", "i0-c-0")}
    known = KnownTask(item_id="i0", left_id="i0-b-0", right_id="i0-a-0", preference="left")
    (left,) = choose_units(CampaignPlan(name="c", gold=(known,)), ["i0"], outputs)
    assert left.left_id == "i0-b-0", "what has a known answer is not asked as real work"
    rated = choose_units(CampaignPlan(name="c", kind="rating", editors=("a",)), ["i0"], outputs)
    assert {unit.left_id for unit in rated} == {"i0-a-0", "i0-a-1"}
    assert choose_units(CampaignPlan(name="c", kind="check"), ["i0"], ()) == [Unit("i0", 0, None, None)]


def test_each_unit_is_given_to_as_many_raters_as_are_wanted_with_sides_by_chance() -> None:
    units = [Unit("i0", 0, f"a{n}", f"b{n}") for n in range(100)]
    plan = CampaignPlan(name="c", raters_per_unit=2)
    made = list(unit_assignments(plan, "campaign", units))
    assert [position for _, position in made] == list(range(200))
    assert 60 < sum((one.left_id or "").startswith("b") for one, _ in made) < 140
    first = made[0][0]
    third = another_assignment(first, 2, plan.seed)
    assert (third.unit, third.slot) == (first.unit, 2)
    assert {third.left_id, third.right_id} == {first.left_id, first.right_id}


def test_slots_are_withdrawn_revived_and_made() -> None:
    tasks = {"free": ["f1", "f2"], "done": ["d"], "withdrawn": ["w"]}
    assert slot_changes(tasks, 2).withdraw == ("f2",)
    assert slot_changes(tasks, 0).withdraw == ("f1", "f2"), "what was answered stays"
    more = slot_changes(tasks, 6)
    assert (more.withdraw, more.revive, list(more.new_slots)) == ((), ("w",), [4, 5])
    assert slot_changes(tasks, 3) == slot_changes({"done": ["d"] * 3}, 3)


def test_votes_agree_or_there_is_no_answer() -> None:
    assert agreed_answer("preference", ["left", "left", "tie"], 2, 0.6) == KnownAnswer(preference="left")
    assert agreed_answer("preference", ["left", "left", "tie"], 2, 1.0) is None
    assert agreed_answer("preference", ["left", "tie"], 2, 0.5) is None, "half is no majority"
    assert agreed_answer("yes_no", [1.0], 2, 1.0) is None
    assert agreed_answer("yes_no", [1.0, 1.0], 2, 1.0) == KnownAnswer(answer=True)
    names = [question.name for question in forms().criteria]
    near = agreed_answer("rating", [(3,) * len(names), (4,) * len(names), (4,) * len(names)], 2, 1.0)
    assert near == KnownAnswer(ratings=dict.fromkeys(names, 4))


def test_a_known_answer_follows_its_side() -> None:
    tasks = [KnownTask(item_id=f"i{n}", left_id="a", right_id="b", preference="left") for n in range(100)]
    mixed = [with_sides_by_chance(task) for task in tasks]
    assert 30 < sum(task.left_id == "b" for task in mixed) < 70
    assert all(task.preference == ("left" if task.left_id == "a" else "right") for task in mixed)


def test_rows_of_a_table_say_what_is_wrong_with_them() -> None:
    assert table_use({"use": "test"}) == "qualification"
    assert table_answer("yes_no", {"answer": "Yes"}) == KnownAnswer(answer=True)
    with pytest.raises(ValueError, match="use is none of"):
        table_use({"use": "silver"})
    with pytest.raises(ValueError, match="winner is none of"):
        table_answer("preference", {"winner": "both"})
    with pytest.raises(ValueError, match="from 1 to 5"):
        table_answer("rating", {forms().criteria[0].name: "6"})
