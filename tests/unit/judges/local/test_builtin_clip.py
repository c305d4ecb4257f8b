"""`builtin-clip` on a tiny random CLIP: what the likeness is computed of, and that it shifts the odds. Needs the extra."""

import asyncio
import logging
import pickle
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

torch = pytest.importorskip("torch", reason="needs the vision extra")
pytest.importorskip("transformers", reason="needs the vision extra")

from imarena.core.protocols import Exhibit  # noqa: E402
from imarena.core.records import Outcome, Status  # noqa: E402
from imarena.judges import CARDS, JUDGES  # noqa: E402
from imarena.judges.builtin.likeness import wanted_text  # noqa: E402
from imarena.judges.local.builtin_clip import make  # noqa: E402
from imarena.language import read_instruction  # noqa: E402
from imarena.vision import clip_embedder  # noqa: E402
from tests.models.tiny_encoders import make_clip  # noqa: E402
from tests.unit.judges.builtin.test_judge import png  # noqa: E402
from tests.unit.vision.pictures import scene, with_disc  # noqa: E402

pytestmark = [
    pytest.mark.torch,
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),
    pytest.mark.filterwarnings("ignore::FutureWarning"),
]
WORDS = "Replace the red disc with a dog"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    logging.getLogger("transformers").setLevel(logging.ERROR)
    torch.manual_seed(7)
    return make_clip(tmp_path_factory.mktemp("models") / "tiny-clip")


def shown(right: Image.Image | None = None) -> Exhibit:
    other = None if right is None else png(right)
    return Exhibit(WORDS, png(with_disc((30, 60, 210))), other, sources=(png(scene()),))


def test_the_likeness_is_the_models_and_is_part_of_the_evidence(folder: Path) -> None:
    judge = make({"model": str(folder), "device": "cpu", "ocr": "never"})
    assert (pickle.loads(pickle.dumps(judge)).params, judge.traits.gpus) == (judge.params, 1)  # noqa: S301  # our own
    verdict = asyncio.run(judge.judge(shown()))
    assert verdict.status is Status.OK
    checks = verdict.reasons["checks"]
    assert isinstance(checks, list)
    seen = checks[0]["things"]  # type: ignore[index,call-overload]
    embed = clip_embedder(folder, "cpu", "a test")
    text = embed(wanted_text(read_instruction(WORDS).edits[0])[0])
    before, after = (float(embed(picture) @ text) for picture in (scene(), with_disc((30, 60, 210))))
    assert seen["likeness"] == pytest.approx(after - before, abs=2e-3)  # type: ignore[index,call-overload]
    assert "likeness_there" in seen  # type: ignore[operator]


def test_what_comes_closer_to_the_words_scores_more(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    judge = make({"model": str(folder), "device": "cpu", "ocr": "never"})
    blue = with_disc((30, 60, 210))

    def likeness(picture: np.ndarray, text: str) -> float:
        return 0.3 if "dog" in text and picture[..., 2].max() > 205 else 0.2

    monkeypatch.setattr(judge, "_likeness", likeness)
    liked = asyncio.run(judge.judge(shown())).score
    fresh = make({"model": str(folder), "device": "cpu", "ocr": "never"})
    monkeypatch.setattr(fresh, "_likeness", lambda picture, _text: 0.2 if picture[..., 2].max() > 205 else 0.3)
    unlike = asyncio.run(fresh.judge(shown())).score
    assert liked is not None
    assert unlike is not None
    assert liked > unlike + 50
    assert np.asarray(blue)[..., 2].max() > 205


def test_its_name_and_weights_keep_its_verdicts_apart(folder: Path) -> None:
    judge = JUDGES.get("builtin-clip")({"model": str(folder), "device": "cpu", "ocr": "never"}, None)
    assert judge.name == "builtin-clip/tiny-clip"
    assert judge.version == JUDGES.get("builtin")({}, None).version
    assert "weights_sha256" in judge.params
    assert {"model", "device"}.isdisjoint(judge.params)
    assert CARDS["builtin-clip"].dimension == "overall"
    one = asyncio.run(judge.judge(shown(scene())))
    two = asyncio.run(judge.judge(Exhibit(WORDS, png(scene()), png(with_disc((30, 60, 210))), sources=(png(scene()),))))
    assert one.preference is not None
    assert two.preference is one.preference.mirrored()
    same = asyncio.run(judge.judge(shown(with_disc((30, 60, 210)))))
    assert same.preference is Outcome.TIE
