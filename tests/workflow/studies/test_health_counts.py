"""`health`, `align` and `rank` count the same verdicts: one order, turns and modes, dimensions, versions of a judge."""

from pathlib import Path
from typing import Any

import pytest

from imarena.core.records import Item, Judgment, Mode, Order, Origin, Outcome, Output, Rater, Record, Turn, Vote
from imarena.storage import init_workspace
from tests import samples
from tests.command import Imarena

ITEMS = 8


def pairs(count: int = ITEMS) -> list[tuple[Item, Output, Output]]:
    """Items of two editors."""
    items = [samples.item(f"k{number}") for number in range(count)]
    return [(item, samples.output(item, "alpha"), samples.output(item, "beta")) for item in items]


def verdict(left: Output, right: Output, said: Outcome = Outcome.LEFT, **more: Any) -> Judgment:
    facts: dict[str, Any] = {"judge": "machine", "order": Order.LEFT_FIRST, **more}
    return Judgment(
        work_id=f"{left.output_id}{sorted(more.items(), key=str)}", item_id=left.item_id, left_id=left.output_id,
        right_id=right.output_id, preference=said, **facts,
    )  # fmt: skip


def score(output: Output, value: float, **more: Any) -> Judgment:
    facts: dict[str, Any] = {"judge": "machine", **more}
    work = f"{output.output_id}{sorted(more.items(), key=str)}"
    return Judgment(work_id=work, item_id=output.item_id, left_id=output.output_id, score=value, **facts)


def fill(root: Path, records: list[Record]) -> None:
    with init_workspace(root) as workspace:
        workspace.store.add(records)


def judge_lines(document: Any, judge: str = "machine") -> dict[str, dict[str, Any]]:
    one = next(one for one in document["judges"] if one["judge"] == judge)
    return {f"{line['name']} {line['group']}".strip(): line for line in one["lines"]}


def test_imported_verdicts_of_one_order_count_as_on_boards(imarena: Imarena, tmp_path: Path) -> None:
    rater = Rater(rater_id="r")
    records: list[Record] = [rater]
    for number, (item, left, right) in enumerate(pairs()):
        records += [item, left, right, samples.vote(rater, left, right, key=f"v{number}")]
        records.append(verdict(left, right, Outcome.LEFT if number < 6 else Outcome.RIGHT))
    fill(tmp_path / "a", records)
    board = imarena("-w", "a", "--json", "rank", "--judge", "machine", "--rounds", "0").json
    assert board["n_battles"] == ITEMS
    found = judge_lines(imarena("-w", "a", "--json", "health").json)
    assert found["decisive_accuracy"]["n"] == ITEMS
    assert found["decisive_accuracy"]["value"] == pytest.approx(6 / 8)
    (group,) = imarena("-w", "a", "--json", "align", "--judge", "machine").json["verdicts"]["groups"]
    assert (group["n"], group["decisive_accuracy"]) == (ITEMS, pytest.approx(6 / 8))


def test_an_imported_judge_with_both_orders_of_some_needs_both_of_all(imarena: Imarena, tmp_path: Path) -> None:
    rater = Rater(rater_id="r")
    records: list[Record] = [rater]
    for number, (item, left, right) in enumerate(pairs()):
        records += [item, left, right, samples.vote(rater, left, right, key=f"v{number}"), verdict(left, right)]
        if number < 5:
            records.append(verdict(left, right, order=Order.RIGHT_FIRST))
    fill(tmp_path / "a", records)
    assert imarena("-w", "a", "--json", "rank", "--judge", "machine", "--rounds", "0").json["n_battles"] == 5
    found = judge_lines(imarena("-w", "a", "--json", "health").json)
    assert found["decisive_accuracy"]["value"] == pytest.approx(1.0)
    assert found["flips"]["n"] == 5
    assert judge_lines(imarena("-w", "a", "--json", "health").json)["decisive_accuracy"]["n"] == 5


def test_outputs_are_paired_within_item_turn_and_mode(imarena: Imarena, tmp_path: Path) -> None:
    """Two turns in a chain and all turns at once, by two editors: three pairs, not fifteen."""
    item = Item(dataset="d", key="k", turns=(Turn(instruction="a"), Turn(instruction="b")))
    places = ((0, Mode.MULTI_TURN), (1, Mode.MULTI_TURN), (1, Mode.COMPLEX))
    outputs = [
        Output(item_id=item.item_id, editor=editor, turn=turn, mode=mode, origin=Origin(source="test", row=f"{turn}"))
        for editor in ("alpha", "beta")
        for turn, mode in places
    ]
    records: list[Record] = [item, *outputs]
    for place, output in enumerate(outputs):
        records += [score(output, 100.0 * place, judge=judge) for judge in ("machine", "other")]
    fill(tmp_path / "a", records)
    together = imarena("-w", "a", "--json", "health").json["together"]
    equal = next(
        line for line in together["lines"] if line["question"] == "How often do two judges give the same verdict?"
    )
    assert equal["n"] == 3
    assert imarena("-w", "a", "--json", "rank", "--judge", "machine", "--rounds", "0").json["n_battles"] == 3


# ---------------------------------------------------------------- dimensions


def test_every_stored_dimension_has_a_board(imarena: Imarena, tmp_path: Path) -> None:
    rater = Rater(rater_id="r")
    records: list[Record] = [rater]
    for number, (item, left, right) in enumerate(pairs()):
        records += [item, left, right, samples.vote(rater, left, right, key=f"v{number}")]
        records.append(samples.vote(rater, left, right, key=f"q{number}").model_copy(update={"dimension": "quality"}))
        for output, mark in ((left, 0.5), (right, 1.0)):
            records.append(
                Vote(
                    rater_id="r", item_id=item.item_id, left_id=output.output_id, scale=(0, 1),
                    ratings={"SC": mark, "PQ": 1.5 - mark}, idempotency_key=f"m{output.output_id}",
                )
            )  # fmt: skip
        for dimension in ("overall", "visual_quality", "visual_consistency"):
            records.append(verdict(left, right, dimension=dimension))
    fill(tmp_path / "a", records)

    def shown(*words: str) -> dict[str, str]:
        boards = imarena("-w", "a", "--json", "rank", *words, "--by", "dimension", "--rounds", "0").json["boards"]
        return {
            board["scope"]["dimension"]: min(board["models"], key=lambda model: model["rank"])["model"]
            for board in boards
        }

    assert shown("--judge", "machine").keys() == {"overall", "visual_quality", "visual_consistency"}
    people = shown("--source", "people")
    assert people.keys() == {"overall", "quality", "SC", "PQ"}
    assert (people["SC"], people["PQ"]) == ("beta", "alpha")


# ---------------------------------------------------------------- versions


@pytest.fixture
def two_versions(tmp_path: Path) -> Path:
    """People say left. Version 1 says left on 2 of 8 pairs, version 2 on 6; version 2 scores the other way round."""
    rater = Rater(rater_id="r")
    records: list[Record] = [rater]
    for number, (item, left, right) in enumerate(pairs()):
        records += [item, left, right, samples.vote(rater, left, right, key=f"v{number}")]
        for version, right_ones in (("1", 2), ("2", 6)):
            said = Outcome.LEFT if number < right_ones else Outcome.RIGHT
            for order in (Order.LEFT_FIRST, Order.RIGHT_FIRST):
                records.append(verdict(left, right, said, order=order, judge_version=version, run_id=f"run_{version}"))
    fill(tmp_path / "a", sorted(records, key=lambda record: getattr(record, "judge_version", "")))
    return tmp_path / "a"


def test_both_versions_of_a_judge_are_held_against_people(imarena: Imarena, two_versions: Path) -> None:
    words = ("-w", "a", "--json", "align", "--judge")
    found = imarena(*words, "machine@1", "--judge", "machine@2", "--judge", "machine").json
    figures = {group["judge"]: group["decisive_accuracy"] for group in found["verdicts"]["groups"]}
    assert figures == pytest.approx({"machine@1": 2 / 8, "machine@2": 6 / 8, "machine": 6 / 8})
    assert found["judges"] == ["machine@1", "machine@2", "machine"]
    ended = imarena("-w", "a", "align", "--judge", "machine@3", code=2)
    assert "Judge 'machine' has no version '3'." in ended.err
    assert "It has: 1, 2." in ended.err


def test_health_lists_the_versions(imarena: Imarena, two_versions: Path) -> None:
    document = imarena("-w", "a", "--json", "health").json
    (one,) = document["judges"]
    assert one["versions"] == ["1", "2"]
    found = judge_lines(document)
    assert found["decisive_accuracy"]["value"] == pytest.approx(6 / 8)
    assert found["decisive_accuracy version 1"]["value"] == pytest.approx(2 / 8)
    assert found["decisive_accuracy version 2"]["value"] == pytest.approx(6 / 8)
    shown = imarena("-w", "a", "health").out
    assert "version 2; earlier: 1 (--judge NAME@VERSION)" in shown
    earlier = imarena("-w", "a", "--json", "health", "--judge", "machine@1").json
    assert judge_lines(earlier, "machine@1")["decisive_accuracy"]["value"] == pytest.approx(2 / 8)


def test_prompts_and_settings_tell_versions_apart_too(imarena: Imarena, tmp_path: Path) -> None:
    """Two prompt versions of one judge version, and two settings of the second prompt."""
    rater = Rater(rater_id="r")
    records: list[Record] = [rater]
    forms: tuple[dict[str, Any], ...] = (
        {"prompt_version": "a", "params": {}},
        {"prompt_version": "b", "params": {"temperature": 0.1}},
        {"prompt_version": "b", "params": {"temperature": 0.9}},
    )
    outputs = []
    for item, left, right in pairs(4):
        records += [item, left, right]
        outputs += [left, right]
    for number, output in enumerate(outputs):
        vote = Vote(
            rater_id="r", item_id=output.item_id, left_id=output.output_id, ratings={"overall": number / 10},
            scale=(0, 1), idempotency_key=f"m{number}",
        )  # fmt: skip
        records.append(vote)
    for sign, form in zip((1, -1, 1), forms, strict=True):
        made = {"judge_version": "9", "prompt_id": "p", "run_id": "run", **form}
        records += [score(output, sign * number, **made) for number, output in enumerate(outputs)]
    fill(tmp_path / "a", records)
    found = imarena("-w", "a", "--json", "align", "--judge", "machine@a", "--judge", "machine@b", "--rounds", "0").json
    figures = {group["judge"]: round(group["spearman"]) for group in found["scores"]["groups"]}
    assert figures.pop("machine@9+a") == 1
    assert sorted(figures.values()) == [-1, 1]
    assert all(name.startswith("machine@9+b+") for name in figures)
    (one,) = imarena("-w", "a", "--json", "health").json["judges"]
    assert len(one["versions"]) == 3
    assert one["versions"][0] == "9+a"


def test_prompts_of_two_dimensions_are_one_version(imarena: Imarena, tmp_path: Path) -> None:
    records: list[Record] = []
    for item, left, right in pairs(2):
        records += [item, left, right]
        for dimension in ("overall", "visual_quality"):
            made: dict[str, Any] = {
                "judge_version": "1",
                "prompt_id": dimension,
                "prompt_version": "7",
                "run_id": "run",
            }
            for order in (Order.LEFT_FIRST, Order.RIGHT_FIRST):
                records.append(verdict(left, right, order=order, dimension=dimension, **made))
    fill(tmp_path / "a", records)
    found = {one["judge"]: one["versions"] for one in imarena("-w", "a", "--json", "health").json["judges"]}
    assert found == {"machine": ["1"], "machine, visual_quality": ["1"]}
