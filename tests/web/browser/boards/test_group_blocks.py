"""Groups of models that never met in a real browser: a block of the table with an axis for each."""

import re
from collections.abc import Iterator

import pytest
from playwright.sync_api import Page, expect

from tests.small_data.separate_groups import fill
from tests.web.browser.conftest import served
from tests.web.browser.desk import become_lead
from tests.web.browser.stage import Stage

pytestmark = pytest.mark.browser


@pytest.fixture(scope="module")
def apart(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stage]:
    """A server over two groups of models that never met."""
    with served(tmp_path_factory, "apart", fill) as made:
        yield made


def test_each_group_has_a_block_and_an_axis(page: Page, apart: Stage) -> None:
    become_lead(page, apart)
    page.goto(f"{apart.address}/board?source=human")
    blocks = page.locator(".standings tbody")
    expect(blocks).to_have_count(2)
    expect(blocks.first.locator("th[scope=rowgroup]")).to_contain_text("Group 1 3 models that met each other")
    expect(blocks.last.locator("th[scope=rowgroup]")).to_contain_text("Group 2 2 models that met each other")
    expect(blocks.last.locator("th[scope=row]")).to_have_text(["dog", "cat"])
    expect(page.locator(".standings thead .axis")).to_have_count(0)
    expect(page.locator(".standings tbody .axis")).to_have_count(2)
    axes = [block.locator(".axis text").all_text_contents() for block in blocks.all()]
    assert axes[0] != axes[1]
    page.get_by_role("columnheader", name=re.compile("^Rating")).get_by_role("button").click()
    expect(blocks.first.locator("th[scope=row]")).to_have_text(["oak", "ash", "elm"])
    page.get_by_role("link", name="dog").click()
    expect(page.locator(".tile", has_text="Rank in group 2")).to_contain_text("1 of 2")


def test_the_history_has_a_plot_for_each_group(page: Page, apart: Stage) -> None:
    """Ratings of two groups have no common scale, so that no axis may hold both."""
    become_lead(page, apart)
    page.goto(f"{apart.address}/board?source=human&view=history")
    plots = page.locator("figure.history svg")
    expect(plots).to_have_count(2)
    for plot, models in zip(plots.all(), (3, 2), strict=True):
        expect(plot.locator("polyline")).to_have_count(models)
    expect(page.get_by_role("heading", name="Group 2 2 models that met each other")).to_be_visible()
    heads = [
        row.all_text_contents()[2:] for row in (table.locator("thead th") for table in page.locator("table").all())
    ]
    assert heads == [["oak", "ash", "elm"], ["dog", "cat"]]
