"""Code blocks of the documentation, and a folder in which they run: an arena, tables, outputs and images by their names."""

import ast
import csv
import re
import shlex
import shutil
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from PIL import Image

from imarena.storage import open_workspace
from tests.conftest import ROOT
from tests.small_data.small_arena import HABITS, make_arena, write_folders

PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
SHELL = ("sh", "bash", "console")
CHECKED = (*SHELL, "python", "yaml", "toml", "json")
MARK = re.compile(r"<!-- (run by|after): (\S[^>]*?) -->")
_FENCE = re.compile(r"^(?P<blank> *)```(?P<language>\w*)[^\n]*\n(?P<body>.*?)^(?P=blank)```", re.MULTILINE | re.DOTALL)


@dataclass(frozen=True)
class Block:
    """A fenced block of a page, and the mark above it.

    `run by`: the test that runs it, or .ci/run; `after`: what people do before it, a function of people.py.
    """

    page: str
    line: int
    language: str
    body: str
    mark: str
    reason: str

    @property
    def where(self) -> str:
        """The page and the line."""
        return f"{self.page}:{self.line}"

    def calls(self) -> list[list[str]]:
        """The words of each call of a shell block, whichever program it names. Raises `ValueError` for a pipe."""
        lines = self.body.replace("\\\n", " ").splitlines()
        if self.language == "console":
            lines = [line.removeprefix("$ ") for line in lines if line.startswith("$ ")]
        found = [shlex.split(part, comments=True) for line in lines for part in line.split(" && ")]
        if any(word in ("|", ">", "<", ";") for words in found for word in words):
            raise ValueError(f"{self.where}: a pipe or a redirection, which no test runs: write the call without it")
        return [words for words in found if words]

    def commands(self) -> list[list[str]]:
        """The calls of imarena, without its name. Raises `ValueError` for a call of another program."""
        for words in self.calls():
            if words[0] != "imarena":
                raise ValueError(f"{self.where}: not a call of imarena: {shlex.join(words)}")
        return [words[1:] for words in self.calls()]


def blocks() -> Iterator[Block]:
    """Every fenced block of every page."""
    for page in PAGES:
        text = page.read_text(encoding="utf-8")
        for found in _FENCE.finditer(text):
            above = text[: found.start()].rstrip("\n").rsplit("\n", 1)[-1]
            mark = MARK.search(above)
            yield Block(
                page.relative_to(ROOT).as_posix(), text[: found.start()].count("\n") + 1, found["language"],
                found["body"], mark[1] if mark else "", mark[2] if mark else "",
            )  # fmt: skip


def blocks_of(page: str, test: str) -> list[Block]:
    """The blocks of a page (a guide by its file name) that are marked as run by this file of tests, in their order."""
    mark = (page if "/" in page else f"docs/guide/{page}", "run by", Path(test).relative_to(ROOT).as_posix())
    found = [block for block in blocks() if (block.page, block.mark, block.reason) == mark]
    assert found, f"{page} has no block that {test} runs"
    return found


def pages_run(source: str) -> set[str]:
    """The pages whose blocks a file of tests takes to run them: `blocks_of("PAGE", __file__)`, in words, in its source."""
    calls = [node for node in ast.walk(ast.parse(source)) if isinstance(node, ast.Call)]
    named = [ast.unparse(call) for call in calls if isinstance(call.func, ast.Name) and call.func.id == "blocks_of"]
    found = [re.fullmatch(r"blocks_of\('(\S+)', __file__\)", call) for call in named]
    return {match[1] if "/" in match[1] else f"docs/guide/{match[1]}" for match in found if match}


def indented_commands() -> list[str]:
    """Commands in indented blocks, which no test runs: they belong into fences."""
    return [
        f"{page.relative_to(ROOT).as_posix()}: {line.strip()}"
        for page in PAGES
        for line in _FENCE.sub("", page.read_text(encoding="utf-8")).splitlines()
        if re.match(r" {4,}(\$ )?(imarena|make|pip|python|from|import) ", line)
    ]


def prepare(folder: Path) -> None:
    """Fill the folder that pages are run in."""
    make_arena(folder / "arena")
    write_folders(folder / "arena", folder / "mybench")
    for name in ("items.csv", "instructions.csv"):
        shutil.copy(folder / "mybench/items.csv", folder / name)
    shutil.copytree(folder / "mybench/sources", folder / "sources")
    outputs = folder / "mybench/outputs"
    for name, made in (("new", "studio-exact"), ("old", "studio-artefacts")):
        shutil.copytree(outputs / made, folder / "outputs" / name)
    _own_columns(folder / "mybench", folder / "photos")
    source = next((folder / "sources").iterdir())
    for name in ("cup.png", "source.png", "photo.jpg"):
        Image.open(source).convert("RGB").save(folder / name)
    Image.new("L", Image.open(source).size, 255).save(folder / "mask.png")
    for name in ("edited.png", "output.png", "old.png", "new.png"):
        Image.open(outputs / "studio-exact" / f"{source.stem}.png").save(folder / name)
    _table(folder / "votes.csv", "left,right,winner,item,rater", _votes())
    battles = [(*row, ("colour", "removal")[n // 24]) for n, row in enumerate(_votes())]
    _table(folder / "battles.csv", "left,right,winner,item,rater,task", battles)
    _table(folder / "lmarena.csv", "model,rating", _leaderboard())
    keys = [path.stem for path in sorted((folder / "sources").iterdir())[:2]]
    known = [
        (key, "studio-exact", "studio-artefacts", "left", use)
        for key, use in zip(keys, ("gold", "practice"), strict=True)
    ]
    _table(folder / "known.csv", "item,left,right,winner,use", known)
    _write_parquet(folder / "arena.parquet")
    models = ("ash", "elm")
    ratings = [
        (f"u{n}", models[m], f"r{r}", (n * 2 + m + r % 2) % 5) for n in range(8) for m in (0, 1) for r in range(3)
    ]
    _table(folder / "ratings.csv", "unit,model,rater,value", ratings)
    scores = [
        (f"u{n}", models[m], judge, (n * 2 + m) % 5 + n / 10)
        for judge in ("gpt4o", "LPIPS")
        for n in range(8)
        for m in (0, 1)
    ]
    _table(folder / "scores.csv", "unit,model,judge,score", scores)


def _own_columns(bench: Path, folder: Path) -> None:
    """A benchmark whose table has names of its own and one column more, as in the README."""
    shutil.copytree(bench / "sources", folder / "sources")
    with (bench / "items.csv").open(newline="", encoding="utf-8") as file:
        items = list(csv.DictReader(file))
    rows = [(row["key"], row["instruction"], row["source"], ("ann", "bob")[n % 2]) for n, row in enumerate(items)]
    _table(folder / "items.csv", "id,prompt,image,photographer", rows)


def _votes() -> list[tuple[object, ...]]:
    models, winners = ("ash", "elm", "oak"), ("left", "right", "left", "tie")
    return [(models[n % 3], models[(n + 1) % 3], winners[n % 4], f"i{n % 8}", f"r{n % 2}") for n in range(48)]


def _leaderboard() -> list[tuple[object, ...]]:
    """Another board, with one name of its own."""
    names = ("Ash 1.5", "elm", "oak", *(f"studio-{habit}" for habit in HABITS))
    return [(name, 1200 - 10 * place) for place, name in enumerate(names)]


def _write_parquet(path: Path) -> None:
    """Battles with the column names of another arena."""
    import pyarrow
    import pyarrow.parquet

    rows = [
        {"model_a": left, "model_b": right, "winner": {"left": "model_a", "right": "model_b"}.get(str(winner), winner)}
        for left, right, winner, *_ in _votes()
    ]
    pyarrow.parquet.write_table(pyarrow.Table.from_pylist(rows), path)


def _table(path: Path, header: str, rows: Sequence[tuple[object, ...]]) -> None:
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(header.split(","))
        writer.writerows(rows)


def judge_arena(folder: Path) -> None:
    """Scores and battles of the built-in judge in the arena, and copies of it: the demo's, and an earlier one."""
    from tests.small_data.small_arena import battle_all

    with open_workspace(folder / "arena") as workspace:
        battle_all(workspace)
    for copy in ("imarena-demo", "last-month"):
        shutil.copytree(folder / "arena", folder / copy)
