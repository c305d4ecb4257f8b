"""Files of a package registry, downloaded from the index that pip is configured for, without installing anything.

`pip download` builds a source archive to read its metadata, which runs the package's code. This module downloads
only the archive's bytes. It reads an index as its simple HTML page (PEP 503).
"""

import ast
import http.client
import ssl
import subprocess
import sys
import urllib.error
import urllib.request
from base64 import b64encode
from collections.abc import Callable
from dataclasses import dataclass
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urldefrag, urljoin, urlsplit

from imarena.core import VERSION, ImarenaError, UserError, error_line, file_sha256

_DEFAULT = "https://pypi.org/simple"
_MAX_PAGE = 32 * 1024 * 1024
_PIECE = 1024 * 1024
_TIMEOUT_S = 60.0


class DownloadFailed(ImarenaError):
    """The download was interrupted or gave wrong bytes; the same command continues it or starts again."""


@dataclass(frozen=True)
class IndexSettings:
    """The indexes to query, in order, and the certificates to trust (None: the system's)."""

    urls: tuple[str, ...]
    certificates: str | None = None


@dataclass(frozen=True)
class WantedArchive:
    """One file of a package: it must have this name, this size and this hash."""

    package: str
    file: str
    sha256: str
    size_bytes: int


def pip_index_settings() -> IndexSettings:
    """The indexes that pip would use: from its configuration files and variables, else PyPI."""
    command = [sys.executable, "-m", "pip", "--disable-pip-version-check", "config", "list"]
    output = subprocess.run(command, capture_output=True, text=True, check=False)  # noqa: S603 - no input of others
    values: dict[str, str] = {}
    ranked = {"global": 0, "download": 1, "install": 1, ":env:": 2}
    lines = [line.partition("=") for line in output.stdout.splitlines() if "=" in line]
    for key, _, value in sorted(lines, key=lambda part: ranked.get(part[0].partition(".")[0], -1)):
        section, _, option = key.partition(".")
        if section in ranked:
            values[option] = _text(value)
    urls = [values.get("index-url") or _DEFAULT, *values.get("extra-index-url", "").split()]
    return IndexSettings(tuple(url.rstrip("/") for url in urls), values.get("cert") or None)


def download_archive(
    wanted: WantedArchive, target: Path, settings: IndexSettings, progress: Callable[[int, int], None]
) -> None:
    """Download a file to `target`. A partial file of an earlier attempt (`target` + ".part") is continued.

    `target` is created only with the right bytes. A continued file with a wrong hash is downloaded once more from
    the start; a wrong hash after that raises and leaves nothing.
    """
    part = target.with_name(target.name + ".part")
    url = _find(wanted, settings)
    for _ in range(2):
        resumed = part.exists() and part.stat().st_size > 0
        if not part.exists() or part.stat().st_size < wanted.size_bytes:
            _continue(url, part, wanted, settings, progress)
        sha256 = file_sha256(part)
        if sha256 == wanted.sha256:
            part.replace(target)
            return
        part.unlink()
        if not resumed:
            break
    raise DownloadFailed(f"{wanted.file} has the hash {sha256} and should have {wanted.sha256}: it was not kept.")


def _continue(
    url: str, part: Path, target: WantedArchive, settings: IndexSettings, progress: Callable[[int, int], None]
) -> None:
    """Append the missing bytes to `part`. A server without support for ranges sends everything again."""
    start = part.stat().st_size if part.exists() else 0
    headers = {"Range": f"bytes={start}-"} if start and not url.startswith("file:") else {}
    try:
        with _open(url, settings, headers) as response:
            if getattr(response, "status", None) != 206:
                start = 0
            with part.open("ab" if start else "wb") as file:
                done = start
                while piece := response.read(_PIECE):
                    done += len(piece)
                    if done > target.size_bytes:
                        raise DownloadFailed(f"{target.file} is larger than the {target.size_bytes:,} bytes expected.")
                    file.write(piece)
                    progress(done, target.size_bytes)
    except (OSError, http.client.HTTPException) as error:
        raise DownloadFailed(f"{target.file} could not be downloaded: {_reason(error)}") from error
    if done < target.size_bytes:
        raise DownloadFailed(
            f"The download of {target.file} broke off after {done:,} of {target.size_bytes:,} bytes. "
            "Run the same command again to continue it."
        )


def _find(target: WantedArchive, settings: IndexSettings) -> str:
    """The URL of a file in the first index that lists it."""
    reasons = []
    for index in settings.urls:
        page = f"{index}/{target.package}/"
        try:
            with _open(page, settings, {"Accept": "text/html"}) as response:
                text = response.read(_MAX_PAGE).decode("utf-8", "replace")
                base = response.geturl() if not page.startswith("file:") else page
        except (OSError, http.client.HTTPException) as error:
            reasons.append(f"{_without_secrets(index)}: {_reason(error)}")
            continue
        links = _Links()
        links.feed(text)
        for link in links.found:
            url = urldefrag(urljoin(base, link)).url
            if unquote(urlsplit(url).path).rpartition("/")[2] == target.file:
                if url.startswith("file:") and not index.startswith("file:"):
                    raise UserError(f"The index {_without_secrets(index)} names a file of this machine.")
                return _with_secret(url, index)
        reasons.append(f"{_without_secrets(index)}: does not list {target.file}")
    raise UserError(
        f"{target.file} was not found. {'; '.join(reasons)}.",
        hint="Check the network and pip's index (`pip config list`, PIP_INDEX_URL).",
    )


def _open(url: str, settings: IndexSettings, headers: dict[str, str]) -> http.client.HTTPResponse:
    scheme = urlsplit(url).scheme
    if scheme not in {"http", "https", "file"}:
        raise UserError(f"'{_without_secrets(url)}' is not an address of an index.", hint="Check `pip config list`.")
    if scheme == "file" and url.endswith("/"):
        url += "index.html"
    plain, secret = _split_secret(url)
    request = urllib.request.Request(plain, headers={"User-Agent": f"imarena/{VERSION}", **headers})  # noqa: S310
    if secret:  # to this host only, since a redirect may lead to another one
        request.add_unredirected_header("Authorization", f"Basic {b64encode(secret.encode()).decode()}")
    context = ssl.create_default_context(cafile=settings.certificates) if scheme == "https" else None
    opened: http.client.HTTPResponse = urllib.request.urlopen(request, timeout=_TIMEOUT_S, context=context)  # noqa: S310
    return opened


class _Links(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.found: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag == "a":
            self.found += [value for name, value in attrs if name == "href" and value]


def _text(value: str) -> str:
    try:
        return str(ast.literal_eval(value))
    except (ValueError, SyntaxError):
        return value


def _split_secret(url: str) -> tuple[str, str]:
    """Split a URL into the URL without user and password, and these two."""
    parts = urlsplit(url)
    secret, _, host = parts.netloc.rpartition("@")
    return parts._replace(netloc=host).geturl(), unquote(secret)


def _with_secret(url: str, index: str) -> str:
    """The user and the password of an index also apply to its files on the same host."""
    ours, parts = urlsplit(index), urlsplit(url)
    return parts._replace(netloc=ours.netloc).geturl() if ours.netloc.rpartition("@")[2] == parts.netloc else url


def _without_secrets(url: str) -> str:
    parts = urlsplit(url)
    return parts._replace(netloc=parts.netloc.rpartition("@")[2], query="").geturl()[:200]


def _reason(error: BaseException) -> str:
    if isinstance(error, urllib.error.HTTPError):
        return f"HTTP {error.code}"
    return error_line(error, 200)
