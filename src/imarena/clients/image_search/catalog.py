"""Web image sources by kind, from a table of settings."""

import os
from typing import Literal

from pydantic import Field, ValidationError

from imarena.clients.image_search.google import RIGHTS, GoogleSource
from imarena.clients.image_search.huggingface import HUB_URL, HuggingFaceSource
from imarena.clients.image_search.openverse import OpenverseSource
from imarena.clients.image_search.polite import PoliteFetcher, WebSource
from imarena.clients.image_search.wikimedia import WikimediaSource
from imarena.core import FrozenModel, ImageSource, JsonDict, UserError, content_id, validation_problem

SourceKind = Literal["google", "openverse", "wikimedia", "huggingface"]


class SourceTable(FrozenModel):
    """A table `[sources.NAME]` of imarena.toml."""

    kind: SourceKind
    base_url: str = ""
    hub_url: str = HUB_URL
    api_key_env: str = ""
    """The environment variable with the key (Google) or token (Openverse, Hugging Face)."""
    engine: str = ""
    """Google: the search engine's id (cx)."""
    rights: tuple[str, ...] = RIGHTS
    dataset: str = ""
    config: str = "default"
    split: str = "train"
    contact: str = ""
    """An email address or URL in the user agent: Wikimedia requires one."""
    interval_s: float = Field(default=1.0, ge=0)
    max_attempts: int = Field(default=3, ge=1, le=10)
    backoff_s: float = Field(default=1.0, ge=0)
    timeout_s: float = Field(default=60.0, gt=0)
    allow_loopback: bool = False
    """For a server on this machine, such as a fake one in tests."""


def open_image_source(name: str, table: JsonDict) -> ImageSource:
    """Build a source from its table; raises if entries are wrong or missing."""
    try:
        spec = SourceTable.model_validate(table)
    except ValidationError as error:
        problem = validation_problem(error, SourceTable)
        raise UserError(f"[sources.{name}]: {problem.text}.", hint=problem.hint) from error
    fetcher = PoliteFetcher(
        contact=spec.contact, interval_s=spec.interval_s, max_attempts=spec.max_attempts,
        backoff_s=spec.backoff_s, timeout_s=spec.timeout_s, allow_loopback=spec.allow_loopback,
    )  # fmt: skip
    source = _make(name, spec, fetcher, _key(name, spec))
    identity = content_id("source", name, spec.kind, spec.base_url, spec.engine, spec.dataset, spec.config, spec.split)
    return ImageSource(name, source.search, source.load, identity)


def _make(name: str, table: SourceTable, fetcher: PoliteFetcher, key: str) -> WebSource:
    url = table.base_url
    if table.kind == "openverse":
        return OpenverseSource(name, fetcher, url, key)
    if table.kind == "wikimedia":
        if not table.contact:
            raise UserError(
                f"The source '{name}' needs a contact: Wikimedia asks every program for an address or a page.",
                hint=f'Add to imarena.toml: [sources.{name}], kind = "wikimedia", contact = "you@example.org".',
            )
        return WikimediaSource(name, fetcher, url)
    if table.kind == "huggingface":
        if not table.dataset:
            raise UserError(f"[sources.{name}] names no data set.", hint='Add dataset = "OWNER/NAME".')
        rows = {"dataset": table.dataset, "config": table.config, "split": table.split}
        return HuggingFaceSource(name, fetcher, url, key, dataset_rows=rows, hub_url=table.hub_url)
    if not (key and table.engine):
        raise UserError(
            f"The source '{name}' needs a key and a search engine.",
            hint='Add a table: [sources.google], kind = "google", api_key_env = "GOOGLE_API_KEY", engine = "CX".',
        )
    return GoogleSource(name, fetcher, url, key=key, engine=table.engine, rights=table.rights)


def _key(name: str, table: SourceTable) -> str:
    if not table.api_key_env:
        return ""
    key = os.environ.get(table.api_key_env, "")
    if not key:
        raise UserError(f"The environment variable {table.api_key_env} is not set: [sources.{name}] needs it.")
    return key
