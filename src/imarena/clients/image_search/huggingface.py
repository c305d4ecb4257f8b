"""Data sets of the Hugging Face hub, through its dataset viewer's text search (https://datasets-server.huggingface.co).

The licence on a data set's card may differ from that of an image: such results are marked for a person to check.
"""

from typing import Any
from urllib.parse import urlencode

from imarena.clients.image_search.polite import (
    PoliteFetcher,
    WebSource,
    integer_at,
    listed_entries,
    text_at,
    url_at,
)
from imarena.core import FoundImage, ImageQuery, SourceFailure

HUB_URL = "https://huggingface.co"
_LONGEST_PAGE = 100


class HuggingFaceSource(WebSource):
    """Searches one split of a data set with an image column."""

    default_url = "https://datasets-server.huggingface.co"

    def __init__(
        self,
        name: str,
        fetcher: PoliteFetcher,
        base_url: str,
        token: str,
        *,
        dataset_rows: dict[str, str],
        hub_url: str,
    ) -> None:
        """`dataset_rows`: the data set, its config and its split."""
        super().__init__(name, fetcher, base_url, token)
        self._dataset_rows = dataset_rows
        self._hub = hub_url.rstrip("/")
        self._licence: str | None = None

    async def search(self, query: ImageQuery, limit: int) -> list[FoundImage]:
        """The `SearchImages` port. The viewer cannot exclude words, so rows that contain them are dropped here."""
        images: list[FoundImage] = []
        offset = 0
        excluded = [word.casefold() for word in query.exclude]
        while len(images) < limit:
            params = {**self._dataset_rows, "query": query.text, "offset": offset, "length": min(limit, _LONGEST_PAGE)}
            reply = await self._fetcher.json(f"{self._base_url}/search?{urlencode(params)}", self._headers)
            rows = listed_entries(reply, "rows", self._name)
            column, licence = _image_column(reply, self._name), await self._stated_licence()
            page = [self._result(row, column, licence) for row in rows]
            images += [image for image in page if not any(word in image.text.casefold() for word in excluded)]
            offset += len(rows)
            if not rows or offset >= (integer_at(reply, "num_rows_total") or 0):
                break
        return images[:limit]

    async def load(self, found: FoundImage) -> bytes:
        """The `LoadImage` port. Image URLs expire, so the row is requested again."""
        params = {**self._dataset_rows, "offset": found.key, "length": 1}
        reply = await self._fetcher.json(f"{self._base_url}/rows?{urlencode(params)}", self._headers)
        rows = listed_entries(reply, "rows", self._name)
        address = url_at(rows[0], "row", _image_column(reply, self._name), "src") if rows else ""
        if not address:
            raise SourceFailure(f"{self._name} has no image in row {found.key}")
        return await self._fetcher.image(address)

    async def _stated_licence(self) -> str:
        if self._licence is None:
            card = await self._fetcher.json(f"{self._hub}/api/datasets/{self._dataset_rows['dataset']}", self._headers)
            licence = card.get("cardData", {}).get("license") if isinstance(card, dict) else None
            self._licence = str(licence[0] if isinstance(licence, list) and licence else licence or "")
        return self._licence

    def _result(self, row: Any, column: str, licence: str) -> FoundImage:
        values = row.get("row") if isinstance(row.get("row"), dict) else {}
        words = {name: text_at(values, name) for name, value in values.items() if isinstance(value, str)}
        own = next((words[name] for name in ("licence", "license") if words.get(name)), "")
        index = integer_at(row, "row_idx") or 0
        return FoundImage(
            self._name, str(index), f"{self._dataset_rows['dataset']}#{index}", words.get("title", ""),
            " ".join(value for name, value in words.items() if name not in ("title", "license", "licence", "url")),
            own or licence, "", words.get("creator") or words.get("author") or "",
            f"{self._hub}/datasets/{self._dataset_rows['dataset']}", integer_at(values, column, "width"),
            integer_at(values, column, "height"), licence_by_filter=not own,
        )  # fmt: skip


def _image_column(reply: Any, source: str) -> str:
    for feature in listed_entries(reply, "features", source):
        if text_at(feature, "type", "_type") == "Image":
            return text_at(feature, "name")
    raise SourceFailure(f"{source} has no column of images")
