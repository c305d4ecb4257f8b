"""Close connections with incomplete requests after a time limit: uvicorn itself waits for the rest forever.

A client with many connections that sends a byte now and then would use up `limit_concurrency`.
"""

import asyncio
from typing import Any

from uvicorn.protocols.http.auto import AutoHTTPProtocol

REQUEST_S = 30.0
"""Seconds from the first byte (or the opening of the connection) to the last byte of a request: 1 MB at 35 kB/s."""
_TIMEOUT = b"HTTP/1.1 408 Request Timeout\r\ncontent-length: 0\r\nconnection: close\r\n\r\n"


def with_deadline(protocol: type[asyncio.Protocol], limit_s: float = REQUEST_S) -> type[asyncio.Protocol]:
    """A uvicorn protocol that closes a connection whose request is not complete in time."""
    base: Any = protocol

    class Deadline(base):  # type: ignore[misc]  # the class is only known when the server starts
        _deadline: asyncio.TimerHandle | None = None

        def connection_made(self, transport: asyncio.Transport) -> None:
            super().connection_made(transport)
            self._arm()

        def data_received(self, data: bytes) -> None:
            if self.cycle is not None and self.cycle.response_complete:  # the next request of the connection
                self._arm()
            super().data_received(data)
            if self.cycle is not None and not self.cycle.more_body:
                self._disarm()

        def connection_lost(self, exc: Exception | None) -> None:
            self._disarm()
            super().connection_lost(exc)

        def _arm(self) -> None:
            if self._deadline is None:
                self._deadline = self.loop.call_later(limit_s, self._expire)

        def _disarm(self) -> None:
            if self._deadline is not None:
                self._deadline.cancel()
                self._deadline = None

        def _expire(self) -> None:
            self._deadline = None
            if self.transport.is_closing():
                return
            if self.cycle is None or not (self.cycle.response_started or self.cycle.response_complete):
                self.transport.write(_TIMEOUT)
            self.transport.close()

    return Deadline


DeadlineProtocol = with_deadline(AutoHTTPProtocol)
"""What `imarena serve` uses, by its import path."""
