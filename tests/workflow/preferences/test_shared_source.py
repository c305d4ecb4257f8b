"""Outputs that were made from different images are no group: what one editor kept cannot be measured by the other's."""

from imarena.core.records import ImageRef, Item, Mode, Origin, Output, Turn
from imarena.workflows.preferences.measuring import shared_source


def image(name: str) -> ImageRef:
    return ImageRef(sha256=name * 64, size_bytes=1, media_type="image/png", width=8, height=8)


def test_a_later_turn_of_a_chain_has_a_source_for_each_editor() -> None:
    item = Item(
        dataset="d",
        key="k",
        sources=(image("0"),),
        turns=(Turn(instruction="Make it red."), Turn(instruction="Add a cat.")),
    )
    first, second = (
        [
            Output(
                item_id=item.item_id, editor=editor, turn=turn, mode=Mode.MULTI_TURN, image=image(picture),
                parent_id=parent, origin=Origin(source="test", row=f"{editor}{turn}"),
            )
            for editor, picture, parent in made
        ]
        for turn, made in ((0, (("a", "1", None), ("b", "2", None))), (1, (("a", "3", "pa"), ("b", "4", "pb"))))
    )  # fmt: skip
    parents = {"pa": first[0], "pb": first[1]}
    assert shared_source(item, first, parents) == image("0")
    assert shared_source(item, second, parents) is None
    assert shared_source(item, second[:1], parents) == image("1")
