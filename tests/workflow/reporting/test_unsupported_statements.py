"""A report states nothing that the data cannot support: unchecked failure modes, and answers without a verdict."""

import re
from pathlib import Path

from imarena.core.records import Issue, Judgment, Output, Rater, Record, Vote
from imarena.storage import init_workspace
from tests import samples
from tests.command import Imarena

ITEMS = 6


def report(imarena: Imarena, root: Path, *words: object) -> str:
    """The Markdown report."""
    imarena("-w", root, "report", root.parent / "out", *words)
    return (root.parent / "out" / "report.md").read_text()


def rated(outputs: list[Output], *, tagged: bool) -> list[Record]:
    """A rating of every output; if tagged, the first one has a shadow."""
    given: list[Record] = [Rater(rater_id="r")]
    for number, output in enumerate(outputs):
        issues = (Issue(kind="other", note="a shadow"),) if tagged and not number else ()
        given.append(
            Vote(rater_id="r", item_id=output.item_id, left_id=output.output_id, ratings={"overall": 3.0},
                 scale=(1, 5), issues=issues, idempotency_key=output.output_id)
        )  # fmt: skip
    return given


def test_ratings_without_tags_check_no_failure_mode(imarena: Imarena, tmp_path: Path) -> None:
    """ImagenHub's raters gave marks and had no tags: nobody looked for shadows. In the other data set, they had."""
    with init_workspace(tmp_path / "w") as workspace:
        items = {name: [samples.item(f"k{n}", dataset=name) for n in range(ITEMS)] for name in ("plain", "tags")}
        workspace.store.add([item for some in items.values() for item in some])
        for name in items:
            outputs = [samples.output(item, editor) for item in items[name] for editor in ("alpha", "beta")]
            workspace.store.add([*outputs, *rated(outputs, tagged=name == "tags")])
    text = report(imarena, tmp_path / "w")
    assert f"| shadows | raters' tags | 1 | {2 * ITEMS} |" in text, "the outputs of the other data set"
    with init_workspace(tmp_path / "v") as workspace:
        outputs = [samples.output(item, editor) for item in items["plain"] for editor in ("alpha", "beta")]
        workspace.store.add([*items["plain"], *outputs, *rated(outputs, tagged=False)])
    text = report(imarena, tmp_path / "v")
    assert "raters' tags" not in text.replace("needs ", "")
    assert not re.search(r"of \d+ outputs", text)


def test_answers_without_an_overall_score_have_no_verdict(imarena: Imarena, tmp_path: Path) -> None:
    """Scores of one criterion alone, as VIEScore's gpt4v_1shot has in 963 of 2,400 answers."""
    with init_workspace(tmp_path / "w") as workspace:
        items = [samples.item(f"k{number}") for number in range(ITEMS)]
        outputs = [samples.output(item, editor) for item in items for editor in ("alpha", "beta")]
        workspace.store.add([*items, *outputs])
        workspace.store.add(
            Judgment(
                work_id=output.output_id, judge="machine", item_id=output.item_id, left_id=output.output_id,
                score=None if number < 3 else float(number), scores={"SC.1": 4.0},
            )
            for number, output in enumerate(outputs)
        )  # fmt: skip
    (judge,) = [one for one in imarena("-w", "w", "--json", "health").json["judges"] if one["judge"] == "machine"]
    (failed,) = [line for line in judge["lines"] if line["name"] == "failed"]
    assert (failed["value"], failed["n"]) == (3 / 12, 12)
    assert "Answers: 9 ok, 3 no_verdict" in imarena("-w", "w", "health").out
    text = report(imarena, tmp_path / "w")
    assert "1 judge answered 9 questions; 3 questions have no verdict" in text
    assert "| machine | 9 | 3 |" in text
