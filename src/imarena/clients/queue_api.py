"""HTTP queues: submit a job, poll its state, fetch its result. A template describes each provider's names."""

import asyncio
import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from pydantic import Field

from imarena.clients.image_api import ImageAnswer, ImageCall, ImageClient, read_failure
from imarena.clients.replies import Failure, FailureKind
from imarena.core import FrozenModel
from imarena.core.records import JsonDict, Status

_FIELD = re.compile(r"\{(\w+)\}")


class QueueTemplate(FrozenModel):
    """Template of one provider. Pointers are dotted paths into its JSON; `*` stands for every entry of a list."""

    submit_path: str
    submit_body: JsonDict
    status_url: tuple[str, ...]
    """Pointer to the polling URL in the reply to the submission."""
    result_url: tuple[str, ...] = ()
    """Pointer to the URL of the result; empty if the last poll contains it."""
    state: str = "status"
    done: tuple[str, ...]
    failed: tuple[str, ...] = ()
    error: tuple[str, ...] = ("error", "detail")
    images: tuple[str, ...]
    """Pointers to URLs or data URLs of images; the first that matches anything is used."""
    refused: tuple[str, ...] = ()
    """Pointers that are true if the provider blacked out an image."""
    refusal_words: tuple[str, ...] = ()
    """Words in an error that mean a safety refusal, which queues only report as text."""
    poll_s: float = Field(default=1.0, gt=0)
    max_poll_s: float = Field(default=10.0, gt=0)
    job_timeout_s: float = Field(default=600.0, gt=0)


def fill_template(template: Any, fields: Mapping[str, Any]) -> Any:
    """Fill in a JSON template's `{fields}`. A value that is one field takes its type; if missing, it is dropped."""
    if isinstance(template, dict):
        filled = {key: fill_template(value, fields) for key, value in template.items()}
        return {key: value for key, value in filled.items() if value is not None}
    if isinstance(template, list):
        return [value for entry in template if (value := fill_template(entry, fields)) is not None]
    if not isinstance(template, str):
        return template
    match = _FIELD.fullmatch(template)
    if match:
        return fields.get(match[1])
    return _FIELD.sub(lambda match: str(fields.get(match[1], "")), template)


def follow_pointer(document: Any, pointer: str) -> Iterator[Any]:
    """The values at a dotted path; nothing if it does not exist."""
    entries = [document]
    for part in pointer.split("."):
        entries = [deeper for entry in entries for deeper in _step(entry, part)]
    yield from entries


def _step(entry: Any, part: str) -> list[Any]:
    if part == "*":
        return entry if isinstance(entry, list) else []
    if isinstance(entry, dict):
        return [entry[part]] if part in entry else []
    if isinstance(entry, list) and part.isdecimal() and int(part) < len(entry):
        return [entry[int(part)]]
    return []


def _first(document: Any, pointers: tuple[str, ...]) -> str:
    texts = (value for pointer in pointers for value in follow_pointer(document, pointer))
    return next((value for value in texts if isinstance(value, str) and value), "")


@dataclass(frozen=True)
class Queue:
    """Client of one provider's queue."""

    client: ImageClient
    template: QueueTemplate

    async def run(self, fields: Mapping[str, Any]) -> ImageAnswer:
        """Submit a job with these fields, wait until it ends, and return its images' URLs."""
        path = fill_template(self.template.submit_path, fields)
        body = fill_template(self.template.submit_body, fields)
        answer = await self.client.ask(ImageCall(str(path), json=body), self._read)
        if answer.status is not Status.OK:
            return answer
        status_url = _first(answer.document, self.template.status_url)
        if not status_url:
            return ImageAnswer(Status.UNPARSABLE, error=f"the reply names no job: {json.dumps(answer.document)[:300]}")
        ended = await self._ended(status_url, answer)
        if ended.status is not Status.OK:
            return ended
        result_url = _first(answer.document, self.template.result_url)
        if result_url:
            ended = await self.client.ask(ImageCall(result_url, "GET", charged=False), self._read)
            if ended.status is not Status.OK:
                return ended
        return self._pictures(ended.document, answer)

    async def _ended(self, status_url: str, answer: ImageAnswer) -> ImageAnswer:
        """Poll at increasing intervals until the job is done."""
        template = self.template
        loop = asyncio.get_running_loop()
        until = loop.time() + template.job_timeout_s
        pause_s = template.poll_s
        now = answer
        while True:
            state = next(follow_pointer(now.document, template.state), None)
            if state in template.failed or (state in template.done and _first(now.document, template.error)):
                return self._failed(now.document)  # fal reports COMPLETED for a failed job, with a separate error field
            if state in template.done:
                return now
            if loop.time() >= until:
                return ImageAnswer(Status.TIMEOUT, error=f"the job is '{state}' after {template.job_timeout_s:g} s")
            await asyncio.sleep(pause_s)
            pause_s = min(template.max_poll_s, pause_s * 1.3)
            now = await self.client.ask(ImageCall(status_url, "GET", charged=False), self._read)
            if now.status is not Status.OK:
                return now

    def _failed(self, document: JsonDict) -> ImageAnswer:
        message = _first(document, self.template.error) or json.dumps(document)[:300]
        refused = any(word in message.lower() for word in self.template.refusal_words)
        return ImageAnswer(Status.REFUSED if refused else Status.API_ERROR, error=f"the job failed: {message[:400]}")

    def _pictures(self, document: JsonDict, answer: ImageAnswer) -> ImageAnswer:
        if any(value is True for pointer in self.template.refused for value in follow_pointer(document, pointer)):
            return ImageAnswer(Status.REFUSED, error="the provider blacked the image out as unsafe")
        for pointer in self.template.images:
            urls = tuple(value for value in follow_pointer(document, pointer) if isinstance(value, str) and value)
            if urls:
                return ImageAnswer(Status.OK, urls=urls, usage=answer.usage)
        return ImageAnswer(
            Status.MISSING_OUTPUT, error=f"the job is done and holds no image: {json.dumps(document)[:300]}"
        )

    def _read(self, status: int, headers: Mapping[str, str], body: bytes) -> ImageAnswer | Failure:
        try:
            document = json.loads(body)
        except (ValueError, RecursionError):
            document = None
        if not 200 <= status < 300:
            if isinstance(document, dict):
                detail = json.dumps(document.get("detail", "")).lower()
                if any(word in detail for word in ("content_policy_violation", *self.template.refusal_words)):
                    return ImageAnswer(Status.REFUSED, error=f"HTTP {status}: {detail[:400]}")
                if "error" not in document and isinstance(document.get("detail"), str):
                    body = json.dumps({"error": document["detail"]}).encode()
            return read_failure(status, headers, body)
        if not isinstance(document, dict):
            start = body[:80].decode("utf-8", "replace")
            return Failure(
                FailureKind.FAILED, f"the reply is not JSON: {start!r}; is base_url right?", status, maybe_charged=True
            )
        return ImageAnswer(Status.OK, document=document)
