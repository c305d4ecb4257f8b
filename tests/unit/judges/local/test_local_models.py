"""Embedding and reward judges on tiny random models, saved and loaded from disk. Needs the vision extra."""

import asyncio
import logging
import math
import pickle
import shutil
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

torch = pytest.importorskip("torch", reason="needs the vision extra")
transformers = pytest.importorskip("transformers", reason="needs the vision extra")

from imarena.core.errors import UserError  # noqa: E402
from imarena.core.protocols import Exhibit  # noqa: E402
from imarena.core.records import Status  # noqa: E402
from imarena.images import decode  # noqa: E402
from imarena.judges.local.embeddings import make_clip_i, make_clipscore, make_dino  # noqa: E402
from imarena.judges.local.reward_head import make_editreward, make_hpsv3  # noqa: E402
from imarena.vision import clip_embedder, read_heads  # noqa: E402
from tests.models.tiny_encoders import WORDS, image_processor, make_clip, tokenizer, vision_config  # noqa: E402
from tests.models.tiny_encoders import make_dino as make_dino_model  # noqa: E402
from tests.unit.judges.chats import GREEN, RED, exhibit, picture  # noqa: E402

pytestmark = [
    pytest.mark.torch,
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),
    pytest.mark.filterwarnings("ignore::FutureWarning"),
]


@pytest.fixture(autouse=True, scope="module")
def _quiet() -> None:
    logging.getLogger("transformers").setLevel(logging.ERROR)
    torch.manual_seed(7)


@pytest.fixture(scope="module")
def clip_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_clip(tmp_path_factory.mktemp("models") / "tiny-clip")


@pytest.fixture(scope="module")
def dino_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_dino_model(tmp_path_factory.mktemp("models") / "tiny-dino")


def test_clip_scores_are_cosines_of_the_models_features(clip_folder: Path) -> None:
    judge = make_clipscore({"model": str(clip_folder), "scale": 2.5}, None)
    verdict = asyncio.run(judge.judge(exhibit(instruction="make it green")))
    embed = clip_embedder(clip_folder, "cpu", "The judge 'clipscore'")
    cosine = float(embed(decode(GREEN)) @ embed("make it green"))
    assert verdict.scores["cosine"] == pytest.approx(cosine, abs=1e-6)
    assert verdict.score == pytest.approx(2.5 * max(cosine, 0), abs=1e-6)
    assert -1 <= cosine <= 1
    other = asyncio.run(judge.judge(exhibit(instruction="a dog")))
    assert other.scores["cosine"] != pytest.approx(cosine, abs=1e-6), "the text counts"
    long = asyncio.run(judge.judge(exhibit(instruction="make it green " * 200)))
    assert long.status is Status.OK


def test_a_judge_goes_to_a_worker_with_a_gpu(clip_folder: Path) -> None:
    judge = make_clipscore({"model": str(clip_folder)}, None)
    there = pickle.loads(pickle.dumps(judge))  # noqa: S301  # our own
    assert judge.traits.gpus == 1
    assert there.params == judge.params
    shown = exhibit(instruction="make it green")
    assert asyncio.run(there.judge(shown)).score == asyncio.run(judge.judge(shown)).score


def noisy(seed: int) -> bytes:
    import io

    import numpy as np
    from PIL import Image

    file = io.BytesIO()
    Image.fromarray(np.random.default_rng(seed).integers(0, 255, (40, 48, 3), dtype=np.uint8)).save(file, "PNG")
    return file.getvalue()


@pytest.mark.parametrize("make", [make_clip_i, make_dino])
def test_likeness_is_one_for_the_input_itself(make: Any, clip_folder: Path, dino_folder: Path) -> None:
    folder = clip_folder if make is make_clip_i else dino_folder
    judge = make({"model": str(folder)}, None)
    same = asyncio.run(judge.judge(Exhibit("x", left=noisy(1), sources=(noisy(1),))))
    other = asyncio.run(judge.judge(Exhibit("x", left=noisy(2), sources=(noisy(1),))))
    assert same.score == pytest.approx(1.0, abs=1e-5)
    assert other.score is not None
    assert other.score < 1 - 1e-6
    turned = asyncio.run(judge.judge(Exhibit("x", left=noisy(1), sources=(noisy(2),))))
    assert turned.score == pytest.approx(other.score, abs=1e-6)


def test_identity_is_the_weights_not_the_path(clip_folder: Path, tmp_path: Path) -> None:
    copy = tmp_path / "copy"
    shutil.copytree(clip_folder, copy)
    first, second = make_clip_i({"model": str(clip_folder)}, None), make_clip_i({"model": str(copy)}, None)
    assert first.params == second.params
    changed = tmp_path / "changed"
    shutil.copytree(clip_folder, changed)
    weights = changed / "model.safetensors"
    data = bytearray(weights.read_bytes())
    data[-1] ^= 1
    weights.write_bytes(bytes(data))
    assert make_clip_i({"model": str(changed)}, None).params != first.params


def test_wrong_folders_and_exhibits_are_told(clip_folder: Path, dino_folder: Path, tmp_path: Path) -> None:
    with pytest.raises(UserError, match="folder of a model"):
        make_dino({"model": str(tmp_path / "none")}, None)
    pickled = tmp_path / "pickled"
    pickled.mkdir()
    (pickled / "config.json").write_text("{}")
    (pickled / "pytorch_model.bin").write_bytes(b"")
    with pytest.raises(UserError, match="safetensors"):
        make_dino({"model": str(pickled)}, None)
    judge = make_clip_i({"model": str(clip_folder)}, None)
    with pytest.raises(UserError):
        asyncio.run(judge.judge(exhibit(sources=())))
    with pytest.raises(UserError):
        asyncio.run(judge.judge(exhibit(GREEN)))
    broken = asyncio.run(judge.judge(Exhibit("x", left=b"not a picture", sources=(RED,))))
    assert (broken.status, broken.score) == (Status.INVALID_IMAGE, None)


# ---------------------------------------------------------------- reward heads


def llava(folder: Path) -> None:
    text = transformers.LlamaConfig(vocab_size=len(WORDS), hidden_size=16, intermediate_size=16, num_hidden_layers=2,
                                    num_attention_heads=2, num_key_value_heads=2, max_position_embeddings=256, pad_token_id=0)  # fmt: skip
    config = transformers.LlavaConfig(
        vision_config=transformers.CLIPVisionConfig(**vision_config()),
        text_config=text,
        image_token_index=4,
        image_token_id=4,
    )
    transformers.LlavaForConditionalGeneration(config).save_pretrained(folder)
    template = "{% for m in messages %}{% for c in m['content'] %}{% if c['type'] == 'image' %}<image> {% else %}{{ c['text'] }} {% endif %}{% endfor %}{% endfor %}"
    transformers.LlavaProcessor(
        image_processor=image_processor("CLIPImageProcessor"), tokenizer=tokenizer(), patch_size=8, chat_template=template,
        vision_feature_select_strategy="default", num_additional_image_tokens=1,
    ).save_pretrained(folder)  # fmt: skip


def with_head(folder: Path, prefixes: list[str]) -> None:
    files = import_module("safetensors.torch")
    tensors = files.load_file(folder / "model.safetensors")
    for prefix in prefixes:
        for layer, (out, into) in enumerate([(12, 16), (6, 12), (2, 6)]):
            place = (0, 3, 5)[layer]
            tensors[f"{prefix}{place}.weight"] = torch.randn(out, into)
            tensors[f"{prefix}{place}.bias"] = torch.randn(out)
    files.save_file(tensors, folder / "model.safetensors", metadata={"format": "pt"})


@pytest.fixture(scope="module")
def reward_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("models") / "tiny-reward"
    llava(folder)
    with_head(folder, ["rm_heads.head_0.", "rm_heads.head_1."])
    return folder


def test_heads_are_read_from_their_tensors(reward_folder: Path) -> None:
    heads = read_heads(reward_folder, "cpu")
    assert [[tuple(weight.shape) for weight, _ in head] for head in heads] == [[(12, 16), (6, 12), (2, 6)]] * 2
    tensors = import_module("safetensors.torch").load_file(reward_folder / "model.safetensors")
    mlp = torch.nn.Sequential(
        torch.nn.Linear(16, 12),
        torch.nn.ReLU(),
        torch.nn.Dropout(0.05),
        torch.nn.Linear(12, 6),
        torch.nn.ReLU(),
        torch.nn.Linear(6, 2),
    )
    mlp.load_state_dict(
        {k.removeprefix("rm_heads.head_1."): v for k, v in tensors.items() if k.startswith("rm_heads.head_1.")}
    )
    state = torch.randn(16)
    mine = state
    for number, (weight, bias) in enumerate(heads[1]):
        mine = torch.nn.functional.linear(mine, weight, bias)
        mine = torch.relu(mine) if number < 2 else mine
    assert torch.allclose(mlp.eval()(state), mine, atol=1e-6)


@pytest.mark.parametrize("token", ["", " <reward>"])
def test_editreward_gives_means_and_uncertainties(reward_folder: Path, token: str) -> None:
    if token:
        token = token.strip()
    judge = make_editreward(
        {"model": str(reward_folder), "token": token, "questions": ["is it good <unk> ", "how good is {instruction} "]},
        None,
    )
    assert (pickle.loads(pickle.dumps(judge)).params, judge.traits.gpus) == (judge.params, 1)  # noqa: S301  # our own
    shown = Exhibit("make it green", left=noisy(1), sources=(noisy(2),))
    verdict = asyncio.run(judge.judge(shown))
    assert verdict.status is Status.OK
    assert set(verdict.scores) == {"reward_1", "reward_2", "log_uncertainty_1", "log_uncertainty_2"}
    assert verdict.score == pytest.approx((verdict.scores["reward_1"] + verdict.scores["reward_2"]) / 2)
    assert all(math.isfinite(value) for value in verdict.scores.values())
    again = asyncio.run(judge.judge(shown))
    assert dict(again.scores) == dict(verdict.scores)
    other = asyncio.run(judge.judge(Exhibit("a dog", left=noisy(3), sources=(noisy(2),))))
    assert dict(other.scores) != dict(verdict.scores)
    lowest = make_editreward({**judge.settings.model_dump(mode="json"), "reduce": "min"}, None)
    assert asyncio.run(lowest.judge(shown)).score == min(verdict.scores["reward_1"], verdict.scores["reward_2"])


def test_hpsv3_shape_has_one_head(tmp_path: Path) -> None:
    folder = tmp_path / "tiny-hps"
    llava(folder)
    with pytest.raises(UserError, match="no reward head"):
        asyncio.run(make_hpsv3({"model": str(folder)}, None).judge(exhibit(sources=())))
    with_head(folder, ["rm_head."])
    verdict = asyncio.run(make_hpsv3({"model": str(folder)}, None).judge(Exhibit("a dog", left=picture(size=(40, 40)))))
    assert set(verdict.scores) == {"reward_1", "log_uncertainty_1"}
    with pytest.raises(UserError, match="source"):
        asyncio.run(make_editreward({"model": str(folder)}, None).judge(Exhibit("a dog", left=GREEN)))


def test_the_state_that_is_read_is_the_backbones_last_one(reward_folder: Path) -> None:
    """A second way to the same reward: the bare backbone's final (normed) state of the last token, and torch's own layers."""
    folder = str(reward_folder)
    processor = transformers.AutoProcessor.from_pretrained(folder)
    whole = transformers.AutoModelForImageTextToText.from_pretrained(folder).eval()
    pictures = [decode(noisy(2)), decode(noisy(1))]
    inputs = processor(text=["<image> <image> is it good "], images=pictures, return_tensors="pt")
    with torch.inference_mode():
        state = whole.model(**inputs).last_hidden_state[0, -1]
        for number, (weight, bias) in enumerate(read_heads(reward_folder, "cpu")[0]):
            state = torch.nn.functional.linear(torch.relu(state) if number else state, weight, bias)
    judge = make_editreward({"model": folder, "questions": ["is it good", "is it good"]}, None)
    verdict = asyncio.run(judge.judge(Exhibit("x", left=noisy(1), sources=(noisy(2),))))
    assert verdict.scores["reward_1"] == pytest.approx(float(state[0]), abs=1e-5)
    assert verdict.scores["log_uncertainty_1"] == pytest.approx(float(state[1]), abs=1e-5)
