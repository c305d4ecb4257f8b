"""Options that were accepted and then ignored, or that wrote when they should not."""

from pathlib import Path

import pytest

from imarena.agent.rules import RulePlanner
from imarena.core import EditRequest, UserError
from imarena.core.records import Item
from imarena.core.settings import Settings
from imarena.datasets import load_taxonomy
from imarena.judges.chat.judge import need_chat
from imarena.storage import init_workspace, open_workspace
from imarena.workflows.wiring.judges import EndpointArguments, wire_judge
from tests.command import Imarena
from tests.samples import png
from tests.small_data.small_arena import make_arena

ADDRESS = ("http://localhost:1/v1",)


def test_the_demo_goes_where_the_workspace_option_points(imarena: Imarena, tmp_path: Path) -> None:
    (tmp_path / "there").write_text("a file, so that the demo stops before its work")
    refused = imarena("-w", "there", "demo", code=2)
    assert "there" in refused.err
    assert not (tmp_path / "imarena-demo").exists()
    (tmp_path / "imarena-demo").write_text("the same for the default, which an environment variable does not change")
    refused = imarena("demo", code=2, env={"IMARENA_WORKSPACE": str(tmp_path / "mine")})
    assert "imarena-demo" in refused.err
    assert not (tmp_path / "mine").exists()


def test_a_number_is_taken_where_an_option_is_a_text(imarena: Imarena, tmp_path: Path) -> None:
    root = tmp_path / "w"
    init_workspace(root).close()
    (tmp_path / "own.py").write_text("def edit(request):\n    return request.sources[0]\n")
    done = imarena(
        "-w", root, "--json", "edit", "--studio", "-i", "photo-cat", "-e", "function:own:edit", "--option", "version=2",
        env={"PYTHONPATH": str(tmp_path)},
    )  # fmt: skip
    assert done.json["report"]["outputs"] == {"ok": 1}
    wrong = imarena("-w", root, "edit", "-e", "function:own:edit", "--option", "versoin=2", code=2)
    assert "versoin" in wrong.err
    assert "Known: function, in_context, version." in wrong.err


@pytest.mark.parametrize(("preset", "model"), [("studies", "Qwen3-VL-8B-Instruct"), ("arena", "32B-Instruct-FP8")])
def test_a_preset_names_the_model_that_is_asked(preset: str, model: str) -> None:
    wired = wire_judge(Settings(), "genarena", EndpointArguments(base_url=ADDRESS, options={"preset": preset}))
    assert wired.client is not None
    assert wired.client.endpoint.model.endswith(model)
    assert wired.judge.name.endswith(model)
    own = EndpointArguments(base_url=ADDRESS, model="mine", options={"preset": preset})
    assert wire_judge(Settings(), "genarena", own).judge.name == "genarena/mine"


def test_a_preset_replaces_the_model_of_an_endpoint_in_the_settings() -> None:
    settings = Settings.model_validate(
        {
            "endpoints": {"local": {"base_url": ADDRESS[0], "model": "small"}},
            "judges": {"pair": {"kind": "genarena", "endpoint": "local", "preset": "arena"}},
        }
    )
    wired = wire_judge(settings, "pair")
    assert wired.client is not None
    assert wired.client.endpoint.model == "Qwen/Qwen3-VL-32B-Instruct-FP8"


def test_the_hint_of_a_missing_model_names_an_option_that_takes_an_address() -> None:
    with pytest.raises(UserError, match=r"--base-url http://localhost:8000/v1 --model"):
        need_chat(None, "viescore")


def test_the_tasks_of_cv_arena_carry_the_papers_names() -> None:
    taxonomy = load_taxonomy("cv_arena")
    removal = taxonomy.task("watermark_and_graphic_removal")
    assert removal is not None
    assert taxonomy.task("ui_recovery") == removal
    rearranged = taxonomy.task("spatial_rearrangement")
    assert rearranged is not None
    assert not removal.ours
    assert not rearranged.ours
    assert len(taxonomy.tasks) == 16


def test_a_dry_run_of_the_bundled_benchmark_writes_nothing(imarena: Imarena, tmp_path: Path) -> None:
    root = tmp_path / "w"
    init_workspace(root).close()
    before = sorted(path for path in root.rglob("*") if path.is_file())
    planned = imarena("-w", root, "--json", "edit", "--studio", "-i", "photo-cat", "-e", "studio-exact", "--dry-run")
    assert [estimate["new"] for estimate in planned.json["estimates"]] == [1]
    assert sorted(path for path in root.rglob("*") if path.is_file()) == before
    with open_workspace(root) as workspace:
        assert workspace.store.count(Item) in ({}, {(): 0})


@pytest.mark.parametrize(
    ("instruction", "kept"),
    [
        ("Crop the picture to the dog", "What remains in the frame stays the same."),
        ("Zoom in on the face", "What remains in the frame stays the same."),
        ("Extend the canvas to the left", "What remains in the frame stays the same."),
        ("Make the whole picture sepia", "The scene, its things and the framing stay the same."),
        ("Make the car red", "Everything that is not mentioned stays exactly as it is."),
    ],
)
@pytest.mark.anyio
async def test_an_order_to_change_the_frame_is_not_contradicted(instruction: str, kept: str) -> None:
    spec, _ = await RulePlanner().understand(EditRequest(instruction=instruction, sources=(png(1),)))
    assert spec.instruction == f"{instruction}. {kept}"


def test_a_preset_is_in_the_estimate_of_a_command(imarena: Imarena, tmp_path: Path) -> None:
    make_arena(tmp_path / "arena", items=1)
    words = ("battle", "--judge", "genarena", "--base-url", ADDRESS[0], "--option", "preset=arena", "--dry-run")
    planned = imarena("-w", "arena", "--json", *words).json
    assert [estimate["judge"] for estimate in planned["estimates"]] == ["genarena/Qwen/Qwen3-VL-32B-Instruct-FP8"]
    refused = imarena("-w", "arena", "battle", "--judge", "genarena", code=2)
    assert "--base-url URL --model NAME" in refused.err
    assert "--endpoint http" not in refused.err


def test_the_agent_does_not_contradict_an_order_to_crop(imarena: Imarena, tmp_path: Path) -> None:
    (tmp_path / "photo.png").write_bytes(png(1, (64, 48)))
    done = imarena("--json", "agent", "Crop the picture to the left half.", "photo.png", "--steps", 1, code=None)
    assert "What remains in the frame stays the same." in done.out
    assert "framing" not in done.out


def test_an_item_of_the_old_task_name_is_taken(imarena: Imarena, tmp_path: Path) -> None:
    init_workspace(tmp_path / "w").close()
    (tmp_path / "set").mkdir()
    (tmp_path / "set" / "one.png").write_bytes(png(1))
    rows = "key,instruction,source,taxonomy,task\none,remove the watermark,one.png,cv_arena,ui_recovery\n"
    (tmp_path / "set" / "items.csv").write_text(rows)
    imported = imarena("-w", "w", "--json", "import", "table", "set").json
    assert imported["warnings"] == []
