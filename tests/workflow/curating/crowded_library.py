"""A small library that many instructions search, with near-duplicates, and a fake model that scores its images.

Instructions find the same images, so that who comes first decides who gets them, and later ones need more rounds.
"""

import csv
import io
import json
from pathlib import Path
from typing import Any

from PIL import Image

from imarena.clients.fake_answers import ChatQuery
from imarena.core.records import Evidence, Item
from imarena.storage import open_workspace
from tests.small_data.curation_library import HEADER, make_instructions, photograph

PHOTOGRAPHS = ("cat", "coffee", "dandelion")
WORDS = 4


def answer(query: ChatQuery) -> str:
    """Queries by the number in the instruction, others in later rounds; scores by instruction and image."""
    if '"queries"' in query.text:
        number = int(query.text.split("thing ")[1].split(".")[0])
        rounds = query.text.count("Round ")
        texts = [f"word{(number + rounds) % WORDS}", f"word{(number + rounds + 1) % WORDS}"]
        reply: dict[str, Any] = {"queries": [{"text": text, "aspect": "subject", "exclude": []} for text in texts]}
    elif '"score"' in query.text:
        reply = {"fits": 1, "visible": 1, "score": round(0.6 + 0.4 * query.fraction("score"), 4), "reason": "by hash"}
    elif '"caption"' in query.text:
        reply = {"caption": f"An image of {query.images[0][:12]} {query.images[0][12:24]}."}
    else:
        reply = {"missing": ["more"], "unexpected": [], "note": "Search for more."}
    return json.dumps(reply)


def make_crowded(root: Path, instructions: int) -> None:
    """Write the folder `library` and the table `t.csv`."""
    folder = root / "library"
    folder.mkdir()
    rows = []
    for number, name in enumerate(PHOTOGRAPHS):
        with Image.open(io.BytesIO(photograph(name))) as image:
            width, height = image.size
            parts = {"left": (0, 0, width // 2, height), "right": (width // 2, 0, width, height)}
            for at, (side, box) in enumerate(parts.items()):
                for quality in (90, 60) if number % 2 else (90,):  # the second one is a near-duplicate
                    saved = f"{name}-{side}-{quality}.jpg"
                    image.crop(box).convert("RGB").save(folder / saved, "JPEG", quality=quality)
                    rows.append((saved, "", f"word{(2 * number + at) % WORDS}", "CC-BY-4.0", "Ann"))
    with (folder / "metadata.csv").open("w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows([HEADER, *rows])
    make_instructions(root / "t.csv", *((f"k{n}", f"Make thing {n}. blue", "", "") for n in range(instructions)))


def collected(workspace: Path, dataset: str) -> list[str]:
    """The items of a data set in the order in which they were stored, as JSON without the time."""
    with open_workspace(workspace) as opened:
        return [item.model_dump_json(exclude={"created_at"}) for item in opened.store.records(Item, dataset=dataset)]


def paid_steps(workspace: Path) -> list[tuple[str, str]]:
    """The stored answers that cost money: the name of the steps, and the question."""
    with open_workspace(workspace) as opened:
        steps = list(opened.store.records(Evidence, kind="curation_step"))
    return [
        (step.image_sha256, str(step.params["call"]))
        for step in steps
        if isinstance(step.value, dict) and step.value["cost_usd"]
    ]
