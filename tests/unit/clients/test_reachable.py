"""A wrong port is told before a run, and nothing else stops one."""

import socket

import pytest

from imarena.clients import Endpoint
from imarena.clients.endpoint import check_reachable
from imarena.core.errors import UserError


def endpoint(*ports: int, **more: bool) -> Endpoint:
    return Endpoint.model_validate(
        {"base_url": [f"http://127.0.0.1:{port}/v1" for port in ports], "model": "m", "max_concurrency": 1, **more}
    )


def shut_port() -> int:
    """A port that was free a moment ago, and where nobody listens."""
    with socket.socket() as tried:
        tried.bind(("127.0.0.1", 0))
        return int(tried.getsockname()[1])


def test_a_port_where_nobody_listens_is_refused() -> None:
    with pytest.raises(UserError, match="refuses the connection") as raised:
        check_reachable(endpoint(shut_port()))
    assert "Start the server" in str(raised.value)


def test_one_listener_of_several_is_enough() -> None:
    with socket.socket() as server:
        server.bind(("127.0.0.1", 0))
        server.listen()
        check_reachable(endpoint(shut_port(), server.getsockname()[1]))


def test_behind_a_proxy_the_client_finds_out() -> None:
    check_reachable(endpoint(shut_port(), use_proxy_env=True))
