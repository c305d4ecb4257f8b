"""What a server computed is shared by all who ask, computed ahead, and given up when it stops."""

import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from imarena.storage import open_workspace
from imarena.web.arena import ServedWorkspace
from imarena.workflows.rating.record_cache import Shelves
from imarena.workflows.serving import battle_index, judge_behaviour
from imarena.workflows.serving import explorer as exploring
from imarena.workflows.serving import page_prefetch as warming_view
from imarena.workflows.serving.leaderboards import Leaderboards
from imarena.workflows.views import View, view
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
        forms = shared.forms.counting()
        begin = threading.Barrier(6)

        def ask(_: int) -> int:
            begin.wait()
            return len(shared.judgments(forms)) + len(shared.votes)

        with ThreadPoolExecutor(6) as aside:
            found = set(aside.map(ask, range(6)))
    assert len(found) == 1
    assert sorted(read) == ["read_entries", *["read_judgments"] * len(forms), "read_votes"]


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
        (exploring, "read_battle_index"), (battle_index, "content_numbers"), (judge_behaviour, "combine_columns"),
        (view, "read_judgments"),
    ):  # fmt: skip
        monkeypatch.setattr(module, name, never)
    assert admin.get("/api/judges").json() == before
    assert admin.get("/api/battles").json() == listed
    for one in listed["battles"]:
        assert admin.get(f"/api/battles/{one['battle_id']}").status_code == 200


def test_the_warmer_gives_way_and_ends_when_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(warming_view, "_LONGEST_WAIT_S", 60.0)
    app = looked_at(tmp_path / "arena")
    arena: ServedWorkspace = app.state.arena
    arena.traffic.come()  # a request that is in hand
    arena.view_warmer.start()
    time.sleep(0.3)
    assert arena.looking.latest is not None
    assert "votes" not in arena.looking.latest.view.__dict__, "nothing is read while somebody waits"
    arena.view_warmer.stop()


def test_hashing_that_was_ended_early_is_done_when_asked_for(tmp_path: Path) -> None:
    looked_at(tmp_path / "arena")
    with open_workspace(tmp_path / "arena") as workspace:
        looking = Leaderboards(workspace, Shelves(workspace))
        sight = looking.sight()
        looking.battle_ids.read(sight.view, exploring.index_of(sight), lambda: False)
        known = exploring.list_battles(looking)[3]
        assert exploring.load_battle(looking, known.battle_id, leads=True)[0] == known
        with pytest.raises(exploring.RecordNotFound):
            exploring.load_battle(looking, "battle_" + "0" * 32, leads=True)
