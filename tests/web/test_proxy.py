"""Behind a proxy: its headers are believed where it is named, and nobody else's are."""

import logging
from pathlib import Path
from typing import Any

import pytest
from fastapi.testclient import TestClient

from imarena.core.errors import UserError
from imarena.storage import init_workspace
from imarena.web.app import create_app
from imarena.web.limits import SIGN_IN
from imarena.workflows.serving.server import host_name, proxy_address, url_prefix, uvicorn_config
from tests.web.people import PASSWORD, fill, settings_of

PROXY = "10.1.2.3"
BURST = int(SIGN_IN.burst)


def behind(root: Path, *, came_from: str = PROXY, trusted: tuple[str, ...] = ("10.1.2.0/24",)) -> TestClient:
    """A browser behind a proxy, before the application as uvicorn would call it."""
    with init_workspace(root) as workspace:
        fill(workspace, items=1)
    settings = settings_of(root, trusted_proxies=trusted, allowed_hosts=("arena.example.org",))
    config = uvicorn_config(settings, create_app(settings))
    config.load()
    app: Any = config.loaded_app
    return TestClient(app, base_url="http://arena.example.org", client=(came_from, 40_000))


def sign_in(client: TestClient, password: str = PASSWORD, **headers: str) -> Any:
    """Sign in as the administrator with these headers."""
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return client.post("/api/session/password", json={"password": password}, headers=named)


def test_a_named_proxy_tells_that_the_browser_speaks_tls(tmp_path: Path) -> None:
    client = behind(tmp_path / "arena")
    signed = sign_in(
        client, x_forwarded_proto="https", x_forwarded_for="198.51.100.7", origin="https://arena.example.org"
    )
    assert signed.status_code == 200
    assert "Secure" in signed.headers["set-cookie"]
    assert "strict-transport-security" in signed.headers


def test_headers_of_a_stranger_are_not_believed(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    client = behind(tmp_path / "arena", came_from="198.51.100.7")
    signed = sign_in(client, x_forwarded_proto="https", x_forwarded_for="127.0.0.1")
    assert "Secure" not in signed.headers["set-cookie"]
    assert "strict-transport-security" not in signed.headers
    codes = [sign_in(client, "wrong", x_forwarded_for=f"192.0.2.{n}").status_code for n in range(BURST + 4)]
    assert 429 in codes, "a new made-up address each time gets round the limit"
    plain = behind(tmp_path / "plain", trusted=())
    with caplog.at_level(logging.WARNING, logger="imarena.web"):
        for _ in range(2):
            assert (
                "Secure"
                not in sign_in(plain, x_forwarded_proto="https", x_forwarded_for="8.8.8.8").headers["set-cookie"]
            )
    assert len([said for said in caplog.messages if "--trusted-proxy" in said and PROXY in said]) == 1


def test_behind_a_named_proxy_everybody_has_a_limit_of_their_own(tmp_path: Path) -> None:
    client = behind(tmp_path / "arena")
    made_up = (f"203.0.113.{n}, 198.51.100.7" for n in range(BURST + 4))  # all but the last of each
    assert 429 in [sign_in(client, "wrong", x_forwarded_for=told).status_code for told in made_up]
    assert sign_in(client, "wrong", x_forwarded_for="198.51.100.8").status_code == 403
    household = (f"2001:db8:1:2::{n:x}" for n in range(BURST + 4))
    codes = [sign_in(client, "wrong", x_forwarded_for=told).status_code for told in household]
    assert 429 in codes, "one household has 2^64 addresses"
    assert sign_in(client, "wrong", x_forwarded_for="2001:db8:1:3::1").status_code == 403


def test_a_proxy_that_changes_the_host_is_told_of(tmp_path: Path) -> None:
    client = behind(tmp_path / "arena")
    refused = sign_in(client, x_forwarded_proto="https", origin="https://arena.example.org", host="127.0.0.1:8000")
    assert (refused.status_code, refused.json()["code"]) == (403, "csrf")
    assert "Host" in refused.json()["hint"]
    assert sign_in(client, host="evil.example").status_code == 400
    assert sign_in(client, x_forwarded_host="arena.example.org", host="evil.example").status_code == 400


@pytest.mark.parametrize("told", ["*", "0.0.0.0/0", "::/0", "proxy.internal", ""])
def test_a_proxy_is_named_by_address_and_is_never_everybody(told: str) -> None:
    with pytest.raises(UserError, match="not the address of a proxy"):
        proxy_address(told)


def test_addresses_and_names_are_read_as_people_write_them() -> None:
    assert [proxy_address(told) for told in ("127.0.0.1", "10.0.0.7/24", "::1")] == ["127.0.0.1", "10.0.0.0/24", "::1"]
    written = ("Arena.Example.org", "https://arena.example.org/board", "arena.example.org:8443")
    assert {host_name(told) for told in written} == {"arena.example.org"}
    with pytest.raises(UserError, match="not the name of a host"):
        host_name("/")


@pytest.mark.parametrize(("told", "path"), [("", ""), ("/", ""), ("arena", "/arena"), ("/lab/arena/", "/lab/arena")])
def test_the_path_below_which_the_arena_stands(told: str, path: str) -> None:
    assert url_prefix(told) == path


@pytest.mark.parametrize("told", ["/a b", "/..", "/a/../b", "/api", "/a//b", '/a"><script>', "https://x.org/a"])
def test_what_is_no_path_is_refused(told: str) -> None:
    with pytest.raises(UserError, match="is not a path"):
        url_prefix(told)
