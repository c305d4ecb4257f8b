"""Any Python function as an editor: `module:function`, plain or async.

It takes an `EditRequest` and returns encoded bytes, a Pillow image, or an `EditResult`. An exception becomes the
status `api_error`, with its type and message and the file and line that raised it.
"""

import asyncio
import inspect
import traceback
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any

from PIL import Image
from pydantic import JsonValue

from imarena.core import (
    EditorTraits,
    EditRequest,
    EditResult,
    FrozenModel,
    UserError,
    error_message,
    read_options,
    suggestion,
)
from imarena.core.records import JsonDict, Status
from imarena.editors.catalog import Ports
from imarena.images import encode_image

RAISED = "The function raised "
"""Beginning of the message for an exception."""


class FunctionSettings(FrozenModel):
    """Settings: which function to call."""

    function: str
    version: str = "1"
    in_context: bool = False
    """In multi-turn mode, pass the conversation as `request.history`."""


@dataclass(frozen=True)
class FunctionEditor:
    """Calls the function; a function that is not async runs in a thread."""

    name: str
    call: Callable[[EditRequest], Any]
    version: str = "1"
    in_context: bool = False

    @property
    def traits(self) -> EditorTraits:
        """A function cannot declare traits; the settings say whether it takes the conversation."""
        return EditorTraits(in_context=self.in_context, explain_error=self.raised)

    @property
    def params(self) -> JsonDict:
        """Only the setting `in_context`: the function's own parameters are not known here."""
        return {"in_context": True} if self.in_context else {}

    async def edit(self, request: EditRequest) -> EditResult:
        """Call the function and convert its result. The engine records exceptions."""
        if inspect.iscoroutinefunction(self.call):
            result = await self.call(request)
        else:
            result = await asyncio.to_thread(self.call, request)
        if isinstance(result, EditResult):
            return result
        if isinstance(result, bytes):
            return EditResult(Status.OK, result)
        if isinstance(result, Image.Image):
            return EditResult(
                Status.OK, encode_image(result if result.mode in ("L", "RGB", "RGBA") else result.convert("RGB"))
            )
        if result is None:
            return EditResult(Status.MISSING_OUTPUT, error="The function returned None.")
        kind = type(result).__name__
        return EditResult(Status.INVALID_IMAGE, error=f"The function returned {kind}; give bytes, an image or a result")

    def raised(self, error: BaseException) -> str:
        """An exception from the view of the function's author: what, and where in their file (else where at all)."""
        frames = traceback.extract_tb(error.__traceback__)
        own = inspect.unwrap(self.call)
        file = own.__code__.co_filename if inspect.isfunction(own) else ""
        own_frames = [frame for frame in frames if frame.filename == file] or frames
        where = f" ({Path(own_frames[-1].filename).name}, line {own_frames[-1].lineno})" if own_frames else ""
        return f"{RAISED}{type(error).__name__}: {error_message(error)}{where}"


def load_function(path: str) -> Callable[[EditRequest], Any]:
    """The function at `module:function`. Importing it runs its module."""
    module, colon, attribute = path.partition(":")
    if not colon or not module or not attribute:
        raise UserError(f"'{path}' does not name a function.", hint="Write it as module:function.")
    try:
        target: Any = import_module(module)
    except ImportError as error:
        raise UserError(
            f"The function '{path}' cannot be loaded: {error}.",
            hint="Is its folder on PYTHONPATH, or its package installed?",
        ) from error
    except (Exception, SystemExit) as error:  # importing runs the author's code, which may raise anything
        raise UserError(f"The module '{module}' cannot be imported: {_import_error(error)}.") from error
    for part in attribute.split("."):
        if not hasattr(target, part):
            raise UserError(f"The function '{path}' is not there: {module} has no '{part}'.", hint=_near(target, part))
        target = getattr(target, part)
    if not callable(target):
        raise UserError(f"'{path}' is not a function.")
    call: Callable[[EditRequest], Any] = target
    return call


def _import_error(error: BaseException) -> str:
    """The exception during import, with file and line; a SyntaxError has them itself."""
    frames = traceback.extract_tb(error.__traceback__)
    has_place = isinstance(error, SyntaxError) or not frames
    where = "" if has_place else f" ({Path(frames[-1].filename).name}, line {frames[-1].lineno})"
    return f"{type(error).__name__}: {error_message(error)}{where}"


def _near(owner: object, name: str) -> str:
    """The functions of a module or a class, the most similar name first."""
    names = [word for word in dir(owner) if not word.startswith("_") and callable(getattr(owner, word))]
    return suggestion(name, names, f"It has: {', '.join(sorted(names)[:20]) or 'no function'}.")


def make(name: str, options: Mapping[str, JsonValue], _ports: Ports) -> FunctionEditor:
    """Build the editor from a table with `function`."""
    settings = read_options(FunctionSettings, options, "editors", "function")
    return FunctionEditor(name, load_function(settings.function), settings.version, settings.in_context)
