"""A served workspace for tests, and people who use it."""

import io
import secrets
from pathlib import Path
from typing import Any

import numpy as np
from fastapi import FastAPI
from fastapi.testclient import TestClient
from PIL import Image, PngImagePlugin

from imarena.core.ids import sha256_hex
from imarena.core.records import ImageRef, Item, Output, Turn
from imarena.storage import Workspace, init_workspace
from imarena.web.app import create_app
from imarena.workflows.serving.server import ServeSettings

EDITORS = ("quokka-edit-9b", "numbat-diffusion", "wombat-pro")
PASSWORD = "correct horse battery"


def picture(workspace: Workspace, seed: int, told: str, size: tuple[int, int] = (64, 48)) -> ImageRef:
    """A stored picture whose metadata gives its maker away."""
    pixels = np.random.default_rng(seed).integers(0, 255, (size[1] // 8, size[0] // 8, 3), dtype=np.uint8)
    notes = PngImagePlugin.PngInfo()
    notes.add_text("Software", told)
    buffer = io.BytesIO()
    large = Image.fromarray(pixels).resize(size, Image.Resampling.NEAREST)
    large.save(buffer, "PNG", pnginfo=notes)
    data = buffer.getvalue()
    reference = ImageRef(
        sha256=sha256_hex(data), size_bytes=len(data), media_type="image/png", width=size[0], height=size[1]
    )
    return workspace.keep(reference, data)


def fill(
    workspace: Workspace,
    *,
    items: int = 3,
    editors: tuple[str, ...] = EDITORS,
    instruction: str = "make it red",
    size: tuple[int, int] = (64, 48),
    listed: bool = True,
) -> list[Item]:
    """Items with a source and one output of each editor; `listed`: the data set says what a result should show."""
    made: list[Item] = []
    records: list[Item | Output] = []
    for number in range(items):
        source = picture(workspace, 1000 + number, "camera", size)
        item = Item(
            dataset="zoo",
            key=f"entry-{number}",
            turns=(Turn(instruction=instruction),),
            sources=(source,),
            task="recolour",
            provenance={"expected_objects": ["a cup", "a table"]} if listed else {},
        )
        made.append(item)
        records.append(item)
        for place, editor in enumerate(editors):
            image = picture(workspace, 10 * number + place, editor, size)
            records.append(Output(item_id=item.item_id, editor=editor, image=image))
    added = workspace.store.add(records)
    assert not added.conflicts
    return made


def settings_of(root: Path, **more: Any) -> ServeSettings:
    """Settings for a test server."""
    values = {"password": PASSWORD, "launch_token": "launch-token", "allowed_hosts": ("testserver",), **more}
    return ServeSettings(str(root), **values)


def served(root: Path, *, items: int = 3, url: str = "", **more: Any) -> FastAPI:
    """An application over a new, filled workspace."""
    with init_workspace(root, url=url) as workspace:
        fill(workspace, items=items)
    return create_app(settings_of(root, **more))


class Person:
    """A browser with its cookies and its token."""

    def __init__(self, app: FastAPI) -> None:
        self.client = TestClient(app, raise_server_exceptions=True)
        self.csrf = ""

    def get(self, path: str) -> Any:
        """A page's request."""
        return self.client.get(path)

    def send(self, method: str, path: str, body: Any = None) -> Any:
        """A request that changes something."""
        return self.client.request(method, path, json=body, headers={"x-csrf-token": self.csrf})

    def post(self, path: str, body: Any = None, *, code: int = 200) -> Any:
        """Post, expect a status, return the document."""
        answer = self.send("POST", path, body)
        assert answer.status_code == code, answer.text
        return answer.json()

    def next(self, campaign: str) -> Any:
        """The next task."""
        return self.post(f"/api/rating/campaigns/{campaign}/next")

    def look(self, task: Any) -> None:
        """Request every picture of a task, as its page does."""
        for shown in (*task["sources"], *task["references"], task["left"], task["right"]):
            if shown is not None:
                assert self.get(shown["url"]).status_code == 200

    def vote(self, task: Any, *, code: int = 200, look: bool = True, **ballot: Any) -> Any:
        """Answer a task; before that, look at its pictures."""
        if look:
            self.look(task)
        body = {"idempotency_key": f"key-{secrets.token_hex(8)}", **ballot}
        return self.post(f"/api/tasks/{task['address']}/vote", body, code=code)


def administrator(app: FastAPI) -> Person:
    """The administrator, signed in."""
    person = Person(app)
    person.csrf = person.post("/api/session/password", {"password": PASSWORD})["csrf"]
    return person


def campaign(admin: Person, **more: Any) -> str:
    """A new campaign's id. The first one is called `c`."""
    name = "c" if not admin.get("/api/lead/campaigns?limit=1").json()["total"] else f"c {secrets.token_hex(4)}"
    return str(admin.post("/api/lead/campaigns", {"name": name, **more})["campaign_id"])


def rater(app: FastAPI, admin: Person, campaign_id: str, **more: Any) -> Person:
    """A rater who came by an invitation link."""
    made = admin.post("/api/lead/invitations", {"campaign_id": campaign_id, **more})
    person = Person(app)
    person.csrf = person.post("/api/session/invitation", {"token": made["token"]})["csrf"]
    return person
