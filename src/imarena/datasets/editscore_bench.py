"""EditReward-Bench of the EditScore project (not TIGER-Lab's, which has the same name).

    data/*.parquet or *.jsonl     key: [k1, k2], instruction, input_image, output_images: [2], task_type, dimension

In every row, the first of `output_images` won. A hash of the row decides on which side the winner is put, so that a
judge that always says "left" does not look perfect. Each row is one vote about one dimension.
"""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from imarena.core import Importable, Intake, UserError, first_line
from imarena.core.records import ImageRef, Item, Origin, Outcome, Rater, Turn, Vote
from imarena.datasets.folder import Folder
from imarena.datasets.options import check_options
from imarena.datasets.pairs import SharedEntries, side_of_winner
from imarena.datasets.rows import files_of, links_outside, read_each, required_picture, required_text, rows_of

DATASET = "editscore/EditReward-Bench"
DIMENSIONS = ("prompt_following", "consistency", "overall")
_FIELDS = ("key", "instruction", "input_image", "output_images", "task_type", "dimension")


def read(path: Path, intake: Intake, options: Mapping[str, str]) -> Iterator[Importable]:
    """Import items, outputs without editor names, and one vote per row."""
    check_options("editscore_bench", options, dataset=None)
    folder = Folder(path)
    pairs = SharedEntries(intake, options.get("dataset", DATASET))
    rater = Rater(rater_id=f"{pairs.dataset}/people", origin=Origin(source=pairs.dataset))
    yield rater
    marks: set[str] = set()
    yield from links_outside(folder)
    for file in files_of(folder):
        name = folder.name(file)

        def read_row(where: str, values: dict[str, Any], name: str = name) -> Iterator[Importable]:
            pair = _pair(values, marks)
            pictures = _pictures(values, folder, intake)
            item = _item(values, pairs.dataset, pair, pictures[0])
            if (yield from pairs.item(item, name, where)):
                yield from _vote(pairs, item, pair, pictures[1:], rater.rater_id, values["dimension"])

        yield from read_each(rows_of(folder, file, _FIELDS), name, read_row, first_line)


def _pair(values: Mapping[str, Any], marks: set[str]) -> tuple[str, str]:
    """The names of the winner and the loser, made distinct if they are the same."""
    key = values["key"]
    if not isinstance(key, list) or len(key) != 2 or not all(isinstance(part, str | int) for part in key):
        raise UserError(f"the key is {key!r}, not a list of two names")
    if values["dimension"] not in DIMENSIONS:
        raise UserError(f"the dimension is {values['dimension']!r}, not one of {', '.join(DIMENSIONS)}")
    winner, loser = str(key[0]), str(key[1])
    pair = (winner, loser) if winner != loser else (f"{winner}#0", f"{loser}#1")
    mark = f"{required_text(values, 'task_type')}/{'+'.join(sorted(pair))}/{values['dimension']}"
    if mark in marks:
        raise UserError(f"the pair '{mark}' appears twice")
    marks.add(mark)
    return pair


def _pictures(values: Mapping[str, Any], folder: Folder, intake: Intake) -> tuple[ImageRef, ImageRef, ImageRef]:
    outputs = values["output_images"]
    if not isinstance(outputs, list) or len(outputs) != 2:
        raise UserError("output_images is not a list of two images")
    cells = {"input_image": values["input_image"], "output_images[0]": outputs[0], "output_images[1]": outputs[1]}
    source, winner, loser = (required_picture(cells, field, folder, intake) for field in cells)
    if winner.sha256 == loser.sha256:
        raise UserError("the two outputs are the same image")
    return source, winner, loser


def _item(values: Mapping[str, Any], dataset: str, pair: tuple[str, str], source: ImageRef) -> Item:
    task = required_text(values, "task_type")
    return Item(
        dataset=dataset,
        key=f"{task}/{'+'.join(sorted(pair))}",
        turns=(Turn(instruction=required_text(values, "instruction")),),
        sources=(source,),
        task=task,
        provenance={"benchmark": "EditReward-Bench (EditScore)"},
    )


def _vote(
    pairs: SharedEntries,
    item: Item,
    pair: tuple[str, str],
    pictures: tuple[ImageRef, ...],
    rater_id: str,
    dimension: str,
) -> Iterator[Importable]:
    ids: dict[str, str] = {}
    for name, picture in zip(pair, pictures, strict=True):
        ids[name] = yield from pairs.output(item, None, picture, Origin(source=pairs.dataset, row=f"{item.key}/{name}"))
    # depends on the pair, not on who won: all dimensions of a pair have the same sides
    left, right = sorted(pair, reverse=side_of_winner(item.key) is Outcome.RIGHT)
    yield Vote(
        rater_id=rater_id,
        item_id=item.item_id,
        left_id=ids[left],
        right_id=ids[right],
        dimension=dimension,
        preference=Outcome.LEFT if left == pair[0] else Outcome.RIGHT,
        origin=Origin(source=pairs.dataset, row=f"{item.key}/{dimension}"),
    )
