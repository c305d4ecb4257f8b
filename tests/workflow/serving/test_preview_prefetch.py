"""How long an answer takes and how large it is must not tell gold and repeated tasks from the rest."""

import fcntl
import os
import signal
import struct
import termios
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from imarena.web.arena import ServedWorkspace
from imarena.workflows.serving import preview_prefetch as warming
from imarena.workflows.serving import preview_process as picturing_beside
from imarena.workflows.serving.previews import FIRST_LOOK_SIDE, TILE
from tests.web.people import EDITORS, administrator, campaign, rater, served


def first_look(picture: Any) -> list[str]:
    """All tiles of the levels that a screen can show whole, and the display."""
    found = [picture["url"]]
    for level in range(picture["max_level"] + 1):
        times = 2 ** (picture["max_level"] - level)
        width, height = -(-picture["width"] // times), -(-picture["height"] // times)
        if max(width, height) <= FIRST_LOOK_SIDE:
            places = [(column, row) for column in range(-(-width // TILE)) for row in range(-(-height // TILE))]
            found += [f"{picture['tiles_url']}/{level}/{column}/{row}" for column, row in places]
    return found


@pytest.fixture(autouse=True)
def not_starved(monkeypatch: pytest.MonkeyPatch) -> None:
    """The lowest priority would wait for as long as anything else runs on this machine."""
    monkeypatch.setattr(picturing_beside, "lower_priority", lambda _: None)


def test_pictures_of_the_next_tasks_are_made_before_they_are_asked_for(tmp_path: Path) -> None:
    """What has to be made takes some ten times as long as what is there."""
    app = served(tmp_path / "arena", items=4)
    admin = administrator(app)
    table = f"item,left,right,winner\nentry-0,{EDITORS[0]},{EDITORS[1]},left\n"
    gold = admin.post("/api/lead/known-tasks", {"kind": "preference", "table": table})["tasks"][0]["task"]
    one = campaign(admin, gold=[gold], gold_rate=0.5)
    person = rater(app, admin, one)
    arena: ServedWorkspace = app.state.arena
    made = []
    for image in arena.warmer.missing():
        arena.warmer.warm(image)
        made.append(image.sha256)
    assert len(made) == len(set(made)) == 4 * (1 + len(EDITORS))
    arena.warmer.stop()
    assert list(arena.warmer.missing()) == []
    cache = arena.workspace.cache
    before, answers, sizes = cache.size(), 0, set()
    while (given := person.send("POST", f"/api/rating/campaigns/{one}/next")).json()["task"] is not None:
        task = given.json()["task"]
        for address in [a for p in (*task["sources"], task["left"], task["right"]) for a in first_look(p)]:
            assert person.get(address).status_code == 200
        sizes.add(len(given.content) - len(str(task["done"])) - len(str(task["quota_left"])))
        person.vote(task, preference="left")
        answers += 1
    assert answers == 4 * 3
    assert cache.size() == before, "a picture was made while a rater waited"
    assert len(sizes) == 1


def test_a_server_that_is_never_quiet_gets_its_pictures_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("_QUIET_S", "_LONGEST_QUIET_S", "_LONGEST_WAIT_S", "_LONGEST_REST_S"):
        monkeypatch.setattr(warming, name, 0.05)
    app = served(tmp_path / "arena", items=1)
    campaign(administrator(app))
    arena: ServedWorkspace = app.state.arena
    arena.traffic.request_started()  # a request that is in hand for ever
    arena.warmer.start()
    try:
        for _ in range(600):
            if not list(arena.warmer.missing()):
                break
            time.sleep(0.1)
        assert list(arena.warmer.missing()) == []
    finally:
        arena.warmer.stop()


def waiting_bytes(pipe: Any) -> int:
    """What was written and not read yet."""
    return int(struct.unpack("i", fcntl.ioctl(pipe, termios.FIONREAD, b"0000"))[0])


def test_a_server_that_ends_does_not_wait_for_the_picture_in_hand(tmp_path: Path) -> None:
    app = served(tmp_path / "arena", items=1)
    campaign(administrator(app))
    maker = picturing_beside.PreviewProcess(tmp_path / "arena")
    (image, *_) = app.state.arena.warmer.missing()
    assert maker.make(image) == ""
    process = maker._process
    assert process is not None
    process.send_signal(signal.SIGSTOP)  # as good as starved
    os.waitid(os.P_PID, process.pid, os.WSTOPPED)  # before that it might still take what is written next
    with ThreadPoolExecutor(1) as aside:
        said = aside.submit(maker.make, image)
        while not waiting_bytes(process.stdin):
            time.sleep(0.01)
        maker.close()
        assert "ended" in said.result() or "closed" in said.result()
    assert process.returncode == -signal.SIGKILL
