"""One figure has one interval, whichever command prints it."""

import random
from pathlib import Path
from typing import Any

import pytest

from imarena.core.resampling import ROUNDS, SEED
from tests.command import Imarena
from tests.web.people import Person, administrator, campaign, rater, served


def answered(app: Any, admin: Person, kind: str) -> str:
    """A campaign that three people answered by dice."""
    one = campaign(admin, kind=kind, raters_per_unit=3)
    chance = random.Random(4)
    for _ in range(3):
        person = rater(app, admin, one)
        while (task := person.next(one)["task"]) is not None:
            rolled = chance.randrange(5)
            if kind == "yes_no":
                person.vote(task, answer=rolled > 1)
            else:
                names = [criterion["name"] for criterion in task["criteria"]]
                ratings = {name: 1 + (rolled + chance.randrange(2)) % 5 for name in names}
                person.vote(task, ratings=ratings, no_object_issues=True, no_segment_issues=True, comment="it is odd")
    return one


@pytest.mark.parametrize(("kind", "level"), [("yes_no", "nominal"), ("rating", "ordinal")])
def test_alpha_of_a_campaign_is_that_of_its_export(tmp_path: Path, imarena: Imarena, kind: str, level: str) -> None:
    app = served(tmp_path / "a", items=5)
    admin = administrator(app)
    one = answered(app, admin, kind)
    file = tmp_path / "ratings.csv"
    file.write_bytes(admin.get(f"/api/exports/ratings?campaign_id={one}").content)
    agreed = imarena("--json", "agree", "--from", str(file)).json
    assert (agreed["settings"]["rounds"], agreed["settings"]["seed"]) == (ROUNDS, SEED)
    (status,) = imarena("-w", "a", "--json", "campaign", "status", one).json["campaigns"]
    ours = {line["criterion"]: (line["alpha"], line["alpha_low"], line["alpha_high"]) for line in status["agreement"]}
    theirs = {
        group["criterion"]: (
            group["alpha"][level], group["alpha_interval"][level]["low"], group["alpha_interval"][level]["high"],
        )
        for group in agreed["groups"]
    }  # fmt: skip
    assert ours == theirs
    assert all(low < high for _, low, high in ours.values())
    assert {line["alpha_level"] for line in status["agreement"]} == {level}
    shown = imarena("-w", "a", "campaign", "status", one).out
    assert all(f"(95% interval {low:.3f} to {high:.3f})" in shown for _, low, high in ours.values())
    page = admin.get(f"/api/lead/campaigns/{one}/agreement").json()["criteria"]
    assert {line["criterion"]: (line["alpha"], line["alpha_low"], line["alpha_high"]) for line in page} == ours
