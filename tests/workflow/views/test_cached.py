"""Columns that were kept, or that grew with new records, are those that reading everything anew gives."""

import random
import shutil
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sqlalchemy import func, select, text, update

from imarena.core.records import (
    Assignment,
    Campaign,
    Item,
    Judgment,
    Order,
    Outcome,
    Output,
    Rater,
    Status,
    Usage,
    Vote,
)
from imarena.storage import Workspace, init_workspace, open_workspace
from imarena.storage.column_cache import ColumnCache
from imarena.storage.database import writing
from imarena.storage.schema import judgments
from imarena.storage.upkeep import collect_garbage, withdraw_image
from imarena.workflows.serving import battle_index
from imarena.workflows.serving import explorer as exploring
from imarena.workflows.serving.battle_index import BattleIndex, read_battle_index
from imarena.workflows.serving.explorer import index_of, list_battles
from imarena.workflows.serving.judge_behaviour import Behaviour, read_behaviour
from imarena.workflows.serving.judge_monitor import behaviour_of, judge_health
from imarena.workflows.serving.leaderboards import Leaderboards
from imarena.workflows.views import View, cached, view
from imarena.workflows.views.judgments import JudgmentColumns
from tests import samples
from tests.servers.postgres import new_database

FILES = {"battle-ids", "battles", "costs", "judges"}


@pytest.fixture(autouse=True)
def small_files(monkeypatch: pytest.MonkeyPatch) -> None:
    """As if a workspace of a few judgments were a large one."""
    monkeypatch.setattr(cached, "LEAST", 1)
    monkeypatch.setattr(cached, "OVERLAP", 20)


class Growing:
    """Adds records of every kind at random, the same ones for the same seed."""

    def __init__(self, workspace: Workspace, seed: int = 0) -> None:
        self.store = workspace.store
        self.random = random.Random(seed)
        self.seed, self.number = seed, 0
        self.judgments: list[Judgment] = []
        self.votes: list[Vote] = []
        self.outputs: list[list[Output]] = []
        if not list(self.store.records(Rater)):
            self.store.add([Rater(rater_id=f"r{n}") for n in range(3)])
            self.store.add([Campaign(campaign_id="c", name="c", kind="preference", open=True)])
        for item in self.store.records(Item):
            self.outputs.append(list(self.store.records(Output, item_id=item.item_id)))
        if not self.outputs:
            for _ in range(3):
                self.entry()

    def pick(self, among: Any) -> Any:
        return self.random.choice(list(among))

    def entry(self) -> None:
        self.number += 1
        item: Item = samples.item(f"{self.seed} {self.number}")
        made = [samples.output(item, name) for name in ("a", "b", "c")]
        self.store.add([item])
        self.store.add(made)
        self.outputs.append(made)

    def sides(self) -> dict[str, str]:
        left, right = self.random.sample(self.pick(self.outputs), 2)
        return {"item_id": left.item_id, "left_id": left.output_id, "right_id": right.output_id}

    def judge(self, judges: tuple[str, ...] = ("oak", "elm")) -> None:
        self.number += 1
        status = self.pick((Status.OK, Status.OK, Status.OK, Status.REFUSED))
        made = Judgment(
            work_id=f"w{self.seed} {self.pick(range(40))}", attempt=self.number, judge=self.pick(judges),
            order=self.pick((Order.LEFT_FIRST, Order.RIGHT_FIRST)), status=status,
            preference=self.pick(Outcome) if status is Status.OK else None, repeat=self.pick((0, 0, 1)),
            run_id=self.pick((None, "run_1")), usage=Usage(cost_usd=0.25), **self.sides(),
        )  # fmt: skip
        self.store.add([made])
        if status is Status.OK:
            self.judgments.append(made)

    def score(self) -> None:
        self.number += 1
        output = self.pick(self.pick(self.outputs))
        made = Judgment(
            work_id=f"s{self.seed} {self.number}", judge="oak", score=float(self.number), item_id=output.item_id,
            left_id=output.output_id,
        )  # fmt: skip
        self.store.add([made])

    def read_again(self) -> None:
        if self.judgments:
            old = self.judgments.pop(self.random.randrange(len(self.judgments)))
            self.number += 1
            new = {"preference": self.pick(Outcome), "supersedes": old.judgment_id, "parser_version": str(self.number)}
            self.store.add([old.model_copy(update=new)])

    def vote(self) -> None:
        self.number += 1
        assignment = None
        sides = self.sides()
        if self.pick((True, False)):
            task = Assignment(campaign_id="c", purpose=self.pick(("vote", "gold")), unit=str(self.number), **sides)
            self.store.add([task])
            assignment = task.assignment_id
        made = Vote(
            rater_id=self.pick(("r0", "r1", "r2")), preference=self.pick(Outcome), assignment_id=assignment,
            idempotency_key=f"{self.seed} {self.number}", dimension=self.pick(("overall", "beauty")), **sides,
        )  # fmt: skip
        self.store.add([made])
        self.votes.append(made)

    def take_back(self) -> None:
        if self.votes:
            old = self.votes.pop(self.random.randrange(len(self.votes)))
            self.number += 1
            key = f"{self.seed} {self.number}"
            gone = {"supersedes": old.vote_id, "idempotency_key": key, "assignment_id": None}
            self.store.add([old.model_copy(update={**gone, "preference": self.pick(Outcome)})])

    def close(self) -> None:
        self.store.put(Campaign(campaign_id="c", name="c", kind="preference", open=self.pick((True, False))))

    def step(self, steps: int = 1) -> None:
        often = [self.judge] * 12 + [self.vote] * 4
        for _ in range(steps):
            self.pick([*often, self.score, self.read_again, self.read_again, self.take_back, self.entry, self.close])()


def by_seq(columns: JudgmentColumns) -> dict[str, list[Any]]:
    order = np.argsort(columns.seq)
    names = ("seq", "left", "right", "order", "repeat", "status", "preference", "created_us")
    found = {name: getattr(columns, name)[order].tolist() for name in names}
    return {**found, "score": np.nan_to_num(columns.score[order], nan=-1.0).tolist()}


def shown(index: BattleIndex) -> dict[str, Any]:
    plain = ("left", "right", "named", "start", "outcome", "created_us", "asking")
    found: dict[str, Any] = {name: getattr(index, name).tolist() for name in plain}
    return {**found, "judge": index.judge.list(), "dimension": index.dimension.list(), "votes": index.voted}


def told(behaviour: Behaviour) -> list[Any]:
    def decided(one: Any) -> list[Any]:
        parts = (one.decided.key, one.decided.outcome, one.decided.agreed)
        return sorted(zip(*(part.tolist() for part in parts), strict=True))

    return [(asdict(one.health), decided(one), one.variants, one.swapping) for one in behaviour.judges]


def is_as_read_anew(leaderboards: Leaderboards, nowhere: Path) -> None:
    """What a server holds against what a view without any cache and any past gives."""
    snapshot = leaderboards.snapshot()
    fresh = View(leaderboards.workspace, cache=ColumnCache(nowhere, 0))
    assert fresh.marks == snapshot.view.marks
    for form in fresh.variants.every:
        assert by_seq(snapshot.view.judgments([form])) == by_seq(fresh.judgments([form]))
    assert shown(index_of(snapshot)) == shown(read_battle_index(fresh))
    assert told(behaviour_of(snapshot)) == told(read_behaviour(fresh))
    exploring.hash_ids(leaderboards, snapshot)
    for pair in list_battles(leaderboards)[:20]:
        assert exploring.load_battle(leaderboards, pair.battle_id, leads=True)[0] == pair
    paid = sum(one.usage.cost_usd or 0 for one in leaderboards.workspace.store.records(Judgment) if not one.supersedes)
    assert sum(leaderboards.costs.of_view(snapshot.view).values()) == pytest.approx(paid)
    assert not nowhere.exists()


def server(workspace: Workspace) -> Leaderboards:
    return Leaderboards(workspace)


@pytest.mark.parametrize("seed", [1, 2])
def test_a_random_workspace_is_shown_as_if_it_were_read_anew(any_workspace: Workspace, seed: int) -> None:
    growing, leaderboards = Growing(any_workspace, seed), server(any_workspace)
    nowhere = any_workspace.root / "nowhere"
    for turn in range(24):
        growing.step(turn % 5 + 1)
        if turn % 6 == 5:
            leaderboards = server(any_workspace)  # started again: from what is on disk
        is_as_read_anew(leaderboards, nowhere)
    assert {path.name for path in any_workspace.columns.folder.iterdir()} >= FILES


def _refused(*_: Any, **__: Any) -> Any:
    raise AssertionError("read or computed again")


@pytest.fixture
def filled(any_workspace: Workspace) -> Workspace:
    """A workspace with everything in its cache."""
    Growing(any_workspace).step(120)
    is_as_read_anew(server(any_workspace), any_workspace.root / "nowhere")
    return any_workspace


def test_a_server_that_starts_again_computes_nothing(filled: Workspace, monkeypatch: pytest.MonkeyPatch) -> None:
    before = judge_health(server(filled)), list_battles(server(filled))[:]
    monkeypatch.setattr(view, "read_judgments", _refused)
    monkeypatch.setattr(battle_index, "_index", _refused)
    monkeypatch.setattr(battle_index, "content_numbers", _refused)
    monkeypatch.setattr("imarena.workflows.views.combine_columns", _refused)
    leaderboards = server(filled)
    assert (judge_health(leaderboards), list_battles(leaderboards)[:]) == before
    for pair in before[1]:
        assert exploring.load_battle(leaderboards, pair.battle_id, leads=True)[0] == pair


def test_a_judgment_that_is_committed_late_is_seen(postgres: Any, tmp_path: Path) -> None:
    """PostgreSQL gives numbers out before it commits: one may appear below others that were read already."""
    with init_workspace(tmp_path / "arena", url=new_database(postgres)) as workspace:
        growing, engine = Growing(workspace, 5), workspace.store.engine
        growing.step(60)
        for started_again in (False, True):
            with writing(engine) as connection:
                held = connection.execute(text("SELECT nextval(pg_get_serial_sequence('judgments', 'seq'))")).scalar()
            growing.judge()
            leaderboards = server(workspace)
            is_as_read_anew(leaderboards, tmp_path / "nowhere")
            growing.judge()
            with writing(engine) as connection:
                last = select(func.max(judgments.c.seq)).scalar_subquery()
                connection.execute(update(judgments).where(judgments.c.seq == last).values(seq=held))
            growing.judge()
            is_as_read_anew(server(workspace) if started_again else leaderboards, tmp_path / "nowhere")


def test_a_damaged_file_is_not_used_and_is_written_again(filled: Workspace) -> None:
    folder = filled.columns.folder
    names = sorted(path.name for path in folder.iterdir())
    assert set(names) > FILES
    for number, name in enumerate(names):
        data = bytearray((folder / name).read_bytes())
        data[len(data) * (number % 3 + 1) // 5] ^= 0x55
        (folder / name).write_bytes(data[: -1 if number % 2 else None])
    is_as_read_anew(server(filled), filled.root / "nowhere")
    assert all(filled.columns.read(name) is not None for name in names)


def test_another_database_under_the_same_numbers_is_noticed(tmp_path: Path) -> None:
    """The same workspace id, as many records of each kind, other content: an old copy that was worked on elsewhere."""
    with init_workspace(tmp_path / "arena") as workspace:
        Growing(workspace, 1).step(40)
    shutil.copytree(tmp_path / "arena", tmp_path / "other")
    for name, seed in (("arena", 2), ("other", 3)):
        with open_workspace(tmp_path / name) as workspace:
            growing = Growing(workspace, seed)
            for _ in range(30):
                growing.judge()
            is_as_read_anew(server(workspace), tmp_path / "nowhere")
    for path in (tmp_path / "arena").glob("arena.db*"):
        path.unlink()
    shutil.copyfile(tmp_path / "other" / "arena.db", tmp_path / "arena" / "arena.db")
    with open_workspace(tmp_path / "arena") as workspace:
        is_as_read_anew(server(workspace), tmp_path / "nowhere")


def test_an_earlier_copy_of_the_database_is_noticed(tmp_path: Path) -> None:
    with init_workspace(tmp_path / "arena") as workspace:
        growing = Growing(workspace, 1)
        growing.step(40)
        workspace.store.close()
        shutil.copyfile(tmp_path / "arena" / "arena.db", tmp_path / "earlier.db")
        for _ in range(5):
            growing.judge()
        is_as_read_anew(server(workspace), tmp_path / "nowhere")
    for path in (tmp_path / "arena").glob("arena.db*"):
        path.unlink()
    shutil.copyfile(tmp_path / "earlier.db", tmp_path / "arena" / "arena.db")
    with open_workspace(tmp_path / "arena") as workspace:
        is_as_read_anew(server(workspace), tmp_path / "nowhere")
        growing = Growing(workspace, 4)
        for _ in range(9):
            growing.judge(("ash",))
            is_as_read_anew(server(workspace), tmp_path / "nowhere")


def test_upkeep_leaves_nothing_wrong_behind(filled: Workspace) -> None:
    image = samples.kept(filled, 1)
    collect_garbage(filled, remove=True, grace_s=-1.0)
    is_as_read_anew(server(filled), filled.root / "nowhere")
    image = samples.kept(filled, 2)
    withdraw_image(filled, image.sha256, "asked for")
    assert not list(filled.columns.folder.iterdir()), "the whole cache was emptied"
    is_as_read_anew(server(filled), filled.root / "nowhere")


def test_a_cache_that_cannot_be_written_changes_nothing(workspace: Workspace) -> None:
    (workspace.root / "cache").write_text("a file where the folder should be", encoding="utf-8")
    Growing(workspace).step(60)
    is_as_read_anew(server(workspace), workspace.root / "nowhere")
    assert (workspace.root / "cache").is_file()


def test_a_view_that_keeps_no_judgments_gives_the_same_ones(tmp_path: Path) -> None:
    workspace = init_workspace(tmp_path / "arena")
    growing = Growing(workspace)
    for _ in range(60):
        growing.step()
    kept, frugal = View(workspace), View(workspace, keep_judgments=False)
    variants = kept.variants.counting()
    for name in ("seq", "left", "right", "preference", "status", "score", "variant"):
        np.testing.assert_array_equal(
            getattr(kept.judgments(variants), name), getattr(frugal.judgments(variants), name)
        )
    assert kept.judgments(variants[:1]) is kept.judgments(variants[:1])
    assert frugal.judgments(variants[:1]) is not frugal.judgments(variants[:1])
    assert kept.verdicts == frugal.verdicts
