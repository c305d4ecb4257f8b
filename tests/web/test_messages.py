"""What is refused says what is wrong in words, and never echoes what was sent."""

from pathlib import Path

import pytest

from tests.web.people import EDITORS, Person, administrator, campaign, rater, served

BAD = {
    "/api/board?source=robots": "source should be 'auto', 'human', 'judge' or 'all'",
    "/api/board/history?since=2026-13-40": "since should be a day, such as 2026-01-31",
    "/api/exports/board?until=20260131": "until should be a day, such as 2026-01-31",
    "/api/head-to-head?left=x": "right is missing",
    "/api/board/history?points=1": "points should be greater than or equal to 2",
}


def test_a_filter_that_cannot_be_used_is_told_in_words(tmp_path: Path) -> None:
    visitor = Person(served(tmp_path / "arena", public=True))
    for path, said in BAD.items():
        told = visitor.get(path)
        assert (told.status_code, told.json()["code"]) == (422, "invalid")
        assert said in told.json()["message"]
        assert "clear the filters" in told.json()["hint"]
        assert "robots" not in told.text
    gone = visitor.get("/api/battles/%3Cb%3E")
    assert (gone.status_code, gone.json()["message"]) == (404, "There is nothing at this address.")


@pytest.mark.parametrize("passed", [True, False])
def test_a_lead_sees_who_passed_the_test_and_practice_is_no_work(tmp_path: Path, passed: bool) -> None:
    app = served(tmp_path / "arena")
    admin = administrator(app)
    first, second, _ = EDITORS
    table = f"""item,left,right,winner,use
entry-0,{first},{second},left,practice
entry-1,{first},{second},left,qualification
"""
    found = admin.post("/api/lead/known-tasks", {"kind": "preference", "table": table})["tasks"]
    known = {one["use"]: [one["task"]] for one in found}
    one = campaign(admin, pass_share=1.0, **known)
    person = rater(app, admin, one)
    stages = []
    for _ in range(3):
        given = person.next(one)
        stages.append(given["stage"])
        if given["task"] is not None:
            wanted = known["qualification"][0]["preference"]
            person.vote(given["task"], preference=wanted if passed else "tie")
    assert stages == ["practice", "qualification", "open" if passed else "not_qualified"]
    (seen,) = admin.get(f"/api/lead/campaigns/{one}/raters").json()["raters"]
    assert (seen["votes"], seen["test_right"], seen["test_asked"]) == ((1, 1, 1) if passed else (0, 0, 1))
    assert ("not_qualified" in seen["flags"]) is not passed
