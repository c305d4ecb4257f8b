"""Text embeddings beside text search: fusion against values by hand, vectors computed once per content and model."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from imarena.core import FoundImage, ImageQuery
from imarena.curation import LocalLibrary
from imarena.curation.text_vectors import merge_rankings
from imarena.vision import TextEmbedder

MEANINGS = ({"dog", "puppy", "canine"}, {"cup", "mug"}, {"car"})


class CountingModel:
    """Counts the words of each meaning, and remembers what it was given."""

    def __init__(self, version: str) -> None:
        self.texts: list[str] = []
        self.embedder = TextEmbedder(version, self._embed)

    def _embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        self.texts += texts
        counts = [[sum(word.strip(".") in meaning for word in text.split()) for meaning in MEANINGS] for text in texts]
        vectors = np.array([[*row, 0.01] for row in counts], np.float32)
        return np.asarray(vectors / np.linalg.norm(vectors, axis=1, keepdims=True), np.float32)


def make_folder(folder: Path, texts: dict[str, str]) -> Path:
    folder.mkdir(exist_ok=True)
    for name, text in texts.items():
        (folder / f"{name}.jpg").write_bytes(b"not looked at")
        (folder / f"{name}.txt").write_text(text)
    return folder


def found(results: Sequence[FoundImage]) -> list[tuple[str, str]]:
    return [(each.key, each.found_by) for each in results]


def test_fusion_sums_reciprocal_ranks() -> None:
    """1/61 + 1/62 for 7, 1/61 for 5, 1/62 for 8, 1/63 for 9 and 4: equal ones as the first ranking has them."""
    merged = merge_rankings({"a": [5, 7, 9], "b": [7, 8, 4]})
    assert merged == [(7, ("a", "b")), (5, ("a",)), (8, ("b",)), (9, ("a",)), (4, ("b",))]
    assert [each for each, _ in merge_rankings({"a": [3, 1, 2]})] == [3, 1, 2], "a single ranking stays"
    assert merge_rankings({"a": [], "b": []}) == []


def test_both_searches_find_and_are_named(tmp_path: Path) -> None:
    folder = make_folder(
        tmp_path / "f", {"a1": "a dog at a door", "b1": "puppy latte in a mug", "c1": "a car", "d1": "a puppy canine"}
    )
    plain = LocalLibrary(folder, tmp_path / "index.db")
    plain.build()
    query = ImageQuery("puppy")
    words = found(plain.search(query, 20))
    assert {key for key, _ in words} == {"b1.jpg", "d1.jpg"}
    assert {by for _, by in words} == {"text search"}

    library = LocalLibrary(folder, tmp_path / "index.db", embedder=CountingModel("m 1").embedder)
    library.build()
    both = dict(found(library.search(query, 20)))
    assert both == {
        "b1.jpg": "text search and text embedding", "d1.jpg": "text search and text embedding",
        "a1.jpg": "text embedding",
    }, "the car is not near"  # fmt: skip
    assert list(both)[-1] == "a1.jpg", "an image that only one of them ranks comes after those of both"
    assert len(library.search(query, 2)) == 2
    without = found(library.search(ImageQuery("puppy", exclude=("door", "mug")), 20))
    assert [key for key, _ in without] == ["d1.jpg"], "words that are excluded count for both"
    assert found(plain.search(query, 20)) == words, "the same index without the model gives what it gave before"
    assert plain.source().identity != library.source().identity


def test_a_text_is_embedded_once_per_model(tmp_path: Path) -> None:
    folder = make_folder(tmp_path / "f", {"1": "a dog", "2": "a dog", "3": "a cup", "4": ""})
    model = CountingModel("m 1")

    def built(of: CountingModel) -> LocalLibrary:
        library = LocalLibrary(folder, tmp_path / "index.db", embedder=of.embedder)
        library.build()
        return library

    built(model)
    assert sorted(model.texts) == ["a cup", "a dog"], "equal texts are one, and no text gives no vector"
    built(model)
    assert len(model.texts) == 2
    (folder / "3.txt").write_text("a mug")
    library = built(model)
    assert model.texts[2:] == ["a mug"], "only what changed"
    assert found(library.search(ImageQuery("cup"), 20)) == [("3.jpg", "text embedding")]
    other = CountingModel("m 2")
    built(other)
    assert sorted(other.texts) == ["a dog", "a mug"], "another model embeds all"
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("imarena.curation.text_vectors._BATCH", 1)
        built(CountingModel("m 3"))
