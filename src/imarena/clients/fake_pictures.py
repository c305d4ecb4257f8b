"""Images drawn by the fake image server, and its faults."""

import base64
import hashlib
import io
import re
from dataclasses import dataclass
from enum import StrEnum

from PIL import Image, ImageChops, UnidentifiedImageError

from imarena.clients.fake_faults import Rates


class ImageFault(StrEnum):
    """One way in which an image endpoint fails."""

    RATE_LIMITED = "rate_limited"
    SERVER_ERROR = "server_error"
    REFUSAL = "refusal"
    BLOCKED = "blocked"
    TEXT = "text"
    HTML = "html"
    TRUNCATED = "truncated"
    NOT_AN_IMAGE = "not_an_image"
    OTHER_SIZE = "other_size"
    TEN_IMAGES = "ten_images"
    NOT_BASE64 = "not_base64"
    WRONG_JSON = "wrong_json"
    HANG = "hang"
    DISCONNECT = "disconnect"
    JOB_FAILED = "job_failed"
    JOB_STUCK = "job_stuck"
    LOST_FILE = "lost_file"


PASSING = frozenset({ImageFault.RATE_LIMITED, ImageFault.SERVER_ERROR, ImageFault.DISCONNECT})
"""Faults that a retry overcomes, whether drawn by rate or named in the prompt."""
_FAULT = re.compile(r"\[fault: ?(\w+)\]")


@dataclass(frozen=True)
class ImageFaults(Rates[ImageFault]):
    """The image servers' faults, by rate or named in the prompt."""

    def draw(self, prompt: str, digest: str, seen: int) -> ImageFault | None:
        """The fault for a request; a prompt that contains `[fault: html]` gets that fault."""
        match = _FAULT.search(prompt)
        if match is None:
            return self.by_rate(digest, seen)
        fault = ImageFault(match[1])
        return None if fault in PASSING and seen > 0 else fault


def draw_reply_images(prompt: str, pictures: tuple[bytes, ...], fault: ImageFault | None) -> list[bytes]:
    """The images of a reply: the first image of the request, tinted by the prompt; without one, a flat image."""
    digest = hashlib.sha256(prompt.encode("utf-8", "replace")).digest()
    tint = (128 + digest[0] // 2, 128 + digest[1] // 2, 128 + digest[2] // 2)
    try:
        base = Image.open(io.BytesIO(pictures[0])).convert("RGB") if pictures else Image.new("RGB", (64, 48), "white")
    except (UnidentifiedImageError, OSError) as error:
        raise ValueError("Invalid image file or mode for image 1, please check your image file.") from error
    image = ImageChops.multiply(base, Image.new("RGB", base.size, tint))
    if fault is ImageFault.OTHER_SIZE:
        image = image.resize((max(8, image.width // 2), max(8, image.height)))
    data = _png(image)
    if fault is ImageFault.TRUNCATED:
        return [data[: len(data) * 2 // 3]]
    if fault is ImageFault.NOT_AN_IMAGE:
        return [b"this is no image"]
    if fault is ImageFault.TEN_IMAGES:
        return [data] * 10
    return [data]


def encode_base64(data: bytes, fault: ImageFault | None) -> str:
    """Base64 as providers send it, or text that is not base64."""
    return "!!! not base64 !!!" if fault is ImageFault.NOT_BASE64 else base64.b64encode(data).decode("ascii")


def _png(image: Image.Image) -> bytes:
    buffer = io.BytesIO()
    image.save(buffer, "PNG", compress_level=1)
    return buffer.getvalue()
