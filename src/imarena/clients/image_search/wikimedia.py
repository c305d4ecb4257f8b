"""Wikimedia Commons, through MediaWiki's API (https://commons.wikimedia.org/w/api.php)."""

from typing import Any
from urllib.parse import urlencode

from imarena.clients.image_search.answers import listed_entries, number, text
from imarena.clients.image_search.polite import PoliteFetcher
from imarena.core import FoundImage, ImageQuery, SourceFailure

BASE_URL = "https://commons.wikimedia.org"
_FILES = 6
_METADATA = "LicenseShortName|LicenseUrl|Artist|ImageDescription|Categories|ObjectName"


class WikimediaSource:
    """Searches the bitmaps of Commons."""

    def __init__(self, name: str, fetcher: PoliteFetcher, base_url: str = BASE_URL) -> None:
        self._name = name
        self._fetcher = fetcher
        self._base_url = base_url.rstrip("/")

    async def search(self, query: ImageQuery, limit: int) -> list[FoundImage]:
        """The `SearchImages` port."""
        asked = {
            "action": "query", "format": "json", "formatversion": 2, "generator": "search", "maxlag": 5,
            "gsrsearch": f"{query} filetype:bitmap", "gsrnamespace": _FILES, "gsrlimit": min(limit, 50),
            "prop": "imageinfo", "iiprop": "url|size|mime|extmetadata", "iiextmetadatafilter": _METADATA,
        }  # fmt: skip
        reply = await self._fetcher.json(f"{self._base_url}/w/api.php?{urlencode(asked)}")
        if not isinstance(reply, dict) or "error" in reply:
            why = text(reply, "error", "info") or "an unknown answer"
            raise SourceFailure(
                f"{self._name}: {why}", retriable=text(reply, "error", "code") in ("maxlag", "ratelimited")
            )
        if "query" not in reply:  # nothing matches
            return []
        pages = sorted(listed_entries(reply["query"], "pages", self._name), key=lambda page: number(page, "index") or 0)
        found = [self._found(page, page["imageinfo"][0]) for page in pages if page.get("imageinfo")]
        return [each for each in found if each.address][:limit]

    async def load(self, found: FoundImage) -> bytes:
        """The `LoadImage` port."""
        return await self._fetcher.image(found.address)

    def _found(self, page: Any, info: Any) -> FoundImage:
        def stated(name: str) -> str:
            return text(info, "extmetadata", name, "value")

        title = stated("ObjectName") or text(page, "title").removeprefix("File:")
        words = f"{stated('ImageDescription')} {stated('Categories').replace('|', ' ')}".strip()
        return FoundImage(
            self._name, text(page, "pageid"), text(info, "url"), title, words, stated("LicenseShortName"),
            stated("LicenseUrl"), stated("Artist"), text(info, "descriptionurl"), number(info, "width"),
            number(info, "height"),
        )  # fmt: skip
