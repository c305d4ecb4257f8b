"""The `openai` package as a second implementation of the same protocol."""

import asyncio
import json
from typing import Any

import pytest

from imarena.clients import ChatClient, ChatReply, single_question
from imarena.clients.fake_faults import Fault, Faults
from imarena.clients.fake_server import FakeServer
from imarena.core.records import JsonDict
from tests.contract.clients.asking import PICTURES, body_of, endpoint

openai = pytest.importorskip("openai", reason="the openai package is a test dependency: pip install openai")

SCHEMA: JsonDict = {"type": "object", "properties": {"winner": {"enum": ["left", "right"]}}, "required": ["winner"]}


def messages() -> list[dict[str, Any]]:
    content: list[dict[str, Any]] = [{"type": "text", "text": "Välj “one” \u0007\n"}]
    content += [{"type": "image_url", "image_url": {"url": part.url.decode()}} for part in PICTURES[:2]]
    return [{"role": "system", "content": "Be exact."}, {"role": "user", "content": content}]


def test_both_clients_get_the_same_answer() -> None:
    schema_format = {"type": "json_schema", "json_schema": {"name": "answer", "strict": True, "schema": SCHEMA}}
    request = single_question("Välj “one” \u0007\n", *PICTURES[:2], system="Be exact.", schema=SCHEMA, max_tokens=99)

    async def run() -> tuple[ChatReply, Any]:
        async with FakeServer() as server:
            async with ChatClient(endpoint(server.base_url)) as client:
                ours = await client.complete(request)
            async with openai.AsyncOpenAI(base_url=server.base_url, api_key="x", max_retries=0) as theirs:
                reply = await theirs.chat.completions.create(
                    model="fake-vlm",
                    messages=messages(),
                    temperature=0.0,
                    max_tokens=99,
                    response_format=schema_format,
                )
            return ours, reply

    ours, theirs = asyncio.run(run())
    assert ours.text == theirs.choices[0].message.content
    assert ours.usage.input_tokens == theirs.usage.prompt_tokens
    assert ours.usage.output_tokens == theirs.usage.completion_tokens
    assert (ours.model, ours.finish_reason) == (theirs.model, theirs.choices[0].finish_reason)
    sent = json.loads(body_of(request, endpoint("http://x/v1")))
    assert sent == {
        "model": "fake-vlm",
        "messages": messages(),
        "temperature": 0.0,
        "max_tokens": 99,
        "response_format": schema_format,
    }


@pytest.mark.parametrize(
    ("fault", "error"),
    [
        (Fault.RATE_LIMITED, "RateLimitError"),
        (Fault.SERVER_ERROR, "InternalServerError"),
        (Fault.FILTERED, "BadRequestError"),
        (Fault.DISCONNECT, "APIConnectionError"),
    ],
)
def test_the_other_client_reads_the_faults_as_a_real_servers(fault: Fault, error: str) -> None:
    async def run() -> None:
        async with (
            FakeServer(faults=Faults({fault: 1.0})) as server,
            openai.AsyncOpenAI(base_url=server.base_url, api_key="x", max_retries=0) as client,
        ):
            with pytest.raises(getattr(openai, error)):
                await client.chat.completions.create(model="fake-vlm", messages=messages())
            assert [model.id async for model in client.models.list()] == ["fake-vlm"]

    asyncio.run(run())


def test_the_other_client_sees_a_refusal() -> None:
    async def run() -> Any:
        async with (
            FakeServer(faults=Faults({Fault.REFUSAL: 1.0})) as server,
            openai.AsyncOpenAI(base_url=server.base_url, api_key="x", max_retries=0) as client,
        ):
            return await client.chat.completions.create(model="fake-vlm", messages=messages())

    message = asyncio.run(run()).choices[0].message
    assert message.content is None
    assert message.refusal
