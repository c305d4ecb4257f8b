"""Shared by importers of pairs: create items and outputs that many rows refer to only once."""

from collections.abc import Generator

from imarena.core import Intake, Skip, sha256_hex
from imarena.core.records import ImageRef, Item, Origin, Outcome, Output


class SharedEntries:
    """Creates items and outputs, once per content. Use as ``found = yield from pairs.item(...)``."""

    def __init__(self, intake: Intake, dataset: str) -> None:
        self.dataset = dataset
        self._items = {key: item.item_id for key, item in intake.items(dataset).items()}
        self._samples: dict[tuple[str, str], list[str]] = {}
        self._made: set[str] = set()

    def holds_other(self, item: Item) -> bool:
        """Does another item have this item's key?"""
        return self._items.get(item.key, item.item_id) != item.item_id

    def item(self, item: Item, file: str, row: str) -> Generator[Item | Skip, None, bool]:
        """Yield the item if it is new, or the reason if another item has its key. Returns whether it can be used."""
        stored_id = self._items.get(item.key)
        if stored_id is not None and stored_id != item.item_id:
            yield Skip(file, row, f"the key '{item.key}' belongs to an item with other content in '{self.dataset}'")
            return False
        if stored_id is None:
            self._items[item.key] = item.item_id
            yield item
        return True

    def output(
        self, item: Item, editor: str | None, image: ImageRef | None, origin: Origin
    ) -> Generator[Output, None, str]:
        """Yield the output if it is new; returns its ID. Other pixels (or rows) of the same editor are a new sample."""
        sample = 0
        if editor is not None:
            marks = self._samples.setdefault((item.item_id, editor), [])
            mark = image.sha256 if image else origin.row
            if mark not in marks:
                marks.append(mark)
            sample = marks.index(mark)
        keep_origin = editor is None or image is None
        output = Output(
            item_id=item.item_id,
            editor=editor,
            sample=sample,
            image=image,
            origin=origin if keep_origin else None,
        )
        if output.output_id not in self._made:
            self._made.add(output.output_id)
            yield output
        return output.output_id


def side_of_winner(row: str) -> Outcome:
    """On which side to put the winner if a file always names it first. A hash of the row decides, so that left does
    not mean better.
    """
    return Outcome.LEFT if int(sha256_hex(row.encode("utf-8", "surrogatepass"))[0], 16) % 2 == 0 else Outcome.RIGHT
