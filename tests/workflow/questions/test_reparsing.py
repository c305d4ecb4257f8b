"""Reading stored replies again: older prompts, prompts of one's own, checklists, and what cannot be read."""

import json
import shutil
from pathlib import Path
from typing import Any

import pytest
import yaml

from imarena.core.ids import content_id
from imarena.core.records import Judgment, Reply, Status
from imarena.judges.chat.prompt import load_prompt
from imarena.storage import open_workspace
from imarena.workflows.serving.judge_monitor import judge_health
from imarena.workflows.serving.leaderboards import Leaderboards
from tests.command import Imarena
from tests.servers.fake_endpoint import fake_server, point_at
from tests.small_data.small_arena import make_arena

LIST = """
name: tiny
version: "1"
questions:
  - {id: sharp, text: "Is the picture sharp?", weight: 2}
  - {id: clean, text: "Is the picture clean?", weight: 1}
"""

GOOD = json.dumps({
    "semantic_consistency": 800, "editing_success": 600, "prompt_following": 700, "perceptual_quality": 900, "reasons": {},
})  # fmt: skip


@pytest.fixture(scope="module")
def arena(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("arena") / "a"
    make_arena(root, items=1, habits=("exact", "returns-input"))
    return root


@pytest.fixture
def root(arena: Path, tmp_path: Path) -> Path:
    shutil.copytree(arena, tmp_path / "a")
    return tmp_path / "a"


def age(root: Path, number: int = 1, **changes: Any) -> list[Judgment]:
    """Leave behind what an older version would have: the same replies, read by parser '0', with these changes."""
    made = []
    with open_workspace(root) as workspace:
        for good in list(workspace.store.records(Judgment, status="ok"))[:number]:
            reply = workspace.store.get(Reply, good.reply_id or "")
            assert reply is not None
            work = content_id("work", "old", good.judgment_id, str(changes))
            kept = Reply(work_id=work, raw=reply.raw)
            nothing: dict[str, Any] = {
                "status": Status.UNPARSABLE, "score": None, "scores": {}, "success": None, "error": "?",
                "confidence": None, "reasons": {}, "preference": None, "parser_version": "0",
            }  # fmt: skip
            old = good.model_copy(
                update={**nothing, "work_id": work, "attempt": 0, "reply_id": kept.reply_id, **changes}
            )
            workspace.store.add([kept, old])
            made.append(old)
    return made


def test_replies_to_an_older_prompt_are_read(imarena: Imarena, root: Path) -> None:
    with fake_server() as server:
        point_at(root, server.url)
        imarena("-w", "a", "judge", "--judge", "cv-judge")
    with open_workspace(root) as workspace:
        good = next(iter(workspace.store.records(Judgment)))
    params = {**good.params, "prompt_sha256": {"score": "0" * 64}}
    (old,) = age(root, prompt_version="0", params=params)
    found = imarena("-w", "a", "--json", "reparse").json
    assert found["changed"] == {"unparsable to ok": 1}
    assert found["skipped"] == {}
    with open_workspace(root) as workspace:
        (new,) = [j for j in workspace.store.records(Judgment) if j.supersedes == old.judgment_id]
    assert (new.score, new.prompt_version, new.params) == (good.score, "0", params)


def test_replies_to_a_prompt_of_ones_own_are_read(imarena: Imarena, root: Path, tmp_path: Path) -> None:
    mine = {**load_prompt("genarena-pairwise").model_dump(mode="json"), "prompt_id": "mine", "version": "7"}
    path = tmp_path / "mine.yaml"
    path.write_text(yaml.safe_dump(mine))
    with fake_server() as server:
        point_at(root, server.url)
        imarena("-w", "a", "battle", "--judge", "genarena", "--option", f"prompt={path}")
    path.unlink()
    age(root, 2)
    assert imarena("-w", "a", "--json", "reparse").json["changed"] == {"unparsable to ok": 2}


@pytest.mark.parametrize("how", ["option", "settings"])
def test_a_checklist_needs_its_questions(imarena: Imarena, root: Path, tmp_path: Path, how: str) -> None:
    path = tmp_path / "list.yaml"
    path.write_text(LIST)
    with fake_server() as server:
        point_at(root, server.url)
        imarena("-w", "a", "judge", "--judge", "checklist", "--option", f"questions={path}")
    (old,) = age(root)
    left = imarena("-w", "a", "--json", "reparse").json
    assert left["read"] == 0
    assert all("needs the option questions" in reason for reason in left["skipped"])
    if how == "settings":
        with (root / "imarena.toml").open("a") as file:
            file.write(f'\n[judges.tiny]\nkind = "checklist"\nquestions = "{path}"\n')
        found = imarena("-w", "a", "--json", "reparse").json
    else:
        found = imarena("-w", "a", "--json", "reparse", "--option", f"questions={path}").json
    assert found["changed"] == {"unparsable to ok": 1}
    path.write_text(LIST.replace("weight: 2", "weight: 3"))
    age(root, 1, repeat=5)
    other = imarena("-w", "a", "--json", "reparse", "--option", f"questions={path}").json
    assert other["read"] == 0
    assert any("another checklist_sha256" in reason for reason in other["skipped"])
    assert old.judge == "checklist-tiny/fake-vlm"


def test_what_cannot_be_read_is_counted_with_its_reason(imarena: Imarena, root: Path) -> None:
    with fake_server() as server:
        point_at(root, server.url)
        imarena("-w", "a", "judge", "--judge", "cv-judge")
    imarena("-w", "a", "judge", "--judge", "builtin")
    with open_workspace(root) as workspace:
        good = next(j for j in workspace.store.records(Judgment) if j.judge.startswith("cv-judge"))
    age(root, judge="gone/model")
    age(root, judge=good.judge, params={**good.params, "prompt_sha256": {"first": "1", "second": "2"}})
    age(root, judge=good.judge, params={**good.params, "lost_setting": 1})
    age(root, judge=good.judge, params=good.params, status=Status.TIMEOUT)
    found = imarena("-w", "a", "--json", "reparse").json
    reasons = " | ".join(found["skipped"])
    assert "no judge of the kind 'gone' is known here" in reasons
    assert "it was asked first, second; this version's reader knows score" in reasons
    assert "its reader cannot be made" in reasons
    assert "it asks no model" in reasons
    assert found["without_answer"] == {"timeout": 1}
    shown = imarena("-w", "a", "reparse").out
    assert "not read again: gone/model" in shown
    assert "no answer to read: 1 timeout" in shown


def test_what_was_read_or_answered_since_is_not_missing(imarena: Imarena, root: Path) -> None:
    with fake_server("--fault", "server_error=1.0") as server:
        point_at(root, server.url)
        imarena("-w", "a", "judge", "--judge", "cv-judge", code=3)
    first = imarena("-w", "a", "--json", "reparse").json
    assert first["without_answer"] == {"api_error": 2}
    assert "2 missing" in imarena("-w", "a", "status").out
    with open_workspace(root) as workspace:  # one is answered by a later attempt, the other has a reply to read
        failed = list(workspace.store.records(Judgment))
        reply = Reply(work_id=failed[1].work_id, attempt=1, raw=GOOD)
        ok = {"attempt": 1, "status": Status.OK, "score": 1.0, "error": "", "run_id": "run_other"}
        unread = {"attempt": 1, "status": Status.UNPARSABLE, "reply_id": reply.reply_id, "parser_version": "0"}
        workspace.store.add([failed[0].model_copy(update=ok), reply, failed[1].model_copy(update=unread)])
    assert imarena("-w", "a", "--json", "status").json["missing"] == {"judgments unparsable": 1}
    assert "1 missing" in imarena("-w", "a", "status").out
    found = imarena("-w", "a", "--json", "reparse").json
    assert (found["changed"], found["without_answer"]) == ({"unparsable to ok": 1}, {})
    told = imarena("-w", "a", "--json", "status").json
    assert (told["missing"], told["unfinished"]) == ({}, [])
    assert told["judgments"] == {"cv-judge/fake-vlm": {"ok": 2}}, "an attempt or a reading that was replaced counts"
    with open_workspace(root) as workspace:
        (health,) = judge_health(Leaderboards(workspace))
        assert (health.ok, dict(health.failed)) == (2, {})


def test_an_old_reply_to_a_question_that_was_answered_later_is_left_alone(imarena: Imarena, root: Path) -> None:
    with fake_server() as server:
        point_at(root, server.url)
        imarena("-w", "a", "judge", "--judge", "cv-judge")
    with open_workspace(root) as workspace:
        good = next(iter(workspace.store.records(Judgment)))
        reply = Reply(work_id=good.work_id, attempt=1, raw=GOOD)
        nothing: dict[str, Any] = {
            "status": Status.UNPARSABLE,
            "score": None,
            "scores": {},
            "success": None,
            "reasons": {},
        }
        update = {**nothing, "attempt": 1, "parser_version": "0", "reply_id": reply.reply_id}
        workspace.store.add([reply, good.model_copy(update=update)])
    assert imarena("-w", "a", "--json", "reparse").json["read"] == 0
