"""A local image library: a folder or a Parquet file, with text search (SQLite FTS5) and, if a model is given, search
by text embeddings; the two rankings are merged.

The search covers file and folder names, and the texts of `metadata.csv`, `.jsonl` or `.parquet` in the folder (with
`file_name`, as in Hugging Face's image folders). The tools also describe each image once, and their words are
indexed too; in a library of more than `LOOK_UP_TO` images, only images without any text are described.

Skipped and counted: links that lead out of the folder, and files whose names cannot be printed.
"""

import asyncio
import re
import sqlite3
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from imarena.core import (
    Cause,
    CauseTally,
    FoundImage,
    ImageQuery,
    ImageSource,
    InvalidImage,
    Progress,
    SourceFailure,
    UserError,
    content_id,
    sha256_hex,
)
from imarena.curation.file_names import is_file_name, path_words
from imarena.curation.text_vectors import TextVectors, merge_rankings
from imarena.images import read_image_file
from imarena.tables import column_names, read_file
from imarena.vision import TextEmbedder

DescribeImage = Callable[[bytes], str]
"""Describes an image that has no text."""

LOOK_UP_TO = 1000

_ENDINGS = frozenset({".jpg", ".jpeg", ".png", ".webp", ".gif", ".bmp", ".tif", ".tiff"})
_METADATA = ("metadata.csv", "metadata.jsonl", "metadata.parquet", "metadata.tsv")
_TEXTS = ("title", "text", "caption", "description", "tags", "keywords", "prompt", "alt", "label")
_NAMES: Mapping[str, tuple[str, ...]] = {
    "shows": ("shows",),
    "licence": ("licence", "license", "rights"),
    "licence_url": ("licence_url", "license_url"),
    "creator": ("creator", "author", "artist", "photographer", "attribution"),
    "page": ("page", "url", "source_url", "link", "address"),
}
_WORD = re.compile(r"[^\W_]+")
_LONGEST_TEXT = 2000
"""Maximum length of a text in characters: longer ones are cut."""
_SCHEMA = """
CREATE TABLE IF NOT EXISTS images (
  key TEXT PRIMARY KEY, address TEXT NOT NULL, stamp TEXT NOT NULL, title TEXT, text TEXT, described TEXT,
  described_by TEXT, shows TEXT, licence TEXT, licence_url TEXT, creator TEXT, page TEXT);
CREATE VIRTUAL TABLE IF NOT EXISTS words USING fts5(title, text, tokenize = 'porter unicode61');
"""
_FORGET_WORDS = "DELETE FROM words WHERE rowid = (SELECT rowid FROM images WHERE key = ?)"


@dataclass(frozen=True)
class LibraryEntry:
    """One image of a library before it is indexed."""

    key: str
    address: str
    stamp: str
    """Changes with the file."""
    title: str
    text: str
    fields: Mapping[str, str]
    has_text: bool


@dataclass(frozen=True)
class LibraryImage:
    """One image of a library: its file, its stated texts, and its description by the tools."""

    key: str
    shows: str
    title: str
    text: str
    licence: str
    creator: str
    page: str
    seen: str


@dataclass(frozen=True)
class LibraryContents:
    """The number of images in a library, and what was skipped."""

    images: int
    skipped: tuple[Cause, ...] = ()


class LocalLibrary:
    """A search index over a folder or Parquet file, stored in `index`; only changed images are read again."""

    def __init__(
        self,
        path: Path,
        index: Path,
        *,
        licence: str = "",
        name: str = "local",
        tools: str = "unnamed tools",
        embedder: TextEmbedder | None = None,
    ) -> None:
        """`tools` names the describing tools with versions: if it changes, every image is described again."""
        if not path.exists():
            raise UserError(f"There is no folder or file {path}.", hint="Check the path of the library.")
        self._path = path
        self._index = index
        self._licence = licence
        self._name = name
        self._tools = tools
        index.parent.mkdir(parents=True, exist_ok=True)
        self._parquet: dict[str, list[bytes | None]] = {}
        self._skipped = CauseTally()
        self._vectors = TextVectors(embedder) if embedder else None

    def build(self, describe: DescribeImage | None = None, progress: Progress | None = None) -> LibraryContents:
        """Update the index. If the process is killed, at most one description is lost."""
        self._skipped = CauseTally()
        with self._connection() as connection:
            rows = connection.execute("SELECT key, stamp, described_by FROM images").fetchall()
            stored = {row["key"]: (row["stamp"], row["described_by"]) for row in rows}
            entries = list(self._entries())
            for at, entry in enumerate(entries):
                describes = describe is not None and (len(entries) <= LOOK_UP_TO or not entry.has_text)
                stamp, tools = stored.get(entry.key, ("", ""))
                if stamp != entry.stamp or (describes and tools != self._tools):
                    self._write(connection, entry, describe if describes else None)
                    if describes:  # describing an image takes a second: a kill must not lose it
                        connection.commit()
                if progress:
                    progress(f"images of {self._name}", at + 1, len(entries))
            removed_keys = stored.keys() - {entry.key for entry in entries}
            connection.executemany(_FORGET_WORDS, [(key,) for key in removed_keys])
            connection.executemany("DELETE FROM images WHERE key = ?", [(key,) for key in removed_keys])
            connection.commit()
            if self._vectors is not None:
                self._vectors.build(connection, progress)
        return LibraryContents(len(entries), self._skipped.causes())

    def images(self) -> list[LibraryImage]:
        """All images as of the last `build`."""
        with self._connection() as connection:
            rows = connection.execute(
                "SELECT key, shows, title, text, licence, creator, page, described FROM images ORDER BY key"
            ).fetchall()
        return [LibraryImage(*(str(value or "") for value in row)) for row in rows]

    def source(self) -> ImageSource:
        """The library as an image source."""
        with self._connection() as connection:
            rows = connection.execute(
                "SELECT key, stamp, text, shows, licence, described_by FROM images ORDER BY key"
            ).fetchall()
        embedding = [self._vectors.version] if self._vectors is not None else []
        identity = content_id("library", self._name, self._licence, [list(row) for row in rows], *embedding)
        return ImageSource(self._name, self._search, self._load, identity)

    async def _search(self, query: ImageQuery, limit: int) -> Sequence[FoundImage]:
        return await asyncio.to_thread(self.search, query, limit)

    def search(self, query: ImageQuery, limit: int) -> list[FoundImage]:
        """Images with any of the words; those with more and rarer words first (BM25).

        With an embedding model, this ranking is merged with the one by cosine of the query and the image's texts.
        """
        words = [word for word in _WORD.findall(query.text.casefold()) if len(word) > 1 or not word.isascii()]
        if not words:
            return []
        any_word = " OR ".join(f'"{word}"' for word in dict.fromkeys(words))
        excluded = " OR ".join(f'"{part}"' for word in query.exclude for part in _WORD.findall(word.casefold()))
        match = f"({any_word}) NOT ({excluded})" if excluded else any_word
        with self._connection() as connection:
            ranked = [
                row["rowid"]
                for row in connection.execute(
                    "SELECT words.rowid FROM words JOIN images ON images.rowid = words.rowid WHERE words MATCH ? "
                    "ORDER BY bm25(words, 2.0, 1.0), key LIMIT ?",
                    (match, limit),
                )
            ]
            rankings = {"text search": ranked}
            if self._vectors is not None:
                query_of = ("SELECT rowid FROM words WHERE words MATCH ?", (excluded,))
                without = {row["rowid"] for row in connection.execute(*query_of)} if excluded else set()
                rankings["text embedding"] = self._vectors.nearest(connection, query.text, limit, without)
            results = []
            for rowid, found_by in merge_rankings(rankings)[:limit]:
                row = connection.execute("SELECT * FROM images WHERE rowid = ?", (rowid,)).fetchone()
                results.append(self._result(row, " and ".join(found_by)))
        return results

    def _result(self, row: sqlite3.Row, found_by: str) -> FoundImage:
        return FoundImage(
            self._name, row["key"], row["address"], row["title"] or "", row["text"] or "",
            row["licence"] or self._licence, row["licence_url"] or "", row["creator"] or "", row["page"] or "",
            shows=row["shows"] or "", found_by=found_by,
        )  # fmt: skip

    async def _load(self, found: FoundImage) -> bytes:
        try:
            return await asyncio.to_thread(self._read, found.address)
        except (OSError, InvalidImage, UserError) as error:
            raise SourceFailure(f"{found.key} cannot be read: {str(error).splitlines()[0]}") from error

    def _read(self, address: str) -> bytes:
        file, _, row = address.rpartition("#")
        if not file:
            return read_image_file(self._root / address)
        images = self._parquet.get(file)
        if images is None:
            images = self._parquet[file] = [image for image, _ in _parquet_rows(self._root / file)]
        data = images[int(row)]
        if data is None:
            raise UserError("the row has no image")
        return data

    @property
    def _root(self) -> Path:
        return self._path if self._path.is_dir() else self._path.parent

    # ------------------------------------------------------------------ indexing

    def _entries(self) -> Iterator[LibraryEntry]:
        if self._path.is_dir():
            yield from self._folder_entries()
        elif self._path.suffix == ".parquet":
            yield from self._parquet_entries(self._path)
        else:
            raise UserError(f"{self._path} is neither a folder nor a Parquet file.", hint="Give a folder of images.")

    def _folder_entries(self) -> Iterator[LibraryEntry]:
        notes = self._metadata()
        for file in sorted(self._path.rglob("*")):
            is_parquet = file.suffix == ".parquet" and file.name not in _METADATA
            if not is_parquet and (file.suffix.lower() not in _ENDINGS or file.name.startswith(".")):
                continue
            if not self._is_own(file):
                continue
            if is_parquet:
                yield from self._parquet_entries(file)
                continue
            key = file.relative_to(self._path).as_posix()
            fields = notes.get(key) or notes.get(file.name) or {}
            text = self._text_beside(file.with_suffix(".txt"))
            status = file.stat()
            stamp = sha256_hex(repr((status.st_size, status.st_mtime_ns, sorted(fields.items()), text)).encode())[:16]
            yield _entry(key, key, stamp, fields, text)

    def _is_own(self, file: Path) -> bool:
        """Is it a plain file of this folder with a printable name? If not, it is counted as skipped."""
        if not file.is_file():  # a folder, a pipe, a device or a broken link
            return False
        name = file.relative_to(self._path).as_posix()
        if not name.isprintable():  # line breaks, control characters, bytes that are not UTF-8
            self._skipped.add("the file name has characters that cannot be printed", repr(name)[1:-1])
            return False
        if not file.resolve().is_relative_to(self._path.resolve()):
            self._skipped.add("a link that leads out of the folder", name)
            return False
        return True

    def _text_beside(self, file: Path) -> str:
        if not file.is_file() or not self._is_own(file):
            return ""
        with file.open("rb") as opened:
            return opened.read(4 * _LONGEST_TEXT).decode("utf-8", errors="replace")[:_LONGEST_TEXT]

    def _metadata(self) -> dict[str, dict[str, str]]:
        for name in _METADATA:
            file = self._path / name
            if file.is_file() and self._is_own(file):
                rows = _text_rows(file)
                column = next((name for name in ("file_name", "file", "image", "path") if rows and name in rows[0]), "")
                if rows and not column:
                    raise UserError(f"{file} has no column file_name.", hint="It names the image of each row.")
                return {row[column]: row for row in rows if row[column]}
        return {}

    def _parquet_entries(self, file: Path) -> Iterator[LibraryEntry]:
        name = file.relative_to(self._root).as_posix()
        stamp = str(file.stat().st_mtime_ns)
        for at, (_, fields) in enumerate(_parquet_rows(file, images=False)):
            yield _entry(f"{name}#{at}", f"{name}#{at}", stamp, fields, "")

    def _write(self, connection: sqlite3.Connection, entry: LibraryEntry, describe: DescribeImage | None) -> None:
        described, tools = "", ""
        if describe is not None:
            tools = self._tools
            try:
                described = describe(self._read(entry.address))
            except (OSError, UserError):  # not an image: reported when it is used in a run
                described = ""
        fields = {ours: next((entry.fields[name] for name in names if entry.fields.get(name)), "")
                  for ours, names in _NAMES.items()}  # fmt: skip
        name = "" if is_file_name(entry.title, entry.key) else path_words(entry.key)
        connection.execute(_FORGET_WORDS, (entry.key,))
        row = connection.execute(
            "INSERT OR REPLACE INTO images VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
            (entry.key, entry.address, entry.stamp, entry.title, entry.text, described, tools, *fields.values()),
        )
        connection.execute(
            "INSERT INTO words (rowid, title, text) VALUES (?, ?, ?)",
            (row.lastrowid, entry.title, " ".join(filter(None, (entry.text, fields["shows"], described, name)))),
        )

    @contextmanager
    def _connection(self) -> Iterator[sqlite3.Connection]:
        with closing(sqlite3.connect(self._index, timeout=30.0)) as connection:
            connection.row_factory = sqlite3.Row
            connection.executescript(_SCHEMA)
            yield connection


def _entry(key: str, address: str, stamp: str, fields: Mapping[str, str], beside: str) -> LibraryEntry:
    title = (fields.get("title") or path_words(key))[:_LONGEST_TEXT]
    texts = [fields[name] for name in _TEXTS if name != "title" and fields.get(name)]
    text = " ".join([*texts, beside]).strip()[:_LONGEST_TEXT]
    return LibraryEntry(
        key, address, stamp, title, text, fields, bool(text or fields.get("title") or fields.get("shows"))
    )


def _text_rows(file: Path) -> list[dict[str, str]]:
    table = read_file(file, text=frozenset(column_names(file)), wanted=None)
    rows: Iterable[Mapping[str, Any]] = table.to_pylist()
    return [
        {str(name).casefold(): "" if value is None else str(value)[:_LONGEST_TEXT] for name, value in row.items()}
        for row in rows
    ]


def _parquet_rows(file: Path, *, images: bool = True) -> Iterator[tuple[bytes | None, dict[str, str]]]:
    """Image bytes (a binary column, or a struct with `bytes`) and text columns of each row."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    schema = pq.read_schema(file)
    column = next((field.name for field in schema if _is_image(field.type, pa)), None)
    if column is None:
        raise UserError(f"{file} has no column of images.", hint="Bytes, or Hugging Face's image feature, are read.")
    texts = [field.name for field in schema if pa.types.is_string(field.type) or pa.types.is_large_string(field.type)]
    for batch in pq.ParquetFile(file).iter_batches(64, columns=[*texts, *([column] if images else [])]):
        for row in batch.to_pylist():
            value = row.pop(column, None)
            data = value.get("bytes") if isinstance(value, dict) else value
            yield data, {name.casefold(): (text or "")[:_LONGEST_TEXT] for name, text in row.items()}


def _is_image(kind: Any, pa: Any) -> bool:
    if pa.types.is_struct(kind):
        return any(kind.field(at).name == "bytes" for at in range(kind.num_fields))
    return bool(pa.types.is_binary(kind) or pa.types.is_large_binary(kind))
