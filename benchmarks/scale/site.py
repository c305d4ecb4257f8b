"""The static site of 1,000 items: how long it takes to write, its size, and the first paint of its pages in Chromium.

Usage: python -m benchmarks.scale.site [ITEMS]
"""

import sys
import tempfile
import time
from pathlib import Path

from playwright.sync_api import sync_playwright

from imarena.storage import open_workspace
from imarena.workflows.publishing import SiteSettings, write_site
from tests.small_data.site_arena import fill_site_arena
from tests.web.browser.conftest import CHROMIUM

LIMIT_MS = 3000
EDITORS = tuple(f"model-{number}" for number in range(6))


def main() -> None:
    """Print the figures; fail where a page paints later than the limit."""
    number = int(sys.argv[1]) if len(sys.argv) > 1 else 1000
    with tempfile.TemporaryDirectory() as name:
        root = Path(name)
        fill_site_arena(root / "a", items=number, editors=EDITORS)
        began = time.process_time()
        with open_workspace(root / "a") as workspace:
            report = write_site(workspace, root / "out", SiteSettings())
        spent = time.process_time() - began
        size = sum(path.stat().st_size for path in (root / "out").rglob("*") if path.is_file())
        print(f"{number:,} items, {report.battles:,} battles, {report.boards} boards, {report.images:,} images")
        print(f"written in {spent:.1f} CPU s; {size / 1e6:.1f} MB with {report.images:,} small test images")
        slowest = first_paints(root / "out")
    assert slowest < LIMIT_MS, f"first paint after {slowest:.0f} ms, allowed {LIMIT_MS}"


def first_paints(folder: Path) -> float:
    """Open each kind of page from disk three times; print and return the slowest first contentful paint in ms."""
    slowest = 0.0
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox", "--disable-gpu"])
        for page_name in ("index.html", "models/model-0.html", "battles.html"):
            for _ in range(3):
                page = browser.new_page(viewport={"width": 1280, "height": 900})
                page.goto((folder / page_name).as_uri())
                if page_name == "battles.html":
                    page.wait_for_selector("article.battle")
                paint = page.evaluate(
                    "new Promise(done => new PerformanceObserver(list => done(list.getEntries().at(-1).startTime))"
                    ".observe({type: 'paint', buffered: true}))"
                )
                shown = page.evaluate("performance.now()")
                print(f"{page_name}: first contentful paint {paint:.0f} ms; content read after {shown:.0f} ms")
                slowest = max(slowest, paint)
                page.close()
        browser.close()
    return slowest


if __name__ == "__main__":
    main()
