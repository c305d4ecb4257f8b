"""Object lists of the offline decomposition on labelled photographs: precision and recall, COCO's kinds apart.

python -m benchmarks.photographs.fetch FOLDER
python -m benchmarks.edival.objects FOLDER [--half report|choose|all] [--values FILE.json]

Labels are in `photographs/photographs.yaml`. A unit is one kind of object in one photograph. Persons are never
listed and not counted; kinds under `ignored` count neither way. `listed` is what the detector finds before the
grounding filter; `kept` is what a benchmark uses. Recall of `kept` is over labelled objects that the filter would keep
by their labelled boxes. No threshold of the decomposition was chosen on the half `report`.
"""

import argparse
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import yaml

from imarena.core import Detection
from imarena.instructions import OfflineDecomposer
from imarena.instructions.grounding import too_large
from imarena.instructions.phrases import same_noun
from imarena.vision import kinds_in_phrase

LABELS = Path(__file__).parents[1] / "photographs" / "photographs.yaml"
DRAWS = 1000


@dataclass(frozen=True)
class Photograph:
    """One photograph: labelled kinds with boxes in percent, kinds that count neither way, and what was found."""

    file: str
    labelled: Mapping[str, Sequence[Sequence[float]]]
    ignored: tuple[str, ...]
    outcome: str
    listed: tuple[str, ...]
    kept: Mapping[str, int]

    @property
    def shows_coco(self) -> bool:
        """Is an object of COCO's 80 kinds, other than a person, labelled in it?"""
        return any(kinds_in_phrase(kind) and not same_noun(kind, "person") for kind in self.labelled)

    def precision(self, *, kept: bool) -> tuple[int, int]:
        """(found kinds that are labelled, found kinds)."""
        found = self.kept if kept else self.listed
        judged = [kind for kind in found if not any(same_noun(kind, other) for other in self.ignored)]
        return sum(any(same_noun(kind, other) for other in self.labelled) for kind in judged), len(judged)

    def recall(self, *, kept: bool, coco: bool) -> tuple[int, int]:
        """(labelled kinds that were found, labelled kinds), of COCO's 80 or of the others."""
        found = self.kept if kept else self.listed
        wanted = [
            kind for kind, boxes in self.labelled.items()
            if bool(kinds_in_phrase(kind)) == coco and not same_noun(kind, "person")
            and not (kept and too_large([Detection((b[0], b[1], b[2], b[3])) for b in boxes], 100, 100))
        ]  # fmt: skip
        return sum(any(same_noun(kind, other) for other in found) for kind in wanted), len(wanted)


def look(folder: Path, entry: dict[str, Any]) -> Photograph:
    scene = OfflineDecomposer().decompose((folder / entry["file"]).read_bytes())
    kept = {thing.object: thing.count for thing in scene.contents.objects} if scene.contents else {}
    listed = (*kept, *(left_out.name for left_out in scene.dropped))
    return Photograph(
        entry["file"], entry.get("objects") or {}, tuple(entry.get("ignored") or {}), scene.outcome, listed, kept
    )


def share(pairs: Iterable[tuple[int, int]]) -> str:
    """A share with its 95% interval over photographs."""
    counts = np.array(list(pairs), float).reshape(-1, 2)
    right, whole = counts.sum(axis=0)
    if not whole:
        return "undefined (0 of 0)"
    drawn = np.random.default_rng(0).integers(len(counts), size=(DRAWS, len(counts)))
    sums = counts[drawn].sum(axis=1)
    values = sums[:, 0] / np.maximum(sums[:, 1], 1)
    low, high = np.quantile(values[sums[:, 1] > 0], [0.025, 0.975])
    return f"{right / whole:.2f} ({int(right)} of {int(whole)}; {low:.2f} to {high:.2f})"


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--half", choices=("report", "choose", "all"), default="report")
    parser.add_argument("--values", type=Path)
    chosen = parser.parse_args()
    entries = [
        entry for entry in yaml.safe_load(LABELS.read_text(encoding="utf-8"))["pictures"]
        if chosen.half in (entry["half"], "all")
    ]  # fmt: skip
    photos = [look(chosen.folder, entry) for entry in entries]
    outcomes = {name: sum(photo.outcome == name for photo in photos) for name in sorted({p.outcome for p in photos})}
    print(f"{len(photos)} photographs of the half '{chosen.half}': {outcomes}")
    for kept in (False, True):
        name = "kept" if kept else "listed"
        for known, shown in ((True, "with"), (False, "without")):
            chosen_photos = [photo for photo in photos if photo.shows_coco == known]
            found = [photo.precision(kept=kept) for photo in chosen_photos]
            print(f"{name:7} precision, {len(chosen_photos)} photographs {shown} COCO's kinds {share(found)}")
        for coco, kinds in ((True, "COCO's kinds"), (False, "other kinds")):
            found = [photo.recall(kept=kept, coco=coco) for photo in photos]
            print(f"{name:7} recall, {kinds:16} {share(found)}")
    exact = [
        (int(number == len(photo.labelled[label])), 1)
        for photo in photos
        for kind, number in photo.kept.items()
        for label in photo.labelled
        if same_noun(kind, label) and not any(same_noun(kind, other) for other in photo.ignored)
    ]
    print(f"kept    count right              {share(exact)}")
    if chosen.values is not None:
        chosen.values.write_text(json.dumps([vars(photo) for photo in photos], indent=1, default=list))


if __name__ == "__main__":
    main()
