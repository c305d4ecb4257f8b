"""HTTP queues (fal, Replicate and their like) through one templated adapter: presets in ``queues/*.yaml``."""

from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from typing import Any

import yaml
from pydantic import JsonValue

from imarena.clients.image_api import ImageClient, Pictures
from imarena.clients.queue_api import Queue, QueueTemplate
from imarena.core.errors import UnknownName
from imarena.core.protocols import EditRequest
from imarena.editors.catalog import Ports
from imarena.editors.http_image import EndpointEditor, ImageSettings, data_url, editor
from imarena.editors.options import read_options


class QueueSettings(ImageSettings):
    """A preset by name, or a template of your own; fields given here replace those of the preset."""

    preset: str = ""
    template: QueueTemplate
    max_source_bytes: int | None = 10 * 1000 * 1000


@cache
def presets() -> dict[str, dict[str, Any]]:
    """The bundled templates by name."""
    folder = files("imarena.editors").joinpath("queues")
    names = sorted(entry.name for entry in folder.iterdir() if entry.name.endswith(".yaml"))
    return {name[:-5]: yaml.safe_load(folder.joinpath(name).read_text(encoding="utf-8")) for name in names}


def make(name: str, options: Mapping[str, JsonValue], ports: Ports) -> EndpointEditor:
    """From a table with `model` and a `preset` or a `template`."""
    chosen = str(options.get("preset", ""))
    if chosen and chosen not in presets():
        raise UnknownName(f"There is no queue preset called '{chosen}'.", hint=f"Known: {', '.join(presets())}.")
    found = presets().get(chosen, {"defaults": {}, "template": {}})
    own = options.get("template")
    template = {**found["template"], **(own if isinstance(own, dict) else {})}
    settings = read_options(QueueSettings, {**found["defaults"], **options, "template": template}, "http-queue")

    async def ask(client: ImageClient, request: EditRequest) -> Pictures:
        return await Queue(client, settings.template).run(_fields(settings.model, request))

    return editor(name, settings, ask, ports, "http-queue", {"preset": chosen} if chosen else {})


def _fields(model: str, request: EditRequest) -> dict[str, Any]:
    sources = [data_url(data) for data in request.sources]
    references = [data_url(data) for data in request.references]
    masks = [data_url(data) for data in request.masks]
    fields: dict[str, Any] = {
        "model": model,
        "instruction": request.instruction,
        "source": next(iter(sources or references), None),
        "sources": sources or None,
        "reference": next(iter(references), None),
        "references": references or None,
        "pictures": [*sources, *references] or None,
        "mask": next(iter(masks), None),
        "seed": request.seed,
    }
    return {key: value for key, value in fields.items() if value is not None}
