"""Keys in what a server sends back: in every spelling, and where a message was cut."""

import base64
import json
from urllib.parse import quote, quote_plus

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from imarena.clients.replies import Failure, read_reply
from imarena.clients.secret import Secret, scrub, scrub_bytes
from imarena.core.errors import UserError

KEY = "sk-canary/7f3a9b1c5d+Zq=="
SECRET = (Secret(KEY),)
SPELLINGS = {
    "plain": KEY,
    "url": quote(KEY, safe=""),
    "url, small letters": quote(KEY, safe="").replace("%2F", "%2f").replace("%2B", "%2b").replace("%3D", "%3d"),
    "url, slashes kept": quote(KEY),
    "form": quote_plus(KEY),
    "url twice": quote(quote(KEY, safe=""), safe=""),
    "json": json.dumps(KEY)[1:-1].replace("/", "\\/"),
    "hex": KEY.encode().hex(),
    "base64": base64.b64encode(KEY.encode()).decode(),
    "base64 of the header": base64.b64encode(f"Bearer {KEY}".encode()).decode(),
    "base64 of a pair": base64.b64encode(f"me:{KEY}\n".encode()).decode(),
    "base64 for addresses": base64.urlsafe_b64encode(f"x{KEY}".encode()).decode().rstrip("="),
}


@pytest.mark.parametrize("spelling", SPELLINGS)
def test_a_key_is_found_in_every_spelling(spelling: str) -> None:
    said = SPELLINGS[spelling]
    cleaned = scrub(f"wrong key: {said} (sent by you)", SECRET)
    assert "[key removed]" in cleaned
    assert cleaned.startswith("wrong key: ")
    assert cleaned.endswith("(sent by you)")
    for start in range(len(said) - 12):  # no twelve letters of it are left
        assert said[start : start + 12] not in cleaned


@settings(deadline=None)
@given(st.integers(0, 560), st.sampled_from(sorted(SPELLINGS)))
def test_a_key_across_the_cut_of_an_error_is_gone(place: int, spelling: str) -> None:
    """An error message is cut at 500 characters: half a key must not be what is left."""
    said = SPELLINGS[spelling]
    body = json.dumps({"error": {"message": "x" * place + said + " is wrong", "code": "invalid_api_key"}}).encode()
    result = read_reply(401, {}, scrub_bytes(body, SECRET))
    assert isinstance(result, Failure)
    error = scrub(result.error, SECRET)  # as the client does: JSON's own escapes are gone only now
    for start in range(len(said) - 12):
        assert said[start : start + 12] not in error


@settings(deadline=None)
@given(st.binary(max_size=400), st.integers(8, len(KEY) - 1))
def test_half_a_key_at_the_end_goes_and_the_rest_stays(data: bytes, length: int) -> None:
    cut = data + b" " + KEY[:length].encode()
    assert scrub_bytes(cut, SECRET) == data + b" [key removed]"


@settings(deadline=None)
@given(st.binary(max_size=600))
def test_what_holds_no_key_is_left_as_it_is(data: bytes) -> None:
    assert scrub_bytes(data, SECRET) == data
    assert scrub_bytes(data, ()) == data


def test_a_short_placeholder_is_no_secret() -> None:
    assert scrub("EMPTY is what vLLM wants", (Secret("EMPTY"),)) == "EMPTY is what vLLM wants"


@pytest.mark.parametrize("name", ["sk-canary-123456", "AIzaCanary123456"])
def test_a_key_given_in_the_place_of_a_variables_name_is_not_shown(name: str) -> None:
    with pytest.raises(UserError) as refused:
        Secret.from_env(name, {})
    assert "anary" not in f"{refused.value}{refused.value.hint}"
    with pytest.raises(UserError, match="MY_KEY"):
        Secret.from_env("MY_KEY", {})
