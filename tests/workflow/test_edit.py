"""`imarena edit` end to end: every kind of editor, statuses with what to do, cost, resume."""

import json
import os
import signal
import sys
from pathlib import Path
from typing import Any

import pytest
from PIL import Image, ImageOps

from imarena.core.ids import sha256_hex
from imarena.core.records import Evidence, Item, Mode, Output, Status, Turn
from imarena.storage import init_workspace, open_workspace
from imarena.workflows.editing_advice import ADVICE
from imarena.workflows.editor_wiring import wire_editors
from tests.command import Imarena
from tests.fake_pictures_server import TABLES, add_editors, filled, pictures_server
from tests.samples import kept, png

FUNCTION = """
import io
from PIL import Image, ImageOps

def invert(request):
    return ImageOps.invert(Image.open(io.BytesIO(request.sources[0])).convert("RGB"))

def words(request):
    return "a picture"

def broken(request):
    raise RuntimeError("no memory left")
"""
PROGRAM = """
import sys
from PIL import Image, ImageOps
source, words, output = sys.argv[1:]
if words == "hang":
    import time; time.sleep(60)
if words == "fail":
    sys.exit("the model file is missing")
if words != "nothing":
    ImageOps.mirror(Image.open(source).convert("RGB")).save(output)
"""


def outputs(root: Path, **where: Any) -> list[Output]:
    with open_workspace(root) as workspace:
        return list(workspace.store.records(Output, **where))


def statuses(root: Path, editor: str) -> dict[str, int]:
    found: dict[str, int] = {}
    for output in outputs(root, editor=editor):
        found[output.status.value] = found.get(output.status.value, 0) + 1
    return found


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
    "ten_images": (Status.UNPARSABLE, "10 pictures"),
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
        params = getattr(made, "params", {})
        kept_picture = next(output.image for output in workspace.store.records(Output) if output.image)
        workspace.store.add(
            [
                Output(
                    item_id=item.item_id, editor=made.name, editor_version=made.version, params=params, seed=42,
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


def test_functions_commands_and_folders(imarena: Imarena, tmp_path: Path) -> None:
    root = filled(tmp_path / "w", 3)
    guide = (Path(__file__).parents[2] / "docs" / "guide" / "editors.md").read_text(encoding="utf-8")
    (tmp_path / "mine.py").write_text(FUNCTION)
    (tmp_path / "brighter.py").write_text(guide.partition("```python\n")[2].partition("```")[0])
    (tmp_path / "program.py").write_text(PROGRAM)
    finished = tmp_path / "finished"
    finished.mkdir()
    for name in ("item-0000.png", "item-0001.jpg"):
        (finished / name).write_bytes(png(50))
    command = json.dumps([sys.executable, str(tmp_path / "program.py"), "{source}", "{instruction}", "{output}"])
    done = imarena(
        "-w", root, "--json", "edit", "-e", "function:mine:invert", "-e", "function:mine:words",
        "-e", "function:mine:broken", "-e", f"command:{command}", "-e", f"folder:{finished}",
        "-e", "function:brighter:edit", code=3, env={"PYTHONPATH": str(tmp_path)},
    ).json["report"]  # fmt: skip
    assert done["by_editor"]["mine:invert"] == {"ok": 3}
    assert done["by_editor"]["brighter:edit"] == {"ok": 3}
    assert done["by_editor"]["mine:words"] == {"invalid_image": 3}
    assert done["by_editor"]["mine:broken"] == {"api_error": 3}
    raised = "The function raised RuntimeError: no memory left (mine.py, line 12)"
    assert done["errors"]["mine:broken: api_error"] == raised
    assert "base_url" not in done["advice"]["api_error"]
    assert done["by_editor"][f"command:{Path(sys.executable).name}"] == {"ok": 3}
    assert done["by_editor"]["finished"] == {"ok": 2, "missing_output": 1}
    with open_workspace(root) as workspace:
        for output in workspace.store.records(Output, editor="mine:invert"):
            item = workspace.store.get(Item, output.item_id)
            assert item is not None
            assert output.image is not None
            (tmp_path / "a.png").write_bytes(workspace.load(item.sources[0]))
            (tmp_path / "b.png").write_bytes(workspace.load(output.image))
            inverted = ImageOps.invert(Image.open(tmp_path / "a.png").convert("RGB"))
            assert inverted.tobytes() == Image.open(tmp_path / "b.png").convert("RGB").tobytes()


def test_a_misspelt_function_gets_a_hint_and_the_list_names_classical_operations(
    imarena: Imarena, tmp_path: Path
) -> None:
    root = filled(tmp_path / "w", 1)
    (tmp_path / "mine.py").write_text(FUNCTION)
    env = {"PYTHONPATH": str(tmp_path)}
    told = imarena("-w", root, "edit", "-e", "function:mine:invrt", code=2, env=env).err
    assert "mine has no 'invrt'" in told
    assert "Did you mean 'invert'? It has: broken, invert, words." in told
    assert "PYTHONPATH" in imarena("-w", root, "edit", "-e", "function:mien:invert", code=2, env=env).err
    listed = imarena("-w", root, "edit", "--list").out
    assert "classical-denoise " in listed
    assert "Did you mean 'classical-denoise'?" in imarena("-w", root, "edit", "-e", "clasical-denoise", code=2).err


def test_a_changed_file_of_a_folder_is_told_and_taken_under_another_name(imarena: Imarena, tmp_path: Path) -> None:
    root, finished = filled(tmp_path / "w", 2), tmp_path / "finished"
    finished.mkdir()
    for number in range(2):
        (finished / f"item-000{number}.png").write_bytes(png(50 + number))
    words = ("-w", root, "edit", "-e", f"folder:{finished}")
    assert "differ" not in imarena(*words).err
    (before,) = outputs(root, image_sha256=sha256_hex(png(51)))
    assert "differ" not in imarena(*words).err
    (finished / "item-0001.png").write_bytes(png(99))
    told = imarena(*words).err
    assert "1 file in the folder differs from what was taken before (item-0001)" in told
    assert "--as finished-2" in told
    assert outputs(root, item_id=before.item_id) == [before]
    assert "differ" not in imarena(*words, "--as", "finished-2").err
    old, new = outputs(root, item_id=before.item_id)
    assert old == before
    assert new.image is not None
    assert new.image.sha256 == sha256_hex(png(99))


def test_a_file_of_a_folder_serves_the_output_that_its_name_says(imarena: Imarena, tmp_path: Path) -> None:
    """`status --items` lists the names; KEY.png is no turn of a longer item, and not all of its turns in one."""
    root, finished = filled(tmp_path / "w", 1), tmp_path / "finished"
    with open_workspace(root) as workspace:
        chain = Item(dataset="test", key="chain", turns=(Turn(instruction="sharpen"), Turn(instruction="darken")))
        workspace.store.add([chain])
    files = imarena("-w", root, "--json", "status", "--items").json["files"]
    assert [one["file"] for one in files] == ["item-0000.png", "chain/1.png", "chain/2.png", "chain/complex.png"]
    assert "sharpen" in files[1]["instruction"]
    words = ("-w", root, "--json", "edit", "-e", f"folder:{finished}", "--mode", "all")
    assert "status --items" in imarena(*words, code=2).err
    (finished / "chain").mkdir(parents=True)
    for seed, name in enumerate(("item-0000.png", "chain.png")):
        (finished / name).write_bytes(png(seed))
    report = imarena(*words, code=3).json["report"]
    assert report["outputs"] == {"ok": 1, "missing_output": 2}
    assert "chain/" in report["errors"]["finished: missing_output"]
    for seed, one in enumerate(files):
        (finished / one["file"]).write_bytes(png(seed))
    assert imarena(*words).json["report"]["outputs"] == {"ok": 3}


def test_commands_of_a_workspace_need_trust(imarena: Imarena, tmp_path: Path) -> None:
    root = filled(tmp_path / "w", 1)
    (tmp_path / "program.py").write_text(PROGRAM)
    argv = [sys.executable, str(tmp_path / "program.py"), "{source}", "{instruction}", "{output}"]
    with (root / "imarena.toml").open("a") as file:
        file.write(f'\n[editors.mirror]\nkind = "command"\nargv = {json.dumps(argv)}\n')
        inner = json.dumps(f"command:{json.dumps(argv)}")
        file.write(f'\n[editors.inside]\nkind = "agent"\neditor = {inner}\n')
        file.write('\n[editors.deeper]\nkind = "best-of-2"\neditor = "agent:function:os:getcwd"\n')
        file.write('\n[editors.around]\nkind = "agent"\neditor = "mirror"\n')
    for name in ("mirror", "inside", "deeper", "around", "agent:mirror"):
        refused = imarena("-w", root, "edit", "-e", name, code=2)
        assert "--trust" in refused.err, name
    assert outputs(root) == []
    assert imarena("-w", root, "--json", "edit", "-e", "mirror", "--trust").json["report"]["outputs"] == {"ok": 1}


@pytest.mark.parametrize(
    ("words", "status"), [("hang", "timeout"), ("fail", "api_error"), ("nothing", "missing_output")]
)
def test_a_program_that_goes_wrong(imarena: Imarena, tmp_path: Path, words: str, status: str) -> None:
    root = filled(tmp_path / "w", 1, instruction=words)
    (tmp_path / "program.py").write_text(PROGRAM)
    command = json.dumps([sys.executable, str(tmp_path / "program.py"), "{source}", "{instruction}", "{output}"])
    done = imarena("-w", root, "--json", "edit", "-e", f"command:{command}", "-o", "timeout_s=2", code=3)
    assert done.json["report"]["outputs"] == {status: 1}
    assert "program" in str(done.json["report"]["errors"]) or "python" in str(done.json["report"]["errors"])


LEAVES_ONE_BEHIND = """
import os, shutil, subprocess, sys
left = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(60)"], start_new_session=True)
open(sys.argv[4], "w").write(str(left.pid))
shutil.copy(sys.argv[1], sys.argv[3])
"""


def test_what_a_program_leaves_in_the_background_does_not_hold_it_up(imarena: Imarena, tmp_path: Path) -> None:
    root = filled(tmp_path / "w", 1)
    (tmp_path / "program.py").write_text(LEAVES_ONE_BEHIND)
    pid = tmp_path / "left.pid"
    program = [sys.executable, str(tmp_path / "program.py"), "{source}", "{instruction}", "{output}", str(pid)]
    try:
        done = imarena("-w", root, "--json", "edit", "-e", f"command:{json.dumps(program)}", "-o", "timeout_s=20")
    finally:
        os.kill(int(pid.read_text()), signal.SIGKILL)
    assert done.json["report"]["outputs"] == {"ok": 1}


def test_a_program_is_not_kept_in_the_dark_about_pictures(imarena: Imarena, tmp_path: Path) -> None:
    root = tmp_path / "w"
    with init_workspace(root) as workspace:
        pictures = tuple(kept(workspace, n) for n in range(3))
        turns = (Turn(instruction="put them together"),)
        workspace.store.add(
            [
                Item(dataset="d", key="one", sources=pictures[:1], turns=turns),
                Item(dataset="d", key="many", sources=pictures[:1], references=pictures[1:], turns=turns),
            ]
        )
    counting = (
        "import pathlib, shutil, sys; folder = pathlib.Path(sys.argv[1])\n"
        "found = sorted(path.name for path in folder.glob('*-?.png'))\n"
        "shutil.copy(folder / found[-1], sys.argv[2])"
    )
    blind = json.dumps(["cp", "{source}", "{output}"])
    seeing = json.dumps([sys.executable, "-c", counting, "{folder}", "{output}"])
    done = imarena("-w", root, "edit", "-e", f"command:{blind}", "-e", f"command:{seeing}", code=3)
    assert "2 reference picture(s) and the program is told of none" in done.out
    assert "{folder}" in done.out
    assert "What to do about refused" in done.out
    assert statuses(root, "command:cp") == {"ok": 1, "refused": 1}
    assert statuses(root, f"command:{Path(sys.executable).name}") == {"ok": 2}


def test_every_failure_comes_with_what_to_do(imarena: Imarena, tmp_path: Path) -> None:
    root = filled(tmp_path / "w", 1)
    add_editors(root, "http://127.0.0.1:9", {"down": TABLES["openai"]})
    ended = imarena("-w", root, "--json", "edit", "-e", "down", code=3).json["report"]
    assert "base_url" in ended["advice"]["api_error"]
    assert set(ADVICE) == set(Status) - {Status.OK}


def test_an_instruction_is_never_a_shell_command(imarena: Imarena, tmp_path: Path) -> None:
    root = filled(tmp_path / "w", 1, instruction=f"$(touch {tmp_path}/pwned); `touch {tmp_path}/pwned` & | > x")
    (tmp_path / "program.py").write_text(PROGRAM)
    command = json.dumps([sys.executable, str(tmp_path / "program.py"), "{source}", "{instruction}", "{output}"])
    imarena("-w", root, "edit", "-e", f"command:{command}")
    assert not (tmp_path / "pwned").exists()


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
