"""Each provider's adapter, pointed at a fake server that speaks its protocol."""

from pydantic import JsonValue

from imarena.clients import Budget
from imarena.clients.fake_images import FakeImages
from imarena.core.protocols import EditRequest, EditResult
from imarena.editors.catalog import EDITORS, Ports
from imarena.editors.endpoints.http_image import EndpointEditor

KEY = "test-key-123456"
QUICK: dict[str, JsonValue] = {
    "api_key_env": "FAKE_KEY", "timeout_s": 1.0, "max_attempts": 3, "max_timeouts": 1, "backoff_s": 0.01,
    "breaker_failures": 1000, "usd_per_image": 0.04,
}  # fmt: skip

PROVIDERS: dict[str, tuple[str, str, dict[str, JsonValue]]] = {
    "openai": ("openai-images", "/v1", {"model": "gpt-image-1"}),
    "gemini": ("gemini-images", "/v1beta", {"model": "gemini-2.5-flash-image"}),
    "chat": ("chat-images", "/v1", {"model": "google/gemini-2.5-flash-image"}),
    "fal": ("http-queue", "/fal", {"model": "fal-ai/flux-kontext/dev", "preset": "fal"}),
    "fal-multi": ("http-queue", "/fal", {"model": "fal-ai/nano-banana/edit", "preset": "fal-multi"}),
    "replicate": (
        "http-queue", "/replicate/v1", {"model": "black-forest-labs/flux-kontext-pro", "preset": "replicate"},
    ),
}  # fmt: skip
FAST_POLLS: dict[str, JsonValue] = {"template": {"poll_s": 0.01, "job_timeout_s": 1.0}}


def table(provider: str, root: str) -> dict[str, JsonValue]:
    """Options of the provider's editor at a fake server."""
    kind, path, options = PROVIDERS[provider]
    return {**QUICK, "base_url": root + path, **options, **(FAST_POLLS if kind == "http-queue" else {})}


def editor_at(
    server: FakeImages, provider: str, budget: Budget | None = None, key: str = KEY, **more: JsonValue
) -> EndpointEditor:
    """The provider's editor."""
    made = EDITORS.get(PROVIDERS[provider][0])(
        provider, {**table(provider, server.root), **more}, Ports(budget, {"FAKE_KEY": key})
    )
    assert isinstance(made, EndpointEditor)
    return made


async def edited(editor: EndpointEditor, request: EditRequest) -> EditResult:
    """One edit with an open client."""
    async with editor.opened():
        return await editor.edit(request)
