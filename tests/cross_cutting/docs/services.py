"""Run the blocks of the guides that need more than imarena: a model server, weights, a database, other people's files.

The words of the page run. `Stage.replaced` names what stands in for an address, a model or a size of the page; each of
these must occur there, so that a table which no longer fits its page fails.
"""

import asyncio
import json
import os
import re
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Mapping, Sequence
from contextlib import chdir
from dataclasses import dataclass, field, replace
from inspect import CO_COROUTINE
from itertools import combinations, takewhile
from pathlib import Path
from typing import Any

import httpx

from imarena.clients.fake_answers import ChatQuery
from imarena.core.records import Outcome, Output, Rater, Vote
from imarena.storage import open_workspace
from tests.command import Ended, Imarena
from tests.conftest import ROOT
from tests.cross_cutting.docs.blocks import SHELL, Block, blocks
from tests.samples import vote
from tests.servers.fake_endpoint import answer as usual_answer

SERVED = "http://localhost:8000/v1"
"""Where the guides have a model server."""


def block_with(page: str, word: str) -> str:
    """The body of the one block of a guide that is no shell's and has the word."""
    found = [block.body for block in blocks() if block.page == f"docs/guide/{page}" and block.language not in SHELL]
    (body,) = [body for body in found if word in body]
    return body


def fitted(found: Sequence[Block], replaced: Mapping[str, str]) -> list[Block]:
    """The blocks with what stands in for their addresses and names, all of which they have."""
    for old in replaced:
        assert any(old in block.body for block in found), f"{found[0].page} no longer has {old!r}"
    return [replace(block, body=put_in(block.body, replaced)) for block in found]


def put_in(body: str, replaced: Mapping[str, str]) -> str:
    """The text with what stands in for its addresses and names."""
    for old, new in replaced.items():
        body = body.replace(old, new)
    return body


@dataclass
class Stage:
    """A folder in which blocks run one after the other."""

    folder: Path
    replaced: Mapping[str, str] = field(default_factory=dict)
    env: Mapping[str, str] = field(default_factory=dict)
    partly: Sequence[str] = ()
    """Words of the calls that may end with 3, done in part: a random model gives no verdict."""
    ended: list[Ended] = field(default_factory=list)
    names: dict[str, Any] = field(default_factory=lambda: {"__name__": "guide"})
    """What the Python blocks have defined."""

    def run(self, found: Sequence[Block]) -> list[Ended]:
        """Run the blocks; how their calls of imarena and python ended."""
        for block in fitted(found, self.replaced):
            if block.language == "python":
                self._python(block)
            else:
                for words in block.calls():
                    self._call(words, block.where)
        return self.ended

    def _call(self, words: list[str], where: str) -> None:
        given = dict(word.split("=", 1) for word in takewhile(_ASSIGNED.match, words))
        program, *arguments = words[len(given) :]
        if program == "cd":
            self.folder /= arguments[0]
        elif program == "pip":
            check_extras(arguments, where)
        elif program == "export":
            self.env = {**self.env, **dict(word.split("=", 1) for word in arguments)}
        elif program == "imarena":
            done = Imarena(self.folder)(*arguments, code=None, env={**self.env, **given})
            allowed = (0, 3) if any(word in words for word in self.partly) else (0,)
            assert done.code in allowed, f"{where}: {' '.join(words)}\n{done.out[-1500:]}\n{done.err[-1500:]}"
            self.ended.append(done)
        elif program == "python":
            paths = [given.get("PYTHONPATH", ""), os.environ.get("PYTHONPATH", ""), str(ROOT / "src")]
            env = {**os.environ, **self.env, **given, "PYTHONPATH": os.pathsep.join(filter(None, paths))}
            command = [sys.executable, *arguments]
            run = subprocess.run(command, cwd=self.folder, env=env, capture_output=True, text=True, check=False)
            assert run.returncode == 0, f"{where}: {' '.join(words)}\n{run.stderr[-1500:]}"
            self.ended.append(Ended(0, run.stdout, run.stderr))
        else:
            raise ValueError(f"{where}: not a program that this test knows: {' '.join(words)}")

    def _python(self, block: Block) -> None:
        """Run it here, in the stage's folder; `await` may stand outside of functions."""
        code = compile(block.body, block.where, "exec", flags=_AWAIT)
        with chdir(self.folder):
            if code.co_flags & CO_COROUTINE:
                asyncio.run(eval(code, self.names))  # noqa: S307
            else:
                exec(code, self.names)  # noqa: S102


_ASSIGNED = re.compile(r"[A-Z_]+=")
_AWAIT = 0x2000  # ast.PyCF_ALLOW_TOP_LEVEL_AWAIT


def add_endpoint(root: Path, url: str) -> None:
    """The settings of judging.md, with its endpoint `qwen` at this address, in a workspace."""
    settings = block_with("judging.md", "[endpoints.qwen]")
    with (root / "imarena.toml").open("a") as file:
        file.write("\n" + put_in(settings, {SERVED: url}))


def add_people(root: Path) -> None:
    """Two people rate every output and vote on every pair."""
    with open_workspace(root) as workspace:
        outputs = sorted(workspace.store.records(Output), key=lambda output: output.editor or "")
        for shift, rater in enumerate((Rater(rater_id="ann"), Rater(rater_id="bob"))):
            workspace.store.add([rater])
            workspace.store.add(
                Vote(
                    rater_id=rater.rater_id, item_id=output.item_id, left_id=output.output_id, scale=(1, 5),
                    ratings={"overall": 1 + (number + shift) % 5}, idempotency_key=f"{rater.rater_id} {number}",
                )
                for number, output in enumerate(outputs)
            )  # fmt: skip
            workspace.store.add(
                vote(rater, left, right, key=f"{shift} {left.output_id} {right.output_id}", preference=Outcome.RIGHT)
                for left, right in combinations(outputs, 2)
                if left.item_id == right.item_id
            )


def check_extras(words: Sequence[str], where: str) -> None:
    """`pip install` of imarena with extras that it has."""
    offered = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["optional-dependencies"]
    assert words[0] == "install", where
    for word in words[1:]:
        named = re.fullmatch(r"imarena\[([a-z0-9,]+)\]", word)
        assert named, f"{where}: pip install {word}"
        assert set(named[1].split(",")) <= offered.keys(), f"{where}: no such extra: {word}"


def curl(words: Sequence[str]) -> str:
    """What `curl -H HEADER ADDRESS` prints; where there is no curl, the same request by httpx."""
    program, flag, header, address = words
    assert (program, flag) == ("curl", "-H"), words
    if path := shutil.which("curl"):
        silent = [path, "--silent", "--show-error", "--fail-with-body", "--noproxy", "*"]
        return subprocess.run([*silent, *words[1:]], check=True, capture_output=True, text=True).stdout
    name, _, value = header.partition(": ")
    return httpx.get(address, headers={name: value}, trust_env=False).raise_for_status().text


def answer(query: ChatQuery) -> str:
    """For the fake server: what each judge of the guides asks for."""
    if "objects" in json.dumps(query.schema or {}):
        return json.dumps({"objects": [{"name": "cup", "present": True}]})
    if "Answer with one word: yes or no" in query.system:
        return "yes" if query.fraction("answer") < 0.5 else "no"
    return usual_answer(query)
