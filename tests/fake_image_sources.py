"""A server that speaks the protocols of the image sources: Openverse, MediaWiki, Google's Custom Search, and the
dataset viewer of Hugging Face; and hostile things that a result may point at.
"""

import asyncio
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
    licence: str = "by"

    def counts(self) -> Counter[str]:
        """Requests by path."""
        return Counter(request.path for request in self.requests)

    def image_url(self, name: str) -> str:
        """The address of an image."""
        return f"{self.root}/files/{name}"


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
        results = [
            {
                "id": name, "title": name, "creator": "Ann", "license": fake.licence, "license_version": "4.0",
                "license_url": "https://creativecommons.org/licenses/by/4.0/", "url": fake.image_url(name),
                "foreign_landing_url": "https://example.org/1", "width": 400, "height": 300, "tags": [{"name": "animal"}],
            }
            for name in found(request.query["q"])
        ]  # fmt: skip
        return web.json_response({"result_count": len(results), "page_count": 1, "results": results})

    async def mediawiki(request: web.Request) -> web.Response:
        pages = [
            {
                "pageid": at + 1, "title": f"File:{name}", "index": at + 1,
                "imageinfo": [{
                    "url": fake.image_url(name), "descriptionurl": f"https://example.org/{name}", "width": 400,
                    "height": 300, "extmetadata": {
                        "LicenseShortName": {"value": "CC BY-SA 4.0"}, "Artist": {"value": "<a href='x'>Bob</a>"},
                        "ImageDescription": {"value": "<p>A cat &amp; more</p>"},
                    },
                }],
            }
            for at, name in enumerate(found(request.query["gsrsearch"]))
        ]  # fmt: skip
        return web.json_response({"query": {"pages": pages}} if pages else {"batchcomplete": True})

    async def google(request: web.Request) -> web.Response:
        names = found(request.query["q"])[:: 1 if request.query["rights"] == "cc_publicdomain" else -1]
        items = [
            {"title": name, "link": fake.image_url(name), "displayLink": "example.org", "snippet": "a photo",
             "image": {"contextLink": "https://example.org/p", "width": 400, "height": 300}}
            for name in names[: int(request.query["num"])]
        ]  # fmt: skip
        return web.json_response({"items": items} if items else {"searchInformation": {"totalResults": "0"}})

    async def rows(request: web.Request) -> web.Response:
        names = (
            found(request.query["query"])
            if "query" in request.query
            else [list(fake.images)[int(request.query["offset"])]]
        )
        listed = [
            {"row_idx": list(fake.images).index(name),
             "row": {"image": {"src": fake.image_url(name), "width": 400, "height": 300}, "caption": name}}
            for name in names
        ]  # fmt: skip
        features = [{"name": "image", "type": {"_type": "Image"}}, {"name": "caption", "type": {"_type": "Value"}}]
        return web.json_response({"features": features, "rows": listed, "num_rows_total": len(listed)})

    async def card(_request: web.Request) -> web.Response:
        return web.json_response({"id": "a/b", "cardData": {"license": "cc-by-4.0"}})

    async def file(request: web.Request) -> web.StreamResponse:
        name = request.match_info["name"]
        if name.startswith("private"):
            raise web.HTTPFound("http://10.0.0.1/secret.png")
        if name.startswith("metadata"):
            raise web.HTTPFound("http://169.254.169.254/latest/meta-data/")
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
