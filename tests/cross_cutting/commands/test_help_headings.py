"""The help of commands with many options: each option is listed once, below a heading."""

from collections.abc import Iterator
from typing import Any

import typer

from imarena.cli.app import COMMANDS, GROUPS, app
from imarena.cli.help import Command, headings, option_name
from tests.command import Imarena


def commands() -> Iterator[tuple[str, Any]]:
    """Every command that is not a group, with its path."""
    group = typer.main.get_command(app)
    for name in COMMANDS:
        command = group.get_command(None, name)  # type: ignore[attr-defined]
        subcommands = getattr(command, "commands", None)
        if subcommands is None:
            yield name, command
        else:
            yield from ((f"{name} {sub}", made) for sub, made in subcommands.items())


def option_names(command: Any) -> list[str]:
    return sorted(option_name(p) for p in command.params if p.param_type_name == "option" and not p.hidden)


def test_each_option_of_a_command_with_headings_has_one() -> None:
    made = dict(commands())
    assert headings().keys() <= made.keys()
    for path, listed in headings().items():
        names = sorted(name for group in listed.values() for name in group)
        assert names == option_names(made[path]), path


def test_commands_with_many_options_have_headings() -> None:
    for path, command in commands():
        assert isinstance(command, Command), path
        many = len(option_names(command))
        assert many < 17 or path in headings(), f"{path}: group its {many} options in cli/help.yaml"


def test_help_names_no_types_of_python(imarena: Imarena) -> None:
    for path, _ in commands():
        text = imarena(*path.split(), "--help").out
        assert "list[" not in text, path
        assert "<str>" not in text, path


def test_the_first_page_groups_the_commands(imarena: Imarena) -> None:
    text = imarena("--help").out
    places = [text.index(f"\n{heading}:\n") for heading in GROUPS]
    assert places == sorted(places)
    assert all(f"\n  {name} " in text for name in COMMANDS)
