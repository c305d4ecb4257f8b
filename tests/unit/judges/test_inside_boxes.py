"""The judge that sees boxes: scores counted by hand on small images."""

import asyncio
import io
from dataclasses import replace

import pytest
from PIL import Image, ImageDraw

from imarena.core.errors import UserError
from imarena.core.ids import sha256_hex
from imarena.core.protocols import Exhibit, Verdict
from imarena.core.records import Evidence, JsonDict, Status
from imarena.core.vision_ports import Detection
from imarena.images import EDIT_BOXES, boxes_value
from imarena.judges import CARDS, JUDGES

Ends = tuple[int, int, int, int]


def image(*boxes: Ends, size: tuple[int, int] = (100, 100)) -> bytes:
    """Grey, and black inside each box (right and bottom outside)."""
    drawn = Image.new("RGB", size, (128, 128, 128))
    for left, top, right, bottom in boxes:
        ImageDraw.Draw(drawn).rectangle((left, top, right - 1, bottom - 1), fill=(0, 0, 0))
    file = io.BytesIO()
    drawn.save(file, "PNG")
    return file.getvalue()


SOURCE = image()


def boxes(*found: Ends, size: tuple[int, int] = (100, 100), about: bytes = SOURCE, **value: object) -> Evidence:
    stored: JsonDict = boxes_value([Detection(box) for box in found], *size)
    return Evidence(image_sha256=sha256_hex(about), tool="hand", kind=EDIT_BOXES, value={**stored, **value})


def judged(output: bytes, *evidence: Evidence, margin: float = 0.0) -> Verdict:
    judge = JUDGES.get("inside-boxes")({"margin": margin}, None)
    return asyncio.run(judge.judge(Exhibit("x", left=output, sources=(SOURCE,), evidence=evidence)))


def test_the_score_is_the_share_outside_that_stayed() -> None:
    wanted = boxes((0, 0, 50, 100))
    inside = judged(image((10, 10, 40, 90)), wanted)
    assert inside.status is Status.OK
    assert inside.score == 1.0
    assert inside.scores["changed_inside"] == pytest.approx(30 * 80 / 5000)
    spilled = judged(image((40, 0, 60, 100)), wanted)
    assert spilled.score == pytest.approx(1 - 10 * 100 / 5000)
    assert judged(SOURCE, wanted).score == 1.0


def test_several_boxes_and_records_add_up_and_another_size_is_scaled() -> None:
    everything = image((0, 0, 100, 100))
    two = judged(image((0, 0, 20, 20), (80, 80, 100, 100)), boxes((0, 0, 20, 20)), boxes((80, 80, 100, 100)))
    assert two.score == 1.0
    assert two.reasons["boxes"] == 2
    half = boxes((0, 0, 25, 50), size=(50, 50))
    assert judged(image((0, 0, 50, 100)), half).score == 1.0
    assert judged(everything, half).score == 0.0
    assert judged(image((0, 0, 60, 100)), boxes((0, 0, 50, 100)), margin=0.2).score == 1.0


@pytest.mark.parametrize(
    ("output", "evidence", "status"),
    [
        (SOURCE, (), Status.REFUSED),
        (SOURCE, (boxes((0, 0, 9, 9), about=b"another image"),), Status.REFUSED),
        (SOURCE, (boxes((0, 0, 100, 100)),), Status.REFUSED),
        (SOURCE, (boxes(),), Status.REFUSED),
        (SOURCE, (boxes((0, 0, 9, 9), boxes="none"),), Status.UNPARSABLE),
        (b"no image", (boxes((0, 0, 9, 9)),), Status.INVALID_IMAGE),
    ],
)
def test_what_cannot_be_scored_has_a_status_and_no_score(
    output: bytes, evidence: tuple[Evidence, ...], status: Status
) -> None:
    verdict = judged(output, *evidence)
    assert verdict.status is status
    assert verdict.error
    assert verdict.score is None


def test_it_is_pointwise_about_consistency_and_says_what_it_needs() -> None:
    judge = JUDGES.get("inside-boxes")({}, None)
    assert judge.traits.evidence == (EDIT_BOXES,)
    assert judge.traits.needs_source
    assert CARDS["inside-boxes"].dimension == "visual_consistency"
    shown = Exhibit("x", left=SOURCE, sources=(SOURCE,))
    with pytest.raises(UserError, match="got two"):
        asyncio.run(judge.judge(replace(shown, right=SOURCE)))
