"""The application: routes, error handlers, and the front end's files."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from anyio import to_thread
from fastapi import FastAPI

from imarena.core import VERSION
from imarena.web import problems
from imarena.web.arena import ServedWorkspace
from imarena.web.gate import Gate
from imarena.web.language_files import language_pages, read_languages
from imarena.web.routes import explore, exports, lead, look, monitor, people, pictures, rating, session, tokens
from imarena.web.static_files import PathPrefix, read_pages, serve_pages
from imarena.web.wire import Problem
from imarena.workflows.serving import ServeSettings, settings_from_environment, warm_up

_REFUSALS: dict[int | str, dict[str, Any]] = {
    400: {"model": Problem, "description": "The request cannot be done."},
    401: {"model": Problem, "description": "Nobody is signed in."},
    403: {"model": Problem, "description": "Not allowed."},
    404: {"model": Problem, "description": "Not found."},
    409: {"model": Problem, "description": "The request conflicts with the current state."},
    422: {"model": Problem, "description": "The request is not valid."},
    429: {"model": Problem, "description": "Too many requests."},
    503: {
        "model": Problem,
        "description": "The database is not available; try again after the time in the header Retry-After.",
    },
    507: {"model": Problem, "description": "The server's disk is full; nothing was stored, and nothing is lost."},
}


@asynccontextmanager
async def _lifespan(app: FastAPI) -> AsyncIterator[None]:
    arena: ServedWorkspace = app.state.arena
    to_thread.current_default_thread_limiter().total_tokens = arena.settings.threads
    await to_thread.run_sync(warm_up, arena.workspace, arena.voting.records)
    arena.warmer.start()
    await to_thread.run_sync(arena.view_warmer.start)
    yield
    arena.close()


def create_app(settings: ServeSettings | None = None) -> FastAPI:
    """The application for a workspace. Without settings it uses those that ``imarena serve`` stored."""
    arena = ServedWorkspace(settings or settings_from_environment())
    app = bare_app()
    app.state.arena = arena
    languages = read_languages(arena.workspace.root)
    names = {code: language.name for code, language in languages.items()}
    serve_pages(app, read_pages() | language_pages(languages), arena.settings.root_path, names)
    app.add_middleware(Gate, arena=arena)
    app.add_middleware(PathPrefix, root=arena.settings.root_path)
    return app


def bare_app() -> FastAPI:
    """The routes without a workspace: enough for the OpenAPI document."""
    app = FastAPI(
        lifespan=_lifespan,
        title="imarena",
        version=VERSION,
        summary="The arena's web API.",
        docs_url=None,
        redoc_url=None,
        openapi_url="/api/openapi.json",
        generate_unique_id_function=lambda route: route.name,
        responses=_REFUSALS,
    )
    problems.install_handlers(app)
    for room in (session, rating, pictures, lead, people, tokens, look, explore, monitor, exports):
        app.include_router(room.router)
    return app
