"""How far a judge can be trusted, from a workspace: known verdicts and votes give known figures."""

from pathlib import Path
from typing import Any

import pytest

from imarena.core.ids import canonical_json
from imarena.core.records import Item, Judgment, Order, Outcome, Output, Rater, Record, Turn, Vote
from imarena.storage import init_workspace, open_workspace
from imarena.workflows.studies.health_data import JudgeAnswers
from tests import samples
from tests.command import Imarena
from tests.small_data.small_arena import make_arena

PAIRS = 20


def verdict(left: Output, right: Output, order: Order, said: Outcome, *, repeat: int = 0, **more: Any) -> Judgment:
    return Judgment(
        work_id=f"{left.output_id}{right.output_id}{order}{repeat}{more}", judge="machine", run_id="run_1",
        item_id=left.item_id, left_id=left.output_id, right_id=right.output_id, order=order, repeat=repeat,
        preference=said, **more,
    )  # fmt: skip


def score(output: Output, value: float, **more: Any) -> Judgment:
    return Judgment(
        work_id=f"{output.output_id}{more}", judge="machine", run_id="run_1", item_id=output.item_id,
        left_id=output.output_id, score=value, scores={"whole": value}, **more,
    )  # fmt: skip


def rating(rater: Rater, output: Output, value: float) -> Vote:
    return Vote(
        rater_id=rater.rater_id, item_id=output.item_id, left_id=output.output_id, ratings={"overall": value},
        scale=(0, 1), idempotency_key=f"r{output.output_id}",
    )  # fmt: skip


@pytest.fixture
def arena(tmp_path: Path) -> Path:
    """20 pairs. People say left. The judge says left in both orders on 10, likes the first place on 5, ties on 5."""
    rater = Rater(rater_id="r")
    records: list[Record] = [rater]
    for n in range(PAIRS):
        item = Item(dataset="d", key=f"k{n}", turns=(Turn(instruction="x"),), track="basic" if n % 2 else "reasoning")
        left, right = samples.output(item, "alpha"), samples.output(item, "beta")
        records += [item, left, right, samples.vote(rater, left, right, key=f"v{n}")]
        for repeat in (0, 1):
            firsts = {
                "sure": (Outcome.LEFT, Outcome.LEFT),
                "first": (Outcome.LEFT, Outcome.RIGHT),
                "tie": (Outcome.TIE, Outcome.TIE),
            }["sure" if n < 10 else "first" if n < 15 else "tie"]
            for order, said in zip((Order.LEFT_FIRST, Order.RIGHT_FIRST), firsts, strict=True):
                records.append(verdict(left, right, order, said, repeat=repeat))
        records += [rating(rater, left, 0.5 + n / 50), rating(rater, right, 0.4 - n / 100)]
        records += [score(left, 600 + 10 * n), score(right, 500 - 10 * n)]
    with init_workspace(tmp_path / "a") as workspace:
        workspace.store.add(records)
    return tmp_path / "a"


def lines(document: Any) -> dict[str, dict[str, Any]]:
    (one,) = document["judges"]
    return {f"{line['name']} {line['group']}".strip(): line for line in one["lines"]}


def test_known_verdicts_give_known_figures(imarena: Imarena, arena: Path) -> None:
    found = lines(imarena("-w", "a", "--json", "health").json)
    assert found["decisive_accuracy"]["value"] == pytest.approx(10 / 20)
    assert found["false_ties"]["value"] == pytest.approx(10 / 20)
    assert found["flips"]["value"] == pytest.approx(10 / 40)
    assert found["first_of_flips"]["value"] == 1.0
    assert found["first_rate"]["value"] == pytest.approx((20 + 20) / 60)
    assert found["unanimous"]["value"] == 1.0
    assert found["alpha_nominal"]["value"] == pytest.approx(1.0)
    assert found["spearman overall"]["value"] == pytest.approx(1.0)
    assert found["kendall_accuracy overall"]["value"] == pytest.approx(1.0)
    assert found["whole alpha"]["n"] == PAIRS
    bands = {name: line for name, line in found.items() if name.startswith("agreement")}
    assert {line["value"] for line in bands.values()} == {1.0}
    assert sum(line["n"] for line in bands.values()) == PAIRS
    assert {"decisive_accuracy basic", "decisive_accuracy reasoning"} <= found.keys()


def test_ratings_without_votes_give_agreement_by_score_gap(imarena: Imarena, tmp_path: Path) -> None:
    """Ten pairs with a small gap, five of them as people rate them, and ten with a large gap, all as people rate them."""
    rater = Rater(rater_id="r")
    records: list[Record] = [rater]
    for n in range(PAIRS):
        item = Item(dataset="d", key=f"k{n}", turns=(Turn(instruction="x"),))
        better, worse = samples.output(item, "alpha"), samples.output(item, "beta")
        gap = 30 if n < 10 else 400
        records += [item, better, worse, rating(rater, better, 0.9), rating(rater, worse, 0.2)]
        records += [score(better, 500 + (-gap if n < 5 else gap)), score(worse, 500)]
    with init_workspace(tmp_path / "a") as workspace:
        workspace.store.add(records)
    found = lines(imarena("-w", "a", "--json", "health").json)
    assert found["agreement 0 to 50"]["value"] == pytest.approx(0.5)
    assert found["agreement 0 to 50"]["n"] == 10
    assert found["agreement 200 and more"]["value"] == 1.0
    assert "pairs of people's mean ratings" in imarena("-w", "a", "health").out
    imarena("-w", "a", "report", "out", "--gallery", 0)
    text = (tmp_path / "out" / "report.md").read_text(encoding="utf-8")
    assert "Is it right more often when the score gap is larger?" in text
    assert "agreement by score gap: not available" not in text


def test_the_figures_come_as_latex(imarena: Imarena, arena: Path) -> None:
    printed = imarena("-w", "a", "health", "--latex").out
    assert printed.count(r"\begin{tabular}") == printed.count(r"\end{tabular}") > 0
    assert "% machine" in printed
    assert "0.5 is fair" in printed
    assert "share that chose the first image" in printed
    assert "prompt injection (tested with texts drawn on outputs): not available" in printed
    lines = [line for line in printed.splitlines() if line]
    assert all(line.startswith(("%", "\\")) or line.endswith(r"\\") for line in lines)
    assert "health --latex` afterwards" in imarena("-w", "a", "health", "--latex", "--probe", 1, code=2).err


def test_what_cannot_be_told_is_said(imarena: Imarena, tmp_path: Path) -> None:
    with init_workspace(tmp_path / "a") as workspace:
        item = samples.item()
        output = samples.output(item)
        workspace.store.add([item, output, score(output, 5.0)])
    (one,) = imarena("-w", "a", "--json", "health").json["judges"]
    told = " ".join(one["missing"])
    for word in ("position bias", "self-consistency", "votes", "drift", "ratings"):
        assert word in told
    needed = [notice["values"]["data"] for notice in one["notices"] if notice["code"] == "health_needs"]
    assert {"position_bias", "repeats", "votes", "two_forms", "ratings_and_scores"} <= set(needed)
    assert "position bias: not available" in imarena("-w", "a", "health").out
    assert "Did you mean 'machine'?" in imarena("-w", "a", "health", "--judge", "machin", code=2).err


def test_a_new_version_that_scores_higher_has_drifted(imarena: Imarena, arena: Path) -> None:
    with init_workspace(arena) as workspace:
        outputs = list(workspace.store.records(Output))
        old = {j.left_id: j.score for j in workspace.store.records(Judgment, right_id=None)}
        workspace.store.add([score(o, (old[o.output_id] or 0) + 50, judge_version="2") for o in outputs])
    found = lines(imarena("-w", "a", "--json", "health").json)
    assert found["difference version ? to 2"]["value"] == pytest.approx(50)
    assert found["changed version ? to 2"]["value"] == 1.0


def test_align_on_a_workspace(imarena: Imarena, arena: Path) -> None:
    found = imarena("-w", "a", "--json", "align", "--judge", "machine", "--against", "people", "--pairs").json
    (group,) = found["scores"]["groups"]
    assert group["spearman"] == pytest.approx(1.0)
    (verdicts,) = found["verdicts"]["groups"]
    assert verdicts["decisive_accuracy"] == pytest.approx(10 / 20)
    assert verdicts["n"] == 2 * PAIRS
    assert "Against people" in imarena("-w", "a", "align").out
    rated = imarena("-w", "a", "--json", "agree").json
    assert rated["n_ratings"] == 2 * PAIRS


def test_health_and_align_give_one_interval(imarena: Imarena, arena: Path) -> None:
    """The same rounds, seed and units."""
    with init_workspace(arena) as workspace:  # a judge that is right about half of the time
        workspace.store.add(
            Judgment(
                work_id=f"half-{place}", judge="half", item_id=one.item_id, left_id=one.output_id,
                score=float((place * 7) % 10),
            )
            for place, one in enumerate(sorted(workspace.store.records(Output), key=lambda one: one.output_id))
        )  # fmt: skip
    (group,) = imarena("-w", "a", "--json", "align", "--judge", "half").json["scores"]["groups"]
    told = lines(imarena("-w", "a", "--json", "health", "--judge", "half").json)["spearman overall"]
    ends = group["interval"]["spearman"]
    assert (told["value"], told["low"], told["high"]) == (group["spearman"], ends["low"], ends["high"])
    assert told["low"] < told["value"] < told["high"]
    assert told["interval"] == "percentile bootstrap over units, 95%, 1000 rounds, seed 0"


def test_align_without_people_says_what_is_missing(imarena: Imarena, tmp_path: Path) -> None:
    with init_workspace(tmp_path / "a") as workspace:
        item = samples.item()
        output = samples.output(item)
        workspace.store.add([item, output, score(output, 5.0)])
    assert (
        "0 ratings and 0 votes by people; 1 score and 0 battles by judges"
        in imarena("-w", "a", "align", "--judge", "machine", code=2).err
    )


def test_a_workspace_without_judgments_is_told_so(imarena: Imarena, tmp_path: Path) -> None:
    init_workspace(tmp_path / "a").close()
    assert "There are no judgments" in imarena("-w", "a", "health").out


def test_words_that_address_a_judge_are_counted_for_the_output_that_shows_them(
    imarena: Imarena, tmp_path: Path
) -> None:
    """Battles hold the evidence of both sides; in the exchanged order it belongs to the other side."""
    make_arena(tmp_path / "a", items=1, habits=("exact", "returns-input"))
    imarena("-w", "a", "battle", "--judge", "builtin", "--option", "ocr=always")
    with open_workspace(tmp_path / "a") as workspace:
        judgments = {judgment.order: judgment for judgment in workspace.store.records(Judgment)}
    first, second = judgments[Order.LEFT_FIRST], judgments[Order.RIGHT_FIRST]
    assert first.left_id == second.left_id
    assert first.reasons["left"] == second.reasons["left"] != first.reasons["right"]
    assert first.reasons["gap"] == second.reasons["gap"]
    found = lines(imarena("-w", "a", "--json", "health").json)
    assert found["flagged"]["n"] == 2


def test_a_judges_own_marks_meet_the_criterion_of_their_name(imarena: Imarena, arena: Path) -> None:
    with init_workspace(arena) as workspace:
        outputs = list(workspace.store.records(Output))
        criterion = next(name for vote in workspace.store.records(Vote, right_id=None) for name in vote.ratings)
        means: dict[str, list[float]] = {}
        for vote in workspace.store.records(Vote, right_id=None):
            means.setdefault(vote.left_id, []).append(vote.ratings[criterion])
        marked = [one for one in outputs if one.output_id in means]
        workspace.store.add(  # its headline runs against people, its mark with them
            [
                Judgment(
                    work_id=f"marks-{one.output_id}", judge="marker", item_id=one.item_id, left_id=one.output_id,
                    score=-sum(means[one.output_id]), scores={criterion: sum(means[one.output_id])},
                )
                for one in marked
            ]
        )  # fmt: skip
    found = imarena("-w", "a", "--json", "align", "--judge", "marker").json["scores"]["groups"]
    figures = {group["judge"]: group["spearman"] for group in found}
    assert figures["marker"] < 0
    assert figures[f"marker: {criterion}"] > 0
    told = imarena("-w", "a", "health", "--judge", "marker").out
    assert "Do its scores correlate with people's ratings on the same criterion?" in told


def test_drift_says_what_changed_between_two_forms() -> None:
    def form(version: str, **params: object) -> JudgeAnswers:
        return JudgeAnswers("cv-judge/m", canonical_json([version, "cv-judge", "1", params]))

    old = form("1", temperature=0.0, seed=None, prompt_sha256={"score": "a"})
    assert (
        form("1", temperature=0.7, seed=None, prompt_sha256={"score": "a"}).changed_from(old)
        == "temperature 0.0 to 0.7"
    )
    both = form("2", temperature=0.0, seed=4, prompt_sha256={"score": "b"}).changed_from(old)
    assert both == "version 1 to 2, prompt_sha256, seed None to 4"


def test_only_judges_of_one_dimension_are_asked_to_agree(imarena: Imarena, tmp_path: Path) -> None:
    """Two of quality agree on all; one of consistency contradicts both, which is no disagreement."""
    records: list[Record] = []
    for n in range(6):
        item = Item(dataset="d", key=f"k{n}", turns=(Turn(instruction="x"),))
        left, right = samples.output(item, "alpha"), samples.output(item, "beta")
        quality, other = (Outcome.LEFT, Outcome.RIGHT) if n % 2 else (Outcome.RIGHT, Outcome.LEFT)
        records += [item, left, right]
        for judge, dimension, said in (("a", "quality", quality), ("b", "quality", quality), ("c", "other", other)):
            one = verdict(left, right, Order.BOTH, said, dimension=dimension)
            records.append(one.model_copy(update={"judge": judge, "work_id": f"{judge}{n}"}))
    with init_workspace(tmp_path / "a") as workspace:
        workspace.store.add(records)
    found = imarena("-w", "a", "--json", "health").json
    told = {line["name"]: (line["group"], line["value"]) for line in found["together"]["lines"]}
    assert told == {"alpha_nominal": ("quality: a, b", 1.0), "pairwise_agreement": ("quality: a, b", 1.0)}
    assert not any("each other" in line["question"] for one in found["judges"] for line in one["lines"])
    shown = imarena("-w", "a", "health").out
    assert shown.index("c, other") < shown.index("The judges together") < shown.index("each other")
    apart = imarena("-w", "a", "--json", "health", "--judge", "a", "--judge", "c").json["together"]
    assert apart["lines"] == []
    assert "two judges of one dimension" in apart["missing"][0]
