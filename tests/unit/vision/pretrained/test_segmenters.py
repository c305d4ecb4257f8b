"""SAM, SAM 2 and MobileSAM on tiny random models: masks and scores against the models. Needs the vision extra."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="needs the vision extra")
transformers = pytest.importorskip("transformers", reason="needs the vision extra")

from imarena.core.errors import UserError  # noqa: E402
from imarena.core.vision_ports import SegmentMask  # noqa: E402
from imarena.vision import Placement, load_mobile_sam, load_sam, load_sam2  # noqa: E402
from imarena.vision.model_weights.safetensors_file import write_safetensors  # noqa: E402
from imarena.vision.model_weights.torch_archive import read_torch_archive  # noqa: E402
from imarena.vision.pretrained.mobile_sam import mobile_sam_model  # noqa: E402
from imarena.vision.pretrained.prompted_masks import _apart, _without_doubles  # noqa: E402
from imarena.vision.pretrained.tiny_vit import TinyViT, TinyVitStage  # noqa: E402
from tests.models.tiny_vision_models import make_mobile_sam, make_sam, make_sam2, mobile_sam_tensors  # noqa: E402
from tests.unit.vision.pretrained.odd_images import odd_images  # noqa: E402
from tests.unit.vision.pretrained.test_preparation import plain_stretch  # noqa: E402

pytestmark = [pytest.mark.torch, pytest.mark.filterwarnings("ignore")]
CPU = Placement("cpu", "float32", 3)


@pytest.fixture(autouse=True)
def _seed() -> None:
    torch.manual_seed(6)


def prompts(pixels: Any) -> tuple[list[Any], list[Any]]:
    height, width = pixels.shape[:2]
    boxes: list[tuple[float, ...]] = [
        (0.0, 0.0, width / 2, height / 2),
        (width / 4, height / 4, float(width), float(height)),
    ]
    return boxes, [(width / 3, height / 2)]


def assert_mask(found: SegmentMask, logits: Any, score: float) -> None:
    """The mask is where the logits are positive; a pixel whose logit is nearly zero may go either way."""
    assert found.score == pytest.approx(min(1, max(0, score)), abs=1e-5)
    different = found.mask != (logits > 0).numpy()
    assert (np.abs(logits.numpy()[different]) < 1e-4).all()


def test_sam_gives_the_masks_of_transformers(tmp_path: Path) -> None:
    folder = make_sam(tmp_path / "sam")
    images = list(odd_images().values())
    boxes, points = zip(*(prompts(pixels) for pixels in images), strict=True)
    segmenter = load_sam(folder, CPU)
    in_boxes, at_points = segmenter.masks_in_boxes(images, boxes), segmenter.masks_at_points(images, points)
    model = transformers.SamModel.from_pretrained(folder).eval()
    processor = transformers.SamProcessor(transformers.SamImageProcessorPil.from_pretrained(folder))
    for at, pixels in enumerate(images):
        shown = {"images": pixels, "input_data_format": "channels_last", "return_tensors": "pt"}
        for inputs, found, several in (
            (processor(**shown, input_boxes=[[list(box) for box in boxes[at]]]), in_boxes[at], False),
            (processor(**shown, input_points=[[list(points[at][0])]]), at_points[at], True),
        ):
            with torch.inference_mode():
                prompt = (
                    {"input_points": inputs["input_points"].float().reshape(1, 1, 1, 2)}
                    if several
                    else {"input_boxes": inputs["input_boxes"].float()}
                )
                outputs = model(pixel_values=inputs["pixel_values"], **prompt, multimask_output=several)
                (logits,) = processor.image_processor.post_process_masks(
                    outputs.pred_masks, inputs["original_sizes"], inputs["reshaped_input_sizes"], binarize=False
                )
            for number, one in enumerate(found):
                best = int(outputs.iou_scores[0, number].argmax())
                assert_mask(one, logits[number, best], float(outputs.iou_scores[0, number, best]))


def test_sam2_gives_the_masks_of_its_model(tmp_path: Path) -> None:
    folder = make_sam2(tmp_path / "sam2")
    images = list(odd_images().values())
    boxes, points = zip(*(prompts(pixels) for pixels in images), strict=True)
    segmenter = load_sam2(folder, CPU)
    in_boxes, at_points = segmenter.masks_in_boxes(images, boxes), segmenter.masks_at_points(images, points)
    model = transformers.Sam2Model.from_pretrained(folder).eval()
    for at, pixels in enumerate(images):
        height, width = pixels.shape[:2]
        values = torch.from_numpy(plain_stretch(pixels, 64)).float()[None]
        scale = torch.tensor([64 / width, 64 / height])
        corners = torch.tensor(boxes[at]).reshape(1, -1, 2, 2) * scale
        point = torch.tensor(points[at]).reshape(1, 1, 1, 2) * scale
        for prompt, found, several in (
            ({"input_boxes": corners.reshape(1, -1, 4).float()}, in_boxes[at], False),
            ({"input_points": point.float()}, at_points[at], True),
        ):
            with torch.inference_mode():
                outputs = model(pixel_values=values, **prompt, multimask_output=several)
            for number, one in enumerate(found):
                best = int(outputs.iou_scores[0, number].argmax())
                logits = torch.nn.functional.interpolate(
                    outputs.pred_masks[0, number, best][None, None], (height, width), mode="bilinear"
                )[0, 0]
                assert_mask(one, logits, float(outputs.iou_scores[0, number, best]))


@pytest.mark.parametrize(
    ("make", "load"), [(make_sam, load_sam), (make_sam2, load_sam2), (make_mobile_sam, load_mobile_sam)]
)
def test_everything_is_apart_and_alone_as_in_a_batch(
    make: Any, load: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in (("_POINTS_PER_SIDE", 4), ("_MIN_STABILITY", 0.0), ("_MAX_OVERLAP", 0.9)):
        monkeypatch.setattr(f"imarena.vision.pretrained.prompted_masks.{name}", value)
    segmenter = load(make(tmp_path / "model"), CPU)
    segmenter._network = replace(segmenter._network, min_score=-9)
    images = list(odd_images().values())
    results = segmenter.batch(images)
    assert sum(len(found) for found in results) > 5
    for pixels, found in zip(images, results, strict=True):
        covered = sum((one.mask.astype(int) for one in found), np.zeros(pixels.shape[:2], int))
        assert covered.max(initial=0) <= 1
        (alone,) = segmenter.batch([pixels])
        assert [one.score for one in alone] == pytest.approx([one.score for one in found], abs=1e-5)
    with pytest.raises(UserError, match="as many lists"):
        segmenter.masks_in_boxes(images, [])


def test_the_surer_of_two_like_masks_stays_and_small_ones_lie_on_top() -> None:
    large, small, twin = (np.zeros((10, 10), bool) for _ in range(3))
    large[1:9, 1:9] = small[2:4, 2:4] = twin[1:9, 1:8] = True
    assert _without_doubles(np.stack([large, small, twin]), [0.7, 0.6, 0.9]) == [2, 1], "IoU 0.875"
    twin[1:9, 6:8] = False
    assert _without_doubles(np.stack([large, small, twin]), [0.7, 0.6, 0.9]) == [2, 0, 1], "IoU 0.625"
    first, second = _apart([large, small], [0.7, 0.6])
    assert (first.mask == (large & ~small)).all()
    assert (second.mask == small).all()


def test_a_pt_file_of_mobile_sam_becomes_the_same_model(tmp_path: Path) -> None:
    """The decoder's names are translated back and forth by two tables; the encoder's blocks are computed by hand below."""
    tensors = mobile_sam_tensors()
    torch.save(tensors, tmp_path / "mobile_sam.pt")
    (tmp_path / "mobile").mkdir()
    write_safetensors(tmp_path / "mobile" / "model.safetensors", read_torch_archive(tmp_path / "mobile_sam.pt"))
    (tmp_path / "mobile" / "config.json").write_text('{"image_size": 128}')
    pixels = odd_images()["odd size"]
    ((found,),) = load_mobile_sam(tmp_path / "mobile", CPU).masks_in_boxes([pixels], [[(5, 5, 30, 30)]])
    model = mobile_sam_model(tensors, 128).eval()
    prepared = transformers.SamImageProcessorPil(size={"longest_edge": 128}, pad_size={"height": 128, "width": 128})(
        images=[pixels], return_tensors="pt"
    )
    box = torch.tensor([[[5.0, 5.0, 30.0, 30.0]]]) * torch.tensor([128 / 53, 89 / 37, 128 / 53, 89 / 37])
    with torch.inference_mode():
        outputs = model(
            image_embeddings=model.vision_encoder(prepared["pixel_values"])[0], input_boxes=box, multimask_output=False
        )
        logits = torch.nn.functional.interpolate(outputs.pred_masks[0], (128, 128), mode="bilinear")[..., :89, :128]
        logits = torch.nn.functional.interpolate(logits, (37, 53), mode="bilinear")[0, 0]
    assert_mask(found, logits, float(outputs.iou_scores[0, 0, 0]))
    with pytest.raises(UserError, match="not the weights of MobileSAM"):
        mobile_sam_model({name: value for name, value in tensors.items() if "iou_token" not in name}, 128)


def test_windows_of_the_encoder_attend_to_themselves_with_a_bias_by_distance() -> None:
    """One attention block, written again with loops: windows of 3 over a map of 4 x 5, padded with zeros."""
    stages = [TinyVitStage(4, 1, 1, 1, True), TinyVitStage(8, 1, 2, 3, True)]
    block = TinyViT(stages, 8).eval().layers[1].blocks[0]
    torch.nn.init.normal_(block.attn.attention_biases)
    torch.nn.init.normal_(block.attn.norm.bias)
    maps = torch.randn(1, 8, 4, 5)
    padded = torch.zeros(8, 6, 6)
    padded[:, :4, :5] = maps[0]
    mixed = torch.zeros(8, 6, 6)
    with torch.inference_mode():
        for top in (0, 3):
            for left in (0, 3):
                places = [(top + y, left + x) for y in range(3) for x in range(3)]
                tokens = block.attn.qkv(block.attn.norm(torch.stack([padded[:, y, x] for y, x in places])))
                heads = []
                for head in range(2):
                    query, key, value = tokens[:, head * 12 : head * 12 + 12].split(4, dim=1)
                    scores = query @ key.T / 2
                    for a, (ya, xa) in enumerate(places):
                        for b, (yb, xb) in enumerate(places):
                            scores[a, b] += block.attn.attention_biases[head, abs(ya - yb) * 3 + abs(xa - xb)]
                    heads.append(scores.softmax(dim=1) @ value)
                for (y, x), out in zip(places, block.attn.proj(torch.cat(heads, dim=1)), strict=True):
                    mixed[:, y, x] = out
        after = block.local_conv(maps + mixed[None, :, :4, :5])
        expected = after + block.mlp(after.permute(0, 2, 3, 1)).permute(0, 3, 1, 2)
        assert torch.allclose(block(maps), expected, atol=1e-5)
