"""Blobs, cache, backup, restore, garbage and withdrawal."""

import os
import time
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from importlib import import_module
from pathlib import Path
from threading import Event

import pytest
from sqlalchemy import insert, select

from imarena.core.errors import InvalidImage, StoreError, UserError
from imarena.core.records import Evidence, Item, Output, Rater, Tombstone, Turn
from imarena.storage import Blobs, Workspace, open_workspace, schema
from imarena.storage.backup import backup, restore, snapshots
from imarena.storage.cache import Cache
from imarena.storage.database import reading, writing
from imarena.storage.upkeep import collect_garbage, withdraw_image, withdraw_rater
from imarena.storage.verify import verify
from imarena.workflows.exchange.importing import WorkspaceIntake
from tests import samples
from tests.servers.postgres import new_database


def filled(workspace: Workspace) -> Item:
    source = samples.kept(workspace, 1)
    item = Item(dataset="d", key="k", turns=(Turn(instruction="x"),), sources=(source,))
    workspace.store.add([item, Output(item_id=item.item_id, editor="e", image=samples.kept(workspace, 2))])
    return item


def test_blobs_are_stored_once_and_come_back(tmp_path: Path) -> None:
    blobs = Blobs(tmp_path)
    assert blobs.put(b"abc") == blobs.put(b"abc")
    (only,) = list(blobs)
    assert blobs.get(only) == b"abc"
    assert blobs.path(only).relative_to(tmp_path).parts[:2] == (only[:2], only[2:4])
    assert blobs.leftovers() == []
    with pytest.raises(StoreError, match="verify"):
        blobs.get("0" * 64)


def test_a_truncated_blob_is_mended_by_storing_it_again(tmp_path: Path) -> None:
    blobs = Blobs(tmp_path)
    key = blobs.put(b"abcdef")
    blobs.path(key).write_bytes(b"abc")
    blobs.put(b"abcdef")
    assert blobs.get(key) == b"abcdef"


def test_the_cache_keeps_to_its_cap_and_drops_the_oldest(tmp_path: Path) -> None:
    cache = Cache(tmp_path, cap_bytes=1_000)
    made: list[str] = []

    def make(name: str) -> bytes:
        made.append(name)
        return b"x" * 300

    for n in range(3):
        cache.get(f"k{n}", partial(make, f"k{n}"))
        past = time.time() - 100 + n
        for file in tmp_path.rglob("*"):
            if file.is_file() and file.stat().st_mtime > past + 50:
                os.utime(file, (past, past))
    cache.get("k0", lambda: make("again"))
    cache.get("k3", lambda: make("k3"))
    assert cache.size() <= 1_000
    cache.get("k0", lambda: make("gone"))
    assert made == ["k0", "k1", "k2", "k3"]  # k0 was used last, so that k1 went


@pytest.mark.parametrize("target", ["sqlite", "postgresql"])
def test_backup_and_restore(
    any_workspace: Workspace, tmp_path: Path, target: str, request: pytest.FixtureRequest
) -> None:
    item = filled(any_workspace)
    first = backup(any_workspace, tmp_path / "safe")
    any_workspace.store.add([samples.item("later")])
    second = backup(any_workspace, tmp_path / "safe")
    assert snapshots(tmp_path / "safe") == [first.path, second.path]
    url = new_database(request.getfixturevalue("postgres")) if target == "postgresql" else ""
    if not url:
        url = f"sqlite:///{tmp_path / 'restored.db'}"
    restore(first.path, tmp_path / "new", url=url)
    with open_workspace(tmp_path / "new") as copy:
        assert list(copy.store.records(Item)) == [item]
        assert list(verify(copy, deep=True)) == []
        assert copy.store.add([samples.item("after")]).new == 1


def test_a_damaged_backup_is_refused(workspace: Workspace, tmp_path: Path) -> None:
    filled(workspace)
    made = backup(workspace, tmp_path / "safe")
    with (made.path / "arena.db").open("ab") as file:
        file.write(b"x")
    with pytest.raises(UserError, match="damaged"):
        restore(made.path, tmp_path / "new")
    with pytest.raises(UserError, match="inside the workspace"):
        backup(workspace, workspace.root / "backup")
    with pytest.raises(UserError, match="no backup"):
        restore(tmp_path / "nothing", tmp_path / "new")


def test_a_damaged_picture_is_told_and_not_carried_into_a_backup(workspace: Workspace, tmp_path: Path) -> None:
    item = filled(workspace)
    sha256 = item.sources[0].sha256
    data = workspace.load(item.sources[0])
    samples.blob_folder(workspace).path(sha256).write_bytes(bytes(len(data)))
    assert backup(workspace, tmp_path / "safe").missing == (sha256,)
    assert len(list(Blobs(tmp_path / "safe" / "blobs"))) == 1
    samples.blob_folder(workspace).path(sha256).write_bytes(data)
    made = backup(workspace, tmp_path / "safe")
    assert made.missing == ()
    Blobs(tmp_path / "safe" / "blobs").path(sha256).write_bytes(bytes(len(data)))
    assert restore(made.path, tmp_path / "new").missing == (sha256,)


def test_a_restore_into_another_database_changes_only_that_setting(workspace: Workspace, tmp_path: Path) -> None:
    filled(workspace)
    settings = workspace.root / "imarena.toml"
    endpoint = '[endpoints.local]\nurl = "http://localhost:1/v1" # ours\n'
    settings.write_text(f'name = "x"\n{endpoint}[database]\nurl_env = "NOT_SET"\n', encoding="utf-8")
    made = backup(workspace, tmp_path / "safe")
    url = f"sqlite:///{tmp_path / 'other.db'}"
    restore(made.path, tmp_path / "new", url=url)
    text = (tmp_path / "new" / "imarena.toml").read_text(encoding="utf-8")
    assert endpoint in text
    with open_workspace(tmp_path / "new") as copy:
        assert copy.settings.database.url == url
        assert copy.settings.database.url_env == ""
        assert list(verify(copy, deep=True)) == []


def test_a_restore_that_was_stopped_can_be_run_again(
    workspace: Workspace, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    filled(workspace)
    made = backup(workspace, tmp_path / "safe")
    with monkeypatch.context() as patched:
        patched.setattr(Blobs, "put", _full)
        with pytest.raises(OSError, match="full"):
            restore(made.path, tmp_path / "new")
    assert restore(made.path, tmp_path / "new").missing == ()
    with open_workspace(tmp_path / "new") as copy:
        assert list(verify(copy, deep=True)) == []


def _stopped(*_: object) -> None:
    raise KeyboardInterrupt


def _full(_: Blobs, data: bytes) -> str:
    raise OSError(f"full: {len(data)}")


def test_garbage_is_what_nothing_names(workspace: Workspace) -> None:
    item = filled(workspace)
    unused = samples.kept(workspace, 9)
    (samples.blob_folder(workspace).root / "tmp").mkdir(exist_ok=True)
    (samples.blob_folder(workspace).root / "tmp" / "part").write_bytes(b"half")
    assert collect_garbage(workspace, remove=True).blobs == ()  # too young: a write may be under way
    found = collect_garbage(workspace, remove=True, grace_s=-1)
    assert (found.blobs, found.leftovers) == ((unused.sha256,), 1)
    assert workspace.blobs.size(unused.sha256) is None
    assert workspace.load(item.sources[0])
    assert list(verify(workspace, deep=True)) == []


def test_garbage_that_is_stored_again_meanwhile_stays(workspace: Workspace, monkeypatch: pytest.MonkeyPatch) -> None:
    """An import finds the old bytes there and relies on them, after gc chose them and before it removes them."""
    unused = samples.kept(workspace, 9)
    past = time.time() - 10_000
    os.utime(samples.blob_folder(workspace).path(unused.sha256), (past, past))
    assert collect_garbage(workspace, remove=False).blobs == (unused.sha256,)
    item = Item(dataset="d", key="k", turns=(Turn(instruction="x"),), sources=(unused,))
    listed = Blobs.leftovers

    def import_meanwhile(blobs: Blobs) -> list[Path]:
        samples.kept(workspace, 9)
        workspace.store.add([item])
        return listed(blobs)

    monkeypatch.setattr(Blobs, "leftovers", import_meanwhile)
    assert collect_garbage(workspace, remove=True).blobs == ()
    assert list(verify(workspace, deep=True)) == []


def test_pictures_that_evidence_compares_are_no_garbage(workspace: Workspace) -> None:
    image, against = samples.kept(workspace, 3), samples.kept(workspace, 4)
    workspace.store.add(
        [Evidence(image_sha256=image.sha256, against_sha256=against.sha256, tool="t", kind="distance", value=1.0)]
    )
    assert collect_garbage(workspace, remove=True, grace_s=-1).blobs == ()


def test_a_withdrawn_image_is_gone_and_stays_gone(workspace: Workspace) -> None:
    item = filled(workspace)
    image = item.sources[0]
    data = workspace.load(image)
    withdraw_image(workspace, image.sha256[:12], "asked by the owner")
    assert workspace.blobs.size(image.sha256) is None
    assert list(verify(workspace, deep=True)) == []
    (stone,) = workspace.store.records(Tombstone)
    assert (stone.subject, stone.reason) == (image.sha256, "asked by the owner")
    with pytest.raises(InvalidImage, match="withdrawn"):
        workspace.blobs.put(data)
    with pytest.raises(InvalidImage, match="withdrawn"):
        WorkspaceIntake(workspace).keep(data, name="again.png")
    with pytest.raises(UserError, match="No image"):
        withdraw_image(workspace, "%", "")


def test_a_rater_s_personal_data_go_and_the_votes_stay(workspace: Workspace) -> None:
    item = samples.item()
    left, right = samples.output(item, "a"), samples.output(item, "b")
    rater = Rater(rater_id="r1", name="Ann Example", contact="ann@example.org")
    vote = samples.vote(rater, left, right, key="1")
    workspace.store.add([item, left, right, rater, vote])
    withdraw_rater(workspace, "r1", "asked")
    assert workspace.store.get(Rater, "r1") is not None
    assert list(workspace.store.records(type(vote))) == [vote]
    for file in workspace.root.glob("arena.db*"):  # the log too, while the workspace is open
        assert b"ann@example.org" not in file.read_bytes()


def test_a_withdrawn_rater_is_signed_out_and_forgotten_at_the_door(workspace: Workspace) -> None:
    rater = Rater(rater_id="r1", name="Ann Example")
    workspace.store.add([rater, Rater(rater_id="r2")])
    with writing(workspace.store.engine) as connection:
        for number in ("1", "2"):
            connection.execute(
                insert(schema.sessions).values(
                    id=f"s{number}", role="rater", name=f"Person {number}", rater_id=f"r{number}",
                    created_at="2026", expires_at="2027",
                )
            )  # fmt: skip
    withdraw_rater(workspace, "r1", "asked")
    with reading(workspace.store.engine) as connection:
        assert connection.execute(select(schema.sessions.c.name)).scalars().all() == ["Person 2"]


def test_what_was_read_from_a_withdrawn_picture_goes_with_it(workspace: Workspace) -> None:
    item = filled(workspace)
    gone, kept = item.sources[0].sha256, "b" * 64
    words = [
        Evidence(image_sha256=gone, tool="ocr", kind="text", value={"lines": ["a private letter"]}),
        Evidence(image_sha256=kept, against_sha256=gone, tool="ssim", kind="metric", value=0.5),
        Evidence(image_sha256=kept, tool="ocr", kind="text", value={"lines": ["stays"]}),
    ]
    workspace.store.add(words)
    withdraw_image(workspace, gone, "asked by the owner")
    assert [found.value for found in workspace.store.records(Evidence)] == [{"lines": ["stays"]}]
    raw = b"".join(path.read_bytes() for path in workspace.root.glob("arena.db*"))
    assert b"a private letter" not in raw


def test_a_restore_into_another_database_that_was_stopped_can_be_run_again(
    any_workspace: Workspace, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The tables are there, with nothing in them; what holds something is refused."""
    filled(any_workspace)
    made = backup(any_workspace, tmp_path / "safe")
    url = f"sqlite:///{tmp_path / 'other.db'}"
    if any_workspace.database == "postgresql":
        url = new_database(any_workspace.store.engine.url.render_as_string(hide_password=False))
    with monkeypatch.context() as patched:
        patched.setattr(import_module("imarena.storage.backup"), "copy_tables", _stopped)
        with pytest.raises(KeyboardInterrupt):
            restore(made.path, tmp_path / "new", url=url)
    restore(made.path, tmp_path / "new", url=url)
    with open_workspace(tmp_path / "new") as copy:
        assert list(verify(copy, deep=True)) == []
    with pytest.raises(UserError, match="not empty"):
        restore(made.path, tmp_path / "third", url=url)


def test_a_restore_that_was_stopped_after_its_rows_were_stored_finishes(
    any_workspace: Workspace, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Only of the same snapshot, and only until it has finished once: then the database has a life of its own."""
    item = filled(any_workspace)
    made = backup(any_workspace, tmp_path / "safe")
    any_workspace.store.add([Rater(rater_id="r1")])
    later = backup(any_workspace, tmp_path / "safe")
    url = f"sqlite:///{tmp_path / 'other.db'}"
    if any_workspace.database == "postgresql":
        url = new_database(any_workspace.store.engine.url.render_as_string(hide_password=False))
    with monkeypatch.context() as patched:
        patched.setattr(import_module("imarena.storage.backup"), "write_atomically", _stopped)
        with pytest.raises(KeyboardInterrupt):
            restore(made.path, tmp_path / "new", url=url)
    with pytest.raises(UserError, match=r"not empty.*\n.*the snapshot whose restore was stopped"):
        restore(later.path, tmp_path / "new", url=url)
    restore(made.path, tmp_path / "new", url=url)
    with open_workspace(tmp_path / "new") as copy:
        assert list(verify(copy, deep=True)) == []
        assert copy.store.get(Item, item.item_id) == item
    with pytest.raises(UserError, match="not empty"):
        restore(made.path, tmp_path / "third", url=url)


def test_others_can_write_while_gc_removes_many_images(
    workspace: Workspace, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Storage that answers slowly: a gc that held the database for all of it would make their runs fail."""
    for number in range(20):
        workspace.blobs.put(f"unused {number}".encode())
    real = Blobs.remove_older
    started = Event()

    def slow(blobs: Blobs, sha256: str, moment: float) -> int | None:
        started.set()
        time.sleep(0.1)
        return real(blobs, sha256, moment)

    monkeypatch.setattr(Blobs, "remove_older", slow)
    monkeypatch.setattr("imarena.storage.upkeep.HOLD_S", 0.2)
    monkeypatch.setattr("imarena.storage.database.BUSY_TIMEOUT_MS", 1000)
    with ThreadPoolExecutor(1) as pool, open_workspace(workspace.root) as other:
        collecting = pool.submit(collect_garbage, workspace, remove=True, grace_s=-60)
        assert started.wait(20)
        assert other.store.add([samples.item("meanwhile")]).new == 1
        assert not collecting.done()
        assert len(collecting.result().blobs) == 20
