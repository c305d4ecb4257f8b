"""The same option has the same spelling in every command; the other spelling is accepted and not listed."""

from collections.abc import Iterator
from typing import Any

import pytest
import typer

from imarena.cli.app import app
from imarena.cli.help import OTHER_SPELLINGS
from tests.command import Imarena


def commands(group: Any = None, path: tuple[str, ...] = ()) -> Iterator[tuple[str, Any]]:
    """Every command with its name, such as `campaign create`."""
    group = group or typer.main.get_command(app)
    for name in group.list_commands(None):
        command = group.get_command(None, name)
        if hasattr(command, "list_commands"):
            yield from commands(command, (*path, name))
        else:
            yield " ".join((*path, name)), command


def test_options_that_may_be_repeated_are_plural_and_others_singular() -> None:
    wrong = []
    options = 0
    for name, command in commands():
        for parameter in command.params:
            for word in parameter.opts:
                if word in OTHER_SPELLINGS:
                    options += 1
                    if word.endswith("s") != parameter.multiple:
                        wrong.append(f"{name}: {word} should be {OTHER_SPELLINGS[word]}")
    assert options > 30
    assert wrong == []


def test_short_forms_mean_the_same_everywhere() -> None:
    meanings: dict[str, set[str]] = {"-e": set(), "-d": set(), "-j": set()}
    for _, command in commands():
        for parameter in command.params:
            for short in meanings.keys() & set(parameter.opts):
                meanings[short].add(next(word for word in parameter.opts if word.startswith("--")).rstrip("s"))
    assert meanings == {"-e": {"--editor"}, "-d": {"--dataset"}, "-j": {"--judge"}}


@pytest.mark.parametrize(
    "words",
    [
        ["edit", "--editor", "no-such-name"],
        ["edit", "--editors=no-such-name"],
        ["edit", "-e", "no-such-name"],
        ["campaign", "create", "a", "--editor", "no-such-name"],
        ["battle", "--editor", "no-such-name"],
    ],
)
def test_both_spellings_are_read(imarena: Imarena, words: list[str]) -> None:
    imarena("init", "arena")
    ended = imarena("-w", "arena", *words, code=None)
    assert ended.code == 2
    assert "No such option" not in ended.err


def test_only_one_spelling_is_listed(imarena: Imarena) -> None:
    for words in (["edit"], ["campaign", "create"], ["pvc", "pairs"], ["publish"]):
        listed = imarena(*words, "--help").out
        assert "--editor " not in listed
        assert "--dataset " not in listed
        assert "--datasets" in listed
