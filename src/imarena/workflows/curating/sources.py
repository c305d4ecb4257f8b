"""From names on the command line and tables of imarena.toml to image sources, and to a run's decision maker."""

from collections.abc import Callable, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from pathlib import Path

from imarena.clients import Budget, open_image_source
from imarena.core import (
    Cause,
    ImageSource,
    JsonDict,
    Progress,
    Settings,
    UserError,
    require_licence,
    sha256_hex,
    suggestion,
)
from imarena.curation import (
    ChatCurationPlanner,
    CurationPlanner,
    LibraryContents,
    LocalLibrary,
    RuleCurationPlanner,
    perception_version,
)
from imarena.storage import Workspace
from imarena.vision import TextEmbedder, installed_text_embedder
from imarena.workflows.curating.image_memory import ImageAnalysisCache
from imarena.workflows.wiring import EndpointArguments, JudgeChat, wire_chat

WEB = ("google", "openverse", "wikimedia")
HUB = "hf:"


@dataclass(frozen=True)
class WiredSources:
    """Sources, and the skipped files of local folders."""

    sources: tuple[ImageSource, ...]
    skipped: tuple[Cause, ...] = ()


def check_sources(workspace: Workspace, names: Sequence[str]) -> None:
    """Raise if a source does not exist; nothing is opened."""
    if not names:
        raise UserError("No source was named.", hint="Add --source FOLDER, or --source openverse.")
    for name in names:
        if not (_is_web(workspace, name) or Path(name).exists()):
            choices = [*WEB, *workspace.settings.sources]
            raise UserError(
                f"There is no source '{name}'.",
                hint=f"{suggestion(name, choices)} A folder or Parquet file that exists is a source, too.",
            )


def _is_web(workspace: Workspace, name: str) -> bool:
    return name in workspace.settings.sources or name in WEB or name.startswith(HUB)


def wire_sources(
    workspace: Workspace,
    names: Sequence[str],
    *,
    licence: str = "",
    describe: bool = True,
    progress: Progress | None = None,
) -> WiredSources:
    """Open sources by name: a folder or Parquet file, `openverse`, `wikimedia`, `google`, `hf:OWNER/NAME`, or a table
    `[sources.NAME]` of imarena.toml. `licence` is that of local images that state none.
    """
    terms = require_licence(licence).id if licence else ""
    sources: list[ImageSource] = []
    skipped: list[Cause] = []
    check_sources(workspace, names)
    for name in names:
        if _is_web(workspace, name):
            sources.append(_web_source(name, dict(workspace.settings.sources.get(name, {}))))
            continue
        library, contents = open_library(
            workspace, Path(name), terms, describe=describe, progress=progress, embedder=installed_text_embedder()
        )
        sources.append(library.source())
        skipped += contents.skipped
    source_names = [source.name for source in sources]
    if len(set(source_names)) < len(source_names):
        raise UserError("Two sources have the same name.", hint="Name each folder or source once.")
    return WiredSources(tuple(sources), tuple(skipped))


def open_library(
    workspace: Workspace,
    path: Path,
    licence: str,
    *,
    describe: bool,
    progress: Progress | None,
    embedder: TextEmbedder | None = None,
) -> tuple[LocalLibrary, LibraryContents]:
    """Open a folder or Parquet file as a library with an up-to-date index; raise if it has no images."""
    folder = path.resolve()
    index = workspace.root / "cache" / "libraries" / f"{sha256_hex(str(folder).encode())[:16]}-4.db"
    tools = perception_version()
    library = LocalLibrary(folder, index, licence=licence, name=folder.name, tools=tools, embedder=embedder)
    contents = library.build(ImageAnalysisCache(workspace).describe if describe else None, progress)
    if not contents.images:
        raise UserError(f"There are no images in {path}.", hint="JPEG, PNG, WebP, GIF, BMP and TIFF files are read.")
    return library, contents


def _web_source(name: str, table: JsonDict) -> ImageSource:
    if name.startswith(HUB):
        dataset = name.removeprefix(HUB)
        return open_image_source(dataset.replace("/", "-"), {"kind": "huggingface", "dataset": dataset})
    return open_image_source(name, {**({"kind": name} if name in WEB else {}), **table})


@dataclass(frozen=True)
class CurationChat:
    """A mind and, if it is a model, its chat."""

    planner: CurationPlanner
    chat: JudgeChat | None = None
    concurrency: int | None = None
    """Number of questions at once; None: a default."""

    @property
    def opened(self) -> Callable[[], AbstractAsyncContextManager[None]] | None:
        """The context that opens the chat."""
        return None if self.chat is None else self.chat.opened


def wire_curation_planner(
    settings: Settings, arguments: EndpointArguments, max_cost_usd: float | None = None
) -> CurationChat:
    """Return a mind for the model in the arguments; the rules if there is none."""
    if not (arguments.endpoint or arguments.base_url or arguments.model):
        return CurationChat(RuleCurationPlanner(), concurrency=arguments.concurrency)
    budget = Budget(max_cost_usd) if max_cost_usd is not None else None
    chat = wire_chat(settings, arguments, "curation", budget)
    return CurationChat(ChatCurationPlanner(chat, chat.endpoint.model), chat, chat.concurrency)
