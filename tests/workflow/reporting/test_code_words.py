"""The report explains the codes of ImagenWorld where items have them, and nobody else's labels."""

from pathlib import Path

from imarena.core.records import Item, Turn
from imarena.reports import Section
from imarena.reports.tables import Column, Table
from imarena.storage import init_workspace
from imarena.workflows.reporting.report import explain_codes
from imarena.workflows.views import View


def item(key: str, topic: str, task: str | None = None, taxonomy: str | None = None) -> Item:
    return Item(
        dataset="renamed" if taxonomy else "shop", key=key, task=task, topic=topic, taxonomy=taxonomy,
        turns=(Turn(instruction="make it red"),),
    )  # fmt: skip


def explained(folder: Path, *items: Item) -> tuple[str, ...]:
    table = Table((Column("topic"),), (("A",), ("CG",), ("T",), ("TIE",)))
    with init_workspace(folder) as workspace:
        workspace.store.add(items)
        (section,) = explain_codes(View(workspace), [Section("By topic", tables=(table,))])
    assert section is not None
    return section.text


def test_another_benchmarks_labels_are_no_codes(tmp_path: Path) -> None:
    assert explained(tmp_path / "a", item("1", "A"), item("2", "CG", "TIE")) == ()


def test_only_the_codes_of_imagenworlds_items_are_explained(tmp_path: Path) -> None:
    items = (item("1", "A"), item("2", "CG", "TIE", "imagenworld"), item("3", "T", "TIE", "cv_arena"))
    (line,) = explained(tmp_path / "a", *items)
    assert line == "Codes: TIE: text-guided image editing; CG: computer graphics."
