"""Blocks of the guides that call vLLM and podman: stand-ins take their options, and imarena really runs."""

import asyncio
import shutil
import signal
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import httpx
import pytest

from imarena.clients import ChatClient, single_question
from imarena.core.records import Status
from tests.conftest import ROOT
from tests.cross_cutting.docs.blocks import Block, blocks_of
from tests.cross_cutting.docs.programs import Podman, read_containerfile, vllm_serve
from tests.cross_cutting.docs.services import Stage, answer, block_with, put_in
from tests.small_data.small_arena import make_arena
from tests.web.browser.stage import free_port


def ask(folder: Path, endpoint: Block, replaced: Mapping[str, str]) -> Status:
    """How one question ends at the endpoint that a block defines."""
    stage = Stage(folder, replaced)
    stage.run([endpoint])

    async def asked() -> Status:
        async with ChatClient(stage.names["endpoint"]) as client:
            return (await client.complete(single_question("What is in this picture?"))).status

    return asyncio.run(asked())


def test_endpoints_md_asks_the_model_that_vllm_serves(tmp_path: Path) -> None:
    serve, endpoint = blocks_of("endpoints.md", __file__)
    with vllm_serve(serve, answer) as replaced:
        assert ask(tmp_path, endpoint, replaced) is Status.OK


def test_scale_md_asks_the_model_that_vllm_serves(tmp_path: Path) -> None:
    serve, judge = blocks_of("scale.md", __file__)
    make_arena(tmp_path / "arena", items=1, habits=("exact",))
    with vllm_serve(serve, answer, "gpu-server") as replaced:
        settings = block_with("scale.md", "[endpoints.gpu]")
        assert all(address in settings for address in replaced)
        with (tmp_path / "arena/imarena.toml").open("a") as file:
            file.write("\n" + put_in(settings, replaced))
        estimate, judged = Stage(tmp_path / "arena").run([judge])
    assert "1 ok" not in estimate.out
    assert "cv-judge/Qwen/Qwen2.5-VL-7B-Instruct: 1 ok" in judged.out


def test_vllm_refuses_what_it_does_not_know(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    serve, endpoint = blocks_of("endpoints.md", __file__)
    with pytest.raises(SystemExit), vllm_serve(replace(serve, body="vllm serve m --max-len 3"), answer):
        pass
    assert "--max-len" in capsys.readouterr().err
    other = replace(serve, body=serve.body.replace("Qwen3", "Qwen9"))
    with pytest.raises(AssertionError, match="nobody asked"), vllm_serve(other, answer) as replaced:
        assert ask(tmp_path, endpoint, replaced) is Status.API_ERROR


def test_serve_md_builds_an_image_and_serves_from_a_container(tmp_path: Path) -> None:
    (block,) = blocks_of("serve.md", __file__)
    build, init, serve = block.calls()
    podman = Podman(tmp_path)
    assert [words[:2] for words in (build, init, serve)] == [["podman", "build"], ["podman", "run"], ["podman", "run"]]
    podman.build(build[2:])
    with podman.run(init[2:], {}) as container:
        assert container.ended() == 0, container.log.read_text()
    assert (tmp_path / "arena/imarena.toml").is_file()
    secrets = {"IMARENA_ADMIN_PASSWORD": "long enough to be one", "IMARENA_SECRET_KEY": "k" * 40}
    with podman.run(serve[2:], secrets, free_port()) as container:
        assert container.healthy(), container.log.read_text()
        asked = [
            httpx.get(container.address + "/api/me", headers={"Host": host}).status_code
            for host in ("arena.example.org", "other.example.org")
        ]
        assert asked == [200, 400], container.log.read_text()
        container.process.terminate()
        assert container.ended(20) in (0, -signal.SIGTERM), container.log.read_text()
    assert "Traceback" not in container.log.read_text()


def test_the_containers_server_needs_a_password_and_a_place_to_write(tmp_path: Path) -> None:
    (block,) = blocks_of("serve.md", __file__)
    build, init, serve = (words[2:] for words in block.calls())
    podman = Podman(tmp_path)
    podman.build(build)
    with pytest.raises(KeyError, match="IMARENA_ADMIN_PASSWORD"), podman.run(serve, {}):
        pass
    with pytest.raises(AssertionError, match="no place"), podman.run(["--read-only", *init[1:]], {}):
        pass
    with pytest.raises(AssertionError, match="HEALTHCHECK"):
        podman.build(["-t", "imarena", "."])


def test_a_containerfile_copies_files_that_exist(tmp_path: Path) -> None:
    shutil.copy(ROOT / "Containerfile", tmp_path)
    with pytest.raises(AssertionError, match="COPY web/package"):
        read_containerfile(tmp_path)
