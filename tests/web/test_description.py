"""The description of the API: it is the committed one, and every operation tells how it refuses."""

import json
from pathlib import Path

from imarena.web.openapi import document

COMMITTED = Path(__file__).parents[2] / "docs" / "reference" / "openapi.json"


def test_the_committed_description_is_the_present_one() -> None:
    told = "run: python -m imarena.web.openapi > docs/reference/openapi.json"
    assert COMMITTED.read_text(encoding="utf-8") == document(), told


def test_every_operation_tells_how_it_refuses() -> None:
    for path, methods in json.loads(document())["paths"].items():
        for method, operation in methods.items():
            assert {"401", "403", "422", "429"} <= operation["responses"].keys(), (method, path)
