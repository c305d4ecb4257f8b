"""Tasks with known answers: from votes that agree, and from a table."""

from pathlib import Path
from typing import Any

import pytest

from imarena.core.notices import sentences
from imarena.core.records import Campaign, Item, Output, Rater, Vote
from imarena.routing.campaign_plan import CampaignPlan
from imarena.storage import Workspace, open_workspace
from imarena.workflows.rating import known_tasks
from imarena.workflows.rating.campaigns import create_campaign, plan_units
from imarena.workflows.rating.known_tasks import known_tasks_from_table, known_tasks_from_votes
from tests.command import Imarena
from tests.web.people import EDITORS, Person, administrator, campaign, fill, rater, served


def vote(workspace: Workspace, item: Item, left: str, right: str, told: list[str]) -> None:
    """Votes of several people, of which every second one sees the sides the other way round."""
    by_editor = {one.editor: one.output_id for one in workspace.store.records(Output, item_id=item.item_id)}
    swap = {"left": "right", "right": "left"}
    votes = []
    for number, answer in enumerate(told):
        workspace.store.add([Rater(rater_id=f"r{number}")])
        sides = (by_editor[left], by_editor[right])
        left_id, right_id = sides[::-1] if number % 2 else sides
        shown = {"item_id": item.item_id, "left_id": left_id, "right_id": right_id}
        seen = swap.get(answer, answer) if number % 2 else answer
        votes.append(Vote.model_validate({"rater_id": f"r{number}", "preference": seen, **shown}))
    assert not workspace.store.add(votes).conflicts


def test_votes_that_agree_are_known_whatever_side_was_shown(workspace: Workspace) -> None:
    items = fill(workspace, items=3)
    vote(workspace, items[0], EDITORS[0], EDITORS[1], ["left", "left", "left"])
    vote(workspace, items[1], EDITORS[0], EDITORS[1], ["left", "right"])
    vote(workspace, items[2], EDITORS[1], EDITORS[2], ["tie", "tie"])
    vote(workspace, items[0], EDITORS[1], EDITORS[2], ["left"])
    vote(workspace, items[1], EDITORS[1], EDITORS[2], ["right", "right", "right", "left"])
    strict = known_tasks_from_votes(workspace, "preference").tasks
    assert [(one.item, one.votes) for one in strict] == [("entry-0", 3), ("entry-2", 2)]
    first = strict[0]
    winner = first.left if first.known.preference == "left" else first.right
    assert (winner, first.known.preference in ("left", "right")) == (EDITORS[0], True)
    assert strict[1].known.preference == "tie"
    loose = known_tasks_from_votes(workspace, "preference", (), 4, 0.75).tasks
    assert [one.item for one in loose] == ["entry-1"]
    assert (loose[0].left if loose[0].known.preference == "left" else loose[0].right) == EDITORS[2]
    assert known_tasks_from_votes(workspace, "preference", ("other",)).tasks == ()
    assert known_tasks_from_votes(workspace, "yes_no").tasks == ()
    made = create_campaign(workspace, CampaignPlan(name="c", gold=tuple(one.known for one in strict), gold_rate=0.2))
    assert made.open


def test_a_list_that_is_cut_says_so(workspace: Workspace, monkeypatch: pytest.MonkeyPatch) -> None:
    fill(workspace, items=3)
    a, b, _ = EDITORS
    table = "item,left,right,winner\n" + "".join(f"entry-{n},{a},{b},left\n" for n in range(3))
    assert known_tasks_from_table(workspace, "preference", table).notices == ()
    monkeypatch.setattr(known_tasks, "MOST", 2)
    found = known_tasks_from_table(workspace, "preference", table)
    assert len(found.tasks) == 2
    assert sentences(found.notices) == ["Only the first 2 tasks are listed; 1 more were found."]


def test_a_table_is_read_line_by_line_and_says_what_it_cannot_use(workspace: Workspace) -> None:
    fill(workspace, items=2)
    a, b, c = EDITORS
    table = f"""item,left,right,winner,explanation,use
entry-0,{a},{b},left,"Because, it is red",practice
entry-0,{b},{a},right,,gold
entry-9,{a},{b},left,,
entry-1,{a},nobody,left,,
entry-1,{a},{c},maybe,,
entry-1,{a},{a},left,,
entry-1,{a},{c},both_bad,,test
"""
    found = known_tasks_from_table(workspace, "preference", table)
    assert [(one.item, one.use) for one in found.tasks] == [("entry-0", "practice"), ("entry-1", "qualification")]
    first = found.tasks[0]
    assert (first.left if first.known.preference == "left" else first.right) == a
    assert first.known.explanation == "Because, it is red"
    assert [notice.values["line"] for notice in found.notices] == [3, 4, 5, 6, 7]
    assert [notice.code for notice in known_tasks_from_table(workspace, "preference", "").notices] == [
        "known_tasks_empty"
    ]
    ratings = known_tasks_from_table(workspace, "rating", f"item,left,artifacts\nentry-0,{a},4\nentry-0,{b},9\n")
    assert [one.known.ratings for one in ratings.tasks] == [{"artifacts": 4}]
    yes = known_tasks_from_table(workspace, "yes_no", f"item,left,answer\nentry-0,{a},Yes\nentry-0,{b},perhaps\n")
    assert [one.known.answer for one in yes.tasks] == [True]
    assert [one.notices[0].code for one in (yes, ratings)] == ["known_task_unusable"] * 2


@pytest.mark.parametrize(
    ("kind", "columns", "ballot", "told"),
    [
        ("preference", "right,winner\nentry-0,{a},{b},tie", {"preference": "left"}, "Expected: a tie."),
        ("yes_no", "answer\nentry-0,{a},no", {"answer": True}, "Expected: no."),
        (
            "rating",
            "artifacts\nentry-0,{a},2",
            {"ratings": {"prompt_relevance": 5, "aesthetic_quality": 5, "content_coherence": 5, "artifacts": 5}},
            "Expected: Free of defects 2 (give or take 1).",
        ),
    ],
)
def test_practice_tells_the_expected_answer(
    tmp_path: Path, kind: str, columns: str, ballot: dict[str, Any], told: str
) -> None:
    app = served(tmp_path / "arena", items=2)
    admin = administrator(app)
    table = "item,left," + columns.format(a=EDITORS[0], b=EDITORS[1]) + "\n"
    found = admin.post("/api/lead/known-tasks", {"kind": kind, "table": table})
    assert found["problems"] == []
    task = {**found["tasks"][0]["task"], "explanation": "Look at the cup."}
    one = campaign(admin, kind=kind, practice=[task])
    person = rater(app, admin, one)
    given = person.next(one)["task"]
    assert given["purpose"] == "practice"
    none = {"no_object_issues": True, "no_segment_issues": True} if kind == "rating" else {}
    receipt = person.vote(given, **ballot, **none)
    assert receipt["feedback"].splitlines() == ["This is not the expected answer.", told, "Look at the cup."]
    assert person.next(one)["task"]["purpose"] == "vote"


def test_the_same_task_is_not_both_practice_and_gold(tmp_path: Path) -> None:
    app = served(tmp_path / "arena", items=1)
    admin = administrator(app)
    table = f"item,left,right,winner\nentry-0,{EDITORS[0]},{EDITORS[1]},tie\n"
    task = admin.post("/api/lead/known-tasks", {"table": table})["tasks"][0]["task"]
    both = {"name": "c", "practice": [task], "gold": [task], "gold_rate": 0.1}
    assert "twice" in admin.post("/api/lead/campaigns", both, code=400)["message"]


def test_the_command_line_changes_a_campaign_and_finds_known_tasks(tmp_path: Path, imarena: Imarena) -> None:
    served(tmp_path / "arena", items=2).state.arena.close()
    imarena("-w", "arena", "campaign", "create", "first")
    assert "There is a campaign 'first' already" in imarena("-w", "arena", "campaign", "create", "first", code=2).err
    (tmp_path / "consent.txt").write_text("May we?", encoding="utf-8")
    asked = ("--weekly-quota", 5, "--raters-per-unit", 2, "--consent", tmp_path / "consent.txt", "--pause")
    changed = imarena("-w", "arena", "--json", "campaign", "change", "first", *asked).json
    assert (changed["slots"], changed["paused"]) == (12, True)
    assert set(changed["changed"]) == {"weekly_quota", "raters_per_unit", "consent", "paused"}
    assert imarena("-w", "arena", "campaign", "change", "first", "--resume").out.strip() == "Changed: paused."
    assert imarena("-w", "arena", "campaign", "change", "first", "--resume").out.strip() == "Nothing changed."
    told = imarena("-w", "arena", "campaign", "history", "first").out
    assert "command line  weekly_quota: 200 -> 5" in told
    assert "lease_s" in imarena("-w", "arena", "campaign", "change", "first", "--lease-s", 1, code=2).err
    refused = imarena("-w", "arena", "campaign", "change", "first", "--completion-url", "http://x", code=2).err
    assert "completion_url" in refused
    (tmp_path / "gold.csv").write_text(f"item,left,right,winner\nentry-0,{EDITORS[0]},{EDITORS[1]},tie\n")
    known = imarena("-w", "arena", "--json", "campaign", "known", "--from", tmp_path / "gold.csv").json
    with open_workspace(tmp_path / "arena") as workspace:
        units = {unit.name for unit in plan_units(workspace, CampaignPlan(name="x"))}
    (task,) = known["tasks"]
    assert "|".join([task["item_id"], "0", *sorted((task["left_id"], task["right_id"]))]) in units
    assert "No task has a known answer" in imarena("-w", "arena", "campaign", "known").out


def test_known_tasks_of_another_data_set_are_hidden_before_they_are_dealt(tmp_path: Path) -> None:
    root = tmp_path / "arena"
    app = served(root, items=2, public=True)
    with open_workspace(root) as workspace:
        _, second = workspace.store.records(Item)
        other = second.model_copy(update={"dataset": "elsewhere"})
        workspace.store.add([other])
        made = [
            Output(item_id=other.item_id, editor=one.editor, image=one.image)
            for one in workspace.store.records(Output, item_id=second.item_id)
        ]
        workspace.store.add(made)
    admin = administrator(app)
    sides = {"left_id": made[0].output_id, "right_id": made[1].output_id}
    known = {"item_id": other.item_id, **sides, "preference": "left"}
    visitor = Person(app)
    with open_workspace(root) as workspace:  # routing keeps its gold set as a campaign with settings of its own
        gold_set = {"gold": {"n": 1}, "weekly_quota": "none"}
        workspace.store.put(Campaign(campaign_id="g", name="g", kind="gold_set", settings=gold_set))
    assert visitor.get(f"/api/items/{other.item_id}").status_code == 200
    one = campaign(admin, datasets=["zoo"], gold=[known], gold_rate=0.1)
    assert visitor.get(f"/api/items/{other.item_id}").status_code == 403
    assert visitor.get(f"/api/outputs/{made[0].output_id}/picture").status_code == 403
    admin.send("PATCH", f"/api/lead/campaigns/{one}", {"open": False})
    assert visitor.get(f"/api/items/{other.item_id}").status_code == 200
