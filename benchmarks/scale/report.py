"""CPU time, size and first paint of `imarena report` on a large workspace.

    python -m benchmarks.scale.report FOLDER [--items 12000] [--editors 21] [--no-browser]

One judge scores every output, three raters vote on some pairs. A few items have images, so that galleries have
something to show. The report opens in the system's Chromium from the file, with the network off.
"""

import argparse
import io
import json
import resource
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image

from imarena.core.records import ImageRef, Item, Judgment, Origin, Output, Rater, Record, Turn, Vote
from imarena.images import describe_image
from imarena.storage import Workspace, init_workspace, is_workspace, open_workspace
from imarena.workflows.reporting import write_report
from tests.web.browser.conftest import CHROMIUM

PICTURED = 40
BATCH = 5_000
TASKS, TOPICS, FAMILIES = 16, 6, 5


def picture(workspace: Workspace, seed: int) -> ImageRef:
    """A smooth random image of 512 x 512 pixels, stored."""
    small = np.random.default_rng(seed).integers(0, 255, (12, 12, 3), dtype=np.uint8)
    buffer = io.BytesIO()
    Image.fromarray(small).resize((512, 512), Image.Resampling.BICUBIC).save(buffer, "JPEG", quality=85)
    kept: ImageRef = workspace.keep(describe_image(buffer.getvalue()), buffer.getvalue())
    return kept


def records(workspace: Workspace, items: int, editors: int) -> Iterator[Record]:
    """Items, outputs, scores and votes."""
    yield from (Rater(rater_id=name) for name in ("ann", "bob", "cat"))
    random = np.random.default_rng(0)
    for number in range(items):
        pictured = number < PICTURED
        item = Item(
            dataset="scale", key=f"item-{number:05d}", task=f"task {number % TASKS}", topic=f"topic {number % TOPICS}",
            family=f"family {number % FAMILIES}", track=f"track {number % 3}",
            turns=(Turn(instruction=f"Change object {number}."),),
            sources=(picture(workspace, number),) if pictured else (),
        )  # fmt: skip
        yield item
        made = []
        for place in range(editors):
            image = picture(workspace, 100_000 + number * editors + place) if pictured else None
            origin = None if image else Origin(source="scale", file_sha256="0" * 64, row=f"{number}-{place}")
            output = Output(item_id=item.item_id, editor=f"editor-{place:02d}", image=image, origin=origin)
            made.append(output)
            yield output
            score = float(np.clip(500 + 15 * (editors / 2 - place) + 150 * random.standard_normal(), 0, 1000))
            yield Judgment(
                work_id=f"s{output.output_id}", judge="scale-judge", item_id=item.item_id, left_id=output.output_id,
                score=round(score, 1),
            )  # fmt: skip
        if number % 4 == 0:
            left, right = sorted(random.choice(editors, 2, replace=False).tolist())
            yield Vote(
                rater_id=("ann", "bob", "cat")[number % 3], item_id=item.item_id, left_id=made[left].output_id,
                right_id=made[right].output_id, preference="left" if random.random() < 0.7 else "right",
                idempotency_key=f"v{number}",
            )  # fmt: skip


def fill(root: Path, items: int, editors: int) -> None:
    """Make the workspace, unless it is there."""
    if is_workspace(root):
        return
    with init_workspace(root) as workspace:
        batch: list[Record] = []
        for record in records(workspace, items, editors):
            batch.append(record)
            if len(batch) >= BATCH:
                workspace.store.add(batch)
                batch = []
        workspace.store.add(batch)


def first_paint(page: Path) -> dict[str, Any]:
    """Milliseconds until Chromium painted something and until the page was loaded, and what it requested."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as play:
        browser = play.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        context = browser.new_context(offline=True)
        tab = context.new_page()
        asked: list[str] = []
        tab.on("request", lambda request: asked.append(request.url[:5]))
        tab.goto(page.resolve().as_uri())
        timing = tab.evaluate(
            "() => new Promise(done => requestAnimationFrame(() => setTimeout(() => done({"
            "paint: (performance.getEntriesByName('first-contentful-paint')[0] || {}).startTime,"
            "loaded: performance.timing.loadEventEnd - performance.timing.navigationStart}), 50)))"
        )
        browser.close()
    return {**timing, "network_requests": sum(url not in ("file:", "data:") for url in asked)}


def main() -> None:
    """Run it and print JSON."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("folder", type=Path)
    parser.add_argument("--items", type=int, default=12_000)
    parser.add_argument("--editors", type=int, default=21)
    parser.add_argument("--no-browser", action="store_true")
    options = parser.parse_args()
    root = options.folder / f"scale-{options.items}-{options.editors}"
    filled = time.process_time()
    fill(root, options.items, options.editors)
    filled = time.process_time() - filled
    page = options.folder / "report.html"
    started = time.process_time()
    with open_workspace(root) as workspace:
        write_report(workspace, page, title="scale")
    made = time.process_time() - started
    document = {
        "items": options.items, "editors": options.editors, "fill_cpu_s": round(filled, 1),
        "report_cpu_s": round(made, 1), "report_mb": round(page.stat().st_size / 1e6, 2),
        "peak_memory_mb": round(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024),
        **({} if options.no_browser else {"chromium": first_paint(page)}),
    }  # fmt: skip
    print(json.dumps(document, indent=2))


if __name__ == "__main__":
    main()
