"""A small benchmark with everything that must not be published, and a look at every byte of a published folder."""

import io
import zlib
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
from PIL import Image
from PIL.PngImagePlugin import PngInfo

from imarena.core.records import (
    Assignment,
    Campaign,
    ImageRef,
    Issue,
    Item,
    Judgment,
    Order,
    Origin,
    Outcome,
    Output,
    Rater,
    Run,
    Turn,
    Vote,
)
from imarena.images import describe_image
from imarena.storage import Workspace, init_workspace
from tests import samples

SECRETS = (
    "rater-alice-id", "Alice Secretname", "alice@example.org", "tok_0123456789abcdef", "my cat died", "blurry corner",
    "prolific-42",
)  # fmt: skip
"""Everything about the rater: id, name, contact, token, words, and a parameter of the link."""
LOCAL = ("/home/someone", "--checkpoint", "10.1.2.3", "sk-abcdefghijklmnopqrstuvwx", "/srv/imports")


def picture(workspace: Workspace, name: str, size: tuple[int, int] = (24, 16)) -> ImageRef:
    """A small picture of its own for a name, stored."""
    data = samples.png(zlib.crc32(name.encode()), size)
    return workspace.keep(describe_image(data), data)


def with_text(data: bytes, text: str) -> bytes:
    """The picture with a text chunk, as tools write their prompt and command."""
    info = PngInfo()
    info.add_text("parameters", text, zip=True)
    buffer = io.BytesIO()
    Image.open(io.BytesIO(data)).save(buffer, "PNG", pnginfo=info)
    return buffer.getvalue()


def item_of(workspace: Workspace, key: str, licence: str | None, **more: Any) -> Item:
    """An item with a source of its own."""
    values: dict[str, Any] = {
        "dataset": "bench", "key": key, "turns": (Turn(instruction=f"make {key} red"),), "task": "recolour",
        "family": "colour", "topic": "things", "sources": (picture(workspace, f"source {key}"),), "licence": licence,
        "provenance": {"url": "https://example.org/p/1", "file": "/home/someone/pictures/1.png", "command": "convert x"},
    }  # fmt: skip
    return Item(**{**values, **more})


def output_of(workspace: Workspace, item: Item, editor: str, **more: Any) -> Output:
    """An output with a picture of its own, made by a command."""
    values: dict[str, Any] = {
        "item_id": item.item_id, "editor": editor, "image": picture(workspace, f"{item.key} {editor}"),
        "params": {"command": ["run.sh", "--checkpoint", "/home/someone/w.pt"], "steps": 20,
                   "url": "http://10.1.2.3:8000/v1", "weights": "/home/someone/Some Folder/w.pt"},
        "run_id": "run_0123456789abcdef",
    }  # fmt: skip
    return Output(**{**values, **more})


def make_benchmark(root: Path) -> None:
    """Items with all kinds of licences, outputs of two editors, judgments, and votes of one campaign."""
    with init_workspace(root) as workspace:
        items = [
            item_of(workspace, "free", "CC-BY-4.0"),
            item_of(workspace, "zero", "https://creativecommons.org/publicdomain/zero/1.0/"),
            item_of(workspace, "closed", "All rights reserved"),
            item_of(workspace, "silent", None),
            item_of(workspace, "whole", "CC-BY-ND-4.0"),
            item_of(workspace, "long", "CC0-1.0", turns=(Turn(instruction="first"), Turn(instruction="second"))),
        ]
        outputs = [output_of(workspace, item, editor) for item in items[:5] for editor in ("alpha", "beta")]
        failed = Output(
            item_id=items[5].item_id, editor="alpha", mode="multi_turn", status="api_error",
            error="FileNotFoundError: '/home/someone/My Models/x.safetensors'",
        )  # fmt: skip
        run = Run(run_id="run_0123456789abcdef", command="edit", settings={"command": "/home/someone/run.sh"})
        workspace.store.put(run)
        workspace.store.add([*items, *outputs, failed])
        workspace.store.add([_judgment(outputs[0], outputs[1]), _judgment(outputs[4], outputs[5])])
        _add_votes(workspace, outputs)


def _judgment(left: Output, right: Output) -> Judgment:
    return Judgment(
        work_id=f"work_{left.output_id}", judge="looker", judge_version="2", item_id=left.item_id,
        left_id=left.output_id, right_id=right.output_id, order=Order.BOTH, preference=Outcome.LEFT,
        params={"base_url": "http://10.1.2.3:8000/v1", "api_key": "sk-abcdefghijklmnopqrstuvwx"},
        reasons={"text": "see /srv/imports/a.png, the left one is better"}, run_id="run_0123456789abcdef",
        origin=Origin(source="log", file="/srv/imports/log.jsonl", row="7"),
    )  # fmt: skip


def _add_votes(workspace: Workspace, outputs: list[Output]) -> None:
    alice = Rater(
        rater_id="rater-alice-id", name="Alice Secretname", contact="alice@example.org",
        params={"PROLIFIC_PID": "prolific-42", "token": "tok_0123456789abcdef"},
    )  # fmt: skip
    campaign = Campaign(campaign_id="camp", name="of Alice Secretname", kind="preference")
    workspace.store.put(alice)
    workspace.store.put(Rater(rater_id="rater-bob-id", name="Bob Otherperson", contact="bob@example.org"))
    workspace.store.put(campaign)
    for number, purpose in enumerate(("vote", "gold", "practice")):
        task = Assignment(
            campaign_id="camp", item_id=outputs[0].item_id, left_id=outputs[0].output_id,
            right_id=outputs[1].output_id, unit=str(number), purpose=purpose, rater_id=alice.rater_id,
        )  # fmt: skip
        workspace.store.add([task])
        workspace.store.add([_vote(alice, outputs[0], outputs[1], assignment_id=task.assignment_id, key=purpose)])
    bob = Rater(rater_id="rater-bob-id")
    workspace.store.add([_vote(bob, outputs[4], outputs[5], key="bob")])


def _vote(rater: Rater, left: Output, right: Output, *, key: str, assignment_id: str | None = None) -> Vote:
    return Vote(
        rater_id=rater.rater_id, item_id=left.item_id, left_id=left.output_id, right_id=right.output_id,
        preference=Outcome.RIGHT, assignment_id=assignment_id, idempotency_key=f"{rater.rater_id}-{key}",
        comment="my cat died, write to alice@example.org", time_spent_s=12.5,
        issues=(Issue(kind="other", label="blurry corner", note="my cat died"), Issue(kind="none", label="objects")),
        origin=Origin(source="sheet", row="rater-alice-id, 1"),
    )  # fmt: skip


def everything_in(folder: Path) -> str:
    """Every byte of a folder as text, and every cell of its tables without compression."""
    texts: list[str] = []
    for path in sorted(folder.rglob("*")):
        texts.append(str(path.relative_to(folder)))
        if path.is_file():
            texts.append(path.read_bytes().decode("latin-1"))
        if path.suffix == ".parquet":
            table = pq.read_table(path)
            texts += [repr(table.to_pylist()), repr(table.schema.metadata)]
    return "\n".join(texts)


def rows_of(folder: Path, kind: str) -> list[dict[str, Any]]:
    """The rows of one published table."""
    rows: list[dict[str, Any]] = pq.read_table(folder / f"{kind}.parquet").to_pylist()
    return rows
