"""The rater's pages in the rater's language: the browser's, one from the list on the page, or one that a lead added."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

from imarena.web.language_files import BUILT_IN
from tests.web.browser.conftest import Shot, served
from tests.web.browser.desk import LONGEST_MS, SIZE, next_task, ready, task_of
from tests.web.browser.stage import Stage, fill
from tests.web.browser.test_accessibility import violations

pytestmark = pytest.mark.browser


@pytest.fixture(scope="module")
def polyglot(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stage]:
    """A server over a workspace to which a lead has added one language, as one file with some of the texts."""

    def add_language(root: Path) -> None:
        (root / "languages").mkdir()
        texts = {"name": "Deutsch", "home": {"start": "Anfangen"}, "vote": {"tie": "Gleich gut"}}
        (root / "languages" / "de.json").write_text(json.dumps(texts), encoding="utf-8")

    with served(tmp_path_factory, "stage", fill, add_language) as made:
        yield made


def reader(browser: Browser, language: str) -> Page:
    context = browser.new_context(viewport=SIZE, locale=language, color_scheme="light", reduced_motion="reduce")
    context.set_default_timeout(LONGEST_MS)
    return context.new_page()


def test_a_chinese_browser_rates_in_chinese(browser: Browser, polyglot: Stage, shot: Shot) -> None:
    zh = json.loads((BUILT_IN / "zh.json").read_text(encoding="utf-8"))
    campaign = polyglot.campaign("Chinese", datasets=["studio"])
    page = reader(browser, "zh-CN")
    page.goto(polyglot.invite(campaign))
    page.get_by_role("link", name=zh["home"]["start"]).click()
    expect(page.locator("html")).to_have_attribute("lang", "zh")
    expect(page.get_by_role("heading", level=1)).to_have_text(zh["start"]["guidelines"])
    page.get_by_role("button", name=zh["start"]["next"]).click()
    page.get_by_role("button", name=zh["start"]["begin"]).click()
    ready(page)
    expect(page.get_by_role("heading", level=1)).to_have_text(zh["forms"]["questions"]["preference"])
    shot(page, "chinese")
    assert violations(page) == []
    before = task_of(page)
    page.get_by_role("button", name=zh["vote"]["left"]).click()
    next_task(page, before)
    expect(page.get_by_role("status")).to_contain_text("已保存")
    page.get_by_label(zh["common"]["language"]).select_option("en")
    expect(page.get_by_role("heading", level=1)).to_have_text("Which result carries out the instruction better?")
    page.reload()
    expect(page.get_by_role("heading", level=1)).to_have_text("Which result carries out the instruction better?")
    page.context.close()


def test_a_language_of_the_lead_is_a_file(browser: Browser, polyglot: Stage) -> None:
    """What the file has is shown; what it lacks is shown in English."""
    campaign = polyglot.campaign("German", datasets=["studio"])
    page = reader(browser, "de-AT")
    page.goto(polyglot.invite(campaign))
    page.get_by_role("link", name="Anfangen").click()
    page.get_by_role("button", name="Next").click()
    page.get_by_role("button", name="Begin").click()
    ready(page)
    expect(page.get_by_role("button", name="Gleich gut")).to_be_visible()
    expect(page.get_by_label("Language").get_by_role("option")).to_have_text(["English", "中文", "Deutsch"])
    page.context.close()


def test_ratings_in_chinese(browser: Browser, polyglot: Stage) -> None:
    zh = json.loads((BUILT_IN / "zh.json").read_text(encoding="utf-8"))
    campaign = polyglot.campaign("Chinese ratings", "rating", datasets=["studio"])
    page = reader(browser, "zh-Hans")
    page.goto(polyglot.invite(campaign))
    page.get_by_role("link", name=zh["home"]["start"]).click()
    page.get_by_role("button", name=zh["start"]["next"]).click()
    page.get_by_role("button", name=zh["start"]["begin"]).click()
    ready(page)
    texts = page.locator(".task").inner_text()
    for name in ("prompt_relevance", "aesthetic_quality", "content_coherence", "artifacts"):
        assert zh["forms"]["criteria"][name]["label"] in texts
    page.context.close()
