"""Stored evidence reaches the judges that ask for it, and no others."""

import io
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from PIL import Image, ImageDraw

from imarena.core.ids import sha256_hex
from imarena.core.protocols import Exhibit, JudgeTraits, Verdict
from imarena.core.records import Evidence, ImageRef, Item, JsonDict, Output, Status, Turn
from imarena.core.vision_ports import Detection
from imarena.images import BOXES, EDIT_BOXES, boxes_value
from imarena.storage import Workspace, init_workspace
from imarena.workflows.questions.case_context import add_context, with_context
from imarena.workflows.questions.cases import Case, load_outputs, pointwise_cases
from imarena.workflows.questions.judging_plan import plan_cases, work_id
from tests.command import Imarena

GUIDE = Path(__file__).parents[3] / "docs" / "guide" / "write-your-own-judge.md"
WORDS, OTHER = "Paint the left half black.", "Leave it as it is."
LEFT_HALF = (0.0, 0.0, 32.0, 64.0)


def kept(workspace: Workspace, dark: tuple[int, int, int, int] | None) -> ImageRef:
    """A grey image of 64 x 64 with a black box, in the store."""
    drawn = Image.new("RGB", (64, 64), (128, 128, 128))
    if dark is not None:
        ImageDraw.Draw(drawn).rectangle(dark, fill=(0, 0, 0))
    file = io.BytesIO()
    drawn.save(file, "PNG")
    data = file.getvalue()
    found = ImageRef(sha256=sha256_hex(data), size_bytes=len(data), media_type="image/png", width=64, height=64)
    return workspace.keep(found, data)


def edit_boxes(image: ImageRef, box: tuple[float, float, float, float] = LEFT_HALF, **more: Any) -> Evidence:
    fields: dict[str, Any] = {"tool": "hand", "tool_version": "1", "params": {"instruction": WORDS}, **more}
    return Evidence(image_sha256=image.sha256, kind=EDIT_BOXES, value=boxes_value([Detection(box)], 64, 64), **fields)


@dataclass(frozen=True)
class Arena:
    """Two items with one source, and two editors: one stays in the left half, the other does not."""

    workspace: Workspace
    source: ImageRef

    def case(self, words: str = WORDS, editor: str = "careful") -> Case:
        cases = pointwise_cases(load_outputs(self.workspace))
        return next(c for c in cases if c.item.turns[0].instruction == words and c.left.editor == editor)


@pytest.fixture
def arena(tmp_path: Path) -> Any:
    with init_workspace(tmp_path / "arena") as workspace:
        source = kept(workspace, None)
        made = {"careful": kept(workspace, (5, 5, 25, 60)), "careless": kept(workspace, (20, 0, 63, 63))}
        items = [
            Item(dataset="d", key=key, turns=(Turn(instruction=words),), sources=(source,))
            for key, words in (("black", WORDS), ("keep", OTHER))
        ]
        outputs = [Output(item_id=i.item_id, editor=name, image=image) for i in items for name, image in made.items()]
        workspace.store.add([*items, *outputs])
        yield Arena(workspace, source)


@dataclass
class Looking:
    """A judge that keeps what it was shown."""

    traits: JudgeTraits
    name: str = "looking"
    version: str = "1"
    prompt_id: str = ""
    prompt_version: str = ""

    @property
    def params(self) -> JsonDict:
        return {}

    async def judge(self, exhibit: Exhibit) -> Verdict:
        return Verdict(Status.OK, score=float(len(exhibit.evidence)))


def shown(arena: Arena, *kinds: str, words: str = WORDS) -> tuple[Evidence, ...]:
    (case,) = with_context(arena.workspace, Looking(JudgeTraits(evidence=kinds)), [arena.case(words)], {})
    return case.evidence


def test_a_judge_gets_the_kinds_that_it_asks_for_about_its_images(arena: Arena) -> None:
    made = arena.case().left.image
    assert made is not None
    other = arena.case(editor="careless").left.image
    assert other is not None
    wanted, about_output = edit_boxes(arena.source), edit_boxes(made, params={})
    things = Evidence(image_sha256=made.sha256, tool="d", kind=BOXES, value=boxes_value([], 64, 64))
    failed = Evidence(image_sha256=made.sha256, tool="e", kind=BOXES, status=Status.INVALID_IMAGE, error="broken")
    elsewhere = Evidence(image_sha256=made.sha256, against_sha256=other.sha256, tool="f", kind=BOXES, value={})
    arena.workspace.store.add([wanted, about_output, things, failed, elsewhere, edit_boxes(other)])
    assert shown(arena, EDIT_BOXES) == (wanted, about_output)
    assert shown(arena, BOXES) == (things,)
    assert shown(arena, BOXES, EDIT_BOXES) == (wanted, about_output, things)
    assert shown(arena) == ()


def test_evidence_for_one_instruction_is_not_shown_for_another(arena: Arena) -> None:
    always = edit_boxes(arena.source, tool="anyone", params={})
    arena.workspace.store.add([edit_boxes(arena.source), always])
    assert len(shown(arena, EDIT_BOXES)) == 2
    assert shown(arena, EDIT_BOXES, words=OTHER) == (always,)


def test_the_newest_of_a_tool_counts_and_is_new_work(arena: Arena) -> None:
    judge = Looking(JudgeTraits(evidence=(EDIT_BOXES,)))
    arena.workspace.store.add([edit_boxes(arena.source)])
    (before,) = with_context(arena.workspace, judge, [arena.case()], {})
    newer = edit_boxes(arena.source, (0.0, 0.0, 40.0, 64.0), tool_version="2")
    arena.workspace.store.add([newer])
    (after,) = with_context(arena.workspace, judge, [arena.case()], {})
    assert after.evidence == (newer,)
    assert work_id(judge, before, {}) != work_id(judge, after, {})
    plain = Looking(JudgeTraits())
    (without,) = with_context(arena.workspace, plain, [arena.case()], {})
    assert work_id(plain, without, {}) == work_id(plain, arena.case(), {})


def test_an_exhibit_holds_no_parameters_since_they_may_name_an_editor(arena: Arena) -> None:
    named = edit_boxes(arena.source, params={"instruction": WORDS, "file": "masks/careful/1.npz"})
    arena.workspace.store.add([named])
    judge = Looking(JudgeTraits(evidence=(EDIT_BOXES,)))
    (case,) = with_context(arena.workspace, judge, [arena.case()], {})
    exhibit = add_context(Exhibit(WORDS, left=b""), case)
    assert "careful" not in repr(exhibit)
    assert exhibit.evidence[0].value == named.value


def test_a_case_without_what_a_judge_needs_is_left_out_with_the_reason(arena: Arena) -> None:
    judge = Looking(JudgeTraits(evidence=(EDIT_BOXES,)))
    cases = with_context(arena.workspace, judge, [arena.case(), arena.case(OTHER)], {})
    assert plan_cases(arena.workspace, judge, cases).unfit == {
        "looking needs evidence of the kind edit_boxes and there is none": 2
    }
    bare = Item(dataset="d", key="bare", turns=(Turn(instruction=WORDS),))
    output = Output(item_id=bare.item_id, editor="careful", image=arena.source)
    fond = Looking(JudgeTraits(needs_source=True))
    assert plan_cases(arena.workspace, fond, [Case(bare, output)]).unfit == {
        "looking compares with a source image and there is none": 1
    }
    assert len(plan_cases(arena.workspace, fond, [arena.case()]).work) == 1


def test_the_command_line_judges_and_ranks_by_boxes(imarena: Imarena, arena: Arena) -> None:
    arena.workspace.store.add([edit_boxes(arena.source)])
    first = imarena("-w", "arena", "--json", "judge", "--judge", "inside-boxes").json
    assert first["reports"][0]["judgments"] == {"ok": 2}
    assert sum(first["estimates"][0]["unfit"].values()) == 2
    again = imarena("-w", "arena", "--json", "judge", "--judge", "inside-boxes").json["reports"][0]
    assert (again["judgments"], again["done_before"]) == ({}, 2)
    board = imarena("-w", "arena", "--json", "rank", "--judge", "inside-boxes").json
    assert [row["model"] for row in board["models"]] == ["careful", "careless"]


def test_the_judge_of_the_guide_sees_boxes(imarena: Imarena, arena: Arena, monkeypatch: pytest.MonkeyPatch) -> None:
    root = arena.workspace.root.parent
    code = next(c for c in re.findall(r"```python\n(.*?)```", GUIDE.read_text(), re.DOTALL) if "class Touched" in c)
    (root / "touched.py").write_text(code)
    monkeypatch.setenv("PYTHONPATH", str(root))
    arena.workspace.store.add([edit_boxes(arena.source)])
    done = imarena("-w", "arena", "--json", "judge", "--judge", "function:touched:make_touched").json["reports"][0]
    assert done["judgments"] == {"ok": 2}
    board = imarena("-w", "arena", "--json", "rank", "--judge", "touched").json
    assert [row["model"] for row in board["models"]] == ["careful", "careless"]


def test_a_plug_in_with_one_method_is_judged_and_named_by_its_maker(
    imarena: Imarena, arena: Arena, monkeypatch: pytest.MonkeyPatch
) -> None:
    root = arena.workspace.root.parent
    (root / "small.py").write_text(
        "from imarena import Status, Verdict\n\n\n"
        "class Small:\n    async def judge(self, exhibit):\n"
        "        return Verdict(Status.OK, score=float(len(exhibit.left)))\n\n\n"
        "def size(options, chat):\n    return Small()\n\n\ndef nothing(options, chat):\n    return None\n"
    )
    monkeypatch.setenv("PYTHONPATH", str(root))
    done = imarena("-w", "arena", "--json", "judge", "--judge", "function:small:size").json["reports"][0]
    assert (done["judge"], done["judgments"]) == ("size", {"ok": 4})
    told = imarena("-w", "arena", "judge", "--judge", "function:small:nothing", code=2).err
    assert "has no method `judge`" in told
