"""Endpoint settings, keys and budgets."""

import copy
import json
import pickle

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from imarena.clients import Budget, ChatClient, CostLimitReached, Endpoint, Secret, read_endpoint, scrub
from imarena.core.errors import UserError
from imarena.core.records import Usage


def made(**settings: object) -> Endpoint:
    return Endpoint.model_validate({"base_url": "https://h/v1", "model": "m", **settings})


def test_settings_round_trip_and_are_frozen() -> None:
    settings = made(api_key_env="A_KEY", body={"top_k": 3}, headers={"X-Title": "t"})
    assert Endpoint.model_validate_json(settings.model_dump_json()) == settings
    with pytest.raises(ValidationError):
        settings.model = "other"  # type: ignore[misc]


@pytest.mark.parametrize(
    ("settings", "pairs"),
    [
        ({}, [("https://h/v1", None)]),
        ({"api_key_env": "K"}, [("https://h/v1", "K")]),
        ({"api_key_env": ["K", "L"]}, [("https://h/v1", "K"), ("https://h/v1", "L")]),
        ({"base_url": ["http://a", "http://b"], "api_key_env": "K"}, [("http://a", "K"), ("http://b", "K")]),
        ({"base_url": ["http://a", "http://b"], "api_key_env": ["K", "L"]}, [("http://a", "K"), ("http://b", "L")]),
    ],
)
def test_addresses_and_keys_pair_up(settings: dict[str, object], pairs: list[tuple[str, str | None]]) -> None:
    assert list(made(**settings).pairs) == pairs


@pytest.mark.parametrize(
    "settings",
    [
        {"base_url": []},
        {"base_url": "ftp://h"},
        {"base_url": "h/v1"},
        {"base_url": "https://user:key@h/v1"},
        {"base_url": "https://h/v1?key=abc"},
        {"base_url": "https://h/v1?api_key=abc"},
        {"base_url": "https://h/v1?access_token=abc"},
        {"headers": {"Ocp-Apim-Subscription-Key": "x"}},
        {"headers": {"X-Auth-Token": "x"}},
        {"base_url": ["http://a", "http://b", "http://c"], "api_key_env": ["K", "L"]},
        {"headers": {"Authorization": "Bearer x"}},
        {"headers": {"api-key": "x"}},
        {"max_concurrency": 0},
        {"timeout_s": 0},
        {"unknown": 1},
        {"model": ""},
    ],
)
def test_wrong_settings_are_refused(settings: dict[str, object]) -> None:
    with pytest.raises(ValidationError):
        made(**settings)


def test_a_settings_table_fails_with_one_line_that_hides_keys() -> None:
    assert read_endpoint({"base_url": "http://h/v1", "model": "m"}).model == "m"
    wrong = {"base_url": "http://h/v1", "model": "m", "headers": {"Authorization": "Bearer sk-canary"}}
    with pytest.raises(UserError, match=r"^In judges\.toml: headers: the header Authorization would be") as caught:
        read_endpoint(wrong, "judges.toml")
    assert "canary" not in str(caught.value)
    assert caught.value.__context__ is None


def test_costs() -> None:
    settings = made(input_usd_per_million=2.5, output_usd_per_million=10)
    assert settings.cost_usd(Usage(input_tokens=1_000_000, output_tokens=100_000)) == pytest.approx(3.5)
    assert settings.cost_usd(Usage(input_tokens=5)) is None
    assert made().cost_usd(Usage(input_tokens=1, output_tokens=1)) is None


def test_a_missing_key_is_named() -> None:
    with pytest.raises(UserError, match="NO_SUCH_KEY") as caught:
        ChatClient(made(api_key_env="NO_SUCH_KEY"), environ={})
    assert "export NO_SUCH_KEY" in str(caught.value)
    with pytest.raises(UserError, match="no HTTP header") as caught:
        Secret.from_env("K", {"K": "sk-abc\ndef"})
    assert "sk-abc" not in str(caught.value)


def test_a_secret_hides_itself() -> None:
    secret = Secret("sk-canary")
    shown = [
        repr(secret),
        str(secret),
        f"{secret}",
        f"{secret!r:>30}",
        f"{[secret]}",
        str({"key": secret}),
        f"{secret:>9}",
    ]
    assert not any("canary" in text for text in shown)
    assert secret == Secret("sk-canary")
    assert secret != Secret("other")
    for leak in (pickle.dumps, copy.deepcopy, json.dumps):
        with pytest.raises(TypeError) as caught:
            leak(secret)
        assert "canary" not in str(caught.value)
    assert scrub("bad key sk-canary!", [secret]) == "bad key [key removed]!"
    longer = Secret("sk-canary-and-more")
    assert scrub("sk-canary-and-more", [secret, longer]) == "[key removed]"
    assert scrub('{"winner": "B", "score": 2}', [Secret("B"), Secret("2")]) == '{"winner": "B", "score": 2}'


@given(st.lists(st.tuples(st.floats(0, 1), st.floats(0, 1)), max_size=40), st.floats(0, 5))
def test_a_budget_is_never_passed_when_requests_keep_their_promise(
    rows: list[tuple[float, float]], limit: float
) -> None:
    budget = Budget(limit)
    held = []
    for promised, share in rows:
        try:
            held.append((budget.reserve(promised), promised * share))
        except CostLimitReached:
            continue
        if len(held) > 3:
            reservation, cost = held.pop(0)
            budget.settle(reservation, cost)
            budget.settle(reservation, cost)  # a second time changes nothing
        assert budget.spent_usd + budget.reserved_usd <= limit + 1e-9
    for reservation, cost in held:
        budget.settle(reservation, cost)
    assert budget.spent_usd <= limit + 1e-9
    assert budget.reserved_usd == pytest.approx(0, abs=1e-9)


def test_a_budget_of_nothing_sense() -> None:
    for wrong in (-1.0, float("nan")):
        with pytest.raises(UserError):
            Budget(wrong)
