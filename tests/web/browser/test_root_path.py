"""The arena below a path of a host, through a reverse proxy that takes the path off, and through one that does not."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import httpx
import pytest
from playwright.sync_api import Page, expect

from imarena.storage import init_workspace
from imarena.web.keys import cookie_name
from imarena.web.static_files import STATIC
from tests.web.browser.desk import next_task, open_link, ready, task_of
from tests.web.browser.stage import Stage, free_port, start
from tests.web.people import fill

pytestmark = pytest.mark.browser
ROOT = "/lab/arena"


@contextmanager
def proxy(port: int, behind: int, *, stripped: bool) -> Iterator[None]:
    """A host with other things on it: only what lies below the path reaches the arena."""

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do(self) -> None:
            if not self.path.startswith(f"{ROOT}/"):
                self.send_error(404)
                return
            path = self.path[len(ROOT) :] if stripped else self.path
            body = self.rfile.read(int(self.headers.get("content-length", 0)))
            headers = [(name, value) for name, value in self.headers.items() if name.lower() != "connection"]
            address = f"http://127.0.0.1:{behind}{path}"
            found = client.request(self.command, address, headers=headers, content=body)
            self.send_response(found.status_code)
            for name, value in found.headers.multi_items():
                if name.lower() not in (
                    "content-length",
                    "connection",
                    "transfer-encoding",
                    "content-encoding",
                    "date",
                ):
                    self.send_header(name, value)
            self.send_header("content-length", str(len(found.content)))
            with suppress(OSError):  # the browser has gone to another page
                self.end_headers()
                self.wfile.write(found.content)

        do_GET = do_POST = do_DELETE = do_PATCH = do  # noqa: N815

        def log_message(self, *_: object) -> None:
            """Say nothing."""

    class Server(ThreadingHTTPServer):
        daemon_threads = True
        request_queue_size = 128  # a browser opens many connections at once; one that overflows hangs for a minute

    fresh = httpx.Limits(max_keepalive_connections=0)  # a kept one may be closed by the server at the moment of its use
    client = httpx.Client(timeout=60, trust_env=False, limits=fresh)
    server = Server(("127.0.0.1", port), Handler)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
        client.close()


@pytest.fixture(scope="module")
def below(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Stage, int]]:
    """A server that was told where it stands, and its port."""
    if not (STATIC / "index.html").is_file():
        pytest.skip("the pages are not built: run 'make web'")
    root = tmp_path_factory.mktemp("below")
    with init_workspace(root / "arena") as workspace:
        fill(workspace, items=3, size=(320, 240))
    port = free_port()
    process, stage = start(root / "arena", "--root-path", ROOT, port=port)
    try:
        yield stage, port
    finally:
        process.terminate()
        process.wait(timeout=30)


@pytest.mark.parametrize("stripped", [True, False])
def test_everything_works_below_a_path(page: Page, below: tuple[Stage, int], stripped: bool) -> None:
    stage, behind = below
    port = free_port()
    outside = f"http://127.0.0.1:{port}{ROOT}"
    wrong: list[str] = []
    page.on("response", lambda answer: wrong.append(answer.url) if answer.status >= 400 else None)
    page.on("request", lambda request: None if request.url.startswith(outside) else wrong.append(request.url))
    with proxy(port, behind, stripped=stripped):
        campaign = stage.campaign(f"Below {stripped}")
        page.context.add_cookies(
            [
                {"name": cookie_name("admin", port), "value": value, "domain": "127.0.0.1", "path": ROOT}
                for _, value in stage.cookies()
            ]
        )
        page.goto(f"{outside}/lead/{campaign}")
        page.get_by_label("Name of the rater").fill("Bo")
        page.get_by_role("button", name="Create a link").click()
        link = page.get_by_label("Send this link. It is shown only once.")
        expect(link).to_be_visible()
        address = link.input_value()
        assert address.startswith(f"{outside}/join#")
        page.get_by_role("link", name="Items").click()
        page.locator(".thumb").first.click()
        expect(page).to_have_url(f"{outside}/items/{page.url.rpartition('/')[2]}")
        expect(page.locator(".pane[data-loaded=false]")).to_have_count(0)
        with page.expect_download() as saved:
            page.goto(f"{outside}/board")
            page.get_by_role("link", name="Save as CSV").click()
        assert saved.value.url.startswith(f"{outside}/api/exports/board")
        page.context.clear_cookies()
        open_link(page, address)
        assert {(one["name"], one["path"]) for one in page.context.cookies()} == {(cookie_name("rater", port), ROOT)}
        page.get_by_role("link", name="Start").click()
        page.get_by_role("button", name="Next").click()
        page.get_by_role("button", name="Begin").click()
        ready(page)
        before = task_of(page)
        page.keyboard.press("ArrowLeft")
        next_task(page, before)
        held = task_of(page)
        page.reload()
        ready(page)
        assert task_of(page) == held
    assert stage.votes(campaign) == 1
    assert wrong == []
