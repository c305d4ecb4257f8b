"""Every image source of the web against a server that speaks its protocol: results, licences, trouble, hostile files."""

import asyncio
from typing import Any

import pytest
from aiohttp import web

from imarena.clients import open_image_source
from imarena.clients.image_search.polite import text_at, url_at
from imarena.core import FoundImage, ImageQuery, ImageSource, SourceFailure, UserError, find_licence
from tests.servers.fake_image_sources import FakeSources, fake_sources, google_error
from tests.small_data.curation_library import photograph

QUICK: dict[str, Any] = {"interval_s": 0.0, "backoff_s": 0.0, "allow_loopback": True, "timeout_s": 5.0}
KINDS = {
    "openverse": {}, "wikimedia": {"contact": "ann@example.org"}, "huggingface": {"dataset": "a/b"},
    "google": {"api_key_env": "FAKE_KEY", "engine": "cx"},
}  # fmt: skip
PATHS = {"openverse": "/v1/images/", "wikimedia": "/w/api.php", "huggingface": "/search", "google": "/customsearch/v1"}


def opened(fake: FakeSources, kind: str, monkeypatch: pytest.MonkeyPatch, **more: Any) -> ImageSource:
    monkeypatch.setenv("FAKE_KEY", "secret-key")
    table = {"kind": kind, "base_url": fake.root, "hub_url": fake.root, **KINDS[kind], **QUICK, **more}
    return open_image_source(kind, table)


def search(source: ImageSource, text: str, *exclude: str) -> list[FoundImage]:
    return list(asyncio.run(source.search(ImageQuery(text, exclude), 20)))


def load(source: ImageSource, found: FoundImage) -> bytes:
    return asyncio.run(source.load(found))


@pytest.mark.parametrize("kind", KINDS)
def test_results_have_licence_creator_and_bytes(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    cat = photograph("cat", long_side=200)
    with fake_sources({"cat-window.jpg": cat, "dog.jpg": b"x"}) as fake:
        source = opened(fake, kind, monkeypatch)
        results = search(source, "cat night")
        assert len(results) == 1
        found = results[0]
        assert found.licence
        assert found.page.startswith(("https://example.org", fake.root))
        assert load(source, found) == cat
        if kind == "google":
            assert found.licence_by_filter, "only the filter vouches for the licence"
            assert {request.query["rights"] for request in fake.requests if request.path == "/customsearch/v1"} == {
                "cc_publicdomain", "cc_attribute",
            }  # fmt: skip
        else:
            assert find_licence(found.licence) is not None
            assert found.licence_by_filter == (kind == "huggingface"), "the licence of the data set's card"
        assert search(source, "nothing like it") == []
        agents = {request.headers["User-Agent"] for request in fake.requests}
        assert all(agent.startswith("imarena/") for agent in agents)


@pytest.mark.parametrize("kind", KINDS)
def test_trouble_is_retried_or_reported(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    with fake_sources({"cat.jpg": b"x"}) as fake:
        source = opened(fake, kind, monkeypatch)
        path = PATHS[kind]
        fake.faults[path] = [web.Response(status=503), web.Response(status=429, headers={"Retry-After": "0"})]
        assert len(search(source, "cat")) == 1, "the third attempt answers"
        fake.faults[path] = [web.Response(status=429, headers={"Retry-After": "86400"})]
        with pytest.raises(SourceFailure, match="asks to wait 86400 s") as quota:
            search(source, "cat")
        assert quota.value.retriable
        asked = len(fake.requests)
        with pytest.raises(SourceFailure, match="asks to wait 86400 s"):
            search(source, "dog")
        assert len(fake.requests) == asked, "a quota that is used up is not asked again by the same run"
        source = opened(fake, kind, monkeypatch)
        fake.faults[path] = [web.Response(status=403)]
        with pytest.raises(SourceFailure, match="HTTP 403") as refused:
            search(source, "cat")
        assert not refused.value.retriable
        assert "secret-key" not in str(refused.value)
        fake.faults[path] = [web.Response(text="<html>")]
        with pytest.raises(SourceFailure, match="not JSON"):
            search(source, "cat")
    with pytest.raises(SourceFailure) as down:
        search(source, "cat")
    assert down.value.retriable


def test_a_source_with_wrong_settings_names_the_next_step() -> None:
    with pytest.raises(UserError, match="needs a key"):
        open_image_source("google", {"kind": "google"})
    with pytest.raises(UserError, match="needs a contact"):
        open_image_source("wikimedia", {"kind": "wikimedia"})
    with pytest.raises(UserError, match=r"\[sources.x\]: there is no field 'knd'"):
        open_image_source("x", {"kind": "openverse", "knd": 1})


def test_robots_are_honoured(monkeypatch: pytest.MonkeyPatch) -> None:
    with fake_sources({"cat.jpg": b"x"}) as fake:
        fake.robots = "User-agent: *\nDisallow: /files/\n"
        source = opened(fake, "openverse", monkeypatch)
        found = search(source, "cat")[0]
        with pytest.raises(SourceFailure, match=r"robots\.txt"):
            load(source, found)
        assert fake.counts()["/files/cat.jpg"] == 0


def test_robots_of_a_redirect_target_are_honoured(monkeypatch: pytest.MonkeyPatch) -> None:
    with fake_sources({"moved-cat.jpg": b""}) as fake, fake_sources({}) as target:
        fake.moved_to = target.root
        target.robots = "User-agent: *\nDisallow: /files/\n"
        source = opened(fake, "openverse", monkeypatch)
        found = search(source, "cat")[0]
        with pytest.raises(SourceFailure, match=r"robots\.txt of 127\.0\.0\.1 forbids"):
            load(source, found)
        assert fake.counts()["/files/moved-cat.jpg"] == 1
        assert target.counts()["/robots.txt"] == 1
        assert target.counts()["/files/moved-cat.jpg"] == 0


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("private-cat.jpg", "private address"),
        ("metadata-cat.jpg", "link-local address"),
        ("page-cat.jpg", "wrong type"),
        ("endless-cat.png", "larger than"),
        ("deflated-cat.png", "larger than"),
        ("loop-cat.jpg", "redirects more than 5 times"),
        ("script-cat.jpg", "not an http or https address"),
    ],
)
def test_hostile_results_are_refused(name: str, reason: str, monkeypatch: pytest.MonkeyPatch) -> None:
    with fake_sources({name: b""}) as fake:
        source = opened(fake, "openverse", monkeypatch)
        found = search(source, "cat")[0]
        with pytest.raises(SourceFailure, match=reason):
            load(source, found)


@pytest.mark.parametrize("kind", KINDS)
def test_results_come_from_several_pages(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    with fake_sources({f"cat-{at}.jpg": b"x" for at in range(70)}) as fake:
        fake.page = 15
        source = opened(fake, kind, monkeypatch)
        results = list(asyncio.run(source.search(ImageQuery("cat"), 60)))
        assert len({found.key for found in results}) == len(results) == 60
        assert len({request.query_string for request in fake.requests if request.path == PATHS[kind]}) > 1


def test_google_never_asks_beyond_the_first_hundred(monkeypatch: pytest.MonkeyPatch) -> None:
    with fake_sources({f"cat-{at}.jpg": b"x" for at in range(300)}) as fake:
        source = opened(fake, "google", monkeypatch)
        assert len(list(asyncio.run(source.search(ImageQuery("cat"), 200)))) == 198


def test_errors_are_reported_in_the_words_of_the_service(monkeypatch: pytest.MonkeyPatch) -> None:
    day = (
        "Quota exceeded for quota metric 'Queries' and limit 'Queries per day' of service 'customsearch.googleapis.com'"
    )
    with fake_sources({"cat.jpg": b"x"}) as fake:
        google = opened(fake, "google", monkeypatch)
        body = google_error(429, f"{day} for secret-key", "rateLimitExceeded", "RESOURCE_EXHAUSTED")
        fake.faults["/customsearch/v1"] = [web.json_response(body, status=429)]
        with pytest.raises(SourceFailure, match="Queries per day") as quota:
            search(google, "cat")
        assert quota.value.retriable
        assert "secret-key" not in str(quota.value)
        assert fake.counts()["/customsearch/v1"] == 1, "a quota of the day is not tried again"
        body = google_error(403, "Daily Limit Exceeded", "dailyLimitExceeded", "PERMISSION_DENIED")
        fake.faults["/customsearch/v1"] = [web.json_response(body, status=403)]
        with pytest.raises(SourceFailure, match="Daily Limit Exceeded") as old:
            search(opened(fake, "google", monkeypatch), "cat")
        assert old.value.retriable
        throttled = {"detail": "Request was throttled. Expected available in 3600 seconds."}
        late = {"Retry-After": "Wed, 21 Oct 2099 07:28:00 GMT"}
        fake.faults["/v1/images/"] = [web.json_response(throttled, status=429, headers=late)]
        with pytest.raises(SourceFailure, match=r"was throttled.*asks to wait"):
            search(opened(fake, "openverse", monkeypatch), "cat")
        unready = {"error": "The server is busier than usual and the response is not ready yet. Please retry later."}
        fake.faults["/search"] = [web.json_response(unready, status=500) for _ in range(3)]
        with pytest.raises(SourceFailure, match="busier than usual") as busy:
            search(opened(fake, "huggingface", monkeypatch), "cat")
        assert busy.value.retriable


def test_a_lagging_wiki_is_asked_again(monkeypatch: pytest.MonkeyPatch) -> None:
    lag = {"error": {"code": "maxlag", "info": "Waiting for db1: 7 seconds lagged", "host": "db1", "lag": 7}}
    with fake_sources({"cat.jpg": b"x"}) as fake:
        source = opened(fake, "wikimedia", monkeypatch)
        fake.faults["/w/api.php"] = [web.json_response(lag, headers={"Retry-After": "0"}) for _ in range(2)]
        assert len(search(source, "cat")) == 1, "HTTP 200 with an error: retried"
        fake.faults["/w/api.php"] = [web.json_response(lag, headers={"Retry-After": "0"}) for _ in range(3)]
        with pytest.raises(SourceFailure, match="7 seconds lagged") as lagged:
            search(source, "cat")
        assert lagged.value.retriable
        fake.faults["/w/api.php"] = [web.json_response({"error": {"code": "badvalue", "info": "Unrecognized value"}})]
        with pytest.raises(SourceFailure, match="Unrecognized value") as wrong:
            search(source, "cat")
        assert not wrong.value.retriable


def test_an_address_is_not_read_as_markup() -> None:
    assert url_at({"url": "https://a.example/i.jpg?size=2&copy=1&reg=eu"}, "url").endswith("&copy=1&reg=eu")
    assert text_at({"title": "<b>Cats</b> &amp; dogs"}, "title") == "Cats & dogs"


def test_a_name_that_is_rebound_to_a_private_address_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """The name is public when the search answers, and private when the image is fetched."""
    import socket

    with fake_sources({"cat.jpg": b"x"}) as fake:
        source = opened(fake, "openverse", monkeypatch)
        found = search(source, "cat")[0]
        answers = iter(["127.0.0.1", "10.0.0.7"])

        async def rebinding(_loop: Any, host: str, port: int, **_more: Any) -> list[Any]:
            return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", (next(answers, "10.0.0.7"), port))]

        monkeypatch.setattr(asyncio.BaseEventLoop, "getaddrinfo", rebinding)
        port = fake.root.rpartition(":")[2]
        moved = FoundImage(found.source, found.key, f"http://images.example:{port}/files/cat.jpg")
        with pytest.raises(SourceFailure, match="private address"):
            load(source, moved)


def test_a_bomb_is_never_decoded(monkeypatch: pytest.MonkeyPatch) -> None:
    from imarena.curation import CurationSettings
    from imarena.curation.checks import Refused, check_file
    from imarena.curation.task_needs import needs_of

    with fake_sources({"bomb-cat.png": b""}) as fake:
        source = opened(fake, "openverse", monkeypatch)
        data = load(source, search(source, "cat")[0])
    with pytest.raises(Refused, match=r"100000 x 100000"):
        check_file(data, CurationSettings(), needs_of(None))
