"""campaign create --settings: an option on the command line replaces the same setting of the file."""

import json
from pathlib import Path
from typing import Any

import pytest

from imarena.core.records import Campaign
from imarena.storage import open_workspace
from tests.command import Imarena
from tests.small_data.small_arena import make_arena

FILE = {"raters_per_unit": 3, "weekly_quota": 50, "kind": "rating", "consent": "Agreed.", "editors": ["studio-exact"]}


@pytest.fixture(scope="module")
def arena(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("settings")
    make_arena(root / "a", items=2)
    (root / "s.json").write_text(json.dumps(FILE))
    return root


def created(root: Path, name: str, *options: object) -> dict[str, Any]:
    Imarena(root)("-w", "a", "campaign", "create", name, *options)
    with open_workspace(root / "a") as workspace:
        (campaign,) = [record for record in workspace.store.records(Campaign) if record.name == name]
    return {**campaign.settings, "kind": campaign.kind}


def test_the_command_line_wins_over_the_file(arena: Path) -> None:
    alone = created(arena, "file", "--settings", "s.json")
    assert {name: alone[name] for name in FILE} == FILE
    both = created(arena, "both", "--raters-per-unit", 1, "--settings", "s.json", "--editors", "studio-artefacts")
    assert both["raters_per_unit"] == 1
    assert both["editors"] == ["studio-artefacts"]
    assert (both["weekly_quota"], both["kind"], both["consent"]) == (50, "rating", "Agreed.")
    pair = ("--kind", "preference", "--editors", "studio-exact", "--editors", "studio-artefacts")
    usual = created(arena, "usual", "--weekly-quota", 200, *pair, "--settings", "s.json")
    assert (usual["weekly_quota"], usual["kind"]) == (200, "preference"), "a default that was given counts as given"


def test_a_wrong_file_is_named(arena: Path) -> None:
    run = Imarena(arena)
    (arena / "list.json").write_text("[]")
    command = ("-w", "a", "campaign", "create", "wrong", "--settings")
    assert "list.json does not hold a JSON object" in run(*command, "list.json", code=2).err
    assert "cannot be read as JSON" in run(*command, "none.json", code=2).err
    (arena / "wrong.json").write_text('{"weekly_quotas": 3}')
    assert "weekly_quota" in run(*command, "wrong.json", code=2).err
