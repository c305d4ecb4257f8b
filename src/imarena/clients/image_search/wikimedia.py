"""Wikimedia Commons, through MediaWiki's API (https://commons.wikimedia.org/w/api.php)."""

from typing import Any
from urllib.parse import urlencode

from imarena.clients.image_search.polite import WebSource, integer_at, listed_entries, text_at, url_at
from imarena.core import FoundImage, ImageQuery, SourceFailure

_FILES = 6
_MOST_REQUESTS = 8
"""Maximum number of answers per search, including continuations with properties that did not fit."""
_BUSY = ("maxlag", "ratelimited", "readonly")
_METADATA = "LicenseShortName|LicenseUrl|Artist|ImageDescription|Categories|ObjectName"


class WikimediaSource(WebSource):
    """Searches the bitmaps of Commons."""

    default_url = "https://commons.wikimedia.org"

    async def search(self, query: ImageQuery, limit: int) -> list[FoundImage]:
        """The `SearchImages` port."""
        params = {
            "action": "query", "format": "json", "formatversion": 2, "generator": "search", "maxlag": 5,
            "gsrsearch": f"{query} filetype:bitmap", "gsrnamespace": _FILES, "gsrlimit": min(limit, 50),
            "prop": "imageinfo", "iiprop": "url|size|mime|extmetadata", "iiextmetadatafilter": _METADATA,
        }  # fmt: skip
        pages: dict[str, Any] = {}
        more: dict[str, str] = {}
        for _ in range(_MOST_REQUESTS):
            reply = await self._fetcher.json(
                f"{self._base_url}/w/api.php?{urlencode({**params, **more})}", busy=_why_busy
            )
            if not isinstance(reply, dict) or "error" in reply:
                raise SourceFailure(f"{self._name}: {text_at(reply, 'error', 'info') or 'an unknown answer'}")
            entries = listed_entries(reply["query"], "pages", self._name) if "query" in reply else []
            for page in entries:  # a page may come again with the properties that did not fit before
                pages[text_at(page, "pageid")] = {**pages.get(text_at(page, "pageid"), {}), **page}
            more = {name: str(value) for name, value in (reply.get("continue") or {}).items()}
            complete = sum(bool(page.get("imageinfo")) for page in pages.values())
            if not more or complete >= limit:
                break
        ranked = sorted(pages.values(), key=lambda page: integer_at(page, "index") or 0)
        images = [self._result(page, page["imageinfo"][0]) for page in ranked if page.get("imageinfo")]
        return [image for image in images if image.address][:limit]

    def _result(self, page: Any, info: Any) -> FoundImage:
        def field_text(name: str) -> str:
            return text_at(info, "extmetadata", name, "value")

        title = field_text("ObjectName") or text_at(page, "title").removeprefix("File:")
        words = f"{field_text('ImageDescription')} {field_text('Categories').replace('|', ' ')}".strip()
        return FoundImage(
            self._name, text_at(page, "pageid"), url_at(info, "url"), title, words, field_text("LicenseShortName"),
            field_text("LicenseUrl"), field_text("Artist"), url_at(info, "descriptionurl"), integer_at(info, "width"),
            integer_at(info, "height"),
        )  # fmt: skip


def _why_busy(reply: Any) -> str:
    """MediaWiki answers with HTTP 200 and an error if its databases lag (`maxlag`)."""
    return text_at(reply, "error", "info") if text_at(reply, "error", "code") in _BUSY else ""
