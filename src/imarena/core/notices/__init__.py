"""Notices: what a user should know about a result, as data. Each interface words them in its own way."""

from imarena.core.notices.left_out import left_out_texts
from imarena.core.notices.notice import (
    Medium,
    Notice,
    grouped_sentences,
    notice_fields,
    notices_from_texts,
    sentence,
    sentences,
    text_notice,
)

__all__ = [
    "Medium",
    "Notice",
    "grouped_sentences",
    "left_out_texts",
    "notice_fields",
    "notices_from_texts",
    "sentence",
    "sentences",
    "text_notice",
]
