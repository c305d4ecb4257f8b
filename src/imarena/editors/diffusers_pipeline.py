"""Local diffusion pipelines, through diffusers (the `vision` extra).

It reads only safetensors weights and never runs code from a model's repository: the pipeline's class is named here,
and a model that requires parts from elsewhere is not loaded.
"""

import asyncio
import json
import threading
import time
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from importlib import import_module
from pathlib import Path
from typing import Any, Literal

from pydantic import Field, JsonValue, TypeAdapter

from imarena.core import (
    EditorTraits,
    EditRequest,
    EditResult,
    FrozenModel,
    InvalidImage,
    MissingExtra,
    UserError,
    error_line,
    package_yaml,
    read_options,
    unknown_name,
)
from imarena.core.records import JsonDict, Status
from imarena.editors.catalog import Ports
from imarena.images import decode, encode_image
from imarena.vision import load_qwen_processor, needs_own_processor


class PipelineCall(FrozenModel):
    """How to call one pipeline: its class, its image arguments, and its authors' defaults."""

    class_name: str
    pictures: Literal["none", "one", "one or none", "many"]
    defaults: JsonDict


SHAPES: Mapping[str, PipelineCall] = TypeAdapter(dict[str, PipelineCall]).validate_python(
    package_yaml("imarena.editors", "pipelines.yaml")
)
_LIBRARIES = frozenset({"diffusers", "transformers", "stable_diffusion"})


class DiffusersSettings(FrozenModel):
    """The model, its pipeline, and where it runs."""

    model: str = Field(min_length=1)
    """A folder, or a repository's name on the hub."""
    pipeline: str
    device: str = ""
    """Empty: a GPU if available."""
    dtype: Literal["auto", "float32", "float16", "bfloat16"] = "auto"
    revision: str | None = None
    variant: str | None = None
    offload: bool = False
    """Keep parts on the GPU only while they are in use."""
    call: JsonDict = Field(default_factory=dict)
    """Arguments of the pipeline's call that replace its authors' defaults."""
    version: str = ""


class _BlackedOut(Exception):
    """The pipeline's own safety checker blocked the image."""


@dataclass
class DiffusersEditor:
    """One pipeline in memory, for one edit at a time. It is loaded when a run opens it."""

    name: str
    settings: DiffusersSettings
    shape: PipelineCall
    _pipe: Any = None
    _lock: threading.Lock = field(default_factory=threading.Lock)

    @property
    def version(self) -> str:
        """The model and its revision."""
        return f"{Path(self.settings.model).name}@{self.settings.revision or 'main'} {self.settings.version}".strip()

    @property
    def traits(self) -> EditorTraits:
        """Opening loads the pipeline. On a cluster each worker does so, on a GPU of its own if there is one."""
        return EditorTraits(opening=self.opened, loads_model=True, gpus=0.0 if self.settings.device == "cpu" else 1.0)

    def __reduce__(self) -> tuple[Any, ...]:
        """Workers get the settings, and load the pipeline themselves."""
        return type(self), (self.name, self.settings, self.shape)

    @property
    def params(self) -> JsonDict:
        """The parameters that an output depends on."""
        call: JsonDict = {**self.shape.defaults, **self.settings.call}
        return {"adapter": "diffusers", "pipeline": self.settings.pipeline, "dtype": self.settings.dtype, "call": call}

    @asynccontextmanager
    async def opened(self) -> AsyncIterator[None]:
        """Load the pipeline; release it afterwards."""
        self._pipe = await asyncio.to_thread(load_pipeline, self.settings, self.shape)
        try:
            yield
        finally:
            self._pipe = None

    async def edit(self, request: EditRequest) -> EditResult:
        """Make one image, at the pipeline's own size."""
        if self._pipe is None:
            raise UserError("The pipeline is not loaded.", hint="Use: async with editor.opened()")
        return await asyncio.to_thread(self._edited, request)

    def _edited(self, request: EditRequest) -> EditResult:
        pictures = (*request.sources, *request.references)
        problem = _misfit(self.shape, len(pictures))
        if problem:
            return EditResult(Status.REFUSED, error=f"{self.settings.pipeline} {problem}", cost_usd=0.0)
        try:
            images = [decode(data) for data in pictures]
        except InvalidImage as error:
            return EditResult(Status.INVALID_IMAGE, error=f"The source is not an image: {error}", cost_usd=0.0)
        arguments: dict[str, Any] = {"prompt": request.instruction, **self.shape.defaults, **self.settings.call}
        if images:
            arguments["image"] = images if self.shape.pictures == "many" else images[0]
        with self._lock:
            started = time.perf_counter()
            try:
                image = self._call(arguments, request.seed)
            except _BlackedOut:
                refusal = "the pipeline's safety checker blacked the image out"
                return EditResult(Status.REFUSED, error=refusal, cost_usd=0.0)
            except (RuntimeError, ValueError, TypeError, IndexError) as error:
                reason = f"{type(error).__name__}: {' '.join(str(error).split())[:300]}"
                return EditResult(Status.API_ERROR, error=reason, cost_usd=0.0)
        return EditResult(Status.OK, encode_image(image), cost_usd=0.0, latency_s=time.perf_counter() - started)

    def _call(self, arguments: dict[str, Any], seed: int | None) -> Any:
        import torch

        generator = None if seed is None else torch.Generator("cpu").manual_seed(seed)
        with torch.inference_mode():
            result = self._pipe(**arguments, generator=generator, output_type="pil")
        flagged = getattr(result, "nsfw_content_detected", None)
        if flagged and any(flagged):
            raise _BlackedOut
        return result.images[0].convert("RGB")


def _misfit(shape: PipelineCall, count: int) -> str:
    if shape.pictures == "none" and count:
        return "makes images from words only, and this item has images."
    if shape.pictures in ("one", "many") and not count:
        return "changes an image, and this item has none."
    if shape.pictures in ("one", "one or none") and count > 1:
        return f"takes one image, and this item has {count}."
    return ""


def load_pipeline(settings: DiffusersSettings, shape: PipelineCall) -> Any:
    """Load the pipeline. Raises `UserError` with the next step."""
    try:
        import diffusers
        import torch

        broken: type[Exception] = import_module("safetensors").SafetensorError
    except ImportError as error:
        raise MissingExtra("Running a diffusion pipeline here", "vision") from error
    _check_parts(settings.model, shape)
    device = settings.device or ("cuda" if torch.cuda.is_available() else "cpu")
    auto = torch.bfloat16 if device.startswith("cuda") else torch.float32
    dtype = auto if settings.dtype == "auto" else getattr(torch, settings.dtype)
    try:
        parts: dict[str, Any] = {}
        if settings.pipeline.startswith("qwen") and needs_own_processor():
            parts["processor"] = load_qwen_processor(settings.model, settings.revision)
        pipe = getattr(diffusers, shape.class_name).from_pretrained(
            settings.model,
            torch_dtype=dtype,
            use_safetensors=True,
            revision=settings.revision,
            variant=settings.variant,
            trust_remote_code=False,
            **parts,
        )
    except (OSError, ValueError, ImportError, RuntimeError, broken) as error:
        reason = error_line(error, 300)
        lacks = "Install what it names." if isinstance(error, ImportError) else "Is the name or the folder right?"
        raise UserError(
            f"The model '{settings.model}' cannot be loaded: {reason}",
            hint=f"Only safetensors weights are read. {lacks}",
        ) from error
    if settings.offload:
        pipe.enable_model_cpu_offload(device=device)
    else:
        pipe.to(device)
    pipe.set_progress_bar_config(disable=True)
    return pipe


def _check_parts(model: str, shape: PipelineCall) -> None:
    """Check that a folder's index names only classes of diffusers and transformers."""
    index = Path(model) / "model_index.json"
    if not Path(model).is_dir():
        return
    try:
        parts = json.loads(index.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise UserError(f"{index} cannot be read: {error}", hint="A pipeline's folder has such a file.") from error
    wrong = [name for name, value in parts.items() if isinstance(value, list) and value[0] not in {*_LIBRARIES, None}]
    if wrong:
        raise UserError(f"The model's part '{wrong[0]}' comes from code of its own: it is not loaded.")
    if parts.get("_class_name") != shape.class_name:
        raise UserError(
            f"{model} is a {parts.get('_class_name')}, not a {shape.class_name}.",
            hint=f"Choose another pipeline: {', '.join(SHAPES)}.",
        )


def make(name: str, options: Mapping[str, JsonValue], _ports: Ports) -> DiffusersEditor:
    """Build the editor from a table with `model` and `pipeline`."""
    settings = read_options(DiffusersSettings, options, "editors", "diffusers")
    if settings.pipeline not in SHAPES:
        raise unknown_name("There is no pipeline called", settings.pipeline, SHAPES)
    return DiffusersEditor(name, settings, SHAPES[settings.pipeline])
