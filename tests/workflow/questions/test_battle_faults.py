"""Battles against an endpoint that fails in every way: nothing is invented, nothing is lost, and a resume heals it."""

import shutil
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from imarena.core.records import Judgment, Reply
from imarena.storage import open_workspace
from imarena.workflows.boards import Boards, all_boards
from imarena.workflows.views import View
from tests.command import Imarena
from tests.servers.fake_endpoint import fake_server, point_at
from tests.small_data.small_arena import make_arena

ALL = (
    "rate_limited", "server_error", "hang", "cut_off", "disconnect", "wrong_json", "refusal", "filtered", "empty", "slow",
)  # fmt: skip
TRUE_STATUS = {
    "rate_limited": "api_error",
    "server_error": "api_error",
    "hang": "timeout",
    "cut_off": "api_error",
    "disconnect": "api_error",
    "wrong_json": "api_error",
    "refusal": "refused",
    "filtered": "refused",
    "empty": "unparsable",
    "slow": "ok",
}
CANARY = "sk-canary-5f1d0c7e9ab34e2b"


@pytest.fixture(scope="module")
def arena(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("arena") / "a"
    make_arena(root, items=4)
    return root


@pytest.fixture
def root(arena: Path, tmp_path: Path) -> Path:
    shutil.copytree(arena, tmp_path / "a")
    return tmp_path / "a"


def verdicts(root: Path) -> dict[str, tuple[Any, ...]]:
    """Every ok judgment by its work; a work with two of them fails."""
    found: dict[str, tuple[Any, ...]] = {}
    with open_workspace(root) as workspace:
        for judgment in workspace.store.records(Judgment, status="ok"):
            assert judgment.work_id not in found, "the same work was done twice"
            found[judgment.work_id] = (judgment.left_id, judgment.right_id, judgment.order, judgment.preference)
    return found


def standings(root: Path) -> list[tuple[str, float, float | None, float | None]]:
    with open_workspace(root) as workspace:
        (board,) = all_boards(Boards(View(workspace)))
    return [(row.model, row.rating, row.low, row.high) for row in board.ranking.models]


@pytest.fixture(scope="module")
def clean(arena: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The same workspace judged without any fault."""
    folder = tmp_path_factory.mktemp("clean")
    shutil.copytree(arena, folder / "a")
    with fake_server() as server:
        point_at(folder / "a", server.url)
        Imarena(folder)("-w", "a", "battle", "--judge", "genarena", "--yes")
        assert server.counts()["answered"] == 24
    return folder / "a"


@pytest.mark.parametrize("fault", ALL)
def test_one_certain_fault_gives_its_true_status_and_no_verdict(imarena: Imarena, root: Path, fault: str) -> None:
    with fake_server("--fault", f"{fault}=1.0", "--slow-s", "0.1") as server:
        point_at(root, server.url, timeout_s=0.7 if fault == "hang" else 20)
        words = ("-w", "a", "--json", "battle", "--judge", "genarena", "--sampler", "per-pair:1")
        ended = imarena(*words, code=0 if fault == "slow" else 3)
    (report,) = ended.json["reports"]
    assert report["judgments"] == {TRUE_STATUS[fault]: 6}
    assert report["missing"] == (0 if fault == "slow" else 6)
    assert sum(report["errors"].values()) == report["missing"], "the reason is told, not only the status"
    with open_workspace(root) as workspace:
        for judgment in workspace.store.records(Judgment):
            assert (judgment.preference is None) == (judgment.status != "ok")
            assert bool(judgment.error) == (judgment.status != "ok")
    if fault == "refusal":
        missing = imarena("-w", "a", "--json", "status").json
        assert missing["missing"] == {f"judgments {TRUE_STATUS[fault]}": 6}
        assert missing["unfinished"] == ["battle by genarena/fake-vlm: 6 missing"]


@pytest.mark.parametrize("seed", [1, pytest.param(2, marks=pytest.mark.slow)])
def test_under_a_mix_of_all_faults_resume_ends_with_the_same_ranking(
    imarena: Imarena, root: Path, clean: Path, seed: int
) -> None:
    expected = verdicts(clean)
    faults = [word for name in ALL for word in ("--fault", f"{name}={0.02 if name == 'hang' else 0.065}")]
    missing = 24
    statuses: Counter[str] = Counter()
    with fake_server(*faults, "--seed", str(seed), "--slow-s", "0.05") as server:
        point_at(root, server.url, timeout_s=1.5)
        for _ in range(15):
            ended = imarena("-w", "a", "--json", "battle", "--judge", "genarena", code=None)
            (report,) = ended.json["reports"]
            assert report["planned"] == missing, "a resume asks exactly what is missing"
            assert ended.code == (3 if report["missing"] else 0)
            statuses.update(report["judgments"])
            missing = report["missing"]
            told = verdicts(root)
            assert told.items() <= expected.items(), "a verdict under faults differs from the true one"
            assert len(told) == 24 - missing
            if not missing:
                break
        seen = server.counts()["faults"]
    assert missing == 0
    assert statuses["ok"] == 24
    assert statuses.total() > 24, "the mix was meant to make some judgments fail"
    assert len(seen) >= 6
    assert verdicts(root) == expected
    assert standings(root) == standings(clean)
    assert imarena("-w", "a", "--json", "verify", "--deep").json["clean"] is True
    assert imarena("-w", "a", "--json", "status").json["missing"] == {}
    assert imarena("-w", "a", "--json", "battle", "--judge", "genarena").json["reports"][0]["planned"] == 0


def test_a_failed_order_leaves_its_battle_out_of_the_board(imarena: Imarena, root: Path) -> None:
    with fake_server("--fault", "refusal=0.3", "--seed", "5") as server:
        point_at(root, server.url)
        imarena("-w", "a", "battle", "--judge", "genarena", code=3)
    with open_workspace(root) as workspace:
        whole: Counter[tuple[str, str | None]] = Counter()
        for judgment in workspace.store.records(Judgment, status="ok"):
            whole[judgment.left_id, judgment.right_id] += 1
        (board,) = all_boards(Boards(View(workspace)))
    assert board.ranking.n_battles == sum(orders == 2 for orders in whole.values())
    assert board.ranking.excluded["incomplete: refused"] == 12 - board.ranking.n_battles > 0


def test_a_key_is_in_no_file_and_no_output(imarena: Imarena, root: Path, tmp_path: Path) -> None:
    """The right key, and a wrong one that the server echoes in its error."""
    env = {"FAKE_KEY": CANARY}
    told = ""
    with fake_server("--api-key-env", "FAKE_KEY", env=env) as server:
        point_at(root, server.url, more='api_key_env = "FAKE_KEY"')
        words = ("-w", "a", "battle", "--judge", "genarena", "--sampler", "per-pair:1")
        wrong = imarena(*words, code=3, env={"FAKE_KEY": CANARY[::-1]})
        right = imarena(*words, env=env)
        told += wrong.out + wrong.err + right.out + right.err
        for command in ("status", "verify", "report"):
            ended = imarena("-w", "a", command, *(["out"] if command == "report" else []), env=env, code=None)
            told += ended.out + ended.err
        unset = imarena(*words, "--repeats", "2", code=2, env={"FAKE_KEY": ""})
    assert "FAKE_KEY" in unset.err
    assert len(verdicts(root)) == 6
    with open_workspace(root) as workspace:
        errors = {judgment.error for judgment in workspace.store.records(Judgment, status="api_error")}
    assert any("[key removed]" in error for error in errors)
    for key in (CANARY, CANARY[::-1]):
        assert key not in told
        for path in tmp_path.rglob("*"):
            assert not path.is_file() or key.encode() not in path.read_bytes(), path


def test_raw_replies_are_stored_and_read_again_for_nothing(imarena: Imarena, clean: Path) -> None:
    with open_workspace(clean) as workspace:
        replies = {reply.reply_id: reply for reply in workspace.store.records(Reply)}
        judgments = list(workspace.store.records(Judgment, status="ok"))
    assert len(replies) == len(judgments) == 24
    for judgment in judgments:
        assert judgment.reply_id is not None
        assert '"winner"' in replies[judgment.reply_id].raw
        assert judgment.usage.cost_usd is not None
