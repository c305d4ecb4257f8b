"""The agent in the arena: edited, judged and ranked offline beside nine other editors; its trace is stored."""

import re
from pathlib import Path
from statistics import mean

import pytest

from imarena.core.records import Evidence, Item, Mode, Output, Status, Trace
from imarena.storage import open_workspace
from imarena.studio import true_quality
from imarena.workflows.boards import Boards, all_boards
from imarena.workflows.boards.findings import judge_driven_editors, self_judged
from imarena.workflows.views import View
from tests.command import Imarena
from tests.servers.fake_endpoint import fake_server, point_at

KEYS = (
    "edival-03", "edival-06", "cv-object-insertion-1", "cv-functional-state-change-1", "cv-text-recovery-2",
    "world-tie-p", "photo-flower", "photo-pavilion",
)  # fmt: skip
ALONE = ("studio-exact", "studio-timid", "studio-over-editing", "studio-artefacts", "studio-wrong-target",
         "studio-returns-input", "studio-new-image", "studio-flaky", "classical")  # fmt: skip
AGENT = "agent:studio-timid"
pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def arena(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("arena") / "w"
    imarena = Imarena(root.parent)
    imarena("init", root)
    chosen = [word for key in KEYS for word in ("--items", key)]
    editors = [word for name in (*ALONE, AGENT, "best-of-3:studio-wrong-target") for word in ("-e", name)]
    limits = ["-o", "success_score=950", "-o", "judge=builtin"]
    modes = ["--mode", "single", "--mode", "complex"]
    imarena("-w", root, "edit", "--studio", *chosen, *editors, *limits, *modes, code=3)  # flaky and classical refuse
    return root


def truths(root: Path) -> dict[str, float]:
    found: dict[str, list[float]] = {}
    with open_workspace(root) as workspace:
        keys = {item.item_id: item.key for item in workspace.store.records(Item)}
        for output in workspace.store.records(Output, status=Status.OK.value):
            assert output.image is not None
            truth = true_quality(
                keys[output.item_id], workspace.load(output.image), turn=output.turn,
                complex_mode=output.mode is Mode.COMPLEX,
            )  # fmt: skip
            found.setdefault(output.editor or "", []).append(truth.score)
    return {name: mean(values) for name, values in found.items()}


def test_by_the_studio_truth_the_agent_stands_above_its_editor(arena: Path) -> None:
    found = truths(arena)
    assert found[AGENT] > found["studio-timid"] + 0.03
    assert found["best-of-3:studio-wrong-target"] >= found["studio-wrong-target"]
    assert found["studio-exact"] > found[AGENT]


def test_edited_judged_and_ranked_offline(arena: Path) -> None:
    imarena = Imarena(arena.parent)
    imarena("-w", arena, "judge", "--judge", "builtin")
    board = imarena("-w", arena, "--json", "rank", "--judge", "builtin").json
    ranked = {entry["model"] for entry in board["models"]}
    assert set(ALONE) - {"classical"} <= ranked
    assert AGENT in ranked
    assert len(ranked) >= 8
    told = {"code": "self_judged", "values": {"editor": AGENT, "judge": "builtin"}}
    assert told in board["notices"]
    with open_workspace(arena) as workspace:
        made = all_boards(Boards(View(workspace)))
    assert made
    assert all(any(notice.code == "self_judged" for notice in one.ranking.notices) for one in made)


def test_the_judge_that_drove_it_is_told(arena: Path) -> None:
    with open_workspace(arena) as workspace:
        drivers = judge_driven_editors(View(workspace))
    assert drivers == {AGENT: "builtin", "best-of-3:studio-wrong-target": "builtin"}
    assert AGENT in {notice.values["editor"] for notice in self_judged(drivers, ["builtin"])}
    assert self_judged(drivers, ["cv-judge"]) == []


def test_every_step_is_in_the_trace_with_its_picture(arena: Path) -> None:
    with open_workspace(arena) as workspace:
        made = {output.output_id: output for output in workspace.store.records(Output, editor=AGENT)}
        traces = {trace.output_id: trace for trace in workspace.store.records(Trace) if trace.output_id in made}
        kept = {found.against_sha256 for found in workspace.store.records(Evidence, kind="agent_step")}
        assert set(traces) == set(made)
        for output_id, trace in traces.items():
            stages = [step["stage"] for step in trace.steps]
            assert stages[:2] == ["understand", "plan"]
            assert stages[-1] == "choose"
            image = made[output_id].image
            assert image is not None
            assert trace.steps[-1]["image_sha256"] == image.sha256
            for step in trace.steps:
                if step["stage"] == "edit":
                    assert step["image_sha256"] in kept
                    assert workspace.blobs.get(str(step["image_sha256"]))
                    assert step["score"] is not None
    assert Imarena(arena.parent)("-w", arena, "--json", "verify", "--deep").json["clean"] is True


def test_a_model_as_mind_and_judge_over_the_wire(imarena: Imarena, tmp_path: Path) -> None:
    imarena("init", "w")
    with fake_server() as server:
        point_at(tmp_path / "w", server.url)
        words = (
            "-w", "w", "--json", "edit", "--studio", "--items", "edival-02", "--mode", "complex", "-e", "agent:studio-exact",
            "-o", "mind=fake", "-o", "judge=cv-judge", "-o", "steps=2",
        )  # fmt: skip
        planned = imarena(*words, "--dry-run").json["estimates"][0]
        done = imarena(*words).json
        asked = server.counts()["requests"]
    assert done["report"]["outputs"] == {"ok": 1}
    assert done["driven_by"] == {"agent:studio-exact": "cv-judge/fake-vlm"}
    assert asked >= 3  # understanding, planning, at least one verdict
    assert planned["cost_usd"] >= done["report"]["cost_usd"] > 0
    assert "3 verdicts at 'fake'" in planned["basis"]  # two steps and the source
    assert "2 questions at 'fake'" in planned["basis"]


def test_one_picture_from_the_command_line(imarena: Imarena, tmp_path: Path) -> None:
    from imarena.studio.photos import photo_bytes

    imarena("init", "w")
    (tmp_path / "cup.jpg").write_bytes(photo_bytes("coffee"))
    words = "Turn the photo into black and white."
    done = imarena("-w", "w", "--json", "agent", words, "cup.jpg", "-O", "out.jpg", "--steps", 2).json
    assert done["status"] == "ok"
    assert (tmp_path / "out.jpg").stat().st_size > 1000
    assert (tmp_path / "out-steps" / "1.jpg").exists()
    for stages, count in (("none", 2), ("understand", 3), ("plan", 4)):
        found = imarena("-w", "w", "--json", "agent", words, "cup.jpg", "--stages", stages).json
        assert len(found["steps"]) == count
    best = imarena("-w", "w", "--json", "agent", words, "cup.jpg", "--best-of", 2).json
    assert [step["stage"] for step in best["steps"]] == ["edit", "edit", "choose"]
    assert "Known" in imarena("-w", "w", "agent", words, "cup.jpg", "--stages", "all", code=2).err
    assert "cannot be read" in imarena("-w", "w", "agent", words, "no.jpg", code=2).err
    for unknown in (("-o", "foo=1"), ("--best-of", 2, "-o", "steps=1"), ("-e", "function:json:loads", "-o", "foo=1")):
        said = imarena("-w", "w", "agent", words, "cup.jpg", *unknown, code=2).err
        assert str(unknown[-1]).partition("=")[0] in said
        assert "Known" in said or "takes" in said


def test_one_picture_needs_no_workspace_and_may_stand_first(imarena: Imarena, tmp_path: Path) -> None:
    from imarena.studio.photos import photo_bytes

    (tmp_path / "cup.jpg").write_bytes(photo_bytes("coffee"))
    (tmp_path / "agent-output-steps").mkdir()
    for old in ("1.jpg", "4.jpg", "notes.txt"):
        (tmp_path / "agent-output-steps" / old).write_bytes(b"of an earlier run")
    said = imarena("agent", "cup.jpg", "Make the cup blue. Turn it into black and white.", "--steps", 2, code=3).out
    assert "ok: agent-output.jpg" in said
    assert re.search(r"chosen: the image of edit [12], score \d+\b(?!\.)", said)
    assert not re.search(r"score \d+\.", said)
    assert "The judge does not call it a success: not done yet" in said
    assert sorted(path.name for path in tmp_path.iterdir()) == ["agent-output-steps", "agent-output.jpg", "cup.jpg"]
    kept = sorted(path.name for path in (tmp_path / "agent-output-steps").iterdir())
    assert kept == ["1.jpg", "2.jpg", "notes.txt"]
    refused = imarena("agent", "Make it brighter.", code=3).out
    assert "name it after the instruction" in refused
    assert refused.count("this item has no source") == 1  # told once, at the end
    assert "--workspace DIR" in imarena("agent", "Brighter.", "cup.jpg", "--mind", "gemini", code=2).err
    assert "imarena -w w init" in imarena("-w", "w", "agent", "Brighter.", "cup.jpg", code=2).err
    assert "no.jpg cannot be read" in imarena("agent", "no.jpg", "Make it brighter.", code=2).err


def test_success_needs_every_part_of_the_instruction(imarena: Imarena, tmp_path: Path) -> None:
    """The classical editor cannot remove the cup and paints the table, and the cup with it, blue."""
    from imarena.studio.photos import photo_bytes

    (tmp_path / "cup.jpg").write_bytes(photo_bytes("coffee"))
    words = "Remove the cup and make the table blue."
    done = imarena("--json", "agent", words, "cup.jpg", code=3).json
    assert done["status"] == "ok"
    assert (done["success"], done["result"]) == (False, "not done")
    assert (done["done"], done["missing"], done["not_checked"]) == (["make the table blue"], ["remove the cup"], [])
    assert not any(step.get("stopped") == "success" for step in done["steps"])
    said = imarena("agent", words, "cup.jpg", code=3).out
    assert "not done yet: remove the cup." in said
    assert set(re.findall(r"(\w+) success\b", said)) == {"no", "a"}  # "no success yet", "does not call it a success"
    best = imarena("--json", "agent", words, "cup.jpg", "--best-of", 1, code=3).json
    assert (best["success"], best["missing"]) == (False, ["remove the cup"])


def test_a_part_that_cannot_be_checked_is_named(imarena: Imarena, tmp_path: Path) -> None:
    from imarena.studio.photos import photo_bytes

    (tmp_path / "cup.jpg").write_bytes(photo_bytes("coffee"))
    words = "Make the cup blue, but keep the spoon."
    done = imarena("--json", "agent", words, "cup.jpg").json
    assert (done["success"], done["result"]) == (None, "done as far as it could be checked")
    assert (done["done"], done["missing"], done["not_checked"]) == (["make the cup blue"], [], ["keep the spoon"])
    assert "done as far as it could be checked; not checked: keep the spoon." in imarena("agent", words, "cup.jpg").out
    whole = imarena("--json", "agent", "Turn the photo into black and white.", "cup.jpg").json
    assert (whole["success"], whole["result"], whole["missing"], whole["not_checked"]) == (True, "success", [], [])
    said = imarena("agent", "Turn the photo into black and white.", "cup.jpg").out
    assert "success: every part of the instruction is done (turn the photo into black and white)" in said
    open_loop = imarena("--json", "agent", words, "cup.jpg", "--stages", "plan").json
    assert (open_loop["success"], open_loop["result"]) == (None, None)  # no judge was asked
