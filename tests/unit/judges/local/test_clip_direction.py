"""CLIP_dir: captions of an edit, and the cosine of two differences on a tiny random CLIP."""

import asyncio
import pickle
from importlib import import_module
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from imarena.core import Exhibit, ObjectPlan, ObjectTurn, Pixels, PlannedEdit
from imarena.core.errors import UserError
from imarena.core.records import Mode, Status
from imarena.judges.local.clip_direction import edit_captions, make
from imarena.studio import encode_pixels
from tests.models.tiny_encoders import make_clip
from tests.models.tiny_vision_models import noise

RED = ObjectTurn(type="color_alter", object="dog", color="red")
GREEN = ObjectTurn(type="color_alter", object="dog", color="green")
CAPTIONS = [
    (RED, "a photo of a dog", "a photo of a red dog"),
    (ObjectTurn(type="subject_add", new_object="cup", reference="dog", position="left"),
     "a photo", "a photo with a cup to the left of the dog"),
    (ObjectTurn(type="subject_remove", object="dog"), "a photo with a dog", "a photo"),
    (ObjectTurn(type="subject_replace", object="dog", new_object="cat"), "a photo of a dog", "a photo of a cat"),
    (ObjectTurn(type="position_change", object="dog", reference="cup", position="above"),
     "a photo of a dog and a cup", "a photo of a dog above a cup"),
    (ObjectTurn(type="material_alter", object="cup", material="wood"), "a photo of a cup", "a photo of a cup made of wood"),
    (ObjectTurn(type="text_change", text="OPEN"), "a photo of a scene", "a photo of a scene with the text 'OPEN'"),
    (ObjectTurn(type="count_change", object="dog", count=3), "a photo of a dog", "a photo of 3 times a dog"),
    (ObjectTurn(type="background_change", object="dog", background="a forest"),
     "a photo of a dog", "a photo of a dog in front of a forest"),
]  # fmt: skip


@pytest.mark.parametrize(("turn", "before", "after"), CAPTIONS)
def test_captions_of_every_type(turn: ObjectTurn, before: str, after: str) -> None:
    assert edit_captions([turn]) == (before, after)


def test_a_complex_edit_has_the_captions_of_all_its_turns() -> None:
    assert edit_captions([RED, CAPTIONS[2][0]]) == (
        "a photo of a dog, a photo with a dog", "a photo of a red dog, a photo",
    )  # fmt: skip


@pytest.mark.torch
@pytest.mark.filterwarnings("ignore")
def test_the_score_is_the_cosine_of_the_two_directions(tmp_path: Path) -> None:
    torch = pytest.importorskip("torch", reason="needs the vision extra")
    transformers = import_module("transformers")
    torch.manual_seed(0)
    folder = make_clip(tmp_path / "clip")
    judge = make({"model": str(folder), "device": "cpu"}, None)
    assert (pickle.loads(pickle.dumps(judge)).params, judge.traits.gpus) == (judge.params, 1)  # noqa: S301  # our own
    images = [noise(seed, 40, 40) for seed in range(3)]
    plan = ObjectPlan(objects=(), turns=(RED, GREEN))
    base, first, second = map(encode_pixels, images)

    def verdict(mode: Mode, turn: int, chain: tuple[bytes, ...], output: bytes) -> float:
        planned = PlannedEdit(plan, turn, mode, chain)
        found = asyncio.run(judge.judge(Exhibit("", left=output, planned=planned)))
        assert found.status is Status.OK, found.error
        return found.score or 0.0

    model = transformers.CLIPModel.from_pretrained(folder).eval()
    processor = transformers.CLIPImageProcessor.from_pretrained(folder)
    tokenizer = transformers.AutoTokenizer.from_pretrained(folder)

    def unit(content: str | Pixels) -> np.ndarray[tuple[int], np.dtype[np.float32]]:
        with torch.inference_mode():
            if isinstance(content, str):
                features = model.get_text_features(**tokenizer([content], return_tensors="pt"))
            else:
                shown = processor(images=[Image.fromarray(np.asarray(content))], return_tensors="pt")
                features = model.get_image_features(**shown)
        vector = getattr(features, "pooler_output", features)[0].numpy()
        return np.asarray(vector / np.linalg.norm(vector), np.float32)

    def expected(left: int, right: int, before: str, after: str) -> float:
        moved, wanted = unit(images[right]) - unit(images[left]), unit(after) - unit(before)
        return float(moved @ wanted / np.linalg.norm(moved) / np.linalg.norm(wanted))

    dog, red, green = "a photo of a dog", "a photo of a red dog", "a photo of a green dog"
    assert verdict(Mode.MULTI_TURN, 1, (base, first), second) == pytest.approx(expected(1, 2, dog, green), abs=1e-4)
    assert verdict(Mode.COMPLEX, 1, (base,), second) == pytest.approx(expected(0, 2, dog, f"{red}, {green}"), abs=1e-4)
    assert verdict(Mode.SINGLE, 0, (base,), first) == pytest.approx(expected(0, 1, dog, red), abs=1e-4)
    same = Exhibit("", left=base, planned=PlannedEdit(plan, 0, Mode.SINGLE, (base,)))
    unchanged = asyncio.run(judge.judge(same))
    assert (unchanged.status, "no direction" in unchanged.error) == (Status.REFUSED, True)
    assert asyncio.run(judge.judge(Exhibit("", left=base))).status is Status.REFUSED, "no plan"
    broken = Exhibit("", left=b"?", planned=PlannedEdit(plan, 0, Mode.SINGLE, (base,)))
    assert asyncio.run(judge.judge(broken)).status is Status.INVALID_IMAGE
    with pytest.raises(UserError, match="got two"):
        asyncio.run(judge.judge(Exhibit("", left=base, right=first)))
