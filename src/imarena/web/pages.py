"""The front end's files: read once at the start, so that no path of a request ever reaches the disk."""

import mimetypes
from collections.abc import Callable
from pathlib import Path

from fastapi import FastAPI, Request
from fastapi.responses import Response

from imarena.web.problems import answer

STATIC = Path(__file__).parent / "static"
_TYPES = {".js": "text/javascript", ".css": "text/css", ".html": "text/html; charset=utf-8", ".svg": "image/svg+xml"}
_NOT_BUILT = b"""<!doctype html><html lang="en"><meta charset="utf-8"><title>imarena</title>
<h1>imarena</h1><p>The pages are not built. In a clone, run <code>make web</code>; the API is at /api/openapi.json.</p>
"""


def read_pages(folder: Path = STATIC) -> dict[str, tuple[bytes, str]]:
    """The built files by the path under which they are asked for."""
    found: dict[str, tuple[bytes, str]] = {}
    for path in sorted(folder.rglob("*")) if folder.is_dir() else []:
        if path.is_file():
            kind = _TYPES.get(path.suffix) or mimetypes.guess_type(path.name)[0] or "application/octet-stream"
            found["/" + path.relative_to(folder).as_posix()] = (path.read_bytes(), kind)
    return found


def serve_pages(app: FastAPI, pages: dict[str, tuple[bytes, str]]) -> None:
    """Answer every path outside the API with a file of the front end, or with its one page."""
    index = pages.get("/index.html", (_NOT_BUILT, "text/html; charset=utf-8"))
    page = _page(pages, index)
    app.add_api_route("/{path:path}", page, methods=["GET", "HEAD"], include_in_schema=False)


def _page(pages: dict[str, tuple[bytes, str]], index: tuple[bytes, str]) -> Callable[[Request], Response]:
    def page(request: Request) -> Response:
        path = request.url.path
        if path == "/api" or path.startswith("/api/"):
            return answer(404, "not_found", "There is nothing here.")
        data, kind = pages.get(path, index)
        lasting = path.startswith("/assets/") and path in pages
        cache = "public, max-age=31536000, immutable" if lasting else "no-cache"
        return Response(data, media_type=kind, headers={"cache-control": cache})

    return page
