"""`route calibrate` and `route rerank` where people rated outputs one by one and compared none."""

from pathlib import Path

import numpy as np
import pytest

from imarena.core.records import Item, Judgment, Output, Rater, Record, Turn, Vote
from imarena.storage import init_workspace
from tests.command import Imarena
from tests.samples import picture_of

EDITORS = ("a", "b", "c", "d")


@pytest.fixture
def rated(tmp_path: Path) -> Path:
    """40 items, four editors, a judge of 0 to 10, and two raters with marks on SC and PQ."""
    rng = np.random.default_rng(4)
    root = tmp_path / "arena"
    with init_workspace(root) as workspace:
        records: list[Record] = [Rater(rater_id=name) for name in ("ann", "bob")]
        for n in range(40):
            item = Item(dataset="d", key=f"i{n}", turns=(Turn(instruction="edit"),))
            records.append(item)
            for place, editor in enumerate(EDITORS):
                worth = np.clip(rng.normal(0.75 - 0.15 * place, 0.2), 0, 1)
                output = Output(item_id=item.item_id, editor=editor, image=picture_of(workspace, f"{n}{editor}"))
                score = float(np.clip(10 * worth + rng.normal(0, 1), 0, 10))
                judged = Judgment(
                    work_id=f"w{n}{editor}", judge="robot", item_id=item.item_id, left_id=output.output_id, score=score
                )
                records += [output, judged]
                for rater in ("ann", "bob"):
                    marks = {name: float(np.round(2 * worth) / 2) for name in ("SC", "PQ")}
                    records.append(
                        Vote(
                            rater_id=rater, item_id=item.item_id, left_id=output.output_id, ratings=marks,
                            scale=(0.0, 1.0), idempotency_key=f"{rater}{n}{editor}",
                        )
                    )  # fmt: skip
        assert not workspace.store.add(records).conflicts
    return root


def test_calibration_takes_pairs_of_mean_ratings(imarena: Imarena, rated: Path) -> None:
    found = imarena("-w", rated, "--json", "route", "calibrate", "--rounds", 20).json
    people = imarena("-w", rated, "--json", "rank", "--source", "people", "--interval", "none").json
    decided = sum(row["wins"] for row in people["models"])
    assert 0 < found["n_pairs"] <= decided
    assert [row["agreement"] for row in found["table"] if row["n"] > 20] == sorted(
        row["agreement"] for row in found["table"] if row["n"] > 20
    )
    board = imarena("-w", rated, "--json", "route", "rerank", "--settings", "human", "--rounds", 20).json["boards"][0]
    assert board["n_battles"] == people["n_battles"] == 40 * 6
    ratings = {row["model"]: row["rating"] for row in board["models"]}
    assert ratings == pytest.approx({row["model"]: row["rating"] for row in people["models"]}, abs=1e-6)


def test_nobody_is_told_that_ratings_are_votes_to_come(imarena: Imarena, rated: Path) -> None:
    assert imarena("-w", rated, "--json", "route", "plan").json["votes_so_far"] == 0
