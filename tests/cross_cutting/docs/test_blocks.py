"""Every code block of the documentation is run, here or by another test that is named."""

import json
import os
import re
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Callable
from itertools import groupby
from pathlib import Path

import pytest
import yaml

from tests.command import Imarena
from tests.conftest import ROOT
from tests.cross_cutting.docs import people
from tests.cross_cutting.docs.blocks import (
    CHECKED,
    MARK,
    PAGES,
    SHELL,
    Block,
    blocks,
    indented_commands,
    judge_arena,
    pages_run,
    prepare,
)

BLOCKS = [block for block in blocks() if block.language in CHECKED]
RUN = {
    page: list(found)
    for page, found in groupby((b for b in BLOCKS if b.mark in ("", "after")), lambda block: block.page)
}
RUN = {page: found for page, found in RUN.items() if any(block.language in (*SHELL, "python") for block in found)}


def test_there_are_blocks() -> None:
    assert len(BLOCKS) > 80
    assert len(RUN) > 8
    assert sum(len(found) for found in RUN.values()) > 30


def test_commands_are_in_fences() -> None:
    assert indented_commands() == []


def test_blocks_of_commands_name_their_language() -> None:
    """Else no test looks at them."""
    others = [block for block in blocks() if block.language not in CHECKED]
    command = re.compile(r"^(\$ )?([A-Z_]+=\S+ )*(imarena|make|pip|python|curl|podman|vllm) ", re.MULTILINE)
    assert [block.where for block in others if command.search(block.body)] == []


@pytest.mark.parametrize(
    "block", [b for b in BLOCKS if b.mark and b.reason != ".ci/run"], ids=lambda block: block.where
)
def test_a_mark_is_true(block: Block) -> None:
    """A test that is named takes the blocks of the page; what people do before a block exists."""
    if block.mark == "after":
        assert callable(getattr(people, block.reason, None))
    else:
        assert block.page in pages_run((ROOT / block.reason).read_text(encoding="utf-8"))


def test_no_block_is_left_out() -> None:
    """A comment above a block is one of the marks that this test knows."""
    above = re.compile(r"^ *(<!--.*-->)\n+ *```", re.MULTILINE)
    comments = [(page, mark) for page in PAGES for mark in above.findall(page.read_text(encoding="utf-8"))]
    assert len(comments) > 50
    assert [(page.name, mark) for page, mark in comments if not MARK.fullmatch(mark)] == []


def test_a_file_that_only_names_a_page_does_not_run_it() -> None:
    runs = 'def test_it():\n    (block,) = blocks_of("report.md", __file__)\n'
    assert pages_run(runs) == {"docs/guide/report.md"}
    for other in ('"report.md"', '# blocks_of("report.md", __file__)', 'blocks_of("report.md", "tests/other.py")'):
        assert pages_run(other) == set()


def read_json(text: str) -> object:
    """One document, or one per line."""
    try:
        return json.loads(text)
    except json.JSONDecodeError:
        return [json.loads(line) for line in text.splitlines()]


@pytest.mark.parametrize("block", [b for b in BLOCKS if b.language in ("yaml", "toml", "json")], ids=lambda b: b.where)
def test_data_can_be_read(block: Block) -> None:
    readers: dict[str, Callable[[str], object]] = {"yaml": yaml.safe_load, "toml": tomllib.loads, "json": read_json}
    readers[block.language](block.body)


def test_blocks_that_run_call_imarena_alone() -> None:
    """A line for another program is marked, and not skipped in silence."""
    for found in RUN.values():
        for block in found:
            if block.language in SHELL:
                assert block.commands(), block.where


@pytest.fixture(scope="module")
def prepared(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("docs") / "prepared"
    folder.mkdir()
    prepare(folder)
    judge_arena(folder)
    return folder


@pytest.mark.slow
@pytest.mark.parametrize("page", sorted(RUN))
def test_the_blocks_of_a_page_run(page: str, prepared: Path, tmp_path: Path) -> None:
    folder = tmp_path / "here"
    shutil.copytree(prepared, folder)
    run = Imarena(folder)
    for block in RUN[page]:
        if block.mark == "after":
            getattr(people, block.reason)(folder)
        if block.language == "python":
            env = {**os.environ, "PYTHONPATH": str(ROOT / "src")}
            ended = subprocess.run(
                [sys.executable, "-c", block.body], cwd=folder, env=env, capture_output=True, text=True, check=False
            )
            assert ended.returncode == 0, f"{block.where}\n{ended.stderr[-2000:]}"
        elif block.language in SHELL:
            for words in block.commands():
                if people.serves(words):
                    with people.served(words, folder):
                        continue
                done = run(*words, code=None)
                assert done.code == 0, f"{block.where}: {' '.join(words)}\n{done.out[-800:]}\n{done.err[-800:]}"
