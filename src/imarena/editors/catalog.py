"""Every kind of editor by name: its module and its argument. To add a kind, add an entry to catalog.yaml and a file."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Literal

from pydantic import JsonValue, TypeAdapter

from imarena.clients import Budget
from imarena.core import Editor, FrozenModel, Registry, adapt_editor, package_yaml

Needs = Literal["nothing", "endpoint", "vision", "trust"]


@dataclass(frozen=True)
class Ports:
    """What an editor may receive besides its options."""

    budget: Budget | None = None
    environ: Mapping[str, str] | None = None


MakeEditor = Callable[[str, Mapping[str, JsonValue], Ports], Editor]
"""Builds an editor from the name that a leaderboard shows, its options, and the ports."""


class EditorKind(FrozenModel):
    """What a user needs to know to choose a kind of editor."""

    path: str
    needs: Needs
    about: str
    argument: str = ""
    """The option that the text after the colon of `kind:TEXT` sets."""


EDITOR_KINDS: Mapping[str, EditorKind] = TypeAdapter(dict[str, EditorKind]).validate_python(
    package_yaml("imarena.editors", "catalog.yaml")
)


def adapt_editor_maker(kind: str, make: MakeEditor) -> MakeEditor:  # noqa: ARG001
    """A maker whose editors implement the whole port, whatever a plug-in returns."""

    def make_adapted(name: str, options: Mapping[str, JsonValue], ports: Ports) -> Editor:
        return adapt_editor(make(name, options, ports), name)

    return make_adapted


EDITORS: Registry[MakeEditor] = Registry(
    "editor", {name: kind.path for name, kind in EDITOR_KINDS.items()}, adapt_editor_maker
)
