"""Every `imarena ...` that the documentation shows is one that the command line's own parser takes."""

import re
import shlex
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import pytest
import typer

from imarena.cli.app import app, hoist_global_options
from tests.conftest import ROOT

PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").rglob("*.md"))]
CALL = re.compile(r"^(?:\$ )?(?:[A-Z_]+=\S+ )*(?:\S*/)?imarena(?= |$)(.*)$")
INLINE = re.compile(r"`imarena((?: [^`]*)?)`")
GLOBAL = {"--json": 1, "--help": 1, "--version": 1, "-w": 2, "--workspace": 2}
NOT_OURS = re.compile(r"podman|<|>|\|")
"""What a shell does with a line, or another program's arguments."""
Wrong: Any = typer.BadParameter.__base__
"""What the parser raises for any wrong use."""


@dataclass(frozen=True)
class Shown:
    """A call in a page: the words after `imarena`. An inline mention may leave values out (`--probe N`)."""

    where: str
    words: str
    inline: bool


def blocks(text: str) -> Iterator[tuple[int, str]]:
    """Lines of code with their numbers, in fences or indented by four; a line that ends in a backslash goes on."""
    fenced, held, start = False, "", 0
    for number, line in enumerate(text.splitlines(), 1):
        if line.lstrip().startswith("```"):
            fenced = not fenced
            continue
        if fenced or line.startswith("    ") or held:
            start = start if held else number
            held += line.strip()
            if held.endswith("\\"):
                held = held[:-1]
                continue
            yield start, held
        held = ""


def shown() -> Iterator[Shown]:
    """All calls of all pages."""
    for page in PAGES:
        text = page.read_text(encoding="utf-8")
        name = page.relative_to(ROOT)
        for number, line in blocks(text):
            for part in line.split(" && "):
                found = CALL.match(part)
                if found and not NOT_OURS.search(part.split(" #")[0]):
                    yield Shown(f"{name}:{number}", found[1], inline=False)
        for number, line in enumerate(text.splitlines(), 1):
            for mention in INLINE.findall(line):
                yield Shown(f"{name}:{number}", mention, inline=True)


def trouble(call: Shown) -> str:
    """What the parser has against a call; empty where it has nothing."""
    words = hoist_global_options(shlex.split(call.words, comments=True))
    while words and words[0] in GLOBAL:
        words = words[GLOBAL[words[0]] :]
    words = words[: words.index("...")] if "..." in words else words
    command: Any = typer.main.get_command(app)
    path: list[str] = []
    while words and hasattr(command, "get_command"):
        path.append(words.pop(0))
        command = command.get_command(None, path[-1])
        if command is None:
            return f"there is no command '{' '.join(path)}'"
    if hasattr(command, "get_command"):
        return ""
    try:
        command.make_context(path[-1], list(words))
    except typer.Exit:
        return ""
    except Wrong as error:
        told = str(error.format_message())
        short = told.startswith(("Missing", "Invalid value")) or told.endswith("requires an argument.")
        return "" if short and (call.inline or "..." in call.words) else told
    return ""


CALLS = sorted(set(shown()), key=lambda call: (call.where, call.words))


def test_the_pages_show_calls() -> None:
    assert len(CALLS) > 100
    assert {call.where.split(":")[0] for call in CALLS} > {
        "README.md",
        "docs/guide/serve.md",
        "docs/guide/active-elo.md",
    }


def test_every_call_in_the_pages_is_understood() -> None:
    assert [f"{call.where}: imarena{call.words}: {told}" for call in CALLS if (told := trouble(call))] == []


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (" rank --from votes.csv", ""),
        (" -w arena rank --frm votes.csv", "No such option: --frm"),
        (" rnak", "there is no command 'rnak'"),
        (" campaign creat x", "there is no command 'campaign creat'"),
        (" compare old", "Missing argument"),
        (" judge --repeats many", "Invalid value"),
    ],
)
def test_a_wrong_call_is_found(words: str, told: str) -> None:
    found = trouble(Shown("here", words, inline=False))
    assert (told in found) if told else found == ""
