"""Blocks of the documentation that need photographs, raters, servers or smaller numbers; run as the pages print them."""

import csv
import shlex
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from imarena.core.records import Item
from imarena.storage import open_workspace
from tests.command import Ended, Imarena
from tests.cross_cutting.docs.blocks import blocks, blocks_of
from tests.cross_cutting.docs.people import Visitor, served, serves
from tests.small_data.curation_library import photograph
from tests.web.browser.stage import Stage, free_port

SHOWS = {
    "cat": "a cat", "coffee": "a cup and a spoon", "dandelion": "a blossom in a meadow", "flower": "an orange blossom",
    "mountains": "mountains",
}  # fmt: skip
SMALLER = 5
"""Photographs are so many times smaller than the guide asks for, and so are the limit and the box of a crop."""
MORE = "blossom,Make the blossom blue.,,plants\nmountains,Make the mountains darker.,,landscapes\n"
REPAIRS = {"--candidate": "blossom", "--crop": "mountains", "--instruction": "cat", "--discard": "cup"}


class Curator:
    """A person who reads curate.md from its top and runs each block."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.run = Imarena(folder)
        self.blocks = iter(blocks_of("curate.md", __file__))

    def next(self, key: str = "", code: int = 0) -> list[Ended]:
        """Run the next block, with the key of this instruction's item in place of the guide's."""
        return [self.run(*words, code=code) for words in self.calls(key)]

    def calls(self, key: str = "") -> Iterator[list[str]]:
        """The calls of the next block."""
        for words in next(self.blocks).commands():
            if "--crop" in words:
                box = words.index("--crop") + 1
                words[box] = ",".join(str(int(edge) // SMALLER) for edge in words[box].split(","))
            yield [self.key(key or repaired(words)) if word == "cat-1a2b3c4d" else word for word in words]

    def key(self, request: str, dataset: str = "candidates") -> str:
        """The key of the item that was collected for an instruction."""
        with open_workspace(self.folder / "arena") as workspace:
            keys = [item.key for item in workspace.store.records(Item, dataset=dataset)]
        return next(key for key in keys if key.startswith(request))

    def describe(self) -> None:
        """Fill in the column `shows`, as step 1 asks."""
        table = self.folder / "photos" / "metadata.csv"
        with table.open(newline="", encoding="utf-8") as file:
            rows = list(csv.DictReader(file))
        with table.open("w", newline="", encoding="utf-8") as file:
            writer = csv.DictWriter(file, list(rows[0]))
            writer.writeheader()
            writer.writerows({**row, "shows": SHOWS[Path(row["file_name"]).stem]} for row in rows)


def repaired(words: list[str]) -> str:
    """The item for this way of repairing."""
    return next((request for option, request in REPAIRS.items() if option in words), "")


def campaign_of(stage: Stage, name: str) -> str:
    """The id of a campaign."""
    listed = stage.get("/api/lead/campaigns")["campaigns"]
    return str(next(one["campaign_id"] for one in listed if one["name"] == name))


@pytest.mark.slow
def test_from_photographs_to_a_benchmark(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("IMARENA_WEIGHTS", str(tmp_path / "none"))
    (tmp_path / "photos").mkdir()
    for name in SHOWS:
        (tmp_path / "photos" / f"{name}.jpg").write_bytes(photograph(name, long_side=460))
    guide = Curator(tmp_path)
    guide.next()
    guide.describe()
    table = next(block.body for block in blocks() if block.page == "docs/guide/curate.md" and block.language == "csv")
    (tmp_path / "instructions.csv").write_text(table + MORE)
    with (tmp_path / "arena" / "imarena.toml").open("a") as settings:
        settings.write(f"\n[curation]\nmin_long_side = {2048 // SMALLER}\n")
    (collect,) = guide.calls()
    assert "4 items for data set 'candidates', 4 new." in guide.run(*collect).out
    assert "4 items for data set 'candidates', 0 new." in guide.run(*collect).out, "the same command changes nothing"
    guide.run("-w", "arena", "curate", "release", "candidates", "--to", "bench", code=3)
    (log,) = guide.next("cat")
    assert "* score 1.00 (thing: cat 1.00)" in log.out
    *create, serve = guide.calls()
    links = [guide.run(*words).out.split()[0] for words in create][1:]
    assert serves(serve)
    with served(serve, tmp_path) as stage:
        check_and_repair(guide, stage, links)
    release_and_use(guide)


def check_and_repair(guide: Curator, stage: Stage, links: list[str]) -> None:
    """Steps 4 and 5, while the server runs."""
    ann, bob, eve = (Visitor(stage.address, link) for link in links)
    first = campaign_of(stage, "Image check")
    words = {"cat": "repair", "spoon": "repair", "mountains": "repair"}
    assert ann.check(first, words) == 4
    assert bob.check(first, {**words, "blossom": "repair"}) == 4
    assert eve.check(first, {"blossom": "repair"}) == 1, "the disputed item"
    assert "disputed units: 1, of these adjudicated: 1" in guide.next()[0].out
    (listed,) = guide.next(code=3)
    assert "too dark" in listed.out
    guide.next()
    _, *invited = guide.next()
    for ended in invited:
        again = Visitor(stage.address, ended.out.split()[0])
        assert again.check(campaign_of(stage, "Second check"), {}) == 3


def release_and_use(guide: Curator) -> None:
    """Step 6, and the rest of the page."""
    release, datasheet, publish = guide.calls()
    released = guide.run("--json", *release).json
    assert (released["counts"], released["agreement"]) == ({"accept": 3, "discard": 1}, 6 / 7)
    story = guide.run("-w", "arena", "curate", "log", guide.key("blossom")).out
    assert story.count(": repair (not met: feasible): too dark") == 2, f"Bob and Eve: {story}"
    sheet = guide.run("--json", *datasheet).json
    assert (sheet["items"], sheet["verified"]) == (3, 3)
    assert (guide.folder / "sheet" / "datasheet-keywords.svg").read_text().count("<text") >= 4
    guide.run(*publish)
    card = (guide.folder / "published" / "README.md").read_text(encoding="utf-8")
    assert "How the images were collected" in card
    assert "| agentic" in card
    assert "pseudonym" not in card, "the name of a track is no person"
    assert (guide.folder / "published" / "images" / "datasheet-source.svg").is_file()
    ends = [guide.run(*words, code=None) for words in guide.calls()]
    assert [ended.code for ended in ends] == [3, 0, 0, 0, 0], "classical refuses an instruction"
    assert "classical" in ends[-1].out
    assert "unchanged" in ends[-1].out
    (strict,) = guide.next(code=3)
    assert "items for data set 'strict'" in strict.out
    guide.next()
    assert (guide.folder / "more.csv").is_file()
    (variants,) = guide.next()
    assert "feasible" in variants.out
    assert next(guide.blocks, None) is None, "every block of the page was run"


def test_simulations(tmp_path: Path) -> None:
    """With fewer seeds, votes and items than the page prints."""
    write_recorded(tmp_path)
    (block,) = blocks_of("active-elo.md", __file__)
    recorded, *simulated = block.commands()
    ends = [Imarena(tmp_path)(*recorded, "--seeds", 2, "--budgets", "4,8")]
    small = ("--models", 4, "--items", 20, "--seeds", 2, "--budgets", 4)
    ends += [Imarena(tmp_path)(*words, *small) for words in simulated]
    assert len(ends) == 3
    assert all("two-gate" in ended.out for ended in ends)
    assert "two-gate, own calibration" in ends[1].out, "all policies"
    assert "two-gate, tight" in ends[2].out


def write_recorded(folder: Path) -> None:
    """Scores of a judge and ratings of two people, of 20 units and four models."""
    pairs = [(unit, model) for unit in range(20) for model in range(4)]
    scores = [f"u{unit},m{model},gpt4o,{(unit * 7 + model * 3) % 11}" for unit, model in pairs]
    people = [f"u{u},m{m},r{rater},{(u * 5 + m * 3 + rater) % 11}" for u, m in pairs for rater in (0, 1)]
    for name, header, rows in (
        ("scores", "unit,model,judge,score", scores),
        ("ratings", "unit,model,rater,value", people),
    ):
        (folder / f"{name}.csv").write_text("\n".join([header, *rows]) + "\n")


def test_a_fake_endpoint(tmp_path: Path) -> None:
    """The command of the page starts a server, on a free port, that answers, and fails as a header asks."""
    (block,) = blocks_of("endpoints.md", __file__)
    words = shlex.split(block.body)
    assert words[0] == "python"
    words[words.index("--port") + 1] = str(free_port())
    process = subprocess.Popen([sys.executable, *words[1:]], cwd=tmp_path, stdout=subprocess.PIPE, text=True)
    try:
        assert process.stdout is not None
        address = process.stdout.readline().strip()
        with httpx.Client(base_url=address.removesuffix("/v1"), timeout=60) as client:
            assert client.get("/v1/models").status_code == 200
            question = {"model": "fake-vlm", "messages": [{"role": "user", "content": "Which is better?"}]}
            for fault, status in (("none", 200), ("rate_limited", 429), ("server_error", 500)):
                answer = client.post("/v1/chat/completions", json=question, headers={"x-fake-fault": fault})
                assert answer.status_code == status
            assert client.get("/fake/counts").json()["requests"] == 3
    finally:
        process.send_signal(signal.SIGINT)
        assert process.wait(timeout=60) == 0
