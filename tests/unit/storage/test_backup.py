"""Backups: their memory, backups without images, and where a restore puts the records and images."""

import shutil
import tracemalloc
from collections.abc import Callable
from pathlib import Path

import pytest

from imarena.core.errors import UserError
from imarena.core.records import Item, Output, Reply, Turn
from imarena.storage import Blobs, Workspace, init_workspace, open_workspace
from imarena.storage.backup import backup, restore, snapshots
from imarena.storage.database import reading
from imarena.storage.verify import verify
from tests import samples
from tests.servers.postgres import new_database
from tests.servers.s3 import new_bucket

LONG = 2**20
REPLIES = 60
MOST_BYTES = 42 * LONG
"""A fetch, a page and some copies; the database has 60."""


def filled(workspace: Workspace) -> Item:
    """A workspace with a source and an output."""
    source = samples.kept(workspace, 1)
    item = Item(dataset="d", key="k", turns=(Turn(instruction="x"),), sources=(source,))
    workspace.store.add([item, Output(item_id=item.item_id, editor="e", image=samples.kept(workspace, 2))])
    return item


def peak_of(do: Callable[[], object]) -> int:
    """The most bytes that Python had allocated at once."""
    tracemalloc.start()
    do()
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return peak


def test_backup_and_restore_never_hold_the_database(
    any_workspace: Workspace, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    filled(any_workspace)
    for number in range(REPLIES):
        any_workspace.store.add([Reply(work_id=f"w{number}", attempt=1, raw=f"{number} " + "x" * LONG)])
    url = f"sqlite:///{tmp_path / 'other.db'}"
    if any_workspace.database == "postgresql":
        url = new_database(any_workspace.store.engine.url.render_as_string(hide_password=False))
    assert peak_of(lambda: backup(any_workspace, tmp_path / "safe")) < MOST_BYTES
    assert peak_of(lambda: restore(tmp_path / "safe", tmp_path / "new", url=url)) < MOST_BYTES
    with open_workspace(tmp_path / "new") as copy:
        assert list(copy.store.records(Reply)) == list(any_workspace.store.records(Reply))


def test_a_backup_is_of_one_moment(any_workspace: Workspace, tmp_path: Path) -> None:
    """Records that are added while it is made are not in it."""
    filled(any_workspace)

    def add_more(stage: str, done: int, total: int | None) -> None:
        assert total is not None
        assert done <= total
        if stage == "records":
            any_workspace.store.add([Reply(work_id=f"later {done}", attempt=1, raw="x")])

    made = backup(any_workspace, tmp_path / "safe", progress=add_more)
    assert made.records["replies"] == 0
    assert any_workspace.store.count(Reply)[()] > 0


def test_reading_as_of_one_moment(any_workspace: Workspace) -> None:
    with reading(any_workspace.store.engine, same_moment=True) as connection:
        before = connection.exec_driver_sql("SELECT count(*) FROM items").scalar()
        any_workspace.store.add([samples.item("meanwhile")])
        assert connection.exec_driver_sql("SELECT count(*) FROM items").scalar() == before
    with reading(any_workspace.store.engine) as connection:
        assert connection.exec_driver_sql("SELECT count(*) FROM items").scalar() == (before or 0) + 1


# ---------------------------------------------------------------- without images


def test_a_backup_of_the_database_takes_the_images_from_where_they_are(workspace: Workspace, tmp_path: Path) -> None:
    item = filled(workspace)
    made = backup(workspace, tmp_path / "safe", images=False)
    assert (made.blobs, made.missing, made.images_at) == (0, (), workspace.blobs.place)
    assert not (tmp_path / "safe" / "blobs").exists()
    assert restore(made.path, tmp_path / "new").missing == ()
    with open_workspace(tmp_path / "new") as copy:
        assert list(copy.store.records(Item)) == [item]
        assert list(verify(copy, deep=True)) == []


def test_a_backup_of_the_database_says_what_it_lacks(workspace: Workspace, tmp_path: Path) -> None:
    item = filled(workspace)
    backup(workspace, tmp_path / "safe")
    samples.kept(workspace, 3)
    made = backup(workspace, tmp_path / "safe", images=False)
    (lost,) = {row["sha256"] for row in workspace.store.images()} - set(Blobs(tmp_path / "safe" / "blobs"))
    shutil.rmtree(workspace.root)
    done = restore(made.path, tmp_path / "new")  # two images are in the backup folder, from the earlier backup
    assert done.missing == (lost,)
    assert done.images_at == str(workspace.root.resolve() / "blobs")
    with open_workspace(tmp_path / "new") as copy:
        assert copy.load(item.sources[0])


def test_images_in_shared_storage_stay_there(tmp_path: Path, s3: str) -> None:
    """Restoring a backup of the database copies no image if the place stays the same."""
    place = new_bucket(s3)
    with init_workspace(tmp_path / "a", blobs=place, blobs_endpoint=s3) as arena:
        item = filled(arena)
        made = backup(arena, tmp_path / "safe", images=False)
    assert restore(made.path, tmp_path / "b").missing == ()
    with open_workspace(tmp_path / "b") as copy:
        assert (copy.settings.blobs, copy.settings.blobs_endpoint) == (place, s3)
        assert copy.load(item.sources[0])
    assert restore(made.path, tmp_path / "c", blobs="").missing == ()
    with open_workspace(tmp_path / "c") as copy:
        assert list(verify(copy, deep=True)) == []


# ---------------------------------------------------------------- where it goes


@pytest.mark.parametrize("target", ["s3://bucket/prefix", "gs://bucket"])
def test_a_backup_into_a_bucket_is_refused(workspace: Workspace, target: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(workspace.root.parent)
    with pytest.raises(UserError, match=r"is an address.*\n?.*Name a folder"):
        backup(workspace, Path(target))
    assert not list(workspace.root.parent.glob("*:"))


def test_a_full_database_is_named_before_images_are_copied(
    tmp_path: Path, postgres: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without an option the original database is meant, which is not empty."""
    url = new_database(postgres)
    named = url.split("?")[0]
    with init_workspace(tmp_path / "a", url=url) as arena:
        item = filled(arena)
        backup(arena, tmp_path / "safe")

    def refuse(*_: object) -> str:
        raise AssertionError("an image was copied")

    with monkeypatch.context() as patched:
        patched.setattr(Blobs, "put", refuse)
        with pytest.raises(UserError, match="not empty") as refused:
            restore(tmp_path / "safe", tmp_path / "b")
    assert named.rpartition("/")[2] in str(refused.value)
    assert "--database" in str(refused.value)
    assert not (tmp_path / "b").exists()
    restore(tmp_path / "safe", tmp_path / "b", url="sqlite")
    with open_workspace(tmp_path / "b") as copy:
        assert copy.database == "sqlite"
        assert copy.settings.database.url == ""
        assert list(copy.store.records(Item)) == [item]
        assert list(verify(copy, deep=True)) == []


def test_a_password_is_not_shown(tmp_path: Path) -> None:
    from imarena.storage.backup import shown_url

    assert shown_url("postgresql://me:secret@host/arena") == "postgresql://me:***@host/arena"


def test_the_storage_service_is_kept_or_chosen(tmp_path: Path, s3: str) -> None:
    place, other = new_bucket(s3), new_bucket(s3)
    with init_workspace(tmp_path / "a", blobs=place, blobs_endpoint=s3) as arena:
        filled(arena)
        backup(arena, tmp_path / "safe")
    (made,) = snapshots(tmp_path / "safe")
    for name, blobs, endpoint in (("b", other, None), ("c", other, s3), ("d", None, f"{s3}/")):
        restore(made, tmp_path / name, blobs=blobs, blobs_endpoint=endpoint)
        with open_workspace(tmp_path / name) as copy:
            assert copy.settings.blobs == (blobs or place)
            assert copy.settings.blobs_endpoint == (endpoint or s3)
            assert list(verify(copy, deep=True)) == []
    restore(made, tmp_path / "e", blobs="")
    with open_workspace(tmp_path / "e") as copy:
        assert copy.settings.blobs_endpoint == ""
    for refuse in (
        lambda: restore(made, tmp_path / "f", blobs="", blobs_endpoint=s3),
        lambda: init_workspace(tmp_path / "g", blobs_endpoint=s3),
    ):
        with pytest.raises(UserError, match="only for images in S3"):
            refuse()
