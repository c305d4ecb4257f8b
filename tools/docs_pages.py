"""Hook of `mkdocs build`: pages made from the program itself (command line, Python, web API) and from root files."""

import json
import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
ROOT_PAGES = {
    "ARCHITECTURE.md": "architecture.md",
    "CONTRIBUTING.md": "contributing.md",
    "CHANGELOG.md": "changelog.md",
}
_LINK = re.compile(r"\]\((?!https?:|#|mailto:)([^)\s]+)\)")
_WIDTH = 100


def on_files(files: Any, config: Any) -> Any:
    """Add the pages that are made here. MkDocs calls this."""
    from mkdocs.structure.files import File

    pages = {
        "reference/command-line.md": command_line_page(),
        "reference/python.md": python_page(),
        "reference/web-api.md": web_api_page(json.loads((ROOT / "docs/reference/openapi.json").read_text("utf-8"))),
        **{target: (ROOT / source).read_text("utf-8") for source, target in ROOT_PAGES.items()},
    }
    for name, text in pages.items():
        files.append(File.generated(config, name, content=text))
    return files


def on_page_markdown(markdown: str, page: Any, config: Any, files: Any) -> str:
    """Links to files of the repository that are no pages lead to the repository. MkDocs calls this."""
    folder = Path(page.file.src_uri).parent
    at_root = page.file.src_uri in ROOT_PAGES.values()

    def of(match: re.Match[str]) -> str:
        target, _, anchor = match[1].partition("#")
        path = Path(os.path.normpath((ROOT if at_root else ROOT / "docs" / folder) / target))
        name = path.relative_to(ROOT).as_posix() if path.is_relative_to(ROOT) else target
        known = ROOT_PAGES.get(name, name.removeprefix("docs/") if name.startswith("docs/") else "")
        if known and files.get_file_from_path(known) is not None:
            link = os.path.relpath(known, folder)
            return f"]({link}{'#' + anchor if anchor else ''})"
        kind = "tree" if path.is_dir() else "blob"
        return f"]({config['extra']['repository']}/{kind}/main/{name})"

    return _LINK.sub(of, markdown)


def commands() -> Iterator[tuple[str, str]]:
    """Every command and subcommand with the text that `--help` prints."""
    import typer

    from imarena.cli.app import app

    def walk(command: Any, path: tuple[str, ...], parent: Any) -> Iterator[tuple[str, str]]:
        context = type_of_context(command)(command, info_name=path[-1], parent=parent, terminal_width=_WIDTH)
        yield " ".join(path), command.get_help(context)
        if hasattr(command, "list_commands"):
            for name in command.list_commands(context):
                yield from walk(command.get_command(context, name), (*path, name), context)

    def type_of_context(command: Any) -> Any:
        return command.context_class

    yield from walk(typer.main.get_command(app), ("imarena",), None)


def command_line_page() -> str:
    """The command line by its own help."""
    parts = [
        "# Command line",
        "Each text below is what `--help` prints. `--json` and `--workspace` can be given before or after the command.",
        "Exit codes: 0 done, 1 failed, 2 you must fix something, 3 done in part, 4 a gate (`--fail-if`) failed.",
    ]
    for name, text in commands():
        level = "#" * min(4, 1 + len(name.split()))
        parts.append(f"{level} `{name}`\n\n```text\n{text.rstrip()}\n```")
    return "\n\n".join(parts) + "\n"


def python_page() -> str:
    """The public names of the package by their docstrings."""
    import imarena

    parts = ["# Python", "The public names of `imarena`. Import them from the package: `from imarena import rank`."]
    for name in sorted(imarena.__all__, key=str.lower):
        value = getattr(imarena, name)
        if name.startswith("_") or not hasattr(value, "__module__"):
            continue
        parts.append(f"::: {value.__module__}.{value.__qualname__}")
    return "\n\n".join(parts) + "\n"


def web_api_page(document: dict[str, Any]) -> str:
    """The operations of the web application by its OpenAPI file."""
    parts = [
        "# Web API",
        f"{document['info'].get('description') or document['info']['title']}\n\nThe file"
        " [openapi.json](openapi.json) contains every field; a running server also serves it.",
    ]
    for path, operations in document["paths"].items():
        for method, operation in operations.items():
            if not isinstance(operation, dict) or "responses" not in operation:
                continue
            parts.append(f"## `{method.upper()} {path}`")
            parts.append(operation.get("description") or operation.get("summary") or "")
            parts.append(_parameters(operation))
            body = _schema_name(operation.get("requestBody", {}).get("content", {}))
            answer = _schema_name(operation["responses"].get("200", {}).get("content", {}))
            names = [f"Body: `{body}`." if body else "", f"Answer: `{answer}`." if answer else ""]
            parts.append(" ".join(name for name in names if name))
    parts.append("## Types")
    for name, schema in sorted(document.get("components", {}).get("schemas", {}).items()):
        parts.append(f"### `{name}`\n\n{schema.get('description', '')}")
        rows = [
            f"| `{field}` | {_type(about)} | {'yes' if field in schema.get('required', []) else 'no'} |"
            for field, about in schema.get("properties", {}).items()
        ]
        if rows:
            parts.append("\n".join(["| field | type | required |", "|---|---|---|", *rows]))
    return "\n\n".join(part for part in parts if part) + "\n"


def _parameters(operation: dict[str, Any]) -> str:
    rows = [
        f"| `{one['name']}` | {one['in']} | {_type(one.get('schema', {}))} | {'yes' if one.get('required') else 'no'} |"
        for one in operation.get("parameters", ())
    ]
    return "\n".join(["| parameter | in | type | required |", "|---|---|---|---|", *rows]) if rows else ""


def _schema_name(content: dict[str, Any]) -> str:
    schema = next(iter(content.values()), {}).get("schema", {})
    return _type(schema) if schema else ""


def _type(schema: dict[str, Any]) -> str:
    if "$ref" in schema:
        return str(schema["$ref"]).rsplit("/", 1)[-1]
    if "anyOf" in schema:
        return " or ".join(_type(one) for one in schema["anyOf"])
    if schema.get("type") == "array":
        return f"list of {_type(schema.get('items', {}))}"
    if "enum" in schema:
        return ", ".join(str(value) for value in schema["enum"])
    return str(schema.get("type", "any"))
