"""The fake image server as a process of its own, and editors of a workspace that point at it."""

import json
import subprocess
import sys
import urllib.request
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from pydantic import JsonValue

from imarena.core.records import Item, Turn
from imarena.storage import Workspace, init_workspace
from tests.samples import kept

COMMON: dict[str, JsonValue] = {
    "timeout_s": 5.0, "max_attempts": 3, "max_timeouts": 1, "backoff_s": 0.01, "breaker_failures": 1000,
    "usd_per_image": 0.04, "max_concurrency": 8,
}  # fmt: skip
TABLES: dict[str, dict[str, JsonValue]] = {
    "openai": {"kind": "openai-images", "model": "gpt-image-1", "base_url": "/v1"},
    "gemini": {"kind": "gemini-images", "model": "gemini-image", "base_url": "/v1beta"},
    "chat": {"kind": "chat-images", "model": "google/gemini-image", "base_url": "/v1"},
    "fal": {"kind": "http-queue", "preset": "fal", "model": "fal-ai/flux", "base_url": "/fal"},
    "replicate": {"kind": "http-queue", "preset": "replicate", "model": "bfl/flux", "base_url": "/replicate/v1"},
}


class Pictures:
    """A running fake image server."""

    def __init__(self, root: str) -> None:
        self.root = root

    def counts(self) -> dict[str, Any]:
        """What it has seen."""
        with urllib.request.urlopen(self.root + "/fake/counts", timeout=10) as reply:  # noqa: S310
            found: dict[str, Any] = json.load(reply)
        return found


@contextmanager
def pictures_server(*options: str) -> Iterator[Pictures]:
    """Run it with options such as ``--fault``, ``refusal=0.2``."""
    command = [sys.executable, "-m", "imarena.clients.fake_images", "--port", "0", *options]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    try:
        line = process.stdout.readline().strip() if process.stdout else ""
        assert line.startswith("http://"), "the fake image server did not start"
        yield Pictures(line)
    finally:
        process.terminate()
        process.wait(timeout=20)
        if process.stdout:
            process.stdout.close()


def add_editors(root: Path, server: str, tables: Mapping[str, Mapping[str, JsonValue]] = TABLES) -> None:
    """Write editors that live at a fake server into a workspace's settings."""
    lines = [(root / "imarena.toml").read_text()]
    for name, table in tables.items():
        values = {**COMMON, **table, "base_url": f"{server}{table['base_url']}"}
        lines.append(f"\n[editors.{name}]")
        lines += [f"{key} = {json.dumps(value)}" for key, value in values.items()]
        if table["kind"] == "http-queue":
            lines += [f"[editors.{name}.template]", "poll_s = 0.02", "job_timeout_s = 5.0"]
    (root / "imarena.toml").write_text("\n".join(lines) + "\n")


def add_items(workspace: Workspace, count: int, *, dataset: str = "test", instruction: str = "edit {n}") -> None:
    """Items with small pictures of their own."""
    items = [
        Item(
            dataset=dataset, key=f"item-{n:04d}", task="TIE", topic="P", sources=(kept(workspace, n % 97),),
            turns=(Turn(instruction=instruction.format(n=n)),),
        )
        for n in range(count)
    ]  # fmt: skip
    workspace.store.add(items)


def filled(root: Path, count: int, **more: str) -> Path:
    """A new workspace with items."""
    with init_workspace(root) as workspace:
        add_items(workspace, count, **more)
    return root
