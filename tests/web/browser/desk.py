"""What a rater does at the screen, in words."""

import json
from collections.abc import Callable
from typing import Any

from playwright.sync_api import Browser, Page, ViewportSize, expect

from tests.web.browser.stage import Stage

SIZE: ViewportSize = {"width": 1280, "height": 720}
LONGEST_MS = 60_000
"""How long anything is waited for: a busy machine is slow, not wrong. How fast it is, benchmarks measure."""


def visitor(browser: Browser) -> Page:
    """Somebody new, with a browser of their own."""
    context = browser.new_context(viewport=SIZE, color_scheme="light", reduced_motion="reduce")
    context.set_default_timeout(LONGEST_MS)
    return context.new_page()


def join(page: Page, stage: Stage, campaign_id: str, name: str = "Ana") -> None:
    """Open an invitation and go through consent, guidelines and keys to the first task."""
    open_link(page, stage.invite(campaign_id, name))
    page.get_by_role("link", name="Start").click()
    agree = page.get_by_label("I have read this and want to take part")
    if (
        page.locator("[data-step=consent]").or_(page.locator("[data-step=guidelines]")).get_attribute("data-step")
        == "consent"
    ):
        agree.check()
        page.get_by_role("button", name="Next").click()
    page.get_by_role("button", name="Next").click()
    page.get_by_role("button", name="Begin").click()
    ready(page)


def open_link(page: Page, address: str) -> None:
    """Open an invitation. Where the server asks for a pause, the page tries again by itself."""
    page.goto(address)
    expect(page.get_by_role("link", name="Start")).to_be_visible()


def become_lead(page: Page, stage: Stage) -> None:
    """Be the administrator from the next page on."""
    page.context.clear_cookies()
    page.context.add_cookies([{"name": name, "value": value, "url": stage.address} for name, value in stage.cookies()])


def ready(page: Page) -> None:
    """Wait until a task and all of its pictures are there, and it can be answered."""
    expect(page.locator(".task")).to_have_attribute("aria-busy", "false")
    loaded(page)
    expect(page.locator(".task")).to_have_attribute("data-open", "true")


def loaded(page: Page) -> None:
    """Wait until every picture shows all tiles of what is seen."""
    expect(page.locator(".pane[data-loaded=false]")).to_have_count(0)


def task_of(page: Page) -> str:
    """The address of the task on the screen."""
    return str(page.locator(".task").get_attribute("data-task"))


def next_task(page: Page, before: str) -> None:
    """Wait until another task is on the screen."""
    expect(page.locator(".task")).not_to_have_attribute("data-task", before)
    ready(page)


def until(page: Page, told: Callable[[], object]) -> None:
    """Wait until something is so: a page that moves is asked again, for as long as a busy machine may need."""
    for _ in range(LONGEST_MS // 100):
        if told():
            return
        page.wait_for_timeout(100)
    raise AssertionError(f"it did not come to be within {LONGEST_MS} ms")


def still(page: Page) -> None:
    """Wait until nothing moves or changes its colour, and what was changed last is painted."""
    until(page, lambda: page.evaluate("document.getAnimations().length === 0"))
    page.evaluate("() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))")


def fits(page: Page) -> None:
    """Wait until nothing of the page is wider than the window."""
    until(page, lambda: page.evaluate("document.documentElement.scrollWidth <= window.innerWidth"))


def seen(page: Page) -> dict[str, list[int]]:
    """The colours in the middle of each pane, by its name: what is really on the screen."""
    script = """() => {
      const found = {};
      for (const pane of document.querySelectorAll('.pane')) {
        const canvas = pane.querySelector('.pane-view canvas');
        if (!canvas) continue;
        const context = canvas.getContext('2d');
        const data = context.getImageData(canvas.width >> 1, canvas.height >> 1, 1, 1).data;
        found[pane.dataset.pane] = Array.from(data).slice(0, 3);
      }
      return JSON.stringify(found);
    }"""
    found: Any = json.loads(page.evaluate(script))
    return dict(found)


def zoom(page: Page) -> float:
    """The zoom that the tools show, in percent."""
    return float(page.locator(".percent").inner_text().removesuffix("%").strip())
