"""Which executors a judge or an editor can be asked on, and in which form workers get one with a local model."""

import pickle
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

import pytest

from imarena.core import Editor, EditorTraits, EditRequest, EditResult, Settings, UserError
from imarena.core.records import JsonDict
from imarena.core.settings import ExecutorKind
from imarena.editors import Ports
from imarena.editors.diffusers_pipeline import make as make_diffusers
from imarena.judges import CARDS
from imarena.workflows.questions.executor_choice import executor_for, executor_of_editors, judge_run_options
from imarena.workflows.wiring import EndpointArguments, RemadeJudge, wire_judge

HERE = {"threads": "threads", "auto": "threads", "processes": None, "ray": None}
"""For options; None: refused."""


def chosen(option: str, setting: ExecutorKind, *kinds: str | None) -> str | None:
    try:
        return executor_for(Settings(executor=setting), option, *kinds)
    except UserError:
        return None


@pytest.mark.parametrize("kind", ["auto", "threads", "processes", "ray"])
def test_an_option_that_does_not_fit_is_refused_and_a_setting_ignored(kind: ExecutorKind) -> None:
    assert chosen(kind, "auto", None) == chosen("", kind, None) == kind
    assert chosen(kind, "auto", "endpoint") == HERE[kind]
    assert chosen("", kind, "endpoint") == "threads"
    assert chosen(kind, "auto", "endpoint", "model") == HERE[kind]
    assert chosen(kind, "auto", None, "model") == {**HERE, "ray": "ray"}[kind]
    assert chosen("", kind, None, "model") == ("ray" if kind == "ray" else "threads")


@dataclass
class Plugin:
    traits: EditorTraits
    name: str = "mine"
    version: str = "1"
    params: JsonDict = field(default_factory=dict)

    @asynccontextmanager
    async def opened(self) -> AsyncIterator[None]:
        yield

    async def edit(self, request: EditRequest) -> EditResult:
        raise NotImplementedError


def diffusers(**options: Any) -> Editor:
    return make_diffusers("tiny", {"model": "m", "pipeline": "instruct-pix2pix", **options}, Ports(None))


def test_an_editor_that_loads_a_model_can_be_asked_on_ray() -> None:
    client = Plugin(EditorTraits())
    client.traits = EditorTraits(opening=client.opened)
    free = Plugin(EditorTraits())
    assert executor_of_editors(Settings(), "ray", [diffusers(), free]) == "ray"
    assert executor_of_editors(Settings(executor="ray"), "", [diffusers()]) == "ray"
    assert executor_of_editors(Settings(executor="processes"), "", [diffusers(), free]) == "threads"
    with pytest.raises(UserError, match="'tiny' loads a model: it can be asked from this process or on Ray"):
        executor_of_editors(Settings(), "processes", [free, diffusers()])
    with pytest.raises(UserError, match="'mine' can only be asked from this process"):
        executor_of_editors(Settings(), "ray", [diffusers(), client])


def test_a_pipeline_is_sent_without_its_weights_and_gets_a_gpu() -> None:
    made: Any = diffusers(revision="abc")
    made._pipe = lambda: None  # loaded here: it stays here
    sent: Any = pickle.loads(pickle.dumps(made))  # noqa: S301
    assert (sent.name, sent.version, sent.params, sent._pipe) == (made.name, made.version, made.params, None)
    assert [diffusers(**device).traits.gpus for device in ({}, {"device": "cpu"}, {"device": "cuda:0"})] == [1, 0, 1]
    assert sent.traits.loads_model


LOCAL = Settings(endpoints={"here": {"local_model": "folder"}, "cpu": {"local_model": "folder", "device": "cpu"}})
OF_FILES = ("checklist", "visionreward")
"""Judges that are made from the user's files."""


@pytest.mark.parametrize(
    "kind", sorted(kind for kind, card in CARDS.items() if card.needs.endswith("chat") and kind not in OF_FILES)
)
def test_each_judge_with_a_local_model_is_made_again_by_workers(kind: str) -> None:
    wired = wire_judge(LOCAL, kind, EndpointArguments(endpoint="here"))
    terms = judge_run_options(LOCAL, wired, executor="ray", concurrency=3)
    assert (terms.executor, terms.concurrency, terms.gpus) == ("ray", 3, 1.0)
    judge, opening = pickle.loads(pickle.dumps((terms.judge, terms.opening)))  # noqa: S301
    assert isinstance(judge, RemadeJudge)
    assert opening.__self__ is judge, "what is opened is what answers"
    names = ("name", "version", "prompt_id", "prompt_version", "params")
    assert [getattr(judge, name) for name in names] == [getattr(wired.judge, name) for name in names]
    assert judge.traits.prompts.keys() == wired.judge.traits.prompts.keys()


def test_a_local_model_on_a_processor_takes_no_gpu_and_an_endpoint_stays_here() -> None:
    on_cpu = wire_judge(LOCAL, "cv-judge", EndpointArguments(endpoint="cpu"))
    assert judge_run_options(LOCAL, on_cpu, executor="ray").gpus == 0.0
    here = judge_run_options(LOCAL, on_cpu)
    assert (here.executor, here.judge) == ("threads", None)
    remote = wire_judge(Settings(), "cv-judge", EndpointArguments(base_url=("http://x",), model="m"))
    assert judge_run_options(Settings(executor="ray"), remote).executor == "threads"
    with pytest.raises(UserError, match="only be asked from this process"):
        judge_run_options(Settings(), remote, executor="ray")
