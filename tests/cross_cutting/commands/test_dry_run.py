"""`--dry-run` never writes: no file of the workspace, no row of its database and nothing beside it changes."""

import hashlib
import shutil
from pathlib import Path

import pytest
import typer
from sqlalchemy import select

from imarena.cli.app import COMMANDS, app
from imarena.core.records import Evidence, Item, JsonDict, Rater, Verification
from imarena.storage import open_workspace
from imarena.storage.schema import metadata
from tests.command import Imarena
from tests.servers.fake_endpoint import point_at
from tests.small_data.small_arena import make_arena, write_folders

CALLS: dict[str, list[str]] = {
    "edit": ["edit", "-e", "classical", "--dry-run"],
    "edit with the bundled items": ["edit", "-e", "classical", "--studio", "--dry-run"],
    "edit from a folder": ["edit", "-e", "folder:data/outputs/studio-exact", "--dry-run"],
    "judge": ["judge", "--dry-run"],
    "battle": ["battle", "--dry-run"],
    "objects": ["objects", "--dry-run"],
    "edival build": ["edival", "build", "data/sources", "--dry-run"],
    "curate run": [
        "curate", "run", "data/items.csv", "-s", "data/sources", "--endpoint", "fake", "--dry-run",
    ],
    "curate rescore": ["curate", "rescore", "curated", "--to", "again", "--endpoint", "fake", "--dry-run"],
    "curate repair": [
        "curate", "repair", "curated", "to-repair", "--instruction", "Make it red.", "--min-long-side", "16",
        "--verifiers", "1", "--endpoint", "fake", "--dry-run",
    ],
    "curate instructions": ["curate", "instructions", "-d", "studio", "--endpoint", "fake", "--dry-run"],
    "edival score": ["edival", "score", "--dry-run"],
    "health": ["health", "--judge", "builtin", "--probe", "2", "--dry-run"],
    "campaign create": ["campaign", "create", "new", "--dry-run"],
    "compare": [
        "compare", "data/outputs/studio-exact", "data/outputs/studio-artefacts", "--items", "data/items.csv",
        "--dry-run",
    ],
}  # fmt: skip


@pytest.fixture(scope="module")
def filled(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A workspace with outputs, and the same as folders."""
    root = tmp_path_factory.mktemp("filled")
    make_arena(root / "arena", items=2)
    point_at(root / "arena", "http://127.0.0.1:1/v1")
    request: JsonDict = {"key": "a", "instruction": "Make the cat black.", "task": None, "keywords": []}
    value: JsonDict = {"dataset": "curated", "request": request, "settings": {}}
    with open_workspace(root / "arena") as workspace:  # an instruction that `curate rescore` finds
        workspace.store.add([Evidence(image_sha256="w", tool="cogretriever", kind="curation_request", value=value)])
        shown = next(workspace.store.records(Item))  # the same image, on the repair list
        update = {"dataset": "curated", "key": "to-repair", "provenance": {"curation": "w", "request": "a"}}
        item = shown.model_copy(update=update)
        check = Verification(item_id=item.item_id, rater_id="ann", checks={"feasible": False}, decision="repair")
        workspace.store.add([item, Rater(rater_id="ann", name="ann"), check])
    write_folders(root / "arena", root / "data")
    return root


def state(folder: Path) -> dict[str, str]:
    """Every file by its hash and every table by its rows."""
    files = {
        str(path.relative_to(folder)): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }
    with open_workspace(folder / "arena") as workspace, workspace.store.engine.connect() as connection:
        for table in metadata.sorted_tables:
            rows = connection.execute(select(table)).all()
            files[f"table {table.name}"] = hashlib.sha256(repr(sorted(map(repr, rows))).encode()).hexdigest()
    return files


@pytest.mark.parametrize("name", CALLS)
def test_nothing_is_written(imarena: Imarena, filled: Path, tmp_path: Path, name: str) -> None:
    for folder in ("arena", "data"):
        shutil.copytree(filled / folder, tmp_path / folder)
    before = state(tmp_path)
    document = imarena("-w", "arena", "--json", *CALLS[name]).json
    assert document["dry_run"] is True
    assert state(tmp_path) == before


def test_a_comparison_without_a_workspace_leaves_nothing(imarena: Imarena, filled: Path, tmp_path: Path) -> None:
    shutil.copytree(filled / "data", tmp_path / "data")
    before = sorted(tmp_path.rglob("*"))
    imarena(*CALLS["compare"])
    imarena("-w", "new", *CALLS["compare"])
    assert sorted(tmp_path.rglob("*")) == before


def test_every_command_that_has_the_option_is_tried() -> None:
    group = typer.main.get_command(app)
    having = set()
    for name in COMMANDS:
        command = group.get_command(None, name)  # type: ignore[attr-defined]
        for sub, made in {name: command, **getattr(command, "commands", {})}.items():
            if any("--dry-run" in parameter.opts for parameter in made.params):
                having.add(name if sub == name else f"{name} {sub}")
    groups = ("campaign", "curate", "edival")
    assert having == {" ".join(words[:2]) if words[0] in groups else words[0] for words in CALLS.values()} | {
        "submission add"
    }  # publishing/test_submission.py tries it
