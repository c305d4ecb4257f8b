"""Model cards from ``models/*.yaml``: facts about each model, and how to reach it if an adapter is known."""

from datetime import date
from functools import cache
from importlib.resources import files
from typing import Literal, Self

import yaml
from pydantic import Field, JsonValue, ValidationError, model_validator

from imarena.core import FrozenModel, UserError, validation_problem
from imarena.editors.prices import PicturePrice

ModelTask = Literal["TIG", "TIE", "SRIG", "SRIE", "MRIG", "MRIE"]


class ModelCard(FrozenModel):
    """One model. None means that our sources do not say."""

    name: str = Field(pattern=r"^[a-z0-9][a-z0-9.+_-]*$")
    title: str = Field(min_length=1)
    family: str = Field(min_length=1)
    kind: Literal["closed", "open", "agentic"]
    architecture: str | None = None
    """`not published` if its maker does not disclose it."""
    in_context: bool | None = None
    """Does it keep earlier turns in its context (002, table 3)?"""
    released: date | None = None
    withdrawn: date | None = None
    """The day on which the provider switched it off, or will do so."""
    tasks: tuple[ModelTask, ...] | None = Field(default=None, min_length=1)
    """One of ImagenWorld's six (004, table 2)."""
    native_size: tuple[int, int] | None = None
    """Default width and height."""
    price: PicturePrice | None = None
    no_price: str | None = None
    """Why there is no price."""
    licence: str | None = None
    aliases: tuple[str, ...] = ()
    """Spellings in papers and logs."""
    sources: tuple[str, ...] = Field(min_length=1)
    """Source of the facts: one of the five papers and its table, or a page."""
    adapter: dict[str, JsonValue] | None = None
    """A kind of editor and its options; None if no access to the model is known."""

    @model_validator(mode="after")
    def _check_consistency(self) -> Self:
        if (self.price is None) == (self.no_price is None):
            raise ValueError("give a price, or say in no_price why there is none")
        if self.released and self.withdrawn and self.withdrawn < self.released:
            raise ValueError("it was withdrawn before it was released")
        if self.native_size and min(self.native_size) < 1:
            raise ValueError("native_size is a width and a height in pixels")
        if self.adapter is not None and "kind" not in self.adapter:
            raise ValueError("its adapter names no kind")
        return self


@cache
def model_cards() -> dict[str, ModelCard]:
    """All cards by name. Duplicate names and wrong fields raise an error that names the file."""
    cards: dict[str, ModelCard] = {}
    for path in sorted(files("imarena.editors").joinpath("models").iterdir(), key=lambda entry: entry.name):
        if path.name.endswith(".yaml"):
            for card in read_cards(path.read_text(encoding="utf-8"), path.name):
                for name in (card.name, *card.aliases):
                    if name in cards:
                        raise UserError(f"{path.name}: the model '{name}' is described twice.")
                    cards[name] = card
    return cards


def read_cards(text: str, file: str) -> list[ModelCard]:
    """The cards of one file: `all` holds the shared fields, `models` one table per model."""
    raw = yaml.safe_load(text)
    cards: list[ModelCard] = []
    for entry in raw["models"]:
        shared = dict(raw.get("all", {}))
        if "price" in entry:  # a model's own price replaces the file's reason for having none
            shared.pop("no_price", None)
        try:
            cards.append(ModelCard.model_validate({**shared, **entry}))
        except ValidationError as error:
            problem = validation_problem(error, ModelCard)
            raise UserError(f"{file}: {entry.get('name')}: {problem.text}.", hint=problem.hint) from error
    return cards


def card_of(name: str) -> ModelCard | None:
    """The card of a model by its name or one of its spellings."""
    return model_cards().get(name)


def card_of_endpoint(kind: str, model: str) -> ModelCard | None:
    """The card whose adapter has this kind and uses this model."""
    for card in model_cards().values():
        if card.adapter and (card.adapter.get("kind"), card.adapter.get("model")) == (kind, model):
            return card
    return None
