"""Every leaderboard of a report prints its command, and the command prints the leaderboard's numbers."""

import re
import shlex
from itertools import combinations
from pathlib import Path

import pytest

from imarena.core.records import Item, Judgment, Order, Outcome, Output, Turn
from imarena.storage import init_workspace
from tests.command import Imarena
from tests.samples import picture_of

EDITORS = ("ash", "elm", "fir")


@pytest.fixture(params=["overall", "beauty"])
def root(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    """A judge scored all outputs and compared some pairs otherwise; the second also scored one dimension."""
    with init_workspace(tmp_path / "a") as workspace:
        for number in range(8):
            item = Item(dataset="d", key=f"i{number}", turns=(Turn(instruction="red"),))
            made = [
                Output(item_id=item.item_id, editor=name, image=picture_of(workspace, f"{number}{name}"))
                for name in EDITORS
            ]
            workspace.store.add([item, *made])
            workspace.store.add(
                Judgment(
                    work_id=f"{dimension}{output.output_id}", judge="both", item_id=item.item_id, dimension=dimension,
                    left_id=output.output_id, score=float((place * (number + 2)) % 5),
                )
                for dimension in {"overall", request.param}
                for place, output in enumerate(made)
            )  # fmt: skip
            workspace.store.add(
                Judgment(
                    work_id=f"{order}{left.output_id}{right.output_id}", judge="both", item_id=item.item_id,
                    left_id=left.output_id, right_id=right.output_id, order=order,
                    preference=Outcome.LEFT if number % 3 else Outcome.RIGHT,
                )
                for left, right in combinations(made[: 2 + number % 2], 2)
                for order in (Order.LEFT_FIRST, Order.RIGHT_FIRST)
            )  # fmt: skip
    return tmp_path / "a"


@pytest.mark.parametrize("chosen", [(), ("--editors", "ash,fir")], ids=["all", "chosen"])
def test_a_boards_command_prints_its_numbers(imarena: Imarena, root: Path, chosen: tuple[str, ...]) -> None:
    imarena("-w", root, "report", root / "out", "--gallery", 0, *chosen)
    text = (root / "out" / "report.md").read_text()
    found = {}
    for section in re.split(r"^## ", text, flags=re.MULTILINE)[1:]:
        title = section.splitlines()[0]
        if not re.match(r"Leaderboard: (scores of|pairs compared by) the judge both", title):
            continue
        (command,) = re.findall(r"Command[^:]*: (imarena -w \S+ rank.*)", section)
        board = imarena("--json", *shlex.split(command)[1:]).json
        assert {row["model"] for row in board["models"]} == ({"ash", "fir"} if chosen else set(EDITORS))
        for row in board["models"]:
            assert re.search(rf"\| {row['model']} *\| *{row['rating']:.1f} ", section), (title, row)
        assert f"{board['n_battles']} battles;" in section
        found[title] = (command, [row["rating"] for row in board["models"]])
    kinds = {kind for command, _ in found.values() for kind in ("scored", "compared") if f"--kind {kind}" in command}
    assert kinds == {"scored", "compared"}
    assert len({tuple(ratings) for _, ratings in found.values()}) > 1


def test_a_kind_is_of_a_judge_and_of_a_workspace(imarena: Imarena, root: Path, tmp_path: Path) -> None:
    assert imarena("-w", root, "--json", "rank", "--kind", "compared").json["settings"]["verdicts"] == "judge both"
    table = tmp_path / "votes.csv"
    table.write_text("left,right,winner\na,b,left\nb,c,right\nc,a,tie\n")
    assert "--kind" in imarena("rank", "--from", table, "--kind", "scored", code=2).err
    assert "--editors" in imarena("rank", "--from", table, "--editors", "a,b", code=2).err
    assert "'oak'" in imarena("-w", root, "rank", "--editors", "ash,oak", code=2).err
    assert "of a judge" in imarena("-w", root, "rank", "--kind", "scored", "--source", "people", code=2).err
    assert "Known: compared, scored" in imarena("-w", root, "rank", "--kind", "odd", code=2).err
