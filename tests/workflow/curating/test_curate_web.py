"""curate run with sources of the web: one that is down, a quota, hostile results; the run goes on and resumes."""

import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from aiohttp import web

from imarena.core.records import Evidence, Item
from imarena.storage import open_workspace
from tests.command import ROOT, Imarena
from tests.servers.fake_image_sources import FakeSources, fake_sources
from tests.small_data.curation_library import make_instructions, make_library, photograph

SMALL = ("--min-long-side", 300, "--pool", 1, "--rounds", 1)


def made(imarena: Imarena, tmp_path: Path, fake: FakeSources) -> Path:
    imarena("init", tmp_path / "ws")
    quick = "interval_s = 0.0\nbackoff_s = 0.0\nallow_loopback = true\ntimeout_s = 5.0\n"
    with (tmp_path / "ws" / "imarena.toml").open("a", encoding="utf-8") as file:
        file.write(f'\n[sources.up]\nkind = "openverse"\nbase_url = "{fake.root}"\n{quick}')
        file.write(
            f'\n[sources.commons]\nkind = "wikimedia"\ncontact = "ann@example.org"\nbase_url = "{fake.root}"\n{quick}'
        )
    return tmp_path / "ws"


def test_trouble_is_logged_and_retried_by_the_next_run(imarena: Imarena, tmp_path: Path) -> None:
    table = make_instructions(tmp_path / "t.csv", ("cat", "Make the cat black.", "", "animals"))
    with fake_sources({"private-cat.jpg": b"", "page-cat.jpg": b"", "bomb-cat.png": b""}) as fake:
        workspace = made(imarena, tmp_path, fake)
        run = ("-w", workspace, "curate", "run", table, "-s", "up", "-s", "commons", "-d", "web", *SMALL)
        fake.faults["/w/api.php"] = [web.Response(status=429, headers={"Retry-After": "3600"}) for _ in range(9)]
        short = imarena("--json", *run, code=3).json
        failures = str(short["failures"])
        assert "asks to wait 3600 s" in failures
        assert "private address" in failures
        assert "wrong type" in failures
        assert "100000 x 100000" in str(short["left_out"])
        fake.faults.clear()
        fake.images["cat-window.jpg"] = photograph("cat")
        done = imarena("--json", *run).json
        assert done["new_items"] == 1
        with open_workspace(workspace) as opened:
            item = next(opened.store.records(Item, dataset="web"))
            assert (item.licence, item.provenance["source"], item.provenance["creator"]) == (
                "CC-BY-SA-4.0",
                "commons",
                "Bob",
            )
        story = imarena("-w", workspace, "curate", "log", item.key).out
        assert "no answer: " in story
        asked = fake.counts()["/v1/images/"]
        assert imarena("--json", *run).json["new_items"] == 0
        assert fake.counts()["/v1/images/"] == asked, "what was answered is not asked again"


def test_a_web_result_without_a_licence_is_refused(imarena: Imarena, tmp_path: Path) -> None:
    table = make_instructions(tmp_path / "t.csv", ("cat", "Make the cat black.", "", "animals"))
    with fake_sources({"cat.jpg": b""}) as fake:
        fake.licence = ""
        workspace = made(imarena, tmp_path, fake)
        run = ("-w", workspace, "curate", "run", table, "-s", "up", *SMALL)
        assert "the source states no licence" in str(imarena("--json", *run, code=3).json["left_out"])
        assert not any(path.startswith("/files/") for path in fake.counts()), "nothing was downloaded"


@pytest.mark.slow
def test_a_killed_run_goes_on(imarena: Imarena, tmp_path: Path) -> None:
    library = make_library(tmp_path / "library", {"cat": "a cat", "coffee": "a cup of coffee", "dogs": "two dogs"})
    rows = (
        ("cat", "Make the cat black.", "", ""),
        ("cup", "Remove the cup.", "", ""),
        ("dogs", "Remove the dogs.", "", ""),
    )
    table = make_instructions(tmp_path / "t.csv", *rows)
    workspace = tmp_path / "ws"
    imarena("init", workspace)
    run = ["-w", str(workspace), "curate", "run", str(table), "-s", str(library), "-d", "d", *map(str, SMALL)]
    process = subprocess.Popen([sys.executable, "-m", "imarena", *run], cwd=ROOT, stderr=subprocess.DEVNULL)
    for _ in range(1200):
        with open_workspace(workspace) as opened:
            if next(opened.store.records(Item, dataset="d"), None) is not None:
                break
        time.sleep(0.1)
    process.send_signal(signal.SIGKILL)
    process.wait()
    assert imarena("--json", *run).json["complete"]
    with open_workspace(workspace) as opened:
        assert sum(1 for _ in opened.store.records(Item, dataset="d")) == 3
        steps = [(step.image_sha256, step.value) for step in opened.store.records(Evidence, kind="curation_step")]
        values = [(work, value) for work, value in steps if isinstance(value, dict) and value["step"] == "score"]
        scored = [(work, str(value.get("sha256"))) for work, value in values]
        assert len(scored) == len(set(scored)), "nothing was scored twice"
    assert imarena("-w", workspace, "verify", "--deep").code == 0
