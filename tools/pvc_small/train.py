"""Train `pvc-small` on a packed file of pictures (tools/pvc_small/pack.py).

    python -m tools.pvc_small.train TRAIN.npz TEST.npz OUT [--minutes 7] [--device cuda]

Needs torch and NumPy and nothing else, so that it runs on a bare machine with a GPU: the package is not installed
there, and its files are loaded from this checkout without running the package's own imports.
"""

import argparse
import sys
import types
from pathlib import Path

SOURCE = Path(__file__).resolve().parents[2] / "src"


def stand_in() -> None:
    """Packages that load their modules from the checkout and import nothing by themselves."""
    for name in ("imarena", "imarena.preferences"):
        package = types.ModuleType(name)
        package.__path__ = [str(SOURCE.joinpath(*name.split(".")))]
        sys.modules[name] = package


def main() -> None:
    """Read the options and train."""
    stand_in()
    from tools.pvc_small.training import TrainingPlan, train_network

    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("train", type=Path)
    parser.add_argument("test", type=Path)
    parser.add_argument("out", type=Path)
    parser.add_argument("--device", default="cuda")
    parser.add_argument("--minutes", type=float, default=7.0)
    parser.add_argument("--encoder-seconds", type=float, default=90.0)
    parser.add_argument("--steps", type=int, default=100_000)
    parser.add_argument("--groups", type=int, default=8)
    parser.add_argument("--group-size", type=int, default=5)
    parser.add_argument("--test-pairs", type=int, default=32, help="per kind and level; 0 skips the test")
    parser.add_argument("--seed", type=int, default=18)
    o = parser.parse_args()
    plan = TrainingPlan(
        seed=o.seed, groups=o.groups, group_size=o.group_size, steps=o.steps, minutes=o.minutes,
        encoder_seconds=o.encoder_seconds, test_pairs=o.test_pairs,
    )  # fmt: skip
    train_network(o.train, o.test, o.out, plan, o.device, lambda line: print(line, flush=True))


if __name__ == "__main__":
    main()
