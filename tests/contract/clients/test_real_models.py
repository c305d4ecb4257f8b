"""A real model here, and a real third-party server: the same tiny LLaVA behind both."""

import asyncio
import importlib.util
import os
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import pytest

from imarena.clients import ChatClient, ChatReply, Endpoint, image_part, single_question
from imarena.core.errors import MissingExtra, UserError
from imarena.core.records import Status
from imarena.images import prepare
from tests.unit.images.made import encode, photo

HAS_TORCH = importlib.util.find_spec("torch") is not None and importlib.util.find_spec("transformers") is not None
needs_torch = pytest.mark.skipif(not HAS_TORCH, reason="needs the vision extra: pip install 'imarena[vision]'")
PARTS = [image_part(prepare(encode(photo(64, 48, seed)))) for seed in range(3)]


@pytest.mark.skipif(HAS_TORCH, reason="the vision extra is installed")
def test_without_the_extra_its_install_command_is_named() -> None:
    from imarena.clients.local_vlm import load_vlm

    with pytest.raises(MissingExtra, match=r"imarena\[vision\]"):
        load_vlm("any")


@pytest.fixture(scope="module")
def model_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    from tests.contract.clients.tiny_llava import make

    return make(tmp_path_factory.mktemp("tiny_llava"))


@pytest.mark.torch
@needs_torch
@pytest.mark.filterwarnings("default")
def test_a_local_model_reads_its_pictures(model_folder: Path) -> None:
    from imarena.clients.local_vlm import load_vlm

    model = load_vlm(model_folder, device="cpu", dtype="float32")

    def answer(*parts: str | object) -> ChatReply:
        return asyncio.run(model.complete(single_question(*parts, max_tokens=12)))  # type: ignore[arg-type]

    first = answer("word1 word2", PARTS[0], PARTS[1])
    again = answer("word1 word2", PARTS[0], PARTS[1])
    swapped = answer("word1 word2", PARTS[1], PARTS[0])
    assert first.status is Status.OK, first.error
    assert first.text
    assert first.text == again.text
    assert first.text != swapped.text  # the order of the pictures reaches the model
    words_only = answer("word1 word2")
    assert first.usage.input_tokens is not None
    assert words_only.usage.input_tokens is not None
    assert first.usage.input_tokens == words_only.usage.input_tokens + 2 * 4  # 28 / 14 squared patches each
    assert first.usage.output_tokens is not None
    assert 1 <= first.usage.output_tokens <= 12


@pytest.mark.torch
@needs_torch
@pytest.mark.filterwarnings("default")
def test_a_model_that_is_not_there_or_is_a_pickle(model_folder: Path, tmp_path: Path) -> None:
    from imarena.clients.local_vlm import load_vlm

    with pytest.raises(UserError, match="cannot be loaded"):
        load_vlm(tmp_path / "nothing")
    for file in model_folder.iterdir():
        if file.suffix != ".safetensors":
            (tmp_path / file.name).write_bytes(file.read_bytes())
    (tmp_path / "pytorch_model.bin").write_bytes(b"\x80\x04.")
    with pytest.raises(UserError, match="safetensors"):
        load_vlm(tmp_path)


@pytest.fixture(scope="module")
def third_party_server(model_folder: Path) -> Iterator[str]:
    """`transformers serve`, as any user would start it."""
    command = Path(sys.executable).with_name("transformers")
    if not command.exists() or importlib.util.find_spec("uvicorn") is None:
        pytest.skip("needs transformers serve: pip install 'transformers[serving]'")
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    environ = {**os.environ, "HF_HUB_OFFLINE": "1", "CUDA_VISIBLE_DEVICES": "", "OMP_NUM_THREADS": "1"}
    arguments = [str(command), "serve", "--host", "127.0.0.1", "--port", str(port), "--device", "cpu"]
    server = subprocess.Popen(arguments, env=environ, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    try:
        _wait_for(server, f"http://127.0.0.1:{port}/health")
        yield f"http://127.0.0.1:{port}/v1"
    finally:
        server.terminate()
        server.wait(20)


def _wait_for(server: "subprocess.Popen[bytes]", url: str) -> None:
    for _ in range(240):
        if server.poll() is not None:
            pytest.fail(f"transformers serve ended: {server.communicate()[0][-2000:]!r}")
        try:
            with urllib.request.urlopen(url, timeout=1):  # noqa: S310 - loopback
                return
        except (urllib.error.URLError, OSError):
            time.sleep(0.5)
    pytest.fail("transformers serve did not start in two minutes")


@pytest.mark.torch
@needs_torch
def test_the_client_and_a_third_party_server(third_party_server: str, model_folder: Path) -> None:
    settings = Endpoint(
        base_url=(third_party_server,), model=str(model_folder), timeout_s=120, max_concurrency=1, max_attempts=2
    )

    async def run() -> list[ChatReply]:
        async with ChatClient(settings) as client:
            pairs = [(PARTS[0], PARTS[1]), (PARTS[0], PARTS[1]), (PARTS[1], PARTS[0])]
            return [await client.complete(single_question("word1 word2", *pair, max_tokens=12)) for pair in pairs]

    first, again, swapped = asyncio.run(run())
    assert first.status is Status.OK, first.error
    assert first.text == again.text
    assert first.text != swapped.text
    assert first.usage.input_tokens
    assert first.usage.output_tokens


@pytest.mark.torch
@needs_torch
def test_a_third_party_servers_error_is_an_error(third_party_server: str) -> None:
    settings = Endpoint(base_url=(third_party_server,), model="no/such-model", timeout_s=60, max_attempts=1)

    async def run() -> ChatReply:
        async with ChatClient(settings) as client:
            return await client.complete(single_question("word1", max_tokens=4))

    reply = asyncio.run(run())
    assert reply.status is Status.API_ERROR
    assert reply.error
