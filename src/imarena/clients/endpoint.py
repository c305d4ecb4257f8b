"""Endpoint settings, checked on load. They contain the name of a key's environment variable, never a key."""

import re
import socket
from collections.abc import Mapping
from typing import Literal
from urllib.parse import urlsplit

from pydantic import Field, ValidationError, field_validator, model_validator
from yarl import URL

from imarena.core import FrozenModel, UserError, validation_problem
from imarena.core.records import JsonDict, Usage
from imarena.images import JPEG, Preparation

_KEY_NAMES = re.compile(r"key|token|secret|auth|cookie|password|signature|^sig$", re.IGNORECASE)
"""Words in the name of a header or query parameter that suggest that its value is a key."""


class Endpoint(FrozenModel):
    """An OpenAI-compatible endpoint: one model at one or several base URLs, with one or several keys.

    Several URLs with one key share it; one URL with several keys is used with each; equal numbers of keys and URLs are
    paired in order. Each pair is a route with its own rate limit and circuit breaker.
    """

    name: str = ""
    base_url: tuple[str, ...] = Field(min_length=1)
    """Up to and including `/v1`: `/chat/completions` is added."""
    model: str = Field(min_length=1)
    api_key_env: tuple[str, ...] = ()
    key_header: str = "Authorization"
    """`Authorization` sends `Bearer <key>`; any other header (Azure: `api-key`) sends the bare key."""
    key_prefix: str = "Bearer"
    """Prefix of the key in an Authorization header (fal: `Key`)."""

    max_concurrency: int = Field(default=16, ge=1, le=4096)
    requests_per_minute: float | None = Field(default=None, gt=0)
    """Per route. 429 replies slow a route down further, regardless of this value."""
    timeout_s: float = Field(default=120.0, gt=0)
    connect_timeout_s: float = Field(default=10.0, gt=0)
    max_attempts: int = Field(default=5, ge=1, le=100)
    """Maximum number of attempts that fail with an error; timeouts and 429 replies have their own limits."""
    max_timeouts: int = Field(default=2, ge=1, le=100)
    max_throttled: int = Field(default=20, ge=0, le=1000)
    max_wait_s: float = Field(default=300.0, gt=0)
    """A longer Retry-After ends the request with an error instead of waiting."""
    backoff_s: float = Field(default=0.5, gt=0)
    breaker_failures: int = Field(default=5, ge=1)
    """A route pauses after this many consecutive failures."""
    breaker_pause_s: float = Field(default=5.0, gt=0)
    """The first pause; it doubles with every failed trial."""
    breaker_trials: int = Field(default=5, ge=1)
    """After this many failed trials the route counts as down, and waiting requests end with errors."""
    use_proxy_env: bool = False

    input_usd_per_million: float | None = Field(default=None, ge=0)
    output_usd_per_million: float | None = Field(default=None, ge=0)

    max_image_side: int | None = Field(default=1536, ge=1)
    max_image_pixels: int | None = Field(default=None, ge=1)
    image_media_type: str = JPEG
    image_quality: int = Field(default=92, ge=1, le=100)
    image_detail: Literal["auto", "low", "high"] | None = None

    structured_output: Literal["auto", "off"] = "auto"
    """`auto` sends `response_format` and continues without it if the endpoint rejects it."""
    max_tokens_field: Literal["max_tokens", "max_completion_tokens"] = "max_tokens"
    headers: dict[str, str] = Field(default_factory=dict)
    body: JsonDict = Field(default_factory=dict)
    """Additional fields for every request, as the endpoint documents them."""

    @field_validator("base_url", "api_key_env", mode="before")
    @classmethod
    def _one_or_several(cls, value: object) -> object:
        if value is None:
            return ()
        return (value,) if isinstance(value, str) else value

    @field_validator("base_url")
    @classmethod
    def _plain_address(cls, value: tuple[str, ...]) -> tuple[str, ...]:
        for text in value:
            url = URL(text)
            if url.scheme not in {"http", "https"} or not url.host:
                raise ValueError(f"'{text}' is not an http or https address")
            if url.user or url.password or any(map(_KEY_NAMES.search, url.query)):
                raise ValueError("an address with a key in it would be written into records: use api_key_env")
        return value

    @field_validator("headers")
    @classmethod
    def _no_keys_in_headers(cls, value: dict[str, str]) -> dict[str, str]:
        key_names = sorted(name for name in value if _KEY_NAMES.search(name))
        if key_names:
            raise ValueError(f"the header {', '.join(key_names)} would be written into records: use api_key_env")
        return value

    @model_validator(mode="after")
    def _keys_match_addresses(self) -> "Endpoint":
        keys, urls = len(self.api_key_env), len(self.base_url)
        if keys > 1 and urls > 1 and keys != urls:
            raise ValueError(f"{urls} addresses and {keys} keys do not match: give one of either, or as many of both")
        return self

    @property
    def pairs(self) -> tuple[tuple[str, str | None], ...]:
        """Each route: a base URL and the name of its key's environment variable."""
        keys: tuple[str | None, ...] = self.api_key_env or (None,)
        count = max(len(self.base_url), len(keys))
        urls = self.base_url * count if len(self.base_url) == 1 else self.base_url
        keys = keys * count if len(keys) == 1 else keys
        return tuple(zip(urls, keys, strict=True))

    @property
    def preparation(self) -> Preparation:
        """How images are prepared for this endpoint."""
        return Preparation(self.max_image_side, self.max_image_pixels, self.image_media_type, self.image_quality)

    @property
    def priced(self) -> bool:
        """Are the prices known, so that costs can be computed?"""
        return self.input_usd_per_million is not None and self.output_usd_per_million is not None

    def cost_usd(self, usage: Usage) -> float | None:
        """Tokens times price; None if one of them is unknown."""
        if self.input_usd_per_million is None or self.output_usd_per_million is None:
            return None
        if usage.input_tokens is None or usage.output_tokens is None:
            return None
        millionths = usage.input_tokens * self.input_usd_per_million + usage.output_tokens * self.output_usd_per_million
        return millionths / 1_000_000


def read_endpoint(settings: Mapping[str, object], where: str = "the endpoint's settings") -> Endpoint:
    """Build an endpoint from a table of a settings file. Raises a one-line `UserError` with `where` and the field."""
    try:
        return Endpoint.model_validate(dict(settings))
    except ValidationError as error:
        problem = validation_problem(error, Endpoint)
    hint = "The settings are listed in docs/guide/endpoints.md."
    raise UserError(f"In {where}: {problem.text}.", hint=f"{problem.hint} {hint}".strip())


_PATIENCE_S = 3.0


def check_reachable(endpoint: Endpoint) -> None:
    """Raise if every base URL of an endpoint refuses a connection or has no host; nothing is sent.

    Other problems, such as slow replies, are left to the client, which can wait and retry.
    """
    if endpoint.use_proxy_env:
        return
    why = ""
    for url in endpoint.base_url:
        address = urlsplit(url)
        port = address.port or (443 if address.scheme == "https" else 80)
        try:
            socket.create_connection((address.hostname or "", port), timeout=_PATIENCE_S).close()
        except ConnectionRefusedError:
            why = why or f"{url} refuses the connection"
        except socket.gaierror:
            why = why or f"the host of {url} is not known"
        except OSError:
            return
        else:
            return
    raise UserError(
        f"Cannot reach the endpoint: {why}.",
        hint="Start the server, or correct the address and its port; then run the same command again.",
    )
