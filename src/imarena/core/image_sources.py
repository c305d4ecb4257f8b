"""Ports of image sources: where benchmark images are searched for, and how results are loaded."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass, fields
from typing import Protocol, Self

from imarena.core.errors import UserError
from imarena.core.records import JsonDict


@dataclass(frozen=True)
class ImageQuery:
    """A search: words to find, words that a result must not have, and the aspect that it covers."""

    text: str
    exclude: tuple[str, ...] = ()
    aspect: str = ""
    """The part of the instruction that it covers: subject, scene, style, lighting, viewpoint or keywords."""

    def __str__(self) -> str:
        return " ".join((self.text, *(f"-{word}" for word in self.exclude)))


@dataclass(frozen=True)
class FoundImage:
    """One search result: where the image is, and what its source says about it."""

    source: str
    key: str
    """Its name in the source, which must be unique there."""
    address: str
    """The address that `LoadImage` reads: a URL, a file or a row."""
    title: str = ""
    text: str = ""
    """Description and tags."""
    licence: str = ""
    """The licence that the source states; empty if it states none."""
    licence_url: str = ""
    creator: str = ""
    page: str = ""
    """The page that shows the image with its licence."""
    width: int | None = None
    height: int | None = None
    licence_by_filter: bool = False
    """The licence is only known from a search filter or a data set's card: a person has to look at the page."""
    shows: str = ""
    """The user's own description of an image in their library; treated as if seen in the image."""
    found_by: str = ""
    """The name of the search that found it, if the source has several."""

    def to_json(self) -> JsonDict:
        """Return the fields that are not empty."""
        return {name: value for name, value in asdict(self).items() if value not in (None, "", False)}

    @classmethod
    def from_json(cls, value: JsonDict) -> Self:
        """Restore a result from `to_json`."""
        names = {field.name for field in fields(cls)}
        return cls(**{name: entry for name, entry in value.items() if name in names})  # type: ignore[arg-type]


class SourceFailure(UserError):
    """A source did not answer. `retriable`: the same request may succeed later (down, quota, time limit)."""

    def __init__(self, message: str, *, hint: str = "", retriable: bool = False) -> None:
        super().__init__(message, hint=hint)
        self.retriable = retriable


class SearchImages(Protocol):
    """Searches one source. Raises `SourceFailure`."""

    async def __call__(self, query: ImageQuery, limit: int) -> Sequence[FoundImage]:
        """Return at most `limit` results, best first; none if nothing matches."""
        ...


class LoadImage(Protocol):
    """Loads the original, unchecked bytes of a result. Raises `SourceFailure`."""

    async def __call__(self, found: FoundImage) -> bytes: ...


@dataclass(frozen=True)
class ImageSource:
    """A source: its name, how to search it, how to load its images, and an identity for its answers."""

    name: str
    search: SearchImages
    load: LoadImage
    identity: str
    """Changes when the source may give other answers: its kind, address or the hash of its files."""
