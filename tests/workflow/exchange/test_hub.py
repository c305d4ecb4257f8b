"""Importing from a hub: the real client against a server that speaks the hub's protocol, on loopback."""

import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import unquote

import pytest

from imarena.core.ids import sha256_hex
from tests import samples
from tests.command import Imarena

COMMIT = "0123456789abcdef0123456789abcdef01234567"
FILES = {
    "items.csv": b"key,instruction,source\na,make it red,a.png\n",
    "a.png": samples.png(1),
    "outputs/one/a.png": samples.png(2),
    "evil.py": b"raise SystemExit('code from a data set must never be fetched')",
}


class Hub(BaseHTTPRequestHandler):
    """Just enough of a hub: what a data set holds, and its files."""

    fetched: list[str] = []  # noqa: RUF012

    def do_HEAD(self) -> None:
        self.do_GET()

    def do_GET(self) -> None:
        path = unquote(self.path.partition("?")[0])
        if path.startswith("/api/datasets/lab/bench/revision/"):
            siblings = [{"rfilename": name} for name in FILES]
            body = {"id": "lab/bench", "sha": COMMIT, "siblings": siblings, "private": False, "tags": []}
            self._send(json.dumps(body).encode(), "application/json")
        elif "/tree/" in path:
            tree = [{"type": "file", "path": name, "size": len(data), "oid": sha256_hex(data)[:40]}
                    for name, data in FILES.items()]  # fmt: skip
            self._send(json.dumps(tree).encode(), "application/json")
        elif path.startswith("/datasets/lab/bench/resolve/"):
            name = path.split("/", 6)[6]
            self.fetched.append(name)
            self._send(FILES[name], "application/octet-stream")
        else:
            self.send_error(404)

    def _send(self, data: bytes, kind: str) -> None:
        self.send_response(200)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(data)))
        self.send_header("ETag", f'"{sha256_hex(data)[:40]}"')
        self.send_header("X-Repo-Commit", COMMIT)
        self.end_headers()
        if self.command == "GET":
            self.wfile.write(data)

    def log_message(self, format: str, *args: object) -> None:
        """Quiet."""


@pytest.fixture
def hub() -> Iterator[str]:
    Hub.fetched.clear()
    server = ThreadingHTTPServer(("127.0.0.1", 0), Hub)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    yield f"http://127.0.0.1:{server.server_address[1]}"
    server.shutdown()
    server.server_close()
    thread.join()


def test_tables_and_pictures_come_and_code_does_not(imarena: Imarena, hub: str) -> None:
    environment = {"HF_ENDPOINT": hub, "HF_HUB_DISABLE_TELEMETRY": "1", "HF_HUB_DISABLE_XET": "1"}
    imarena("init", "a")
    report = imarena("-w", "a", "--json", "import", "table", "hub:lab/bench", env=environment).json
    assert report["new"] == {"Item": 1, "Output": 1}
    assert "evil.py" not in Hub.fetched
    again = imarena("-w", "a", "--json", "import", "table", "hub:lab/bench", env=environment).json
    assert again["new"].get("Item", 0) == 0
    missing = imarena("-w", "a", "import", "table", "hub:lab/nothing", code=2, env=environment)
    assert "could not be fetched" in missing.err
    assert "Write hub:owner/name" in imarena("-w", "a", "import", "table", "hub:../x", code=2, env=environment).err
