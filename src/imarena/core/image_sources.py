"""Ports of image sources: where benchmark images are searched for, and how one that was found is loaded."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass, fields
from typing import Protocol, Self

from imarena.core.errors import UserError
from imarena.core.records import JsonDict


@dataclass(frozen=True)
class ImageQuery:
    """What to search for: words, words that a result must not have, and what the query is about."""

    text: str
    exclude: tuple[str, ...] = ()
    aspect: str = ""
    """Which side of the instruction it covers: subject, scene, style, lighting, viewpoint or keywords."""

    def __str__(self) -> str:
        return " ".join((self.text, *(f"-{word}" for word in self.exclude)))


@dataclass(frozen=True)
class FoundImage:
    """One search result: where the image is and what its source states about it."""

    source: str
    key: str
    """Its name in the source, unique there."""
    address: str
    """What `LoadImage` reads: a URL, a file or a row."""
    title: str = ""
    text: str = ""
    """Description and tags."""
    licence: str = ""
    """As the source states it; empty where it states none."""
    licence_url: str = ""
    creator: str = ""
    page: str = ""
    """The page that shows the image with its licence."""
    width: int | None = None
    height: int | None = None
    licence_by_filter: bool = False
    """The licence follows from a search filter or a data set's card only: a person has to look at the page."""
    shows: str = ""
    """What the user states that an image of their own library shows: it counts as seen."""
    found_by: str = ""
    """Which search of a source with several found it."""

    def to_json(self) -> JsonDict:
        """Without empty fields."""
        return {name: value for name, value in asdict(self).items() if value not in (None, "", False)}

    @classmethod
    def from_json(cls, value: JsonDict) -> Self:
        """What `to_json` gave."""
        known = {field.name for field in fields(cls)}
        return cls(**{name: entry for name, entry in value.items() if name in known})  # type: ignore[arg-type]


class SourceFailure(UserError):
    """A source gave no answer. `retriable`: the same request may succeed later (down, quota, time limit)."""

    def __init__(self, message: str, *, hint: str = "", retriable: bool = False) -> None:
        super().__init__(message, hint=hint)
        self.retriable = retriable


class SearchImages(Protocol):
    """Searches one source. Raises `SourceFailure`."""

    async def __call__(self, query: ImageQuery, limit: int) -> Sequence[FoundImage]:
        """At most `limit` results, the best first; none where nothing matches."""
        ...


class LoadImage(Protocol):
    """Loads the original bytes of a result. Raises `SourceFailure`; the bytes are not checked."""

    async def __call__(self, found: FoundImage) -> bytes: ...


@dataclass(frozen=True)
class ImageSource:
    """A source: its name, how it is searched, how its images are loaded, and what its answers depend on."""

    name: str
    search: SearchImages
    load: LoadImage
    identity: str
    """Changes when the source would give other answers: its kind, address or the hash of its files."""
