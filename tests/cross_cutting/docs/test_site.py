"""The documentation site: its generated pages hold every command, every public name and every operation of the API."""

import importlib.util
import json
import re
from types import ModuleType

import pytest
import yaml

import imarena
from imarena.cli.app import COMMANDS
from tests.conftest import ROOT


@pytest.fixture(scope="module")
def pages() -> ModuleType:
    """The hook of `mkdocs build`."""
    spec = importlib.util.spec_from_file_location("docs_pages", ROOT / "tools" / "docs_pages.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_command_line_page_has_the_help_of_every_command(pages: ModuleType) -> None:
    text = pages.command_line_page()
    for name in COMMANDS:
        assert f"`imarena {name}`\n" in text, name
    for name in ("imarena campaign create", "imarena pvc evaluate", "imarena weights get"):
        assert f"`{name}`" in text
    assert "--fragility" in text


def test_the_python_page_names_everything_public(pages: ModuleType) -> None:
    listed = {line.rsplit(".", 1)[1] for line in pages.python_page().splitlines() if line.startswith("::: ")}
    assert listed == {name for name in vars(imarena)["__all__"] if not name.startswith("_")}


def test_the_web_page_has_every_operation(pages: ModuleType) -> None:
    document = json.loads((ROOT / "docs/reference/openapi.json").read_text(encoding="utf-8"))
    text = pages.web_api_page(document)
    for path, operations in document["paths"].items():
        for method in operations:
            assert f"`{method.upper()} {path}`" in text


def test_every_page_is_in_the_menu() -> None:
    """A page that no menu names is found by nobody."""
    menu = (ROOT / "mkdocs.yml").read_text(encoding="utf-8")
    named = set(re.findall(r"[\w/-]+\.md", menu))
    there = {path.relative_to(ROOT / "docs").as_posix() for path in (ROOT / "docs").rglob("*.md")}
    made = {"reference/command-line.md", "reference/python.md", "reference/web-api.md"}
    assert named == there | made | {"architecture.md", "contributing.md", "changelog.md"}
    settings = yaml.safe_load(menu)
    assert settings["theme"]["font"] is False, "pages load no font from the network"
    assert "repo_url" not in settings, "with it, each page asks for the repository's stars"
    assert all((ROOT / "docs" / script).is_file() for script in settings["extra"]["polyfills"])


def test_the_readme_is_short_and_leads_to_the_documentation() -> None:
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    assert len(text.splitlines()) <= 85
    for target in re.findall(r"\]\(((?:docs|src|[A-Z])[^)]*)\)", text):
        assert (ROOT / target).exists(), target
    assert "docs/tutorial.md" in text
