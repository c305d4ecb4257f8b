"""Text features of a sentence encoder, on a tiny random BERT: values against the model itself. Needs the vision extra."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="needs the vision extra")
transformers = pytest.importorskip("transformers", reason="needs the vision extra")

from imarena.core.errors import UserError  # noqa: E402
from imarena.preferences import CandidateOptions, choose_candidates  # noqa: E402
from imarena.vision import embed_sentences  # noqa: E402
from imarena.vision.model_weights.entries import weights_entries  # noqa: E402
from imarena.vision.pretrained import minilm  # noqa: E402
from tests.models.tiny_vision_models import bert_tokenizer, noise  # noqa: E402

pytestmark = [pytest.mark.torch, pytest.mark.filterwarnings("ignore")]
TEXTS = ["a red cup", "dog", "a person . a car . a red dog"]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    torch.manual_seed(4)
    config = transformers.BertConfig(
        vocab_size=1040, hidden_size=16, num_hidden_layers=1, num_attention_heads=2, intermediate_size=16,
        max_position_embeddings=32,
    )  # fmt: skip
    transformers.BertModel(config).save_pretrained(tmp_path / "bert")
    bert_tokenizer().save_pretrained(tmp_path / "bert")
    return tmp_path / "bert"


def install(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("IMARENA_DEVICE", "cpu")
    monkeypatch.setattr(minilm, "model_folder", lambda _name, _feature: folder)


def by_hand(folder: Path, text: str) -> Any:
    tokens = bert_tokenizer()([text], return_tensors="pt", truncation=True, max_length=32)
    with torch.inference_mode():
        states = transformers.BertModel.from_pretrained(folder).eval()(**tokens).last_hidden_state[0]
    mean = states.mean(dim=0).numpy()
    return mean / np.linalg.norm(mean)


def test_a_text_is_the_mean_of_its_tokens_whatever_is_beside_it(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    install(folder, monkeypatch)
    together = embed_sentences(TEXTS)
    assert together.shape == (3, 16)
    for row, text in zip(together, TEXTS, strict=True):
        assert np.abs(row - by_hand(folder, text)).max() < 1e-5
        assert np.abs(row - embed_sentences([text])[0]).max() < 1e-5
    assert np.abs(together[0] - together[1]).max() > 1e-3
    assert embed_sentences(["dog " * 500]).shape == (1, 16), "a long text is cut"
    assert embed_sentences([]).shape == (0, 16)


def test_the_listed_weights_are_one_archive_with_its_hashes() -> None:
    entry = weights_entries()[minilm.WEIGHTS]
    assert entry.package is not None
    assert set(entry.package.members.values()) == set(entry.sha256)
    assert {"model.safetensors", "config.json", "tokenizer.json"} <= set(entry.sha256)


def test_candidates_are_chosen_by_them(folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from PIL import Image

    install(folder, monkeypatch)
    Image.fromarray(noise(1, 24, 24)).save(tmp_path / "a.png")
    rows = [
        {"key": str(at), "image": "a.png", "instruction": text, "task": "subject_add"} for at, text in enumerate(TEXTS)
    ]
    (tmp_path / "pool.jsonl").write_text("\n".join(json.dumps(row) for row in rows))
    options = CandidateOptions(per_task=2, text_features="minilm")
    report = choose_candidates(tmp_path / "pool.jsonl", tmp_path / "chosen", options)
    assert [(task.rows, task.chosen) for task in report.tasks] == [(3, 2)]
    with pytest.raises(UserError, match="minilm"):
        choose_candidates(tmp_path / "pool.jsonl", tmp_path / "other", CandidateOptions(text_features="mini"))
