"""The pictures of the guides: each is shown by a page and made by a test, and each page of the application is shown."""

import re

from tests.cross_cutting.docs.guide_pictures import FOLDER, ROOT, shown

LARGEST_BYTES = 200_000
ROUTES = {
    "": "home", "/rate/:campaign": "vote", "/join": "expired", "/launch": "expired", "/sign-in": "sign-in", "/board": "board",
    "/model": "model", "/battles": "battles", "/battles/:id": "battle", "/items": "items", "/items/:id": "item", "/runs": "runs",
    "/judges": "judges", "/access": "access", "/lead": "campaigns", "/lead/:id": "campaign", "/lead/:id/raters/:rater": "rater",
}  # fmt: skip
"""The addresses of the application, each with a picture of its page. /launch has the page of /join."""


def test_every_picture_is_shown_and_every_shown_picture_is_there() -> None:
    assert {path.name for path in FOLDER.iterdir()} == set(shown())


def test_every_picture_is_made_by_a_test() -> None:
    tests = [*(ROOT / "tests" / "web" / "browser").rglob("*.py"), ROOT / "tests" / "workflow" / "test_demo.py"]
    text = "\n".join(path.read_text(encoding="utf-8") for path in tests)
    names = [name.removesuffix(".png").removeprefix("web-") for name in shown()]
    assert [name for name in names if f'"{name}"' not in text] == []


def test_every_page_of_the_application_is_in_a_guide() -> None:
    source = (ROOT / "web" / "src" / "app.tsx").read_text(encoding="utf-8")
    assert set(re.findall(r'^  \["([^"]*)", \(', source, re.MULTILINE)) == set(ROUTES)
    assert [name for name in ROUTES.values() if f"web-{name}.png" not in shown()] == []


def test_pictures_are_small() -> None:
    assert [path.name for path in FOLDER.iterdir() if path.stat().st_size > LARGEST_BYTES] == []
