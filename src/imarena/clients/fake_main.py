"""The fake server's command line."""

import argparse
import asyncio
import os
from importlib import import_module

from imarena.clients.fake_answers import AnswerFunction, answer_by_hash
from imarena.clients.fake_faults import Fault, Faults, parse_rates
from imarena.clients.fake_listen import serve_until_interrupted
from imarena.clients.fake_server import FakeServer


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
    found: AnswerFunction = getattr(import_module(module), name)
    return found


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m imarena.clients.fake_server", description=__doc__)
    parser.add_argument("--host", default="127.0.0.1")
    parser.add_argument("--port", type=int, default=8000, help="0 takes a free one")
    parser.add_argument("--fault", action="append", default=[], metavar="NAME=RATE", help="may be given several times")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--retry-after", default="0.05", help="header of a 429 reply")
    parser.add_argument("--hang-s", type=float, default=3600.0)
    parser.add_argument("--slow-s", type=float, default=0.2)
    parser.add_argument("--reply-s", type=float, default=0.0, help="seconds that every good reply takes")
    parser.add_argument("--structured", choices=["honour", "ignore", "reject"], default="honour")
    parser.add_argument("--model", action="append", default=[], help="names that are served; without any, all are")
    parser.add_argument("--api-key-env", default="", help="variable with the key that clients must send")
    parser.add_argument("--answer", default="", metavar="MODULE:FUNCTION", help="takes a Query, gives the reply's text")
    parser.add_argument("--constant", action="store_true", help="read and drop bodies, one constant answer")
    return parser
