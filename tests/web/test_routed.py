"""Active Elo through the web application: a gold set is frozen, battles are routed, raters vote, the board changes."""

from pathlib import Path

from imarena.core.records import Campaign, Judgment, Output
from imarena.ranking import Options
from imarena.storage import open_workspace
from imarena.workflows.routing import freeze_gold
from imarena.workflows.routing_assign import Request, assign
from imarena.workflows.routing_boards import rerank
from imarena.workflows.routing_tables import read_arena
from tests.web.people import administrator, rater, served

QUICK = Options(rounds=20, matrices=False)


def test_routed_battles_are_served_and_ranked_while_the_server_runs(tmp_path: Path) -> None:
    app = served(tmp_path / "arena", items=8)
    with open_workspace(tmp_path / "arena") as workspace:
        outputs = list(workspace.store.records(Output))
        workspace.store.add(
            Judgment(work_id=f"w{n}", judge="robot", item_id=o.item_id, left_id=o.output_id, score=100.0 * (n % 7))
            for n, o in enumerate(outputs)
        )
        freeze_gold(workspace, share=0.25)
        gold_set = next(workspace.store.records(Campaign, kind="gold")).campaign_id
        made = assign(workspace, None, Request(4, repeats=0.0, gold=0.0))
    admin = administrator(app)
    # the gold set is kept beside the campaigns; no page takes it for one
    listed = admin.get("/api/lead/campaigns").json()["campaigns"]
    assert [(one["name"], one["slots"]) for one in listed] == [("active elo", 4)]
    assert [one["name"] for one in admin.get("/api/rating/campaigns").json()["campaigns"]] == ["active elo"]
    assert admin.get(f"/api/lead/campaigns/{gold_set}").status_code == 404
    person = rater(app, admin, made["campaign"])
    done = 0
    while (task := person.next(made["campaign"])["task"]) is not None:
        person.vote(task, preference="left")
        done += 1
    assert done == 4
    person.post(f"/api/rating/campaigns/{made['campaign']}/undo")
    with open_workspace(tmp_path / "arena") as workspace:
        ((_, board),) = rerank(workspace, None, options=QUICK)
        assert board.n_battles == 3  # what was taken back does not count
        arena = read_arena(workspace, None)
        assert not arena.gold[arena.votes.item].any()
