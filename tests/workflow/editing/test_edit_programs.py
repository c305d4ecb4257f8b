"""`imarena edit` with editors of the user's own: functions, programs, folders of pictures."""

import json
import os
import signal
import sys
from pathlib import Path

import pytest
from PIL import Image, ImageOps

from imarena.core.ids import sha256_hex
from imarena.core.records import Item, Output, Status, Turn
from imarena.editors.advice import ADVICE
from imarena.storage import init_workspace, open_workspace
from tests.command import Imarena
from tests.samples import kept, png
from tests.servers.fake_pictures_server import TABLES, add_editors, filled
from tests.workflow.editing.edited import outputs, statuses

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


def test_the_agent_asks_a_refused_order_once(imarena: Imarena, tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_text(
        "from pathlib import Path\n"
        "from imarena.core.protocols import EditResult\n"
        "from imarena.core.records import Status\n"
        "def refuse(request):\n"
        "    with Path('asked.txt').open('a') as file:\n"
        "        print(request.instruction, file=file)\n"
        "    return EditResult(Status.REFUSED, error='not allowed')\n"
    )
    (tmp_path / "cup.png").write_bytes(png(1))
    ended = imarena("agent", "Make the cup red. Remove the spoon.", "cup.png", "-e", "function:mine:refuse", code=3)
    assert "not allowed" in ended.out
    orders = (tmp_path / "asked.txt").read_text().splitlines()
    assert len(orders) == len(set(orders)) > 1


def test_functions_commands_and_folders(imarena: Imarena, tmp_path: Path) -> None:
    root = filled(tmp_path / "w", 3)
    guide = (Path(__file__).parents[3] / "docs" / "guide" / "editors.md").read_text(encoding="utf-8")
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
    assert "1 file in the folder differs from the stored outputs (item-0001)" in told
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
    assert report["errors"]["finished: missing_output"] == "The folder finished has no image for this item."
    assert "chain/1.png" in imarena("-w", root, "edit", "-e", f"folder:{finished}", "--mode", "all", code=3).err
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
    assert "2 reference images, and the program's arguments name none" in done.out
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


PAID = """
from imarena import EditResult, Status

def edit(request):
    return EditResult(Status.OK, image=request.sources[0], cost_usd=0.04)
"""


def test_the_cost_limit_holds_for_a_function_that_reports_its_cost(imarena: Imarena, tmp_path: Path) -> None:
    root = filled(tmp_path / "w", 6)
    (tmp_path / "paid.py").write_text(PAID)
    words = ("-w", root, "--json", "edit", "-e", "function:paid:edit", "--concurrency", "1", "--max-cost-usd", "0.1")
    stopped = imarena(*words, env={"PYTHONPATH": str(tmp_path)}, code=3).json["report"]
    assert stopped["outputs"] == {"ok": 2}
    assert stopped["cost_usd"] == pytest.approx(0.08)
    assert "The cost limit of 0.1000 USD is reached" in stopped["stopped"]
