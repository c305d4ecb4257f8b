"""LPIPS values that VIEScore's authors recorded for ImagenMuseum's text-guided edits, computed again from the pixels.

python -m benchmarks.vision.published_lpips [--data DIR]     # needs: imarena weights get lpips-alex

The items come from MagicBrush, where several turns edit one photograph: the target of a turn, made by a person, is the
source of the next one. So the target is known where the museum also has the next turn. Each recorded value is compared
with LPIPS (AlexNet, version 0.1, 512 x 512 pixels) of the output to the target, and to the source.
"""

import argparse
import json
import os
from pathlib import Path

import numpy as np

from imarena.images import pixels
from imarena.vision import lpips_distance

TASK = "Text-Guided_IE"


def next_turn(uid: str) -> str:
    """The name of the item that edits this item's target."""
    start, turn = uid.removesuffix(".jpg").rsplit("_", 1)
    return f"{start}_{int(turn) + 1}.jpg"


def main() -> None:
    """Compute and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, default=Path(os.environ.get("IMARENA_SHARED_DATA", "../shared/data")))
    chosen = parser.parse_args()
    museum = chosen.data / "imagenmuseum" / TASK
    recorded = json.loads((chosen.data / "viescore" / "autometrics.json").read_text(encoding="utf-8"))
    uids = {path.name for path in (museum / "input").iterdir()}
    editors = sorted(path.name for path in museum.iterdir() if path.is_dir() and path.name != "input")
    apart: dict[str, list[float]] = {"target": [], "source": []}
    for uid in sorted(uid for uid in uids if next_turn(uid) in uids):
        images = {
            "target": pixels((museum / "input" / next_turn(uid)).read_bytes()),
            "source": pixels((museum / "input" / uid).read_bytes()),
        }
        for editor in editors:
            output = pixels((museum / editor / uid).read_bytes())
            value = recorded[f"ImagenHub_{TASK}/{editor}.json"][uid]["LPIPS"]
            for name, image in images.items():
                apart[name].append(abs((lpips_distance(image, output) or 0.0) - value))
    for name, gaps in apart.items():
        print(
            f"{len(gaps)} outputs against the {name}: {np.mean(np.array(gaps) <= 1e-3):.1%} within 1e-3,"
            f" median difference {np.median(gaps):.1e}, largest {max(gaps):.1e}"
        )


if __name__ == "__main__":
    main()
