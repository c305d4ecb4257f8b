"""The front end's files: read once at the start, so that no path of a request ever reaches the disk."""

import html
import json
import mimetypes
from collections.abc import Awaitable, Callable
from pathlib import Path

from fastapi import FastAPI, Request
from fastapi.responses import Response
from starlette.types import ASGIApp, Receive, Scope, Send

from imarena.web.problems import problem_response

STATIC = Path(__file__).parent / "static"
_TYPES = {".js": "text/javascript", ".css": "text/css", ".html": "text/html; charset=utf-8", ".svg": "image/svg+xml"}
_NOT_BUILT = b"""<!doctype html><html lang="en"><meta charset="utf-8"><title>imarena</title>
<h1>imarena</h1><p>The pages are not built. In a clone, run <code>make web</code>; the API is at /api/openapi.json.</p>
"""


def read_pages(folder: Path = STATIC) -> dict[str, tuple[bytes, str]]:
    """The built files by the path under which they are asked for."""
    pages: dict[str, tuple[bytes, str]] = {}
    for path in sorted(folder.rglob("*")) if folder.is_dir() else []:
        if path.is_file():
            kind = _TYPES.get(path.suffix) or mimetypes.guess_type(path.name)[0] or "application/octet-stream"
            pages["/" + path.relative_to(folder).as_posix()] = (path.read_bytes(), kind)
    return pages


def serve_pages(
    app: FastAPI, pages: dict[str, tuple[bytes, str]], root: str = "", languages: dict[str, str] | None = None
) -> None:
    """Answer every path outside the API with a file of the front end, or with its one page.

    `languages` has the names of the languages of the rater's pages by their codes.
    """
    data, kind = pages.get("/index.html", (_NOT_BUILT, "text/html; charset=utf-8"))
    page = _page(pages, (_placed(data, root, languages or {}), kind))
    app.add_api_route("/{path:path}", page, methods=["GET", "HEAD"], include_in_schema=False)


def _placed(index: bytes, root: str, languages: dict[str, str]) -> bytes:
    """The page with the addresses of its files from the root on: it is the same page at every depth of paths.

    No template: the page comes from the bundler, which would take a template's marks for text.
    """
    names = json.dumps(languages, ensure_ascii=False)
    head = f'<head>\n    <meta name="imarena-root" content="{html.escape(root)}" />'
    head += f'\n    <meta name="imarena-languages" content="{html.escape(names)}" />'
    return index.replace(b"<head>", head.encode(), 1).replace(b'="./', f'="{html.escape(root)}/'.encode())


class PathPrefix:
    """Takes the path below which the arena stands off every request; a proxy may have done so already."""

    def __init__(self, app: ASGIApp, root: str) -> None:
        self.app = app
        self.root = root

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the request on as if the arena had the host for itself."""
        path = scope.get("path", "")
        if self.root and (path == self.root or path.startswith(f"{self.root}/")):
            scope = {**scope, "path": path[len(self.root) :] or "/"}
            scope.pop("raw_path", None)
        await self.app(scope, receive, send)


def _page(pages: dict[str, tuple[bytes, str]], index: tuple[bytes, str]) -> Callable[[Request], Awaitable[Response]]:
    async def page(request: Request) -> Response:  # it waits for nothing: threads that hang do not hold it up
        path = request.url.path
        if path == "/api" or path.startswith("/api/"):
            return problem_response(404, "not_found", "There is nothing here.")
        # A page in the place of a missing file would be taken for a script.
        if path.startswith(("/assets/", "/languages/")) and path not in pages:
            return problem_response(404, "not_found", "There is no such file.")
        data, kind = pages.get(path, index)
        lasting = path.startswith("/assets/") and path in pages
        cache = "public, max-age=31536000, immutable" if lasting else "no-cache"
        return Response(data, media_type=kind, headers={"cache-control": cache})

    return page
