"""Provider prices per image, megapixel or token, with their date and source."""

import math
from collections.abc import Mapping
from datetime import date
from typing import Literal, Self

from pydantic import Field, JsonValue, model_validator

from imarena.core import FrozenModel

PRICE_FIELDS = frozenset({"usd_per_image", "input_usd_per_million", "output_usd_per_million"})
"""Options that state a price: if a user sets one of them, the card's price is not used."""


class Variant(FrozenModel):
    """A different price if an option has this value."""

    option: str
    value: str
    usd_per_image: float = Field(ge=0)


class PicturePrice(FrozenModel):
    """A published price. For providers that bill by token, it also states the cost of an image."""

    unit: Literal["image", "megapixel", "token"]
    usd_per_image: float | None = Field(default=None, ge=0)
    """Maximum price of one image with default options; reserved before a request."""
    usd_first_megapixel: float | None = Field(default=None, ge=0)
    usd_per_megapixel: float | None = Field(default=None, ge=0)
    """Price of each megapixel after the first, or of every one if the first has no separate price."""
    input_usd_per_million: float | None = Field(default=None, ge=0)
    output_usd_per_million: float | None = Field(default=None, ge=0)
    variants: tuple[Variant, ...] = ()
    as_of: date
    source: str = Field(min_length=1)
    note: str = ""

    @model_validator(mode="after")
    def _fits_its_unit(self) -> Self:
        required = {
            "image": ("usd_per_image",),
            "megapixel": ("usd_per_megapixel",),
            "token": ("usd_per_image", "input_usd_per_million", "output_usd_per_million"),
        }[self.unit]
        missing = [name for name in required if getattr(self, name) is None]
        if missing:
            raise ValueError(f"a price by the {self.unit} needs {', '.join(missing)}")
        return self

    def per_image(self, options: Mapping[str, JsonValue], size: tuple[int, int] | None) -> float:
        """USD for one image of `size` (width, height; one megapixel if unknown) with these options."""
        for variant in self.variants:
            if str(options.get(variant.option, "")).lower() == variant.value.lower():
                return variant.usd_per_image
        if self.usd_per_image is not None:
            return self.usd_per_image
        further = self.usd_per_megapixel or 0.0
        first = further if self.usd_first_megapixel is None else self.usd_first_megapixel
        # Providers round up; 1024 x 1024 counts as one.
        megapixels = 1 if size is None else max(1, math.ceil(size[0] * size[1] / 1024**2))
        return first + further * (megapixels - 1)

    def options(self, options: Mapping[str, JsonValue], size: tuple[int, int] | None) -> dict[str, JsonValue]:
        """The editor options that state this price."""
        price_options: dict[str, JsonValue] = {
            "usd_per_image": self.per_image(options, size),
            "price_as_of": self.as_of.isoformat(),
            "price_from": self.source,
        }
        if self.unit == "token":
            price_options["input_usd_per_million"] = self.input_usd_per_million
            price_options["output_usd_per_million"] = self.output_usd_per_million
        return price_options


def price_age(as_of: date, today: date) -> str:
    """The age of a price, in words."""
    days = max(0, (today - as_of).days)
    if days < 60:
        return f"{days} day{'' if days == 1 else 's'} old"
    months = round(days / 30.44)
    return f"{months} months old" if months < 24 else f"{days / 365.25:.1f} years old"
