"""What the documentation's commands need besides files: servers that are asked for a page, and raters who answer."""

import contextlib
import csv
import shutil
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import httpx
from fastapi import FastAPI

from imarena.storage import init_workspace
from imarena.web.app import create_app
from tests.small_data.curation_library import photograph
from tests.web.browser.stage import Stage, launch
from tests.web.people import Person, administrator, campaign, fill, rater, settings_of


def serves(words: Sequence[str]) -> bool:
    """Does this call of imarena run until it is stopped?"""
    return words[-1] in ("serve", "--serve")


@contextlib.contextmanager
def served(words: Sequence[str], folder: Path, workspace: str = "") -> Iterator[Stage]:
    """The server that a call starts, on a free port; it shows its page and to its administrator the workspace."""
    root = folder / (workspace or words[words.index("-w") + 1])
    process, stage = launch(words, root, folder=folder)
    try:
        page = httpx.get(stage.address).raise_for_status().text
        assert "<script" in page
        assert stage.get("/api/lead/campaigns")["total"] >= 0
        yield stage
    finally:
        process.terminate()
        process.wait(timeout=60)
    assert "Traceback" not in (root.parent / "serve.log").read_text()


def photographs(folder: Path) -> None:
    """A folder with a small photograph."""
    shutil.rmtree(folder / "photos")
    (folder / "photos").mkdir()
    (folder / "photos" / "coffee.jpg").write_bytes(photograph("coffee", long_side=256))


def enough_battles(folder: Path) -> None:
    """An arena with as many battles as a calibration needs, of tiny images."""
    shutil.rmtree(folder / "arena")
    with init_workspace(folder / "arena") as workspace:
        fill(workspace, items=14, editors=("ash", "elm", "fir", "oak"))


def raters_agree(folder: Path) -> None:
    """Two raters vote on the same pairs in a browser, and prefer the same outputs."""
    app = create_app(settings_of(folder / "arena"))
    admin = administrator(app)
    vote_on(app, admin, campaign(admin, max_units=2, raters_per_unit=2), raters=2)


def experts_vote(folder: Path) -> None:
    """Three raters vote in the one campaign of the arena, which lets them answer at once."""
    app = create_app(settings_of(folder / "arena"))
    admin = administrator(app)
    (one,) = admin.get("/api/lead/campaigns").json()["campaigns"]
    admin.send("PATCH", f"/api/lead/campaigns/{one['campaign_id']}", {"min_seconds": 0}).raise_for_status()
    vote_on(app, admin, one["campaign_id"], raters=3)


def vote_on(app: FastAPI, admin: Person, campaign_id: str, *, raters: int) -> None:
    """Raters answer all tasks of a campaign: the larger file is the better output."""
    for _ in range(raters):
        person = rater(app, admin, campaign_id)
        while (task := person.next(campaign_id)["task"]) is not None:
            person.look(task)
            left, right = (len(person.get(task[side]["url"]).content) for side in ("left", "right"))
            preference = "tie" if left == right else "left" if left > right else "right"
            person.vote(task, look=False, preference=preference)


def fill_sheets(folder: Path) -> None:
    """Raters fill in the column `winner` of their sheets: left and right in turn."""
    for path in sorted(folder.glob("*.csv")):
        with path.open(newline="", encoding="utf-8") as file:
            rows = list(csv.DictReader(file))
        if "assignment" not in rows[0]:
            continue
        with path.open("w", newline="", encoding="utf-8") as file:
            writer = csv.DictWriter(file, list(rows[0]))
            writer.writeheader()
            writer.writerows({**row, "winner": ("left", "right")[n % 2]} for n, row in enumerate(rows))


class Visitor(Person):
    """A rater who opens an invitation link in a browser of their own."""

    def __init__(self, address: str, link: str) -> None:
        self.client = httpx.Client(base_url=address, timeout=60)  # type: ignore[assignment]
        self.csrf = ""
        self.csrf = self.post("/api/session/invitation", {"token": link.partition("#")[2]})["csrf"]

    def check(self, campaign_id: str, decisions: Mapping[str, str]) -> int:
        """Check every item that is offered: an instruction with this word gets this decision, others are accepted."""
        asked = 0
        while (task := self.next(campaign_id)["task"]) is not None:
            found = (decision for word, decision in decisions.items() if word in task["instruction"])
            decision = next(found, "accept")
            passed = {check["name"]: decision == "accept" or check["name"] != "feasible" for check in task["checks"]}
            self.vote(task, checks=passed, decision=decision, comment="" if decision == "accept" else "too dark")
            asked += 1
        return asked
