"""Lists of more rows than the server gives at once: each says how many there are, and shows the rest on demand."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Locator, Page, expect

from imarena.core.records import Rater
from imarena.routing.campaign_plan import CampaignPlan
from imarena.storage import access, membership, open_workspace
from imarena.storage.database import writing
from imarena.workflows.rating.campaigns import create_campaign
from tests.small_data.small_arena import make_arena
from tests.web.browser.conftest import served
from tests.web.browser.desk import become_lead
from tests.web.browser.stage import Stage

pytestmark = pytest.mark.browser

PAGE = 200
"""The most that the server gives at once."""
CAMPAIGNS, RATERS, INVITATIONS = PAGE + 5, PAGE + 3, PAGE + 4


def fill(root: Path) -> None:
    """Many campaigns; the newest has many raters and many invitations."""
    make_arena(root, items=1, habits=("exact", "timid"))
    with open_workspace(root) as workspace:
        made = [
            create_campaign(workspace, CampaignPlan(name=f"Campaign {n:03}", max_units=1)) for n in range(CAMPAIGNS)
        ]
        last, engine = made[-1].campaign_id, workspace.store.engine
        raters = [Rater(rater_id=f"rater-{number:03}") for number in range(RATERS)]
        workspace.store.add(raters)
        with writing(engine) as connection:
            for one in raters:
                membership.join_campaign(connection, last, one.rater_id, "2026-01-01T00:00:00Z")
        for number in range(INVITATIONS):
            name = f"Guest {number:03}"
            access.invite(engine, campaign_id=last, role="rater", name=name, days=14, max_people=1, person_param="")


@pytest.fixture(scope="module")
def crowd(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stage]:
    """A server over lists that are longer than a page of the API."""
    with served(tmp_path_factory, "crowd", fill) as made:
        yield made


@pytest.fixture
def admin(page: Page, crowd: Stage) -> Page:
    """The administrator, signed in."""
    become_lead(page, crowd)
    return page


def shows_all(part: Locator, rows: Locator, total: int) -> None:
    """A page of rows with the count, and after one click all of them."""
    expect(part.get_by_text(f"{PAGE} of {total}", exact=True)).to_be_visible()
    expect(rows).to_have_count(PAGE)
    part.get_by_role("button", name="Show more").click()
    expect(part.get_by_text(f"{total} of {total}", exact=True)).to_be_visible()
    expect(rows).to_have_count(total)
    expect(part.get_by_role("button", name="Show more")).to_have_count(0)


def newest(crowd: Stage) -> str:
    """The campaign that was made last: it is the last of a rater's list, where the oldest comes first."""
    return str(crowd.get("/api/lead/campaigns?limit=1")["campaigns"][0]["campaign_id"])


def test_a_lead_sees_all_campaigns(admin: Page, crowd: Stage) -> None:
    admin.goto(f"{crowd.address}/lead")
    main = admin.get_by_role("main")
    shows_all(main, main.locator("tbody tr"), CAMPAIGNS)
    expect(main.get_by_role("link", name="Campaign 000")).to_be_visible()


def test_a_rater_sees_all_campaigns_and_works_in_the_last(admin: Page, crowd: Stage) -> None:
    admin.goto(crowd.address)
    main = admin.get_by_role("main")
    shows_all(main, main.locator("ul.cards > li"), CAMPAIGNS)
    admin.goto(f"{crowd.address}/rate/{newest(crowd)}")
    expect(admin.get_by_text(f"Campaign {CAMPAIGNS - 1:03} · Step 1")).to_be_visible()


def test_a_rater_of_the_second_page_can_be_paused(admin: Page, crowd: Stage) -> None:
    admin.goto(f"{crowd.address}/lead/{newest(crowd)}")
    raters = admin.get_by_role("main")
    table = admin.locator("table").filter(has=admin.get_by_role("rowheader", name="rater-000"))
    expect(raters.get_by_text(f"{PAGE} of {RATERS}", exact=True)).to_be_visible()
    expect(table.locator("tbody tr")).to_have_count(PAGE)
    raters.get_by_role("button", name="Show more").first.click()
    expect(raters.get_by_text(f"{RATERS} of {RATERS}", exact=True)).to_be_visible()
    row = table.get_by_role("row", name=f"rater-{RATERS - 1:03}")
    row.get_by_role("button", name="Pause").click()
    expect(row).to_contain_text("Paused")
    expect(table.locator("tbody tr")).to_have_count(RATERS)


def test_an_invitation_of_the_second_page_can_be_revoked(admin: Page, crowd: Stage) -> None:
    admin.goto(f"{crowd.address}/lead/{newest(crowd)}")
    links = admin.get_by_role("region", name="Invitations")
    shows_all(links, links.locator("tbody tr"), INVITATIONS)
    row = links.get_by_role("row", name="Guest 000")
    row.get_by_role("button", name="Revoke").click()
    admin.get_by_role("dialog").get_by_role("button", name="Revoke").click()
    expect(row).to_contain_text("revoked")
    expect(links.locator("tbody tr")).to_have_count(INVITATIONS)
