"""Shared by the fake servers: listen on a free port, or serve from the command line until interrupted."""

import asyncio
import signal
import sys
from abc import ABC, abstractmethod
from dataclasses import dataclass
from types import TracebackType
from typing import Self

from aiohttp import web


@dataclass(kw_only=True)
class ListeningServer(ABC):
    """A server; as an async context manager it listens, by default on a free port."""

    host: str = "127.0.0.1"
    port: int = 0
    _runner: web.AppRunner | None = None

    @property
    def root(self) -> str:
        """The URL on which it listens."""
        return f"http://{self.host}:{self.port}"

    @abstractmethod
    def app(self) -> web.Application:
        """The application, to run it yourself."""

    async def __aenter__(self) -> Self:
        self._runner = web.AppRunner(self.app(), access_log=None, shutdown_timeout=0.1)
        await self._runner.setup()
        site = web.TCPSite(self._runner, self.host, self.port, backlog=1024)
        await site.start()
        self.port = self._runner.addresses[0][1]
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._runner is not None:
            await self._runner.cleanup()


def abort(request: web.Request) -> web.Response:
    """Close the connection without a reply."""
    if request.transport is not None:
        request.transport.abort()
    return web.Response()


async def serve_until_interrupted(server: ListeningServer, path: str = "") -> None:
    """Serve until interrupted; the first line on stdout is the URL."""
    stopped = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, stopped.set)
    async with server:
        sys.stdout.write(f"{server.root}{path}\n")
        sys.stdout.flush()
        await stopped.wait()
