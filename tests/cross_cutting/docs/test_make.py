"""Calls of make in the documentation: .ci/run makes the target, or runs every command of its recipe in another way."""

import re

import pytest

from tests.conftest import ROOT
from tests.cross_cutting.docs.blocks import SHELL, Block, blocks

BLOCKS = [block for block in blocks() if block.reason == ".ci/run"]
CALL = re.compile(r"\bimarena((?: (?:--)?[a-z]+)+)")
PATHS = re.compile(r"(?<= )tests/\S+")


def rules() -> dict[str, tuple[list[str], list[str]]]:
    """Prerequisites and recipe by target, with the virtual environments' names put in."""
    text = (ROOT / "Makefile").read_text(encoding="utf-8").replace("\\\n", "")
    for name, value in {"VENV": ".venv", "FULL": ".venv-full"}.items():
        text = text.replace(f"$({name})", value)
    found: dict[str, tuple[list[str], list[str]]] = {}
    for rule in re.finditer(
        r"^(?P<target>[\w.$()/-]+):(?!=)(?P<needs>.*)\n(?P<recipe>(?:\t.*\n?)*)", text, re.MULTILINE
    ):
        found[rule["target"]] = (
            rule["needs"].replace("|", " ").split(),
            [line.strip() for line in rule["recipe"].splitlines()],
        )
    return found


def made_by_ci() -> set[str]:
    """The targets that .ci/run makes, with what they need and what their recipes make."""
    known = rules()
    lines = (ROOT / ".ci" / "run").read_text(encoding="utf-8").splitlines()
    script = "\n".join(line for line in lines if not line.strip().startswith(("#", "step ")))
    waiting = [target for call in re.findall(r"\bmake((?: [\w./-]+)+)", script) for target in call.split()]
    made: set[str] = set()
    while waiting:
        target = waiting.pop()
        if target not in made:
            made.add(target)
            needs, recipe = known.get(target, ([], []))
            waiting += [*needs, *re.findall(r"\$\(MAKE\) ([\w-]+)", " ".join(recipe))]
    return made


def is_run(line: str, recipes: str) -> bool:
    """Does CI run a line of a recipe: its call of imarena, in a recipe or in a page, or its tests?"""
    if call := CALL.search(line):
        return call[1] in CALL.findall(recipes) or call[1] in calls_in_pages()
    if "-m pytest" in line:
        slow = "-m pytest $(PYTEST) -m 'slow" in recipes  # of all files
        return all(
            path in recipes or (slow and "mark.slow" in (ROOT / path).read_text()) for path in PATHS.findall(line)
        )
    return line.startswith(("rm -f ", "@"))  # removes old files, prints a hint


def calls_in_pages() -> list[str]:
    """What pages call and tests run."""
    ours = (block.body for block in blocks() if block.language in SHELL)
    return [call for body in ours for call in CALL.findall(body)]


def test_blocks_call_make() -> None:
    assert {block.page for block in BLOCKS} >= {"README.md", "docs/guide/rating.md"}
    assert {"test", "docs", "web", "wheel-demo", "test-browser", "test-fuzz"} <= made_by_ci()
    assert not {"bench", "pictures", "serve", "clean"} & made_by_ci()
    assert not is_run("$(BIN)/imarena demo --full", "$(BIN)/imarena demo")
    assert not is_run("$(BIN)/python -m pytest tests/none", "-m pytest tests/web")
    assert not is_run("$(NPM) run build", "")


@pytest.mark.parametrize("block", BLOCKS, ids=lambda block: block.where)
def test_ci_does_what_the_block_does(block: Block) -> None:
    known, made = rules(), made_by_ci()
    recipes = "\n".join(line for target in made for line in known.get(target, ([], []))[1])
    lines = [line.removeprefix("$ ").split(" #")[0].split() for line in block.body.splitlines()]
    assert lines
    for words in lines:
        assert words[0] == "make", f"{block.where}: {' '.join(words)}"
        for target in words[1:]:
            assert target in known, f"{block.where}: the Makefile has no target {target}"
            left = [] if target in made else [line for line in known[target][1] if not is_run(line, recipes)]
            assert left == [], f"{block.where}: .ci/run does not run this part of 'make {target}'"
