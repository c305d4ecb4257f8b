"""agent: one image and one instruction through CV-Agent, with the trace of every step."""

import asyncio
import re
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from imarena.core import EditRequest, EditResult, InvalidImage, UnknownName, UserError, unknown_name
from imarena.core.records import Status
from imarena.images import SUFFIXES, check_image, media_type_of, read_image_file
from imarena.storage import Workspace, init_workspace, is_workspace, open_workspace
from imarena.workflows.editing.agent_journal import StepJournal
from imarena.workflows.wiring import EditorArguments, wire_editors

_STEP = re.compile(rf"\d+({'|'.join(re.escape(suffix) for suffix in SUFFIXES.values())})")

_AGENTS = {"full": "agent", "plan": "agent-plan", "understand": "agent-understand", "none": "agent-none"}


@dataclass(frozen=True)
class AgentRun:
    """The result, and the paths of the images."""

    result: EditResult
    output: Path | None
    steps: tuple[Path, ...]


def choose_agent(editor: str, *, stages: str = "full", best_of: int = 0) -> str:
    """Return the name of the agent with these stages around an editor, or of the baseline best of N edits."""
    if stages not in _AGENTS:
        raise unknown_name("There are no stages called", stages, _AGENTS)
    return f"best-of-{best_of}:{editor}" if best_of else f"{_AGENTS[stages]}:{editor}"


@contextmanager
def workspace_for(root: Path) -> Iterator[Workspace]:
    """Open the named workspace or the one in the current folder; if there is none, one for this run only."""
    if root != Path() or is_workspace(root):
        with open_workspace(root) as workspace:
            yield workspace
        return
    with tempfile.TemporaryDirectory(prefix="imarena-agent-") as folder, init_workspace(Path(folder)) as workspace:
        try:
            yield workspace
        except UnknownName as error:
            advice = "No workspace was named: the tables of an imarena.toml are known with --workspace DIR."
            raise UnknownName(str(error.args[0]), hint=f"{error.hint} {advice}".strip()) from error


def run_agent(
    workspace: Workspace,
    editor: str,
    sources: list[Path],
    instruction: str,
    output: Path,
    wish: EditorArguments,
    seed: int | None = 42,
) -> AgentRun:
    """Edit one image; write the chosen one to `output` and those of all steps to `output-steps/`."""
    pictures = tuple(_read_bytes(path) for path in sources)
    agent = wire_editors(workspace, [editor], wish)[0]
    request = EditRequest(instruction, pictures[:1], pictures[1:], seed=seed)

    async def edit() -> EditResult:
        async with agent.traits.opened():
            if agent.traits.resumable is not None:
                return await agent.traits.resumable.resume(request, StepJournal.fresh(workspace, agent))
            return await agent.edit(request)

    result = asyncio.run(edit())
    steps = _step_files(workspace, result, output)
    if result.status is not Status.OK or result.image is None:
        return AgentRun(result, None, steps)
    target = output.with_suffix(SUFFIXES.get(media_type_of(result.image), output.suffix))
    target.write_bytes(result.image)
    return AgentRun(result, target, steps)


def _read_bytes(path: Path) -> bytes:
    try:
        data = read_image_file(path)
        check_image(data)
    except OSError as error:
        raise UserError(f"{path} cannot be read: {error.strerror}.") from error
    except InvalidImage as error:
        raise UserError(f"{path} is not an image: {error}") from error
    return data


def _step_files(workspace: Workspace, result: EditResult, output: Path) -> tuple[Path, ...]:
    edits = [step for step in result.steps if step.get("stage") == "edit" and step.get("image_sha256")]
    if not edits:
        return ()
    folder = output.with_name(f"{output.stem}-steps")
    folder.mkdir(parents=True, exist_ok=True)
    for old in folder.iterdir():  # from an earlier run, which may have made more
        if _STEP.fullmatch(old.name):
            old.unlink()
    paths = []
    for step in edits:
        data = workspace.blobs.get(str(step["image_sha256"]))
        path = folder / f"{step['step']}{SUFFIXES.get(media_type_of(data), '.bin')}"
        path.write_bytes(data)
        paths.append(path)
    return tuple(paths)
