"""A server that speaks the chat-completions protocol and misbehaves on demand: for tests, demos and benchmarks.

Run it with `python -m imarena.clients.fake_server --port 8000 --fault rate_limited=0.1`, or open it in a test with
`async with FakeServer() as server` and point an endpoint at `server.base_url`.
"""

import argparse
import asyncio
import hashlib
import json
import os
import time
from collections import Counter
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from importlib import import_module
from typing import Any, Literal

from aiohttp import web

from imarena.clients.fake_answers import AnswerFunction, ChatQuery, answer_by_hash, read_query
from imarena.clients.fake_faults import Fault, Faults, TokenBucket, parse_rates
from imarena.clients.fake_listen import ListeningServer, abort, serve_until_interrupted

FAULT_HEADER = "x-fake-fault"
"""Request header that names a fault for one request, whatever the rates; `none` for a good reply."""
_REFUSAL = "I'm sorry, I can't help with that."


@dataclass
class RequestCounts:
    """Statistics of the server. `GET /fake/counts` returns them."""

    requests: int = 0
    answered: int = 0
    """Good replies that were sent completely."""
    faults: Counter[str] = field(default_factory=Counter)
    in_flight: int = 0
    most_in_flight: int = 0


@dataclass
class FakeServer(ListeningServer):
    """Settings of the server; as an async context manager it listens on a free port of the loopback interface."""

    answer: AnswerFunction = answer_by_hash
    faults: Faults = field(default_factory=Faults)
    bucket: TokenBucket | None = None
    """A rate limit: requests beyond it get 429."""
    reply_s: float = 0.0
    """Delay of every good reply in seconds."""
    structured: Literal["honour", "ignore", "reject"] = "honour"
    api_key: str | None = field(default=None, repr=False)
    models: tuple[str, ...] = ("fake-vlm",)
    """Accepted model names, others get 404; empty accepts all."""
    parse: bool = True
    """False discards the body and sends one constant answer: the least work, for benchmarks."""
    counts: RequestCounts = field(default_factory=RequestCounts)
    _seen: Counter[str] = field(default_factory=Counter)

    @property
    def base_url(self) -> str:
        """The base URL for an endpoint."""
        return f"{self.root}/v1"

    def app(self) -> web.Application:
        """The application, to run it yourself."""
        app = web.Application(client_max_size=1024**3)
        app.router.add_post("/v1/chat/completions", self._chat)
        app.router.add_get("/v1/models", self._models)
        app.router.add_get("/fake/counts", self._show_counts)
        return app

    async def _show_counts(self, _request: web.Request) -> web.Response:
        return web.json_response(vars(self.counts))

    async def _models(self, request: web.Request) -> web.Response:
        if not self._authorized(request):
            return _error(401, "Incorrect API key provided.", "invalid_request_error", "invalid_api_key")
        rows = [{"id": name, "object": "model", "created": 0, "owned_by": "imarena"} for name in self.models]
        return web.json_response({"object": "list", "data": rows})

    async def _chat(self, request: web.Request) -> web.StreamResponse:
        counts = self.counts
        counts.requests += 1
        counts.in_flight += 1
        counts.most_in_flight = max(counts.most_in_flight, counts.in_flight)
        try:
            return await self._respond(request)
        finally:
            counts.in_flight -= 1

    async def _respond(self, request: web.Request) -> web.StreamResponse:
        if not self.parse:
            async for _chunk in request.content.iter_any():
                pass
            await asyncio.sleep(self.reply_s)
            self.counts.answered += 1
            return web.json_response(completion(ChatQuery("fake-vlm", "", "", ()), '{"winner": "first"}', "constant"))
        body = await request.read()
        if not self._authorized(request):
            key = request.headers.get("authorization", "").removeprefix("Bearer ")
            message = f"Incorrect API key provided: {key}."  # real servers echo the key too
            return _error(401, message, "invalid_request_error", "invalid_api_key")
        digest = hashlib.sha256(body).hexdigest()
        fault = self._fault(request, digest)
        early = _EARLY.get(fault) if fault is not None else None
        if fault is not None:
            self.counts.faults[fault.value] += 1
        if early is not None:
            return await early(self.faults, request)
        try:
            query = self._read(body)
        except ValueError as error:
            return _error(400, str(error), "invalid_request_error", None)
        if self.models and query.model not in self.models:
            message = f"The model `{query.model}` does not exist or you do not have access to it."
            return _error(404, message, "invalid_request_error", "model_not_found")
        return await self._answer(request, query, digest, fault)

    async def _answer(
        self, request: web.Request, query: ChatQuery, digest: str, fault: Fault | None
    ) -> web.StreamResponse:
        await asyncio.sleep(self.reply_s)
        if fault is Fault.REFUSAL:
            return web.json_response(completion(query, None, digest, refusal=_REFUSAL))
        if fault is Fault.EMPTY:
            return web.json_response(completion(query, "", digest))
        text = json.dumps(completion(query, self.answer(query), digest))
        if fault is Fault.WRONG_JSON:
            return web.Response(text=text[: len(text) // 2] + "]]", content_type="application/json")
        if fault is Fault.CUT_OFF:
            return await _send_in_parts(request, text.encode(), keep=0.5, pause_s=0.0)
        self.counts.answered += 1
        if fault is Fault.SLOW:
            return await _send_in_parts(request, text.encode(), keep=1.0, pause_s=self.faults.slow_s)
        return web.Response(text=text, content_type="application/json")

    def _read(self, body: bytes) -> ChatQuery:
        try:
            document = json.loads(body)
        except ValueError as error:
            raise ValueError("We could not parse the JSON body of your request.") from error
        if not isinstance(document, dict):
            raise ValueError("the body must be a JSON object")  # noqa: TRY004 - reported as a value in the protocol
        if document.get("stream"):
            raise ValueError("streaming is not supported by this server")
        if "response_format" in document and self.structured == "reject":
            raise ValueError("Unsupported parameter: 'response_format' is not supported with this model.")
        if self.structured == "ignore":
            document.pop("response_format", None)
        return read_query(document)

    def _authorized(self, request: web.Request) -> bool:
        return self.api_key is None or request.headers.get("authorization") == f"Bearer {self.api_key}"

    def _fault(self, request: web.Request, digest: str) -> Fault | None:
        header = request.headers.get(FAULT_HEADER)
        if header is not None:
            return None if header == "none" else Fault(header)
        if self.bucket is not None and not self.bucket.accept(time.monotonic()):
            return Fault.RATE_LIMITED
        attempt = self._seen[digest]
        self._seen[digest] += 1
        return self.faults.by_rate(digest, attempt)


def completion(query: ChatQuery, text: str | None, digest: str, *, refusal: str | None = None) -> dict[str, Any]:
    """A chat completion object with all the fields that clients read."""
    prompt = (len(query.system) + len(query.text)) // 4 + 300 * len(query.images)
    reply_tokens = max(1, len(text or refusal or "") // 4)
    message = {"role": "assistant", "content": text, "refusal": refusal}
    return {
        "id": f"chatcmpl-{digest[:24]}",
        "object": "chat.completion",
        "created": int(time.time()),
        "model": query.model,
        "choices": [{"index": 0, "message": message, "logprobs": None, "finish_reason": "stop"}],
        "usage": {"prompt_tokens": prompt, "completion_tokens": reply_tokens, "total_tokens": prompt + reply_tokens},
    }


def _error(
    status: int, message: str, kind: str, code: str | None, headers: dict[str, str] | None = None
) -> web.Response:
    body = {"error": {"message": message, "type": kind, "param": None, "code": code}}
    return web.json_response(body, status=status, headers=headers)


async def _rate_limited(faults: Faults, _request: web.Request) -> web.StreamResponse:
    headers = {"Retry-After": faults.retry_after} if faults.retry_after else None
    return _error(429, "Rate limit reached for requests", "requests", "rate_limit_exceeded", headers)


async def _server_error(_faults: Faults, _request: web.Request) -> web.StreamResponse:
    return _error(500, "The server had an error while processing your request.", "server_error", None)


async def _filtered(_faults: Faults, _request: web.Request) -> web.StreamResponse:
    message = "The response was filtered due to the prompt triggering the content management policy."
    inner = {"code": "ResponsibleAIPolicyViolation"}
    error = {"message": message, "type": None, "param": "prompt", "code": "content_filter", "innererror": inner}
    return web.json_response({"error": {**error, "status": 400}}, status=400)


async def _hang(faults: Faults, request: web.Request) -> web.StreamResponse:
    await asyncio.sleep(faults.hang_s)
    return await _disconnect(faults, request)


async def _disconnect(_faults: Faults, request: web.Request) -> web.StreamResponse:
    return abort(request)


_EARLY: dict[Fault, Callable[[Faults, web.Request], Awaitable[web.StreamResponse]]] = {
    Fault.RATE_LIMITED: _rate_limited,
    Fault.SERVER_ERROR: _server_error,
    Fault.FILTERED: _filtered,
    Fault.HANG: _hang,
    Fault.DISCONNECT: _disconnect,
}


async def _send_in_parts(request: web.Request, data: bytes, *, keep: float, pause_s: float) -> web.StreamResponse:
    """Send the reply in four parts with pauses; cut it off if only a share of it is kept."""
    response = web.StreamResponse(headers={"Content-Type": "application/json", "Content-Length": str(len(data))})
    await response.prepare(request)
    part = data[: int(len(data) * keep)]
    step = max(1, -(-len(part) // 4))
    for start in range(0, len(part), step):
        await response.write(part[start : start + step])
        await asyncio.sleep(pause_s / 4)
    if keep < 1 and request.transport is not None:
        request.transport.close()
    return response


def main(arguments: list[str] | None = None) -> None:
    """Serve until interrupted; the first line on stdout is the base URL."""
    options = _parser().parse_args(arguments)
    faults = Faults(
        parse_rates(options.fault, Fault),
        seed=options.seed,
        retry_after=options.retry_after,
        hang_s=options.hang_s,
        slow_s=options.slow_s,
    )
    server = FakeServer(
        answer=_load(options.answer),
        faults=faults,
        bucket=None if options.accept_per_s is None else TokenBucket(options.accept_per_s, options.burst),
        reply_s=options.reply_s,
        structured=options.structured,
        api_key=os.environ.get(options.api_key_env) if options.api_key_env else None,
        models=tuple(options.model),
        parse=not options.constant,
        host=options.host,
        port=options.port,
    )
    asyncio.run(serve_until_interrupted(server, "/v1"))


def _load(path: str) -> AnswerFunction:
    if not path:
        return answer_by_hash
    module, _, name = path.partition(":")
    answer: AnswerFunction = getattr(import_module(module), name)
    return answer


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m imarena.clients.fake_server", description=__doc__)
    parser.add_argument("--host", default="127.0.0.1")
    parser.add_argument("--port", type=int, default=8000, help="0 takes a free one")
    parser.add_argument("--fault", action="append", default=[], metavar="NAME=RATE", help="may be given several times")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--retry-after", default="0.05", help="header of a 429 reply")
    parser.add_argument("--accept-per-s", type=float, help="a token bucket: 429 for requests beyond this rate")
    parser.add_argument("--burst", type=float, default=20.0, help="requests that the token bucket accepts at once")
    parser.add_argument("--hang-s", type=float, default=3600.0)
    parser.add_argument("--slow-s", type=float, default=0.2)
    parser.add_argument("--reply-s", type=float, default=0.0, help="seconds that every good reply takes")
    parser.add_argument("--structured", choices=["honour", "ignore", "reject"], default="honour")
    parser.add_argument("--model", action="append", default=[], help="names that are served; without any, all are")
    parser.add_argument("--api-key-env", default="", help="variable with the key that clients must send")
    parser.add_argument("--answer", default="", metavar="MODULE:FUNCTION", help="takes a Query, gives the reply's text")
    parser.add_argument("--constant", action="store_true", help="read and drop bodies, one constant answer")
    return parser


if __name__ == "__main__":
    main()
