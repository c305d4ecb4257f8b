"""What counts has one answer, and a signature holds all that changes numbers: cases where readers once differed."""

import json
from pathlib import Path
from typing import Any

import pytest

from imarena.core.records import Item, Judgment, Order, Outcome, Output, Rater, Record, Status, Vote
from imarena.storage import init_workspace, open_workspace
from tests import samples
from tests.command import Imarena
from tests.workflow.active_elo.routed_arena import assigned, vote_all
from tests.workflow.active_elo.routed_arena import fill as fill_route

EDITORS = ("a", "b")
Row = tuple[Item, Output, Output]


def pairs(count: int = 8) -> list[Row]:
    items = [samples.item(f"k{number}") for number in range(count)]
    return [(item, samples.output(item, "a"), samples.output(item, "b")) for item in items]


def scored(output: Output, value: float, **more: Any) -> Judgment:
    work = f"{output.output_id}{value}{sorted(more.items())}"
    return Judgment(work_id=work, judge="robot", item_id=output.item_id, left_id=output.output_id, score=value, **more)


def compared(left: Output, right: Output, order: Order, said: Outcome = Outcome.LEFT, **more: Any) -> Judgment:
    return Judgment(
        work_id=f"{left.output_id}{order}{sorted(more.items())}", judge="robot", item_id=left.item_id,
        left_id=left.output_id, right_id=right.output_id, preference=said, order=order, **more,
    )  # fmt: skip


def fill(root: Path, records: list[Record]) -> Path:
    with init_workspace(root) as workspace:
        assert not workspace.store.add(records).conflicts
    return root


def voted(rows: list[Row]) -> list[Record]:
    """A vote on every pair; one in four is for the right side."""
    rater = Rater(rater_id="ann")
    said = [Outcome.RIGHT if number % 4 == 3 else Outcome.LEFT for number in range(len(rows))]
    cast = [
        samples.vote(rater, left, right, key=item.key, preference=one)
        for (item, left, right), one in zip(rows, said, strict=True)
    ]
    return [rater, *cast]


def parts_of(imarena: Imarena, line: str) -> dict[str, str]:
    return {part["name"]: part["value"] for part in imarena("--json", "signature", line).json["parts"]}


def board(imarena: Imarena, root: Path, *words: object) -> Any:
    return imarena("-w", root, "--json", "rank", "--interval", "none", *words).json


def signature(document: Any) -> str:
    return str(document["settings"]["signature"])


# ---------------------------------------------------------------- imported and own verdicts of one judge


@pytest.mark.parametrize("own_first", [False, True])
def test_imported_scores_beside_own_scores_are_the_same_for_rank_and_route(
    imarena: Imarena, tmp_path: Path, own_first: bool
) -> None:
    """Imported scores say a on six of eight items, own ones b by far on all; the first score of an output counts."""
    rows = pairs()
    records: list[Record] = [record for row in rows for record in row]
    imported: list[Record] = []
    own: list[Record] = []
    for number, (_, left, right) in enumerate(rows):
        imported += [scored(left, 6.0 if number < 6 else 4.0), scored(right, 5.0)]
        own += [scored(left, 0.0, run_id="run"), scored(right, 9.0, run_id="run")]
    root = fill(tmp_path / "w", [*records, *(own + imported if own_first else imported + own)])
    ranked = board(imarena, root, "--judge", "robot")
    words = ("--judge", "robot", "--settings", "judge", "--rounds", "20")
    (routed,) = imarena("-w", root, "--json", "route", "rerank", *words).json["boards"]
    wins = [{row["model"]: row["wins"] for row in one["models"]} for one in (ranked, routed)]
    assert wins[0] == wins[1] == ({"a": 0, "b": 8} if own_first else {"a": 6, "b": 2})


def test_one_own_battle_does_not_make_imported_ones_incomplete(imarena: Imarena, tmp_path: Path) -> None:
    """A battle fought here in both orders says nothing on whether the source of imported ones had both."""
    rows = pairs(9)
    rater = Rater(rater_id="ann")
    records: list[Record] = [rater, *(record for row in rows for record in row)]
    records += [compared(left, right, Order.LEFT_FIRST) for _, left, right in rows[:8]]
    _, left, right = rows[8]
    made: dict[str, Any] = {"run_id": "run", "judge_version": "1"}
    records += [compared(left, right, order, **made) for order in (Order.LEFT_FIRST, Order.RIGHT_FIRST)]
    records += [samples.vote(rater, left, right, key=item.key) for item, left, right in rows]
    root = fill(tmp_path / "w", records)
    found = board(imarena, root, "--judge", "robot")
    assert (found["n_battles"], found["excluded"]) == (9, {})
    (group,) = imarena("-w", root, "--json", "align", "--judge", "robot").json["verdicts"]["groups"]
    assert (group["n"], group["n_missing"]) == (9, 0)
    (one,) = imarena("-w", root, "--json", "health").json["judges"]
    assert next(line["n"] for line in one["lines"] if line["name"] == "decisive_accuracy") == 9


def test_an_export_for_genarena_holds_only_what_counts(imarena: Imarena, tmp_path: Path) -> None:
    """Version 1 says a everywhere, version 2 says b; superseded judgments and version 1 are not written."""
    rows = pairs(3)
    records: list[Record] = [record for row in rows for record in row]
    for version, said in (("1", Outcome.LEFT), ("2", Outcome.RIGHT)):
        for _, left, right in rows:
            made: dict[str, Any] = {"run_id": f"run_{version}", "judge_version": version}
            records += [compared(left, right, order, said, **made) for order in (Order.LEFT_FIRST, Order.RIGHT_FIRST)]
    root = fill(tmp_path / "w", records)
    told = imarena("-w", root, "--json", "export", "genarena", "out", "-o", "dataset=test", code=3)
    lines = [
        json.loads(line)
        for path in sorted((tmp_path / "out" / "arena").rglob("*.jsonl"))
        if "audit" not in str(path.parent)
        for line in path.read_text().splitlines()
    ]
    assert [line["final_winner"] for line in lines] == ["b", "b", "b"]
    left_out = [text["reason"] for text in told.json["skipped"] if text["file"] == "judgments"]
    assert left_out == ["6 left out: by an earlier version, prompt or setting of the judge"]


# ---------------------------------------------------------------- signatures


def test_weighing_by_the_chance_of_being_asked_is_in_the_signature(imarena: Imarena, tmp_path: Path) -> None:
    root, sheet = tmp_path / "arena", tmp_path / "sheet.csv"
    with init_workspace(root) as workspace:
        fill_route(workspace, n_items=8)
    assigned(imarena, root, sheet, "--budget", 30, "--raters", "ann", "--repeats", "0")
    imarena("-w", root, "route", "ingest", vote_all(root, sheet, 1))

    def rerank(*words: str) -> Any:
        return imarena("-w", root, "--json", "route", "rerank", "--rounds", "20", *words).json["boards"][0]

    plain, weighed = rerank(), rerank("--weigh-routing")
    assert signature(plain) != signature(weighed)
    ratings = [[row["rating"] for row in one["models"]] for one in (plain, weighed)]
    assert ratings[0] != pytest.approx(ratings[1])
    assert signature(rerank("--weigh-routing")) == signature(weighed)
    assert parts_of(imarena, signature(weighed))["weigh_routing"] == "true"


def test_where_a_board_went_on_from_is_in_the_signature(imarena: Imarena, tmp_path: Path) -> None:
    for name, text in (("one", "a,b,left\na,b,left\n"), ("other", "a,b,right\na,b,left\n"), ("more", "a,b,tie\n")):
        (tmp_path / f"{name}.csv").write_text(f"left,right,winner\n{text}")

    def elo(name: str, resume: str = "") -> Any:
        words = ("--method", "elo", "--interval", "none", *(("--resume", resume) if resume else ()))
        return imarena("--json", "rank", "--from", f"{name}.csv", *words)

    for name in ("one", "other"):
        (tmp_path / f"{name}.json").write_text(elo(name).out)
    lines = [signature(elo("more", resume).json) for resume in ("", "one.json", "other.json")]
    assert len(set(lines)) == 3
    (tmp_path / "again.json").write_text(elo("one").out)
    assert signature(elo("more", "again.json").json) == lines[1]


def test_coverage_and_missing_outputs_are_in_the_signature(imarena: Imarena, tmp_path: Path) -> None:
    """The second workspace has one item more, for which b has no output; the last one an item that nobody edited."""
    rows = pairs()
    records: list[Record] = [record for row in rows for record in row] + voted(rows)
    extra = samples.item("extra")
    failed = samples.output(extra, "b").model_copy(update={"status": Status.REFUSED})
    roots = [
        fill(tmp_path / "one", records),
        fill(tmp_path / "two", [*records, extra, samples.output(extra, "a"), failed]),
        fill(tmp_path / "copy", records),
        fill(tmp_path / "last", [*records, extra]),
    ]
    one, two, copy, last = (board(imarena, root, "--source", "people") for root in roots)
    assert [one["n_battles"], two["n_battles"]] == [8, 8]
    assert signature(one) == signature(copy)
    assert one["models"] == copy["models"]
    assert len({signature(found) for found in (one, two, last)}) == 3
    assert [row["coverage"] for row in last["models"]] == [pytest.approx(8 / 9)] * 2
    assert [row["coverage"] for row in one["models"]] != [row["coverage"] for row in two["models"]]
    lost = board(imarena, roots[1], "--source", "people", "--missing", "loss")
    assert signature(lost) != signature(two)
    assert lost["n_battles"] == 9
    assert parts_of(imarena, signature(lost))["missing"] == "loss"


def test_the_signature_of_a_weighed_board_has_the_judges_version(imarena: Imarena, tmp_path: Path) -> None:
    rows = pairs()
    lines = []
    for version in ("7", "8"):
        records: list[Record] = [record for row in rows for record in row] + voted(rows)
        for _, left, right in rows:
            records += [scored(one, value, run_id="r", judge_version=version) for one, value in ((left, 1), (right, 0))]
        found = board(imarena, fill(tmp_path / version, records), "--method", "corrected")
        assert parts_of(imarena, signature(found))["judge"] == f"robot@{version}"
        lines.append(signature(found))
    assert len(set(lines)) == 2


# ---------------------------------------------------------------- what is left out is counted


def test_votes_on_other_samples_are_counted_as_left_out(imarena: Imarena, tmp_path: Path) -> None:
    """A board that weighs people against a judge shows one sample of each editor; a vote on another is named."""
    rows = pairs()
    records: list[Record] = [record for row in rows for record in row] + voted(rows)
    for _, left, right in rows:
        records += [scored(left, 1.0), scored(right, 0.0)]
    for item, left, _ in rows[:2]:
        second = samples.output(item, "b", sample=1)
        records += [second, samples.vote(Rater(rater_id="ann"), left, second, key=f"second {item.key}")]
    root = fill(tmp_path / "w", records)
    found = board(imarena, root, "--method", "corrected")
    assert found["n_battles"] == 8
    assert found["excluded"] == {"votes on other modes, turns or samples": 2}
    shown = imarena("-w", root, "rank", "--method", "corrected", "--interval", "none").out
    assert "2 votes on other modes, turns or samples" in " ".join(shown.split())
    with open_workspace(root) as workspace:
        assert workspace.store.count(Vote) == {(): 10}
