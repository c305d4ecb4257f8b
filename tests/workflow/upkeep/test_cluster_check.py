"""What `cluster check` finds wrong with machines, and how it ends."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from typer.testing import CliRunner

from imarena.cli.app import app
from imarena.workflows.upkeep import cluster_check
from imarena.workflows.upkeep.cluster_check import NodeFacts, node_facts
from tests.servers.s3 import new_bucket

HERE = node_facts("", "")


def _check(
    monkeypatch: pytest.MonkeyPatch, folder: Path, answers: list[NodeFacts | Exception | None]
) -> tuple[int, str]:
    """Run the command on a cluster whose machines answer this; exit code and output."""
    nodes = [
        {"NodeID": str(n), "Alive": True, "NodeManagerHostname": f"machine-{n}", "Resources": {"CPU": 4.0}}
        for n in range(len(answers))
    ]

    @contextmanager
    def cluster(address: str) -> Iterator[Any]:
        yield SimpleNamespace(nodes=lambda: nodes, __version__="2")

    def ask_nodes(*_: object) -> dict[str, Any]:
        return {str(n): answer for n, answer in enumerate(answers) if answer is not None}

    monkeypatch.setattr(cluster_check, "cluster", cluster)
    monkeypatch.setattr(cluster_check, "ask_nodes", ask_nodes)
    result = CliRunner().invoke(app, ["-w", str(folder), "cluster", "check", "head:6379"])
    return result.exit_code, " ".join(result.output.split())


def test_machines_like_this_one_can_be_used(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    assert _check(monkeypatch, tmp_path, [HERE, HERE])[0] == 0


@pytest.mark.parametrize(
    ("other", "said"),
    [
        (replace(HERE, imarena="0.0.1"), "it has imarena 0.0.1"),
        (replace(HERE, python="3.1.5"), "it has Python 3.1.5"),
        (RuntimeError("ModuleNotFoundError: No module named 'imarena'"), "imarena cannot be started there"),
        (None, "imarena cannot be started there: no answer"),
    ],
)
def test_a_machine_that_cannot_be_used_ends_in_code_3_and_none_that_can_in_code_2(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, other: NodeFacts | Exception | None, said: str
) -> None:
    code, output = _check(monkeypatch, tmp_path, [HERE, other])
    assert (code, said in output) == (3, True), output
    assert "machine-1: " in output
    assert "machine-0: " not in output
    assert _check(monkeypatch, tmp_path, [other, other])[0] == 2


def test_workers_need_no_access_to_the_images(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """They get them through Ray: it is a warning, for commands that are started there."""
    code, output = _check(monkeypatch, tmp_path, [HERE, replace(HERE, storage="there is no folder /images")])
    assert code == 0, output
    assert "machine-1: warning: it cannot read the workspace's images: there is no folder /images." in output
    assert "commands that are started on that machine cannot use this workspace" in output
    assert "machine-0: " not in output


def test_what_a_machine_lacks_is_listed_and_does_not_make_it_unusable(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    mine = replace(HERE, extras=("ray", "vision"), weights=("dino",))
    monkeypatch.setattr(cluster_check, "node_facts", lambda *_: mine)
    code, output = _check(monkeypatch, tmp_path, [replace(mine, extras=("ray",), weights=())])
    assert code == 0
    assert "machine-0 lacks: extra vision, weights dino" in output


def test_storage_that_cannot_be_read_is_found(tmp_path: Path, s3: str) -> None:
    assert node_facts(str(tmp_path / "none"), "").storage == f"there is no folder {tmp_path / 'none'}"
    assert node_facts(str(tmp_path), "").storage == ""
    assert node_facts(new_bucket(s3), s3).storage == ""
    assert "NoSuchBucket" in node_facts("s3://nobody-made-this/place", s3).storage
