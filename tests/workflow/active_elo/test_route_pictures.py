"""`route assign` hands out only battles whose two pictures are here and differ; `route plan` counts the same ones."""

from pathlib import Path

import numpy as np

from imarena.core.records import Assignment, Item, Judgment, Origin, Outcome, Output, Rater, Record, Turn, Vote
from imarena.storage import init_workspace, open_workspace
from tests.command import Imarena
from tests.samples import picture_of

EDITORS = ("a", "b", "c")


def fill(root: Path) -> set[str]:
    """20 items; on odd ones editor c has no picture, on every fifth a and b have the same. Returns shown outputs."""
    rng = np.random.default_rng(1)
    with init_workspace(root) as workspace:
        records: list[Record] = [Rater(rater_id="ann")]
        outputs = []
        for n in range(20):
            item = Item(dataset="d", key=f"i{n}", turns=(Turn(instruction="edit"),))
            records.append(item)
            for editor in EDITORS:
                same = "a" if n % 5 == 0 and editor == "b" else editor
                absent = n % 2 == 1 and editor == "c"
                shown = {"origin": Origin(source="s", row=f"{n}c")} if absent else {}
                image = None if absent else picture_of(workspace, f"{n}{same}")
                output = Output(item_id=item.item_id, editor=editor, image=image, **shown)
                outputs.append(output)
                score = float(rng.uniform(0, 10))
                about = {"item_id": item.item_id, "left_id": output.output_id}
                records += [output, Judgment(work_id=output.output_id, judge="robot", score=score, **about)]
        for n in range(20):  # people agree on every battle, also on those whose pictures are gone since
            left, right = outputs[3 * n], outputs[3 * n + 2]
            records.append(
                Vote(
                    rater_id="ann", item_id=left.item_id, left_id=left.output_id, right_id=right.output_id,
                    preference=Outcome.LEFT, idempotency_key=str(n),
                )
            )  # fmt: skip
        assert not workspace.store.add(records).conflicts
    return {output.output_id for output in outputs if output.image is not None}


def test_nobody_is_given_a_battle_without_pictures(imarena: Imarena, tmp_path: Path) -> None:
    root = tmp_path / "arena"
    shown = fill(root)
    imarena("-w", root, "route", "gold", "--share", "0.5")
    plan = imarena("-w", root, "--json", "route", "plan").json
    more = ("--budget", 500, "--policy", "random", "--raters", "eve", "--gold", "0.5", "--repeats", "0")
    made = imarena("-w", root, "--json", "route", "assign", *more, "--out", tmp_path / "sheet.csv").json
    with open_workspace(root) as workspace:
        given = list(workspace.store.records(Assignment))
        image = {one.output_id: one.image for one in workspace.store.records(Output)}
    assert given
    assert made["gold"] > 0
    assert all({one.left_id, one.right_id} <= shown for one in given)
    assert all(image[one.left_id or ""] != image[one.right_id or ""] for one in given)
    voted = 20 - len({one.item_id for one in given if one.purpose == "gold"})
    assert made["battles"] <= plan["battles"]
    assert plan["battles"] - made["battles"] <= voted, "only what was voted on already is not asked again"


def test_an_arena_without_pictures_says_so(imarena: Imarena, tmp_path: Path) -> None:
    root = tmp_path / "bare"
    with init_workspace(root) as workspace:
        item = Item(dataset="d", key="i", turns=(Turn(instruction="edit"),))
        outputs = [Output(item_id=item.item_id, editor=name, origin=Origin(source="s", row=name)) for name in "ab"]
        scores = [
            Judgment(work_id=one.output_id, judge="robot", item_id=item.item_id, left_id=one.output_id, score=1.0)
            for one in outputs
        ]
        workspace.store.add([item, *outputs, *scores])
    assert "no battle whose two images are here" in imarena("-w", root, "route", "assign", "--budget", 3, code=2).err
