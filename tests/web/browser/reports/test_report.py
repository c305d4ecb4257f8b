"""The report's tables fit a page of 1280 pixels, in light and in dark; its images are all printed."""

from pathlib import Path

import pytest
from playwright.sync_api import Browser

from imarena.core.records import Judgment, Output, Status
from imarena.storage import init_workspace
from tests.command import Imarena
from tests.samples import item, picture_of

pytestmark = pytest.mark.browser

EDITORS = [f"checkpoint-2026-11-{day}-step-120000-ema" for day in range(15, 19)]
STATUSES = list(Status)


def fill(root: Path) -> None:
    """Editors with long names and every status, three samples per item, scored by a judge."""
    with init_workspace(root) as workspace:
        for number in range(len(STATUSES)):
            asked = item(f"i{number}")
            workspace.store.add([asked])
            for place, editor in enumerate(EDITORS):
                for sample in range(3):
                    status = STATUSES[number] if (place, sample) == (0, 0) else Status.OK
                    ok = status is Status.OK
                    made = Output(
                        item_id=asked.item_id, editor=editor, sample=sample, status=status, cost_usd=0.0123,
                        image=picture_of(workspace, f"{editor}{number}{sample}") if ok else None, latency_s=12.5,
                    )  # fmt: skip
                    workspace.store.add([made])
                    told = Judgment(
                        work_id=made.output_id, judge="robot", item_id=asked.item_id, left_id=made.output_id,
                        score=(place * 211 + number * 97 + sample * 53) % 1000,
                    )  # fmt: skip
                    workspace.store.add([told] if ok else [])


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The page of a report in a folder."""
    folder = tmp_path_factory.mktemp("report")
    fill(folder / "w")
    (folder / "w" / "imarena.toml").write_text('name = "w"\n[board.success]\nrobot = 500\n')
    Imarena(folder)("-w", "w", "report", "out", "--by", "task")
    return folder / "out" / "index.html"


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_no_table_of_the_report_is_wider_than_the_page(browser: Browser, report: Path, theme: str) -> None:
    page = browser.new_page(
        viewport={"width": 1280, "height": 900}, color_scheme="dark" if theme == "dark" else "light"
    )
    page.goto(report.as_uri())
    widths = page.evaluate(
        "[...document.querySelectorAll('.scroll')].map(box => [box.scrollWidth, box.clientWidth, box.innerText])"
    )
    page.close()
    assert any("pass@3" in text for _, _, text in widths)
    assert [text for wide, room, text in widths if wide > room] == []


def test_every_image_of_the_report_is_printed(browser: Browser, report: Path) -> None:
    """On the screen an image is loaded when it comes into sight; on paper all are in sight."""
    page = browser.new_page(viewport={"width": 1280, "height": 300})
    page.goto(report.as_uri())
    shown = "[...document.images].map(image => image.complete && image.naturalWidth > 0)"
    before = page.evaluate(shown)
    assert not all(before)
    page.pdf()
    assert page.evaluate(shown) == [True] * len(before)
    page.close()
