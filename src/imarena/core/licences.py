"""Licences that permit redistribution of images. The list is a data file; licences not in it count as unknown."""

import re
from functools import cache

from imarena.core.errors import UserError
from imarena.core.package_data import package_yaml
from imarena.core.records.base import FrozenModel
from imarena.core.suggest import suggestion


class RedistributionLicence(FrozenModel):
    """A licence that permits redistribution."""

    id: str
    """Its SPDX id."""
    hub: str
    """Its id in a Hugging Face data card."""
    derivatives: bool = True
    """Whether it also permits redistribution of outputs made from the image."""
    names: tuple[str, ...] = ()
    """Other spellings."""


@cache
def redistribution_licences() -> dict[str, RedistributionLicence]:
    """Return all of them, by every spelling."""
    by_name: dict[str, RedistributionLicence] = {}
    for entry in package_yaml("imarena.core", "licences.yaml")["licences"]:
        licence = RedistributionLicence.model_validate(entry)
        for name in (licence.id, *licence.names):
            if by_name.setdefault(_spelling(name), licence) is not licence:
                raise ValueError(f"licences.yaml: {name} stands there twice")
    return by_name


def find_licence(text: str | None) -> RedistributionLicence | None:
    """Return the licence that a text names; None if it is unknown or does not permit redistribution."""
    return redistribution_licences().get(_spelling(text)) if text else None


def require_licence(text: str) -> RedistributionLicence:
    """Return the licence that a user states; raise if it is unknown."""
    licence = find_licence(text)
    if licence is None:
        ids = sorted({entry.id for entry in redistribution_licences().values()})
        raise UserError(
            f"'{text}' is not a licence that is known to permit redistribution.", hint=suggestion(text, ids)
        )
    return licence


def _spelling(text: str) -> str:
    """Normalize case, blanks and the parts of an address that do not matter."""
    plain = re.sub(r"^https?://(www\.)?", "", text.strip().casefold())
    return re.sub(r"[\s_]+", "-", plain).removesuffix("legalcode").rstrip("/").removesuffix("/deed.en")
