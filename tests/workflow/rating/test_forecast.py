"""How much waits for a rater: what there is, not what they may do; and the number does not give gold away."""

from pathlib import Path
from typing import Any

import pytest

from tests.web.people import EDITORS, Person, administrator, campaign, rater, served


def mine(person: Person) -> Any:
    """The rater's only campaign."""
    (found,) = person.get("/api/rating/campaigns").json()["campaigns"]
    return found


def left(person: Person) -> int:
    """How much waits."""
    return int(mine(person)["waiting"])


@pytest.mark.parametrize("known", [0, 2])
def test_the_number_goes_down_by_one_with_every_answer_until_nothing_is_left(tmp_path: Path, known: int) -> None:
    """With gold and repeats among the tasks too: were one left out of the count, it would be known for what it is."""
    app = served(tmp_path / "arena", items=8)
    admin = administrator(app)
    rows = "".join(f"entry-{n},{EDITORS[0]},{EDITORS[1]},left\n" for n in range(known))
    gold = []
    if known:
        told = {"kind": "preference", "table": "item,left,right,winner\n" + rows}
        gold = [one["task"] for one in admin.post("/api/lead/known-tasks", told)["tasks"]]
    shares = {"gold_rate": 0.3, "repeat_rate": 0.3} if known else {}
    one = campaign(admin, gold=gold, weekly_quota=50, **shares)
    person = rater(app, admin, one)
    seen = [left(person)]
    answers = 0
    while (task := person.next(one)["task"]) is not None:
        assert left(person) == seen[-1], "a task in hand still waits to be answered"
        person.post(f"/api/rating/campaigns/{one}/ahead")
        assert left(person) == seen[-1], "so does one that is kept ready"
        person.vote(task, preference="left")
        answers += 1
        seen.append(left(person))
    assert seen == list(range(answers, -1, -1))
    assert answers == 8 * 3 if not known else answers > 8 * 3 - known
    assert mine(person)["quota_left"] == 50 - answers


def test_what_others_take_does_not_wait_any_more(tmp_path: Path) -> None:
    app = served(tmp_path / "arena", items=1)
    admin = administrator(app)
    one = campaign(admin)
    ann, ben = rater(app, admin, one), rater(app, admin, one)
    assert (left(ann), left(ben), left(admin)) == (3, 3, 3)
    ann.next(one)
    assert (left(ann), left(ben)) == (3, 2)
    admin.send("PATCH", f"/api/lead/campaigns/{one}", {"raters_per_unit": 2})
    assert (left(ann), left(ben)) == (3, 3), "the second task of a unit is never for who has the first"
    admin.send("PATCH", f"/api/lead/campaigns/{one}", {"paused": True})
    assert (left(ann), mine(ann)["stage"]) == (0, "on_hold")


def test_a_task_that_is_kept_ready_counts_once_where_two_people_see_each_unit(tmp_path: Path) -> None:
    """The other person's task of the same unit is free, but never for the one who has this task."""
    app = served(tmp_path / "arena", items=1)
    admin = administrator(app)
    one = campaign(admin, raters_per_unit=2)
    ann = rater(app, admin, one)
    assert left(ann) == 3
    ann.next(one)
    ann.post(f"/api/rating/campaigns/{one}/ahead")
    assert left(ann) == 3
