"""`--model` for judges that run here: a folder or a hub id of a checkpoint. Needs the vision extra."""

import shutil
from pathlib import Path

import pytest

torch = pytest.importorskip("torch", reason="needs the vision extra")
pytest.importorskip("transformers", reason="needs the vision extra")

from imarena.core.errors import UserError  # noqa: E402
from imarena.core.records import Judgment, Status  # noqa: E402
from imarena.storage import open_workspace  # noqa: E402
from imarena.vision import model_folder, model_label  # noqa: E402
from tests.command import Imarena  # noqa: E402
from tests.contract.clients import tiny_llava  # noqa: E402
from tests.models.tiny_encoders import make_dino  # noqa: E402
from tests.small_data.small_arena import make_arena  # noqa: E402

COMMIT = "0123456789abcdef0123456789abcdef01234567"
pytestmark = [pytest.mark.torch, pytest.mark.filterwarnings("default")]


@pytest.fixture
def root(tmp_path: Path) -> Path:
    make_arena(tmp_path / "a", items=1, habits=("exact",))
    return tmp_path / "a"


@pytest.fixture(scope="module")
def dino(tmp_path_factory: pytest.TempPathFactory) -> Path:
    torch.manual_seed(3)
    return make_dino(tmp_path_factory.mktemp("models") / "tiny-dino")


@pytest.fixture
def cache(dino: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A hub cache that holds one model, and no way to the hub."""
    from huggingface_hub import constants

    cache = tmp_path / "hub"
    shutil.copytree(dino, cache / "models--tiny--dino" / "snapshots" / COMMIT)
    (cache / "models--tiny--dino" / "refs").mkdir()
    (cache / "models--tiny--dino" / "refs" / "main").write_text(COMMIT)
    monkeypatch.setattr(constants, "HF_HUB_CACHE", str(cache))
    monkeypatch.setattr(constants, "HF_HUB_OFFLINE", True)
    return cache


def test_a_folder_reaches_a_vision_judge(imarena: Imarena, root: Path, dino: Path) -> None:
    (report,) = imarena("-w", "a", "--json", "judge", "--judge", "dino", "--model", str(dino)).json["reports"]
    assert report["judgments"] == {"ok": 1}
    with open_workspace(root) as workspace:
        (judgment,) = workspace.store.records(Judgment)
    assert judgment.judge == "dino/tiny-dino"
    assert judgment.score is not None


def test_a_folder_reaches_a_judge_that_asks(imarena: Imarena, root: Path, tmp_path: Path) -> None:
    """Random words are no verdict: the reply is kept, the status is true, and the weights are in the name."""
    folder = tiny_llava.make(tmp_path / "tiny-llava")
    command = ("-w", "a", "--json", "judge", "--judge", "viescore", "--model", str(folder), "--option", "max_tokens=8")
    (report,) = imarena(*command, code=3).json["reports"]
    assert report["judgments"] == {"unparsable": 1}
    with open_workspace(root) as workspace:
        (judgment,) = workspace.store.records(Judgment)
    assert judgment.judge.startswith("viescore/tiny-llava@")
    assert judgment.status is Status.UNPARSABLE
    assert judgment.reply_id is not None


def test_a_hub_id_is_found_among_the_downloaded_models(cache: Path) -> None:
    folder = model_folder("tiny/dino", "The judge 'dino'")
    assert folder == cache / "models--tiny--dino" / "snapshots" / COMMIT
    assert model_label(folder) == "tiny/dino"
    assert model_folder(f"tiny/dino@{COMMIT}", "The judge 'dino'") == folder


@pytest.mark.parametrize("name", ["tiny/other", "tiny/dino@elsewhere", "no-such-folder", "a/b/c", ""])
def test_a_model_that_is_nowhere_is_told(cache: Path, name: str) -> None:
    assert cache.is_dir()
    with pytest.raises(UserError, match=r"neither a folder here|needs the folder of a model"):
        model_folder(name, "The judge 'dino'")
