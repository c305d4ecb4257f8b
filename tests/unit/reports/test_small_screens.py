"""The page of a report on a phone and on paper, in a real browser."""

from base64 import b64encode
from collections.abc import Iterator
from io import BytesIO
from pathlib import Path

import pytest
from PIL import Image
from playwright.sync_api import Page as BrowserPage
from playwright.sync_api import sync_playwright

from imarena.reports.charts import Chart
from imarena.reports.page import GalleryItem, Page, PageImage, Section, write_html
from imarena.reports.tables import Column, Table
from tests.web.browser.conftest import CHROMIUM, FLAGS

pytestmark = pytest.mark.skipif(not Path(CHROMIUM).exists(), reason="needs Chromium")

SENTENCE = (
    "one has the highest rating of 8 editors; battles on one item are not enough evidence to say which is better."
)
BARS = {"mark": "bar", "data": {"values": [{"x": 1}]}, "encoding": {"x": {"field": "x", "type": "quantitative"}}}


def picture(width: int, height: int) -> PageImage:
    kept = BytesIO()
    Image.new("RGB", (width, height), "teal").save(kept, "PNG")
    return PageImage(f"data:image/png;base64,{b64encode(kept.getvalue()).decode()}", "source")


@pytest.fixture
def opened(tmp_path: Path) -> Iterator[BrowserPage]:
    said = Table(
        (Column("task"), Column("battles"), Column("conclusion", wrap=True)),
        (("functional_state_change", 7, SENTENCE),),
    )
    wide = Table(tuple(Column(f"column {n}") for n in range(12)), tuple((f"row {n}", *range(11)) for n in range(30)))
    shown = GalleryItem("key", "Remove it.", (picture(240, 180), picture(240, 180), picture(60, 240)))
    chart = Chart("bars", "Bars", {**BARS, "width": 700})
    section = Section("Boards", tables=(said, wide), charts=(chart,), exhibits=(shown,))
    path = write_html(Page("Report", "Lead.", (section,)), tmp_path)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        page = browser.new_page(viewport={"width": 390, "height": 800})
        page.goto(path.as_uri())
        yield page
        browser.close()


def test_a_phone_shows_sentences_whole_and_plots_in_a_legible_size(opened: BrowserPage) -> None:
    assert opened.evaluate("document.documentElement.scrollWidth") <= 390
    box = opened.locator("td.wrap").bounding_box()
    assert box is not None
    assert box["width"] > 330
    assert opened.locator(".plots svg").evaluate("one => one.getBoundingClientRect().width") >= 600
    assert opened.locator(".plots .scroll").evaluate("one => one.scrollWidth > one.clientWidth"), "it scrolls sideways"


def test_frames_have_the_shape_of_their_images(opened: BrowserPage) -> None:
    boxes = [image.bounding_box() for image in opened.locator(".row img").all()]
    for box, shape in zip(boxes, (4 / 3, 4 / 3, 1 / 4), strict=True):
        assert box is not None
        assert box["width"] / box["height"] == pytest.approx(shape, rel=0.02) or box["height"] == 420
    colour = opened.locator(".row img").last.evaluate("one => getComputedStyle(one).backgroundColor")
    assert colour == "rgba(0, 0, 0, 0)", "no band beside an image"


def test_paper_has_the_lines_of_the_first_column(opened: BrowserPage) -> None:
    cell = opened.locator("table").nth(1).locator("td.name").first
    assert cell.evaluate("one => getComputedStyle(one).position") == "sticky"
    opened.emulate_media(media="print")
    style = "one => { const s = getComputedStyle(one); return [s.position, s.backgroundImage, s.borderBottomStyle] }"
    assert cell.evaluate(style) == ["static", "none", "solid"]
