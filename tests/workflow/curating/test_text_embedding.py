"""Curation with an installed sentence encoder, on a tiny BERT whose synonyms have one vector. Needs the vision extra."""

from pathlib import Path

import pytest

from tests.command import Imarena
from tests.small_data.curation_library import make_instructions, make_library

torch = pytest.importorskip("torch", reason="needs the vision extra")
transformers = pytest.importorskip("transformers", reason="needs the vision extra")
tokenizers = pytest.importorskip("tokenizers", reason="needs the vision extra")

pytestmark = [pytest.mark.torch, pytest.mark.filterwarnings("ignore")]
PUPPY = ("turn", "Turn the puppy so that it looks to the left.", "pose_transformation", "animals")
MEANINGS = (("[UNK]",), ("puppy", "dog"), ("cup", "coffee"), ("rocket",))
"""Words of one line get the same vector, words of two lines nearly orthogonal ones; unknown words hardly count."""


def install_tiny_minilm(root: Path) -> None:
    folder = root / "all-minilm-l6-v2"
    words = ["[PAD]", "[CLS]", "[SEP]", *(word for line in MEANINGS for word in line)]
    config = transformers.BertConfig(
        vocab_size=len(words), hidden_size=16, num_hidden_layers=0, num_attention_heads=2, intermediate_size=16,
        max_position_embeddings=64, layer_norm_eps=1.0,
    )  # fmt: skip
    model = transformers.BertModel(config)
    with torch.no_grad():
        for table in (model.embeddings.word_embeddings, model.embeddings.position_embeddings,
                      model.embeddings.token_type_embeddings):  # fmt: skip
            table.weight.zero_()
        for at, line in enumerate(MEANINGS):
            for word in line:
                model.embeddings.word_embeddings.weight[words.index(word), at] = 0.05 if word == "[UNK]" else 4.0
    model.save_pretrained(folder)
    made = tokenizers.Tokenizer(
        tokenizers.models.WordLevel({word: at for at, word in enumerate(words)}, unk_token="[UNK]")
    )
    made.pre_tokenizer = tokenizers.pre_tokenizers.Whitespace()
    transformers.PreTrainedTokenizerFast(tokenizer_object=made, pad_token="[PAD]", unk_token="[UNK]").save_pretrained(
        folder
    )
    (folder / ".imarena").mkdir()
    (folder / ".imarena" / "manifest.json").write_text("{}")


def test_an_image_without_a_word_of_the_query_is_found_by_its_meaning(
    imarena: Imarena, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The only image whose text says puppy shows a cup. Words find the dog after a reflection; the embedding at once."""
    library = make_library(
        tmp_path / "library",
        {"coffee": "puppy latte, a cup of coffee", "dogs": "a dog looks out of a door", "rocket": "a rocket at night"},
    )
    table = make_instructions(tmp_path / "t.csv", PUPPY)
    workspace = tmp_path / "ws"
    imarena("init", workspace)
    run = ("--json", "-w", workspace, "curate", "run", table, "-s", library, "--no-describe", "--min-long-side", 300,
           "--pool", 1, "-d")  # fmt: skip
    without = imarena(*run, "words").json["requests"][0]
    assert without["rounds"] == 2
    log = imarena("-w", workspace, "curate", "log", without["items"][0]).out
    assert "by text search" in " ".join(log.split())
    assert "text embedding" not in log

    monkeypatch.setenv("IMARENA_DEVICE", "cpu")
    monkeypatch.setenv("IMARENA_WEIGHTS", str(tmp_path / "weights"))
    install_tiny_minilm(tmp_path / "weights")
    by_meaning = imarena(*run, "meaning").json["requests"][0]
    assert by_meaning["rounds"] == 1
    story = imarena("--json", "-w", workspace, "curate", "log", by_meaning["items"][0]).json
    assert story["provenance"]["source_key"] == "dogs.jpg"
    searches = [line for line in story["story"] if line["step"] == "search"]
    assert any(line["text"].endswith(", by text embedding") for line in searches)
    listed = {found["key"]: found["found_by"] for line in searches for found in line["facts"]["results"]}
    assert listed == {"coffee.jpg": "text search", "dogs.jpg": "text embedding"}, "coffee's cosine is about 0.3"
