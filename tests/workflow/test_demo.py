"""The demo, killed in the middle and run again: the whole path, nothing lost, nothing twice."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from playwright.sync_api import expect, sync_playwright

from imarena.core.records import Judgment, Output, Record, Status
from imarena.storage import open_workspace
from tests.command import Imarena
from tests.cross_cutting.docs.blocks import blocks_of
from tests.cross_cutting.docs.guide_pictures import keep
from tests.cross_cutting.docs.people import served
from tests.web.browser.conftest import CHROMIUM, FLAGS


def kill_when(folder: Path, ready: str, limit_s: float = 120) -> None:
    """Start the demo and kill it as soon as the database holds a record of the kind `ready`."""
    command = [sys.executable, "-m", "imarena", "demo"]
    running = subprocess.Popen(command, cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    started = time.monotonic()
    kinds: dict[str, type[Record]] = {"outputs": Output, "judgments": Judgment}
    kind = kinds[ready]
    while time.monotonic() - started < limit_s and running.poll() is None:
        time.sleep(0.3)
        if (folder / "imarena-demo" / "arena.db").exists() and (folder / "imarena-demo" / "blobs").exists():
            with open_workspace(folder / "imarena-demo", check_schema=False) as workspace:
                if workspace.store.count(kind).get((), 0) > 20:
                    break
    assert running.poll() is None, "the demo ended before it could be killed"
    os.kill(running.pid, signal.SIGKILL)
    running.wait()


IN_SIGHT = """[...document.images].filter(
    (one) => one.getClientRects().length && one.getBoundingClientRect().top < window.innerHeight)"""


def look_at(pages: dict[str, tuple[Path, str, int]]) -> None:
    """Open pages from disk, each with what it has to show and the height of its picture in a guide.

    Images are there, and nothing is wider than the window.
    """
    if not Path(CHROMIUM).exists():
        return
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        for name, (path, shows, height) in pages.items():
            page = browser.new_page(viewport={"width": 1280, "height": height}, color_scheme="light")
            page.goto(path.as_uri())
            expect(page.locator(shows).first).to_be_visible()
            deadline = time.monotonic() + 30  # `wait_for_function` needs eval, which the page forbids
            while not page.evaluate(IN_SIGHT + ".every((one) => one.complete && one.naturalWidth > 0)"):
                assert time.monotonic() < deadline, name
                page.wait_for_timeout(50)
            assert page.evaluate("document.documentElement.scrollWidth") <= 1280, name
            keep(page, name)
            page.close()
        browser.close()


def serve_as_the_guide_does(folder: Path) -> str:
    """Serve the demo, then an arena of one's own, as rating.md does; returns what the demo printed."""
    (block,) = blocks_of("rating.md", __file__)
    demo, own = block.commands()
    printed = ""
    with served(demo, folder, "imarena-demo") as stage:
        started = time.monotonic()
        while "Try next" not in printed and time.monotonic() - started < 120:
            time.sleep(0.3)
            printed = (folder / "serve.log").read_text()
        assert stage.get("/api/lead/campaigns")["total"] == 1, "a campaign to vote in at once"
    (folder / "arena").symlink_to("imarena-demo")
    with served(own, folder):
        return printed


@pytest.mark.slow
def test_the_demo_survives_kills_and_finds_the_known_order(imarena: Imarena, tmp_path: Path) -> None:
    for ready in ("outputs", "judgments"):
        kill_when(tmp_path, ready)
        assert imarena("-w", "imarena-demo", "--json", "verify").json["clean"] is True
    first = imarena("--json", "demo").json
    assert first["items"] == 20
    assert first["of_items"] == 100
    assert Path(first["report"]).is_file() or (tmp_path / first["report"]).is_file()
    assert all(tau >= 0.8 for tau in first["tau"].values()), first["tau"]
    assert len(first["tau"]) == 2
    with open_workspace(tmp_path / "imarena-demo") as workspace:
        works = [row["id"] for row in workspace.store.rows(Judgment)]
        outputs = [row["id"] for row in workspace.store.rows(Output, status=Status.OK.value)]
    assert len(works) == len(set(works))
    assert len(outputs) == len(set(outputs))
    second = serve_as_the_guide_does(tmp_path)
    assert f"{first['judgments']} scores and {first['battles']} battles" in second
    assert "studio-flaky is excluded" in second
    assert first["conclusion"] in " ".join(second.split())
    assert first["conclusion"] in (tmp_path / "imarena-demo" / "report.html").read_text()
    assert imarena("-w", "imarena-demo", "--json", "verify", "--deep").json["clean"] is True
    page = (tmp_path / "imarena-demo" / "report.html").read_text()
    assert "Leaderboard" in page
    assert "Known truth" in page
    assert "turn 2 of 3" in page, "a chain of three turns is shown"
    assert ">not checked</td>" in page
    assert ">returned input (builtin judge)</td>" in page
    copied = page.split("copied references · ")[1].split("</div>")[0]
    assert 'alt="reference"' in copied, "an example shows what the output was made from"
    assert ">judge</td>" in page.split("<caption>Runs</caption>")[1]
    assert ">battle</td>" in page.split("<caption>Runs</caption>")[1]
    assert "http://" not in page.replace("http://www.w3.org", "")
    board = imarena("-w", "imarena-demo", "--json", "rank", "--judge", "builtin").json
    assert board["models"][-1]["model"] == "studio-new-image"
    exported = imarena("-w", "imarena-demo", "export", "native", "out")
    assert "Wrote" in exported.out
    imarena("-w", "imarena-demo", "site", "public")
    site = tmp_path / "public"
    look_at(
        {
            "report": (tmp_path / "imarena-demo" / "report.html", "table:visible", 1200),
            "site-board": (site / "index.html", "#standings", 1200),
            "site-battles": (site / "battles.html", "article.battle img", 900),
        }
    )
