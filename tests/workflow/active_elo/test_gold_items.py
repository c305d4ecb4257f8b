"""The gold set is drawn from items on which people can vote."""

from pathlib import Path

from imarena.storage import init_workspace
from imarena.workflows.active_elo.planning import FrozenGold, freeze_gold
from imarena.workflows.boards.weighted.vote_data import gold_set
from tests.samples import item, output


def test_items_without_single_outputs_are_not_gold(tmp_path: Path) -> None:
    with init_workspace(tmp_path / "arena") as workspace:
        items = [item(f"item-{n}") for n in range(20)]
        workspace.store.add([*items, output(items[7]), output(items[7], "beta")])
        assert freeze_gold(workspace, share=0.1) == FrozenGold(gold_items=1, new=True)
        assert gold_set(workspace) == {items[7].item_id}


def test_before_the_first_output_any_item_may_be_gold(tmp_path: Path) -> None:
    with init_workspace(tmp_path / "arena") as workspace:
        workspace.store.add([item(f"item-{n}") for n in range(20)])
        assert freeze_gold(workspace, share=0.1) == FrozenGold(gold_items=2, new=True)
