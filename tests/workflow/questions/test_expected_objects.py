"""Expected objects from the command line: by the built-in reader and by a model, stored once, kept through everything."""

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from imarena.clients.fake_answers import ChatQuery
from imarena.core.records import Evidence, Item, Judgment, Mode, Output, Reply, Turn
from imarena.storage import Workspace, open_workspace
from imarena.workflows.questions.expected_objects import KIND, expected_objects, objects_question
from tests import samples
from tests.command import Imarena
from tests.servers.fake_endpoint import fake_server, point_at
from tests.small_data.small_arena import make_arena

GENERATION = "A cat on a red sofa"


def answer(query: ChatQuery) -> str:
    """For the fake server: the names of things depend on the words alone."""
    if "objects" in json.dumps(query.schema or {}):
        count = len(query.images)
        return json.dumps({"objects": [{"name": f"thing with {count} pictures", "present": True}, "old hat"]})
    from tests.servers.fake_endpoint import answer as usual

    return usual(query)


@pytest.fixture(scope="module")
def arena(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("arena") / "a"
    make_arena(root, items=2, habits=("exact",))
    with open_workspace(root) as workspace:
        workspace.store.add([Item(dataset="made", key="cat", turns=(Turn(instruction=GENERATION),))])
    return root


@pytest.fixture
def root(arena: Path, tmp_path: Path) -> Path:
    shutil.copytree(arena, tmp_path / "a")
    return tmp_path / "a"


def asked(imarena: Imarena, *words: object, code: int = 0) -> Any:
    return imarena("-w", "a", "--json", "objects", *words, code=code).json


def by_key(document: Any) -> dict[str, list[str]]:
    return {one["key"]: one["objects"] for one in document["lists"]}


def test_without_a_model_the_reader_lists(imarena: Imarena, root: Path) -> None:
    first = asked(imarena)
    assert first["reports"][0]["judgments"] == {"ok": 3}
    assert by_key(first)["cat"] == ["cat", "red sofa"]
    again = asked(imarena)["reports"][0]
    assert (again["planned"], again["done_before"]) == (0, 3)
    assert "cat, red sofa" in imarena("-w", "a", "objects", "-d", "made").out
    assert "Did you mean 'made'?" in imarena("-w", "a", "objects", "-d", "mode", code=2).err
    assert "needs an endpoint" in imarena("-w", "a", "objects", "--model", "x", code=2).err


def test_a_model_is_asked_once_and_its_list_is_the_one_that_counts(imarena: Imarena, root: Path) -> None:
    with fake_server("--answer", "tests.workflow.questions.test_expected_objects:answer") as server:
        point_at(root, server.url)
        planned = imarena("-w", "a", "objects", "--endpoint", "fake", "--dry-run")
        assert "3 questions to ask" in planned.err
        assert "USD" in planned.err
        assert server.counts()["requests"] == 0
        found = asked(imarena, "--endpoint", "fake")
        assert found["reports"][0]["judgments"] == {"ok": 3}
        assert by_key(found)["cat"] == ["thing with 0 pictures", "old hat"]
        assert {len(objects) for objects in by_key(found).values()} == {2}
        assert asked(imarena, "--endpoint", "fake")["reports"][0]["done_before"] == 3
        assert server.counts()["requests"] == 3
        later = imarena("-w", "a", "objects", "--endpoint", "fake", "--option", "temperature=0.5", "--dry-run")
        assert "3 questions to ask, 0 done before" in later.err, "other settings are other work"
        assert "earlier replies" in later.err, "the estimate rests on what was measured"
    asked(imarena)
    with open_workspace(root) as workspace:
        item = next(iter(workspace.store.records(Item, dataset="made")))
        assert expected_objects(workspace, item) == ("thing with 0 pictures", "old hat"), "a model outranks the reader"
        assert len(list(workspace.store.records(Reply))) == 3


def test_failures_have_their_status_and_are_asked_again(imarena: Imarena, root: Path) -> None:
    with fake_server("--fault", "refusal=1.0") as server:
        point_at(root, server.url)
        report = asked(imarena, "--endpoint", "fake", code=3)["reports"][0]
        assert report["judgments"] == {"refused": 3}
        assert report["missing"] == 3
    assert "objects by objects/fake-vlm: 3 missing" in imarena("-w", "a", "status").out
    with open_workspace(root) as workspace:
        item = next(iter(workspace.store.records(Item, dataset="made")))
        assert expected_objects(workspace, item) == ("cat", "red sofa"), "a failure is no list"
    with fake_server("--answer", "tests.workflow.questions.test_expected_objects:answer") as server:
        point_at(root, server.url)
        assert asked(imarena, "--endpoint", "fake")["reports"][0]["judgments"] == {"ok": 3}
        assert server.counts()["requests"] == 3
    assert "missing" not in imarena("-w", "a", "status").out


def test_the_cost_limit_stops_before_it_is_passed(imarena: Imarena, root: Path) -> None:
    with fake_server("--answer", "tests.workflow.questions.test_expected_objects:answer") as server:
        point_at(root, server.url)
        report = asked(imarena, "--endpoint", "fake", "--max-cost-usd", "0.000001", code=3)["reports"][0]
        assert "cost limit" in report["stopped"]
        assert report["missing"] == 3
        assert server.counts()["requests"] == 0


def test_lists_survive_verify_backup_and_export(imarena: Imarena, root: Path, tmp_path: Path) -> None:
    with fake_server("--answer", "tests.workflow.questions.test_expected_objects:answer") as server:
        point_at(root, server.url)
        asked(imarena, "--endpoint", "fake")
    imarena("-w", "a", "verify", "--deep")
    imarena("-w", "a", "backup", "kept")
    imarena("-w", "b", "restore", "kept")
    imarena("-w", "a", "export", "native_jsonl", "out")
    imarena("init", "c")
    imarena("-w", "c", "import", "native_jsonl", "out")
    for name in ("b", "c"):
        with open_workspace(tmp_path / name) as workspace:
            item = next(iter(workspace.store.records(Item, dataset="made")))
            assert expected_objects(workspace, item) == ("thing with 0 pictures", "old hat"), name
    imarena("-w", "c", "verify", "--deep")
    imarena("-w", "c", "gc")


def test_a_judge_that_is_shown_the_list_is_other_work_and_a_changed_list_too(imarena: Imarena, root: Path) -> None:
    judge = ("judge", "--judge", "imagenworld", "--option", "objects=true")
    with fake_server("--answer", "tests.workflow.questions.test_expected_objects:answer") as server:
        point_at(root, server.url)
        for words, planned in ((("judge", "--judge", "imagenworld"), 2), (judge, 2), (judge, 0)):
            assert imarena("-w", "a", "--json", *words).json["reports"][0]["planned"] == planned
        asked(imarena, "--endpoint", "fake")
        assert imarena("-w", "a", "--json", *judge).json["reports"][0]["judgments"] == {"ok": 2}
    with open_workspace(root) as workspace:
        prompts = [judgment.prompt_id for judgment in workspace.store.records(Judgment)]
    assert sorted(prompts) == ["imagenworld"] * 2 + ["imagenworld-listed"] * 4


def test_after_several_turns_the_list_is_about_all_of_them(workspace: Workspace) -> None:
    turns = (Turn(instruction="Add a hat."), Turn(instruction="Remove the dog."))
    item = Item(dataset="d", key="k", turns=turns, sources=(samples.kept(workspace),))
    output = Output(item_id=item.item_id, turn=1, mode=Mode.MULTI_TURN, editor="e", image=samples.kept(workspace, 2))
    workspace.store.add([item, output])
    assert expected_objects(workspace, item, 1, Mode.MULTI_TURN) == ("hat", "dog (should not be present)")
    assert objects_question(item, 1, Mode.MULTI_TURN) == objects_question(item, 1, Mode.COMPLEX)
    assert objects_question(item, 0, Mode.MULTI_TURN) == objects_question(item, 0, Mode.SINGLE)
    assert expected_objects(workspace, item, 1, Mode.SINGLE) == ("dog (should not be present)",)
    other = item.model_copy(update={"key": "other", "topic": "x"})
    assert objects_question(other, 0, Mode.SINGLE).subject == objects_question(item, 0, Mode.SINGLE).subject
    assert not list(workspace.store.records(Evidence, kind=KIND)), "looking stores nothing"


def test_an_empty_workspace_is_told_what_to_do(imarena: Imarena) -> None:
    imarena("-w", "new", "init")
    ended = imarena("-w", "new", "objects", code=2)
    assert "no items" in ended.err
    assert "mport" in ended.err
