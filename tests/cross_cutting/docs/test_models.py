"""Blocks of the guides that load models: tiny random ones of the same architecture. Needs the vision and training extras."""

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from PIL import Image

from imarena.clients import Endpoint, image_part, single_question
from imarena.core.records import Status
from imarena.images import prepare_with
from imarena.vision.model_weights.entries import weights_entries
from tests.command import Imarena
from tests.conftest import ROOT
from tests.contract.clients import tiny_llava
from tests.contract.vision.conftest import install_tiny_weights
from tests.cross_cutting.docs.blocks import blocks_of
from tests.cross_cutting.docs.services import SERVED, Stage, add_endpoint, answer
from tests.samples import png
from tests.servers.fake_endpoint import serve_here
from tests.servers.weights_server import serve_weights
from tests.small_data.other_peoples_files import photographs_in_a_wheel
from tests.small_data.pair_scenes import DAMAGE, scene
from tests.small_data.small_arena import make_arena
from tests.workflow.preferences.test_pvc_benchmarks import vcreward
from tests.workflow.reporting.edival_arena import make_edival_arena

pytestmark = [pytest.mark.torch, pytest.mark.filterwarnings("default")]


@pytest.fixture(scope="module")
def models(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder of tiny models."""
    from tests.models.tiny_encoders import make_clip
    from tests.models.tiny_vision_models import make_qwen3_vl

    folder = tmp_path_factory.mktemp("models")
    make_clip(folder / "clip")
    make_qwen3_vl(folder / "qwen")
    return folder


@pytest.fixture(scope="module")
def hub(models: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, str]]:
    """The environment of a hub that has CLIP by the names of the guides, and weights installed from it."""
    folder = tmp_path_factory.mktemp("hub")
    listed = weights_entries()["clip-vit-large-patch14"].hub
    assert listed is not None
    files = {path.name: path.read_bytes() for path in (models / "clip").iterdir()}
    with serve_weights() as served:
        for repository in (listed.repository, "openai/clip-vit-base-patch32"):
            served.repositories[repository] = files
        yield {**served.environment, "IMARENA_WEIGHTS": str(folder / "weights"), "HF_HOME": str(folder / "hf")}


@pytest.fixture(scope="module")
def arena(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("arena") / "arena"
    make_arena(root, items=1, habits=("exact",))
    return root


@pytest.fixture
def root(arena: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(arena, tmp_path / "arena"))


def test_judges_md_judges_with_a_model_of_a_hub_and_one_of_a_folder(
    root: Path, models: Path, hub: dict[str, str]
) -> None:
    shutil.copytree(models / "qwen", root / "Qwen3-VL-8B-Instruct")
    few = {"--judge cv-judge": "--option max_tokens=8 --judge cv-judge"}
    liked, asked = Stage(root, few, hub, partly=["cv-judge"]).run(blocks_of("judges.md", __file__))
    assert "clip-i/openai/clip-vit-base-patch32: 1 ok" in liked.out
    assert "unparsable" in asked.out, "random words are no verdict"


def test_builtin_judge_md_adds_clip(root: Path, hub: dict[str, str]) -> None:
    _, judged = Stage(root, env=hub).run(blocks_of("builtin-judge.md", __file__))
    assert "1 ok" in judged.out


def test_edival_scores_md_compares_baselines_with_people(tmp_path: Path, hub: dict[str, str]) -> None:
    make_edival_arena(tmp_path / "a")
    Imarena(tmp_path)("weights", "get", "clip-vit-large-patch14", env=hub)
    with serve_here(answer) as url:
        add_endpoint(tmp_path / "a", url)
        *_, report = Stage(tmp_path / "a", env=hub, partly=["clip-dir"]).run(blocks_of("edival-scores.md", __file__))
    assert "clip-dir" in report.out
    assert "vlm-follows" in report.out


def test_endpoints_md_asks_a_model_in_this_process(tmp_path: Path) -> None:
    tiny_llava.make(tmp_path / "llava")
    mine = {
        '"llava-hf/llava-1.5-7b-hf", revision="..."': repr(str(tmp_path / "llava")),
        ", picture)": ", picture, max_tokens=8)",
    }
    stage = Stage(tmp_path, mine)
    stage.names |= {
        "single_question": single_question,
        "picture": image_part(prepare_with(Endpoint(base_url=SERVED, model="m").preparation, png(1))),
    }
    stage.run(blocks_of("endpoints.md", __file__))
    assert stage.names["reply"].status is Status.OK, stage.names["reply"]


def test_vision_models_md_finds_and_marks_things(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from tests.models.tiny_vision_models import MAKERS

    monkeypatch.setenv("IMARENA_WEIGHTS", str(tmp_path / "weights"))
    monkeypatch.setenv("IMARENA_DEVICE", "cpu")
    for name in ("grounding-dino-tiny", "siglip-base-patch16-224"):
        install_tiny_weights(name, MAKERS[name])
    MAKERS["grounding-dino-tiny"](tmp_path / "models/grounding-dino-base")
    MAKERS["sam2.1-hiera-tiny"](tmp_path / "models/sam2.1-hiera-large")
    Image.fromarray(scene(1)).save(tmp_path / "kitchen.jpg")
    stage = Stage(tmp_path, {'device="cuda"': 'device="cpu"'})
    stage.run(blocks_of("vision-models.md", __file__))
    assert len(stage.names["vectors"]) == 2
    assert stage.names["marked"].pixels.shape == stage.names["image"].shape


LITTLE = " ".join(f"--set {word}" for word in ("rank=4", "alpha=8", "epochs=1", "min_pixels=1024", "max_pixels=4096"))


@pytest.mark.slow
def test_pvc_md_trains_a_judge_and_evaluates_it(tmp_path: Path, models: Path) -> None:
    for number in range(4):
        Image.fromarray(scene(number)).save(tmp_path / f"{number}.png")
    rows = [f"{number}.png,make the tile blue,color_alter" for number in range(4)]
    (tmp_path / "pool.csv").write_text("\n".join(("image,instruction,task", *rows)) + "\n")
    (tmp_path / "VCReward-Bench").mkdir()
    vcreward(tmp_path / "VCReward-Bench")
    mine = {
        "battle --judge pvc-judge": "battle --option max_tokens=4 --sampler voted --judge pvc-judge",
        "Qwen/Qwen3-VL-8B-Instruct": str(models / "qwen"), "../run --model": f"../run --device cpu {LITTLE} --model",
        "--editors NAME": " ".join(f"--editors function:tests.small_data.pair_scenes:{name}" for name in DAMAGE),
        "../pairs ../chats": "../pairs ../chats --split 0.5,0.5,0",
    }  # fmt: skip
    whole, _, evaluation = blocks_of("pvc.md", __file__)
    Stage(tmp_path, mine, partly=["pvc-judge"]).run([whole])
    Imarena(tmp_path)("init", "again")
    shutil.copytree(tmp_path / "VCReward-Bench", tmp_path / "again/VCReward-Bench")
    few = {"--judge pvc-judge": "--option max_tokens=4 --judge pvc-judge", "--endpoint NAME": "--endpoint qwen"}
    with serve_here(answer) as url:
        add_endpoint(tmp_path / "again", url)
        *_, table = Stage(tmp_path / "again", few, partly=["pvc-judge"]).run([evaluation])
    assert "consistency-nc" in table.out
    assert "geditbench-visual-consistency" in table.out


@pytest.mark.slow
def test_pvc_md_trains_pvc_small_again(tmp_path: Path) -> None:
    """Two photographs that pip finds in a folder stand for the download; one step on the CPU stands for 14 minutes."""
    for name in ("tools", "src/imarena"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).symlink_to(ROOT / name)
    (tmp_path / "out").mkdir()
    photographs_in_a_wheel(tmp_path)
    mine = {
        "--test test.npz": "--test test.npz --scenes 2",
        "--minutes 12.5 --group-size 10 --encoder-seconds 75":
            "--minutes 12.5 --group-size 1 --encoder-seconds 0 --groups 1 --steps 1 --test-pairs 0 --device cpu",
        "src/imarena/vision/weights/": "out/",
    }  # fmt: skip
    env = {"PIP_NO_INDEX": "1", "PIP_FIND_LINKS": str(tmp_path / "wheels"), "OMP_NUM_THREADS": "1"}
    _, small, _ = blocks_of("pvc.md", __file__)
    fetched, packed, trained, exported = Stage(tmp_path, mine, env).run([small])
    assert fetched.out == "2 pictures in PHOTOGRAPHS\n"
    assert "choose: 1 photographs" in packed.out
    assert '"step": 1' in trained.out
    assert "largest difference between torch and ONNX" in exported.out
    weights = ROOT / "src/imarena/vision/weights/pvc_small.onnx"
    assert (tmp_path / "out/pvc_small.onnx").stat().st_size == pytest.approx(weights.stat().st_size, rel=0.1)
