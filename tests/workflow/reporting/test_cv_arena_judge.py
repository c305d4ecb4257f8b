"""CV-Arena's tables of scored data: which judge they use, groups that never met, pairs without scores, dimensions."""

import re

import pytest

from imarena.core.records import Item, Judgment, Rater, Record, Turn, Vote
from imarena.storage import init_workspace
from tests import samples
from tests.command import Imarena

ITEMS = 10
FIGURES = ("win-rates", "bootstrap-ratings")
RATERS = ("r", "s", "t")
TASKS = {"draw": ("oak", "ash", "elm"), "edit": ("dog", "cat")}


@pytest.fixture(scope="module")
def text(tmp_path_factory: pytest.TempPathFactory) -> str:
    """The report of two tasks with editors of their own; as in VIEScore's data, `a_metric` scored one task only.

    `good` and `noisy` scored all editors from 0 to 1; `good` orders outputs as people's ratings do. A drawing has no source:
    it has no score of preservation.
    """
    folder = tmp_path_factory.mktemp("judge")
    records: list[Record] = [Rater(rater_id=name) for name in RATERS]
    for task, editors in TASKS.items():
        for number in range(ITEMS):
            item = Item(dataset="d", key=f"{task}{number}", task=task, family=task, turns=(Turn(instruction="red"),))
            records.append(item)
            for place, editor in enumerate(editors):
                output = samples.output(item, editor)
                true = (3 - place) / 4 + number / 100
                scores = {"good": true, "noisy": (number * 7 + place * 5) % 10 / 10}
                if task == "draw":
                    scores["a_metric"] = 0.2 + number / 1000
                parts = {"quality": true} | ({"preservation": true} if task == "edit" else {})
                records += [output, *(
                    Judgment(work_id=f"{judge}{output.output_id}", judge=judge, item_id=item.item_id, score=score,
                             left_id=output.output_id, scores=parts if judge == "good" else {})
                    for judge, score in scores.items()
                )]  # fmt: skip
                mark = 1 + round(4 * true, 2)
                records += (
                    Vote(rater_id=rater, item_id=item.item_id, left_id=output.output_id, ratings={"overall": mark},
                         scale=(1, 6), idempotency_key=f"{rater}{output.output_id}")
                    for rater in RATERS
                )  # fmt: skip
    with init_workspace(folder / "w") as workspace:
        workspace.store.add(records)
    with (folder / "w" / "imarena.toml").open("a", encoding="utf-8") as file:
        file.write('\n[board]\nsource = "people"\n')
    imarena = Imarena(folder)
    imarena("-w", "w", "report", "out", "--gallery", 0)
    imarena("-w", "w", "report", "metric", "--gallery", 0, "--judge", "a_metric")
    plots = "@@".join((folder / "out" / "plots" / f"paper-000-{name}.svg").read_text() for name in FIGURES)
    return (
        (folder / "out" / "report.md").read_text() + "@@" + (folder / "metric" / "report.md").read_text() + "@@" + plots
    )


def test_the_judge_covers_all_editors_and_agrees_best_with_people(text: str) -> None:
    part = (
        text.split("@@", maxsplit=1)[0]
        .split("**Table 3. Top of the board")[1]
        .split("**Table 4.", maxsplit=1)[0]
        .replace("\\", "")
    )
    assert "Judge: good, of 2 judges that scored the most editors (5), it agrees best with people's ratings" in part
    assert "leaderboard of people: model" in part
    table8 = next(line for line in text.splitlines() if line.startswith("- Table 8:"))
    assert "The board is the one of good." in table8
    assert "correlations are means over the groups" in table8


def test_groups_that_never_met_have_tables_of_their_own(text: str) -> None:
    part = text.split("@@", maxsplit=1)[0].replace("\\", "")
    assert "**Table 3. Top of the board by setting: group 1**" in part
    second = part.split("**Table 3. Top of the board by setting: group 2**")[1].split("\n**")[0]
    assert "| 1 | dog |" in second
    assert "oak" not in second
    assert "The models form 2 groups that never met" in second


def test_figures_3_and_4_have_a_panel_for_each_group(text: str) -> None:
    """The two of the smaller group are not compared with the three of the larger one: their rates are one and the rest."""
    wins, ratings = text.split("@@")[2:]
    for figure in (wins, ratings):
        assert "judge only, group 1" in figure
        assert "judge only, group 2" in figure
    rates = [int(rate) for rate in re.findall(r">(\d+)%</text>", wins)]
    assert sum(rates[-2:]) == 100


def test_a_note_does_not_name_votes_without_votes(text: str) -> None:
    assert "These boards rank by scores of good, on pairs" in text
    assert "and by votes" not in text


def test_an_output_may_lack_a_dimension(text: str) -> None:
    rows = text.split("@@", maxsplit=1)[0].split("**Table 6. Mean scores")[1].split("\n**", maxsplit=1)[0]
    assert re.search(r"\| oak \| 10 \| .*0\.795", rows), "not left out for its missing preservation"
    assert re.search(r"\| dog \| 10 \| .*0\.795 \| 0\.795 \|", rows), "the best of each group"


def test_deferral_counts_scored_pairs_and_prints_small_thresholds(text: str) -> None:
    metric = text.split("@@")[1]
    sentence = next(line for line in metric.splitlines() if line.startswith("- Table 7:"))
    assert "differ by less than 0.0 " not in sentence
    assert re.search(r"at least 0\.20\d", sentence)
    rows = metric.split("**Table 7. Deferral")[1].split("\n**")[0]
    assert "| draw | 30 |" in rows
    assert "| edit | 0 | 0 |" in rows
