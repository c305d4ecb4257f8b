"""A real Chromium, and pictures of the pages for the guide."""

import fcntl
import os
import shutil
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect, sync_playwright

from imarena.web.static_files import STATIC
from tests.cross_cutting.docs.guide_pictures import keep
from tests.web.browser import gallery
from tests.web.browser.desk import LONGEST_MS, become_lead, loaded, visitor
from tests.web.browser.stage import Stage, fill, start

CHROMIUM = os.environ.get(
    "IMARENA_CHROMIUM", shutil.which("chromium-headless-shell") or shutil.which("chromium") or "/usr/bin/chromium"
)
FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]
Shot = Callable[[Page, str], None]


@contextmanager
def served(
    factory: pytest.TempPathFactory,
    name: str,
    fill: Callable[[Path], None],
    prepare: Callable[[Path], None] | None = None,
) -> Iterator[Stage]:
    """A server over a filled workspace. It is filled once, by the first process that needs it; each has its own copy,
    which ``prepare`` may change before the server starts.
    """
    if not (STATIC / "index.html").is_file():
        pytest.skip("the pages are not built: run 'make web'")
    shared = factory.getbasetemp().parent if "PYTEST_XDIST_WORKER" in os.environ else factory.getbasetemp()
    original = shared / f"{name}-filled"
    with (shared / f"{name}.lock").open("w") as lock, ThreadPoolExecutor(1) as aside:  # Playwright's loop runs here
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not original.exists():
            half = shared / f"{name}-half" / "arena"  # every page shows the name of the folder
            half.parent.mkdir(exist_ok=True)
            aside.submit(fill, half).result()
            half.rename(original)
    root = factory.mktemp(name) / "arena"
    shutil.copytree(original, root)
    if prepare:
        prepare(root)
    process, made = start(root)
    try:
        yield made
    finally:
        process.terminate()
        process.wait(timeout=30)


@pytest.fixture(scope="session")
def stage(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stage]:
    """The server over a populated workspace, as long as the tests run."""
    with served(tmp_path_factory, "stage", fill) as made:
        yield made


@pytest.fixture(scope="session")
def hall(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stage]:
    """A server over a workspace that has much to look at."""
    with served(tmp_path_factory, "hall", gallery.fill) as made:
        yield made


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """The machine's own Chromium; nothing is downloaded. It ends with the file: others need the event loop."""
    if not Path(CHROMIUM).exists():
        pytest.skip(f"no Chromium at {CHROMIUM}; set IMARENA_CHROMIUM to its path")
    expect.set_options(timeout=LONGEST_MS)
    with sync_playwright() as playwright:
        found = playwright.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        yield found
        found.close()


@pytest.fixture
def page(browser: Browser) -> Iterator[Page]:
    """A new visitor. Whatever the page logs as an error, such as a broken security policy, fails the test."""
    made = visitor(browser)
    wrong: list[str] = []
    made.on("pageerror", lambda error: wrong.append(str(error)))
    made.on("console", lambda said: wrong.append(said.text) if _is_ours(said.type, said.text) else None)
    yield made
    made.context.close()
    if wrong:
        pytest.fail("the page reported: " + "; ".join(wrong))


@pytest.fixture
def lead(page: Page, stage: Stage) -> Page:
    """The administrator, signed in."""
    become_lead(page, stage)
    return page


@pytest.fixture
def keeper(page: Page, hall: Stage) -> Page:
    """The administrator of the hall."""
    become_lead(page, hall)
    return page


def _is_ours(kind: str, text: str) -> bool:
    """An error of the page; a refused request is reported by the browser as well, and is the server's to test."""
    return kind == "error" and not text.startswith("Failed to load resource")


@pytest.fixture
def shot() -> Shot:
    """Keep a picture of a page for the guide, when everything on it is drawn."""

    def take(page: Page, name: str) -> None:
        loaded(page)
        if "IMARENA_SCREENSHOTS" in os.environ:
            page.wait_for_load_state("networkidle")
            page.wait_for_timeout(300)
            loaded(page)
            page.wait_for_timeout(300)
        keep(page, f"web-{name}")

    return take
