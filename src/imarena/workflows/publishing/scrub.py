"""Remove facts about the local machine from published data: local paths, commands, keys, private addresses.

Fields that describe how a record was made lose everything that looks like a path. Instructions, expected results and
labels are the benchmark itself: they lose only certain matches, since "write '/sale/' on the sign" is an instruction.
"""

import ipaddress
import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from urllib.parse import urlsplit

from pydantic import JsonValue

from imarena.core import sha256_hex
from imarena.core.records import JsonDict, Origin
from imarena.workflows.serving import without_keys

PATH = "[path removed]"
ADDRESS = "[address removed]"
MAIL = "[e-mail removed]"
DROPPED_KEYS = frozenset(
    {
        "command", "commands", "cmd", "argv", "args", "arguments", "shell", "script", "executable", "interpreter",
        "cwd", "env", "environment", "api_key", "apikey", "key_env", "token", "secret", "password", "authorization",
        "headers", "host", "hostname", "workspace", "settings_file", "traceback",
    }
)  # fmt: skip
"""Entries of `params`, `provenance` and `reasons` that are dropped, whatever their values."""

_ROOTS = (
    "home|root|tmp|var|usr|etc|opt|mnt|media|srv|run|dev|proc|sys|data|work|workspace|app|Users|Volumes|private|content"
    "|kaggle|scratch|nfs|export"
)
_SEGMENT = r"[^\s/'\"<>|,;]+"
_SPACED = r"(?:[ ][^\s/'\"<>|]+/[^\s'\"<>|]*)*"
_PATHS = re.compile(
    rf"""
    (?P<quote>['"])(?:/(?!/)|~|[A-Za-z]:[\\/]|\\\\|file:)[^'"\n]*(?P=quote)     # a quoted path, blanks included
    | file:/+[^\s'"<>]+
    | (?<![\w:/.\]~])~[\w.-]*/[^\s'"<>|]*{_SPACED}                               # ~/x, ~user/x
    | (?<![\w:/.\]])/(?:(?:{_ROOTS})(?=[/\s'":;,.)]|$)[^\s'"<>|]*|{_SEGMENT}/[^\s'"<>|]*){_SPACED}
    | (?<!\w)[A-Za-z]:[\\/][^\s'"<>|]*(?:[ ][^\s\\'"<>|]+[\\/][^\s'"<>|]*)*      # C:\x, with blanks in a folder's name
    | \\\\[\w.$-]+\\[^\s'"<>|]+                                                  # \\server\share
    """,
    re.VERBOSE,
)
_SURE_PATHS = re.compile(rf"(?<![\w:/.])/(?:{_ROOTS})/[\w.-]|[A-Za-z]:\\[A-Za-z]{{3,}}|file:///")
_SURE_START = re.compile(rf"['\"]?(?:/(?:{_ROOTS})/[\w.-]|[A-Za-z]:[\\/]\w|~[\w.-]*/\w|file:/|\\\\[\w.$-]+\\)")
_WHOLE_PATH = re.compile(r"(?:/(?!/)[^\n]*|~[\w.-]*/[^\n]*|[A-Za-z]:[\\/][^\n]*|\\\\[^\n]+|file:[^\n]+)")
_URLS = re.compile(r"(?i)\b(?:https?|wss?|ftp|s3|gs|postgresql|postgres|redis)://[^\s'\"<>]+")
_MAILS = re.compile(r"[\w.+-]+@[\w-]+(?:\.[\w-]+)+")
_PRIVATE_ENDS = (".local", ".internal", ".lan", ".localhost", ".home", ".corp", ".intranet", ".svc")


class Scrubber:
    """Removes local facts from texts and JSON. `folders` are removed wherever they occur."""

    def __init__(self, folders: Iterable[Path] = ()) -> None:
        texts = {str(folder.expanduser().resolve()) for folder in (*folders, Path.home())}
        self._folders = sorted((text for text in texts if len(text) > 1), key=len, reverse=True)

    def text(self, text: str) -> str:
        """Return a text without paths, private addresses, e-mail addresses and keys."""
        return _MAILS.sub(MAIL, self._without_local(text))

    def benchmark_text(self, text: str) -> str:
        """Return a benchmark text without certain local paths, private addresses, e-mail addresses and keys."""
        for folder in self._folders:
            text = text.replace(folder, PATH)
        text = _URLS.sub(lambda match: _public_url(match[0]), text)
        text = _PATHS.sub(lambda match: PATH if _SURE_START.match(match[0]) else match[0], text)
        return _MAILS.sub(MAIL, without_keys(text))

    def is_local(self, text: str) -> bool:
        """Return whether a text from a file certainly holds a path, a private address or a key. Looser patterns are for
        fields only: the bytes of a thumbnail may look like anything.
        """
        has_path = any(folder in text for folder in self._folders) or _SURE_PATHS.search(text)
        return bool(has_path) or _URLS.sub(lambda match: _public_url(match[0]), without_keys(text)) != text

    def _without_local(self, text: str) -> str:
        if _WHOLE_PATH.fullmatch(text) and len(text) > 1:
            return PATH
        for folder in self._folders:
            text = text.replace(folder, PATH)
        text = _URLS.sub(lambda match: _public_url(match[0]), text)
        return without_keys(_PATHS.sub(PATH, text))

    def name(self, name: str) -> str:
        """Return a name (a key, an editor), unchanged unless it holds a path: then its last part with a unique hash."""
        if self.text(name) == name:
            return name
        last = re.split(r"[\\/]", name.rstrip("\\/"))[-1]
        last = last if self.text(last) == last else ""
        return f"{last}-{sha256_hex(name.encode('utf-8', 'surrogatepass'))[:12]}".lstrip("-")

    def value(self, value: JsonValue) -> JsonValue:
        """Return JSON without local facts: texts are cleaned, entries about commands and secrets are dropped."""
        if isinstance(value, str):
            return self.text(value)
        if isinstance(value, list):
            return [self.value(entry) for entry in value]
        return self.entries(value) if isinstance(value, dict) else value

    def entries(self, entries: Mapping[str, JsonValue]) -> JsonDict:
        """Return the cleaned entries of a JSON object."""
        return {
            self.text(name): self.value(value)
            for name, value in entries.items()
            if name.casefold().replace("-", "_") not in DROPPED_KEYS
        }

    def origin(self, origin: Origin | None) -> Origin | None:
        """Return the origin of an imported record, with only the name of its file."""
        if origin is None:
            return None
        file = re.split(r"[\\/]", origin.file)[-1]
        return origin.model_copy(
            update={"source": self.text(origin.source), "file": self.text(file), "row": self.text(origin.row)}
        )


def _public_url(url: str) -> str:
    """Return a public address without user name and password; a placeholder for a private one."""
    try:
        parts = urlsplit(url)
        host = parts.hostname or ""
        if _is_private(host):
            return ADDRESS
        port = f":{parts.port}" if parts.port else ""
    except ValueError:
        return ADDRESS
    return parts._replace(netloc=f"{host}{port}").geturl() if parts.username or parts.password else url


def _is_private(host: str) -> bool:
    try:
        address = ipaddress.ip_address(host)
    except ValueError:
        return "." not in host or host.endswith(_PRIVATE_ENDS)
    return not address.is_global
