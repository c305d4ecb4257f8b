"""Write a data set as a plain folder, in the layout that `table` reads; names are escaped to stay in the folder.

Single-turn items, their outputs and the votes of this format keep their IDs through export and import. What does not
fit (several turns, judgments, evidence, ...) is reported and needs a native format.
"""

import csv
import json
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from imarena.core import Archive, Skip, UserError, counted, sha256_hex
from imarena.core.records import Evidence, ImageRef, Item, Judgment, Mode, Output, Status, Vote
from imarena.datasets.folder import escape_name
from imarena.datasets.native.records import load_picture, new_directory
from imarena.datasets.options import check_options

_LONGEST = 120  # of an escaped name: file systems allow 255 bytes, and a suffix follows
_SUFFIXES = {
    "image/jpeg": ".jpg",
    "image/webp": ".webp",
    "image/gif": ".gif",
    "image/bmp": ".bmp",
    "image/tiff": ".tif",
}
_REPLACED = ("superseded", "retracted")
"""Votes that their rater changed or withdrew; they are left out without a message."""
_NATIVE = ", which only `export native` writes"
_TEXTS = ("taxonomy", "task", "family", "topic", "subtopic", "track", "licence")
_ROLES = {"source": "sources", "reference": "references", "mask": "masks"}
_OUTPUT_COLUMNS = (
    "key", "editor", "file", "status", "error", "editor_version", "sample", "seed", "attempt", "params",
    "latency_s", "cost_usd",
)  # fmt: skip


def write(directory: Path, archive: Archive, options: Mapping[str, str]) -> Iterator[Skip]:
    """Export one data set. Option: dataset (required if the workspace has several)."""
    check_options("table", options, dataset=None)
    dataset = _dataset(archive, options.get("dataset"))
    new_directory(directory)
    export = _Export(directory, archive, dataset)
    yield from export.items()
    yield from export.outputs()
    yield from export.votes()
    for kind in (Judgment, Evidence):
        count = sum(1 for _ in archive.records(kind))
        if count:
            name = "evidence" if kind is Evidence else f"{kind.__name__.lower()}s"
            yield Skip(name, "", f"{count} are not part of this format{_NATIVE}", by_format=True)


def _dataset(archive: Archive, name: str | None) -> str:
    names = sorted({item.dataset for item in archive.records(Item)})
    if name is None and len(names) == 1:
        return names[0]
    if name in names and name is not None:
        return name
    names_hint = f"Known: {', '.join(names)}." if names else "The workspace has no items."
    raise UserError(
        "Which data set?" if name is None else f"There is no data set '{name}'.",
        hint=f"Give it with dataset=NAME. {names_hint}",
    )


class PathSegments:
    """One portable, unique path segment per name, even if the file system ignores case."""

    def __init__(self) -> None:
        self._of: dict[str, str] = {}
        self._taken: set[str] = set()

    def of(self, name: str) -> str:
        """The segment of this name; the same name always gets the same one."""
        if name not in self._of:
            segment = escape_name(name)
            if len(segment) > _LONGEST or segment.lower() in self._taken:
                segment = f"{segment[:_LONGEST].rstrip('%.')}-{sha256_hex(name.encode('utf-8', 'surrogatepass'))[:16]}"
            self._of[name] = segment
            self._taken.add(segment.lower())
        return self._of[name]


class _Export:
    def __init__(self, directory: Path, archive: Archive, dataset: str) -> None:
        self._directory = directory
        self._archive = archive
        self._dataset = dataset
        self._keys: dict[str, str] = {}
        self._output_keys: dict[str, tuple[str, str]] = {}
        self._key_segments = PathSegments()
        self._editor_segments = PathSegments()

    def items(self) -> Iterator[Skip]:
        counts = dict.fromkeys(_ROLES, 0)
        for item in self._items():
            counts = {role: max(count, len(getattr(item, _ROLES[role]))) for role, count in counts.items()}
        pictures = [_numbered(role, n) for role, count in counts.items() for n in range(count)]
        header = ["dataset", "key", "instruction", "original_instruction", "expected", *pictures, *_TEXTS]
        with (self._directory / "items.csv").open("w", encoding="utf-8", newline="") as file:
            table = csv.DictWriter(file, [*header, "language", "provenance"], restval="")
            table.writeheader()
            for item in self._items():
                row = _unfit_item(item) or self._item_row(item)
                if isinstance(row, str):
                    yield Skip("items.csv", f"item {item.key}", row)
                    continue
                table.writerow(row)
                self._keys[item.item_id] = item.key

    def _items(self) -> Iterator[Item]:
        return (item for item in self._archive.records(Item) if item.dataset == self._dataset)

    def _item_row(self, item: Item) -> dict[str, str] | str:
        turn = item.turns[0]
        row = {
            "dataset": item.dataset,
            "key": item.key,
            "instruction": turn.instruction,
            "original_instruction": turn.original_instruction or "",
            "expected": turn.expected or "",
            "language": item.language,
            "provenance": json.dumps(item.provenance, ensure_ascii=False) if item.provenance else "",
            **{name: getattr(item, name) or "" for name in _TEXTS},
        }
        for role, field in _ROLES.items():
            for number, image in enumerate(getattr(item, field)):
                column = _numbered(role, number)
                relative = f"images/{self._key_segments.of(item.key)}/{column}{_suffix(image)}"
                reason = self._write(relative, image)
                if reason:
                    return reason
                row[column] = relative
        return row

    def outputs(self) -> Iterator[Skip]:
        with (self._directory / "outputs.csv").open("w", encoding="utf-8", newline="") as file:
            table = csv.DictWriter(file, _OUTPUT_COLUMNS)
            table.writeheader()
            for output in self._archive.records(Output):
                key = self._keys.get(output.item_id)
                if key is None:
                    continue  # of another data set, or of an item that was reported above
                row = self._output_row(key, output)
                if isinstance(row, str):
                    yield Skip("outputs.csv", f"output {output.output_id}", row)
                    continue
                table.writerow(row)
                if output.status is Status.OK and output.sample == 0:
                    self._output_keys[output.output_id] = (key, row["editor"])

    def _output_row(self, key: str, output: Output) -> dict[str, str] | str:
        if output.editor is None:
            return "its editor is not named"
        if output.mode is not Mode.SINGLE or output.turn or output.parent_id:
            return f"it belongs to several turns{_NATIVE}"
        if output.status is Status.OK and output.image is None:
            return "it has no pixels"
        row: dict[str, Any] = {name: getattr(output, name) for name in ("status", "error", "editor_version")}
        for name in ("sample", "seed", "attempt", "latency_s", "cost_usd", "params"):
            value = getattr(output, name)
            row[name] = json.dumps(value, ensure_ascii=False) if value or value == 0 else ""
        row |= {"key": key, "editor": output.editor, "file": "", "status": output.status.value}
        if output.image is not None:
            sample = f".{output.sample}" if output.sample else ""
            name = f"{self._key_segments.of(key)}{sample}{_suffix(output.image)}"
            row["file"] = f"outputs/{self._editor_segments.of(output.editor)}/{name}"
            reason = self._write(row["file"], output.image)
            if reason:
                return reason
        return row

    def _write(self, relative: str, image: ImageRef) -> str:
        data = load_picture(self._archive, image)
        if isinstance(data, str):
            return data
        path = self._directory / relative
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
        return ""

    def votes(self) -> Iterator[Skip]:
        uncounted = self._archive.uncounted_votes()
        votes = [vote for vote in self._archive.records(Vote) if vote.left_id in self._output_keys]
        live = [vote for vote in votes if vote.vote_id not in uncounted]
        reasons = Counter(uncounted[vote.vote_id] for vote in votes if vote.vote_id in uncounted)
        for reason, number in sorted(reasons.items()):
            if reason not in _REPLACED:
                yield Skip("votes", "", f"{counted(number, 'vote')} ({reason}): it would count like any other here")
        pairs = [vote for vote in live if vote.right_id is not None]
        singles = [vote for vote in live if vote.right_id is None]
        rows = [self._pair_row(vote) for vote in pairs]
        for vote, row in zip(pairs, rows, strict=True):
            if row is None:
                yield Skip("votes.csv", f"vote {vote.vote_id}", "it has no preference between two exported outputs")
        for vote in live:
            if vote.issues:
                yield Skip("votes", f"vote {vote.vote_id}", "its issue tags are not part of this format")
        columns = ["key", "left", "right", "winner", "rater", "dimension", "comment", "id"]
        self._table("votes.csv", columns, [row for row in rows if row is not None])
        criteria = sorted({criterion for vote in singles for criterion in vote.ratings})
        columns = ["key", "editor", "rater", "scale", "comment", "id", *criteria]
        self._table("ratings.csv", columns, [self._rating_row(vote) for vote in singles])

    def _table(self, name: str, columns: list[str], rows: list[dict[str, str]]) -> None:
        if not rows:
            return
        with (self._directory / name).open("w", encoding="utf-8", newline="") as file:
            table = csv.DictWriter(file, columns, restval="")
            table.writeheader()
            table.writerows(rows)

    def _pair_row(self, vote: Vote) -> dict[str, str] | None:
        right = self._output_keys.get(vote.right_id or "")
        if right is None or vote.preference is None:
            return None
        key, left = self._output_keys[vote.left_id]
        return {
            "key": key, "left": left, "right": right[1], "winner": vote.preference.value, "rater": vote.rater_id,
            "dimension": vote.dimension, "comment": vote.comment, "id": vote.idempotency_key or vote.vote_id,
        }  # fmt: skip

    def _rating_row(self, vote: Vote) -> dict[str, str]:
        key, editor = self._output_keys[vote.left_id]
        scale = f"{vote.scale[0]!r}-{vote.scale[1]!r}" if vote.scale else ""
        return {
            "key": key, "editor": editor, "rater": vote.rater_id, "scale": scale, "comment": vote.comment,
            "id": vote.idempotency_key or vote.vote_id,
            **{criterion: repr(value) for criterion, value in vote.ratings.items()},
        }  # fmt: skip


def _unfit_item(item: Item) -> str:
    if len(item.turns) > 1:
        return f"the item has {len(item.turns)} turns{_NATIVE}"
    turn = item.turns[0]
    if turn.references or turn.masks or turn.task:
        return f"the item's turn has images or a task of its own{_NATIVE}"
    if item.absent:
        return "its images are not there"
    return "" if turn.instruction.strip() else "it has no instruction"


def _numbered(role: str, number: int) -> str:
    return role if number == 0 else f"{role}_{number + 1}"


def _suffix(image: ImageRef) -> str:
    return _SUFFIXES.get(image.media_type, ".png")
