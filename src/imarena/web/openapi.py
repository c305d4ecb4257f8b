"""The committed OpenAPI document: ``python -m imarena.web.openapi > docs/reference/openapi.json``."""

import json
import sys

from imarena.web.app import bare_app


def document() -> str:
    """The API's description as JSON, byte-for-byte reproducible."""
    return json.dumps(bare_app().openapi(), indent=1, sort_keys=True, ensure_ascii=False) + "\n"


if __name__ == "__main__":
    sys.stdout.write(document())
