"""Image protocols of the fake server: requests in a common form, and errors in each provider's format."""

import base64
import hashlib
import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from aiohttp import web

from imarena.clients.fake_pictures import ImageFault


@dataclass(frozen=True)
class ImageRequest:
    """A request in the form shared by all protocols."""

    model: str
    prompt: str
    pictures: tuple[bytes, ...]
    extra: tuple[str, ...] = ()

    @property
    def digest(self) -> str:
        """The same hash for the same model, prompt, images and options."""
        parts = [self.model, self.prompt, *self.extra, *(hashlib.sha256(data).hexdigest() for data in self.pictures)]
        return hashlib.sha256(json.dumps(parts).encode()).hexdigest()


@dataclass(frozen=True)
class ImageProtocol:
    """The reply formats of one protocol."""

    pictures: Callable[[ImageRequest, list[bytes], ImageFault | None], web.StreamResponse]
    refusal: Callable[[ImageFault], web.StreamResponse]
    error: Callable[..., web.StreamResponse]
    key_header: str = "authorization"
    key_prefix: str = "Bearer"


def data_url_bytes(url: str) -> bytes:
    """The bytes of a data URL."""
    return base64.b64decode(url.partition(",")[2])


def openai_error(
    status: int, message: str, code: str, after: str = "", *, kind: str = "invalid_request_error"
) -> web.Response:
    error = {"message": message, "type": kind, "param": None, "code": code}
    return web.json_response({"error": error}, status=status, headers={"Retry-After": after} if after else {})


def gemini_error(status: int, message: str, code: str, after: str = "") -> web.Response:
    """Gemini puts the retry delay in the body and answers a wrong key with 400."""
    names = {400: "INVALID_ARGUMENT", 401: "INVALID_ARGUMENT", 429: "RESOURCE_EXHAUSTED", 500: "INTERNAL"}
    details: list[dict[str, Any]] = []
    if after:
        details.append({"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": f"{after}s"})
    if code == "invalid_api_key":
        status, message = 400, "API key not valid. Please pass a valid API key."
        details.append({"@type": "type.googleapis.com/google.rpc.ErrorInfo", "reason": "API_KEY_INVALID"})
    error = {"code": status, "message": message, "status": names.get(status, "UNKNOWN"), "details": details}
    return web.json_response({"error": error}, status=status)
