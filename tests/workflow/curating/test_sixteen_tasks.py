"""One instruction per CV-Arena task, offline, on photographs and rendered scenes: to a checked benchmark that is used."""

import csv
from importlib.resources import files
from pathlib import Path

import pytest

from imarena.core.records import Item, Rater, Verification
from imarena.datasets import load_taxonomy
from imarena.routing.forms import forms
from imarena.storage import open_workspace
from imarena.studio import entries, is_photo, photos, render_picture
from tests.command import Imarena
from tests.small_data.curation_library import HEADER, make_instructions

INSTRUCTIONS = (
    ("exposure", "The dandelion photo is far too dark. Correct its exposure.", "exposure_correction", "nature"),
    ("deblur", "The dogs are smeared by camera shake. Make the photo sharp.", "deblurring", "animals"),
    ("superres", "Upscale the cat photo and bring back the fine detail.", "super_resolution", "animals"),
    ("lowlight", "Make this dark forest picture clear and remove the sensor noise.", "low_light_enhancement", "nature"),
    ("dehaze", "Remove the haze in front of the mountains.", "dehazing", "nature"),
    ("outpaint", "Widen the frame to the right and continue the beach.", "outpainting", "nature"),
    ("dof", "Blur everything behind the flower like a fast lens would.", "depth_of_field", "nature"),
    ("insert", "Place a teal teapot next to the cup of coffee.", "object_insertion", "household"),
    ("compose", "Put a brown crate and an orange cat next to the tree in the meadow.", "multi_object_composition", "nature"),
    ("state", "Close the laptop.", "functional_state_change", "household"),
    ("rearrange", "Swap the places of the orange clock and the blue vase.", "spatial_rearrangement", "household"),
    ("pose", "Turn the car around so that it faces the other way.", "pose_transformation", "traffic"),
    ("view", "Show the pavilion above the lake from a lower viewpoint.", "viewpoint_change", "buildings"),
    ("expression", "Let the astronaut smile a little less.", "expression_control", "people"),
    ("text", "Recover the faded headline 'SUMMER FAIR' on the banner.", "text_recovery", "signs"),
    ("watermark", "Remove the watermark without touching the picture.", "watermark_and_graphic_removal", "signs"),
)  # fmt: skip

ALSO = ("photo-dogs", "cv-low-light-enhancement-2", "photo-mountains", "cv-outpainting-2", "cv-text-recovery-2")
"""Entries with what the instructions name."""


def make_mixed_library(folder: Path) -> Path:
    """The bundled photographs and a rendered source for each CV-Arena task; their texts name what is in them."""
    folder.mkdir()
    rows = []
    for photo in photos():
        data = (files("imarena.studio") / "photographs" / f"{photo.name}.jpg").read_bytes()
        (folder / f"{photo.name}.jpg").write_bytes(data)
        rows.append((f"{photo.name}.jpg", photo.title, photo.words, photo.licence, photo.author))
    for entry in entries():
        wanted = entry.key.endswith("-1") or entry.key in ALSO
        if entry.taxonomy == "cv_arena" and entry.scene is not None and wanted:
            name = f"{entry.key}.{'jpg' if is_photo(entry.scene) else 'png'}"
            (folder / name).write_bytes(render_picture(entry.scene))
            things = " ".join(sorted({thing.kind for thing in entry.scene.things}))
            words = f"{entry.scene.backdrop.removeprefix('photo:')} {things}"
            rows.append((name, "rendered scene", words, "CC0-1.0", "studio"))
    with (folder / "metadata.csv").open("w", newline="", encoding="utf-8") as file:
        table = csv.writer(file)
        table.writerow(HEADER)
        table.writerows(rows)
    return folder


@pytest.mark.slow
def test_sixteen_instructions_become_a_benchmark(imarena: Imarena, tmp_path: Path) -> None:
    assert {row[2] for row in INSTRUCTIONS} == {task.name for task in load_taxonomy("cv_arena").tasks}
    library = make_mixed_library(tmp_path / "library")
    table = make_instructions(tmp_path / "t.csv", *INSTRUCTIONS)
    workspace = tmp_path / "ws"
    imarena("init", workspace)
    done = imarena(
        "--json", "-w", workspace, "curate", "run", table, "-s", library, "-d", "raw", "--pool", 1,
        "--min-long-side", 400,
    ).json  # fmt: skip
    assert [len(entry["items"]) for entry in done["requests"]] == [1] * 16
    with open_workspace(workspace) as opened:
        opened.store.add([Rater(rater_id=name, name=name) for name in ("ann", "bob")])
        passed = {question.name: True for question in forms().checks}
        items = list(opened.store.records(Item, dataset="raw"))
        assert len({item.sources[0].sha256 for item in items}) == 16, "no image is used twice"
        opened.store.add(
            Verification(item_id=item.item_id, rater_id=name, checks=passed, decision="accept")
            for item in items
            for name in ("ann", "bob")
        )
    assert imarena("--json", "-w", workspace, "curate", "release", "raw", "--to", "bench").json["new_items"] == 16
    imarena("-w", workspace, "edit", "-e", "classical", "-d", "bench", "--yes", code=None)
    judged = imarena("--json", "-w", workspace, "judge", "--judge", "builtin", "-d", "bench", code=None).json
    assert judged
