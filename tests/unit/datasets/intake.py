"""A workspace in memory, for testing importers: it keeps pictures and knows what was imported into it."""

import io
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import TypeVar

from PIL import Image

from imarena.core.errors import InvalidImage
from imarena.core.ids import sha256_hex
from imarena.core.protocols import Importable, ReadFormat, Skip
from imarena.core.records import ImageRef, Item, Judgment, Mode, Output, Record, Status, Vote
from imarena.images import check_image

R = TypeVar("R")
K = TypeVar("K", bound=Record)


class MemoryIntake:
    """Intake and archive in one: what `take` was given is what an importer and an exporter see."""

    def __init__(self) -> None:
        self.blobs: dict[str, bytes] = {}
        self.taken: list[Importable] = []

    def keep(self, data: bytes, *, name: str) -> ImageRef:
        """Check a picture and keep its bytes."""
        try:
            info = check_image(data)
        except InvalidImage as error:
            raise InvalidImage(f"{name} is not a picture that can be read ({error})") from error
        sha256 = sha256_hex(data)
        self.blobs[sha256] = data
        return ImageRef(
            sha256=sha256, size_bytes=len(data), media_type=info.media_type, width=info.width, height=info.height
        )

    def items(self, dataset: str) -> Mapping[str, Item]:
        """Items taken so far, by key."""
        return {item.key: item for item in self.all(Item) if item.dataset == dataset}

    def outputs(self, dataset: str) -> Mapping[tuple[str, str], str]:
        """Ids of ok single-turn outputs taken so far, by (item key, editor)."""
        keys = {item.item_id: key for key, item in self.items(dataset).items()}
        return {
            (keys[output.item_id], output.editor): output.output_id
            for output in self.all(Output)
            if output.item_id in keys
            and output.editor is not None
            and output.status is Status.OK
            and output.mode is Mode.SINGLE
            and (output.turn, output.sample) == (0, 0)
        }

    def records(self, kind: type[K]) -> Iterator[K]:
        """All records of a kind, oldest first."""
        return iter(self.all(kind))

    def uncounted_judgments(self) -> Mapping[str, str]:
        """Judgments that another one replaced."""
        return {one.supersedes: "superseded" for one in self.all(Judgment) if one.supersedes}

    def uncounted_votes(self) -> Mapping[str, str]:
        """Votes that another one replaced, and those that were taken back."""
        votes = self.all(Vote)
        found = {vote.supersedes: "superseded" for vote in votes if vote.supersedes}
        return found | {vote.vote_id: "retracted" for vote in votes if vote.retracted}

    def load(self, image: ImageRef) -> bytes:
        """The bytes of a picture."""
        return self.blobs[image.sha256]

    def all(self, kind: type[R]) -> list[R]:
        """What was taken of a kind (a record class, or `Skip`)."""
        return [record for record in self.taken if isinstance(record, kind)]

    @property
    def skips(self) -> list[Skip]:
        """What was left out, and why."""
        return self.all(Skip)

    def take(self, records: Iterable[Importable]) -> "MemoryIntake":
        """Run an importer to its end."""
        for record in records:
            self.taken.append(record)
        return self


def import_all(read: ReadFormat, path: Path, **options: str) -> MemoryIntake:
    """Everything that `read` makes of `path`, in a fresh memory."""
    intake = MemoryIntake()
    return intake.take(read(path, intake, options))


def picture(seed: int = 0, size: tuple[int, int] = (24, 16), kind: str = "PNG") -> bytes:
    """A small real picture; another seed gives other pixels."""
    colour = ((seed * 53) % 256, (seed * 97 + 31) % 256, (seed * 29 + 7) % 256)
    image = Image.new("RGB", size, colour)
    image.putpixel((seed % size[0], (seed // size[0]) % size[1]), (255 - colour[0], colour[1], 255 - colour[2]))
    buffer = io.BytesIO()
    image.save(buffer, kind)
    return buffer.getvalue()
