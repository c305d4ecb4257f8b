"""What a server computed from one view of a workspace. A new record makes a new snapshot; an old one stays valid."""

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
    """A view, its boards, and what was computed from them.

    Results have rooms: in each room one is computed at a time, and who asks for the same one waits for it. A list does
    not wait for a board.
    """

    def __init__(self, view: View, past: dict[str, Any] | None = None) -> None:
        self.view = view
        self.past: dict[str, Any] = {} if past is None else past
        """What was last computed of each kind, for this sight or an earlier one: the next one starts from it."""
        self.boards = SnapshotBoards(view, self)
        self._kept: dict[Room, LRUCache[object, tuple[Any]]] = {room: LRUCache(most) for room, most in _KEPT.items()}
        self._making = {room: threading.RLock() for room in _KEPT}
        self._guard = threading.Lock()

    def kept(self, key: object, make: Callable[[], T], room: Room = "boards") -> T:
        """What `make` gives, made once."""
        found = self._find(key, room)
        if found is None:
            with self._making[room]:
                found = self._find(key, room)
                if found is None:
                    found = (make(),)
                    with self._guard:
                        self._kept[room][key] = found
        return found[0]

    def _find(self, key: object, room: Room) -> tuple[Any] | None:
        with self._guard:
            return self._kept[room].get(key)


class SnapshotBoards(Boards):
    """Boards of one sight: the battles of a source are put together once for all filters that look at items."""

    def __init__(self, view: View, sight: ViewSnapshot) -> None:
        super().__init__(view)
        self._sight = sight

    def _every(self, query: BoardQuery, chosen: ChosenSource) -> BattleColumns:
        key = (chosen.source, chosen.judges, query.dimension, query.dimensions_together, query.kind, query.window)
        return self._sight.kept(key, lambda: Boards._every(self, query, chosen), "battles")
