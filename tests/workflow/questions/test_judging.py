"""Pointwise judging from the command line, and reading stored replies again."""

import shutil
from pathlib import Path
from typing import Any

import pytest

from imarena.core.errors import UserError
from imarena.core.ids import content_id, sha256_hex
from imarena.core.records import ImageRef, Item, Judgment, Output, Reply, Run, Status, Turn
from imarena.storage import open_workspace
from imarena.workflows.boards import BoardQuery, Boards
from imarena.workflows.questions.judging_runs import plan_scores
from imarena.workflows.views import EARLIER, BattleKind, View
from imarena.workflows.wiring.judges import EndpointArguments
from tests import samples
from tests.command import Imarena
from tests.servers.fake_endpoint import fake_server, point_at
from tests.small_data.small_arena import make_arena

KINDS: tuple[BattleKind, ...] = ("compared", "scored")


@pytest.fixture(scope="module")
def arena(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("arena") / "a"
    make_arena(root, items=2, habits=("exact", "returns-input"))
    return root


@pytest.fixture
def root(arena: Path, tmp_path: Path) -> Path:
    shutil.copytree(arena, tmp_path / "a")
    return tmp_path / "a"


def test_the_builtin_judge_scores_every_output_once(imarena: Imarena, root: Path) -> None:
    first = imarena("-w", "a", "--json", "judge", "--judge", "builtin").json["reports"][0]
    assert first["judgments"] == {"ok": 4}
    assert first["cost_usd"] == 0
    again = imarena("-w", "a", "--json", "judge", "--judge", "builtin").json["reports"][0]
    assert (again["judgments"], again["done_before"]) == ({}, 4)
    with open_workspace(root) as workspace:
        editors = {output.output_id: output.editor for output in workspace.store.records(Output)}
        scores: dict[str | None, float] = {}
        for judgment in workspace.store.records(Judgment):
            assert judgment.score is not None
            assert judgment.reply_id is not None
            editor = editors[judgment.left_id]
            scores[editor] = scores.get(editor, 0.0) + judgment.score
    assert scores["studio-exact"] > scores["studio-returns-input"]


def test_a_changed_parameter_is_new_work_and_boards_do_not_mix(imarena: Imarena, root: Path) -> None:
    imarena("-w", "a", "judge")
    changed = imarena("-w", "a", "--json", "judge", "--option", "ocr=never").json["reports"][0]
    assert (changed["planned"], changed["done_before"]) == (4, 0)
    back = imarena("-w", "a", "--json", "judge").json["reports"][0]
    assert (back["planned"], back["done_before"]) == (0, 4)
    with open_workspace(root) as workspace:
        table = Boards(View(workspace)).gather(BoardQuery(judge="builtin")).battles
    assert len(table) == 2
    assert table.excluded[EARLIER] == 4


def test_a_pair_counts_once_by_battles_where_there_are_some(imarena: Imarena, root: Path) -> None:
    imarena("-w", "a", "judge")
    by_scores = imarena("-w", "a", "--json", "rank").json
    imarena("-w", "a", "battle")
    with open_workspace(root) as workspace:
        boards = Boards(View(workspace))
        compared, scored = (boards.gather(BoardQuery(source="judge", kind=kind)).battles for kind in KINDS)
        once = boards.gather(BoardQuery(source="judge")).battles
    fought = len(compared)
    assert fought > 0
    assert not compared.scored.any()
    assert len(scored) == by_scores["n_battles"]
    assert len(once) == by_scores["n_battles"]
    board = imarena("-w", "a", "--json", "rank").json
    assert board["n_battles"] == by_scores["n_battles"]
    assert board["excluded"]["scores of a pair that the judge also compared directly"] == fought


def test_equal_pixels_are_asked_about_once_and_recorded_for_each_output(imarena: Imarena, root: Path) -> None:
    with open_workspace(root) as workspace:
        twin = next(iter(workspace.store.records(Output, editor="studio-exact")))
        workspace.store.add([Output(item_id=twin.item_id, editor="twin", image=twin.image)])
    with fake_server() as server:
        point_at(root, server.url)
        report = imarena("-w", "a", "--json", "judge", "--judge", "cv-judge").json["reports"][0]
        assert report["judgments"] == {"ok": 4}
        assert server.counts()["requests"] == 4
        with open_workspace(root) as workspace:
            workspace.store.add([Output(item_id=twin.item_id, editor="late", image=twin.image)])
        whole = imarena("-w", "a", "--json", "judge", "--judge", "cv-judge").json
        late, said = whole["reports"][0], whole["estimates"][0]
        assert (late["planned"], late["done_before"], said["done_before"]) == (0, 6, 6), "both count copies"
        assert server.counts()["requests"] == 4
    with open_workspace(root) as workspace:
        editors = {output.output_id: output.editor for output in workspace.store.records(Output)}
        same = [j for j in workspace.store.records(Judgment) if editors[j.left_id] in ("studio-exact", "twin", "late")]
        here = [judgment for judgment in same if judgment.item_id == twin.item_id]
    assert {editors[judgment.left_id] for judgment in here} == {"studio-exact", "twin", "late"}
    assert len({judgment.score for judgment in here}) == 1
    assert sum(judgment.usage.cost_usd is not None for judgment in here) == 1
    assert imarena("-w", "a", "--json", "verify", "--deep").json["clean"] is True


def test_an_item_that_a_judge_cannot_be_shown_is_left_out_and_told(imarena: Imarena, root: Path) -> None:
    with open_workspace(root) as workspace:
        data = samples.png(5)
        image = ImageRef(sha256=sha256_hex(data), size_bytes=len(data), media_type="image/png", width=24, height=16)
        workspace.keep(image, data)
        item = Item(dataset="made", key="k", turns=(Turn(instruction="a red car"),))
        workspace.store.add([item, Output(item_id=item.item_id, editor="studio-exact", image=image)])
    with fake_server() as server:
        point_at(root, server.url)
        ended = imarena("-w", "a", "--json", "judge", "--judge", "cv-judge")
        (report,) = ended.json["reports"]
        assert report["judgments"] == {"ok": 4}
        ((reason, number),) = report["unfit"].items()
        assert number == 1
        assert "source" in reason


def test_wrong_names_suggest(imarena: Imarena, root: Path) -> None:
    point_at(root, "http://127.0.0.1:9/v1")
    for words, wanted in (
        (("--judge", "bultin"), "Did you mean 'builtin'?"),
        (("--judge", "genarena"), "imarena -w a battle"),
    ):
        ended = imarena("-w", "a", "judge", *words, code=2)
        assert wanted in " ".join(ended.err.split()), ended.err
        assert "Traceback" not in ended.err


@pytest.mark.parametrize(
    ("chosen", "wanted"),
    [
        ({"editors": ["studio-exakt"]}, "Did you mean 'studio-exact'?"),
        ({"datasets": ["studoi"]}, "Did you mean 'studio'?"),
        ({"arguments": EndpointArguments(endpoint="fkae")}, "Did you mean 'fake'?"),
        ({"arguments": EndpointArguments(base_url=("http://x/v1",))}, "--model"),
    ],
)
def test_wrong_filters_and_endpoints_suggest(root: Path, chosen: dict[str, Any], wanted: str) -> None:
    point_at(root, "http://127.0.0.1:9/v1")
    judge = "cv-judge" if "arguments" in chosen else "builtin"
    with open_workspace(root) as workspace, pytest.raises(UserError) as raised:
        plan_scores(workspace, [judge], **chosen)
    assert wanted in str(raised.value)


def test_a_judge_of_the_settings_file(imarena: Imarena, root: Path) -> None:
    with fake_server() as server:
        point_at(root, server.url)
        with (root / "imarena.toml").open("a") as file:
            file.write('[judges.strict]\nkind = "cv-judge"\nendpoint = "fake"\nsuccess_threshold = 900\n')
        report = imarena("-w", "a", "--json", "judge", "--judge", "strict", "--tasks", *first_task(root)).json
    assert report["reports"][0]["judge"] == "cv-judge/fake-vlm"
    with open_workspace(root) as workspace:
        judgment = next(iter(workspace.store.records(Judgment)))
        (run,) = workspace.store.records(Run, command="judge")
    assert judgment.params["success_threshold"] == 900
    assert run.state == "done"


def first_task(root: Path) -> list[str]:
    with open_workspace(root) as workspace:
        return [str(next(iter(workspace.store.records(Item))).task)]


def test_reparse_reads_old_replies_with_the_present_parser(imarena: Imarena, root: Path) -> None:
    with fake_server() as server:
        point_at(root, server.url)
        imarena("-w", "a", "judge", "--judge", "cv-judge")
        asked = server.counts()["requests"]
        nothing = imarena("-w", "a", "--json", "reparse").json
        assert (nothing["read"], nothing["current"]) == (0, 4)
        with open_workspace(root) as workspace:
            store = workspace.store
            good = next(iter(store.records(Judgment)))
            reply = store.get(Reply, good.reply_id or "")
            assert reply is not None
            # What an older parser would have left behind: the same reply, not understood.
            work = content_id("work", "old")
            kept = Reply(work_id=work, raw=reply.raw)
            nothing_read: dict[str, object] = {
                "status": Status.UNPARSABLE,
                "score": None,
                "scores": {},
                "success": None,
                "error": "?",
            }
            old = good.model_copy(update={
                **nothing_read, "work_id": work, "attempt": 0, "reply_id": kept.reply_id, "parser_version": "0",
                "confidence": None, "reasons": {},
            })  # fmt: skip
            store.add([kept, old])
        found = imarena("-w", "a", "--json", "reparse").json
        assert found["changed"] == {"unparsable to ok": 1}
        assert imarena("-w", "a", "--json", "reparse").json["read"] == 0
        assert server.counts()["requests"] == asked
    with open_workspace(root) as workspace:
        (new,) = [j for j in workspace.store.records(Judgment) if j.supersedes == old.judgment_id]
    assert (new.status, new.score, new.scores) == (good.status, good.score, good.scores)
    assert imarena("-w", "a", "--json", "verify", "--deep").json["clean"] is True


def test_a_withdrawn_picture_ends_its_own_judgment_and_no_other(imarena: Imarena, root: Path) -> None:
    with open_workspace(root) as workspace:
        output = next(iter(workspace.store.records(Output, editor="studio-exact")))
    assert output.image is not None
    imarena("-w", "a", "withdraw", "image", output.image.sha256, "--reason", "asked")
    (report,) = imarena("-w", "a", "--json", "judge", code=3).json["reports"]
    assert report["judgments"] == {"ok": 3, "invalid_image": 1}
