"""A lazy registry: maps names to import paths, resolves them on first use, and rejects unknown names.

A collision raises, an unknown name suggests the nearest one, and a third party adds names through the entry
point group ``imarena.<kind>``.
"""

from collections.abc import Callable, Iterator
from importlib import import_module
from importlib.metadata import entry_points
from typing import Any, Generic, Literal, TypeVar, get_args

from imarena.core.errors import UnknownName, UserError
from imarena.core.suggest import suggestion

T = TypeVar("T")
Kind = Literal["judge", "editor", "reader", "writer", "detector", "segmenter", "embedder", "depth", "metric"]
"""Everything that can be registered. Another kind is a decision, not a plug-in."""


class Registry(Generic[T]):
    """Names of one kind and where their implementation lives.

    `adapt` gets a name and what was loaded for it, and returns what `get` gives: a plug-in is made to fit there, once.
    """

    def __init__(self, kind: Kind, builtin: dict[str, str], adapt: Callable[[str, T], T] | None = None) -> None:
        if kind not in get_args(Kind):
            raise ValueError(f"a registry of the kind '{kind}' is not known; known are {', '.join(get_args(Kind))}")
        self.kind = kind
        self._adapt = adapt
        self._paths = dict(builtin)
        self._loaded: dict[str, T] = {}
        self._plugins_read = False

    def add(self, name: str, path: str) -> None:
        """Register ``module:attribute`` under `name`; a name that is taken raises."""
        if name in self._paths:
            raise UserError(
                f"{self.kind} '{name}' is registered twice: {self._paths[name]} and {path}.",
                hint="Rename one of them.",
            )
        self._paths[name] = path

    def names(self) -> list[str]:
        """All known names, sorted."""
        self._read_plugins()
        return sorted(self._paths)

    def __contains__(self, name: object) -> bool:
        self._read_plugins()
        return name in self._paths

    def __iter__(self) -> Iterator[str]:
        return iter(self.names())

    def get(self, name: str) -> T:
        """The implementation called `name`, imported now if it was not yet."""
        self._read_plugins()
        if name not in self._loaded:
            if name not in self._paths:
                raise UnknownName(f"There is no {self.kind} called '{name}'.", hint=suggestion(name, self._paths))
            module, _, attribute = self._paths[name].partition(":")
            loaded: Any = getattr(import_module(module), attribute)
            self._loaded[name] = loaded if self._adapt is None else self._adapt(name, loaded)
        return self._loaded[name]

    def _read_plugins(self) -> None:
        if self._plugins_read:
            return
        self._plugins_read = True
        for point in entry_points(group=f"imarena.{self.kind}"):
            self.add(point.name, point.value)
