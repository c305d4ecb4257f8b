"""Boards: `rank` in every format, the written report, and the web pages show the same battles."""

import csv
import io
import re
from collections import Counter
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest

from tests.cross_cutting.every_reader.conftest import Asked
from tests.cross_cutting.every_reader.truth import Battle, Truth
from tests.web.people import Person

COMPARING = ("pair-judge", "quick-judge", "gpt-imported", "log-judge", "twice-judge")
SCORING = ("score-judge", "LPIPS", "CLIP-I", "turned-judge", "near-judge")
JUDGES = (*COMPARING, *SCORING, "both-judge")
ABOUT = "visual_consistency"
Record = dict[str, tuple[int, int, int]]


def standings(rows: list[dict[str, Any]]) -> Record:
    """Model to battles won, lost and tied."""
    names = ("wins", "losses", "ties") if "wins" in rows[0] else ("won", "lost", "tied")
    named = "model" if "model" in rows[0] else "editor"  # in a report
    return {row[named]: tuple(int(float(row[name])) for name in names) for row in rows}  # type: ignore[misc]


def left_out(found: dict[str, int]) -> dict[str, int]:
    """What a board leaves out of what was said; outputs that are missing are another matter."""
    return {why: number for why, number in found.items() if why != "missing_output"}


def by_winner(truth: Truth, battles: list[Battle]) -> Counter[tuple[str, ...]]:
    """Battles as rows of a table: the two models, the outcome and the item."""
    word = {"equal": "tie"}
    return Counter(
        (str(truth.editor(left)), str(truth.editor(right)), word.get(won, won), truth.outputs[left]["item_id"])
        for left, right, won in battles
    )


@pytest.fixture(params=[*JUDGES, "people"])
def board(request: pytest.FixtureRequest, truth: Truth) -> tuple[str, list[Battle], dict[str, int]]:
    """Whose board, its battles, and what it leaves out."""
    whose: str = request.param
    battles, out = truth.voted() if whose == "people" else truth.battles(whose)
    other = len((truth.voted(ABOUT) if whose == "people" else truth.battles(whose, ABOUT))[0])
    return whose, battles, {**out, **({f"about {ABOUT}, not the whole": other} if other else {})}


def test_rank(board: tuple[str, list[Battle], dict[str, int]], asked: Asked, truth: Truth) -> None:
    whose, battles, out = board
    chosen = ("--source", "people") if whose == "people" else ("--judge", whose)
    found = asked("rank", *chosen, "--interval", "none")
    assert battles
    assert standings(found["models"]) == truth.record(battles)
    assert found["n_battles"] == len(battles)
    assert left_out(found["excluded"]) == out


def test_web_board(board: tuple[str, list[Battle], dict[str, int]], admin: Person, truth: Truth) -> None:
    whose, battles, out = board
    chosen = "source=human" if whose == "people" else f"judge={whose}"
    page = admin.get(f"/api/board?{chosen}").json()
    assert standings(page["standings"]) == truth.record(battles)
    assert (page["n_battles"], left_out(page["excluded"])) == (len(battles), out)
    met = sum(cell["wins"] + cell["losses"] + cell["ties"] + cell["both_bad"] for cell in page["matrix"])
    assert met == len(battles)
    assert standings(_table(admin.get(f"/api/exports/board?{chosen}").text)) == truth.record(battles)
    rows = _table(admin.get(f"/api/exports/verdicts?{chosen}&dimension=overall").text)
    told = Counter((row["left"], row["right"], row["winner"], row["item"]) for row in rows)
    assert told == by_winner(truth, battles)
    alpha = {"left": [0, 0, 0], "right": [0, 0, 0]}
    for left, right, won in battles:
        if {truth.editor(left), truth.editor(right)} == {"alpha", "beta"}:
            side = "left" if truth.editor(left) == "alpha" else "right"
            alpha["left"][0 if won == side else 1 if won in ("left", "right") else 2] += 1
    total = admin.get(f"/api/head-to-head?left=alpha&right=beta&{chosen}").json()["total"]
    assert [total["wins"], total["losses"], total["ties"] + total["both_bad"]] == alpha["left"]


def _table(text: str) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(text)))


def test_rank_of_one_dimension(asked: Asked, truth: Truth) -> None:
    for whose in ("people", "pair-judge", "score-judge"):
        chosen = ("--source", "people") if whose == "people" else ("--judge", whose)
        found = asked("rank", *chosen, "--dimension", ABOUT, "--interval", "none")
        battles = truth.voted(ABOUT)[0] if whose == "people" else truth.battles(whose, ABOUT)[0]
        assert standings(found["models"]) == truth.record(battles), whose


def test_rank_of_all_judges_together_and_of_everybody(asked: Asked, truth: Truth) -> None:
    battles = [battle for judge in JUDGES for battle in truth.battles(judge)[0]]
    found = asked("rank", "--judge", "all", "--interval", "none")
    assert standings(found["models"]) == truth.record(battles)
    battles += truth.voted()[0]
    found = asked("rank", "--source", "all", "--interval", "none")
    assert standings(found["models"]) == truth.record(battles)


def test_rank_by_task(asked: Asked, truth: Truth) -> None:
    groups = asked("rank", "--source", "people", "--by", "task", "--interval", "none")["boards"]
    for group in groups:
        task = group["scope"]["task"]
        battles = [one for one in truth.voted()[0] if truth.items[truth.outputs[one[0]]["item_id"]]["task"] == task]
        assert standings(group["models"]) == truth.record(battles), task
    assert sum(group["n_battles"] for group in groups) == len(truth.voted()[0])


@pytest.mark.parametrize("judge", ["twice-judge", "turned-judge"])
def test_rank_prints_the_same_in_every_format(judge: str, asked: Asked, truth: Truth) -> None:
    expected = truth.record(truth.battles(judge)[0])
    printed = {form: asked.text("rank", "--judge", judge, "--interval", "none", f"--{form}") for form in FORMATS}
    assert standings(_table(printed["csv"])) == expected
    assert standings(_markdown(_first_table(printed["markdown"]).splitlines())) == expected
    assert standings(_latex(_first_table(printed["latex"]))) == expected


FORMATS = ("csv", "markdown", "latex")


def _first_table(text: str) -> str:
    """The standings, without the figures over samples below them."""
    return text.partition("Samples: ")[0]


def _markdown(lines: list[str]) -> list[dict[str, str]]:
    cells = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines if line.startswith("| ")]
    return [dict(zip(cells[0], row, strict=True)) for row in cells[1:]]


def _latex(text: str) -> list[dict[str, str]]:
    lines = [line.removesuffix("\\\\").strip() for line in text.splitlines() if line.endswith("\\\\")]
    cells = [
        [re.sub(r"\\multicolumn\{1\}\{.\}\{(.*)\}", r"\1", cell.strip()) for cell in line.split("&")] for line in lines
    ]
    return [dict(zip(cells[0], row, strict=True)) for row in cells[1:]]


# ---------------------------------------------------------------- the report


def report_boards(truth: Truth) -> dict[str, list[Battle]]:
    """Every board that a report shows, by title: scores and comparisons of a judge are apart."""
    people = "verdicts of people"
    boards = {people: truth.voted()[0], f"{people} about {ABOUT}": truth.voted(ABOUT)[0]}
    for judge in JUDGES:
        for about, title in (("overall", judge), (ABOUT, f"{judge} about {ABOUT}")):
            boards[f"pairs compared by the judge {title}"] = truth.between_models(truth.fought(judge, about), Counter())
            boards[f"scores of the judge {title}"] = truth.between_models(truth.scored(judge, about), Counter())
    return {title: battles for title, battles in boards.items() if battles}


class Headed(HTMLParser):
    """The first table below each heading of a page, and the text between."""

    def __init__(self) -> None:
        super().__init__()
        self.tables: dict[str, list[list[str]]] = {}
        self.texts: dict[str, str] = {}
        self._title, self._inside = "", ""

    def handle_starttag(self, tag: str, attrs: Any) -> None:  # noqa: ARG002 - the name is the base class's
        self._inside = tag
        if tag == "h2":
            self._title = ""
        elif tag == "tr" and self._title:
            self.tables[self._title].append([])

    def handle_endtag(self, tag: str) -> None:
        if tag == "h2":
            self.tables[self._title], self.texts[self._title] = [], ""

    def handle_data(self, data: str) -> None:
        if self._inside == "h2" and data.strip():
            self._title += data
        elif self._inside in ("th", "td") and self._title and data.strip():
            self.tables[self._title][-1].append(data)
        elif self._title in self.texts:
            self.texts[self._title] += data


@pytest.mark.slow
def test_report(asked: Asked, tmp_path: Path, truth: Truth) -> None:
    asked("report", tmp_path / "report", "--gallery", 0)
    expected = report_boards(truth)
    page = Headed()
    page.feed((tmp_path / "report" / "index.html").read_text(encoding="utf-8"))
    pages = {title.removeprefix("Leaderboard: "): title for title in page.tables if title.startswith("Leaderboard: ")}
    assert set(expected) <= set(pages)
    added = {title for title in pages if title not in expected}
    added -= {"verdicts of people about PQ", "verdicts of people about SC"}  # of each criterion that people rated
    assert len(added) <= 1, "beside these only the board that `rank` shows"
    text = (tmp_path / "report" / "report.md").read_text(encoding="utf-8")
    parts = dict(part.split("\n", 1) for part in text.split("\n## Leaderboard: ")[1:])
    assert set(parts) == set(pages)
    for title, battles in expected.items():
        head, *rows = page.tables[pages[title]]
        shown = [dict(zip(head, row, strict=True)) for row in rows if len(row) == len(head) and row != head]
        assert standings(shown[: len(truth.record(battles))]) == truth.record(battles), title
        assert f"{len(battles)} battles;" in page.texts[pages[title]]
        table = parts[title].split("\n\n| rank")[1]
        rank = _markdown(f"| rank{table}".split("\n\n")[0].splitlines())
        assert standings(rank) == truth.record(battles), title
        assert f"{len(battles)} battles;" in parts[title]
    _check_issues(truth, _markdown(text.split("## What raters found wrong")[1].split("\n## ")[0].splitlines()), ISSUES)


ISSUES = {"things": "object", "segments": "segment", "new image": "new_image", "returned input": "returned_input"}
"""Column of the report to the kind of issue."""


def _check_issues(truth: Truth, rows: list[dict[str, Any]], names: dict[str, str]) -> None:
    rated = [row for row in truth.votes if row["right_id"] is None]
    ratings = Counter(truth.editor(row["left_id"]) for row in rated)
    issues = Counter((truth.editor(row["left_id"]), issue["kind"]) for row in rated for issue in row.get("issues", ()))
    assert {row["editor"]: int(row["ratings"]) for row in rows} == ratings
    told = {(row["editor"], kind): int(row[name]) for row in rows for name, kind in names.items()}
    assert {place: number for place, number in told.items() if number} == issues


def test_page_of_issues(admin: Person, truth: Truth) -> None:
    names = {"objects": "object", "segments": "segment", "new_image": "new_image", "returned_input": "returned_input"}
    _check_issues(truth, admin.get("/api/heat-map").json()["editors"], names)
