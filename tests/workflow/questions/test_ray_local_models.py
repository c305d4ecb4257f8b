"""An editor and a judge with local models on a Ray cluster: each worker loads them; the results are those from here."""

import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("torch", reason="needs the vision extra")
pytest.importorskip("diffusers", reason="needs the vision extra")

import torch
from typer.testing import CliRunner

from imarena.cli.app import app
from imarena.core.records import Item, Judgment, Output, Reply, Status, Turn
from imarena.storage import init_workspace, open_workspace
from tests.samples import kept
from tests.unit.editors import tiny_pipelines

SETTINGS = """
[editors.tiny]
kind = "diffusers"
model = "{pipeline}"
pipeline = "instruct-pix2pix"
device = "cpu"
[editors.tiny.call]
num_inference_steps = 2

[endpoints.tiny]
local_model = "{model}"
device = "cpu"
dtype = "float32"
"""
EDIT = ("edit", "-e", "tiny", "--no-sheet")
JUDGE = ("judge", "--judge", "cv-judge", "--endpoint", "tiny", "-o", "max_tokens=16", "--yes")


def run(root: Path, *words: str) -> None:
    """In this process, which has imported torch already."""
    ended = CliRunner().invoke(app, ["-w", str(root), "--json", *words])
    assert ended.exit_code in (0, 3), (ended.output, ended.exception)


@pytest.fixture
def one_thread() -> Iterator[None]:
    """As in Ray's workers: sums in another order differ in the last digit."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


def facts(root: Path) -> tuple[set[Any], set[Any]]:
    with open_workspace(root) as workspace:
        made = {
            (one.output_id, one.status, one.seed, str(one.params), one.image and one.image.sha256)
            for one in workspace.store.records(Output, editor="tiny")
        }
        said = {reply.reply_id: reply.raw for reply in workspace.store.records(Reply)}
        judged = {
            (one.work_id, one.left_id, one.status, one.score, said.get(str(one.reply_id)), str(one.params))
            for one in workspace.store.records(Judgment)
        }
    return made, judged


@pytest.mark.ray
@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
@pytest.mark.usefixtures("one_thread")
def test_local_models_edit_and_judge_on_a_cluster_as_they_do_here(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from ray.cluster_utils import Cluster

    from tests.contract.clients.tiny_llava import make as tiny_llava

    torch.manual_seed(0)
    here, there = tmp_path / "here", tmp_path / "there"
    with init_workspace(here) as workspace:
        turns = (Turn(instruction="add a dog"),)
        workspace.store.add(
            [Item(dataset="d", key=str(n), sources=(kept(workspace, n),), turns=turns) for n in range(2)]
        )
    folders = {"pipeline": tiny_pipelines.instruct_pix2pix(tmp_path / "i"), "model": tiny_llava(tmp_path / "llava")}
    with (here / "imarena.toml").open("a") as file:
        file.write(SETTINGS.format(**folders))
    shutil.copytree(here, there)
    run(here, *EDIT)
    run(here, *JUDGE)
    for loader in ("imarena.editors.diffusers_pipeline.load_pipeline", "imarena.workflows.wiring.judges._load_local"):
        monkeypatch.setattr(loader, None)  # this process loads no more models
    monkeypatch.setenv("RAY_worker_niceness", "0")
    cluster = Cluster(initialize_head=True, head_node_args={"num_cpus": 2})
    try:
        monkeypatch.setenv("RAY_ADDRESS", cluster.address)
        run(there, *EDIT, "--executor", "ray", "--concurrency", "1")
        run(there, *JUDGE, "--executor", "ray", "--concurrency", "1")
    finally:
        cluster.shutdown()
    made, judged = facts(there)
    assert (made, judged) == facts(here)
    assert [status for _, status, *_ in made] == [Status.OK] * 2
    assert len(judged) == 2
    assert all(raw for *_, raw, _ in judged), "the model answered"
