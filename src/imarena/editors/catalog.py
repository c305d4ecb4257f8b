"""Every kind of editor by name: where it lives, what its first word stands for. Adding one is a line and a file."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Literal

from pydantic import JsonValue

from imarena.clients import Budget
from imarena.core import Editor, Registry, adapt_editor

Needs = Literal["nothing", "endpoint", "vision", "trust"]


@dataclass(frozen=True)
class Ports:
    """What an editor may be given beside its options."""

    budget: Budget | None = None
    environ: Mapping[str, str] | None = None


MakeEditor = Callable[[str, Mapping[str, JsonValue], Ports], Editor]
"""The name that a leaderboard shows, options, ports; an editor out."""


@dataclass(frozen=True)
class EditorKind:
    """What a user has to know to choose a kind of editor."""

    path: str
    needs: Needs
    about: str
    argument: str = ""
    """The option that the text behind the colon of `kind:TEXT` stands for."""
    options: tuple[str, ...] = field(default=())


KINDS: Mapping[str, EditorKind] = {
    "studio": EditorKind(
        "imarena.editors.studio.editors:make", "nothing", "Eight known habits; bundled items only.", "habit"
    ),
    "classical": EditorKind("imarena.editors.classical.editor:make", "nothing", "Classical operations, no model."),
    "folder": EditorKind("imarena.editors.folder:make", "nothing", "Outputs that were made elsewhere.", "path"),
    "command": EditorKind("imarena.editors.command:make", "trust", "A program: an argument list.", "argv"),
    "function": EditorKind("imarena.editors.function:make", "trust", "A Python function.", "function"),
    "openai-images": EditorKind(
        "imarena.editors.endpoints.openai_images:make",
        "endpoint",
        "OpenAI's images endpoints: edits and generations.",
        "model",
    ),
    "gemini-images": EditorKind(
        "imarena.editors.endpoints.gemini_images:make", "endpoint", "Gemini models that return pictures.", "model"
    ),
    "chat-images": EditorKind(
        "imarena.editors.endpoints.chat_images:make",
        "endpoint",
        "Chat endpoints whose messages carry pictures.",
        "model",
    ),
    "http-queue": EditorKind(
        "imarena.editors.endpoints.http_queue:make",
        "endpoint",
        "Submit, poll, fetch: fal, Replicate and their like.",
        "model",
    ),
    "diffusers": EditorKind(
        "imarena.editors.diffusers_pipeline:make", "vision", "Diffusion pipelines that run here.", "model"
    ),
}


def adapt_editor_maker(kind: str, make: MakeEditor) -> MakeEditor:  # noqa: ARG001
    """The maker of an editor whose products have the whole port, whatever a plug-in returns."""

    def made(name: str, options: Mapping[str, JsonValue], ports: Ports) -> Editor:
        return adapt_editor(make(name, options, ports), name)

    return made


EDITORS: Registry[MakeEditor] = Registry(
    "editor", {name: kind.path for name, kind in KINDS.items()}, adapt_editor_maker
)
