"""curate run and rescore: what a run may ask a model at most, before it is asked."""

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from imarena.core import canonical_json
from imarena.core.records import Evidence, ImageRef, Item
from imarena.curation import CurationRequest, CurationSettings, curation_prompt
from imarena.judges import CHARACTERS_PER_TOKEN, Estimate, Size, endpoint_tokens, estimate_sizes
from imarena.storage import Workspace
from imarena.workflows.curating.decisions import REQUEST, STEPS
from imarena.workflows.curating.items import name_tasks
from imarena.workflows.curating.run import refuse_changed_items
from imarena.workflows.curating.setup import TAXONOMY
from imarena.workflows.curating.sources import CurationChat
from imarena.workflows.wiring import ChatTask, JudgeChat

_REPLY_TOKENS = 1024
_RATED = ("caption", "score")
"""The steps that ask the model about an image, by the names of their prompts."""
_ASKED = ("plan", *_RATED, "reflect")
"""All steps that ask the model."""
_UNSEEN = ImageRef(sha256="0" * 64, size_bytes=0, media_type="image/jpeg")
"""An image that no search has found yet; its size is not known."""


def estimate_curation(
    workspace: Workspace,
    dataset: str,
    requests: Sequence[CurationRequest],
    chosen: CurationChat,
    settings: CurationSettings,
    *,
    sources: int = 1,
    stored: Mapping[str, Sequence[ImageRef]] | None = None,
) -> list[Estimate]:
    """Return the maximum number of questions to the model, their tokens and cost; nothing without a model.

    `stored`: the candidates of each instruction, if they are known; otherwise as many as the searches may return.
    """
    requests, _ = name_tasks(requests, TAXONOMY)
    refuse_changed_items(workspace, dataset, requests)
    if chosen.chat is None:
        return []
    works = _works(workspace, dataset, settings)
    items = Counter(item.provenance.get("curation") for item in workspace.store.records(Item, dataset=dataset))
    sizes: list[Size] = []
    complete = 0
    for request in requests:
        images = None if stored is None else stored[request.key]
        asks = _questions(chosen.chat, request, settings, sources, images)
        earlier = works.get(canonical_json(request.to_json()), ())
        if any(items[work] >= settings.pool for work in earlier):
            complete += 1
        else:  # the first ones are the shortest, so that the rest stays an upper bound
            sizes += asks[_answered(workspace, earlier, chosen.planner.name) :]
    return [_estimate(chosen.chat, sizes, complete, concurrency=len(requests) - complete, at_most=True)]


def estimate_ratings(chosen: CurationChat, prompts: Sequence[str], image: ImageRef) -> list[Estimate]:
    """Return the estimate for captioning or scoring one image, as in these prompts; nothing without a model."""
    if chosen.chat is None:
        return []
    sizes = [_size(chosen.chat, prompt, image) for prompt in prompts]
    return [_estimate(chosen.chat, sizes, len(_RATED) - len(prompts), concurrency=1)]


def _estimate(
    chat: JudgeChat, sizes: Sequence[Size], done: int, *, concurrency: int, at_most: bool = False
) -> Estimate:
    task = ChatTask(chat.endpoint.model, chat, _REPLY_TOKENS)
    return estimate_sizes(task, sizes, [], done, concurrency=max(1, concurrency), at_most=at_most)


def _questions(
    chat: JudgeChat,
    request: CurationRequest,
    settings: CurationSettings,
    sources: int,
    images: Sequence[ImageRef] | None,
) -> list[Size]:
    """Return the questions about one instruction, those without images first."""
    planned = 0 if request.keywords else settings.rounds
    rounds = [_size(chat, "plan", None)] * planned + [_size(chat, "reflect", None)] * max(0, planned - 1)
    if images is None:
        images = [_UNSEEN] * ((planned or 1) * settings.queries * settings.results_per_query * sources)
    return rounds + [_size(chat, name, image) for image in images for name in _RATED]


def _size(chat: JudgeChat, name: str, image: ImageRef | None) -> Size:
    words = len(curation_prompt(name).text) / CHARACTERS_PER_TOKEN
    return Size(words, 0, 0) if image is None else Size(words, endpoint_tokens(chat.endpoint, image), 1)


def _works(workspace: Workspace, dataset: str, settings: CurationSettings) -> dict[str, tuple[str, ...]]:
    """Return the names of the steps of earlier runs with these settings, by request."""
    works: dict[str, tuple[str, ...]] = {}
    for record in workspace.store.records(Evidence, kind=REQUEST):
        value: Any = record.value
        if value["dataset"] == dataset and value["settings"] == settings.model_dump(mode="json"):
            key = canonical_json(value["request"])
            works[key] = (*works.get(key, ()), record.image_sha256)
    return works


def _answered(workspace: Workspace, works: Sequence[str], planner: str) -> int:
    """Return how many questions an earlier run with the same model asked and need not be asked again."""
    counts = [0]
    for work in works:
        records = list(workspace.store.records(Evidence, image_sha256=work, kind=STEPS))
        calls = [str(record.params["call"]) for record in records if "attempt" not in record.params]
        if any(planner in call for call in calls):
            counts.append(sum(call.split(" ", 1)[0] in _ASKED for call in calls))
    return max(counts)
