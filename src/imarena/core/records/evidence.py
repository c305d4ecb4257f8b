"""Evidence: what a tool measured on an image or a pair of images."""

from functools import cached_property

from pydantic import Field, JsonValue

from imarena.core.ids import content_id
from imarena.core.records.base import JsonDict, Record, Status


class Evidence(Record):
    """Boxes, masks, text, embeddings or metric values. Identified by the pixels and the tool."""

    image_sha256: str
    """Hash of the pixels. For evidence about an item before there is an output: the hash of its words and images."""
    against_sha256: str | None = None
    tool: str
    tool_version: str = ""
    kind: str
    params: JsonDict = Field(default_factory=dict)
    value: JsonValue = None
    status: Status = Status.OK
    error: str = ""

    @cached_property
    def evidence_id(self) -> str:
        """The same tool on the same pixels is the same evidence."""
        return content_id(
            "evidence",
            self.image_sha256,
            self.against_sha256,
            self.tool,
            self.tool_version,
            self.kind,
            self.params,
        )
