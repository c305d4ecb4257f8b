"""Stand-ins for the other programs that the guides call: vLLM and podman.

Each takes the options that the program's own documentation defines, and no other; what the guide asks of it then happens on
this machine: a server answers for the named model, and the image's entry point runs.
"""

import argparse
import json
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import httpx

from imarena.clients.fake_answers import AnswerFunction, ChatQuery
from tests.conftest import ROOT
from tests.cross_cutting.docs.blocks import Block
from tests.cross_cutting.docs.services import check_extras
from tests.servers.fake_endpoint import serve_here


@contextmanager
def vllm_serve(block: Block, answers: AnswerFunction, host: str = "localhost") -> Iterator[dict[str, str]]:
    """Serve the block's model as `vllm serve` does; gives what stands in for its address in the rest of the page.

    Other models are answered with 404. A prompt with more images than the limit fails, as does a server that nobody asked.
    """
    parser = _parser("vllm")
    parser.add_argument("command", choices=["serve"])
    parser.add_argument("model")
    parser.add_argument("--port", type=int, default=8000)
    parser.add_argument("--max-model-len", type=int)
    parser.add_argument("--limit-mm-per-prompt", type=json.loads, default={})
    (words,) = block.calls()
    options = parser.parse_args(words[1:])
    limits = options.limit_mm_per_prompt
    assert limits.keys() <= {"image", "video", "audio"}, block.where
    assert options.max_model_len >= 1, block.where
    images: list[int] = []

    def answer(query: ChatQuery) -> str:
        images.append(len(query.images))
        return answers(query)

    with serve_here(answer, models=(options.model,)) as url:
        yield {f"http://{host}:{options.port}/v1": url}
    assert images, f"{block.where}: nobody asked the server"
    assert max(images) <= limits["image"], f"{block.where}: a prompt has {max(images)} images"


@dataclass
class Image:
    """What a Containerfile says about the container that it makes."""

    env: dict[str, str] = field(default_factory=dict)
    entrypoint: list[str] = field(default_factory=list)
    command: list[str] = field(default_factory=list)
    health: list[str] = field(default_factory=list)
    folder: str = "/"
    user: str = "root"
    ports: set[str] = field(default_factory=set)
    volumes: set[str] = field(default_factory=set)


def read_containerfile(context: Path) -> Image:
    """The last stage of the file. What it copies is there; the extras that it installs exist."""
    text = re.sub(r"^#.*\n", "", (context / "Containerfile").read_text(encoding="utf-8"), flags=re.MULTILINE)
    stages: set[str] = set()
    image = Image()
    for line in text.replace("\\\n", " ").splitlines():
        name, _, rest = line.partition(" ")
        words = rest.split()
        match name:
            case "":
                continue
            case "FROM":
                stages |= set(words[2:])
                image = Image()
            case "COPY" if words[0].startswith("--from="):
                assert words[0].removeprefix("--from=") in stages, line
            case "COPY":
                assert all((context / word).exists() for word in words[:-1]), line
            case "RUN":
                for extras in re.findall(r"imarena-\S+?(\[\S+?\])", line):
                    check_extras(["install", f"imarena{extras}"], line)
            case "ENV":
                image.env |= dict(word.split("=", 1) for word in words)
            case "USER" | "WORKDIR":
                setattr(image, {"USER": "user", "WORKDIR": "folder"}[name], words[0])
            case "VOLUME" | "EXPOSE":
                {"VOLUME": image.volumes, "EXPOSE": image.ports}[name].update(words)
            case "ENTRYPOINT" | "CMD":
                setattr(image, {"ENTRYPOINT": "entrypoint", "CMD": "command"}[name], json.loads(rest))
            case "HEALTHCHECK":
                image.health = json.loads(rest.partition("CMD ")[2])
            case "STOPSIGNAL":
                assert getattr(signal, rest) is signal.SIGTERM
            case _:
                raise ValueError(f"Containerfile: {line}")
    return image


@dataclass
class Podman:
    """`podman build` and `podman run`: an image's command line on this machine, with the image's environment alone."""

    folder: Path
    """Where volumes are, by name, and the containers' own files."""
    images: dict[str, Image] = field(default_factory=dict)

    def build(self, words: Sequence[str], context: Path = ROOT) -> None:
        """Read the Containerfile of the context."""
        parser = _parser("podman build")
        parser.add_argument("--format", choices=["oci", "docker"], default="oci")
        parser.add_argument("-t", "--tag", required=True)
        parser.add_argument("context")
        options = parser.parse_args(words)
        image = read_containerfile(context / options.context)
        assert options.format == "docker" or not image.health, "the OCI format has no HEALTHCHECK"
        self.images[options.tag] = image

    @contextmanager
    def run(self, words: Sequence[str], host: Mapping[str, str], port: int | None = None) -> Iterator["Container"]:
        """A running container; one that publishes a port listens on `port`. It leaves no file outside of what is mounted."""
        parser = _parser("podman run")
        parser.add_argument("--rm", action="store_true")
        parser.add_argument("--read-only", action="store_true")
        parser.add_argument("--tmpfs", action="append", default=[])
        parser.add_argument("-p", "--publish")
        parser.add_argument("-v", "--volume", action="append", default=[])
        parser.add_argument("-e", "--env", action="append", default=[])
        parser.add_argument("image")
        parser.add_argument("command", nargs=argparse.REMAINDER)
        options = parser.parse_args(words)
        image = self.images[options.image]
        mounted = {inside: self.folder / name for name, inside in (one.split(":") for one in options.volume)}
        assert image.volumes <= mounted.keys(), "nothing is mounted on a volume of the image"
        mounted |= dict.fromkeys(options.tmpfs, self.folder / "tmpfs")
        if not options.read_only:
            mounted.setdefault("/tmp", self.folder / "tmpfs")
        for path in mounted.values():
            path.mkdir(exist_ok=True)
        command = [*image.entrypoint, *(options.command or image.command)]
        assert command[0] == "imarena", command
        if options.publish:
            assert options.publish.split(":")[-1] in image.ports, "the port is not one that the image exposes"
            command += ["--port", str(port)]
        home = self.folder / "home"
        env = {name: _inside(value, mounted) for name, value in image.env.items()}
        env |= {name: host[name] for name in options.env} | {"HOME": str(home), "TMPDIR": str(self.folder / "tmpfs")}
        env |= {name: os.environ[name] for name in ("PATH", "PYTHONPATH") if name in os.environ}
        log = self.folder / "log"
        with log.open("wb") as file:
            process = subprocess.Popen(
                [sys.executable, "-m", *command], cwd=_inside(image.folder, mounted), env=env, stdout=file,
                stderr=subprocess.STDOUT,
            )  # fmt: skip
        try:
            yield Container(process, image, log, f"http://127.0.0.1:{port}")
        finally:
            process.kill()
            process.wait()
        assert not home.exists(), "the program writes to the home folder, which the container may not"


@dataclass
class Container:
    """A container under way."""

    process: "subprocess.Popen[bytes]"
    image: Image
    log: Path
    address: str

    def ended(self, timeout_s: float = 60) -> int:
        """Its exit code, once it has ended."""
        return self.process.wait(timeout_s)

    def healthy(self) -> bool:
        """Does the health check of the image pass? It is asked until it does, for a minute."""
        program, *rest = self.image.health
        assert program == "python3"
        old = "http://127.0.0.1:8000/"
        assert old in rest[-1]
        for _ in range(300):
            try:
                httpx.get(self.address + "/api/health")
            except httpx.TransportError:
                assert self.process.poll() is None, self.log.read_text()
                time.sleep(0.2)
                continue
            check = [*rest[:-1], rest[-1].replace(old, self.address + "/")]
            return subprocess.run([sys.executable, *check], check=False).returncode == 0
        return False


def _parser(program: str) -> argparse.ArgumentParser:
    return argparse.ArgumentParser(prog=program, allow_abbrev=False)


def _inside(value: str, mounted: Mapping[str, Path]) -> str:
    """A value of the image's environment, with the folder that is mounted there if it is a path."""
    if not value.startswith("/"):
        return value
    place = next((inside for inside in mounted if Path(value).is_relative_to(inside)), None)
    assert place is not None, f"{value}: no place that the container may write to"
    return str(mounted[place] / Path(value).relative_to(place))
