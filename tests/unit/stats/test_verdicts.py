"""Verdicts: counted one by one."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from imarena.stats import verdict_figures
from imarena.stats.verdicts import MIRROR, VERDICT_OUTCOMES

verdict = st.sampled_from([*VERDICT_OUTCOMES, "equal", None])
battles = st.lists(st.tuples(st.sampled_from(VERDICT_OUTCOMES), verdict), max_size=40)


def split(data: list[tuple[str, str | None]]) -> tuple[list[str], list[str | None]]:
    return [people for people, _ in data], [judge for _, judge in data]


def right(people: str, judge: str | None) -> bool:
    return people == judge or (judge == "equal" and people in ("tie", "both_bad"))


@given(battles)
def test_accuracies(data: list[tuple[str, str | None]]) -> None:
    strict = verdict_figures(*split(data), missing="wrong")
    kept = verdict_figures(*split(data))
    said = [(people, judge) for people, judge in data if judge is not None]
    assert (strict.n, kept.n, kept.n_missing) == (len(data), len(said), len(data) - len(said))
    if data:
        assert strict.four_way_accuracy.value == pytest.approx(sum(right(*pair) for pair in data) / len(data))
    if said:
        assert kept.four_way_accuracy.value == pytest.approx(sum(right(*pair) for pair in said) / len(said))
    else:
        assert kept.four_way_accuracy.value is None
    decided = [pair for pair in said if pair[0] in ("left", "right")]
    if decided:
        assert kept.decisive_accuracy.value == pytest.approx(sum(a == b for a, b in decided) / len(decided))
    assert sum(sum(row.values()) for row in kept.confusion.values()) == len(data)


@given(battles)
def test_turning_the_sides_of_both_changes_nothing(data: list[tuple[str, str | None]]) -> None:
    turned = [(MIRROR[people], None if judge is None else MIRROR[judge]) for people, judge in data]
    first, second = verdict_figures(*split(data)), verdict_figures(*split(turned))
    assert first.four_way_accuracy == second.four_way_accuracy
    assert first.macro_f1.value == pytest.approx(second.macro_f1.value)
    assert first.f1["left"].value == second.f1["right"].value


def test_f1_by_hand() -> None:
    found = verdict_figures(["left", "left", "right", "tie"], ["left", "right", "right", "right"])
    assert found.f1["left"].value == pytest.approx(2 / 3)
    assert found.f1["right"].value == pytest.approx(2 / 4)
    assert found.f1["tie"].value == 0.0
    assert found.f1["both_bad"].value is None
    assert found.macro_f1.value == pytest.approx((2 / 3 + 1 / 2 + 0) / 3)


def test_three_way_merges_ties() -> None:
    found = verdict_figures(["tie", "both_bad"], ["both_bad", "equal"])
    assert found.four_way_accuracy.value == 0.5
    assert found.three_way_accuracy.value == 1.0
    assert found.decisive_accuracy.value is None


def test_a_judges_tie_is_a_miss_where_people_decide() -> None:
    found = verdict_figures(["left", "right", "left"], ["tie", "right", None], missing="wrong")
    assert found.decisive_accuracy.value == pytest.approx(1 / 3)
    assert found.both_decisive_accuracy.value == 1.0
    assert "1 without a verdict counted as wrong" in found.four_way_accuracy.method


def test_columns_must_match() -> None:
    with pytest.raises(ValueError, match="human verdicts"):
        verdict_figures(["left"], [])


def test_an_accuracy_has_wilsons_interval_also_where_all_are_right() -> None:
    """The ends of 10 of 10 as in Wilson's paper: low n / (n + z^2), high 1."""
    found = verdict_figures(["left"] * 10, ["left"] * 10).decisive_accuracy
    assert found.low == pytest.approx(10 / (10 + 1.959963984540054**2))
    assert found.high == pytest.approx(1.0)
    assert found.interval == "Wilson, 95%"
