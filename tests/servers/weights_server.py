"""A model hub and a package index on loopback. Downloads can be made to stop half-way, as a bad line does."""

import base64
import io
import json
import tarfile
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import unquote

from imarena.core.ids import sha256_hex

NEWEST = "0123456789abcdef0123456789abcdef01234567"


@dataclass
class WeightsServer:
    """What is served: files of hub repositories (the same at each commit) and archives of one package index."""

    repositories: dict[str, dict[str, bytes]] = field(default_factory=dict)
    archives: dict[str, bytes] = field(default_factory=dict)
    """File name to bytes; the package is the name before the first hyphen."""
    commit: str = NEWEST
    stop_after: dict[str, int] = field(default_factory=dict)
    """File name to the bytes that are sent before the line goes silent."""
    stopped: threading.Event = field(default_factory=threading.Event)
    released: threading.Event = field(default_factory=threading.Event)
    requests: list[tuple[str, str]] = field(default_factory=list)
    """Path and range of each request for a file."""
    user_and_password: str = ""
    """Without them the package index answers 401."""
    url: str = ""

    @property
    def environment(self) -> dict[str, str]:
        """Sends the hub's client and pip's configuration here."""
        return {
            "HF_ENDPOINT": self.url, "HF_HUB_DISABLE_TELEMETRY": "1", "HF_HUB_DISABLE_XET": "1",
            "PIP_INDEX_URL": f"{self.url}/simple", "PIP_EXTRA_INDEX_URL": "", "NO_PROXY": "127.0.0.1",
        }  # fmt: skip


def source_archive(members: dict[str, bytes]) -> bytes:
    """A `.tar.gz`, as a package index serves it."""
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w:gz") as archive:
        for name, data in members.items():
            info = tarfile.TarInfo(name)
            info.size = len(data)
            archive.addfile(info, io.BytesIO(data))
    return buffer.getvalue()


@contextmanager
def serve_weights() -> Iterator[WeightsServer]:
    """Run the server while the block runs."""
    served = WeightsServer()

    class Handler(BaseHTTPRequestHandler):
        def do_HEAD(self) -> None:
            self.do_GET()

        def do_GET(self) -> None:
            path = unquote(self.path.partition("?")[0])
            secret = f"Basic {base64.b64encode(served.user_and_password.encode()).decode()}"
            if served.user_and_password and self.headers.get("Authorization") != secret:
                self.send_error(401)
            elif path.startswith("/simple/"):
                package = path.split("/")[2].replace("-", "_")
                names = [name for name in served.archives if name.startswith(f"{package}-")]
                links = "".join(f'<a href="../../files/{name}#sha256=0">{name}</a>' for name in names)
                self._send(f"<html>{links}</html>".encode(), "text/html")
            elif path.startswith("/files/"):
                self._file(path.removeprefix("/files/"), served.archives)
            else:
                self._hub(path)

        def _hub(self, path: str) -> None:
            for repository, files in served.repositories.items():
                if path.startswith(f"/{repository}/resolve/"):
                    self._file(path.removeprefix(f"/{repository}/resolve/").partition("/")[2], files)
                    return
                if path.startswith(f"/api/models/{repository}"):
                    self._send(
                        json.dumps(self._listing(repository, files, "/tree/" in path)).encode(), "application/json"
                    )
                    return
            self.send_error(404)

        def _listing(self, repository: str, files: dict[str, bytes], tree: bool) -> object:
            def lfs(name: str) -> dict[str, object]:
                large = {"size": len(files[name]), "sha256": sha256_hex(files[name]), "pointerSize": 100}
                return {"lfs": {**large, "oid": large["sha256"]}} if name.endswith(".safetensors") else {}

            if tree:
                return [{"type": "file", "path": name, "size": len(data), "oid": sha256_hex(data)[:40], **lfs(name)}
                        for name, data in files.items()]  # fmt: skip
            siblings = [{"rfilename": name, "size": len(data), "blobId": sha256_hex(data)[:40], **lfs(name)}
                        for name, data in files.items()]  # fmt: skip
            return {"id": repository, "sha": served.commit, "siblings": siblings, "private": False, "tags": []}

        def _file(self, name: str, files: dict[str, bytes]) -> None:
            if name not in files:
                self.send_error(404)
                return
            wanted = self.headers.get("Range", "")
            if self.command == "GET":
                served.requests.append((name, wanted))
            start = int(wanted.removeprefix("bytes=").partition("-")[0]) if wanted else 0
            self._send(files[name], "application/octet-stream", start, ranged=bool(wanted), name=name)

        def _send(self, data: bytes, kind: str, start: int = 0, *, ranged: bool = False, name: str = "") -> None:
            self.send_response(206 if ranged else 200)
            self.send_header("Content-Type", kind)
            self.send_header("Content-Length", str(len(data) - start))
            if ranged:
                self.send_header("Content-Range", f"bytes {start}-{len(data) - 1}/{len(data)}")
            self.send_header("ETag", f'"{sha256_hex(data)}"')
            self.send_header("X-Repo-Commit", served.commit)
            self.end_headers()
            if self.command != "GET":
                return
            if name in served.stop_after:
                self.wfile.write(data[start : served.stop_after[name]])
                self.wfile.flush()
                served.stopped.set()
                served.released.wait(60)
            else:
                self.wfile.write(data[start:])

        def log_message(self, format: str, *args: object) -> None:
            """Quiet."""

        def handle_error(self, *_: object) -> None:
            """A client that was killed."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    served.url = f"http://127.0.0.1:{server.server_address[1]}"
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield served
    finally:
        served.released.set()
        server.shutdown()
        server.server_close()
        thread.join()
