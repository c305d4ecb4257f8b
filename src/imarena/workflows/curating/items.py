"""From a chosen candidate to the item of a data set, with its provenance."""

from collections.abc import Sequence
from dataclasses import replace

from imarena.core import find_licence, suggestion
from imarena.core.records import Item, JsonDict, Turn
from imarena.curation import CandidateRecord, CurationRequest
from imarena.datasets import load_taxonomy, taxonomy_names
from imarena.images import describe_image
from imarena.storage import Workspace


def make_item(
    workspace: Workspace,
    dataset: str,
    taxonomy: str,
    request: CurationRequest,
    work: str,
    record: CandidateRecord,
    *,
    key: str = "",
    more: JsonDict | None = None,
) -> Item:
    """Make an item; `key` defaults to the instruction's key and the image; `more` is added to the provenance."""
    image = record.found
    licence = find_licence(image.licence) or find_licence(image.licence_url)
    provenance: JsonDict = {
        "request": request.key, "curation": work, "curation_track": "base" if request.keywords else "agentic",
        "source": image.source, "source_key": image.key, "title": image.title, "shows": image.shows,
        "creator": image.creator, "page": image.page, "licence_url": image.licence_url,
        "original_sha256": record.original_sha256,
        "score": record.score, "caption": record.caption, "query": record.query, "round": record.round,
        "review": ", ".join(record.flags), **(more or {}),
    }  # fmt: skip
    task, family = _task(taxonomy, request.task) or (request.task, None)
    return Item(
        dataset=dataset, key=key or f"{request.key}-{record.sha256[:8]}",
        turns=(Turn(instruction=request.instruction),),
        sources=(describe_image(workspace.blobs.get(record.sha256)),), taxonomy=taxonomy or None,
        task=task, family=family, topic=request.topic,
        licence=licence.id if licence else image.licence,
        provenance={name: value for name, value in provenance.items() if value not in (None, "")},
    )  # fmt: skip


def name_tasks(
    requests: Sequence[CurationRequest], taxonomy: str
) -> tuple[list[CurationRequest], tuple[str, ...]]:  # fmt: skip
    """Return the requests with tasks spelled as in the taxonomy, and a message about each task not in it."""
    renamed, strange = [], dict[str, str]()
    for request in requests:
        task = _task(taxonomy, request.task)
        if request.task and task is None and _is_known(taxonomy):
            strange.setdefault(request.task, request.key)
        renamed.append(replace(request, task=task[0]) if task else request)
    names = [task.name for task in load_taxonomy(taxonomy).tasks] if strange else []
    lines = [
        f"{key}: '{name}' is not a task of {taxonomy} and adds no requirements. {suggestion(name, names)}"
        for name, key in strange.items()
    ]  # fmt: skip
    return renamed, tuple(lines)


def _task(taxonomy: str, name: str | None) -> tuple[str, str | None] | None:
    """Return a task as spelled in the taxonomy, and its family."""
    task = load_taxonomy(taxonomy).task(name) if name and _is_known(taxonomy) else None
    return (task.name, task.family) if task else None


def _is_known(taxonomy: str) -> bool:
    return taxonomy in taxonomy_names() or taxonomy.endswith((".yaml", ".yml"))
