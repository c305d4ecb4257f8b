"""`imarena edit` end to end: every kind of editor, statuses with what to do, cost, resume."""

import json
from pathlib import Path

import pytest
from PIL import Image

from imarena.core.records import Evidence, Item, Mode, Output, Status, Turn
from imarena.storage import init_workspace, open_workspace
from imarena.workflows.wiring.editors import wire_editors
from tests.command import Imarena
from tests.samples import kept
from tests.servers.fake_pictures_server import TABLES, add_editors, filled, pictures_server
from tests.workflow.editing.edited import outputs


def test_every_endpoint_kind_end_to_end(imarena: Imarena, tmp_path: Path) -> None:
    root = filled(tmp_path / "w", 6)
    with pictures_server() as server:
        add_editors(root, server.root)
        chosen = [word for name in TABLES for word in ("--editor", name)]
        planned = imarena("-w", root, "--json", "edit", *chosen, "--dry-run").json
        assert sum(found["cost_usd"] for found in planned["estimates"]) == pytest.approx(0.04 * 30)
        assert planned["report"] is None
        done = imarena("-w", root, "--json", "edit", *chosen).json["report"]
        counts = server.counts()
    assert done["outputs"] == {"ok": 30}
    assert counts["made"] == 30
    for name in TABLES:
        made = outputs(root, editor=name)
        assert {output.status for output in made} == {Status.OK}
        assert all(output.image and output.image.width == 24 and output.seed == 42 for output in made)
        assert all(output.latency_s is not None and output.cost_usd for output in made)
    assert (root / "contact-sheet.html").exists()
    with Image.open(root / "contact-sheet.jpg") as sheet:
        assert sheet.width > 5 * 160
    again = imarena("-w", root, "--json", "edit", *chosen).json["report"]
    assert again["outputs"] == {}
    assert again["done_before"] == 30


BAD = {
    "text": (Status.MISSING_OUTPUT, "words"),
    "html": (Status.API_ERROR, "base_url"),
    "truncated": (Status.INVALID_IMAGE, "truncated"),
    "not_an_image": (Status.INVALID_IMAGE, ""),
    "ten_images": (Status.UNPARSABLE, "10 images"),
    "other_size": (Status.OK, ""),
    "refusal": (Status.REFUSED, "IMAGE_SAFETY"),
    "blocked": (Status.REFUSED, "SAFETY"),
}


def test_bad_replies_are_statuses_with_a_message(imarena: Imarena, tmp_path: Path) -> None:
    root = tmp_path / "w"
    with init_workspace(root) as workspace:
        items = [
            Item(dataset="bad", key=name, sources=(kept(workspace, 1),), turns=(Turn(instruction=f"[fault: {name}]"),))
            for name in BAD
        ]
        workspace.store.add(items)
    with pictures_server() as server:
        add_editors(root, server.root, {"gemini": TABLES["gemini"]})
        report = imarena("-w", root, "--json", "edit", "-e", "gemini", code=3).json["report"]
    keys = {item.item_id: item.key for item in items}
    found = {keys[output.item_id]: output for output in outputs(root)}
    for name, (status, words) in BAD.items():
        assert found[name].status is status, name
        assert words in found[name].error, found[name].error
        assert (status is Status.OK) == (found[name].error == "")
    assert report["flags"] == {"gemini": {"wrong_shape": 1}}
    shaped = found["other_size"].image
    assert shaped is not None
    assert (shaped.width, shaped.height) == (12, 16)


def test_a_key_that_is_missing_or_refused(imarena: Imarena, tmp_path: Path) -> None:
    root = filled(tmp_path / "w", 4)
    with pictures_server("--api-key", "right-key") as server:
        add_editors(root, server.root, {"openai": {**TABLES["openai"], "api_key_env": "SOME_KEY"}})
        missing = imarena("-w", root, "edit", "-e", "openai", code=2, env={"SOME_KEY": ""})
        assert "SOME_KEY" in missing.err
        assert "export" in missing.err
        assert server.counts()["requests"] == 0
        refused = imarena("-w", root, "--json", "edit", "-e", "openai", code=3, env={"SOME_KEY": "wrong-key"})
        assert refused.json["report"]["outputs"] == {"api_error": 4}
        assert "SOME_KEY" in next(iter(refused.json["report"]["errors"].values()))
        assert "wrong-key" not in refused.out + refused.err
        done = imarena("-w", root, "--json", "edit", "-e", "openai", env={"SOME_KEY": "right-key"})
        assert done.json["report"]["outputs"] == {"ok": 4}


def test_an_estimate_rests_only_on_what_was_made_in_the_same_way(imarena: Imarena, tmp_path: Path) -> None:
    root = filled(tmp_path / "w", 6)
    with pictures_server("--api-key", "right-key") as server:
        add_editors(root, server.root, {"openai": {**TABLES["openai"], "api_key_env": "SOME_KEY"}})
        words = ("-w", root, "--json", "edit", "-e", "openai")
        imarena(*words, code=3, env={"SOME_KEY": "wrong-key"})
        after = imarena(*words, "--dry-run", env={"SOME_KEY": "right-key"}).json["estimates"][0]
        assert after["cost_usd"] == pytest.approx(6 * 0.04)  # six refused keys do not make it free
        imarena(*words, env={"SOME_KEY": "right-key"})
        more = ("--samples", 2, "--dry-run")
        same = imarena(*words, *more, env={"SOME_KEY": "right-key"}).json["estimates"][0]
        assert "earlier" in same["basis"]
        assert same["notice"] == ""
        dearer = ("-o", "quality=high", "-o", "usd_per_image=0.3")
        other = imarena(*words, *more, *dearer, env={"SOME_KEY": "right-key"}).json["estimates"][0]
        assert other["cost_usd"] == pytest.approx(6 * 0.3)
        assert "6 of those done before" in other["notice"]


def test_other_options_do_not_go_under_the_same_name(imarena: Imarena, tmp_path: Path) -> None:
    root = filled(tmp_path / "w", 2)
    words = ("-w", root, "--json", "edit", "-e", "command:" + json.dumps(["cp", "{source}", "{output}"]), "--no-sheet")
    imarena(*words, "--limit", 1)
    told = imarena(*words, "-o", "timeout_s=5", "--seed", 7, code=2).err
    assert "seed was 42 and is 7" in told
    assert "--as command:cp-2" in told
    assert imarena(*words, "--seed", 7, "--dry-run").json["estimates"][0]["new"] == 1
    assert imarena(*words, "--seed", 7, "--mixed").json["report"]["outputs"] == {"ok": 1}
    assert imarena(*words, "--seed", 7, "--as", "other").json["report"]["outputs"] == {"ok": 2}
    assert {output.seed for output in outputs(root, editor="other")} == {7}
    assert imarena(*words, "--seed", 7, "--as", "other").json["report"]["done_before"] == 2
    assert "at a time" in imarena(*words, "-e", "classical", "--as", "x", code=2).err
    agent = ("-w", root, "edit", "-e", "agent:classical", "--no-sheet", "--limit", 1)
    with open_workspace(root) as workspace:
        item = next(iter(workspace.store.records(Item)))
        made = wire_editors(workspace, ["agent:classical"])[0]
        kept_picture = next(output.image for output in workspace.store.records(Output) if output.image)
        workspace.store.add(
            [
                Output(
                    item_id=item.item_id, editor=made.name, editor_version=made.version, params=made.params, seed=42,
                    image=kept_picture, status=Status.OK,
                )
            ]
        )  # fmt: skip
    assert "agent.steps was 4 and is 2" in imarena(*agent, "-o", "steps=2", code=2).err


def test_the_cost_limit_stops_and_the_rest_follows(imarena: Imarena, tmp_path: Path) -> None:
    root = filled(tmp_path / "w", 12)
    with pictures_server() as server:
        add_editors(root, server.root)
        stopped = imarena("-w", root, "--json", "edit", "-e", "openai", "--max-cost-usd", 0.21, code=3).json["report"]
        assert stopped["outputs"] == {"ok": 5}
        assert stopped["cost_usd"] <= 0.21
        assert "--max-cost-usd" in stopped["stopped"]
        rest = imarena("-w", root, "--json", "edit", "-e", "openai").json["report"]
        assert rest["outputs"] == {"ok": 7}
        assert server.counts()["made"] == 12
        assert server.counts()["repeated"] == 0
    unpriced = {"openai": {**TABLES["openai"]}}
    other = filled(tmp_path / "x", 1)
    add_editors(other, "http://127.0.0.1:9", unpriced)
    text = (other / "imarena.toml").read_text().replace("usd_per_image = 0.04\n", "")
    (other / "imarena.toml").write_text(text)
    assert "usd_per_image" in imarena("-w", other, "edit", "-e", "openai", "--max-cost-usd", 1, code=2).err


def test_all_modes_all_six_tasks_and_samples(imarena: Imarena, tmp_path: Path) -> None:
    root = tmp_path / "w"
    with init_workspace(root) as workspace:
        pictures = [kept(workspace, n) for n in range(4)]
        shapes = {"TIG": (0, 0), "TIE": (1, 0), "SRIG": (0, 1), "SRIE": (1, 1), "MRIG": (0, 3), "MRIE": (1, 3)}
        items = [
            Item(
                dataset="six", key=task, task=task, topic="P", sources=tuple(pictures[:sources]),
                references=tuple(pictures[1 : 1 + references]), turns=(Turn(instruction=f"do {task}"),),
            )
            for task, (sources, references) in shapes.items()
        ]  # fmt: skip
        turns = tuple(Turn(instruction=words) for words in ("Add a dog", "Remove the cat", "Make it red"))
        items.append(Item(dataset="six", key="long", sources=(pictures[0],), turns=turns))
        cut = (Turn(instruction="Add a dog [fault: refusal]"), *turns[1:])
        items.append(Item(dataset="six", key="cut", sources=(pictures[0],), turns=cut))
        workspace.store.add(items)
    with pictures_server() as server:
        add_editors(root, server.root, {"gemini": TABLES["gemini"]})
        report = imarena(
            "-w", root, "--json", "edit", "-e", "gemini", "--mode", "all", "--samples", 2, "--wrap", code=3
        ).json["report"]  # fmt: skip
    assert report["outputs"] == {"ok": 2 * (6 + 3 + 1), "refused": 2 * 2}
    assert report["cut_off"] == 2 * 2  # the second and the third turn of a chain whose first was refused
    made = outputs(root, status=Status.OK.value)
    assert {output.seed for output in made} == {42, 43}
    chain = [output for output in made if output.mode is Mode.MULTI_TURN and output.sample == 0]
    assert [output.turn for output in chain] == [0, 1, 2]
    assert chain[1].parent_id == chain[0].output_id
    assert chain[2].parent_id == chain[1].output_id
    assert [output.turn for output in made if output.mode is Mode.COMPLEX] == [2, 2]
    assert all(output.params["wrap"] == "1" for output in made)


def test_words_around_an_instruction_are_for_models_only(imarena: Imarena, tmp_path: Path) -> None:
    root = filled(tmp_path / "w", 1, instruction="Make the photo brighter")
    editors = ("-e", "classical", "-e", "best-of-2:classical", "-e", "agent:classical")
    imarena("-w", root, "--json", "edit", *editors, "--wrap")
    plain = filled(tmp_path / "x", 1, instruction="Make the photo brighter")
    imarena("-w", plain, "--json", "edit", *editors)

    def pixels(where: Path) -> dict[str | None, str]:
        return {output.editor: output.image.sha256 for output in outputs(where) if output.image}

    assert len(pixels(root)) == 3
    assert pixels(root) == pixels(plain)
    assert not any("wrap" in output.params for output in outputs(root))


def test_an_option_that_no_editor_takes_is_not_passed_over(imarena: Imarena, tmp_path: Path) -> None:
    root = filled(tmp_path / "w", 1)
    for editor, option in (("classical", "foo=1"), ("studio-timid", "steps=2"), ("best-of-2:classical", "steps=2")):
        said = imarena("-w", root, "edit", "-e", editor, "-o", option, code=2).err
        assert option.partition("=")[0] in said
    imarena("-w", root, "edit", "-e", "classical", "-e", "agent:classical", "-o", "steps=2", "--dry-run")


def test_failure_modes_are_stored_as_evidence(imarena: Imarena, tmp_path: Path) -> None:
    root = tmp_path / "w"
    imarena("init", root)
    keys = ["edival-02", "world-tie-p", "world-mrie-s"]
    chosen = [word for key in keys for word in ("--items", key)]
    editors = ["-e", "studio-exact", "-e", "studio-returns-input", "-e", "studio-new-image"]
    done = imarena("-w", root, "--json", "edit", "--studio", *chosen, *editors, "--mode", "all").json["report"]
    assert done["flags"]["studio-returns-input"]["unchanged"] == done["by_editor"]["studio-returns-input"]["ok"]
    assert done["flags"]["studio-new-image"]["new_image"] == done["by_editor"]["studio-new-image"]["ok"]
    assert "studio-exact" not in done["flags"]
    with open_workspace(root) as workspace:
        found = list(workspace.store.records(Evidence, tool="edit-failure-modes"))
    assert found
    assert all("same_mean" in one.params and isinstance(one.value, dict) for one in found)


def test_wrong_words_say_what_to_do(imarena: Imarena, tmp_path: Path) -> None:
    root = filled(tmp_path / "w", 1)
    assert "studio-timid" in imarena("-w", root, "edit", "-e", "studio-timit", code=2).err
    assert "--editor" in imarena("-w", root, "edit", code=2).err
    assert "mode" in imarena("-w", root, "edit", "-e", "classical", "--mode", "both", code=2).err
    assert "item-0000" in imarena("-w", root, "edit", "-e", "classical", "--items", "item-000", code=2).err
    assert "JSON" in imarena("-w", root, "edit", "-e", "command:rm -rf x", code=2).err
    assert "{output}" in imarena("-w", root, "edit", "-e", 'command:["cp","{source}"]', code=2).err
    assert "vision" in imarena("-w", root, "edit", "-e", "instruct-pix2pix", code=None).err
    empty = tmp_path / "e"
    imarena("init", empty)
    assert "import" in imarena("-w", empty, "edit", "-e", "classical", code=2).err
    listed = imarena("-w", root, "--json", "edit", "--list").json
    assert {"classical", "gpt-image-1", "agent:EDITOR", "folder:PATH"} <= set(listed)
    assert set(imarena("-w", "nowhere", "--json", "edit", "--list").json) <= set(listed)
