"""Openverse (https://api.openverse.org): openly licensed images of many collections."""

from typing import Any
from urllib.parse import urlencode

from imarena.clients.image_search.polite import WebSource, integer_at, listed_entries, text_at, url_at
from imarena.core import FoundImage, ImageQuery

LICENCES = "cc0,pdm,by,by-sa"
"""Licences that permit edited copies, including commercial ones."""
_PAGE = 20
"""Maximum number of results without a key."""
_LONGEST_QUERY = 200
"""Openverse refuses longer queries."""
_NAMES = {"cc0": "CC0-1.0", "pdm": "PDM-1.0"}


class OpenverseSource(WebSource):
    """Searches the images of Openverse."""

    default_url = "https://api.openverse.org"

    async def search(self, query: ImageQuery, limit: int) -> list[FoundImage]:
        """The `SearchImages` port."""
        images: list[FoundImage] = []
        page = 1
        while len(images) < limit:
            params = {
                "q": str(query)[:_LONGEST_QUERY],
                "license": LICENCES,
                "page_size": min(_PAGE, limit),
                "page": page,
            }
            reply = await self._fetcher.json(f"{self._base_url}/v1/images/?{urlencode(params)}", self._headers)
            results = listed_entries(reply, "results", self._name)
            images += [self._result(entry) for entry in results if url_at(entry, "url")]
            pages = reply.get("page_count")
            page += 1
            if not results or not isinstance(pages, int) or page > pages:
                break
        return images[:limit]

    def _result(self, entry: Any) -> FoundImage:
        code, version = text_at(entry, "license").lower(), text_at(entry, "license_version")
        licence = _NAMES.get(code) or (f"CC-{code.upper()}-{version}" if code and version else code)
        tags = " ".join(text_at(tag, "name") for tag in entry.get("tags") or () if isinstance(tag, dict))
        return FoundImage(
            self._name, text_at(entry, "id"), url_at(entry, "url"), text_at(entry, "title"), tags, licence,
            url_at(entry, "license_url"), text_at(entry, "creator"), url_at(entry, "foreign_landing_url"),
            integer_at(entry, "width"), integer_at(entry, "height"),
        )  # fmt: skip
