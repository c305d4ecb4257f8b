"""`rank --fragility` on a workspace names items by key, raters by name, and votes by both."""

from pathlib import Path
from typing import Any

from imarena.core.records import Item, Outcome, Output, Rater, Record, Turn, Vote
from imarena.storage import init_workspace
from tests.command import Imarena
from tests.samples import picture_of

ITEMS = (("d", "cat"), ("d", "dog"), ("e", "cat"), ("e", "fox"), ("d", "owl"), ("d", "elk"), ("d", "bee"))
"""The key `cat` is in two data sets."""


def arena(folder: Path) -> dict[str, str]:
    """Ann prefers a to b on the first four items, bob (who left no name) b to a on the other three."""
    names: dict[str, str] = {}
    with init_workspace(folder) as workspace:
        records: list[Record] = [Rater(rater_id="r1", name="Ann"), Rater(rater_id="r2")]
        for number, (dataset, key) in enumerate(ITEMS):
            item = Item(dataset=dataset, key=key, turns=(Turn(instruction="edit"),))
            names[item.item_id] = f"{dataset}/{key}" if key == "cat" else key
            left, right = (
                Output(item_id=item.item_id, editor=editor, image=picture_of(workspace, f"{number}{editor}"))
                for editor in ("a", "b")
            )
            vote = Vote(
                rater_id="r1" if number < 4 else "r2", item_id=item.item_id, left_id=left.output_id,
                right_id=right.output_id, preference=Outcome.LEFT if number < 4 else Outcome.RIGHT,
                idempotency_key=str(number),
            )  # fmt: skip
            records += [item, left, right, vote]
        assert not workspace.store.add(records).conflicts
    return names


def test_items_raters_and_votes_have_the_names_that_people_know(imarena: Imarena, tmp_path: Path) -> None:
    names = arena(tmp_path / "arena")
    words = ("-w", tmp_path / "arena", "rank", "--source", "people", "--interval", "none", "--fragility", 1)
    found: Any = imarena("--json", *words).json
    first = {one["unit"]: one for one in found["details"]["fragility"]["orders"] if one["question"] == "first place"}
    assert {unit: order["removed"] for unit, order in first.items()} == {"vote": 2, "item": 2, "rater": 1}
    assert first["rater"]["units"] == [{"name": "Ann", "count": 1, "id": "r1"}]
    of_ann = ["d/cat", "dog", "e/cat", "fox"]
    assert all(unit["name"] == names[unit["id"]] for unit in first["item"]["units"])
    assert {unit["name"] for unit in first["item"]["units"]} <= set(of_ann)
    [kind] = first["vote"]["units"]
    assert (kind["name"], kind["count"]) == ("a over b", 2)
    assert [vote["rater"] for vote in kind["votes"]] == ["Ann", "Ann"]
    assert {vote["item"] for vote in kind["votes"]} <= set(of_ann)
    shown = imarena(*words).out
    assert "item_" not in shown
    assert f"{kind['votes'][0]['item']} by Ann" in shown
