"""A report states nothing that the data cannot support: unchecked failure modes, and answers without a verdict."""

import re
from pathlib import Path

from imarena.core.records import Issue, Item, Judgment, Output, Rater, Record, Turn, Vote
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
        for name, some in items.items():
            outputs = [samples.output(item, editor) for item in some for editor in ("alpha", "beta")]
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


def test_models_without_names_are_the_reason_for_no_board(imarena: Imarena, tmp_path: Path) -> None:
    """GenAI-Bench names no model: `rank`, the report and the site say so, and do not ask for a judge."""
    rater = Rater(rater_id="r")
    with init_workspace(tmp_path / "w") as workspace:
        items = [samples.item(f"k{number}") for number in range(ITEMS)]
        workspace.store.add([rater, *items])
        for item in items:
            left, right = (
                Output(item_id=item.item_id, editor=None, sample=place, image=samples.kept(workspace, place))
                for place in (0, 1)
            )
            workspace.store.add([left, right, samples.vote(rater, left, right, key=item.key)])
            workspace.store.add([samples.judgment(left, right, item.key)])
    reason = "have no editor names, so they cannot be ranked"
    for words in (("rank",), ("site", tmp_path / "site", "--licence", "CC0-1.0")):
        ended = imarena("-w", "w", *words, code=None)
        assert ended.code == 2
        assert reason in ended.err
        assert " judge`" not in ended.err
    text = report(imarena, tmp_path / "w")
    assert reason in text
    assert "editors not named" in text
    assert "1 editor" not in text


def test_unreadable_images_are_counted_and_shown_as_such(imarena: Imarena, tmp_path: Path) -> None:
    with init_workspace(tmp_path / "w") as workspace:
        item = Item(
            dataset="d",
            key="k",
            turns=(Turn(instruction="red"),),
            sources=(samples.kept(workspace, 0),),
            licence="CC0-1.0",
        )
        made = [
            Output(item_id=item.item_id, editor=name, image=samples.kept(workspace, 10 + place))
            for place, name in enumerate(("alpha", "beta", "gamma"))
        ]
        workspace.store.add([item, *made])
        lost, cut = (
            next((workspace.root / "blobs").rglob(f"{output.image.sha256}*"))
            for output in made[:2]
            if output.image is not None
        )
    lost.unlink()
    cut.chmod(0o644)
    cut.write_bytes(cut.read_bytes()[:40])
    text = report(imarena, tmp_path / "w")
    assert "Warning: 2 images of this report cannot be read (the file is missing or damaged)" in text
    assert text.count("(images/unreadable.png)") == 2
    imarena("-w", "w", "report", "one.html")
    assert (tmp_path / "one.html").read_text().count("data:image/png;base64") == 2


def test_boards_without_common_outputs_are_not_comparable(imarena: Imarena, tmp_path: Path) -> None:
    rater = Rater(rater_id="r")
    for name, first in (("old", 0), ("new", 100)):
        with init_workspace(tmp_path / name) as workspace:
            workspace.store.add([rater])
            for number in range(first, first + ITEMS):
                item = samples.item(f"k{number}")
                left, right = (samples.output(item, editor) for editor in ("alpha", "beta"))
                workspace.store.add([item, left, right, samples.vote(rater, left, right, key=item.key)])
    text = report(imarena, tmp_path / "new", "--against", tmp_path / "old")
    part = text.split("## What changed since")[1].split("\n## ")[0]
    assert "The boards are not comparable: they share no item, and no output has a verdict on both." in part
    assert "moved by more than chance" not in part
    assert "±" not in part


def test_a_rater_who_agrees_less_does_not_disagree(imarena: Imarena, tmp_path: Path) -> None:
    """Five raters give nearly the same marks; the sixth agrees with them on the order of the halves."""
    lines = ["item,editor,rater,rating"]
    for number in range(40):
        lines += [f"k{number},m,r{rater},{1 + number / 10 + (number + rater) % 2 / 100:.2f}" for rater in range(5)]
        lines.append(f"k{number},m,odd,{1 + (number * 17 % 20 + 20 * (number >= 20)) / 10:.2f}")
    (tmp_path / "ratings.csv").write_text("\n".join(lines))
    printed = imarena("agree", "--from", "ratings.csv")
    words = " ".join((printed.out + printed.err).split())
    assert re.search(r"rater 'odd' agrees less than the other raters \(0\.\d\d with the mean of the others\)", words)
    assert "disagrees" not in words
