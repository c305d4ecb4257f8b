"""Any command-line program as an editor: called with an argument list, never a shell, and with a time limit."""

import asyncio
import contextlib
import os
import re
import signal
import tempfile
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from pydantic import Field, JsonValue, field_validator

from imarena.core import EditorTraits, EditRequest, EditResult, FrozenModel, InvalidImage, read_options
from imarena.core.records import JsonDict, Status
from imarena.editors.catalog import Ports
from imarena.images import SUFFIXES, media_type_of

_FIELDS = ("source", "instruction", "output", "reference", "mask", "seed", "task", "folder")
_FIELD = re.compile(r"\{(\w+)\}")
_TAIL_LETTERS = 400
_LAST_WORDS_S = 1.0
MAX_OUTPUT_BYTES = 256 * 1024 * 1024


class CommandSettings(FrozenModel):
    """How to call the program. `{source}` and other fields may occur anywhere inside an argument."""

    argv: tuple[str, ...] = Field(min_length=1)
    timeout_s: float = Field(default=120.0, gt=0)
    version: str = "1"
    usd_per_image: float = Field(default=0.0, ge=0)

    @field_validator("argv")
    @classmethod
    def _known_fields(cls, value: tuple[str, ...]) -> tuple[str, ...]:
        names = {name for argument in value for name in _FIELD.findall(argument)}
        unknown = sorted(names - set(_FIELDS))
        if unknown:
            raise ValueError(f"{{{unknown[0]}}} is not known; known are {', '.join(_FIELDS)}")
        if "output" not in names:
            raise ValueError("no argument holds {output}: where would the image be written?")
        if _FIELD.search(value[0]):
            raise ValueError("the program's own name cannot come from an item")
        return value


@dataclass(frozen=True)
class CommandEditor:
    """Runs the program once per request, each time in an empty folder."""

    name: str
    settings: CommandSettings

    @property
    def version(self) -> str:
        """The version given in the settings, because a program does not report it."""
        return self.settings.version

    @property
    def traits(self) -> EditorTraits:
        """The price given in the settings."""
        return EditorTraits(usd_per_image=self.settings.usd_per_image)

    @property
    def params(self) -> JsonDict:
        """The parameters that an output depends on."""
        return {"argv": list(self.settings.argv)}

    async def edit(self, request: EditRequest) -> EditResult:
        """Write the images, run the program, read its output."""
        started = time.perf_counter()
        with tempfile.TemporaryDirectory(prefix="imarena-") as folder:
            result = await self._run(Path(folder), request)
        cost_usd = self.settings.usd_per_image if result.status is Status.OK else 0.0
        return replace(result, cost_usd=cost_usd, latency_s=time.perf_counter() - started)

    async def _run(self, folder: Path, request: EditRequest) -> EditResult:
        try:
            fields = _laid_out(folder, request)
        except InvalidImage as error:
            return EditResult(Status.INVALID_IMAGE, error=f"The source is not an image: {error}")
        names = [name for argument in self.settings.argv for name in _FIELD.findall(argument)]
        missing = [name for name in names if not fields.get(name) and name != "instruction"]
        if missing:
            return EditResult(Status.REFUSED, error=f"The program needs a {missing[0]}, and this item has none.")
        unseen = _unseen(set(names), request)
        if unseen:
            return EditResult(Status.REFUSED, error=unseen)
        argv = [_FIELD.sub(lambda match: fields[match[1]], argument) for argument in self.settings.argv]
        async with _output_pipe() as (read_output, writer):
            try:
                process = await asyncio.create_subprocess_exec(
                    *argv,
                    stdin=asyncio.subprocess.DEVNULL,
                    stdout=writer,
                    stderr=asyncio.subprocess.STDOUT,
                    cwd=folder,
                    start_new_session=True,
                )
            except (OSError, ValueError) as error:
                return EditResult(Status.API_ERROR, error=f"'{argv[0]}' cannot be started: {error}")
            finally:
                os.close(writer)
            try:
                await asyncio.wait_for(process.wait(), self.settings.timeout_s)
            except TimeoutError:
                return EditResult(Status.TIMEOUT, error=f"'{argv[0]}' did not end within {self.settings.timeout_s:g} s")
            finally:
                await _stop(process)
            output = await read_output()
        return _read(Path(fields["output"]), process.returncode or 0, output, argv[0])


def _unseen(names: set[str], request: EditRequest) -> str:
    """Images of the item that the command does not use; `{folder}` contains them all."""
    if "folder" in names:
        return ""
    for kind, pictures in (("source", request.sources), ("reference", request.references)):
        if len(pictures) > (kind in names):
            count = "none" if kind not in names else "one"
            return (
                f"The item has {len(pictures)} {kind} images, and the program's arguments name {count}. Add {{{kind}}} "
                f"to its arguments, or {{folder}}, where they lie as {kind}-0, {kind}-1 and so on."
            )
    return ""


@asynccontextmanager
async def _output_pipe() -> AsyncIterator[tuple[Callable[[], Awaitable[str]], int]]:
    """A pipe for a program's output: a function that returns the last of it, and the write end (closed by the caller).

    The end of the program counts, not that of the pipe: a background process that it left behind may keep the pipe
    open as long as it likes. Long output is read to the end but not kept.
    """
    reader_end, writer = os.pipe()
    reader = asyncio.StreamReader()
    tail = bytearray()

    async def collect() -> None:
        while chunk := await reader.read(65536):
            tail.extend(chunk)
            del tail[: -4 * _TAIL_LETTERS]

    pipe, _ = await asyncio.get_running_loop().connect_read_pipe(
        lambda: asyncio.StreamReaderProtocol(reader), os.fdopen(reader_end, "rb", 0)
    )
    collecting = asyncio.create_task(collect())

    async def read_output() -> str:
        await asyncio.wait([collecting], timeout=_LAST_WORDS_S)
        return " ".join(tail.decode("utf-8", "replace").split())[-_TAIL_LETTERS:]

    try:
        yield read_output, writer
    finally:
        pipe.close()
        collecting.cancel()
        await asyncio.wait([collecting])


async def _stop(process: asyncio.subprocess.Process) -> None:
    """Stop the program and all processes that it started."""
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, signal.SIGKILL)
    with contextlib.suppress(ProcessLookupError):
        await process.wait()


def _laid_out(folder: Path, request: EditRequest) -> dict[str, str]:
    fields = {
        "instruction": request.instruction.replace("\0", ""),
        "output": str(folder / "output.png"),
        "folder": str(folder),
        "seed": "" if request.seed is None else str(request.seed),
        "task": request.task or "",
    }
    for kind, pictures in (("source", request.sources), ("reference", request.references), ("mask", request.masks)):
        for number, data in enumerate(pictures):
            path = folder / f"{kind}-{number}{SUFFIXES.get(media_type_of(data), '.bin')}"
            path.write_bytes(data)
            fields.setdefault(kind, str(path))
    return fields


def _read(path: Path, code: int, output: str, program: str) -> EditResult:
    if code != 0:
        return EditResult(Status.API_ERROR, error=f"'{program}' ended with code {code}: {output or 'it said nothing'}")
    if not path.is_file() or path.is_symlink():
        return EditResult(Status.MISSING_OUTPUT, error=f"'{program}' wrote no image to {{output}}: {output}")
    if path.stat().st_size > MAX_OUTPUT_BYTES:
        return EditResult(Status.INVALID_IMAGE, error=f"'{program}' wrote more than {MAX_OUTPUT_BYTES:,} bytes")
    return EditResult(Status.OK, path.read_bytes())


def make(name: str, options: Mapping[str, JsonValue], _ports: Ports) -> CommandEditor:
    """Build the editor from a table with `argv`."""
    return CommandEditor(name, read_options(CommandSettings, options, "editors", "command"))
