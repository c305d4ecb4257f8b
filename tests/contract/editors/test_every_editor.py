"""What every editor promises, whatever it is made of: a status, decodable pixels or a reason, JSON parameters."""

import asyncio
import json
import sys
from pathlib import Path

import pytest
from pydantic import JsonValue

from imarena.agent import Agent, BestOf
from imarena.clients.fake_images import FakeImages
from imarena.core.ids import canonical_json
from imarena.core.protocols import Editor, EditRequest, EditResult
from imarena.core.records import Status
from imarena.editors.catalog import EDITORS, Ports
from imarena.editors.studio.editors import studio_editor
from imarena.images import check_image
from imarena.judges.catalog import JUDGES
from imarena.studio import entry_of, render_picture
from tests.contract.editors.providers import KEY, PROVIDERS, editor_at
from tests.samples import png

ENTRY = entry_of("photo-pavilion")
WORDS = ENTRY.steps[0].instruction
NAMES = ("studio", "classical", "folder", "command", "function", "agent", "best-of", *PROVIDERS)


def source() -> bytes:
    assert ENTRY.scene is not None
    return render_picture(ENTRY.scene)


def same(request: EditRequest) -> bytes:
    """For `function`."""
    return request.sources[0] if request.sources else png(1)


def local(name: str, folder: Path) -> Editor:
    judge = JUDGES.get("builtin")({}, None)
    if name == "agent":
        return Agent("agent", studio_editor("timid"), judge)
    if name == "best-of":
        return BestOf("best-of", studio_editor("timid"), judge, 2)
    (folder / "one.png").write_bytes(png(3))
    copy = "import shutil, sys; shutil.copy(sys.argv[1], sys.argv[2])"
    options: dict[str, dict[str, JsonValue]] = {
        "studio": {"habit": "exact"},
        "classical": {},
        "folder": {"path": str(folder)},
        "command": {"argv": [sys.executable, "-c", copy, "{source}", "{output}"]},
        "function": {"function": f"{__name__}:same"},
    }
    return EDITORS.get(name)(name, options[name], Ports())


def edited(name: str, folder: Path, request: EditRequest) -> tuple[Editor, EditResult]:
    async def run() -> tuple[Editor, EditResult]:
        async with FakeImages(api_key=KEY) as server:
            editor: Editor = editor_at(server, name) if name in PROVIDERS else local(name, folder)
            async with editor.traits.opened():
                return editor, await editor.edit(request)

    return asyncio.run(run())


@pytest.mark.parametrize("name", NAMES)
def test_a_good_request_ends_in_pixels(name: str, tmp_path: Path) -> None:
    editor, result = edited(name, tmp_path, EditRequest(WORDS, (source(),), seed=1, params={"key": "one"}))
    assert editor.name
    assert editor.version
    assert result.status is Status.OK, result.error
    assert result.image is not None
    check_image(result.image)
    assert result.error == ""
    canonical_json(editor.params)
    json.dumps([dict(step) for step in result.steps], allow_nan=False)
    price = editor.traits.usd_per_image
    assert price is not None
    assert result.cost_usd is None or 0 <= result.cost_usd <= price


@pytest.mark.parametrize("name", NAMES)
def test_a_broken_source_never_ends_in_a_made_up_picture(name: str, tmp_path: Path) -> None:
    request = EditRequest("Make it something else entirely.", (b"\x89PNG no picture",), params={"key": "two"})
    try:
        _, result = edited(name, tmp_path, request)
    except Exception as error:  # noqa: BLE001 - the engine turns it into api_error with its words
        assert str(error)  # noqa: PT017
        return
    if result.status is Status.OK:
        assert name in ("function", "command"), "these hand out what they were given; the run checks it"
    else:
        assert result.image is None
        assert result.error
