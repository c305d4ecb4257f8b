"""HTTP queues (fal, Replicate and similar) through one adapter with templates: presets in ``queues/*.yaml``."""

import json
import re
from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from typing import Any

import yaml
from pydantic import JsonValue

from imarena.clients import ImageAnswer, ImageClient, Queue, QueueTemplate
from imarena.core import EditRequest, UserError, read_options, unknown_name
from imarena.core.records import Status
from imarena.editors.catalog import Ports
from imarena.editors.endpoints.http_image import EndpointEditor, ImageSettings, data_url, editor

FIELDS = ("instruction", "source", "sources", "reference", "references", "pictures", "mask", "seed", "model")
_FIELD = re.compile(r"\{(\w+)\}")


class QueueSettings(ImageSettings):
    """A preset by name, or your own template; fields given here override those of the preset."""

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
    """Build the editor from a table with `model` and a `preset` or a `template`."""
    preset_name = str(options.get("preset", ""))
    if preset_name and preset_name not in presets():
        raise unknown_name("There is no queue preset called", preset_name, presets())
    preset = presets().get(preset_name, {"defaults": {}, "template": {}})
    own = options.get("template")
    template = {**preset["template"], **(own if isinstance(own, dict) else {})}
    settings = read_options(
        QueueSettings, {**preset["defaults"], **options, "template": template}, "editors", "http-queue"
    )
    fields = _template_fields(settings)

    async def ask(client: ImageClient, request: EditRequest) -> ImageAnswer:
        problem = _left_out(fields, len(request.sources), len(request.references), preset_name)
        if problem:
            return ImageAnswer(Status.REFUSED, error=problem)
        return await Queue(client, settings.template).run(_fields(settings.model, request))

    return editor(name, settings, ask, ports, "http-queue", {"preset": preset_name} if preset_name else {})


def _template_fields(settings: QueueSettings) -> frozenset[str]:
    """The fields that the template sends. Raises for an unknown one, which would otherwise be silently left out."""
    fields = frozenset(_FIELD.findall(json.dumps(settings.template.submit_body)))
    unknown = sorted(fields - set(FIELDS))
    if unknown or "instruction" not in fields:
        problem = f"{{{unknown[0]}}} is not known" if unknown else "{instruction} is not sent"
        raise UserError(f"template.submit_body: {problem}.", hint=f"Known: {', '.join(FIELDS)}.")
    return fields


def _left_out(fields: frozenset[str], sources: int, references: int, preset: str) -> str:
    """Why an item is not sent, or "": without all its images, the output would not be what it claims to be."""
    if "pictures" in fields:
        return ""
    sends_source = "source" in fields
    all_sources = "sources" in fields or sources <= sends_source
    if sources == 0 and references == 1 and sends_source:  # a single reference is sent in the place of a source
        return ""
    if all_sources and ("references" in fields or references <= ("reference" in fields)):
        return ""
    other = ", or the preset fal-multi" if preset == "fal" else ""
    return (
        f"This template sends fewer images than the item has ({sources} sources, {references} references): it was "
        f"not sent. Where the model takes several, put {{pictures}} or {{references}} into template.submit_body{other}."
    )


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
