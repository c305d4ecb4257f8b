"""Every place for pictures behaves the same: a folder, and S3-compatible storage."""

import subprocess
import sys
import time
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta, tzinfo
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from imarena.core import sha256_hex
from imarena.core.errors import InvalidImage, StorageFailed, StoreError, UserError
from imarena.core.records import Item, Output, Turn
from imarena.core.settings import Settings
from imarena.storage import Blobs, BlobStore, Workspace, init_workspace, open_workspace
from imarena.storage.backup import backup, restore
from imarena.storage.blob_store import open_blobs
from imarena.storage.s3_blobs import S3Blobs
from imarena.storage.scratch import copy_workspace
from imarena.storage.upkeep import collect_garbage, withdraw_image
from imarena.storage.verify import verify
from tests import samples
from tests.servers.s3 import new_bucket

NOBODY = "0" * 64


@pytest.fixture(params=["folder", "s3"])
def place(request: pytest.FixtureRequest, tmp_path: Path) -> dict[str, str]:
    """Settings of each place."""
    if request.param == "folder":
        return {"blobs": str(tmp_path / "shared")}
    endpoint = request.getfixturevalue("s3")
    return {"blobs": new_bucket(endpoint), "blobs_endpoint": endpoint}


@pytest.fixture
def blobs(place: dict[str, str], tmp_path: Path) -> BlobStore:
    return open_blobs(tmp_path, Settings(**place))


@pytest.fixture
def stored(place: dict[str, str], tmp_path: Path) -> Iterator[Workspace]:
    """A workspace with a source and an output."""
    with init_workspace(tmp_path / "arena", blobs=place["blobs"]) as made:
        pass
    path = tmp_path / "arena" / "imarena.toml"
    path.write_text(f'blobs_endpoint = "{place.get("blobs_endpoint", "")}"\n' + path.read_text())
    with open_workspace(made.root) as workspace:
        item = Item(dataset="d", key="k", turns=(Turn(instruction="x"),), sources=(samples.kept(workspace, 1),))
        workspace.store.add([item, Output(item_id=item.item_id, editor="e", image=samples.kept(workspace, 2))])
        yield workspace


def damage(blobs: BlobStore, sha256: str, data: bytes | None) -> None:
    """Put other bytes in a picture's place, or none, as somebody else might."""
    if isinstance(blobs, S3Blobs):
        bucket, key = blobs._bucket, blobs._key(sha256)
        if data is None:
            blobs.client.delete_object(Bucket=bucket, Key=key)
        else:
            blobs.client.put_object(Bucket=bucket, Key=key, Body=data)
    elif isinstance(blobs, Blobs) and data is None:
        blobs.path(sha256).unlink()
    elif isinstance(blobs, Blobs) and data is not None:
        blobs.path(sha256).write_bytes(data)


def set_clock_wrong(monkeypatch: pytest.MonkeyPatch, by_s: float) -> None:
    """The clock of the machine where imarena runs, and of no other: the S3 server is in this process."""

    class Wrong(datetime):
        @classmethod
        def now(cls, tz: tzinfo | None = None) -> datetime:  # type: ignore[override]
            return datetime.now(tz) + timedelta(seconds=by_s)

    clock = SimpleNamespace(time=lambda: time.time() + by_s, monotonic=time.monotonic, sleep=time.sleep)
    for module in ("upkeep", "blobs", "s3_blobs"):
        monkeypatch.setattr(f"imarena.storage.{module}.time", clock, raising=False)
    monkeypatch.setattr("imarena.storage.s3_blobs.datetime", Wrong)


def test_bytes_are_stored_once_and_come_back(blobs: BlobStore) -> None:
    data = bytes(range(256)) * 40
    sha256 = blobs.put(data)
    assert blobs.put(data) == sha256
    assert list(blobs) == [sha256]
    assert blobs.get(sha256) == data
    assert blobs.head(sha256, 10) == data[:10]
    assert blobs.digest(sha256) == sha256
    assert blobs.sizes([sha256, NOBODY]) == [len(data), None]
    assert blobs.size(NOBODY) is None
    for missing in (blobs.get, lambda name: blobs.head(name, 1)):
        with pytest.raises(StoreError, match="verify"):
            missing(NOBODY)


def test_what_was_cut_short_is_mended_by_storing_it_again(blobs: BlobStore) -> None:
    sha256 = blobs.put(b"abcdef")
    damage(blobs, sha256, b"abc")
    blobs.put(b"abcdef")
    assert blobs.get(sha256) == b"abcdef"


def test_withdrawn_bytes_are_gone_and_refused(blobs: BlobStore) -> None:
    sha256 = blobs.put(b"private")
    blobs.block(sha256)
    assert (blobs.size(sha256), list(blobs)) == (None, [])
    with pytest.raises(InvalidImage, match="withdrawn"):
        blobs.put(b"private")


def test_what_is_withdrawn_while_it_is_stored_does_not_stay(blobs: BlobStore, monkeypatch: pytest.MonkeyPatch) -> None:
    """The writer looks whether it was withdrawn, then it is withdrawn, then the writer writes."""
    real = type(blobs)._renew  # type: ignore[attr-defined]

    def renew(self: BlobStore, *arguments: Any) -> bool:
        self.block(sha256_hex(b"private"))
        return bool(real(self, *arguments))

    monkeypatch.setattr(type(blobs), "_renew", renew)
    with pytest.raises(InvalidImage, match="withdrawn"):
        blobs.put(b"private")
    assert list(blobs) == []


def test_only_what_is_old_is_removed(blobs: BlobStore) -> None:
    sha256 = blobs.put(b"abc")
    long_ago, later = time.time() - 7200, time.time() + 7200
    assert list(blobs.older(long_ago)) == []
    assert list(blobs.older(later)) == [(sha256, 3)]
    assert blobs.remove_older(sha256, long_ago) is None
    assert blobs.get(sha256) == b"abc"
    assert blobs.remove_older(sha256, later) == 3
    assert blobs.remove_older(sha256, later) is None
    assert blobs.size(sha256) is None


@pytest.mark.parametrize("wrong_s", [7200.0, -7200.0])
def test_gc_goes_by_the_clock_of_the_storage(
    stored: Workspace, monkeypatch: pytest.MonkeyPatch, wrong_s: float
) -> None:
    """A machine whose clock is ahead does not remove what another one stored a moment ago."""
    sha256 = stored.blobs.put(b"another machine is about to store its row")
    set_clock_wrong(monkeypatch, wrong_s)
    assert abs(stored.blobs.clock() - time.time()) < 5
    assert collect_garbage(stored, remove=True).blobs == ()
    assert stored.blobs.size(sha256) is not None
    assert collect_garbage(stored, remove=True, grace_s=-5).blobs == (sha256,)


def test_a_damaged_picture_is_reported_with_its_records(stored: Workspace) -> None:
    assert list(verify(stored, deep=True)) == []
    (item,) = stored.store.records(Item)
    (output,) = stored.store.records(Output)
    assert output.image is not None
    damage(stored.blobs, item.sources[0].sha256, bytes(item.sources[0].size_bytes))
    damage(stored.blobs, output.image.sha256, None)
    with pytest.raises(StoreError, match="other bytes"):
        stored.load(item.sources[0])
    assert [finding.kind for finding in verify(stored)] == ["missing_blob"]
    missing, changed = verify(stored, deep=True)
    assert (missing.kind, missing.subject) == ("missing_blob", output.image.sha256)
    assert f"the output {output.output_id} of e" in missing.detail
    assert stored.blobs.place in missing.detail
    assert (changed.kind, changed.subject) == ("changed_blob", item.sources[0].sha256)
    assert "the item k" in changed.detail


def test_upkeep(stored: Workspace, tmp_path: Path, place: dict[str, str]) -> None:
    """Garbage, withdrawal, backup, restore and copies."""
    unused = samples.kept(stored, 3)
    assert collect_garbage(stored, remove=True).blobs == ()  # too young
    assert collect_garbage(stored, remove=True, grace_s=-7200).blobs == (unused.sha256,)
    (output,) = stored.store.records(Output)
    assert output.image is not None
    made = backup(stored, tmp_path / "safe")
    assert (made.blobs, made.missing) == (2, ())
    with copy_workspace(stored, tmp_path / "copy") as copy:
        assert copy.load(output.image) == stored.load(output.image)
        assert copy.blobs.place == str(tmp_path / "copy" / "blobs")
    restore(tmp_path / "safe", tmp_path / "moved", blobs="")
    with open_workspace(tmp_path / "moved") as moved:
        assert moved.blobs.place == str(tmp_path / "moved" / "blobs")
        assert list(verify(moved, deep=True)) == []
    withdraw_image(stored, output.image.sha256, "asked")
    assert list(verify(stored, deep=True)) == []
    again = restore(
        tmp_path / "safe", tmp_path / "again"
    )  # where the settings say; what was withdrawn there stays away
    assert again.missing == (output.image.sha256,)
    assert open_workspace(tmp_path / "again").blobs.place == place["blobs"]


# ---------------------------------------------------------------- S3 alone


@pytest.fixture
def bucket(s3: str) -> S3Blobs:
    return S3Blobs(new_bucket(s3), s3)


def aged(blobs: S3Blobs, seconds: float) -> datetime:
    """Make every object look older, as only the server could."""
    from moto.core import DEFAULT_ACCOUNT_ID
    from moto.s3.models import s3_backends

    moment = datetime.now(UTC) - timedelta(seconds=seconds)
    keys: Any = s3_backends[DEFAULT_ACCOUNT_ID]["aws"].buckets[blobs._bucket].keys
    for key in keys.values():
        key.last_modified = moment.replace(tzinfo=None)
    return moment


def test_an_old_object_that_is_stored_again_becomes_young(bucket: S3Blobs) -> None:
    """Otherwise `gc` could remove it between its storing and the row that names it."""
    sha256 = bucket.put(b"abc")
    aged(bucket, 7200)
    limit = time.time() - 3600
    assert [name for name, _ in bucket.older(limit)] == [sha256]
    bucket.put(b"abc")
    assert list(bucket.older(limit)) == []
    assert bucket.remove_older(sha256, limit) is None


def test_a_writer_whose_clock_is_behind_makes_an_old_object_young(
    bucket: S3Blobs, monkeypatch: pytest.MonkeyPatch
) -> None:
    sha256 = bucket.put(b"abc")
    aged(bucket, 7200)
    set_clock_wrong(monkeypatch, -7200)
    bucket.put(b"abc")
    assert bucket.remove_older(sha256, time.time() - 3600) is None


def test_gc_and_a_writer_at_once_lose_nothing(bucket: S3Blobs, monkeypatch: pytest.MonkeyPatch) -> None:
    """The writer finds the object, `gc` deletes it; whatever the moment, it is there when the writer is done."""
    sha256 = bucket.put(b"abc")
    requests = 0
    real = S3Blobs._head

    def between(step: int) -> int:
        """Let `gc`, which looked before, delete at a step of the writer."""
        nonlocal requests
        requests = 0

        def head(blobs: S3Blobs, key: str) -> dict[str, Any] | None:
            nonlocal requests
            requests += 1
            if requests == step:
                blobs._delete(blobs._key(sha256))
                blobs._delete(blobs._marked(sha256))
            return real(blobs, key)

        with monkeypatch.context() as patched:
            patched.setattr(S3Blobs, "_head", head)
            bucket.put(b"abc")
        return requests

    for step in range(1, 6):
        aged(bucket, 7200)
        assert bucket._mark(sha256)
        between(step)
        bucket._delete(bucket._marked(sha256))
        assert bucket.size(sha256) == 3, step


def test_two_gcs_do_not_meet(bucket: S3Blobs) -> None:
    sha256 = bucket.put(b"abc")
    assert bucket._mark(sha256)
    assert bucket.remove_older(sha256, time.time() + 7200) is None
    assert bucket.size(sha256) == 3


def test_a_gc_that_was_killed_holds_nobody_up(bucket: S3Blobs) -> None:
    """Its mark is taken over after a while, by one gc."""
    sha256 = bucket.put(b"abc")
    assert bucket._mark(sha256)
    aged(bucket, 7200)
    assert bucket.remove_older(sha256, time.time() - 3600) == 3
    assert bucket._head(bucket._marked(sha256)) is None
    assert bucket._mark(sha256)
    aged(bucket, 7200)
    assert [bucket._mark(sha256), bucket._mark(sha256)] == [True, False]


def test_a_gc_that_was_stopped_for_a_while_deletes_nothing(bucket: S3Blobs, monkeypatch: pytest.MonkeyPatch) -> None:
    """The writer has waited for it and went on."""
    sha256 = bucket.put(b"abc")
    monkeypatch.setattr("imarena.storage.s3_blobs.REMOVE_S", -1.0)
    assert bucket.remove_older(sha256, time.time() + 7200) is None
    assert bucket.size(sha256) == 3


def test_withdrawing_deletes_versions_from_before_the_bucket_kept_any(bucket: S3Blobs) -> None:
    sha256 = bucket.put(b"private")
    bucket.client.put_bucket_versioning(Bucket=bucket._bucket, VersioningConfiguration={"Status": "Enabled"})
    aged(bucket, 7200)
    bucket.put(b"private")  # a copy of it: another version
    bucket.block(sha256)
    left = bucket.client.list_object_versions(Bucket=bucket._bucket, Prefix=bucket._key(sha256))
    assert "Versions" not in left
    assert "DeleteMarkers" not in left


def test_a_storage_that_cannot_be_used_is_explained(s3: str) -> None:
    with pytest.raises(UserError, match="no bucket"):
        S3Blobs("s3://", s3)
    with pytest.raises(StorageFailed, match="s3://nowhere-at-all/x") as refused:
        S3Blobs("s3://nowhere-at-all/x", s3).put(b"abc")
    assert "AWS_ACCESS_KEY_ID" in refused.value.hint
    with pytest.raises(StorageFailed, match="NoSuchBucket"):  # no fact about the image
        S3Blobs("s3://nowhere-at-all/x", s3).sizes([NOBODY])
    with pytest.raises(UserError, match="not known"):
        open_blobs(Path(), Settings(blobs="gopher://x"))


WRITER = """
import os, signal, sys
from pathlib import Path
from imarena.core.records import Item, Output, Turn
from imarena.storage import open_workspace
from tests import samples

root = Path(sys.argv[1])
for step in range(1, int(sys.argv[2]) + 1):
    pid = os.fork()
    if pid == 0:
        left = step
        def request(**_):
            global left
            left -= 1
            if left == 0:
                os.kill(os.getpid(), signal.SIGKILL)
        with open_workspace(root) as workspace:
            workspace.blobs.client.meta.events.register("before-send.s3", request)
            workspace.blobs.client.meta.events.register("needs-retry.s3", request)
            for number in range(3):
                item = Item(dataset="d", key=f"{step}-{number}", turns=(Turn(instruction="x"),),
                            sources=(samples.kept(workspace, 10 * step + number),))
                workspace.store.add([item])
                print(item.item_id, flush=True)
        os._exit(0)
    os.waitpid(pid, 0)
"""


@pytest.mark.slow
def test_a_kill_at_any_request_loses_nothing_acknowledged(s3: str, tmp_path: Path) -> None:
    """The process ends before or after each of its requests; what it acknowledged is there, and all is whole."""
    root = tmp_path / "arena"
    with init_workspace(root, blobs=new_bucket(s3)):
        pass
    path = root / "imarena.toml"
    path.write_text(f'blobs_endpoint = "{s3}"\n' + path.read_text())
    done = subprocess.run(
        [sys.executable, "-c", WRITER, str(root), "20"], cwd=Path(__file__).parents[3], capture_output=True, text=True,
        check=True,
    )  # fmt: skip
    acknowledged = done.stdout.split()
    with open_workspace(root) as workspace:
        items = {item.item_id: item for item in workspace.store.records(Item)}
        assert acknowledged
        assert set(acknowledged) <= items.keys()
        assert len(acknowledged) < 60  # some were killed
        assert [workspace.blobs.digest(items[name].sources[0].sha256) for name in acknowledged]
        assert list(verify(workspace, deep=True)) == []
