"""What `align`, `agree` and `health` print: names, legends, intervals, and reasons where a figure is missing."""

import json
import re
from pathlib import Path

from imarena.core.records import Judgment, Outcome, Output, Rater, Vote
from imarena.storage import Workspace, init_workspace
from tests.command import Imarena
from tests.samples import item, judgment, kept, output, vote

VERDICTS = ("left", "left", "right", "tie", "both_bad")


def write(path: Path, head: str, rows: list[str]) -> None:
    path.write_text("\n".join([head, *rows]) + "\n", encoding="utf-8")


def flat(text: str) -> str:
    return " ".join(text.split())


def battles(folder: Path, count: int = 20) -> tuple[str, ...]:
    """Votes of two people on each pair, and a judge that says left for every second."""
    votes = [f"i{n},a,b,{VERDICTS[n % 5]},{rater}" for n in range(count) for rater in ("ann", "bob")]
    write(folder / "votes.csv", "item,left,right,winner,rater", votes)
    write(folder / "judge.csv", "item,left,right,winner", [f"i{n},a,b,{VERDICTS[n % 3]}" for n in range(count)])
    return ("align", "--from", "judge.csv", "--against", "votes.csv")


def test_verdicts_have_three_figures_with_intervals_and_a_legend(imarena: Imarena, tmp_path: Path) -> None:
    words = battles(tmp_path)
    told, group = flat(imarena(*words).out), imarena(*words, "--json").json["groups"][0]
    decided = f"{group['decisive_accuracy']:.0%} of {group['n_decisive']} votes"
    assert f"where people choose a side, with {decided} (a tie of the judge is wrong)" in told
    for meaning in ("agreement: the share of votes", "ties as one: the same,", "where people choose a side: of the"):
        assert meaning in told
    assert "each pair of outputs counts once, so these figures differ" in told
    assert "macro F1" not in told
    assert "macro F1" in imarena(*words, "--all-figures").out
    imarena(*words, "--csv", "a.csv")
    assert "macro F1" in (tmp_path / "a.csv").read_text()
    head = next(line for line in imarena(*words).out.splitlines() if "ties as one  " in line)
    assert head.count("95% interval") == 3


def test_one_judge_has_one_headline_figure_in_align_and_health(imarena: Imarena, tmp_path: Path) -> None:
    ann = Rater(rater_id="ann")
    with init_workspace(tmp_path / "w") as workspace:
        workspace.store.add([ann])
        for number in range(12):
            one = item(f"p{number}")
            left, right = output(one, "alpha"), output(one, "beta")
            said = judgment(left, right, f"w{number}").model_copy(update={"preference": Outcome.LEFT})
            cast = vote(ann, left, right, key=str(number), preference=Outcome.LEFT if number < 9 else Outcome.RIGHT)
            workspace.store.add([one, left, right, said, cast])
    aligned, health = imarena("-w", "w", "align"), imarena("-w", "w", "health")
    name = "where people choose a side"
    assert f"{name}, with 75% of 12 votes" in flat(aligned.out)
    row = next(line for line in health.out.splitlines() if name in line and "0.75" in line)
    assert row.rstrip().endswith(" 12")
    assert "Does it favour the image shown first?" in health.out or "position bias" in health.out


def test_pairs_and_gaps_have_intervals_and_few_outputs_no_correlation(imarena: Imarena, tmp_path: Path) -> None:
    scores = [f"u{n},{model},j,{n * 7 % 11 + add}" for n in range(8) for model, add in (("a", 0), ("b", 3))]
    ratings = [f"u{n},{model},r,{n % 5 + add}" for n in range(8) for model, add in (("a", 0), ("b", 1))]
    write(tmp_path / "s.csv", "unit,model,judge,score", scores)
    write(tmp_path / "r.csv", "unit,model,rater,value", ratings)
    words = ("align", "--from", "s.csv", "--against", "r.csv", "--rounds", 50)
    document = imarena(*words, "--pairs", "--gaps", "1,5", "--json").json["pairs"][0]
    told = imarena(*words, "--pairs", "--gaps", "1,5").out
    pairs = next(line for line in told.splitlines() if re.match(r" *j .*\b8\b", line))
    assert document["decisive_accuracy"] == 1.0
    assert "0.68 to 1.00" in pairs  # Wilson's interval of 8 of 8
    assert told.count("0.68 to 1.00") >= 2, "the band of gaps has its interval too"
    write(tmp_path / "s.csv", "unit,model,judge,score", scores[:2])
    few = flat(imarena(*words).out)
    assert "too few" in few
    assert "2 outputs with both; 3 or more are needed" in few


def test_agreement_on_one_unit_is_too_few(imarena: Imarena, tmp_path: Path) -> None:
    write(tmp_path / "r.csv", "unit,rater,value,task", ["u,x,1,hard", "u,y,3,hard",
          *(f"v{n},{rater},{n % 4 + 1},easy" for n in range(6) for rater in "xy")])  # fmt: skip
    told = flat(imarena("agree", "--from", "r.csv", "--by", "task", "--rounds", 20).out)
    assert "too few: 1 unit with two answers; 3 or more are needed" in told
    assert "-1.0000" not in told
    assert "ordinal for steps such as 1 to 5" in told
    assert ".67 is often asked for" in told
    assert "mean shift: the rater's answers minus those of the others" in told


def test_the_interval_does_not_depend_on_names_or_order(imarena: Imarena, tmp_path: Path) -> None:
    data = [(n, model, n * 7 % 13 + add, n % 5 + add) for n in range(15) for model, add in (("a", 0), ("b", 1))]
    ends = []
    for last, rows in ((0, data), (97, data[::-1])):
        named = [(f"u{abs(last - n)}", *rest) for n, *rest in rows]
        write(tmp_path / "s.csv", "unit,model,judge,score", [f"{unit},{m},j,{score}" for unit, m, score, _ in named])
        write(tmp_path / "r.csv", "unit,model,rater,value", [f"{unit},{m},r,{mark}" for unit, m, _, mark in named])
        found = imarena("align", "--from", "s.csv", "--against", "r.csv", "--rounds", 200, "--json").json
        ends.append(json.dumps(found["groups"][0]["interval"]))
    assert ends[0] == ends[1]


def test_a_headline_is_not_compared_with_a_criterion_that_the_judge_marks(imarena: Imarena, tmp_path: Path) -> None:
    ann = Rater(rater_id="ann")
    with init_workspace(tmp_path / "w") as workspace:
        fill_marks(workspace, ann)
    told = imarena("-w", "w", "align").out
    rows = [line.split()[:3] for line in told.splitlines() if line.strip().startswith("test-judge")]
    assert ["test-judge:", "PQ", "PQ"] in rows
    assert ["test-judge", "PQ"] not in [row[:2] for row in rows]
    assert ["test-judge", "SC"] in [row[:2] for row in rows], "a criterion without a mark of its own stays"


def fill_marks(workspace: Workspace, ann: Rater) -> None:
    workspace.store.add([ann])
    for number in range(6):
        one = item(f"p{number}")
        made = output(one, "alpha")
        facts = judgment(made, None, f"w{number}").model_dump(exclude={"created_at", "score", "scores"})
        scored = Judgment(**facts, score=float(number), scores={"PQ": float(number)})
        marks = {"PQ": float(number % 5), "SC": float(number % 3)}
        cast = Vote(
            rater_id=ann.rater_id, item_id=one.item_id, left_id=made.output_id, ratings=marks, scale=(0.0, 5.0),
            idempotency_key=str(number),
        )  # fmt: skip
        workspace.store.add([one, made, scored, cast])


def test_a_table_with_only_a_header_and_a_campaign_without_votes(imarena: Imarena, tmp_path: Path) -> None:
    for name, head in (
        ("r", "unit,rater,value"),
        ("s", "unit,model,judge,score"),
        ("b", "item,left,right,winner,rater"),
    ):
        write(tmp_path / f"{name}.csv", head, [])
    write(tmp_path / "marks.csv", "unit,rater,value", ["u,r,1"])
    for words in (("agree", "--from", "r.csv"), ("agree", "--from", "b.csv"), ("rank", "--from", "b.csv"),
                  ("align", "--from", "s.csv", "--against", "marks.csv")):  # fmt: skip
        assert f"{words[2]} has no rows." in imarena(*words, code=2).err
    with init_workspace(tmp_path / "w") as workspace:
        for number in range(3):
            one = item(f"p{number}")
            sides = [Output(item_id=one.item_id, editor=name, image=kept(workspace, 9 * number + len(name)))
                     for name in ("alpha", "beta")]  # fmt: skip
            workspace.store.add([one, *sides])
    imarena("-w", "w", "campaign", "create", "spring")
    assert "No votes or ratings yet: 0 of 3 tasks of 'spring' are answered." in imarena("-w", "w", "agree", code=2).err


def test_a_figure_without_votes_names_the_votes_that_it_lacks(imarena: Imarena, tmp_path: Path) -> None:
    write(tmp_path / "votes.csv", "item,left,right,winner", [f"i{n},a,b,tie" for n in range(2)])
    write(tmp_path / "judge.csv", "item,left,right,winner", [f"i{n},a,b,left" for n in range(2)])
    words = ("align", "--from", "judge.csv", "--against", "votes.csv")
    (group,) = imarena(*words, "--json").json["groups"]
    assert group["n"] == 2
    told = flat(imarena(*words).out)
    assert "no vote for a side has a" in told
    assert "no battle" not in told


def test_the_page_of_disagreements_names_editors_and_what_is_not_stored(imarena: Imarena, tmp_path: Path) -> None:
    ann = Rater(rater_id="ann")
    with init_workspace(tmp_path / "w") as workspace:
        workspace.store.add([ann])
        for number in range(3):
            one = item(f"p{number}", instruction="" if number else "make it red")
            left, right = output(one, "alpha"), output(one, "beta")
            said = judgment(left, right, f"w{number}", Outcome.RIGHT)
            workspace.store.add([one, left, right, said, vote(ann, left, right, key=str(number))])
    imarena("-w", "w", "align", "--page", "wrong")
    page = (tmp_path / "wrong" / "index.html").read_text()
    assert "“make it red”" in page
    assert page.count("(no instruction stored)") == 2
    assert "““" not in page
    assert "“”" not in page
    assert page.count("(no image stored)") == 6
    assert re.search("p1 · (alpha and beta|beta and alpha) · ", page)


def test_the_health_of_several_judges_begins_with_a_summary(imarena: Imarena, tmp_path: Path) -> None:
    ann = Rater(rater_id="ann")
    with init_workspace(tmp_path / "w") as workspace:
        workspace.store.add([ann])
        for number in range(8):
            one = item(f"p{number}")
            left, right = output(one, "alpha"), output(one, "beta")
            workspace.store.add([one, left, right, vote(ann, left, right, key=str(number))])
            for judge, preference in (("good", Outcome.LEFT), ("bad", Outcome.RIGHT)):
                facts = judgment(left, right, f"{judge}{number}", preference).model_dump(
                    exclude={"created_at", "judge"}
                )
                workspace.store.add([Judgment(**facts, judge=judge)])
    told = imarena("-w", "w", "health").out
    assert told.lstrip().startswith("All judges")
    summary = {line.split()[0]: line for line in told.splitlines()[:6] if line.strip()}
    assert "1.000" in summary["good"]
    assert "0.000" in summary["bad"]
    assert "a tie is wrong" in told
    assert "All judges" not in imarena("-w", "w", "health", "--judge", "good").out
