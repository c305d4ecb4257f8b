"""Grounding DINO by phrase in EdiVal's roles: finder of the scores and grounding filter. Needs the vision extra."""

import asyncio
from pathlib import Path

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="needs the vision extra")

import cv2  # noqa: E402

from imarena.core import Exhibit, ObjectPlan, ObjectTurn, PlannedEdit  # noqa: E402
from imarena.core.records import Mode, Status  # noqa: E402
from imarena.instructions import grounder_of  # noqa: E402
from imarena.judges.edival.judge import make  # noqa: E402
from imarena.judges.edival.tools import FLOOR, PhraseFinder, tool_name  # noqa: E402
from imarena.studio import encode_pixels  # noqa: E402
from imarena.vision import DETECTORS, Placement, load_grounding_dino  # noqa: E402
from tests.command import Imarena  # noqa: E402
from tests.models.tiny_vision_models import make_grounding_dino, noise  # noqa: E402

pytestmark = [pytest.mark.torch, pytest.mark.filterwarnings("ignore")]
CPU = Placement("cpu", "float32", 1)


@pytest.fixture(scope="module")
def weights(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A tiny Grounding DINO with random weights, installed under the name of the real one."""
    torch.manual_seed(1)
    root = tmp_path_factory.mktemp("models")
    folder = make_grounding_dino(root / "tiny")
    Imarena(root)("weights", "add", "grounding-dino-tiny", str(folder), env={"IMARENA_WEIGHTS": str(root / "weights")})
    return root


@pytest.fixture
def installed(weights: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("IMARENA_WEIGHTS", str(weights / "weights"))
    monkeypatch.setenv("IMARENA_DEVICE", "cpu")
    monkeypatch.setenv("IMARENA_DTYPE", "float32")
    return weights / "tiny"


def test_it_is_the_default_where_it_is_installed(
    installed: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert installed.is_dir()
    assert tool_name("detector", "auto", chat=False) == "grounding-dino"
    monkeypatch.setenv("IMARENA_WEIGHTS", str(tmp_path))
    assert tool_name("detector", "auto", chat=False) == "efficientdet"


def test_the_finder_asks_for_the_whole_phrase(installed: Path) -> None:
    pixels = noise(4, 60, 90)
    finder = PhraseFinder("grounding-dino")
    model = load_grounding_dino(installed, CPU)
    for phrase in ("red dog", "cup"):
        (expected,) = model.batch([pixels], [phrase], FLOOR)
        assert list(finder.search(pixels, phrase)) == list(expected)
        assert finder.params(phrase) == {"phrase": phrase}
    assert list(finder.search(pixels, "red dog")) != list(finder.search(pixels, "cup"))
    assert "grounding-dino-tiny@" in DETECTORS.get("grounding-dino").version  # type: ignore[attr-defined]
    assert finder.missed_source_fails, "as in the paper"


def test_an_edit_is_judged_by_its_boxes(installed: Path) -> None:
    """Counting what the model itself finds is right, and one more is wrong."""
    before, after = noise(5, 60, 60), noise(6, 60, 60)
    (found,) = load_grounding_dino(installed, CPU).batch([after], ["cup"], 0.0)
    scores = sorted(one.score for one in found if one.box[2] - one.box[0] < 58 or one.box[3] - one.box[1] < 58)
    threshold = float(np.clip(scores[len(scores) // 2], FLOOR, 0.99))
    above = sum(round(score, 4) > threshold for score in scores)
    for count, right in ((above, True), (above + 1, False)):
        judge = make(
            {"dimension": "instruction_following", "detector": "grounding-dino", "threshold": threshold,
             "answers": "colour-names", "reader": "rapidocr", "features": "st-lpips", "quality": "brisque"},
            None,
        )  # fmt: skip
        plan = ObjectPlan(objects=(), turns=(ObjectTurn(type="count_change", object="cup", count=count),))
        planned = PlannedEdit(plan, 0, Mode.SINGLE, (encode_pixels(before),))
        verdict = asyncio.run(judge.judge(Exhibit("", left=encode_pixels(after), planned=planned)))
        assert (verdict.status, verdict.score) == (Status.OK, float(right))
        assert {
            evidence.params.get("phrase") for evidence in verdict.evidence if evidence.tool == "grounding-dino"
        } <= {"cup"}
        assert str(judge.tools.names["detector"]).startswith("grounding-dino@")


def test_the_grounding_filter_looks_at_512_by_512(installed: Path) -> None:
    pixels = noise(7, 60, 120)
    boxes = grounder_of("grounding-dino", threshold=0.0)(pixels, ["red dog", ""])
    square = np.asarray(cv2.resize(pixels, (512, 512), interpolation=cv2.INTER_AREA), np.uint8)
    (expected,) = load_grounding_dino(installed, CPU).batch([square], ["red dog"])
    assert boxes[""] == ()
    assert [one.score for one in boxes["red dog"]] == [one.score for one in expected]
    for one, other in zip(boxes["red dog"], expected, strict=True):
        assert one.box == pytest.approx(
            [end * side / 512 for end, side in zip(other.box, (120, 60, 120, 60), strict=True)]
        )
        assert one.label == "red dog"
