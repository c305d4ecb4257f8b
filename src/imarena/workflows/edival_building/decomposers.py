"""Decomposers by name, and one image without a workspace."""

import asyncio
from dataclasses import dataclass
from pathlib import Path

from imarena.clients import Budget
from imarena.core import InvalidImage, Settings, UserError, error_message
from imarena.core.records import Status
from imarena.images import read_image_file
from imarena.instructions import ChatDecomposer, Decomposer, Decomposition, OfflineDecomposer, grounder_of
from imarena.vision import DETECTOR_TOOLS, DETECTORS
from imarena.workflows.wiring import EndpointArguments, JudgeChat, wire_chat

OFFLINE = "offline"


@dataclass(frozen=True)
class WiredDecomposer:
    """A decomposer ready to be asked, and the endpoint that it asks, if any."""

    decomposer: Decomposer
    client: JudgeChat | None = None
    gpus: float = 0.0
    """GPUs for each worker on a cluster."""


def wire_decomposer(settings: Settings, name: str, detector: str, budget: Budget | None = None) -> WiredDecomposer:
    """Return the decomposer `offline`, or one at a named endpoint. `detector` finds, or confirms, the objects."""
    DETECTORS.get(detector)  # report an unknown name or a missing extra before any question
    if name == OFFLINE:
        gpus = DETECTOR_TOOLS[detector].gpus if detector in DETECTOR_TOOLS else 0.0
        return WiredDecomposer(OfflineDecomposer(detector), gpus=gpus)
    client = wire_chat(settings, EndpointArguments(endpoint=name), "decomposition", budget)
    return WiredDecomposer(ChatDecomposer(client, client.endpoint.model, grounder_of(detector), detector), client)


def decompose_image(wired: WiredDecomposer, path: Path) -> Decomposition:
    """Decompose one image. A file that is not an image gives a status."""
    try:
        data = read_image_file(path)
    except InvalidImage as error:
        return Decomposition("failed", Status.INVALID_IMAGE, error_message(error))
    except OSError as error:
        raise UserError(
            f"{path} cannot be read: {error.strerror or error}.", hint="Give the path of an image."
        ) from error
    return asyncio.run(_ask(wired, data))


async def _ask(wired: WiredDecomposer, data: bytes) -> Decomposition:
    if wired.client is None:
        return await wired.decomposer(data)
    async with wired.client.opened():
        return await wired.decomposer(data)
