"""Vision-language models that run on this machine, through transformers (the `vision` extra).

It reads only safetensors weights and never runs code from a model's repository.
"""

import asyncio
import io
import threading
import time
from pathlib import Path
from typing import Any

from imarena.clients.chat import ChatReply
from imarena.clients.messages import ChatRequest, ImagePart, Message
from imarena.core import MissingExtra, UserError
from imarena.core.records import Status, Usage

_UNSAID_TOKENS = 1024


class LocalVlm:
    """Answers chat requests with a loaded model, one at a time. Created by `load_vlm`."""

    def __init__(self, name: str, processor: Any, model: Any, *, timeout_s: float = 600.0) -> None:
        self.name = name
        self._processor = processor
        self._model = model
        self._timeout_s = timeout_s
        self._lock = threading.Lock()

    def __repr__(self) -> str:
        return f"LocalVlm({self.name!r} on {self._model.device})"

    async def complete(self, request: ChatRequest) -> ChatReply:
        """Answer in a thread, so that the event loop continues. A failure becomes a status, not a made-up answer."""
        return await asyncio.to_thread(self._complete, request)

    def _complete(self, request: ChatRequest) -> ChatReply:
        started = time.monotonic()
        with self._lock:
            begun = time.monotonic()
            try:
                text, finish, usage = self._generate(request)
            except (RuntimeError, ValueError, TypeError, IndexError, KeyError) as error:
                reason = f"{type(error).__name__}: {' '.join(str(error).split())[:300]}"
                return ChatReply(
                    Status.API_ERROR, error=reason, attempts=1, model=self.name, latency_s=time.monotonic() - started
                )
        now = time.monotonic()
        usage = usage.model_copy(update={"latency_s": now - begun})
        status, why = Status.OK, ""
        if finish == "length" and now - begun >= self._timeout_s:
            status, text, why = Status.TIMEOUT, "", f"not finished after {self._timeout_s:g} s"
        return ChatReply(
            status,
            text=text,
            model=self.name,
            finish_reason=finish,
            usage=usage,
            error=why,
            attempts=1,
            latency_s=now - started,
        )

    def _generate(self, request: ChatRequest) -> tuple[str, str, Usage]:
        import torch

        inputs = self._processor.apply_chat_template(
            [_message(message) for message in request.messages],
            add_generation_prompt=True,
            tokenize=True,
            return_dict=True,
            return_tensors="pt",
        ).to(self._model.device, dtype=self._model.dtype)
        options: dict[str, Any] = {"do_sample": False}
        if request.temperature:
            options = {"do_sample": True, "temperature": request.temperature, "top_p": request.top_p or 1.0}
        with torch.inference_mode(), torch.random.fork_rng(enabled=request.seed is not None):
            if request.seed is not None:
                torch.manual_seed(request.seed)
            output = self._model.generate(
                **inputs,
                **options,
                max_new_tokens=request.max_tokens or _UNSAID_TOKENS,
                max_time=self._timeout_s,
            )
        n_input = int(inputs["input_ids"].shape[1])
        reply_ids = output[0, n_input:]
        text = str(self._processor.decode(reply_ids, skip_special_tokens=True))
        finish = "stop" if len(reply_ids) and int(reply_ids[-1]) in self._ends() else "length"
        return text, finish, Usage(input_tokens=n_input, output_tokens=len(reply_ids), cost_usd=0.0)

    def _ends(self) -> set[int]:
        ends = self._model.generation_config.eos_token_id
        return set(ends) if isinstance(ends, list) else {ends} - {None}


def load_vlm(
    name: str | Path,
    *,
    device: str = "auto",
    dtype: str = "auto",
    revision: str | None = None,
    timeout_s: float = 600.0,
    processor: Any = None,
) -> LocalVlm:
    """Load a model from a folder or a hub name (pin it with `revision`).

    `processor` replaces the one that transformers would create.

    `device` is `auto` (CUDA if there is one), `cpu`, `cuda:0`, ...; `dtype` is `auto`, `float32`, `bfloat16`, ...
    """
    try:
        import torch
        from transformers import AutoModelForImageTextToText, AutoProcessor
    except ImportError as error:
        raise MissingExtra("A vision-language model on this machine", "vision") from error
    target_device = ("cuda" if torch.cuda.is_available() else "cpu") if device == "auto" else device
    source = str(name)
    common: dict[str, Any] = {"trust_remote_code": False, "revision": revision}
    try:
        processor = processor or AutoProcessor.from_pretrained(source, **common)
        model = AutoModelForImageTextToText.from_pretrained(source, use_safetensors=True, dtype=dtype, **common)
    except (OSError, ValueError, ImportError) as error:
        raise UserError(
            f"The model '{source}' cannot be loaded: {' '.join(str(error).split())[:300]}",
            hint="Give a folder or a hub name with safetensors weights of an image-text-to-text model.",
        ) from error
    if not getattr(processor, "chat_template", None):
        raise UserError(f"The model '{source}' has no chat template.", hint="Use its instruction-tuned version.")
    return LocalVlm(source, processor, model.to(target_device).eval(), timeout_s=timeout_s)


def _message(message: Message) -> dict[str, Any]:
    return {"role": message.role, "content": [_part(part) for part in message.parts]}


def _part(part: str | ImagePart) -> dict[str, Any]:
    if isinstance(part, str):
        return {"type": "text", "text": part}
    from PIL import Image

    image = Image.open(io.BytesIO(part.data))  # prepared by us: 8-bit RGB, of safe size
    image.load()
    return {"type": "image", "image": image}
