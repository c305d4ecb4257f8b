"""The list of edits of photographs whose truth is known: six types, half of them failed. edit_pictures.py makes them.

`edits.yaml` lists them. It was written by `python -m benchmarks.edival.edits --write` (a seed, the labels of
`photographs/photographs.yaml`, nothing else) before the scorer's offline tools were tuned, and is not written again
since: another list would be another benchmark. Edits of the half `choose` tune, those of `report` report.
"""

import argparse
from pathlib import Path
from typing import Any

import numpy as np
import yaml

from imarena.vision import default_phrases

HERE = Path(__file__).parent
LABELS, EDITS = HERE.parent / "photographs" / "photographs.yaml", HERE / "edits.yaml"
SEED = 20261117
PER_TYPE = 30
TYPES = ("color_alter", "subject_remove", "count_change", "text_change", "background_change", "position_change")
COLOURS = ("red", "blue", "green", "yellow", "purple", "orange", "pink")
PLACES = ("beach", "forest", "snow", "meadow", "desert")
WORDS = (
    "COFFEE",
    "OPEN",
    "GARDEN",
    "NORTH",
    "MUSIC",
    "HELLO",
    "SUNDAY",
    "MARKET",
    "FRESH",
    "BLUE SKY",
    "NEW PATH",
    "EXIT",
)
GROUNDS = ("lomiri", "mate")


def write_list() -> None:
    """Draw the list from the labels."""
    labels = yaml.safe_load(LABELS.read_text(encoding="utf-8"))["pictures"]
    kinds = set(default_phrases()) - {"person"}
    rows: list[dict[str, Any]] = []
    for half in ("choose", "report"):
        mine = [picture for picture in labels if picture.get("half") == half]
        things = [
            {"picture": picture["file"], "kind": kind, "box": box, "alone": len(boxes) == 1}
            for picture in mine
            for kind, boxes in (picture.get("objects") or {}).items()
            for box in boxes
            if kind in kinds and 8 <= box[2] - box[0] <= 80 and 8 <= box[3] - box[1] <= 90
        ]
        grounds = [
            picture["file"]
            for picture in mine
            if picture["file"].partition("/")[0] in GROUNDS
            and (kinds | {"person"}).isdisjoint({**(picture.get("objects") or {}), **(picture.get("ignored") or {})})
        ]
        rng = np.random.default_rng([SEED, len(half)])
        for edit_type in TYPES:
            rows += [_row(rng, half, edit_type, number, things, grounds) for number in range(PER_TYPE)]
    text = "# Written once by `python -m benchmarks.edival.edits --write`; see there. One edit a line.\n"
    text += "".join(f"- {_flow(row)}\n" for row in rows)
    EDITS.write_text(text, encoding="utf-8")


def _flow(row: dict[str, Any]) -> str:
    return yaml.safe_dump(row, default_flow_style=True, width=10_000, sort_keys=False).strip()


def _row(
    rng: np.random.Generator, half: str, edit_type: str, number: int, things: list[Any], grounds: list[str]
) -> dict[str, Any]:
    """One edit. Even numbers are right, odd ones failed; how they failed goes round."""
    right = number % 2 == 0
    thing = things[int(rng.integers(len(things)))]
    pasted = edit_type in ("count_change", "position_change") or not thing["alone"] or bool(rng.integers(2))
    row: dict[str, Any] = {
        "half": half, "type": edit_type, "right": right, "picture": thing["picture"], "kind": thing["kind"],
        "box": thing["box"], "ground": grounds[int(rng.integers(len(grounds)))] if pasted else None,
        "seed": int(rng.integers(10_000)),
    }  # fmt: skip
    turn = number // 2
    if edit_type == "color_alter":
        row["color"] = COLOURS[int(rng.integers(len(COLOURS)))]
        row["how"] = "done" if right else ("nothing", "other color", "a corner only")[turn % 3]
    elif edit_type == "subject_remove":
        row["how"] = "done" if right else ("nothing", "darker", "moved")[turn % 3]
    elif edit_type == "count_change":
        row["count"] = int(rng.integers(2, 4))
        row["how"] = "done" if right else ("nothing", "one more", "another kind")[turn % 3]
        row["other"] = _other(rng, things, thing)
    elif edit_type == "text_change":
        row["text"] = WORDS[int(rng.integers(len(WORDS)))]
        row["on_object"] = bool(rng.integers(2))
        row["how"] = "done" if right else ("nothing", "misspelt", "another word")[turn % 3]
    elif edit_type == "background_change":
        named = bool(rng.integers(2))
        row["background"] = (
            PLACES[int(rng.integers(len(PLACES)))] if named else COLOURS[int(rng.integers(len(COLOURS)))]
        )
        row["how"] = "done" if right else ("nothing", "another tone", "another place", "a part only")[turn % 4]
    else:
        row["position"] = ("left", "right", "above", "below")[turn % 4]
        row["how"] = "done" if right else ("nothing", "wrong side", "a second one")[turn % 3]
        row["other"] = _other(rng, things, thing)
    return row


def _other(rng: np.random.Generator, things: list[Any], thing: Any) -> dict[str, Any]:
    others = [one for one in things if one["kind"] != thing["kind"]]
    chosen = others[int(rng.integers(len(others)))]
    return {name: chosen[name] for name in ("picture", "kind", "box")}


def read_list(half: str) -> list[dict[str, Any]]:
    """The edits of a half."""
    return [row for row in yaml.safe_load(EDITS.read_text(encoding="utf-8")) if row["half"] == half]


if __name__ == "__main__":
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--write", action="store_true", required=True)
    arguments.parse_args()
    write_list()
