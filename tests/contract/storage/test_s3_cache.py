"""Images of S3 storage in memory: each is read once, and what the server no longer has is not served."""

import threading
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from imarena.core.errors import StoreError
from imarena.core.records import ImageRef, Item, Output
from imarena.storage import Workspace, init_workspace, open_workspace
from imarena.storage.byte_cache import ByteCache, CachedBytes
from imarena.storage.s3_blobs import S3Blobs
from imarena.storage.upkeep import collect_garbage, withdraw_image
from imarena.storage.verify import verify
from tests import samples
from tests.servers.s3 import new_bucket
from tests.small_data.small_arena import battle_all, make_arena


@pytest.fixture
def arena(s3: str, tmp_path: Path) -> Path:
    """A workspace with its images in a bucket."""
    root = tmp_path / "arena"
    with init_workspace(root, blobs=new_bucket(s3)):
        pass
    path = root / "imarena.toml"
    path.write_text(f'blobs_endpoint = "{s3}"\n' + path.read_text())
    return root


def watched(workspace: Workspace) -> Counter[str]:
    """The numbers of requests to the server, by method."""
    assert isinstance(workspace.blobs, S3Blobs)
    sent: Counter[str] = Counter()

    def count(request: Any, **_: object) -> None:
        sent[request.method] += 1

    workspace.blobs.client.meta.events.register("before-send.s3", count)
    return sent


def images_of(workspace: Workspace) -> set[str]:
    outputs = {output.image.sha256 for output in workspace.store.records(Output) if output.image}
    return outputs | {image.sha256 for item in workspace.store.records(Item) for image in item.sources}


def test_battles_read_each_image_once(arena: Path) -> None:
    make_arena(arena, items=2)
    with open_workspace(arena) as workspace:
        sent = watched(workspace)
        battle_all(workspace)
        assert sent["GET"] == len(images_of(workspace))
        assert sent["HEAD"] > sent["GET"]


def test_verify_reads_what_is_stored_and_gc_asks_the_server(arena: Path) -> None:
    with open_workspace(arena) as workspace:
        image = samples.kept(workspace, 1)
        workspace.load(image)
        sent = watched(workspace)
        assert workspace.blobs.digest(image.sha256) == image.sha256
        assert list(verify(workspace, deep=True)) == []
        assert sent["GET"] >= 2
        assert collect_garbage(workspace, remove=True, grace_s=-7200).blobs == (image.sha256,)
        with pytest.raises(StoreError, match="missing"):
            workspace.load(image)


@pytest.mark.parametrize("elsewhere", [False, True])
def test_a_withdrawn_image_is_not_served_from_memory(arena: Path, elsewhere: bool) -> None:
    """Also if another process withdraws it."""
    with open_workspace(arena) as workspace, open_workspace(arena) as other:
        image, left = samples.kept(workspace, 1), samples.kept(workspace, 2)

        def both(shown: ImageRef) -> list[bytes]:
            return [each.load(shown) for each in (workspace, other)]

        assert len(set(both(image))) == 1
        both(left)
        withdraw_image(other if elsewhere else workspace, image.sha256, "asked")
        for each in (workspace, other):
            with pytest.raises(StoreError, match="missing"):
                each.load(image)
        assert len(both(left)) == 2


def test_replaced_bytes_are_noticed(arena: Path) -> None:
    with open_workspace(arena) as workspace:
        image, blobs = samples.kept(workspace, 1), workspace.blobs
        data = workspace.load(image)
        assert isinstance(blobs, S3Blobs)
        blobs.client.put_object(Bucket=blobs._bucket, Key=blobs._key(image.sha256), Body=bytes(len(data)))
        with pytest.raises(StoreError, match="other bytes"):
            workspace.load(image)
        blobs.client.put_object(Bucket=blobs._bucket, Key=blobs._key(image.sha256), Body=data)
        assert workspace.load(image) == data


def test_the_cache_is_bounded_and_drops_what_was_used_longest_ago() -> None:
    cache, reads = ByteCache(cap=100), Counter[str]()

    def get(name: str, size: int = 40) -> bytes:
        def read() -> CachedBytes:
            reads[name] += 1
            return CachedBytes(name.encode() * size, "tag")

        return cache.get(name, lambda tag: tag == "tag", read)

    for name in ("a", "b", "a", "c", "a", "b"):
        assert get(name) == name.encode() * 40
    assert reads == {"a": 1, "b": 2, "c": 1}
    for _ in range(2):
        assert len(get("too large", 101)) == 909
    assert reads["too large"] == 2
    assert get("a") == b"a" * 40
    assert reads["a"] == 1


def test_threads_that_need_the_same_image_at_once_read_it_once() -> None:
    cache, reads, lock = ByteCache(), Counter[str](), threading.Lock()

    def read() -> CachedBytes:
        with lock:
            reads["x"] += 1
        time.sleep(0.05)
        return CachedBytes(b"x", "tag")

    with ThreadPoolExecutor(8) as pool:
        assert set(pool.map(lambda _: cache.get("x", lambda _: True, read), range(8))) == {b"x"}
    assert reads["x"] == 1
