"""Images in S3-compatible storage: ``s3://bucket/prefix``, one object per image, under its SHA-256.

Objects are written atomically, and the server compares their SHA-256 before it answers. Credentials, region and
(unless the settings name one) the endpoint come from the environment or files that boto3 reads.

`gc` and a writer that stores an old object again exclude each other with a mark: `gc` sets it, checks the object's
age, deletes, and removes the mark; the writer refreshes the object, waits while there is a mark, and checks that the
object still exists. A `gc` that was suspended for a while deletes nothing; the mark of a killed `gc` is taken over.

`get` keeps the bytes of recent images in memory. Before it returns them again, it asks the server for the object's tag
(HEAD), so that an image that any process withdrew, removed or replaced is never served from memory. All other methods
ask the server.
"""

import base64
import binascii
import re
import secrets
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from datetime import datetime
from email.utils import parsedate_to_datetime
from pathlib import Path
from typing import Any

from imarena.core import (
    InvalidImage,
    MissingExtra,
    StorageFailed,
    StoreError,
    UserError,
    command_line,
    first_line,
    sha256_hex,
)
from imarena.storage.blobs import check_bytes
from imarena.storage.byte_cache import ByteCache, CachedBytes

YOUNG_S = 1800.0
"""A younger object is not refreshed when it is stored again, because `gc` does not touch it for an hour."""
AT_ONCE = 16
MARK_WAIT_S = 60.0
"""How long a writer waits for a `gc`."""
REMOVE_S = 30.0
"""Longest time from `gc`'s mark to its deletion: until then no writer has stopped waiting."""
MARK_LIFE_S = 3600.0
"""An older mark comes from a `gc` that was killed."""
_HASH = re.compile(r"[0-9a-f]{64}")
_MISSING = ("404", "NoSuchKey", "NotFound")


class S3Blobs:
    """A bucket, or a prefix in it. One instance is shared by all threads of a process."""

    def __init__(self, url: str, endpoint: str = "") -> None:
        bucket, _, prefix = url.removeprefix("s3://").partition("/")
        if not bucket:
            raise UserError(f'`blobs = "{url}"` names no bucket.', hint="It should look like s3://bucket/prefix.")
        self.place = url
        self._bucket = bucket
        self._prefix = f"{prefix.strip('/')}/" if prefix.strip("/") else ""
        self.client = _client(endpoint)
        self._cache = ByteCache()

    def put(self, data: bytes) -> str:
        """Store bytes and return their hash. The same bytes are stored once."""
        sha256 = sha256_hex(data)
        if self._head(self._barred(sha256)) is not None:
            raise InvalidImage("the image was withdrawn from this workspace")
        if not self._renew(sha256, len(data)):
            self._write(self._key(sha256), data, sha256)
            if self._head(self._barred(sha256)) is not None:  # stored meanwhile
                self._erase(self._key(sha256))
                raise InvalidImage("the image was withdrawn from this workspace")
        return sha256

    def get(self, sha256: str) -> bytes:
        """The bytes of a blob; raises `StoreError` if it is missing or its bytes have changed."""
        return self._cache.get(sha256, lambda tag: self._has_tag(sha256, tag), lambda: self._checked(sha256))

    def head(self, sha256: str, count: int) -> bytes:
        """The first bytes of a blob."""
        return self._read(sha256, Range=f"bytes=0-{count - 1}")

    def size(self, sha256: str) -> int | None:
        """Stored size, or None if the blob is missing."""
        head = self._head(self._key(sha256))
        return None if head is None else int(head["ContentLength"])

    def sizes(self, hashes: Sequence[str]) -> list[int | None]:
        """The sizes of many blobs, with several requests at a time."""
        with ThreadPoolExecutor(AT_ONCE) as pool:
            sizes = list(pool.map(self.size, hashes))
        if None in sizes:
            next(iter(self), None)  # a listing distinguishes a missing bucket from a missing object
        return sizes

    def digest(self, sha256: str) -> str:
        """The hash of the bytes that are actually stored."""
        return sha256_hex(self._read(sha256))

    def clock(self) -> float:
        """Seconds since 1970 by the clock of the server."""
        with self._explained():
            answer = self.client.list_objects_v2(Bucket=self._bucket, Prefix=self._prefix, MaxKeys=1)
        return _answered_at(answer)

    def remove_older(self, sha256: str, moment: float) -> int | None:
        """Delete a blob unless it was stored since `moment`; returns its size, or None if it stays."""
        started = time.monotonic()
        if not self._mark(sha256):
            return None  # another gc is working on it
        try:
            head = self._head(self._key(sha256))
            if head is None or head["LastModified"].timestamp() > moment:
                return None
            if time.monotonic() - started > REMOVE_S:
                return None  # a writer may have stopped waiting
            self._delete(self._key(sha256))
            return int(head["ContentLength"])
        finally:
            self._delete(self._marked(sha256))

    def block(self, sha256: str) -> None:
        """Delete the bytes, including all versions that the bucket keeps, and refuse them from now on."""
        self._write(self._barred(sha256), b"", sha256_hex(b""))
        self._erase(self._key(sha256))
        self._cache.drop(sha256)

    def __iter__(self) -> Iterator[str]:
        """The hashes of all blobs."""
        return (sha256 for sha256, _, _ in self._objects())

    def older(self, moment: float) -> Iterator[tuple[str, int]]:
        """Hash and size of each blob that was not stored since `moment`."""
        return ((sha256, size) for sha256, size, changed in self._objects() if changed <= moment)

    def leftovers(self) -> list[Path]:
        """None, because objects are written atomically."""
        return []

    # ------------------------------------------------------------------ requests

    def _key(self, sha256: str) -> str:
        return f"{self._prefix}{sha256[:2]}/{sha256[2:4]}/{sha256}"

    def _barred(self, sha256: str) -> str:
        return f"{self._prefix}withdrawn/{sha256}"

    def _marked(self, sha256: str) -> str:
        return f"{self._prefix}removing/{sha256}"

    def _renew(self, sha256: str, size: int) -> bool:
        """Does the blob exist? If so, refresh its timestamp, so that it is not deleted as an old leftover."""
        key = self._key(sha256)
        head = self._head(key)
        if head is None or head["ContentLength"] != size:
            return False
        if _age_s(head) < YOUNG_S:
            return True
        source = {"Bucket": self._bucket, "Key": key}
        try:
            with self._explained():
                self.client.copy_object(Bucket=self._bucket, Key=key, CopySource=source, MetadataDirective="REPLACE")
        except _Missing:
            return False
        waited = time.monotonic() + MARK_WAIT_S
        while self._head(self._marked(sha256)) is not None and time.monotonic() < waited:
            time.sleep(0.2)
        return self._head(key) is not None

    def _mark(self, sha256: str) -> bool:
        """Set the mark if there is none, or take over that of a killed `gc`."""
        key = self._marked(sha256)
        old = self._head(key)
        if old is not None and _age_s(old) < MARK_LIFE_S:
            return False
        condition = {"IfNoneMatch": "*"} if old is None else {"IfMatch": old["ETag"]}
        try:
            with self._explained():
                self.client.put_object(Bucket=self._bucket, Key=key, Body=secrets.token_bytes(8), **condition)
        except (_Taken, _Missing):  # another gc was faster
            return False
        return True

    def _write(self, key: str, data: bytes, sha256: str) -> None:
        checksum = base64.b64encode(binascii.unhexlify(sha256)).decode()
        with self._explained():
            self.client.put_object(Bucket=self._bucket, Key=key, Body=data, ChecksumSHA256=checksum)

    def _checked(self, sha256: str) -> CachedBytes:
        data, tag = self._fetch(sha256)
        return CachedBytes(check_bytes(data, sha256, self.place), tag)

    def _has_tag(self, sha256: str, tag: str) -> bool:
        """Is the object still the one that had this tag?"""
        head = self._head(self._key(sha256))
        return head is not None and bool(tag) and head.get("ETag") == tag

    def _read(self, sha256: str, **how: Any) -> bytes:
        return self._fetch(sha256, **how)[0]

    def _fetch(self, sha256: str, **how: Any) -> tuple[bytes, str]:
        try:
            with self._explained():
                answer = self.client.get_object(Bucket=self._bucket, Key=self._key(sha256), **how)
                return answer["Body"].read(), str(answer.get("ETag", ""))
        except _Missing:
            raise StoreError(
                f"The image {sha256} is missing from {self.place}. Run `{command_line('verify')}`."
            ) from None

    def _head(self, key: str) -> dict[str, Any] | None:
        try:
            with self._explained():
                head: dict[str, Any] = self.client.head_object(Bucket=self._bucket, Key=key)
        except _Missing:
            return None
        return head

    def _delete(self, key: str) -> None:
        with self._explained():
            self.client.delete_object(Bucket=self._bucket, Key=key)

    def _erase(self, key: str) -> None:
        """Delete an object and all versions that the bucket keeps, even from when it kept none (``null``)."""
        self._delete(key)
        with self._explained():
            for page in self.client.get_paginator("list_object_versions").paginate(Bucket=self._bucket, Prefix=key):
                for version in (*page.get("Versions", ()), *page.get("DeleteMarkers", ())):
                    self.client.delete_object(Bucket=self._bucket, Key=key, VersionId=version["VersionId"])

    def _objects(self) -> Iterator[tuple[str, int, float]]:
        pages = self.client.get_paginator("list_objects_v2").paginate(Bucket=self._bucket, Prefix=self._prefix)
        with self._explained():
            for page in pages:
                for entry in page.get("Contents", ()):
                    name = entry["Key"].rpartition("/")[2]
                    if _HASH.fullmatch(name) and entry["Key"] == self._key(name):
                        yield name, entry["Size"], entry["LastModified"].timestamp()

    @contextmanager
    def _explained(self) -> Iterator[None]:
        """Translate storage failures to messages; a missing object and a failed condition have their own exceptions."""
        from botocore.exceptions import BotoCoreError, ClientError

        try:
            yield
        except ClientError as error:
            code = str(error.response.get("Error", {}).get("Code", ""))
            if code in _MISSING:
                raise _Missing from error
            if code in ("412", "PreconditionFailed", "409", "ConditionalRequestConflict"):
                raise _Taken from error
            raise StorageFailed(
                f"The storage {self.place} refused a request: {first_line(error)}.", hint=_HINT
            ) from error
        except BotoCoreError as error:
            raise StorageFailed(f"The storage {self.place} cannot be used: {first_line(error)}.", hint=_HINT) from error


_HINT = (
    "Check the bucket's name, the endpoint (`blobs_endpoint` in imarena.toml or AWS_ENDPOINT_URL_S3) and the "
    "credentials (AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or ~/.aws/credentials), then run the same command again."
)


class _Missing(Exception):
    """The object does not exist."""


class _Taken(Exception):
    """The condition of a write was not met."""


def _answered_at(answer: dict[str, Any]) -> float:
    """When the server answered, by its own clock."""
    date = answer["ResponseMetadata"]["HTTPHeaders"].get("date")
    return parsedate_to_datetime(date).timestamp() if date else time.time()


def _age_s(head: dict[str, Any]) -> float:
    """Age of the object when the server answered."""
    changed: datetime = head["LastModified"]
    return _answered_at(head) - changed.timestamp()


def _client(endpoint: str) -> Any:
    try:
        import boto3
        from botocore.config import Config
    except ImportError as error:
        raise MissingExtra("A workspace with images in S3 storage", "s3") from error
    how = Config(
        retries={"mode": "standard", "max_attempts": 5}, connect_timeout=10, read_timeout=60, max_pool_connections=64
    )
    return boto3.session.Session().client("s3", endpoint_url=endpoint or None, config=how)
