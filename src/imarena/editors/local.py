"""The catalog's doors to editors that need no endpoint: their makers take no ports."""

from collections.abc import Mapping

from pydantic import JsonValue

from imarena.core import Editor
from imarena.editors.catalog import Ports


def make_studio(name: str, options: Mapping[str, JsonValue], _ports: Ports) -> Editor:
    """One of the bundled benchmark's editors."""
    from imarena.editors.studio.editors import studio_editor

    return studio_editor(str(options.get("habit", "")), name)


def make_classical(name: str, options: Mapping[str, JsonValue], _ports: Ports) -> Editor:
    """Classical operations."""
    from imarena.editors.classical.editor import make

    return make(name, options)


def make_folder(name: str, options: Mapping[str, JsonValue], _ports: Ports) -> Editor:
    """Finished outputs."""
    from imarena.editors.folder import make

    return make(name, options)


def make_command(name: str, options: Mapping[str, JsonValue], _ports: Ports) -> Editor:
    """A program."""
    from imarena.editors.command import make

    return make(name, options)


def make_function(name: str, options: Mapping[str, JsonValue], _ports: Ports) -> Editor:
    """A Python function."""
    from imarena.editors.function import make

    return make(name, options)
