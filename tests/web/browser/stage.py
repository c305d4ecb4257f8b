"""A populated workspace, the real server over it, and a lead who makes campaigns: what the browser tests stand on."""

import io
import os
import socket
import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx
from PIL import Image, ImageDraw

from imarena.core.records import ImageRef, Item, Output, Turn
from imarena.storage import open_workspace
from imarena.workflows.exchange.importing import WorkspaceIntake
from tests.small_data.small_arena import battle_all, make_arena

BIG = "big"
"""The data set with one large picture."""
BIG_SIZE = (6000, 4000)
ALONE = "alone"
"""The data set of two plain pictures on which one test alone votes."""
SPOT = (2700, 1800, 3300, 2200)
"""Where the two editors of the large picture differ."""
HABITS = ("exact", "timid", "artefacts", "wrong-target")


def fill(root: Path) -> None:
    """Studio items with four editors, judged in both orders; and a 6,000 px picture with two."""
    make_arena(root, items=5, habits=HABITS)
    with open_workspace(root) as workspace:
        board = battle_all(workspace)
        intake = WorkspaceIntake(workspace)

        def keep(image: Image.Image, name: str) -> ImageRef:
            buffer = io.BytesIO()
            image.save(buffer, "PNG", compress_level=1)
            return intake.keep(buffer.getvalue(), name=name)

        item = Item(
            dataset=BIG,
            key="field",
            turns=(Turn(instruction="Paint the middle of the field in one colour."),),
            sources=(keep(_field(None), "source.png"),),
            task="colour",
            topic="field",
            provenance={"expected_objects": ["field", "painted patch"]},
        )
        outputs = [
            Output(item_id=item.item_id, editor="red-painter", image=keep(_field("#d02020"), "red.png")),
            Output(item_id=item.item_id, editor="blue-painter", image=keep(_field("#2040d0"), "blue.png")),
        ]
        alone = [Item(dataset=ALONE, key=key, turns=(Turn(instruction=f"Paint it {key}."),)) for key in ("red", "blue")]
        editors = sorted({str(output.editor) for made in board.slots.values() for output in made})
        for plain_item in alone:
            for editor, colour in zip(editors, ("red", "blue"), strict=False):
                plain = keep(Image.new("RGB", (64, 48), colour), f"{colour}.png")
                outputs.append(Output(item_id=plain_item.item_id, editor=editor, image=plain))
        intake.flush()
        workspace.store.add([item, *alone])
        workspace.store.add(outputs)


def _field(colour: str | None) -> Image.Image:
    """A large picture with fine detail, so that a zoom is seen."""
    image = Image.new("RGB", BIG_SIZE, "#dfe6d8")
    draw = ImageDraw.Draw(image)
    for x in range(0, BIG_SIZE[0], 200):
        for y in range(0, BIG_SIZE[1], 200):
            shade = (60 + x * 160 // BIG_SIZE[0], 80 + y * 130 // BIG_SIZE[1], 90)
            draw.rectangle((x + 20, y + 20, x + 180, y + 180), fill=shade)
            draw.line((x, y, x + 200, y + 200), fill="#ffffff", width=3)
    if colour is not None:
        draw.rectangle(SPOT, fill=colour)
    return image


def free_port() -> int:
    """A port that nobody listens on."""
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return int(found.getsockname()[1])


@dataclass
class Stage:
    """The server and its administrator."""

    root: Path
    address: str
    launch: str
    """The address that signs the administrator in."""
    _client: httpx.Client = field(repr=False)
    _csrf: str = field(repr=False)

    @classmethod
    def at(cls, root: Path, address: str, launch: str) -> "Stage":
        """Sign in as the administrator."""
        client = httpx.Client(base_url=address, timeout=60)
        me = client.post("/api/session/launch", json={"token": launch.partition("#")[2]}).raise_for_status().json()
        return cls(root, address, launch, client, me["csrf"])

    def cookies(self) -> list[tuple[str, str]]:
        """What makes a browser the administrator's: signing in is limited in how often."""
        return [(one.name, one.value or "") for one in self._client.cookies.jar]

    def post(self, path: str, body: object) -> Any:
        """Ask the API for a change."""
        answer = self._client.post(path, json=body, headers={"X-CSRF-Token": self._csrf})
        if answer.is_error:
            raise RuntimeError(f"{path}: {answer.status_code} {answer.text}")
        return answer.json()

    def change(self, campaign_id: str, change: dict[str, object]) -> None:
        """Change a campaign."""
        path = f"/api/lead/campaigns/{campaign_id}"
        self._client.patch(path, json=change, headers={"X-CSRF-Token": self._csrf}).raise_for_status()

    def get(self, path: str) -> Any:
        """Ask the API."""
        return self._client.get(path).raise_for_status().json()

    def campaign(self, name: str, kind: str = "preference", **settings: object) -> str:
        """Make a campaign; its id."""
        made = self.post("/api/lead/campaigns", {"name": name, "kind": kind, **settings})
        return str(made["campaign_id"])

    def invite(self, campaign_id: str, name: str = "Ana") -> str:
        """The address that a rater opens."""
        made = self.post("/api/lead/invitations", {"campaign_id": campaign_id, "name": name})
        return self.address + str(made["path"])

    def votes(self, campaign_id: str) -> int:
        """How many live votes the campaign has."""
        return int(self.get(f"/api/lead/campaigns/{campaign_id}")["votes"])


def start(root: Path, *options: str, port: int | None = None) -> tuple["subprocess.Popen[bytes]", Stage]:
    """Start ``imarena serve`` and wait until it answers."""
    return launch(["--workspace", str(root), "serve", *options], root, port=port)


def launch(
    words: Sequence[str], root: Path, *, folder: Path | None = None, port: int | None = None
) -> tuple["subprocess.Popen[bytes]", Stage]:
    """Start a command that serves, and wait until it answers. Its output goes to a file, so that it never waits for us."""
    port = port or free_port()
    command = [sys.executable, "-m", "imarena", *words, "--port", str(port)]
    said = root.parent / "serve.log"
    with said.open("wb") as file:
        env = {**os.environ, "COLUMNS": "200"}
        process = subprocess.Popen(command, cwd=folder, env=env, stdout=file, stderr=subprocess.STDOUT)
    address = f"http://127.0.0.1:{port}"
    for _ in range(600):
        found = next((word for word in said.read_text().split() if "/launch#" in word), None)
        if found and _answers(address):
            return process, Stage.at(root, found.partition("/launch#")[0], found)
        if process.poll() is not None:
            break
        time.sleep(0.1)
    process.kill()
    raise RuntimeError("the server did not start: " + said.read_text())


def _answers(address: str) -> bool:
    try:
        httpx.get(f"{address}/api/me", timeout=5)
    except httpx.TransportError:
        return False
    return True
