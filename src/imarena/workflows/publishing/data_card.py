"""The data card (README.md) of a published folder: front matter of the Hugging Face hub, counts, licences, examples.

Names and texts come from benchmarks that anybody may have written, so none of them reaches Markdown, HTML or YAML as
markup, and no file is named after them.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import yaml

from imarena.core import VERSION, command_line, counted, find_licence, shortened
from imarena.core.records import Item
from imarena.images import preview
from imarena.reports import columns
from imarena.reports.tables import CellValue, Column, Table, escape_markdown, printable, to_markdown
from imarena.workflows.curating import card_section
from imarena.workflows.publishing.record_redaction import CONTENT_ID, RecordRedaction

EXAMPLES = 6
EXAMPLE_SIDE = 384
_LONGEST = 200
_cut = partial(shortened, most=_LONGEST)
_DEFAULT_LANGUAGE: str = Item.model_fields["language"].default
_LISTED = 40
_COMMON = 5
_SIZES = ((1_000, "n<1K"), (10_000, "1K<n<10K"), (100_000, "10K<n<100K"), (1_000_000, "100K<n<1M"))
_TABLES = {
    "item": ("items", "the benchmark's entries: instructions, source and reference images, labels"),
    "output": ("outputs", "what each editor made of each item, failures included"),
    "judgment": (
        "judgments",
        "verdicts of machine judges; those with another status than ok are failures, not verdicts",
    ),
    "vote": ("votes", "verdicts of people, under pseudonyms that were drawn for this publication"),
    "rater": ("raters", "the pseudonyms"),
}


@dataclass
class CardFacts:
    """The contents of the card, collected while records are written."""

    labels: dict[str, Counter[str]] = field(
        default_factory=lambda: {
            name: Counter() for name in ("task", "family", "topic", "language", "turns", "licence")
        }
    )
    columns: dict[str, Counter[str]] = field(default_factory=dict)
    """Counts of the values in imported columns, by column."""
    editors: Counter[str] = field(default_factory=Counter)
    judges: Counter[str] = field(default_factory=Counter)
    examples: list[tuple[str, str, str]] = field(default_factory=list)
    """File, key and instruction."""
    items: list[Item] = field(default_factory=list)
    """Items that `curate` collected, for the data sheet."""
    default_language_is_doubtful: bool = False
    """An item has the default language (none was stated) and an instruction with non-ASCII letters."""

    def add_item(self, item: Item, picture: bytes | None, folder: Path) -> None:
        """Count an item; the first items of different tasks become examples."""
        for name, counts in self.labels.items():
            value = len(item.turns) if name == "turns" else getattr(item, name)
            counts[str(value) if value else "not stated"] += 1
        for name, value in item.provenance.items():
            if name != CONTENT_ID and value not in (None, "", [], {}):
                self.columns.setdefault(name, Counter())[_cut(str(value))] += 1
        if item.language == _DEFAULT_LANGUAGE and not all(_is_plain(turn.instruction) for turn in item.turns):
            self.default_language_is_doubtful = True
        if "curation" in item.provenance:
            self.items.append(item)
        new_task = self.labels["task"][item.task or "not stated"] == 1
        if picture is not None and len(self.examples) < EXAMPLES and (new_task or len(self.examples) < 2):
            file = f"images/example-{len(self.examples) + 1}.jpg"
            (folder / "images").mkdir(exist_ok=True)
            (folder / file).write_bytes(preview(picture, EXAMPLE_SIDE).data)
            self.examples.append((file, item.key, item.instruction))

    def drop_doubtful_language(self) -> None:
        """Count items of the default language as not stated if some of them are clearly in another one."""
        languages = self.labels["language"]
        if self.default_language_is_doubtful:
            languages["not stated"] += languages.pop(_DEFAULT_LANGUAGE, 0)


def write_card(
    path: Path,
    name: str,
    facts: CardFacts,
    counts: Mapping[str, int],
    redaction: RecordRedaction,
    votes_left_out: Mapping[str, int],
) -> None:
    """Write README.md. `redaction` made the published records; `votes_left_out` by reason."""
    facts.drop_doubtful_language()
    tables = {kind: count for kind, count in counts.items() if kind in _TABLES}
    title = _cell(name)
    parts = [
        _front_matter(name, facts, counts),
        f"# {title}\n\nAn image editing benchmark, published by imarena {VERSION}.\n",
        _contents(tables),
        _left_out(redaction.left_out, votes_left_out),
        _changes_section(redaction),
        _usage(tables),
        _distributions(facts),
        _own_columns(facts),
        card_section(facts.items, path.parent),
        _examples(facts),
    ]
    path.write_text("\n".join(part for part in parts if part), encoding="utf-8")


def _front_matter(name: str, facts: CardFacts, counts: Mapping[str, int]) -> str:
    licences = {licence.hub if (licence := find_licence(text)) else "other" for text in facts.labels["licence"]}
    languages = sorted(
        language
        for language in facts.labels["language"]
        if len(language) in (2, 3) and language.isascii() and language.isalpha()
    )
    configs = [
        {
            "config_name": _TABLES[kind][0],
            "data_files": f"{kind}.parquet",
            **({"default": True} if kind == "item" else {}),
        }
        for kind in counts
        if kind in _TABLES
    ]
    size = next((label for limit, label in _SIZES if counts.get("item", 0) < limit), "n>1M")
    document: dict[str, Any] = {
        "pretty_name": printable(name)[:_LONGEST],
        "license": min(licences) if len(licences) == 1 else sorted(licences) or "other",
        "task_categories": ["image-to-image"],
        "tags": ["image-editing", "benchmark", "imarena"],
        "size_categories": [size],
        "configs": configs,
    }
    if languages:
        document["language"] = languages
    return f"---\n{yaml.safe_dump(document, sort_keys=False, allow_unicode=True)}---\n"


def _contents(tables: Mapping[str, int]) -> str:
    rows = tuple((f"{kind}.parquet", count, _TABLES[kind][1]) for kind, count in tables.items())
    return to_markdown(Table((Column("file"), Column("rows", ","), Column("what it holds")), rows, title="Contents"))


def _table(
    head: Sequence[str | Column], rows: Sequence[tuple[CellValue, ...]], title: str, notes: tuple[str, ...] = ()
) -> str:
    """A table as Markdown; empty if it has no rows."""
    return to_markdown(Table(columns(*head), tuple(rows), title, notes)) if rows else ""


def _left_out(images: Mapping[str, int], votes: Mapping[str, int]) -> str:
    rows = [(counted(number, "image"), reason) for reason, number in sorted(images.items())]
    rows += [(counted(number, "vote"), reason) for reason, number in sorted(votes.items())]
    return _table(("left out", "why"), rows, "Left out")


def _changes_section(changes: RecordRedaction) -> str:
    """Return the section on changes to the records in the author's workspace."""
    rows: list[tuple[str, str]] = []
    if changes.changed_images:
        rows.append((counted(len(changes.changed_images), "image"), "metadata removed, pixels unchanged"))
    for name, number in sorted(changes.redacted.items()):
        rows.append((counted(number, "text"), f"{_cut(name)}: a local path, an address or a key removed"))
    for name, number in sorted(changes.pseudonymous.items()):
        rows.append((counted(number, "value"), f"{_cut(name)}: people are under pseudonyms"))
    return _table(("changed", "how"), rows, "Changed")


def _usage(tables: Mapping[str, int]) -> str:
    other = ", ".join(f"`{_TABLES[kind][0]}`" for kind in tables if kind != "item")
    more = f" Other configurations: {other}." if other else ""
    command = command_line("import native_parquet FOLDER", workspace=Path())
    return (
        "**Reading it**\n\n"
        "```python\nfrom datasets import load_dataset\n\n"
        'items = load_dataset("path/to/this/folder", "items", split="train")\n```\n\n'
        f"Images are columns of their own.{more} `{command}` reads the whole folder into a workspace, and "
        "`sha256sum -c SHA256SUMS` checks the files.\n"
    )


def _distributions(facts: CardFacts) -> str:
    groups = {**facts.labels, "editor": facts.editors, "judge": facts.judges}
    texts = []
    for name, counts in groups.items():
        if not counts or (len(counts) == 1 and "not stated" in counts):
            continue
        rows = tuple((_cut(value), number) for value, number in counts.most_common(_LISTED))
        n_more = len(counts) - len(rows)
        unit = {"editor": "outputs", "judge": "judgments"}.get(name, "items")
        notes = (f"and {n_more:,} more",) if n_more > 0 else ()
        texts.append(_table((name, Column(unit, ",")), rows, f"By {name}", notes))
    return "\n".join(texts)


def _own_columns(facts: CardFacts) -> str:
    """Return the section on imported columns: how many items have a value, and the most frequent values."""
    rows = []
    for name, counts in sorted(facts.columns.items()):
        common = ", ".join(f"{value} ({number:,})" for value, number in counts.most_common(_COMMON) if number > 1)
        rows.append((_cut(name), sum(counts.values()), len(counts), _cut(common) or "all differ"))
    head = ("column", Column("items", ","), Column("different values", ","), "most frequent")
    return _table(head, rows, "Own columns", ("The values are in the column provenance.",))


def _examples(facts: CardFacts) -> str:
    if not facts.examples:
        return ""
    lines = ["**Examples**", "", "| source image | key | instruction |", "|---|---|---|"]
    lines += [
        f"| ![example]({file}) | {_cell(key)} | {_cell(instruction)} |" for file, key, instruction in facts.examples
    ]
    return "\n".join(lines) + "\n"


def _is_plain(text: str) -> bool:
    """Return whether a text has no letter beyond ASCII. Quotation marks and dashes do not indicate a language."""
    return all(letter.isascii() or not letter.isalpha() for letter in text)


def _cell(text: str) -> str:
    return escape_markdown(_cut(text)) or "benchmark"
