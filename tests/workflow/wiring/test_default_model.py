"""The model of EdiVal's questions where an address is given without one: that of the paper."""

import pytest

from imarena.core import Settings
from imarena.core.errors import UserError
from imarena.workflows.wiring import EndpointArguments, wire_judge

ADDRESS = ("http://127.0.0.1:9/v1",)


@pytest.mark.parametrize("name", ["edival", "vlm-follows"])
def test_the_papers_model_is_the_default(name: str) -> None:
    wired = wire_judge(Settings(), name, EndpointArguments(base_url=ADDRESS))
    assert wired.endpoint is not None
    assert wired.endpoint.model == "Qwen/Qwen2.5-VL-7B-Instruct"
    assert wired.judge.name == f"{name}/Qwen/Qwen2.5-VL-7B-Instruct"
    other = wire_judge(Settings(), name, EndpointArguments(base_url=ADDRESS, model="mine"))
    assert other.judge.name == f"{name}/mine"


def test_other_judges_have_no_default() -> None:
    with pytest.raises(UserError, match="An address needs a model"):
        wire_judge(Settings(), "viescore", EndpointArguments(base_url=ADDRESS))
    assert wire_judge(Settings(), "edival").endpoint is None, "without an address no model is asked"
