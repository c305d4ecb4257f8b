"""Results computed from one view of a workspace. A new record makes a new snapshot; an old one stays valid."""

import threading
from collections.abc import Callable
from typing import Any, Literal, TypeVar

from cachetools import LRUCache

from imarena.workflows.boards import BoardQuery, Boards, ChosenSource
from imarena.workflows.views import BattleColumns, View

T = TypeVar("T")
Partition = Literal["boards", "battles", "lists", "glances"]
_PARTITION_SIZES: dict[Partition, int] = {"boards": 64, "battles": 4, "lists": 8, "glances": 64}
"""How many results of each kind are kept: a board is small, the battles of a million judgments are 45 MB."""


class ViewSnapshot:
    """A view, its boards, and the results computed from them.

    The cache has partitions: each computes one result at a time, and requests for the same one wait for it. A list does
    not wait for a board.
    """

    def __init__(self, view: View, past: dict[str, Any] | None = None) -> None:
        self.view = view
        self.past: dict[str, Any] = {} if past is None else past
        """The last result of each kind, of this snapshot or an earlier one; the next update starts from it."""
        self.boards = SnapshotBoards(view, self)
        self._results: dict[Partition, LRUCache[object, tuple[Any]]] = {
            partition: LRUCache(most) for partition, most in _PARTITION_SIZES.items()
        }
        self._computing = {partition: threading.RLock() for partition in _PARTITION_SIZES}
        self._guard = threading.Lock()

    def get_or_compute(self, key: object, make: Callable[[], T], partition: Partition = "boards") -> T:
        """The result of `make`, computed once."""
        cached = self._find(key, partition)
        if cached is None:
            with self._computing[partition]:
                cached = self._find(key, partition)
                if cached is None:
                    cached = (make(),)
                    with self._guard:
                        self._results[partition][key] = cached
        return cached[0]

    def updated(
        self, name: str, read: Callable[[View, T | None], T], cached: Callable[[View], T | None],
        store: Callable[[View, T], None], partition: Partition,
    ) -> T:  # fmt: skip
        """The result of `read` from the view and the last result (or the one in the column cache), stored again."""

        def make() -> T:
            result = read(self.view, self.past.get(name) or cached(self.view))
            store(self.view, result)
            self.past[name] = result
            return result

        return self.get_or_compute(name, make, partition)

    def _find(self, key: object, partition: Partition) -> tuple[Any] | None:
        with self._guard:
            return self._results[partition].get(key)


class SnapshotBoards(Boards):
    """Boards of one snapshot: the battles of a source are gathered once for all filters on items."""

    def __init__(self, view: View, snapshot: ViewSnapshot) -> None:
        super().__init__(view)
        self._snapshot = snapshot

    def _read_battles(self, query: BoardQuery, choice: ChosenSource) -> BattleColumns:
        key = (choice.source, choice.judges, query.dimension, query.dimensions_together, query.kind, query.window)
        return self._snapshot.get_or_compute(key, lambda: Boards._read_battles(self, query, choice), "battles")
