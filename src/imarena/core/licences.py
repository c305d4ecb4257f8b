"""Which licences let a picture be given on to anybody. The list is a data file; what is not in it counts as unknown."""

import re
from functools import cache

from imarena.core.errors import UserError
from imarena.core.package_data import package_yaml
from imarena.core.records.base import Noun
from imarena.core.suggest import suggestion


class RedistributionLicence(Noun):
    """A licence that permits redistribution."""

    id: str
    """As in the SPDX list."""
    hub: str
    """Its id in a data card of the Hugging Face hub."""
    derivatives: bool = True
    """May outputs made from the picture be given on too?"""
    names: tuple[str, ...] = ()
    """Other spellings."""


@cache
def redistribution_licences() -> dict[str, RedistributionLicence]:
    """All of them, by each spelling."""
    by_name: dict[str, RedistributionLicence] = {}
    for entry in package_yaml("imarena.core", "licences.yaml")["licences"]:
        licence = RedistributionLicence.model_validate(entry)
        for name in (licence.id, *licence.names):
            if by_name.setdefault(_spelling(name), licence) is not licence:
                raise ValueError(f"licences.yaml: {name} stands there twice")
    return by_name


def find_licence(text: str | None) -> RedistributionLicence | None:
    """The licence that a text names; None where it is unknown or does not permit redistribution."""
    return redistribution_licences().get(_spelling(text)) if text else None


def require_licence(text: str) -> RedistributionLicence:
    """The licence that a user states; an unknown one raises."""
    licence = find_licence(text)
    if licence is None:
        known = sorted({entry.id for entry in redistribution_licences().values()})
        raise UserError(
            f"'{text}' is not a licence that is known to permit redistribution.", hint=suggestion(text, known)
        )
    return licence


def _spelling(text: str) -> str:
    """Case, blanks and the frame of an address do not matter."""
    plain = re.sub(r"^https?://(www\.)?", "", text.strip().casefold())
    return re.sub(r"[\s_]+", "-", plain).removesuffix("legalcode").rstrip("/").removesuffix("/deed.en")
