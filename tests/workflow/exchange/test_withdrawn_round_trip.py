"""A workspace with withdrawn pictures goes out and comes in again: no record is lost, no bytes come back."""

from pathlib import Path

import pytest

from imarena.core.errors import InvalidImage
from imarena.core.records import Item, Judgment, Output, Tombstone, Turn
from imarena.datasets.formats import READERS, WRITERS
from imarena.storage import Workspace, init_workspace
from imarena.storage.upkeep import withdraw_image
from imarena.storage.verify import verify
from imarena.workflows.exchange.exporting import export_records
from imarena.workflows.exchange.importing import WorkspaceIntake, import_records
from tests import samples


@pytest.mark.parametrize("form", ["native", "native_jsonl", "native_parquet"])
def test_records_of_withdrawn_pictures_come_back(workspace: Workspace, tmp_path: Path, form: str) -> None:
    source, made = samples.kept(workspace, 1), samples.kept(workspace, 2)
    item = Item(dataset="d", key="k", turns=(Turn(instruction="x"),), sources=(source,))
    output = Output(item_id=item.item_id, editor="e", image=made)
    workspace.store.add([item, output, samples.judgment(output, None, "w")])
    for image in (source, made):
        withdraw_image(workspace, image.sha256, "asked")
    assert len(export_records(workspace, WRITERS.get(form), tmp_path / "out")) == 2
    with init_workspace(tmp_path / "new") as other:
        report = import_records(other, READERS.get(form), format_name=form, path=tmp_path / "out")
        assert not report.skips
        for kind in (Item, Output, Judgment, Tombstone):
            assert list(other.store.records(kind)) == list(workspace.store.records(kind))
        assert list(verify(other, deep=True)) == []
        with pytest.raises(InvalidImage, match="withdrawn"):
            WorkspaceIntake(other).keep(samples.png(1), name="again.png")
