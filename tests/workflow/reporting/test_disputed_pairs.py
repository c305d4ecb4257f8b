"""A report shows pairs with contradicting verdicts, and names whose they are."""

import re
from pathlib import Path

from imarena.core.records import Item, Judgment, Order, Outcome, Output, Rater, Turn, Vote
from imarena.storage import init_workspace
from tests.command import Imarena
from tests.samples import picture_of


def test_the_most_disputed_pairs_name_who_disagrees(imarena: Imarena, tmp_path: Path) -> None:
    with init_workspace(tmp_path / "a") as workspace:
        workspace.store.add([Rater(rater_id=name) for name in ("ann", "bob")])
        for number in range(3):
            item = Item(dataset="d", key=f"i{number}", turns=(Turn(instruction="red"),))
            made = [
                Output(item_id=item.item_id, editor=name, image=picture_of(workspace, f"{number}{name}"))
                for name in ("ash", "elm", "fir")
            ]
            workspace.store.add([item, *made])
            workspace.store.add(
                Judgment(
                    work_id=output.output_id, judge="both", item_id=item.item_id, left_id=output.output_id, score=score
                )
                for output, score in zip(made, (1.0, 2.0, 3.0), strict=True)
            )
            left, right, _ = made
            wins = Outcome.LEFT if number < 2 else Outcome.RIGHT  # the judge contradicts its scores on two items
            workspace.store.add(
                Judgment(
                    work_id=f"{order}{left.output_id}", judge="both", item_id=item.item_id, left_id=left.output_id,
                    right_id=right.output_id, order=order, preference=wins,
                )
                for order in (Order.LEFT_FIRST, Order.RIGHT_FIRST)
            )  # fmt: skip
            for rater in ("ann", "bob") if number == 1 else ():
                vote = {"item_id": item.item_id, "left_id": left.output_id, "right_id": right.output_id}
                workspace.store.add([Vote(rater_id=rater, preference=Outcome.LEFT, **vote)])
    imarena("-w", tmp_path / "a", "report", tmp_path / "out", "--gallery", 0)
    text = (tmp_path / "out" / "report.md").read_text().split("## Most disputed pairs\n")[1].split("\n## ")[0]
    assert re.findall(r"For .*", text) == [
        "For ash: comparison by both.", "For elm: scores of both.",
        "For ash: comparison by both; people (2).", "For elm: scores of both.",
    ]  # fmt: skip
