"""Models by name: facts from ``models/*.yaml``, checked at load, and how each is reached where an adapter is known."""

from datetime import date
from functools import cache
from importlib.resources import files
from typing import Literal

import yaml
from pydantic import Field, JsonValue, ValidationError

from imarena.core.errors import UserError
from imarena.core.records.base import Noun

Task = Literal["TIG", "TIE", "SRIG", "SRIE", "MRIG", "MRIE"]


class ModelCard(Noun):
    """One model. None means that our sources do not say."""

    name: str = Field(pattern=r"^[a-z0-9][a-z0-9.+_-]*$")
    title: str
    family: str
    kind: Literal["closed", "open", "agentic"]
    architecture: str | None = None
    in_context: bool | None = None
    """Does it keep the turns before in its context (002, table 3)?"""
    released: date | None = None
    tasks: tuple[Task, ...] | None = None
    """Of ImagenWorld's six (004, table 2)."""
    multi_turn: bool | None = None
    native_size: tuple[int, int] | None = None
    usd_per_image: float | None = Field(default=None, ge=0)
    licence: str | None = None
    aliases: tuple[str, ...] = ()
    """How papers and logs spell it."""
    sources: tuple[str, ...] = ()
    """Where the facts come from: a paper of the five and its table."""
    adapter: dict[str, JsonValue] | None = None
    """A kind of editor and its options; None where we know no door to it."""


@cache
def model_cards() -> dict[str, ModelCard]:
    """All cards by name. A name that stands twice, or a wrong field, raises and names the file."""
    found: dict[str, ModelCard] = {}
    folder = files("imarena.editors").joinpath("models")
    for path in sorted(folder.iterdir(), key=lambda entry: entry.name):
        if not path.name.endswith(".yaml"):
            continue
        raw = yaml.safe_load(path.read_text(encoding="utf-8"))
        for entry in raw["models"]:
            try:
                card = ModelCard.model_validate({**raw.get("all", {}), **entry})
            except ValidationError as error:
                raise UserError(f"{path.name}: {entry.get('name')}: {error.errors()[0]['msg']}.") from error
            for name in (card.name, *card.aliases):
                if name in found:
                    raise UserError(f"{path.name}: the model '{name}' is described twice.")
                found[name] = card
    return found


def card_of(name: str) -> ModelCard | None:
    """The card of a model by its name or one of its spellings."""
    return model_cards().get(name)
