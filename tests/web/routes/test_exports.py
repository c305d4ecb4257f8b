"""Tables to be saved: the same as on the page, safe in a spreadsheet and in a page, sent in pieces."""

import csv
import io
import json
from pathlib import Path
from typing import Any

import pytest
from fastapi import FastAPI
from hypothesis import example, given
from hypothesis import strategies as st

from imarena.core.records import Ranking
from imarena.ranking.boards.from_tables import rank
from imarena.reports.rank_tables import board_data
from imarena.reports.tables import Column, Table, streamed_table, to_csv, write_csv
from imarena.reports.tables.csv import FORMULA_STARTS
from imarena.storage import init_workspace
from imarena.web.app import create_app
from tests.command import Imarena
from tests.web.looked_at import CRITERION, looked_at
from tests.web.people import Person, administrator, campaign, fill, rater, settings_of

ANYBODY = ("board", "matrix", "history", "issues", "verdicts", "battles", "items", "judges")
INSIDE = ("runs",)
LEADS = ("votes", "ratings")


@pytest.fixture(scope="module")
def app(tmp_path_factory: pytest.TempPathFactory) -> FastAPI:
    """One server; these tests only look."""
    return looked_at(tmp_path_factory.mktemp("export") / "arena", public=True)


@pytest.fixture(scope="module")
def admin(app: FastAPI) -> Person:
    """Somebody who may see everything."""
    return administrator(app)


def saved(person: Person, path: str) -> list[dict[str, str]]:
    """A table's rows."""
    answer = person.get(f"/api/exports/{path}")
    assert answer.status_code == 200, answer.text
    assert answer.headers["content-disposition"].startswith("attachment")
    return list(csv.DictReader(io.StringIO(answer.text)))


def test_both_forms_hold_the_same_rows(admin: Person) -> None:
    for name in (*ANYBODY, *INSIDE, *LEADS, "head-to-head"):
        more = "left=ash&right=birch" if name == "head-to-head" else ""
        rows = saved(admin, f"{name}?{more}")
        answer = admin.get(f"/api/exports/{name}?format=json&{more}")
        assert answer.headers["content-type"] == "application/json"
        assert 'filename="' in answer.headers["content-disposition"]
        told = answer.json()
        assert len(rows) == len(told) > 0, name
        assert list(rows[0]) == list(told[0]), name


def test_a_table_keeps_the_filters_of_its_page(admin: Person) -> None:
    chosen = "source=human&dimension=overall&task=even-task"
    page = admin.get(f"/api/board?{chosen}").json()
    assert [row["model"] for row in saved(admin, f"board?{chosen}")] == [one["model"] for one in page["standings"]]
    assert {row["signature"] for row in saved(admin, f"board?{chosen}")} == {page["signature"]} != {""}
    assert len(saved(admin, f"verdicts?{chosen}")) == page["n_battles"] == 6
    assert len(saved(admin, f"battles?{chosen}")) == 6
    assert len(saved(admin, f"battles?{chosen}&left=ash&right=birch")) == 2
    assert {row["task"] for row in saved(admin, "items?task=odd-task")} == {"odd-task"}
    assert sum(int(row["wins"]) + int(row["losses"]) for row in saved(admin, f"matrix?{chosen}")) == 6
    duel = saved(admin, f"head-to-head?{chosen}&left=ash&right=cedar")
    assert [(row["task"], row["wins"]) for row in duel] == [("", "2"), ("even-task", "2")]
    assert len(saved(admin, f"history?{chosen}&points=2")) == 2 * 3
    assert [row["count"] for row in saved(admin, "issues?editor=ash") if row["kind"] == "thing"] == ["4"]
    clicked = {(row["editor"], row["kind"]): row["count"] for row in saved(admin, "issues") if row["editor"]}
    assert {clicked[name, "ratings"] for name in ("ash", "birch", "cedar")} == {"4"}
    assert clicked["ash", "new_image"] == "0"


def test_the_command_line_reads_what_was_saved(admin: Person, tmp_path: Path, imarena: Imarena) -> None:
    """Verdicts can be ranked and ratings compared, outside of the arena."""
    verdicts, ratings = tmp_path / "verdicts.csv", tmp_path / "ratings.csv"
    verdicts.write_bytes(admin.get("/api/exports/verdicts?judge=oak&task=even-task").content)
    assert [one.model for one in rank(verdicts).models] == ["ash", "birch", "cedar"]
    votes = tmp_path / "votes.csv"
    votes.write_bytes(admin.get("/api/exports/votes").content)
    assert rank(votes).n_battles == 24
    ratings.write_bytes(admin.get("/api/exports/ratings").content)
    assert CRITERION in imarena("--json", "agree", "--from", str(ratings)).out


def test_who_may_save_what(app: FastAPI, admin: Person) -> None:
    visitor, viewer = Person(app), rater(app, admin, campaign(admin, name="later"), role="viewer")
    for name in ANYBODY:
        assert visitor.get(f"/api/exports/{name}").status_code == 200, name
    for name in INSIDE:
        assert (visitor.get(f"/api/exports/{name}").status_code, viewer.get(f"/api/exports/{name}").status_code) == (
            401, 200,
        )  # fmt: skip
    for name in (*LEADS, "agreement?campaign_id=x", "raters?campaign_id=x"):
        assert (visitor.get(f"/api/exports/{name}").status_code, viewer.get(f"/api/exports/{name}").status_code) == (
            401, 403,
        )  # fmt: skip
    assert "rater" not in visitor.get("/api/exports/verdicts").text
    assert "rater" in admin.get("/api/exports/verdicts").text


def test_a_campaigns_tables(tmp_path: Path) -> None:
    with init_workspace(tmp_path / "arena") as workspace:
        fill(workspace, items=2)
    app = create_app(settings_of(tmp_path / "arena"))
    admin = administrator(app)
    one, other = campaign(admin, name="one", raters_per_unit=2), campaign(admin, name="other")
    for number in (5, 6):
        person = rater(app, admin, one, name=f"=2+{number}")
        while (task := person.next(one)["task"]) is not None:
            person.vote(task, preference="left", comment="=HYPERLINK(1)")
    rows = saved(admin, f"votes?campaign_id={one}")
    assert len(rows) == 12
    assert {row["comment"] for row in rows} == {"'=HYPERLINK(1)"}
    assert saved(admin, f"votes?campaign_id={other}") == []
    assert {row["name"] for row in saved(admin, f"raters?campaign_id={one}")} == {"'=2+5", "'=2+6"}
    (agreed,) = saved(admin, f"agreement?campaign_id={one}")
    assert agreed["criterion"] == "preference"
    assert admin.get("/api/exports/votes?campaign_id=none").status_code == 404


CELLS = st.one_of(st.none(), st.integers(), st.floats(), st.text(), st.dictionaries(st.text(), st.integers()))


@given(st.lists(st.tuples(CELLS, CELLS), max_size=5))
@example([("fine\r=1+1", "fine\r\n=1+1")])
def test_no_cell_starts_a_formula_and_no_document_ends_a_script(rows: list[tuple[Any, Any]]) -> None:
    """Whatever is in a cell: CSV reads back with as many rows, JSON with the same values."""
    text = b"".join(streamed_table(("one", "=two"), rows, "csv")).decode()
    read = list(csv.reader(io.StringIO(text)))
    assert len(read) == len(rows) + 1
    numbers = [str(value) for row in rows for value in row if isinstance(value, int | float)]
    for row in read:
        assert not [cell for cell in row if cell.startswith(FORMULA_STARTS) and cell not in numbers]
    document = b"".join(streamed_table(("one", "two"), rows, "json")).decode()
    assert not set("<>&\u2028\u2029") & set(document)
    told = json.loads(document)
    assert [one["one"] for one in told if isinstance(one["one"], str)] == [
        row[0] for row in rows if isinstance(row[0], str)
    ]


def test_tables_of_the_command_line_start_no_formula_either(tmp_path: Path) -> None:
    hostile = ("=1+1", "fine\r=1+1", "@x")
    path = tmp_path / "sheet.csv"
    write_csv(Table((Column("name"), Column("figure")), tuple((name, -1.5) for name in hostile)), path)
    known = {"rating": -1.5, "low": None, "high": None, "rank": 1, "rank_low": None, "rank_high": None, "battles": 1}
    models = [{"model": name, "wins": 1, "losses": 0, "ties": 0, **known} for name in hostile]
    board = to_csv(
        board_data([Ranking.model_validate({"method": "bt", "settings": {}, "models": models, "n_battles": 1})])
    )
    for text in (path.read_bytes().decode(), board):
        rows = list(csv.reader(io.StringIO(text, newline="")))
        assert len(rows) == 1 + len(hostile)
        assert [row[0] for row in rows[1:]] == ["'=1+1", "fine\n=1+1", "'@x"]
        assert all("-1.5" in row for row in rows[1:])


def test_a_large_table_is_sent_in_pieces() -> None:
    """The first piece goes out before the last row was asked for."""
    asked = []

    def rows() -> Any:
        for n in range(50_000):
            asked.append(n)
            yield (n, "x" * 20)

    pieces = streamed_table(("n", "text"), rows(), "csv")
    assert len(next(pieces)) < 100_000
    assert len(asked) < 5_000
    assert sum(len(piece) for piece in pieces) > 1_000_000
