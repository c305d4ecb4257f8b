"""The output of ``--help``: commands and options under headings, and plain names for the types of values."""

import re
from collections.abc import Callable, Collection, Iterator
from functools import cache
from typing import Any

import typer
from typer.core import TyperCommand, TyperGroup

from imarena.core import package_yaml

_TYPE = re.compile(r"<(?:list\[)?(str|int|float|[Pp]ath)\]?(?: range)?>|\b(?:INTEGER|FLOAT)(?: RANGE)?\b")
"""The type of a value, as printed by several versions of typer."""
_ARGUMENT = re.compile(r"\{(\w+)\}|(\[\w+\])")
"""An argument in the line of usage, if the command gives it no name of its own."""
_SENTENCE = re.compile(r"(?<=[.]) (?=[A-Z`])")
_LOWER_NAME = re.compile(r"^\w+")
_PLAIN = {"str": "TEXT", "path": "PATH", "Path": "PATH"}

_PLURALS = {f"--{name}": f"--{name}s" for name in ("editor", "dataset", "task", "topic")}
OTHER_SPELLINGS = {**_PLURALS, **{plural: single for single, plural in _PLURALS.items()}}
"""Options that may be repeated are plural, options with one value singular; every command takes both spellings."""

_HelpRow = tuple[str, str]


class Command(TyperCommand):
    """A command whose help lists options under the headings of `help.yaml`."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        spellings = {word for parameter in self.get_params(ctx) for word in parameter.opts}
        end = args.index("--") if "--" in args else len(args)
        try:
            return super().parse_args(ctx, [*(_known_spelling(word, spellings) for word in args[:end]), *args[end:]])
        except typer.BadParameter as error:
            _explain(error)
            if _is_missing(error):
                error.message = f"Example: {_example(ctx, self.get_params(ctx))}"
            if error.param is not None and error.param.param_type_name == "argument":
                error.param_hint = f"'{error.param.metavar or str(error.param.name).upper()}'"
            raise

    def collect_usage_pieces(self, ctx: Any) -> list[str]:
        return [
            _ARGUMENT.sub(lambda match: (match[1] or match[2]).upper(), piece)
            for piece in super().collect_usage_pieces(ctx)
        ]

    def format_options(self, ctx: Any, formatter: Any) -> None:
        arguments: list[_HelpRow] = []
        options: dict[str, _HelpRow] = {}
        for parameter in self.get_params(ctx):
            if (record := parameter.get_help_record(ctx)) is None:
                continue
            row = (_plain_types(record[0]), record[1])
            if parameter.param_type_name == "argument":
                arguments.append((_LOWER_NAME.sub(lambda match: match[0].upper(), row[0]), row[1]))
            else:
                options[option_name(parameter)] = row
        _, _, path = ctx.command_path.partition(" ")
        for heading, rows in [("Arguments", arguments), *_under_headings(options, path)]:
            if rows:
                with formatter.section(heading):
                    formatter.write_dl(rows)


def _plain_types(text: str) -> str:
    """Name the types of values as we do: TEXT, PATH, N."""
    return _TYPE.sub(lambda match: _PLAIN.get(match[1], "N"), text)


def _explain(error: typer.BadParameter) -> None:
    """Put the message of a value that newer versions of typer check with pydantic into our words."""
    from pydantic import ValidationError

    from imarena.core import value_problem

    if isinstance(error.__cause__, ValidationError):
        error.message = f"{value_problem(error.__cause__)}."


def _is_missing(error: typer.BadParameter) -> bool:
    """Whether a required value was not given at all."""
    return type(error).__name__ == "MissingParameter"


def _example(ctx: Any, parameters: Collection[Any]) -> str:
    """A call of the command with all that it needs, such as `imarena campaign rehearse CAMPAIGN --to PATH`."""
    words = [ctx.command_path]
    for parameter in parameters:
        if parameter.required and parameter.param_type_name == "argument":
            words.append(str(parameter.metavar or parameter.name).upper())
        elif parameter.required and (record := parameter.get_help_record(ctx)) is not None:
            words.append(_plain_types(record[0]).rpartition(", ")[2])
    return " ".join(words)


def _known_spelling(word: str, spellings: Collection[str]) -> str:
    """Return an option in the spelling of the command: `--editor` as `--editors` where it may be repeated."""
    name, equals, value = word.partition("=")
    other = OTHER_SPELLINGS.get(name)
    return f"{other}{equals}{value}" if other in spellings and name not in spellings else word


def option_name(parameter: Any) -> str:
    """Return the name of an option in `help.yaml`: its first long form, without dashes."""
    return str(next(word for word in parameter.opts if word.startswith("--"))[2:])


def _under_headings(options: dict[str, _HelpRow], path: str) -> Iterator[tuple[str, list[_HelpRow]]]:
    left = dict(options)
    for heading, names in headings().get(path, {}).items():
        yield heading, [left.pop(name) for name in names if name in left]
    yield "Other options" if path in headings() else "Options", list(left.values())


@cache
def headings() -> dict[str, dict[str, list[str]]]:
    """Read `help.yaml`: by command, the headings of its options and the options below each."""
    return dict(package_yaml("imarena.cli", "help.yaml"))


class Subcommands(TyperGroup):
    """A command with subcommands, whose help has the first sentence of each in full."""

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        rows = []
        for name in self.list_commands(ctx):
            command = self.get_command(ctx, name)
            if command is not None and not command.hidden:
                rows.append((name, _first_sentence(command.short_help or command.help or "")))
        if rows:
            with formatter.section("Commands"):
                formatter.write_dl(rows)


def _first_sentence(text: str) -> str:
    paragraph = " ".join(text.strip().partition("\n\n")[0].split())
    return _SENTENCE.split(paragraph, maxsplit=1)[0]


class CommandGroup(typer.Typer):
    """A group of commands whose help has headings."""

    def command(self, name: str | None = None, **settings: Any) -> Callable[..., Any]:
        return super().command(name, **{"cls": Command, **settings})
