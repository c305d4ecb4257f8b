"""Repair an item that people did not accept: crop its image, and check the result."""

import re
from dataclasses import replace

from imarena.core import FoundImage, UserError, sha256_hex
from imarena.curation.brief import ImageBrief
from imarena.curation.candidate_record import CandidateRecord
from imarena.curation.checks import check_file
from imarena.curation.filters import refuse_damage, review_flags
from imarena.curation.loop import LookAt
from imarena.curation.planner import Candidate, CurationPlanner
from imarena.curation.settings import CurationSettings
from imarena.images import Box, decode, encode_image

_BOX = re.compile(r"\s*(\d+)\s*,\s*(\d+)\s*,\s*(\d+)\s*,\s*(\d+)\s*")


def read_crop(text: str) -> Box:
    """Parse a box from `LEFT,TOP,RIGHT,BOTTOM` in pixels."""
    match = _BOX.fullmatch(text)
    if match is None:
        raise UserError(f"'{text}' is not a box.", hint="Give LEFT,TOP,RIGHT,BOTTOM in pixels, such as 0,0,1600,1200.")
    left, top, right, bottom = (float(number) for number in match.groups())
    return Box(left, top, right, bottom)


def crop_image(data: bytes, box: Box) -> bytes:
    """The part of an image inside the box, losslessly (PNG)."""
    image = decode(data)
    if not (0 <= box.left < box.right <= image.width and 0 <= box.top < box.bottom <= image.height):
        raise UserError(
            f"The box is not inside the image of {image.width} x {image.height} pixels.",
            hint="Give LEFT,TOP,RIGHT,BOTTOM in pixels, with the origin at the top left.",
        )
    return encode_image(image.crop((int(box.left), int(box.top), int(box.right), int(box.bottom))))


def inspect_image(
    brief: ImageBrief, found: FoundImage, data: bytes, look: LookAt, settings: CurationSettings
) -> tuple[Candidate, CandidateRecord]:
    """Check an image as a run does, before it is captioned and scored. Raises `Refused`."""
    normal = check_file(data, settings, brief.needs)
    perception, _ = look(normal.data)
    refuse_damage(perception, settings, brief.needs)
    record = CandidateRecord(
        found, 0, "", "pooled", sha256=sha256_hex(normal.data), original_sha256=normal.original_sha256,
        width=normal.width, height=normal.height, flags=review_flags(perception, f"{found.title} {found.text}"),
    )  # fmt: skip
    return Candidate(found, normal.data, perception), record


def flag_score(
    brief: ImageBrief, record: CandidateRecord, planner: CurationPlanner, settings: CurationSettings
) -> CandidateRecord:
    """Flag a score below the threshold, and an instruction that nobody read: people decide."""
    flags = record.flags
    if record.score is not None and record.score < settings.threshold:
        flags += ("below_threshold",)
    if not brief.english and not planner.reads_all_languages:
        flags += ("instruction_not_read",)
    return replace(record, flags=flags)
