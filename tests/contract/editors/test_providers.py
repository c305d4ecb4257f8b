"""Every adapter keeps one contract against a fake server that speaks its provider's protocol."""

import asyncio
import io
from dataclasses import replace

import pytest
from PIL import Image
from pydantic import JsonValue

from imarena.clients import Budget, CostLimitReached
from imarena.clients.fake_images import FakeImages
from imarena.clients.fake_pictures import ImageFault, ImageFaults
from imarena.core.errors import InvalidImage, UserError
from imarena.core.protocols import EditRequest, EditResult
from imarena.core.records import Status
from imarena.images import check_image, pixels
from tests.contract.editors.providers import KEY, PROVIDERS, edited, editor_at
from tests.samples import png

ALL = pytest.mark.parametrize("provider", list(PROVIDERS))
DIRECT = [name for name, (kind, _, _) in PROVIDERS.items() if kind != "http-queue"]
QUEUES = [name for name in PROVIDERS if name not in DIRECT]
SOURCE = png(7, (40, 30))


def ask(provider: str, prompt: str, request: EditRequest | None = None, server: FakeImages | None = None) -> EditResult:
    async def run() -> EditResult:
        async with server or FakeImages(api_key=KEY) as opened:
            given = request or EditRequest(prompt, (SOURCE,), seed=42)
            return await edited(editor_at(opened, provider), replace(given, instruction=prompt))

    return asyncio.run(run())


@ALL
def test_a_picture_comes_back_changed_at_its_own_size_with_cost_and_time(provider: str) -> None:
    result = ask(provider, "make it warm")
    assert result.status is Status.OK
    assert result.image is not None
    info = check_image(result.image)
    assert (info.width, info.height) == (40, 30)
    assert (pixels(result.image) != pixels(SOURCE)).any()
    assert result.cost_usd == pytest.approx(0.039 if provider == "chat" else 0.04)
    assert result.latency_s is not None
    assert result.latency_s > 0


@ALL
def test_generation_without_a_source(provider: str) -> None:
    result = ask(provider, "a red house", EditRequest("a red house", seed=1))
    assert result.status is Status.OK
    assert result.image is not None
    check_image(result.image)


@pytest.mark.parametrize("provider", [*DIRECT, "fal-multi"])
def test_references_travel_with_the_source(provider: str) -> None:
    one = ask(provider, "put them together", EditRequest("", (SOURCE,), (png(1), png(2))))
    assert one.status is Status.OK


@ALL
@pytest.mark.parametrize("fault", ["rate_limited", "server_error", "disconnect"])
def test_passing_faults_are_got_past(provider: str, fault: str) -> None:
    assert ask(provider, f"brighter [fault: {fault}]").status is Status.OK


@ALL
@pytest.mark.parametrize("fault", ["refusal", "blocked"])
def test_a_safety_refusal_is_a_status(provider: str, fault: str) -> None:
    result = ask(provider, f"x [fault: {fault}]")
    assert result.status is Status.REFUSED
    assert result.error
    assert result.cost_usd == 0.0


@pytest.mark.parametrize("provider", ["gemini", "chat"])
def test_words_instead_of_a_picture_are_quoted(provider: str) -> None:
    result = ask(provider, "x [fault: text]")
    assert result.status is Status.MISSING_OUTPUT
    assert "did not make a new one" in result.error


@ALL
def test_html_says_to_check_the_address(provider: str) -> None:
    result = ask(provider, "x [fault: html]")
    assert result.status is Status.API_ERROR
    assert "base_url" in result.error


@ALL
def test_ten_pictures_are_not_one(provider: str) -> None:
    result = ask(provider, "x [fault: ten_images]")
    assert result.status is Status.UNPARSABLE
    assert "10 images" in result.error
    assert 'take = "first"' in result.error


def test_the_first_of_ten_on_request() -> None:
    async def run() -> EditResult:
        async with FakeImages(api_key=KEY) as server:
            editor = editor_at(server, "openai", take="first")
            return await edited(editor, EditRequest("x [fault: ten_images]", (SOURCE,)))

    assert asyncio.run(run()).status is Status.OK


@ALL
@pytest.mark.parametrize("fault", ["truncated", "not_an_image"])
def test_damaged_pictures_reach_the_checker_as_they_came(provider: str, fault: str) -> None:
    result = ask(provider, f"x [fault: {fault}]")
    assert result.status is Status.OK
    assert result.image is not None
    with pytest.raises(InvalidImage):
        check_image(result.image)


@pytest.mark.parametrize("provider", DIRECT)
def test_text_that_is_no_base64(provider: str) -> None:
    assert ask(provider, "x [fault: not_base64]").status is Status.INVALID_IMAGE


@ALL
def test_a_server_that_hangs_is_a_timeout(provider: str) -> None:
    result = ask(provider, "x [fault: hang]")
    assert result.status is Status.TIMEOUT


@pytest.mark.parametrize("provider", QUEUES)
def test_jobs_that_fail_or_never_end(provider: str) -> None:
    failed = ask(provider, "x [fault: job_failed]")
    assert failed.status is Status.API_ERROR
    assert "out of memory" in failed.error
    assert ask(provider, "x [fault: job_stuck]").status is Status.TIMEOUT
    lost = ask(provider, "x [fault: lost_file]")
    assert lost.status is Status.API_ERROR
    assert "404" in lost.error


@ALL
def test_a_refused_key_is_told_once_and_never_shown(provider: str) -> None:
    async def run() -> tuple[list[EditResult], int]:
        async with FakeImages(api_key="another") as server:
            editor = editor_at(server, provider)
            async with editor.opened():
                results = [await editor.edit(EditRequest("x", (SOURCE,))) for _ in range(5)]
            return results, server.counts.requests

    results, requests = asyncio.run(run())
    assert {result.status for result in results} == {Status.API_ERROR}
    assert all("FAKE_KEY" in result.error and KEY not in result.error for result in results)
    assert requests == 1


@ALL
def test_a_missing_key_stops_before_anything_is_sent(provider: str) -> None:
    async def run() -> None:
        async with FakeImages() as server:
            editor = editor_at(server, provider, key="")
            async with editor.opened():
                pass

    with pytest.raises(UserError, match="FAKE_KEY"):
        asyncio.run(run())


@ALL
def test_a_source_over_the_limit_is_not_sent(provider: str) -> None:
    async def run() -> tuple[EditResult, int]:
        async with FakeImages(api_key=KEY) as server:
            editor = editor_at(server, provider, max_source_bytes=100)
            return await edited(editor, EditRequest("x", (SOURCE,))), server.counts.requests

    result, requests = asyncio.run(run())
    assert result.status is Status.API_ERROR
    assert "100" in result.error
    assert "Scale" in result.error
    assert requests == 0


def test_openai_replies_by_address_too() -> None:
    result = ask("openai", "warmer", server=FakeImages(api_key=KEY, urls=True))
    assert result.status is Status.OK
    assert result.image is not None
    assert Image.open(io.BytesIO(result.image)).size == (40, 30)


@ALL
def test_the_cost_limit_stops_before_it_is_passed(provider: str) -> None:
    budget = Budget(0.17)

    async def run() -> int:
        made = 0
        async with FakeImages(api_key=KEY) as server:
            editor = editor_at(server, provider, budget)
            async with editor.opened():
                for number in range(10):
                    made += (await editor.edit(EditRequest(f"edit {number}", (SOURCE,)))).status is Status.OK
        return made

    with pytest.raises(CostLimitReached):
        asyncio.run(run())
    assert 0.1 < budget.spent_usd <= 0.17


def test_failures_that_may_have_been_charged_count_against_the_limit() -> None:
    budget = Budget(0.09)

    async def run() -> None:
        async with FakeImages(api_key=KEY) as server:
            editor = editor_at(server, "openai", budget)
            async with editor.opened():
                for _ in range(3):
                    await editor.edit(EditRequest("x [fault: hang]", (SOURCE,)))

    with pytest.raises(CostLimitReached):
        asyncio.run(run())
    assert budget.spent_usd == pytest.approx(0.08)


@ALL
def test_many_at_once_under_rate_limits(provider: str) -> None:
    async def run() -> list[EditResult]:
        faults = ImageFaults({ImageFault.RATE_LIMITED: 0.2, ImageFault.SERVER_ERROR: 0.05})
        async with FakeImages(faults, api_key=KEY) as server:
            editor = editor_at(server, provider, max_concurrency=8, max_attempts=6)
            async with editor.opened():
                asked = (editor.edit(EditRequest(f"edit {number}", (SOURCE,))) for number in range(30))
                return await asyncio.gather(*asked)

    assert {result.status for result in asyncio.run(run())} == {Status.OK}


@pytest.mark.parametrize("provider", ["fal", "replicate"])
def test_pictures_that_a_template_cannot_send_are_not_left_out_in_silence(provider: str) -> None:
    server = FakeImages(api_key=KEY)
    both = ask(provider, "x", EditRequest("", (SOURCE,), (png(1),)), server)
    assert both.status is Status.REFUSED
    assert ("fal-multi" in both.error) == (provider == "fal")
    assert server.counts.requests == 0
    assert ask(provider, "x", EditRequest("", (), (png(1),))).status is Status.OK
    assert ask(provider, "x", EditRequest("", (), (png(1), png(2)))).status is Status.REFUSED


@pytest.mark.parametrize(("body", "told"), [({"prompt": "{promt}"}, "promt"), ({"image": "{source}"}, "instruction")])
def test_a_template_with_a_misspelt_field_is_refused(body: dict[str, JsonValue], told: str) -> None:
    with pytest.raises(UserError, match=told):
        editor_at(FakeImages(), "fal", template={"submit_body": body})


def test_pictures_that_are_too_much_together_are_not_sent() -> None:
    async def run() -> EditResult:
        async with FakeImages(api_key=KEY) as opened:
            editor = editor_at(opened, "gemini", max_total_bytes=len(SOURCE) + 10)
            return await edited(editor, EditRequest("x", (SOURCE,), (png(1),)))

    result = asyncio.run(run())
    assert result.status is Status.API_ERROR
    assert "max_total_bytes" in result.error
