"""Results computed from one view of a workspace. A new record makes a new snapshot; an old one stays valid."""

import threading
from collections.abc import Callable
from typing import Any, Literal, TypeVar

from cachetools import LRUCache

from imarena.workflows.boards import BoardQuery, Boards, ChosenSource
from imarena.workflows.views import BattleColumns, View

T = TypeVar("T")
Room = Literal["boards", "battles", "lists", "glances"]
_KEPT: dict[Room, int] = {"boards": 64, "battles": 4, "lists": 8, "glances": 64}
"""How many results of each kind are kept: a board is small, the battles of a million judgments are 45 MB."""


class ViewSnapshot:
    """A view, its boards, and the results computed from them.

    Results have rooms: each room computes one result at a time, and requests for the same one wait for it. A list does
    not wait for a board.
    """

    def __init__(self, view: View, past: dict[str, Any] | None = None) -> None:
        self.view = view
        self.past: dict[str, Any] = {} if past is None else past
        """The last result of each kind, of this snapshot or an earlier one; the next update starts from it."""
        self.boards = SnapshotBoards(view, self)
        self._kept: dict[Room, LRUCache[object, tuple[Any]]] = {room: LRUCache(most) for room, most in _KEPT.items()}
        self._making = {room: threading.RLock() for room in _KEPT}
        self._guard = threading.Lock()

    def kept(self, key: object, make: Callable[[], T], room: Room = "boards") -> T:
        """The result of `make`, computed once."""
        cached = self._find(key, room)
        if cached is None:
            with self._making[room]:
                cached = self._find(key, room)
                if cached is None:
                    cached = (make(),)
                    with self._guard:
                        self._kept[room][key] = cached
        return cached[0]

    def updated(
        self, name: str, read: Callable[[View, T | None], T], cached: Callable[[View], T | None],
        store: Callable[[View, T], None], room: Room,
    ) -> T:  # fmt: skip
        """The result of `read` from the view and the last result (or the one in the column cache), stored again."""

        def make() -> T:
            made = read(self.view, self.past.get(name) or cached(self.view))
            store(self.view, made)
            self.past[name] = made
            return made

        return self.kept(name, make, room)

    def _find(self, key: object, room: Room) -> tuple[Any] | None:
        with self._guard:
            return self._kept[room].get(key)


class SnapshotBoards(Boards):
    """Boards of one snapshot: the battles of a source are gathered once for all filters on items."""

    def __init__(self, view: View, snapshot: ViewSnapshot) -> None:
        super().__init__(view)
        self._snapshot = snapshot

    def _read_battles(self, query: BoardQuery, chosen: ChosenSource) -> BattleColumns:
        key = (chosen.source, chosen.judges, query.dimension, query.dimensions_together, query.kind, query.window)
        return self._snapshot.kept(key, lambda: Boards._read_battles(self, query, chosen), "battles")
