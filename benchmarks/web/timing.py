"""Does time or size tell a rater which tasks are gold or repeated? Medians by purpose, with pictures made ahead or not.

python -m benchmarks.web.timing [--cold]
"""

import argparse
import secrets
import statistics
import tempfile
import time
from collections import defaultdict
from pathlib import Path
from typing import Any

from sqlalchemy import select

from imarena.storage import init_workspace
from imarena.storage.database import reading
from imarena.storage.schema import leases
from imarena.web.app import create_app
from tests.web.people import EDITORS, Person, administrator, campaign, fill, rater, settings_of

STEPS = ("next", "picture", "tile", "vote")


def timed(ask: Any) -> tuple[Any, float]:
    """An answer, and the milliseconds it took."""
    begun = time.perf_counter()
    answer = ask()
    return answer, 1000 * (time.perf_counter() - begun)


def one_task(person: Person, campaign_id: str) -> tuple[str, list[float], int] | None:
    """Its address, how long each step took, and the size of the task on the wire; None where there is none."""
    given, next_ms = timed(lambda: person.send("POST", f"/api/rating/campaigns/{campaign_id}/next"))
    task = given.json()["task"]
    if task is None:
        return None
    left = task["left"]
    _, picture_ms = timed(lambda: person.get(left["url"]))
    for shown in (*task["sources"], *task["references"], task["right"]):  # a vote needs all of them
        person.get(shown["url"])
    _, tile_ms = timed(lambda: person.get(f"{left['tiles_url']}/{left['max_level']}/0/0"))
    ballot = {"idempotency_key": secrets.token_hex(8), "preference": "left"}
    _, vote_ms = timed(lambda: person.send("POST", f"/api/tasks/{task['address']}/vote", ballot))
    size = len(given.content) - len(str(task["done"])) - len(str(task["quota_left"]))
    return task["address"], [next_ms, picture_ms, tile_ms, vote_ms], size


def main() -> None:
    """Eight raters, twenty tasks each, a quarter of them gold."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--cold", action="store_true", help="do not make pictures ahead")
    cold = parser.parse_args().cold
    root = Path(tempfile.mkdtemp()) / "arena"
    with init_workspace(root) as workspace:
        fill(workspace, items=60, size=(1024, 1024))
    app = create_app(settings_of(root))
    admin = administrator(app)
    table = "item,left,right,winner\n" + "".join(f"entry-{n},{EDITORS[0]},{EDITORS[1]},left\n" for n in range(6))
    known = admin.post("/api/lead/known-tasks", {"kind": "preference", "table": table})["tasks"]
    one = campaign(admin, gold=[found["task"] for found in known], gold_rate=0.25, repeat_rate=0.15)
    arena = app.state.arena
    found: dict[str, list[tuple[list[float], int]]] = defaultdict(list)
    for number in range(8):
        person = rater(app, admin, one)
        for _ in range(20):
            if not cold:
                for image in arena.warmer.missing():
                    arena.warmer.warm(image)
            done = one_task(person, one)
            if done is None:
                break
            query = select(leases.c.purpose).where(leases.c.address == done[0])
            with reading(arena.workspace.store.engine) as connection:
                purpose = connection.execute(query).scalar_one()
            if number:  # the first rater meets everything for the first time
                found[purpose].append(done[1:])
    for purpose, rows in sorted(found.items()):
        medians = [statistics.median(row[0][n] for row in rows) for n in range(len(STEPS))]
        told = "  ".join(f"{step} {value:.1f} ms" for step, value in zip(STEPS, medians, strict=True))
        sizes = {row[1] for row in rows}
        print(f"{purpose:7} n={len(rows):3}  {told}  bytes of a task {min(sizes)} to {max(sizes)}")


if __name__ == "__main__":
    main()
