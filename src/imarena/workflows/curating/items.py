"""From a chosen candidate to the item of a data set, with its provenance."""

from imarena.core import find_licence
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
    """An item; `key` is made of the instruction's key and the image where none is given, `more` is added provenance."""
    found = record.found
    known = find_licence(found.licence) or find_licence(found.licence_url)
    provenance: JsonDict = {
        "request": request.key, "curation": work, "curation_track": "base" if request.keywords else "agentic",
        "source": found.source, "source_key": found.key, "title": found.title, "shows": found.shows,
        "creator": found.creator, "page": found.page, "licence_url": found.licence_url,
        "original_sha256": record.original_sha256,
        "score": record.score, "caption": record.caption, "query": record.query, "round": record.round,
        "review": ", ".join(record.flags), **(more or {}),
    }  # fmt: skip
    task = load_taxonomy(taxonomy).task(request.task) if request.task and _is_known(taxonomy) else None
    return Item(
        dataset=dataset, key=key or f"{request.key}-{record.sha256[:8]}",
        turns=(Turn(instruction=request.instruction),),
        sources=(describe_image(workspace.blobs.get(record.sha256)),), taxonomy=taxonomy or None,
        task=task.name if task else request.task, family=task.family if task else None, topic=request.topic,
        licence=known.id if known else found.licence,
        provenance={name: value for name, value in provenance.items() if value not in (None, "")},
    )  # fmt: skip


def _is_known(taxonomy: str) -> bool:
    return taxonomy in taxonomy_names() or taxonomy.endswith((".yaml", ".yml"))
