"""`export scores`: one CSV of what judges said, with all digits, and why a row does not count."""

import csv
import json
from pathlib import Path

import pytest

from imarena.core.records import Judgment, Mode, Order, Outcome, Rater, Status, Turn, Vote
from imarena.storage import init_workspace
from tests.command import Imarena
from tests.samples import item, judgment, output, vote

THIRD = 1 / 3


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """Scores of two outputs (one asked twice, one read again), a failure, and a pair in one order; ratings of both."""
    folder = tmp_path / "a"
    with init_workspace(folder) as workspace:
        one, rater = item("one"), Rater(rater_id="ann")
        left, right = output(one, "=alpha"), output(one, "beta")
        workspace.store.add([one, rater, left, right])

        def add(**changes: object) -> Judgment:
            pair = changes.pop("pair", False)
            facts = judgment(changes.pop("about", left), right if pair else None, str(changes)).model_dump(  # type: ignore[arg-type]
                exclude={"created_at"}
            )
            made = Judgment(**{**facts, **changes})
            workspace.store.add([made])
            return made

        add(score=THIRD, reasons={"why": "=1+1"}, scores={"colour": 0.1 + 0.2}, judge_version="2")
        add(score=0.25, repeat=1, judge_version="2")
        old = add(score=0.5, about=right, judge_version="2")
        add(score=-1e-17, about=right, judge_version="2", supersedes=old.judgment_id)
        add(score=0.9, judge_version="1", judge="test-judge")
        add(score=None, status=Status.UNPARSABLE, error="no number", repeat=2, judge_version="2")
        add(pair=True, score=None, preference=Outcome.RIGHT, order=Order.LEFT_FIRST, confidence=0.75)
        add(score=0.7, judge_version="2", repeat=3)  # the newest version is the one of the last judgment
        for made, mark in ((left, 4), (right, 1)):
            workspace.store.add([
                Vote(
                    rater_id="ann", item_id=one.item_id, left_id=made.output_id, ratings={"overall": mark},
                    scale=(1, 5), idempotency_key=made.output_id,
                )
            ])  # fmt: skip
    return folder


def rows(path: Path) -> list[dict[str, str]]:
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def test_what_counts_is_written_with_all_digits(imarena: Imarena, root: Path, tmp_path: Path) -> None:
    document = imarena("-w", root, "--json", "export", "scores", "scores.csv").json
    assert document["rows"] == {"score": 4, "verdict": 1}
    written = rows(tmp_path / "scores.csv")
    scores = [row for row in written if row["kind"] == "score"]
    assert [float(row["score"]) for row in scores] == [THIRD, 0.25, -1e-17, 0.7]
    assert [(row["unit"], row["model"], row["repeat"]) for row in scores] == [
        ("one", "'=alpha", "0"), ("one", "'=alpha", "1"), ("one", "beta", "0"), ("one", "'=alpha", "3"),
    ]  # fmt: skip
    assert json.loads(scores[0]["reasons"]) == {"why": "=1+1"}
    assert json.loads(scores[0]["scores"]) == {"colour": 0.1 + 0.2}
    (verdict,) = [row for row in written if row["kind"] == "verdict"]
    assert (verdict["model"], verdict["other_model"], verdict["preference"]) == ("'=alpha", "beta", "right")
    assert (verdict["order"], verdict["confidence"], verdict["score"]) == ("left_first", "0.75", "")
    assert "not_counted" not in written[0]
    assert not any(cell.startswith(("=", "+", "@")) for row in written for cell in row.values())


def test_all_rows_and_why_some_do_not_count(imarena: Imarena, root: Path, tmp_path: Path) -> None:
    printed = imarena("-w", root, "export", "scores", "out", "--all").out
    assert "7 scores, 1 verdict" in printed
    assert "does not count: 1 row (superseded)" in printed
    written = rows(tmp_path / "out" / "scores.csv")
    assert {row["not_counted"]: row["score"] for row in written if row["not_counted"]} == {
        "superseded": "0.5", "by an earlier version, prompt or setting of the judge": "0.9", "unparsable": "",
    }  # fmt: skip
    assert len(written) == 8
    again = imarena("-w", root, "export", "scores", "out", code=2).err
    assert "exists already" in again
    assert "--all belongs to" in imarena("-w", root, "export", "table", "t", "--all", code=2).err


@pytest.mark.parametrize("everything", [(), ("--all",)])
def test_align_reads_the_table_as_the_workspace(
    imarena: Imarena, root: Path, tmp_path: Path, everything: tuple[str, ...]
) -> None:
    imarena("-w", root, "export", "scores", "scores.csv", *everything)
    (tmp_path / "ratings.csv").write_text("unit,model,rater,value\none,'=alpha,ann,4\none,beta,ann,1\n")
    own = imarena("-w", root, "--json", "align", "--rounds", 0).json["scores"]
    (group,) = own["groups"]
    (read,) = imarena("--json", "align", "--from", "scores.csv", "--against", "ratings.csv", "--rounds", 0).json[
        "groups"
    ]
    assert (
        (read["n"], read["spearman"], read["pearson"]) == (group["n"], group["spearman"], group["pearson"]) == (2, 1, 1)
    )


@pytest.fixture
def pairs(tmp_path: Path) -> Path:
    """Verdicts on pairs in both orders, on single outputs and on a later turn, and one order that failed."""
    folder = tmp_path / "p"
    outcomes = {
        "one": (Outcome.LEFT, Outcome.LEFT), "two": (Outcome.LEFT, Outcome.RIGHT), "three": (Outcome.RIGHT, None),
    }  # fmt: skip
    with init_workspace(folder) as workspace:
        workspace.store.add([Rater(rater_id="ann")])
        for key, words in outcomes.items():
            about = item(key)
            left, right = output(about, "alpha"), output(about, "beta")
            workspace.store.add([about, left, right])
            for order, word in zip((Order.LEFT_FIRST, Order.RIGHT_FIRST), words, strict=True):
                facts = judgment(left, right, f"{key} {order}").model_dump(exclude={"created_at"})
                state = {"status": Status.OK, "preference": word} if word else {"status": Status.API_ERROR}
                workspace.store.add([Judgment(**{**facts, "preference": None, "order": order, **state})])
            workspace.store.add([vote(Rater(rater_id="ann"), left, right, key=key)])
    return folder


def test_exported_verdicts_of_a_pairwise_judge_go_back_into_align(
    imarena: Imarena, pairs: Path, tmp_path: Path
) -> None:
    imarena("-w", pairs, "export", "scores", "scores.csv", "--all")
    lines = [f"{key},alpha,beta,left,ann" for key in ("one", "two", "three")]
    (tmp_path / "votes.csv").write_text("item,left,right,winner,rater\n" + "\n".join(lines) + "\n")
    (own,) = imarena("-w", pairs, "--json", "align", "--judge", "test-judge").json["verdicts"]["groups"]
    (read,) = imarena("--json", "align", "--from", "scores.csv", "--against", "votes.csv").json["groups"]
    assert read["judge"] == own["judge"]
    figures = {name: value for name, value in own.items() if isinstance(value, int | float) or value is None}
    assert {name: read[name] for name in figures} == figures
    marks = [
        f"{key},{model},ann,{mark}" for key in ("one", "two", "three") for model, mark in (("alpha", 4), ("beta", 2))
    ]
    (tmp_path / "ratings.csv").write_text("item,editor,rater,value\n" + "\n".join(marks) + "\n")
    (rated,) = imarena("--json", "align", "--from", "scores.csv", "--against", "ratings.csv").json["groups"]
    assert {name: rated[name] for name in figures} == figures


def test_one_table_of_ratings_serves_both_forms_and_a_bad_value_is_left_out(imarena: Imarena, tmp_path: Path) -> None:
    with init_workspace(tmp_path / "m") as workspace:
        about = item("one").model_copy(update={"turns": (Turn(instruction="red"), Turn(instruction="blue"))})
        workspace.store.add([about, Rater(rater_id="ann")])
        lines = []
        for place, editor in enumerate(("alpha", "beta", "gamma")):
            for turn in (0, 1):
                made = output(about, editor).model_copy(update={"turn": turn, "mode": Mode.MULTI_TURN})
                workspace.store.add([made])
                facts = judgment(made, None, f"{editor} {turn}").model_dump(exclude={"created_at"})
                workspace.store.add([Judgment(**{**facts, "score": 10.0 * place + turn})])
                lines.append(f"one,{editor},{turn},ann,{place + turn}")
    lines[0] = "one,alpha,0,ann,good"
    (tmp_path / "ratings.csv").write_text("item,editor,turn,rater,value\n" + "\n".join(lines) + "\n")
    imarena("-w", "m", "export", "scores", "scores.csv")
    more = ("--against", "ratings.csv", "--rounds", 0)
    ended = imarena("align", "--from", "scores.csv", *more, code=3)
    assert "ratings.csv: 1 value is not a number and was left out: row 1 ('good')." in ended.err
    (read,) = imarena("--json", "align", "--from", "scores.csv", *more, code=3).json["groups"]
    own = imarena("-w", "m", "--json", "align", "--judge", "test-judge", *more, code=3).json
    (group,) = own["scores"]["groups"]
    assert (read["n"], read["spearman"]) == (group["n"], group["spearman"])
    assert read["n"] == 5
    assert own["notices"][0] == {
        "code": "ratings_not_numbers",
        "values": {"file": "ratings.csv", "rows": {"1": "good"}},
    }
    (tmp_path / "words.csv").write_text("unit,rater,value\n" + "".join(f"u{n % 4},r{n},{n % 3}\n" for n in range(9)))
    with (tmp_path / "words.csv").open("a") as file:
        file.write("u0,r9,four\n")
    assert "row 10 ('four')" in imarena("agree", "--from", "words.csv", "--rounds", 0, code=3).err


def test_scores_of_an_older_form_are_mentioned(imarena: Imarena, root: Path) -> None:
    ended = imarena("-w", root, "align", "--judge", "test-judge", "--rounds", 0)
    assert "1 score of 'test-judge' by an earlier version, prompt or setting does not count" in ended.err
