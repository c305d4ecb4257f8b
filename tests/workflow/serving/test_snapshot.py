"""What a server computed is shared by all who ask, computed ahead, and given up when it stops."""

import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from imarena.storage import open_workspace
from imarena.web.arena import ServedWorkspace
from imarena.workflows import views
from imarena.workflows.serving import battle_index, run_monitor
from imarena.workflows.serving import explorer as exploring
from imarena.workflows.serving import page_prefetch as warming_view
from imarena.workflows.serving.leaderboards import Leaderboards
from imarena.workflows.views import View, cached, view
from tests.web.looked_at import looked_at
from tests.web.people import administrator


def test_who_asks_for_a_column_that_is_being_read_waits_for_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    looked_at(tmp_path / "arena")
    read: list[str] = []

    def slowly(name: str) -> Any:
        real = getattr(view, name)

        def reading(*words: Any, **more: Any) -> Any:
            read.append(name)
            time.sleep(0.05)
            return real(*words, **more)

        return reading

    for name in ("read_entries", "read_votes", "read_judgments"):
        monkeypatch.setattr(view, name, slowly(name))
    with open_workspace(tmp_path / "arena") as workspace:
        shared = View(workspace)
        variants = shared.variants.counting()
        begin = threading.Barrier(6)

        def ask(_: int) -> int:
            begin.wait()
            return len(shared.judgments(variants)) + len(shared.votes)

        with ThreadPoolExecutor(6) as aside:
            found = set(aside.map(ask, range(6)))
    assert len(found) == 1
    assert sorted(read) == ["read_entries", *["read_judgments"] * len(variants), "read_votes"]


def test_pages_are_computed_before_anybody_asks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    app = looked_at(tmp_path / "arena")
    arena: ServedWorkspace = app.state.arena
    admin = administrator(app)
    before = admin.get("/api/judges").json()
    listed = admin.get("/api/battles").json()
    arena.view_warmer.warm()

    def never(*_: Any, **__: Any) -> Any:
        raise AssertionError("computed while somebody waited")

    for module, name in (
        (exploring, "read_battle_index"), (battle_index, "content_numbers"), (views, "combine_columns"),
        (view, "read_judgments"),
    ):  # fmt: skip
        monkeypatch.setattr(module, name, never)
    assert admin.get("/api/judges").json() == before
    assert admin.get("/api/battles").json() == listed
    for one in listed["battles"]:
        assert admin.get(f"/api/battles/{one['battle_id']}").status_code == 200


def test_a_large_workspace_without_its_cache_is_read_before_the_server_listens(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cached, "LEAST", 1)
    app = looked_at(tmp_path / "arena")
    arena: ServedWorkspace = app.state.arena
    monkeypatch.setattr(warming_view, "_LONGEST_WAIT_S", 60.0)
    arena.traffic.request_started()  # so that nothing is computed in the background
    arena.view_warmer.start()
    folder = arena.workspace.columns.folder
    assert {"battles", "battle-ids", "judges", "costs"} <= {path.name for path in folder.iterdir()}

    def never(*_: Any, **__: Any) -> Any:
        raise AssertionError("computed while somebody waited")

    for module, name in (
        (exploring, "read_battle_index"), (exploring, "read_ids_cached"), (battle_index, "content_numbers"),
        (views, "combine_columns"), (view, "read_judgments"), (run_monitor.Costs, "_costs_between"),
    ):  # fmt: skip
        monkeypatch.setattr(module, name, never)
    admin = administrator(app)
    listed = admin.get("/api/battles").json()["battles"]
    assert listed
    for path in ("/api/judges", *(f"/api/battles/{one['battle_id']}" for one in listed)):
        assert admin.get(path).status_code == 200
    arena.view_warmer.stop()


def test_a_server_listens_though_preparing_takes_too_long(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cached, "LEAST", 1)
    monkeypatch.setattr(warming_view, "_LONGEST_START_S", 0.0)
    app = looked_at(tmp_path / "arena")
    arena: ServedWorkspace = app.state.arena
    monkeypatch.setattr(warming_view, "_LONGEST_WAIT_S", 60.0)
    arena.traffic.request_started()
    arena.view_warmer.start()
    assert arena.leaderboards.latest is not None
    assert "votes" not in arena.leaderboards.latest.view.__dict__
    arena.traffic.request_finished()
    assert administrator(app).get("/api/judges").status_code == 200
    arena.view_warmer.stop()


def test_the_warmer_gives_way_and_ends_when_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(warming_view, "_LONGEST_WAIT_S", 60.0)
    app = looked_at(tmp_path / "arena")
    arena: ServedWorkspace = app.state.arena
    arena.traffic.request_started()  # a request that is in hand
    arena.view_warmer.start()
    time.sleep(0.3)
    assert arena.leaderboards.latest is not None
    assert "votes" not in arena.leaderboards.latest.view.__dict__, "nothing is read while somebody waits"
    arena.view_warmer.stop()


def test_hashing_that_was_ended_early_is_done_when_asked_for(tmp_path: Path) -> None:
    looked_at(tmp_path / "arena")
    with open_workspace(tmp_path / "arena") as workspace:
        leaderboards = Leaderboards(workspace)
        snapshot = leaderboards.snapshot()
        leaderboards.battle_ids.read(snapshot.view, exploring.index_of(snapshot), lambda: False)
        known = exploring.list_battles(leaderboards)[3]
        assert exploring.load_battle(leaderboards, known.battle_id, leads=True)[0] == known
        with pytest.raises(exploring.RecordNotFound):
            exploring.load_battle(leaderboards, "battle_" + "0" * 32, leads=True)
