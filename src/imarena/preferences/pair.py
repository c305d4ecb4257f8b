"""A preference pair: two edits of one source, the preferred one, and the origin of the preference."""

from collections.abc import Iterable
from functools import cached_property
from pathlib import Path

from pydantic import Field, ValidationError, model_validator

from imarena.core import UserError, command_line, content_id, sha256_hex, validation_problem
from imarena.core.records import FrozenModel, ImageRef, JsonDict, Outcome

CONSISTENCY = "visual_consistency"


class PreferencePair(FrozenModel):
    """Two edits of one source and the preferred one.

    Pairs from metrics, votes, judgments and synthetic damage all have this type, and every export starts from it.
    Images are named by content hash: their bytes are in a workspace, or in the `images` folder next to a file of pairs.
    """

    item: str
    """Unit of a split: all pairs of one item are in the same part."""
    instruction: str
    task: str
    source: ImageRef
    left: ImageRef
    right: ImageRef
    winner: Outcome
    """`left`, `right` or `tie`."""
    made_by: str
    """`metrics`, `votes`, `judgments` or another origin, such as `damage`."""
    dimension: str = CONSISTENCY
    strength: float | None = Field(default=None, ge=0)
    """How clear the preference is (larger is clearer); the unit depends on `made_by`."""
    provenance: JsonDict = Field(default_factory=dict)
    """What explains the winner: regions, metric values, tiers, thresholds, votes, levels of damage."""

    @model_validator(mode="after")
    def _decided(self) -> "PreferencePair":
        if self.winner is Outcome.BOTH_BAD:
            raise ValueError("the winner of a preference pair is left, right or tie")
        if self.left.sha256 == self.right.sha256 and self.winner is not Outcome.TIE:
            raise ValueError("two identical images are a tie")
        return self

    @cached_property
    def pair_id(self) -> str:
        """The same for both orders of the sides: source, instruction, the two images and the dimension."""
        sides = sorted((self.left.sha256, self.right.sha256))
        return content_id("pair", self.source.sha256, self.instruction, sides, self.dimension)

    @property
    def chosen(self) -> ImageRef:
        """The preferred image; a tie has none and raises `ValueError`."""
        if self.winner is Outcome.TIE:
            raise ValueError("a tie has no preferred image")
        return self.left if self.winner is Outcome.LEFT else self.right

    @property
    def rejected(self) -> ImageRef:
        """The other image; a tie has none and raises `ValueError`."""
        return self.right if self.chosen is self.left else self.left

    def mirrored(self) -> "PreferencePair":
        """The same pair with the sides swapped. Provenance under `left` and `right` is swapped too."""
        names = {"left": "right", "right": "left"}
        return self.model_copy(
            update={
                "left": self.right,
                "right": self.left,
                "winner": self.winner.mirrored(),
                "provenance": {names.get(name, name): value for name, value in self.provenance.items()},
            }
        )

    def arranged(self, seed: int) -> "PreferencePair":
        """The pair with its sides in an order that depends on the images and the seed alone, never on names."""
        first, _ = sorted((self.left.sha256, self.right.sha256))
        swap = int(sha256_hex(f"{seed}\n{self.pair_id}".encode())[:8], 16) % 2 == 1
        return self.mirrored() if (self.left.sha256 == first) == swap else self


PAIRS_FILE = "pairs.jsonl"
IMAGES_FOLDER = "images"


def write_pair_file(path: Path, pairs: Iterable[PreferencePair]) -> int:
    """Write one pair per line; returns the number of pairs."""
    count = 0
    with path.open("w", encoding="utf-8") as stream:
        for pair in pairs:
            stream.write(pair.model_dump_json() + "\n")
            count += 1
    return count


def read_pair_file(path: Path) -> tuple[PreferencePair, ...]:
    """Read a file of pairs, or the `pairs.jsonl` of a folder. A bad line raises `UserError` with its number."""
    file = path / PAIRS_FILE if path.is_dir() else path
    if not file.is_file():
        raise UserError(
            f"There is no file of pairs at {path}.", hint=f"Make one with `{command_line('pvc pairs FOLDER')}`."
        )
    pairs = []
    for number, line in enumerate(file.read_text(encoding="utf-8").splitlines(), start=1):
        if not line.strip():
            continue
        try:
            pairs.append(PreferencePair.model_validate_json(line))
        except ValidationError as error:
            raise UserError(
                f"{file}, line {number}, is not a preference pair: {validation_problem(error).text}.",
                hint="Each line is one JSON object as `pvc pairs` writes it.",
            ) from error
    return tuple(pairs)


def image_file(folder: Path, image: ImageRef) -> Path:
    """Path of an image in a folder of pairs; raises `UserError` if it is missing."""
    for file in sorted((folder / IMAGES_FOLDER).glob(f"{image.sha256}.*")):
        return file
    raise UserError(
        f"{folder} does not hold the image {image.sha256[:12]}.", hint="Make the pairs again, with their images."
    )
