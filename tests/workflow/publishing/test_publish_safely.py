"""A publication is whole or not there; hostile names do no harm; memory does not grow with the pictures."""

import io
import os
import re
import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import yaml
from PIL import Image

from imarena.core.records import Turn
from imarena.storage import open_workspace
from imarena.workflows.publishing.scrub import Scrubber
from imarena.workflows.publishing.workspace_redaction import remaining_texts
from tests.command import Imarena
from tests.workflow.publishing.published import item_of, make_benchmark, picture, rows_of

HOSTILE = (
    "../../../etc/passwd",
    "..\\..\\windows",
    "a\n---\nlicense: mit\n---\n# Owned",
    "<script>alert(1)</script>",
    "![x](https://evil.example/p.png)",
    "[click](javascript:alert(1))",
    "| cell | cell |",
    "`code`\n```\nblock",
    "con",
    "key: {yaml: [1",
    "\u202egnp.exe",
    "x" * 300,
)


def test_a_folder_that_is_not_empty_is_refused(imarena: Imarena, tmp_path: Path) -> None:
    make_benchmark(tmp_path / "a")
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "notes.txt").write_text("precious")
    (tmp_path / "file").write_text("precious")
    (tmp_path / "link").symlink_to(tmp_path / "mine")
    for name in ("mine", "file", "link"):
        imarena("-w", "a", "publish", name, code=2)
        imarena("-w", "a", "publish", name, "--force", code=2)
    assert (tmp_path / "mine" / "notes.txt").read_text() == "precious"
    (tmp_path / "empty").mkdir()
    imarena("-w", "a", "publish", "empty")


def test_an_earlier_publication_is_replaced_only_by_force(imarena: Imarena, tmp_path: Path) -> None:
    make_benchmark(tmp_path / "a")
    imarena("-w", "a", "publish", "out")
    assert "--force replaces it" in imarena("-w", "a", "publish", "out", code=2).err
    imarena("-w", "a", "publish", "out", "--all", "--force")
    assert (tmp_path / "out" / "vote.parquet").is_file()
    imarena("publish", "out", "--check")
    (tmp_path / "out" / "mine.txt").write_text("precious")
    assert "mine.txt" in imarena("-w", "a", "publish", "out", "--force", code=2).err
    assert (tmp_path / "out" / "mine.txt").read_text() == "precious"
    assert [path.name for path in tmp_path.iterdir() if path.name.startswith(".")] == []


def test_a_failed_publication_leaves_nothing(imarena: Imarena, tmp_path: Path) -> None:
    imarena("init", "a")
    assert "no items to publish" in imarena("-w", "a", "publish", "out", code=2).err
    assert {path.name for path in tmp_path.iterdir()} == {"a"}


@pytest.mark.parametrize("files", [1, 3])
def test_kill_9_leaves_no_half_publication(imarena: Imarena, tmp_path: Path, files: int) -> None:
    """The process ends as by `kill -9` once so many files are there; the folder is not, and the next run cleans up."""
    make_benchmark(tmp_path / "a")
    command = [sys.executable, "-c", _KILLED, str(files), "-w", "a", "publish", "out", "--all"]
    ended = subprocess.run(command, cwd=tmp_path, check=False, capture_output=True)
    assert ended.returncode == -signal.SIGKILL, ended.stderr
    assert not (tmp_path / "out").exists()
    assert len(list(tmp_path.glob(".out.part-*"))) == 1
    imarena("-w", "a", "publish", "out", "--all")
    imarena("publish", "out", "--check")
    assert list(tmp_path.glob(".out.*")) == []


_KILLED = """
import os, signal, sys
from imarena.cli import main
from imarena.datasets.native.columns import KindWriter

wanted = int(sys.argv.pop(1))
close = KindWriter.__exit__
closed = 0

def end(self, *args):
    global closed
    close(self, *args)
    closed += 1
    if closed == wanted:
        os.kill(os.getpid(), signal.SIGKILL)

KindWriter.__exit__ = end
main()
"""


def test_hostile_names_are_only_text(imarena: Imarena, tmp_path: Path) -> None:
    imarena("init", "a")
    with open_workspace(tmp_path / "a") as workspace:
        items = [
            item_of(workspace, name, "CC0-1.0", task=f"t {name}", topic=name, turns=(Turn(instruction=name),))
            for name in HOSTILE
        ]
        workspace.store.add([*items, item_of(workspace, "plain", HOSTILE[2], dataset="b")])
    imarena("-w", "a", "publish", "out", "--name", HOSTILE[2])
    out = tmp_path / "out"
    names = {path.relative_to(out).as_posix() for path in out.rglob("*") if path.is_file()}
    assert all(re.fullmatch(r"[A-Za-z0-9._/-]+", name) and ".." not in name for name in names)
    assert {path.name for path in tmp_path.iterdir()} == {"a", "out"}
    text = (out / "README.md").read_text()
    front = yaml.safe_load(text.split("\n---\n")[0].removeprefix("---\n"))
    assert front["license"] == ["cc0-1.0", "other"]
    body = text.split("\n---\n", 1)[1]
    assert not re.search(r"(?<!\\)<script", body)
    assert not re.search(r"(?<!\\)\]\((?!images/example-)", body), "no link and no picture but our own"
    assert not re.search(r"^#+ Owned", body, re.MULTILINE)
    assert body.count("```") == 2
    assert "\u202e" not in text
    assert all(
        line.count("|") - line.count("\\|") in (0, 3, 4, 5) for line in body.splitlines() if line.startswith("|")
    )
    assert {row["key"] for row in rows_of(out, "item")} == {*HOSTILE, "plain"}
    imarena("init", "b")
    imarena("-w", "b", "import", "native_parquet", "out")


@pytest.mark.parametrize(
    ("text", "cleaned"),
    [
        ("/home/someone/My Pictures/a.png", "[path removed]"),
        ("cannot open /home/some one/a.png now", "cannot open [path removed] now"),
        ('File "/opt/x y/z.py", line 3', "File [path removed], line 3"),
        ("in C:\\Users\\a b\\x.png it is", "in [path removed] it is"),
        ("~/models/x", "[path removed]"),
        ("file:///data/x", "[path removed]"),
        ("\\\\server\\share\\x", "[path removed]"),
        ("http://localhost:8000/v1", "[address removed]"),
        ("http://me:pass@example.org/x", "http://example.org/x"),
        ("postgresql://u:p@db/x", "[address removed]"),
        ("mail me@example.org", "mail [e-mail removed]"),
        ("sk-abcdefghijklmnopqrstuvwx", "[key removed]"),
        ("3 /5, left/right and/or 1/2", "3 /5, left/right and/or 1/2"),
        ("https://example.org/home/x.png", "https://example.org/home/x.png"),
        ("val2017/000001.jpg", "val2017/000001.jpg"),
    ],
)
def test_local_facts_are_taken_out_of_texts(text: str, cleaned: str) -> None:
    assert Scrubber().text(text) == cleaned


@pytest.mark.parametrize(
    ("text", "cleaned"),
    [
        ("paste /home/alice/cat.png into the sky", "paste [path removed] into the sky"),
        ("as in C:\\Users\\alice\\cat.png", "as in [path removed]"),
        ("write '/sale/' on the sign, and/or 1/2", "write '/sale/' on the sign, and/or 1/2"),
        ("ask alice@example.org", "ask [e-mail removed]"),
    ],
)
def test_instructions_lose_only_what_surely_is_local(text: str, cleaned: str) -> None:
    assert Scrubber().benchmark_text(text) == cleaned


def test_coded_pixels_are_not_taken_for_a_path() -> None:
    """Random bytes in the place of pixels: a picture must not be left out by chance."""
    scrub = Scrubber()
    noise = np.random.default_rng(0).integers(0, 256, (800, 800, 3), dtype=np.uint8)
    file = io.BytesIO()
    Image.fromarray(noise).save(file, "BMP")
    texts = list(remaining_texts(file.getvalue()))
    assert len(texts) > 100
    assert not any(map(scrub.is_local, texts))
    assert any(map(scrub.is_local, remaining_texts(file.getvalue() + b"  /home/someone/x.jpg")))


def test_a_key_that_is_a_path_becomes_its_last_part(imarena: Imarena, tmp_path: Path) -> None:
    imarena("init", "a")
    with open_workspace(tmp_path / "a") as workspace:
        keys = ("/home/someone/one/x.png", "/home/someone/two/x.png")
        workspace.store.add([item_of(workspace, key, "CC0-1.0") for key in keys])
    imarena("-w", "a", "publish", "out")
    keys = tuple(row["key"] for row in rows_of(tmp_path / "out", "item"))
    assert len(set(keys)) == 2
    assert all(re.fullmatch(r"x\.png-[0-9a-f]{12}", key) for key in keys)


@pytest.mark.slow
def test_memory_does_not_grow_with_the_pictures(imarena: Imarena, tmp_path: Path) -> None:
    peaks = []
    for count in (60, 240):
        name = f"a{count}"
        imarena("init", name)
        with open_workspace(tmp_path / name) as workspace:
            workspace.store.add(
                [
                    item_of(workspace, f"k{n}", "CC0-1.0", sources=(picture(workspace, f"{n}", (700, 500)),))
                    for n in range(count)
                ]
            )
        peaks.append(_peak_mb(tmp_path, "-w", name, "publish", f"out{count}"))
    assert peaks[1] - peaks[0] < 80, f"180 MB more pictures took {peaks} MB"


def _peak_mb(folder: Path, *arguments: str) -> float:
    started = subprocess.Popen([sys.executable, "-m", "imarena", *arguments], cwd=folder, stdout=subprocess.DEVNULL)
    _, code, usage = os.wait4(started.pid, 0)
    started.returncode = os.waitstatus_to_exitcode(code)
    assert started.returncode == 0
    return usage.ru_maxrss / 1024
