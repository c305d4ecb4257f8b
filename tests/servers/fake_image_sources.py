"""A server that speaks the protocols of the image sources: Openverse, MediaWiki, Google's Custom Search, and the
dataset viewer of Hugging Face; and hostile things that a result may point at.
"""

import asyncio
import gzip
import struct
import threading
import zlib
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from aiohttp import web

_HEADER = b"IHDR" + struct.pack(">IIBBBBB", 100_000, 100_000, 8, 2, 0, 0, 0)
_DATA = b"IDAT" + zlib.compress(bytes(1000))
BOMB = b"\x89PNG\r\n\x1a\n" + b"".join(
    struct.pack(">I", len(chunk) - 4) + chunk + struct.pack(">I", zlib.crc32(chunk))
    for chunk in (_HEADER, _DATA, b"IEND")
)
"""The header of an image of 100,000 x 100,000 pixels."""


@dataclass
class FakeSources:
    """A running server: its address, the requests that it got, and faults to come by path."""

    root: str = ""
    requests: list[web.Request] = field(default_factory=list)
    faults: dict[str, list[web.Response]] = field(default_factory=dict)
    images: dict[str, bytes] = field(default_factory=dict)
    robots: str = ""
    moved_to: str = ""
    licence: str = "by"
    page: int = 50
    """Results that MediaWiki and the dataset viewer give at once."""

    def counts(self) -> Counter[str]:
        """Requests by path."""
        return Counter(request.path for request in self.requests)

    def image_url(self, name: str) -> str:
        """The address of an image."""
        return f"{self.root}/files/{name}"


def google_error(code: int, message: str, reason: str, status: str = "INVALID_ARGUMENT") -> dict[str, Any]:
    """An error as Google's APIs answer with."""
    errors = [{"message": message, "domain": "global", "reason": reason}]
    return {"error": {"code": code, "message": message, "errors": errors, "status": status}}


@contextmanager
def fake_sources(images: dict[str, bytes]) -> Iterator[FakeSources]:
    """Run it in a thread. Images are found by any word of their names."""
    fake = FakeSources(images=images)
    loop = asyncio.new_event_loop()
    runner = web.AppRunner(_app(fake), access_log=None, shutdown_timeout=0.05)
    loop.run_until_complete(runner.setup())
    site = web.TCPSite(runner, "127.0.0.1", 0)
    loop.run_until_complete(site.start())
    port = runner.addresses[0][1]
    fake.root = f"http://127.0.0.1:{port}"
    thread = threading.Thread(target=loop.run_forever)
    thread.start()
    try:
        yield fake
    finally:
        loop.call_soon_threadsafe(loop.stop)
        thread.join()
        loop.run_until_complete(runner.cleanup())
        loop.close()


def _app(fake: FakeSources) -> web.Application:
    @web.middleware
    async def faulty(request: web.Request, handler: Any) -> web.StreamResponse:
        fake.requests.append(request)
        waiting = fake.faults.get(request.path)
        if waiting:
            return waiting.pop(0)
        response: web.StreamResponse = await handler(request)
        return response

    def found(query: str) -> list[str]:
        words = {word for word in query.casefold().split() if not word.startswith("-")}
        excluded = {word[1:] for word in query.casefold().split() if word.startswith("-")}
        return [
            name for name in fake.images
            if words & set(name.rpartition(".")[0].split("-")) and not excluded & set(name.rpartition(".")[0].split("-"))
        ]  # fmt: skip

    async def openverse(request: web.Request) -> web.Response:
        """`GET /v1/images/`: fields, paging and throttling headers as in the API's own examples and code."""
        size, page = int(request.query.get("page_size", 20)), int(request.query.get("page", 1))
        if size > 20 and "Authorization" not in request.headers:
            return web.json_response({"detail": "page_size must be between 1 and 20"}, status=401)
        if len(request.query["q"]) > 200:
            return web.json_response({"error": "InputError", "detail": "q is too long", "fields": ["q"]}, status=400)
        names = found(request.query["q"])
        results = [
            {
                "id": name, "title": name, "indexed_on": "2022-08-27T17:39:48Z", "creator": "Ann",
                "creator_url": "https://example.org/ann", "license": fake.licence,
                "license_version": "1.0" if fake.licence in ("cc0", "pdm") else "4.0",
                "license_url": "https://creativecommons.org/licenses/by/4.0/", "provider": "flickr", "source": "flickr",
                "category": None, "filesize": None, "filetype": None, "url": fake.image_url(name),
                "foreign_landing_url": "https://example.org/1", "width": 400, "height": 300, "mature": False,
                "tags": [{"name": "animal", "accuracy": None, "unstable__provider": "flickr"}],
                "fields_matched": ["title"], "attribution": "by Ann", "unstable__sensitivity": [],
                "thumbnail": f"{fake.root}/v1/images/{name}/thumb/",
            }
            for name in names[(page - 1) * size : page * size]
        ]  # fmt: skip
        answer = {
            "result_count": len(names), "page_count": min(20, -(-len(names) // size)), "page_size": size, "page": page,
            "results": results,
        }  # fmt: skip
        limits = {"X-RateLimit-Limit-anon_burst": "20/min", "X-RateLimit-Available-anon_burst": "19"}
        return web.json_response(answer, headers=limits)

    async def mediawiki(request: web.Request) -> web.Response:
        """`action=query` with `generator=search`, format version 2; `continue` leads to the next page of results."""
        if "(" not in request.headers.get("User-Agent", ""):  # no contact: the user agent policy
            return web.Response(status=403, text="Please set a user-agent and respect our robot policy")
        names = found(request.query["gsrsearch"].removesuffix(" filetype:bitmap"))
        start, size = int(request.query.get("gsroffset", 0)), min(int(request.query["gsrlimit"]), fake.page)
        by = "commons-desc-page"
        pages = [
            {
                "pageid": at + 1, "ns": 6, "title": f"File:{name}", "index": at + 1, "imagerepository": "local",
                "imageinfo": [{
                    "size": 1000, "width": 400, "height": 300, "url": fake.image_url(name), "mime": "image/jpeg",
                    "descriptionurl": f"https://example.org/{name}", "descriptionshorturl": "https://example.org/1",
                    "extmetadata": {
                        "LicenseShortName": {"value": "CC BY-SA 4.0", "source": by, "hidden": ""},
                        "LicenseUrl": {"value": "https://creativecommons.org/licenses/by-sa/4.0", "source": by},
                        "Artist": {"value": "<a href='x'>Bob</a>", "source": by},
                        "ImageDescription": {"value": "<p>A cat &amp; more</p>", "source": by},
                    },
                }],
            }
            for at, name in list(enumerate(names))[start : start + size]
        ]  # fmt: skip
        more = {"continue": {"gsroffset": start + size, "continue": "gsroffset||"}} if start + size < len(names) else {}
        answer = {"batchcomplete": True, **more, "query": {"pages": pages}} if pages else {"batchcomplete": True}
        return web.json_response(answer)

    async def google(request: web.Request) -> web.Response:
        """`customsearch/v1`, `searchType=image`: at most ten results, and `start` + `num` at most 100."""
        number, start = int(request.query["num"]), int(request.query["start"])
        if number > 10 or start + number > 100:
            wrong = google_error(400, "Request contains an invalid argument.", "badRequest")
            return web.json_response(wrong, status=400)
        names = found(request.query["q"])[:: 1 if request.query["rights"] == "cc_publicdomain" else -1]
        items = [
            {"kind": "customsearch#result", "title": name, "htmlTitle": f"<b>{name}</b>", "link": fake.image_url(name),
             "displayLink": "example.org", "snippet": "a photo", "mime": "image/jpeg", "fileFormat": "image/jpeg",
             "image": {"contextLink": "https://example.org/p", "width": 400, "height": 300, "byteSize": 1000,
                       "thumbnailLink": "https://example.org/t", "thumbnailWidth": 100, "thumbnailHeight": 75}}
            for name in names[start - 1 : start - 1 + number]
        ]  # fmt: skip
        total = {"searchInformation": {"totalResults": str(len(names))}}
        more = {"nextPage": [{"startIndex": start + number}]} if start + number <= len(names) else {}
        answer = {"kind": "customsearch#search", "queries": {"request": [{"startIndex": start}], **more}, **total}
        return web.json_response({**answer, "items": items} if items else answer)

    async def rows(request: web.Request) -> web.Response:
        """`/search` and `/rows` of the dataset viewer: at most 100 rows, each with its index in the split."""
        names = found(request.query["query"]) if "query" in request.query else list(fake.images)
        offset, length = int(request.query["offset"]), int(request.query["length"])
        if length > 100:
            return web.json_response({"error": "Parameter 'length' must not be greater than 100"}, status=422)
        listed = [
            {"row_idx": list(fake.images).index(name), "truncated_cells": [],
             "row": {"image": {"src": fake.image_url(name), "width": 400, "height": 300}, "caption": name}}
            for name in names[offset : offset + min(length, fake.page)]
        ]  # fmt: skip
        features = [
            {"feature_idx": 0, "name": "image", "type": {"_type": "Image"}},
            {"feature_idx": 1, "name": "caption", "type": {"dtype": "string", "_type": "Value"}},
        ]
        answer = {"features": features, "rows": listed, "num_rows_total": len(names), "num_rows_per_page": 100}
        return web.json_response({**answer, "partial": False})

    async def card(_request: web.Request) -> web.Response:
        return web.json_response({"id": "a/b", "cardData": {"license": "cc-by-4.0"}})

    async def file(request: web.Request) -> web.StreamResponse:
        name = request.match_info["name"]
        if name.startswith("private"):
            raise web.HTTPFound("http://10.0.0.1/secret.png")
        if name.startswith("metadata"):
            raise web.HTTPFound("http://169.254.169.254/latest/meta-data/")
        if name.startswith("deflated"):  # compressed although nobody asked for it: 66 MiB of zeros in 300 KiB
            body = gzip.compress(bytes(66 << 20), 1)
            return web.Response(body=body, headers={"Content-Encoding": "gzip"}, content_type="image/png")
        if name.startswith("loop"):
            raise web.HTTPFound(f"/files/{name}")
        if name.startswith("moved"):
            raise web.HTTPFound(f"{fake.moved_to}/files/{name}")
        if name.startswith("script"):
            raise web.HTTPFound("file:///etc/passwd")
        if name.startswith("page"):
            return web.Response(text="<html>not found</html>", content_type="image/jpeg")
        if name.startswith("bomb"):
            return web.Response(body=BOMB, content_type="image/png")
        if name.startswith("endless"):
            response = web.StreamResponse()
            await response.prepare(request)
            for _ in range(100_000):
                await response.write(b"\x89PNG\r\n\x1a\n" * 8192)
            return response
        return web.Response(body=fake.images[name], content_type="image/jpeg")

    async def robots(_request: web.Request) -> web.Response:
        return web.Response(text=fake.robots) if fake.robots else web.Response(status=404)

    app = web.Application(middlewares=[faulty])
    app.router.add_get("/v1/images/", openverse)
    app.router.add_get("/w/api.php", mediawiki)
    app.router.add_get("/customsearch/v1", google)
    app.router.add_get("/search", rows)
    app.router.add_get("/rows", rows)
    app.router.add_get("/api/datasets/{owner}/{name}", card)
    app.router.add_get("/files/{name}", file)
    app.router.add_get("/robots.txt", robots)
    return app
