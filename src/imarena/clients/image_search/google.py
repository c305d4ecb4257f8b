"""Google Programmable Search (Custom Search JSON API), images only, restricted by Google's rights filter.

The API does not state the licence of a single image. Each right is queried separately, so that every result is known
to have passed one filter, and results are marked: a person has to check the page.
"""

from itertools import chain, zip_longest
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
from imarena.core import FoundImage, ImageQuery

RIGHTS = ("cc_publicdomain", "cc_attribute")
"""The filters that CV-Arena names (appendix D)."""
_LICENCES = {"cc_publicdomain": "public domain", "cc_attribute": "CC-BY (version not stated)"}
_PAGE = 10
"""Maximum number of results per request."""
_LAST = 100
"""Maximum of `start` plus `num`."""


class GoogleSource(WebSource):
    """Searches images with an engine (`engine`, Google's cx) and a key."""

    default_url = "https://customsearch.googleapis.com"

    def __init__(
        self, name: str, fetcher: PoliteFetcher, base_url: str, *, key: str, engine: str, rights: tuple[str, ...]
    ) -> None:
        super().__init__(name, fetcher, base_url)
        self._key = key
        self._engine = engine
        self._rights = rights

    async def search(self, query: ImageQuery, limit: int) -> list[FoundImage]:
        """The `SearchImages` port: takes results of each right in turn."""
        share = -(-limit // len(self._rights))
        by_right = [await self._with_right(query, right, share) for right in self._rights]
        mixed = [image for image in chain.from_iterable(zip_longest(*by_right)) if image is not None]
        return list({image.key: image for image in mixed}.values())[:limit]

    async def _with_right(self, query: ImageQuery, right: str, limit: int) -> list[FoundImage]:
        images: list[FoundImage] = []
        while len(images) < limit:
            start = len(images) + 1
            size = min(_PAGE, limit - len(images), _LAST - start)
            if size < 1:
                break
            params = {
                "key": self._key, "cx": self._engine, "q": query.text, "searchType": "image", "rights": right,
                "num": size, "start": start, "safe": "active", "imgType": "photo",
                **({"excludeTerms": " ".join(query.exclude)} if query.exclude else {}),
            }  # fmt: skip
            reply = await self._fetcher.json(f"{self._base_url}/customsearch/v1?{urlencode(params)}")
            if not isinstance(reply, dict) or "items" not in reply:  # no more results
                break
            results = listed_entries(reply, "items", self._name)
            images += [self._result(entry, right) for entry in results if url_at(entry, "link")]
            if len(results) < size:
                break
        return images

    def _result(self, entry: Any, right: str) -> FoundImage:
        link = url_at(entry, "link")
        return FoundImage(
            self._name, link, link, text_at(entry, "title"), text_at(entry, "snippet"), _LICENCES.get(right, right), "",
            text_at(entry, "displayLink"), url_at(entry, "image", "contextLink"), integer_at(entry, "image", "width"),
            integer_at(entry, "image", "height"), licence_by_filter=True,
        )  # fmt: skip
