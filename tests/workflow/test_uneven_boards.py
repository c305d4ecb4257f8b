"""A board says which models were asked for less than the others, and whose outputs nobody judged yet."""

from imarena.core.records import Item, Judgment, Output, Status
from imarena.storage import Workspace
from imarena.workflows.battles import battles
from imarena.workflows.boards import boards
from imarena.workflows.rank import workspace_battles
from tests.samples import item, judgment, kept, output


def _with_pixels(workspace: Workspace, of: Item, editor: str, seed: int) -> Output:
    return Output(item_id=of.item_id, editor=editor, image=kept(workspace, seed))


def _score(of: Output, score: float) -> Judgment:
    return judgment(of, None, f"work_{of.output_id}").model_copy(update={"score": score})


def test_a_model_that_was_not_asked_on_some_items_is_named(workspace: Workspace) -> None:
    items = [item(f"i{number}") for number in range(3)]
    made = [output(one, editor) for one in items for editor in ("old", "other")] + [output(items[0], "new")]
    workspace.store.add([*items, *made, *(_score(one, len(one.editor or "")) for one in made)])
    assert battles(workspace, source="judge").coverage["new"] == 1.0
    told = " ".join(workspace_battles(workspace.root).warnings)
    assert "new for 1 of 3" in told
    assert "new for 1 of 3" in " ".join(boards(workspace)[0].ranking.warnings)


def test_a_model_that_gave_no_output_at_all_is_named(workspace: Workspace) -> None:
    one = item("i")
    made = [output(one, "old"), output(one, "other")]
    refused = Output(item_id=one.item_id, editor="shy", status=Status.REFUSED)
    workspace.store.add([one, *made, refused, *(_score(each, 1) for each in made)])
    assert "no output of theirs is there: shy (1 refused)." in " ".join(workspace_battles(workspace.root).warnings)


def test_outputs_that_nobody_judged_yet_are_counted(workspace: Workspace) -> None:
    items = [item(f"i{number}") for number in range(4)]
    old = [_with_pixels(workspace, one, "old", 2 * number) for number, one in enumerate(items)]
    new = [_with_pixels(workspace, one, "new", 2 * number + 1) for number, one in enumerate(items)]
    workspace.store.add([*items, *old, *new, *(_score(one, 1) for one in old), *(_score(one, 2) for one in new[:3])])
    told = " ".join(workspace_battles(workspace.root).warnings)
    assert "without a verdict so far: new 1 of 4. The same `imarena judge` again" in told
    workspace.store.add([_score(new[3], 2)])
    assert not any("without a verdict" in words for words in workspace_battles(workspace.root).warnings)
