"""The front end's files: read once at startup, so that request paths never reach the disk."""

import json
import mimetypes
from collections.abc import Awaitable, Callable
from pathlib import Path

from fastapi import FastAPI, Request
from fastapi.responses import Response
from markupsafe import Markup, escape
from starlette.types import ASGIApp, Receive, Scope, Send

from imarena.web.problems import problem_response

_HEAD = Markup("""<head>
    <meta name="imarena-root" content="{}" />
    <meta name="imarena-languages" content="{}" />""")
STATIC = Path(__file__).parent / "static"
_TYPES = {".js": "text/javascript", ".css": "text/css", ".html": "text/html; charset=utf-8", ".svg": "image/svg+xml"}
_NOT_BUILT = b"""<!doctype html><html lang="en"><meta charset="utf-8"><title>imarena</title>
<h1>imarena</h1><p>The pages are not built. In a clone, run <code>make web</code>; the API is at /api/openapi.json.</p>
"""


def read_pages(folder: Path = STATIC) -> dict[str, tuple[bytes, str]]:
    """The built files by request path."""
    pages: dict[str, tuple[bytes, str]] = {}
    for path in sorted(folder.rglob("*")) if folder.is_dir() else []:
        if path.is_file():
            kind = _TYPES.get(path.suffix) or mimetypes.guess_type(path.name)[0] or "application/octet-stream"
            pages["/" + path.relative_to(folder).as_posix()] = (path.read_bytes(), kind)
    return pages


def serve_pages(
    app: FastAPI, pages: dict[str, tuple[bytes, str]], root: str = "", languages: dict[str, str] | None = None
) -> None:
    """Answer every path outside the API with a file of the front end, or with its single page.

    `languages` maps codes of the rater pages' languages to their names.
    """
    data, kind = pages.get("/index.html", (_NOT_BUILT, "text/html; charset=utf-8"))
    page = _page(pages, (_absolute(data, root, languages or {}), kind))
    app.add_api_route("/{path:path}", page, methods=["GET", "HEAD"], include_in_schema=False)


def _absolute(index: bytes, root: str, languages: dict[str, str]) -> bytes:
    """The page with its file URLs made absolute, because the same page is served at paths of any depth.

    Not a template: the bundler's output could contain text that a template engine interprets.
    """
    head = _HEAD.format(root, json.dumps(languages, ensure_ascii=False))
    return index.replace(b"<head>", head.encode(), 1).replace(b'="./', f'="{escape(root)}/'.encode())


class PathPrefix:
    """Removes the path prefix of the arena from every request; a proxy may have done so already."""

    def __init__(self, app: ASGIApp, root: str) -> None:
        self.app = app
        self.root = root

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass on the request as if the arena were at the root of the host."""
        path = scope.get("path", "")
        if self.root and (path == self.root or path.startswith(f"{self.root}/")):
            scope = {**scope, "path": path[len(self.root) :] or "/"}
            scope.pop("raw_path", None)
        await self.app(scope, receive, send)


def _page(pages: dict[str, tuple[bytes, str]], index: tuple[bytes, str]) -> Callable[[Request], Awaitable[Response]]:
    async def page(request: Request) -> Response:  # never blocks, so hanging threads do not delay it
        path = request.url.path
        if path == "/api" or path.startswith("/api/"):
            return problem_response(404, "not_found", "There is nothing here.")
        # The page must not replace a missing file: the browser would treat it as a script.
        if path.startswith(("/assets/", "/languages/")) and path not in pages:
            return problem_response(404, "not_found", "There is no such file.")
        data, kind = pages.get(path, index)
        lasting = path.startswith("/assets/") and path in pages
        cache = "public, max-age=31536000, immutable" if lasting else "no-cache"
        return Response(data, media_type=kind, headers={"cache-control": cache})

    return page
