"""Commands that texts suggest: one function makes them, they name the workspace, and they can be copied to a shell."""

import ast
import re
import shlex
from pathlib import Path

import pytest
import yaml

from imarena.cli.app import COMMANDS
from imarena.core import command_line, fill_in_commands, suggest_for
from tests.command import Imarena
from tests.conftest import ROOT
from tests.small_data.small_arena import make_arena

SOURCE = ROOT / "src" / "imarena"
VERBS = "|".join(sorted(map(re.escape, COMMANDS), key=len, reverse=True))
LITERAL = re.compile(rf"\bimarena (?:-w\b|--workspace\b|(?:{VERBS})\b(?!:))")
NAMES = {
    "cli/boards/rank.py": {"imarena rank"},  # the title of a gate's files
    "cli/studies/compare.py": {"imarena compare"},
    "datasets/pack_manifest.py": {"imarena submission"},  # the format of a file
    "workflows/demo.py": {"imarena demo", "imarena demo: eight editors with known habits"},  # the names of its results
}
"""Texts that only look like a command."""
FOLDER = "my arena"


def literals(path: Path) -> list[str]:
    """Texts of a module without docstrings and help; `{}` is a value."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    skipped: set[ast.AST] = set()
    for node in ast.walk(tree):
        for statement in getattr(node, "body", []) if isinstance(getattr(node, "body", None), list) else []:
            if isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant):
                skipped.add(statement.value)
        if isinstance(node, ast.keyword) and node.arg == "help":
            skipped |= set(ast.walk(node.value))
        if isinstance(node, ast.JoinedStr):
            skipped |= set(node.values)
    texts = []
    for node in ast.walk(tree):
        if node in skipped:
            continue
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            texts.append(node.value)
        elif isinstance(node, ast.JoinedStr):
            texts.append("".join(str(v.value) if isinstance(v, ast.Constant) else "{}" for v in node.values))
    return texts


def test_no_module_writes_a_command_itself() -> None:
    found = [
        f"{name}: {text}"
        for path in sorted(SOURCE.rglob("*.py"))
        for text in literals(path)
        if LITERAL.search(text) and text not in NAMES.get(name := path.relative_to(SOURCE).as_posix(), set())
    ]
    assert found == []


def texts_of(value: object) -> list[str]:
    if isinstance(value, dict):
        return [text for part in value.values() for text in texts_of(part)]
    if isinstance(value, list):
        return [text for part in value for text in texts_of(part)]
    return [value] if isinstance(value, str) else []


def test_no_data_file_writes_a_command_itself() -> None:
    files = [path for path in sorted(SOURCE.rglob("*.yaml")) if "prompts" not in path.parts]
    assert len(files) > 20
    found = [
        f"{path.relative_to(SOURCE)}: {text}"
        for path in files
        for part in yaml.safe_load_all(path.read_text(encoding="utf-8"))
        for text in texts_of(part)
        if LITERAL.search(text)
    ]
    assert found == []


def test_the_literal_is_found() -> None:
    """The pattern of the two tests above: commands, not the package's name."""
    assert LITERAL.search("run `imarena judge --judge x`")
    assert LITERAL.search("imarena -w {} campaign create")
    assert not LITERAL.search("published by imarena 1.0, {imarena} judge")


def test_values_are_quoted_and_the_workspace_is_named() -> None:
    assert command_line("rank --judge", "my judge") == "imarena rank --judge 'my judge'"
    with suggest_for(Path(FOLDER)):
        assert command_line("campaign close", "a", "--reopen") == "imarena -w 'my arena' campaign close a --reopen"
        assert fill_in_commands("run {imarena} judge") == "run imarena -w 'my arena' judge"
        assert command_line("serve", workspace=Path("copy")) == "imarena -w copy serve"
    assert command_line("status") == "imarena status"


SAID = re.compile(rf"imarena( -w 'my arena')? (?:{VERBS})\b")


@pytest.mark.parametrize(
    "words",
    [
        ("rank",), ("rank", "--source", "people"), ("status", "--items"),
        ("edit", "--editors", "classical"), ("judge",), ("battle",), ("scan",), ("campaign", "status"),
        ("campaign", "list"), ("campaign", "create", "c"), ("dataset", "list"), ("health",), ("agree",),
        ("align",), ("publish", "out"), ("route", "assign", "--budget", "3"), ("route", "calibrate"),
        ("curate", "release", "d", "--to", "e"), ("pvc", "evaluate"), ("edival", "report"), ("weights", "verify", "x"),
    ],
    ids=" ".join,
)  # fmt: skip
def test_an_empty_workspace_is_named_in_every_next_step(imarena: Imarena, words: tuple[str, ...]) -> None:
    imarena("-w", FOLDER, "init")
    ended = imarena("-w", FOLDER, *words, code=None)
    said = SAID.findall(ended.out + ended.err)
    assert said
    assert all(said), ended.out + ended.err


def test_suggested_commands_can_be_copied(imarena: Imarena) -> None:
    """A command that is printed next runs as it is; the report names the workspace too."""
    make_arena(imarena.folder / FOLDER)
    refused = imarena("-w", FOLDER, "rank", code=2)
    (command,) = re.findall(r"`(imarena [^`]* judge)`", refused.err)
    imarena(*shlex.split(command)[1:])
    created = imarena("-w", FOLDER, "campaign", "create", "it's red", "--max-units", "2").out
    invite, serve = re.findall(r"imarena .*?(?=   \()", created)
    assert serve == "imarena -w 'my arena' serve"
    assert "/join#" in imarena(*shlex.split(invite)[1:]).out
    imarena("-w", FOLDER, "report", "r.html")
    page = (imarena.folder / "r.html").read_text(encoding="utf-8").replace("&#39;", "'")
    said = SAID.findall(page)
    assert len(said) > 5
    assert all(said)
    board = re.search(r"imarena -w 'my arena' rank[^<]*", page)
    assert board is not None
    assert "rank" in imarena(*shlex.split(board[0])[1:]).out
