"""Detectors by phrase on tiny random models: boxes and scores against the model's own outputs. Needs the vision extra."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

torch = pytest.importorskip("torch", reason="needs the vision extra")
transformers = pytest.importorskip("transformers", reason="needs the vision extra")

from imarena.core.errors import UserError  # noqa: E402
from imarena.core.vision_ports import Detection  # noqa: E402
from imarena.vision import Placement, load_grounding_dino, load_owl  # noqa: E402
from imarena.vision.pretrained.preparation import with_bounded_aspect  # noqa: E402
from tests.models.tiny_vision_models import make_grounding_dino, make_owl_vit, make_owlv2  # noqa: E402
from tests.unit.vision.pretrained.odd_images import odd_images  # noqa: E402

pytestmark = [pytest.mark.torch, pytest.mark.filterwarnings("ignore")]
CPU = Placement("cpu", "float32", 3)


def by_hand(
    boxes: NDArray[np.float32], scores: NDArray[np.float32], labels: Sequence[str], size: tuple[int, int]
) -> list[tuple[Any, ...]]:
    """Boxes (n, 4) in pixels and scores (n, phrases): cut at the edges, empty ones left out, the surest first."""
    rows = []
    for box, row in zip(boxes, scores, strict=True):
        left, top = max(0.0, box[0]), max(0.0, box[1])
        right, bottom = min(float(size[1]), box[2]), min(float(size[0]), box[3])
        if left < right and top < bottom:
            rows.append((float(row.max()), labels[int(row.argmax())], (left, top, right, bottom)))
    return sorted(rows, key=lambda row: -row[0])


def assert_same(found: Sequence[Detection], expected: Sequence[tuple[Any, ...]], side: int) -> None:
    assert len(found) == len(expected) > 0
    assert [one.score for one in found] == pytest.approx([row[0] for row in expected], abs=1e-5)
    for one, (score, label, box) in zip(found, expected, strict=True):
        twins = [row for row in expected if abs(row[0] - score) < 1e-5]
        if len(twins) == 1:  # equal scores may come in any order
            assert one.label == label
            assert one.box == pytest.approx(box, abs=1e-4 * side)


@pytest.fixture(scope="module")
def grounding_dino(tmp_path_factory: pytest.TempPathFactory) -> Path:
    torch.manual_seed(1)
    return make_grounding_dino(tmp_path_factory.mktemp("models") / "grounding-dino")


def test_grounding_dino_gives_the_models_boxes_with_the_best_phrase(grounding_dino: Path) -> None:
    images = odd_images()
    detector = load_grounding_dino(grounding_dino, CPU)
    found = detector.batch(list(images.values()), ["cup", "red dog"], 0.0)
    model = transformers.GroundingDinoForObjectDetection.from_pretrained(grounding_dino).eval()
    processor = transformers.GroundingDinoImageProcessorPil.from_pretrained(grounding_dino)
    tokens = transformers.AutoTokenizer.from_pretrained(grounding_dino)("cup . red dog .", return_tensors="pt")
    assert tokens["input_ids"][0].tolist() == [101, 1020, 1012, 1022, 1021, 1012, 102]
    for detections, (name, pixels) in zip(found, images.items(), strict=True):
        inputs = processor(images=[pixels], input_data_format="channels_last", return_tensors="pt")
        if name == "three rows":  # narrower than 1:16, and stretched before
            continue
        with torch.inference_mode():
            outputs = model(**inputs, **tokens)
        height, width = pixels.shape[:2]
        x, y, w, h = outputs.pred_boxes[0].unbind(-1)
        boxes = torch.stack([(x - w / 2) * width, (y - h / 2) * height, (x + w / 2) * width, (y + h / 2) * height], -1)
        shares = outputs.logits[0].sigmoid()
        scores = torch.stack([shares[:, 1], shares[:, [3, 4]].max(dim=1).values], dim=1)
        expected = by_hand(boxes.numpy(), scores.numpy(), ["cup", "red dog"], (height, width))
        assert_same(detections, expected, max(height, width))


def test_what_else_is_in_a_batch_changes_nothing(grounding_dino: Path) -> None:
    images = list(odd_images().values())
    detector = load_grounding_dino(grounding_dino, CPU)
    together = detector.batch(images, ["cup", "dog"], 0.0)
    for pixels, detections in zip(images, together, strict=True):
        (alone,) = detector.batch([pixels], ["cup", "dog"], 0.0)
        assert [one.score for one in alone] == pytest.approx([one.score for one in detections], abs=1e-5)
    assert detector.batch([], ["cup"]) == []


def test_many_phrases_are_asked_in_groups_that_fit(grounding_dino: Path) -> None:
    (pixels,) = [odd_images()["odd size"]]
    detector = load_grounding_dino(grounding_dino, CPU)
    phrases = ["cup", "dog", "red", "person", "car", "red cup", "red dog", "red car"]  # 22 tokens where 14 fit
    (found,) = detector.batch([pixels], phrases, 0.0)
    first, second = phrases[:6], phrases[6:]
    parts = [*detector.batch([pixels], first, 0.0)[0], *detector.batch([pixels], second, 0.0)[0]]
    assert sorted(one.score for one in found) == pytest.approx(sorted(one.score for one in parts), abs=1e-6)
    assert {one.label for one in found} <= set(phrases)
    with pytest.raises(UserError, match="too long"):
        detector.batch([pixels], ["cup " * 20])
    with pytest.raises(UserError, match="empty"):
        detector.batch([pixels], ["cup", " . "])


def test_the_threshold_cuts(grounding_dino: Path) -> None:
    pixels = odd_images()["odd size"]
    (every,) = load_grounding_dino(grounding_dino, CPU).batch([pixels], ["cup"], 0.0)
    middle = every[len(every) // 2].score
    (some,) = load_grounding_dino(grounding_dino, CPU).batch([pixels], ["cup"], middle)
    assert some == tuple(one for one in every if one.score > middle)
    assert 0 < len(some) < len(every)


@pytest.mark.parametrize(("make", "family"), [(make_owl_vit, "OwlViT"), (make_owlv2, "Owlv2")])
def test_owl_gives_the_boxes_of_transformers(make: Any, family: str, tmp_path: Path) -> None:
    torch.manual_seed(2)
    folder = make(tmp_path / family)
    images = odd_images()
    phrases = ["red dog", "a picture", "green"]
    found = load_owl(folder, CPU).batch(list(images.values()), phrases, 0.0)
    model = getattr(transformers, f"{family}ForObjectDetection").from_pretrained(folder).eval()
    images_of = getattr(transformers, f"{family}ImageProcessorPil").from_pretrained(folder)
    tokens = transformers.AutoTokenizer.from_pretrained(folder)(
        phrases, padding="max_length", max_length=16, return_tensors="pt"
    )
    for detections, (name, pixels) in zip(found, images.items(), strict=True):
        shown = with_bounded_aspect(pixels)  # narrow images are stretched, and one pixel becomes 2 x 2
        inputs = images_of(images=[shown], input_data_format="channels_last", return_tensors="np")
        assert np.isfinite(inputs["pixel_values"]).all(), name
        with torch.inference_mode():
            outputs = model(
                pixel_values=torch.from_numpy(np.asarray(inputs["pixel_values"])).float(),
                input_ids=tokens["input_ids"],
                attention_mask=tokens["attention_mask"],
            )
        (theirs,) = images_of.post_process_object_detection(outputs, threshold=0.0, target_sizes=[shown.shape[:2]])
        shares = outputs.logits[0].sigmoid().numpy()
        assert np.allclose(shares.max(axis=1), theirs["scores"].numpy(), atol=1e-6)
        size = (pixels.shape[0], pixels.shape[1])
        down, across = size[0] / shown.shape[0], size[1] / shown.shape[1]
        boxes = theirs["boxes"].numpy() * np.array([across, down, across, down], np.float32)
        assert_same(detections, by_hand(boxes, shares, phrases, size), max(size))


def test_a_tokenizer_that_hides_phrases_is_refused(tmp_path: Path) -> None:
    folder = make_owlv2(tmp_path / "owl")
    detector = load_owl(folder, CPU)
    detector._tokenizer.backend_tokenizer.post_processor = None
    detector._tokenizer.pad_token = "make"
    with pytest.raises(UserError, match="id 0"):
        detector.batch([odd_images()["odd size"]], ["<pad>"])
