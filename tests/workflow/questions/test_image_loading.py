"""Questions for a cluster: an image that its workers can get already is neither read nor sent again."""

from collections import Counter
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from imarena.core.errors import StoreError
from imarena.core.records import ImageRef, Item, Judgment, Output
from imarena.engine import OpenExecutor
from imarena.engine import ray_images as ray
from imarena.storage import Workspace, init_workspace, open_workspace
from imarena.storage.blob_store import BlobStore
from imarena.storage.upkeep import withdraw_image
from imarena.workflows.questions import image_loading, loop
from imarena.workflows.questions.image_loading import ImageLoader
from tests import samples
from tests.small_data.small_arena import battle_all, make_arena


class Store:
    """An object store in this process."""

    def __init__(self) -> None:
        self.images: list[bytes] = []
        self.sender = ray.ImageSender(self._put)
        self.receiver = ray.ImageReceiver(self.images.__getitem__)

    def _put(self, data: bytes) -> int:
        self.images.append(data)
        return len(self.images) - 1

    def there(self, question: Any) -> Any:
        """The question as a worker gets it."""
        return self.receiver.unpack(*self.sender.pack(question))


def count_calls(monkeypatch: pytest.MonkeyPatch, blobs: BlobStore, *names: str) -> Counter[str]:
    calls: Counter[str] = Counter()

    def counted(name: str) -> Callable[[str], object]:
        real = getattr(blobs, name)

        def call(sha256: str) -> object:
            calls[name] += 1
            return real(sha256)

        return call

    for name in names:
        monkeypatch.setattr(blobs, name, counted(name))
    return calls


@pytest.fixture
def small_too(monkeypatch: pytest.MonkeyPatch) -> None:
    """Images of tests are small."""
    monkeypatch.setattr(ray, "LARGE", 64)


@pytest.mark.usefixtures("small_too")
def test_each_image_of_a_run_is_read_and_sent_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    make_arena(tmp_path / "a", items=2)
    store = Store()

    @asynccontextmanager
    async def open_cluster(_: object, task: Any, *__: object, **___: object) -> AsyncIterator[OpenExecutor[Any, Any]]:
        async def ask(_: int, question: Any) -> Any:
            return await task.attempt(store.there(question))

        yield OpenExecutor(ask, 1, store.sender.held)

    with open_workspace(tmp_path / "a") as workspace:
        outputs = {output.image.sha256 for output in workspace.store.records(Output) if output.image}
        images = outputs | {image.sha256 for item in workspace.store.records(Item) for image in item.sources}
        calls = count_calls(monkeypatch, workspace.blobs, "get")
        monkeypatch.setattr(loop, "open_executor", open_cluster)
        battle_all(workspace)
        assert calls["get"] == len(images) == len(store.images)
        answers = {one.work_id: (one.status, one.preference) for one in workspace.store.records(Judgment)}
    monkeypatch.undo()
    make_arena(tmp_path / "b", items=2)
    with open_workspace(tmp_path / "b") as workspace:
        battle_all(workspace)
        assert answers == {one.work_id: (one.status, one.preference) for one in workspace.store.records(Judgment)}


@pytest.fixture
def kept(tmp_path: Path) -> tuple[Workspace, ImageRef]:
    workspace = init_workspace(tmp_path / "w")
    return workspace, samples.kept(workspace, 1)


@pytest.mark.usefixtures("small_too")
def test_a_stand_in_has_no_bytes_here_and_those_of_the_image_there(kept: tuple[Workspace, ImageRef]) -> None:
    workspace, image = kept
    store, load = Store(), ImageLoader(workspace)
    assert load(image) == samples.png(1), "no executor holds images"
    load.held = store.sender.held
    assert store.there([load(image)]) == [samples.png(1)]
    again = load(image)
    assert (type(again), len(again)) == (ray.SentImage, 0)
    assert store.there({"left": again, "right": again}) == {"left": samples.png(1), "right": samples.png(1)}
    assert store.sender.sent == 1
    workspace.close()


@pytest.mark.usefixtures("small_too")
def test_a_stand_in_outlives_what_the_sender_dropped(kept: tuple[Workspace, ImageRef]) -> None:
    workspace, image = kept
    store, load = Store(), ImageLoader(workspace)
    load.held = store.sender.held
    store.there(load(image))
    stand_in = load(image)
    store.sender._refs.clear()
    assert store.there(stand_in) == samples.png(1)
    assert load(image) == samples.png(1), "read and sent again"
    workspace.close()


@pytest.mark.usefixtures("small_too")
def test_an_image_that_is_withdrawn_during_a_run_is_no_longer_shown(
    kept: tuple[Workspace, ImageRef], monkeypatch: pytest.MonkeyPatch
) -> None:
    workspace, image = kept
    store = Store()
    monkeypatch.setattr(image_loading, "CHECK_S", 0.0)
    load = ImageLoader(workspace)
    load.held = store.sender.held
    store.there(load(image))
    calls = count_calls(monkeypatch, workspace.blobs, "size", "get")
    assert isinstance(load(image), ray.SentImage)
    assert calls == {"size": 1}
    withdraw_image(workspace, image.sha256, "asked")
    with pytest.raises(StoreError, match="missing"):
        load(image)
    workspace.close()


@pytest.mark.usefixtures("small_too")
def test_the_storage_is_asked_for_an_image_once_in_a_while(
    kept: tuple[Workspace, ImageRef], monkeypatch: pytest.MonkeyPatch
) -> None:
    workspace, image = kept
    store, load = Store(), ImageLoader(workspace)
    load.held = store.sender.held
    calls = count_calls(monkeypatch, workspace.blobs, "size", "get")
    for _ in range(5):
        store.there(load(image))
    assert calls == {"get": 1}
    workspace.close()
