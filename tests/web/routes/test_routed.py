"""Active Elo through the web application: a gold set is frozen, battles are routed, raters vote, the board changes."""

from pathlib import Path

from sqlalchemy import update

from imarena.core.records import Assignment, Campaign, Judgment, Outcome, Output, Rater, Vote
from imarena.ranking import Options
from imarena.routing import AssignmentRequest
from imarena.storage import open_workspace
from imarena.storage.database import writing
from imarena.storage.schema import leases
from imarena.workflows.active_elo.assigning import assign_battles
from imarena.workflows.active_elo.ingesting import ingest_votes
from imarena.workflows.active_elo.planning import freeze_gold
from imarena.workflows.boards.weighted.boards import rerank
from imarena.workflows.boards.weighted.vote_data import gold_set, read_vote_data
from tests.command import Imarena
from tests.web.people import Person, administrator, rater, served

QUICK = Options(rounds=20, matrices=False)


def judged(root: Path) -> None:
    """Scores by a judge, for routing to go by."""
    with open_workspace(root) as workspace:
        outputs = list(workspace.store.records(Output))
        workspace.store.add(
            Judgment(work_id=f"w{n}", judge="robot", item_id=o.item_id, left_id=o.output_id, score=100.0 * (n % 7))
            for n, o in enumerate(outputs)
        )


def test_routed_battles_are_served_and_ranked_while_the_server_runs(tmp_path: Path) -> None:
    app = served(tmp_path / "arena", items=8)
    judged(tmp_path / "arena")
    with open_workspace(tmp_path / "arena") as workspace:
        freeze_gold(workspace, share=0.25)
        gold_set = next(workspace.store.records(Campaign, kind="gold")).campaign_id
        made = assign_battles(workspace, None, AssignmentRequest(4, repeats=0.0, gold=0.0))
    admin = administrator(app)
    # the gold set is kept beside the campaigns; no page takes it for one
    listed = admin.get("/api/lead/campaigns").json()["campaigns"]
    assert [(one["name"], one["slots"]) for one in listed] == [("active elo", 4)]
    assert [one["name"] for one in admin.get("/api/rating/campaigns").json()["campaigns"]] == ["active elo"]
    assert admin.get(f"/api/lead/campaigns/{gold_set}").status_code == 404
    person = rater(app, admin, made.campaign)
    done = 0
    while (task := person.next(made.campaign)["task"]) is not None:
        person.vote(task, preference="left")
        done += 1
    assert done == 4
    assert admin.get(f"/api/lead/campaigns/{made.campaign}").json()["held_until"] is None
    person.post(f"/api/rating/campaigns/{made.campaign}/undo")
    with open_workspace(tmp_path / "arena") as workspace:
        ((_, board),) = rerank(workspace, None, options=QUICK).boards
        assert board.n_battles == 3  # what was taken back does not count
        arena = read_vote_data(workspace, None)
        assert not arena.gold[arena.votes.item].any()


def test_a_named_rater_gets_exactly_the_tasks_that_were_made_for_them(tmp_path: Path) -> None:
    """By a link that is bound to their id; whoever comes by another link, or takes late tasks, gets none of them."""
    app = served(tmp_path / "arena", items=8)
    judged(tmp_path / "arena")
    with open_workspace(tmp_path / "arena") as workspace:
        made = assign_battles(workspace, None, AssignmentRequest(6, raters=("ann", "bob"), repeats=0.34, gold=0.0))
        one = made.campaign
        wanted = {
            name: {a.assignment_id for a in workspace.store.records(Assignment, rater_id=name)}
            for name in ("ann", "bob")
        }
    admin = administrator(app)
    assert admin.get(f"/api/lead/campaigns/{one}").json()["slots"] == 6
    ann, bob = (rater(app, admin, one, rater_id=name) for name in ("ann", "bob"))
    stranger = rater(app, admin, one)
    assert stranger.next(one) == {
        "stage": "done", "task": None, "outcome": "quota_full", "completion_code": None, "completion_url": None,
    }  # fmt: skip
    assert admin.get(f"/api/lead/invitations?campaign_id={one}").json()["invitations"][1]["rater_id"] == "bob"

    first = ann.next(one)["task"]
    ahead = ann.post(f"/api/rating/campaigns/{one}/ahead")["task"]
    assert "ann" not in str(first)
    assert first["purpose"] == "vote"
    assert bob.get(f"/api/tasks/{first['address']}").status_code == 404
    with open_workspace(tmp_path / "arena") as workspace, writing(workspace.store.engine) as connection:
        connection.execute(update(leases).where(leases.c.rater_id == "ann").values(until="2000-01-01T00:00:00+00:00"))
    assert stranger.next(one)["task"] is None  # late, and still hers
    bobs = bob.next(one)["task"]
    shown = admin.get(f"/api/lead/campaigns/{one}").json()
    assert (shown["held"], shown["held_until"] > "2001") == (2, True), "until when tasks stay in hand"
    bob.post(f"/api/tasks/{bobs['address']}/skip", {"reason": "cannot_tell"})
    assert stranger.next(one)["task"] is None  # a skip gives it to nobody else
    assert ann.vote(first, preference="left")["late"]
    assert ann.next(one)["task"]["address"] == ahead["address"]
    for person in (ann, bob):
        while (task := person.next(one)["task"]) is not None:
            person.vote(task, preference="right")
    with open_workspace(tmp_path / "arena") as workspace:
        votes = list(workspace.store.records(Vote))
        done = {name: {v.assignment_id for v in votes if v.rater_id == name} for name in wanted}
    assert {v.rater_id for v in votes} == {"ann", "bob"}
    assert done["ann"] == wanted["ann"]
    assert done["bob"] < wanted["bob"]
    assert len(done["bob"]) == len(wanted["bob"]) - 1


def test_a_link_is_bound_only_to_a_rater_who_has_tasks(tmp_path: Path) -> None:
    app = served(tmp_path / "arena", items=8)
    judged(tmp_path / "arena")
    with open_workspace(tmp_path / "arena") as workspace:
        one = assign_battles(workspace, None, AssignmentRequest(2, raters=("ann",), repeats=0.0, gold=0.0)).campaign
    admin = administrator(app)
    ask = {"campaign_id": one, "rater_id": "ann"}
    told = admin.post("/api/lead/invitations", {**ask, "rater_id": "anna"}, code=400)
    assert "It has tasks for: ann." in told["hint"]
    for wrong in ({"max_people": 2}, {"role": "viewer"}, {"rater_id": "administrator"}):
        admin.post("/api/lead/invitations", {**ask, **wrong}, code=400)
    link = admin.post("/api/lead/invitations", ask)
    assert (link["invitation"]["rater_id"], link["invitation"]["people"]) == ("ann", 0)
    for _ in range(2):  # the same person on every visit
        Person(app).post("/api/session/invitation", {"token": link["token"]})
    listed = admin.get("/api/lead/invitations").json()["invitations"]
    assert [(found["rater_id"], found["people"]) for found in listed] == [("ann", 1)]


def test_raters_on_a_sheet_are_told_like_others(tmp_path: Path, imarena: Imarena) -> None:
    """With their repeats and known answers; counts add up with what `status` says of the same workspace."""
    root = tmp_path / "arena"
    app = served(root, items=8)
    judged(root)
    with open_workspace(root) as workspace:
        freeze_gold(workspace, share=0.25)
        held = gold_set(workspace)
        pairs = [
            (item, *sorted(one.output_id for one in workspace.store.records(Output, item_id=item))[:2])
            for item in sorted(held)
        ]
        workspace.store.add([Rater(rater_id="expert")])
        told = {"rater_id": "expert", "preference": Outcome.LEFT}
        workspace.store.add(
            Vote(item_id=item, left_id=left, right_id=right, idempotency_key=item, **told)
            for item, left, right in pairs
        )
        made = assign_battles(workspace, None, AssignmentRequest(6, raters=("ann", "bob"), repeats=0.34, gold=0.34))
        given = list(workspace.store.records(Assignment, campaign_id=made.campaign))
        lines = ["assignment,rater,winner"]
        for one in given:  # ann means the output, bob the side; known answers are those with the smaller id
            winner = "left" if one.rater_id == "bob" or str(one.left_id) < str(one.right_id) else "right"
            lines.append(f"{one.assignment_id},{one.rater_id},{winner}")
        (tmp_path / "sheet.csv").write_text("\n".join(lines) + "\n", encoding="utf-8")
        assert ingest_votes(workspace, tmp_path / "sheet.csv").new == len(given)
    admin = administrator(app)
    found = {one["rater_id"]: one for one in admin.get(f"/api/lead/campaigns/{made.campaign}/raters").json()["raters"]}
    of = {name: [one.purpose for one in given if one.rater_id == name] for name in ("ann", "bob")}
    assert {name: (one["votes"], one["sheet"], one["median_time_s"]) for name, one in found.items()} == {
        name: (len(purposes), True, None) for name, purposes in of.items()
    }
    for name, purposes in of.items():
        asked = (found[name]["repeats_asked"], found[name]["gold_asked"])
        assert asked == (purposes.count("repeat"), purposes.count("gold"))
        assert found[name]["repeats_same"] == (asked[0] if name == "ann" else 0)
    assert found["ann"]["gold_right"] == found["ann"]["gold_asked"]
    assert found["ann"]["repeats_asked"] + found["bob"]["repeats_asked"] == made.repeats > 0 < made.gold

    words = imarena("-w", root, "campaign", "status").out
    assert "6 of 6 tasks answered, 6 of 6 units complete; raters: 2" in " ".join(words.split())
    assert f"plus {len(given) - 6} of {len(given) - 6} check tasks (repeats, known answers)" in " ".join(words.split())
    assert f"ann: {len(of['ann'])} votes, on a sheet" in words
    assert "`route assign --votes 2` asks two people about each" in " ".join(words.split()), "the step to agreement"
    totals = imarena("-w", root, "--json", "status").json["totals"]
    assert (totals["vote"], totals["campaign"], totals["gold set"]) == (len(given) + len(pairs), 1, 1)
