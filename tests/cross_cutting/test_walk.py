"""The two walks in ARCHITECTURE.md, taken for real: the steps are entered in that order, and no module without a name."""

import json
import re
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from tests.unit.core.source_tree import ROOT

STEP = re.compile(r"^\d+\. `(?P<file>[\w/.]+)`: `(?P<function>\w+)` - \S", re.MULTILINE)
OTHERS = re.compile(r"^\| `(?P<room>[\w/]+)` \| `(?P<files>[\w/ ]+)` \|$", re.MULTILINE)
MOST_FILES = 20
TITLES = {"item": "one item from import to leaderboard", "vote": "one vote from the browser to the board"}


@dataclass(frozen=True)
class Walk:
    """One walk as the document has it."""

    steps: tuple[tuple[str, str], ...]
    """File and function."""
    others: frozenset[str]
    """The other modules on the way, as paths below the package."""

    @property
    def in_python(self) -> list[tuple[str, str]]:
        """Module and function of the steps outside of the browser."""
        return [(file.removesuffix(".py"), function) for file, function in self.steps if file.endswith(".py")]


def walk_of(name: str) -> Walk:
    """Read a walk from the document."""
    text = (ROOT / "ARCHITECTURE.md").read_text()
    section = text.split(f"## A walk: {TITLES[name]}\n")[1].split("\n## ")[0]
    steps = tuple((found["file"], found["function"]) for found in STEP.finditer(section))
    others = [f"{row['room']}/{file}" for row in OTHERS.finditer(section) for file in row["files"].split()]
    assert len(others) == len(set(others)), "a file that is listed twice"
    assert len(steps) == len(re.findall(r"^\d+\.", section, re.MULTILINE)), "a step that is not written as the others"
    return Walk(steps, frozenset(others))


def write_table(folder: Path) -> None:
    """One item that should become blue; one editor does it, the other returns the input."""
    red = np.full((64, 64, 3), (200, 40, 40), np.uint8)
    red[16:48, 16:48] = (230, 200, 60)
    blue = red.copy()
    blue[..., :] = (40, 60, 200)
    for place, pixels in (("sources", red), ("outputs/ash", blue), ("outputs/elm", red)):
        (folder / place).mkdir(parents=True)
        Image.fromarray(pixels).save(folder / place / "one.png")
    (folder / "items.csv").write_text("key,instruction,source\none,make the picture blue,sources/one.png\n")


@dataclass(frozen=True)
class Taken:
    """A walk of the document and what happened when it was taken."""

    walk: Walk
    entered: list[tuple[str, str]]
    around_judge: list[tuple[str, str]]


@pytest.fixture(scope="module", params=["item", "vote"])
def taken(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Taken:
    """A walk, taken."""
    folder = tmp_path_factory.mktemp(request.param)
    write_table(folder / "table")
    words = [sys.executable, "-m", "tests.cross_cutting.traced", request.param, str(folder)]
    ended = subprocess.run(words, cwd=ROOT, capture_output=True, text=True, check=False, timeout=300)
    assert ended.returncode == 0, ended.stderr
    found = {
        name: [(module, function) for module, function in calls] for name, calls in json.loads(ended.stdout).items()
    }
    return Taken(walk_of(request.param), found["functions"], found["around_judge"])


def test_every_step_is_entered_in_this_order(taken: Taken) -> None:
    order = {step: place for place, step in reversed(list(enumerate(taken.entered)))}
    steps = taken.walk.in_python
    assert not [step for step in steps if step not in order]
    assert steps == sorted(steps, key=order.__getitem__)


def test_the_steps_lead_to_the_judge(taken: Taken) -> None:
    """Each module of `workflows` that is being called or awaited when the judge is asked has a step for that call."""
    stack, steps = taken.around_judge, taken.walk.in_python
    assert bool(stack) == (("judges/builtin/judge", "judge") in steps)
    on_the_way = [step for step in dict.fromkeys(stack) if step in steps]
    assert on_the_way == [step for step in steps if step in on_the_way]
    unnamed = {module for module, _ in stack if module.startswith("workflows/")} - {module for module, _ in on_the_way}
    assert not unnamed, f"called on the way to the judge, without a step: {' '.join(sorted(unnamed))}"


def test_every_module_that_is_entered_is_named(taken: Taken) -> None:
    """A module that begins to be entered, or ceases to be, is added to the document or taken out of it."""
    walk = taken.walk
    modules = {module for module, _ in taken.entered}
    steps = {module for module, _ in walk.in_python}
    new, gone = modules - steps - walk.others, walk.others - modules
    assert not new, f"entered, and not named under the walk in ARCHITECTURE.md: {' '.join(sorted(new))}"
    assert not gone, f"named under the walk in ARCHITECTURE.md, and not entered: {' '.join(sorted(gone))}"
    assert not walk.others & steps, "a step is not named again"


@pytest.mark.parametrize("name", sorted(TITLES))
def test_a_walk_is_short_and_its_files_exist(name: str) -> None:
    walk = walk_of(name)
    assert 10 < len({file for file, _ in walk.steps}) <= MOST_FILES
    for file, function in walk.steps:
        path = ROOT / file if file.startswith("web/src/") else ROOT / "src/imarena" / file
        assert re.search(rf"(def|function) {function}\b", path.read_text()), f"{file} has no {function}"


def test_every_path_in_the_document_exists() -> None:
    text = (ROOT / "ARCHITECTURE.md").read_text()
    paths = set(re.findall(r"`((?:\w+/)+(?:\w+\.\w+)?)`", text))
    assert len(paths) > 30
    assert not {path for path in paths if not any((ROOT / top / path).exists() for top in ("src/imarena", "."))}
