"""Search a library by the meaning of its texts: one vector per text, indexed by content and model version.

Rankings are merged by reciprocal rank fusion (Cormack et al. 2009): an image's score is the sum of 1 / (k + rank) over
the rankings that list it, with k = 60 as in that paper.
"""

import sqlite3
import threading
from collections.abc import Mapping, Sequence, Set

import numpy as np
from numpy.typing import NDArray

from imarena.core import Progress, sha256_hex
from imarena.vision import TextEmbedder

FUSION_K = 60
NEAR = 0.35
"""Minimum cosine of a match (ours): the nearest text of a library is not necessarily near."""
_BATCH = 256
_SCHEMA = """
CREATE TABLE IF NOT EXISTS vectors (
  content TEXT NOT NULL, model TEXT NOT NULL, vector BLOB NOT NULL, PRIMARY KEY (content, model));
"""


def merge_rankings(rankings: Mapping[str, Sequence[int]]) -> list[tuple[int, tuple[str, ...]]]:
    """Reciprocal rank fusion: the best first, each with the names of the rankings that list it. The order of a single
    ranking is kept; on equal scores, the one from the earlier ranking comes first.
    """
    scores: dict[int, float] = {}
    names: dict[int, tuple[str, ...]] = {}
    for name, ranking in rankings.items():
        for rank, row in enumerate(ranking, start=1):
            scores[row] = scores.get(row, 0.0) + 1.0 / (FUSION_K + rank)
            names[row] = (*names.get(row, ()), name)
    return [(row, names[row]) for row in sorted(scores, key=lambda row: -scores[row])]


class TextVectors:
    """The vectors of a library's texts. One text is embedded once per model version, whatever file it belongs to."""

    def __init__(self, embedder: TextEmbedder) -> None:
        self._embedder = embedder
        self._lock = threading.Lock()
        self._loaded: tuple[list[int], NDArray[np.float32]] | None = None

    @property
    def version(self) -> str:
        """Changes when the same texts would be ranked in another way."""
        return f"{self._embedder.version} near {NEAR} k {FUSION_K}"

    def build(self, connection: sqlite3.Connection, progress: Progress | None = None) -> None:
        """Embed texts without a vector and delete vectors of removed texts. A kill loses at most one batch."""
        connection.execute(_SCHEMA)
        model = self._embedder.version
        texts = {sha256_hex(text.encode()): text for text in _texts(connection).values()}
        stored = connection.execute("SELECT content, model FROM vectors").fetchall()
        outdated = [(content, of) for content, of in stored if of != model or content not in texts]
        connection.executemany("DELETE FROM vectors WHERE content = ? AND model = ?", outdated)
        missing = sorted(texts.keys() - {content for content, of in stored if of == model})
        for start in range(0, len(missing), _BATCH):
            batch = missing[start : start + _BATCH]
            with self._lock:
                vectors = self._embedder.embed([texts[content] for content in batch])
            rows = [(content, model, vector.tobytes()) for content, vector in zip(batch, vectors, strict=True)]
            connection.executemany("INSERT OR REPLACE INTO vectors VALUES (?, ?, ?)", rows)
            connection.commit()
            if progress:
                progress("text embedding", start + len(batch), len(missing))
        connection.commit()
        self._loaded = None

    def nearest(self, connection: sqlite3.Connection, text: str, limit: int, without: Set[int]) -> list[int]:
        """Row ids of the texts near to a query, by decreasing cosine."""
        with self._lock:  # searches run in threads, and a tokenizer cannot be used concurrently
            if self._loaded is None:
                self._loaded = self._load(connection)
            rows, vectors = self._loaded
            if not rows:
                return []
            query = self._embedder.embed([text])[0]
        cosines = vectors @ query
        ordered = (int(at) for at in np.argsort(-cosines, kind="stable") if cosines[at] >= NEAR)
        return [rows[at] for at in ordered if rows[at] not in without][:limit]

    def _load(self, connection: sqlite3.Connection) -> tuple[list[int], NDArray[np.float32]]:
        connection.execute(_SCHEMA)
        stored = connection.execute("SELECT content, vector FROM vectors WHERE model = ?", (self._embedder.version,))
        vectors = {content: np.frombuffer(vector, np.float32) for content, vector in stored}
        contents = {row: sha256_hex(text.encode()) for row, text in _texts(connection).items()}
        rows = [row for row, content in contents.items() if content in vectors]
        return rows, np.stack([vectors[contents[row]] for row in rows]) if rows else np.zeros((0, 0), np.float32)


def _texts(connection: sqlite3.Connection) -> dict[int, str]:
    """The searched text of each image, by row id in the order of keys; images without any text are skipped."""
    rows = connection.execute(
        "SELECT words.rowid, words.title || '. ' || words.text FROM words JOIN images ON images.rowid = words.rowid "
        "ORDER BY images.key"
    )
    return {row: text.strip(". ") for row, text in rows if text and text.strip(". ")}
