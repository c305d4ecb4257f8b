"""A lazy registry: maps names to import paths, resolves them on first use, and rejects unknown names.

A collision raises, an unknown name suggests the nearest one, and a third party can add names through the entry point
group ``imarena.<kind>``.
"""

from collections.abc import Callable, Iterator
from importlib import import_module
from importlib.metadata import entry_points
from typing import Any, Generic, Literal, TypeVar, get_args

from imarena.core.errors import UnknownName, UserError
from imarena.core.suggest import suggestion

T = TypeVar("T")
PluginKind = Literal["judge", "editor", "reader", "writer", "detector", "segmenter", "embedder", "depth", "metric"]
"""All kinds of registries. A new kind is a design decision, not a plug-in."""
_NOUNS = {"reader": "import format", "writer": "export format"}
"""What users call the things of a kind, if it has another name in the code."""


class Registry(Generic[T]):
    """The names of one kind, with the import paths of their implementations.

    `adapt` gets a name and the loaded object, and returns the result of `get`: it fits plug-ins to the port, once.
    """

    def __init__(self, kind: PluginKind, builtin: dict[str, str], adapt: Callable[[str, T], T] | None = None) -> None:
        if kind not in get_args(PluginKind):
            raise ValueError(
                f"a registry of the kind '{kind}' is not known; known are {', '.join(get_args(PluginKind))}"
            )
        self.kind = kind
        self._adapt = adapt
        self._paths = dict(builtin)
        self._loaded: dict[str, T] = {}
        self._plugins_read = False

    def add(self, name: str, path: str) -> None:
        """Register ``module:attribute`` under `name`; raises if the name is taken."""
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
        """Return the implementation called `name`; import it on first use."""
        self._read_plugins()
        if name not in self._loaded:
            if name not in self._paths:
                noun = _NOUNS.get(self.kind, self.kind)
                raise UnknownName(f"There is no {noun} called '{name}'.", hint=suggestion(name, self._paths))
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
