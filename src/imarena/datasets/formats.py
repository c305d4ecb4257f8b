"""All data set formats by name: reader, writer and description. To add one, add an entry to formats.yaml and a file."""

from imarena.core import ReadFormat, Registry, WriteFormat, package_yaml

_ROOM = "imarena.datasets"
_FORMATS: dict[str, dict[str, str]] = package_yaml(_ROOM, "formats.yaml")

DESCRIPTIONS: dict[str, str] = {name: form["about"] for name, form in _FORMATS.items()}
READERS: Registry[ReadFormat] = Registry(
    "reader", {name: f"{_ROOM}.{form.get('reads', name)}:read" for name, form in _FORMATS.items()}
)
WRITERS: Registry[WriteFormat] = Registry(
    "writer", {name: f"{_ROOM}.{form['writes']}:write" for name, form in _FORMATS.items() if "writes" in form}
)
