"""cluster check: what a Ray cluster offers, and what its machines are missing."""

import platform
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from imarena.core import VERSION, Document, Settings, error_message
from imarena.engine import ask_nodes, cluster
from imarena.storage import is_workspace, open_workspace
from imarena.workflows.upkeep.doctor import installed_extras


@dataclass(frozen=True)
class NodeFacts:
    """What a machine reports about itself."""

    python: str
    imarena: str
    extras: tuple[str, ...]
    weights: tuple[str, ...]
    storage: str
    """Why it cannot read the workspace's images; empty if it can, or if there is no shared storage."""


@dataclass(frozen=True)
class CheckedNode:
    """One machine of a cluster."""

    host: str
    cpus: float
    gpus: float
    memory_gib: float
    facts: NodeFacts | None
    problems: tuple[str, ...]
    """Why its workers would fail or answer differently; empty if it is usable."""
    warnings: tuple[str, ...]
    """What does not work there, although its workers do."""
    lacks: tuple[str, ...]
    """Extras and weights that the local machine has but this one lacks: some tools fail there."""


@dataclass(frozen=True)
class ClusterReport(Document):
    """What a cluster offers."""

    address: str
    ray: str
    nodes: tuple[CheckedNode, ...]

    @property
    def usable(self) -> int:
        """Number of usable machines."""
        return sum(not node.problems for node in self.nodes)

    @property
    def notes(self) -> list[str]:
        """What the whole cluster is missing."""
        if any(node.gpus for node in self.nodes):
            return []
        return ["No machine has a GPU: models of the extra vision run on processors there."]

    def to_json(self) -> dict[str, Any]:
        """For ``--json``."""
        return {**super().to_json(), "usable": self.usable, "notes": self.notes}


def check_cluster(address: str, root: Path) -> ClusterReport:
    """Query every machine. The settings of a workspace, if there is one, name the storage to check."""
    settings = Settings()
    if is_workspace(root):
        with open_workspace(root) as workspace:
            settings = workspace.settings
    this_node = node_facts("", "")
    with cluster(address) as ray:
        answers = ask_nodes(ray, node_facts, settings.blobs, settings.blobs_endpoint)
        nodes = [_check_node(node, answers.get(node["NodeID"]), this_node) for node in ray.nodes() if node["Alive"]]
        return ClusterReport(address, ray.__version__, tuple(nodes))


def node_facts(blobs: str, endpoint: str) -> NodeFacts:
    """Runs on a machine of the cluster."""
    from imarena.vision import installed_names

    extras = tuple(sorted(installed_extras()))
    return NodeFacts(
        platform.python_version(), VERSION, extras, tuple(sorted(installed_names())), _storage(blobs, endpoint)
    )


def _storage(blobs: str, endpoint: str) -> str:
    """Return why a workspace's shared storage cannot be read here; empty if it can, or if there is none."""
    if not blobs:
        return ""
    from imarena.storage import open_blobs

    try:
        if not blobs.startswith("s3://") and not Path(blobs).is_dir():
            return f"there is no folder {blobs}"
        store = open_blobs(Path(), Settings(blobs=blobs, blobs_endpoint=endpoint))
        next(iter(store), None)  # a list: for one object, S3 does not distinguish missing bucket and missing object
    except Exception as error:  # noqa: BLE001  # whatever it is, it is reported
        return f"{type(error).__name__}: {error_message(error)}"
    return ""


def _check_node(node: dict[str, Any], answer: NodeFacts | Exception | None, this_node: NodeFacts) -> CheckedNode:
    offered = node.get("Resources", {})
    sizes = (offered.get("CPU", 0.0), offered.get("GPU", 0.0), round(offered.get("memory", 0.0) / 2**30, 1))
    host = str(node.get("NodeManagerHostname") or node.get("NodeManagerAddress"))
    if not isinstance(answer, NodeFacts):
        return CheckedNode(
            host, *sizes, None, (f"imarena cannot be started there: {_reason(answer)}. {_SAME}",), (), ()
        )
    lacks = (
        *(f"extra {name}" for name in this_node.extras if name not in answer.extras),
        *(f"weights {name}" for name in this_node.weights if name not in answer.weights),
    )
    # Workers do not need the storage: the asking process reads every image and sends it.
    unreadable = f"it cannot read the workspace's images: {answer.storage}. {_WITHOUT_IMAGES}"
    warnings = (unreadable,) if answer.storage else ()
    return CheckedNode(host, *sizes, answer, tuple(_problems(answer, this_node)), warnings, lacks)


def _reason(error: Exception | None) -> str:
    if error is None:
        return "no answer"
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    return next((line for line in reversed(lines) if "Error" in line), lines[-1] if lines else type(error).__name__)


def _problems(node: NodeFacts, this_node: NodeFacts) -> Sequence[str]:
    problems = []
    if node.imarena != this_node.imarena:
        problems.append(f"it has imarena {node.imarena}, this machine {this_node.imarena}. {_SAME}")
    if node.python.rpartition(".")[0] != this_node.python.rpartition(".")[0]:
        problems.append(f"it has Python {node.python}, this machine {this_node.python}. {_SAME}")
    return problems


_SAME = "Install the same version on every machine."
_WITHOUT_IMAGES = (
    "Workers of --executor ray get the images through Ray and need no access; "
    "commands that are started on that machine cannot use this workspace."
)
