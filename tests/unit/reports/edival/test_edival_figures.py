"""EdiVal's figures: known answers for success, consistency, overall, fronts, tool swaps and agreement with people."""

import math
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from imarena.reports.edival import tables
from imarena.reports.edival.agreement import StyleAnswer, best_threshold, binary_agreement, rater_ceiling, style_table
from imarena.reports.edival.figures import (
    COMPLEX,
    MULTI,
    all_figures,
    pareto_front,
    pooled_overall,
    tool_swap,
    type_rate,
)
from imarena.reports.edival.plots import luminance_points
from imarena.reports.edival.scored import ScoredEdit, ScoredOutput, ScoredSet, complete_cases


def output(
    item: str,
    passed: list[bool | None],
    *,
    editor: str = "a",
    mode: str = MULTI,
    cc: float | None = 0.81,
    vq: float = 5.0,
    kinds: tuple[str, ...] = ("subject_add", "color_alter", "count_change"),
) -> ScoredOutput:
    """An output after as many turns as there are verdicts."""
    edits = tuple(ScoredEdit(kind, one, "why") for kind, one in zip(kinds, passed, strict=False))
    consistency = {} if cc is None else {"consistency": cc, "background": cc}
    quality = {"quality": vq, "base_quality": 4.0, "luminance_p99": 200.0, "base_luminance_p99": 190.0}
    return ScoredOutput(item, editor, mode, len(passed) - 1, edits, consistency, quality)


def chain(item: str, passed: list[bool | None], **more: object) -> list[ScoredOutput]:
    """The outputs of every turn of a chain."""
    return [output(item, passed[: turn + 1], **more) for turn in range(len(passed))]  # type: ignore[arg-type]


SCORED = ScoredSet(
    (
        *chain("1", [True, True, True]),
        *chain("2", [True, False, True]),
        *chain("3", [False, True, True]),
        *chain("4", [True, True, False], cc=0.49),
    ),
    tools={"detector": "exact@1"},
)


def test_success_is_the_and_of_the_chain_and_the_marginal_rate_is_not() -> None:
    first, second, third = all_figures(SCORED, MULTI)
    assert [one.image_success for one in (first, second, third)] == [0.75, 0.5, 0.25]
    assert [one.task_success for one in (first, second, third)] == [0.75, 0.75, 0.75]
    assert third.all_tasks == pytest.approx(9 / 12)
    assert third.consistency == pytest.approx((3 * 0.81 + 0.49) / 4)
    assert third.overall == pytest.approx(math.sqrt(0.25 * (3 * 0.81 + 0.49) / 4))
    assert third.quality_shift == pytest.approx(1.0)


def test_the_pooled_form_of_section_o4() -> None:
    """Each turn has one type here, so that the mean over types is the image success rate."""
    kappa = (3 * 0.81 + 0.49) / 4
    assert pooled_overall(SCORED, "a", MULTI) == pytest.approx(math.sqrt((0.75 + 0.5 + 0.25) / 3 * kappa))


def test_undecided_images_are_counted_and_left_out() -> None:
    scored = ScoredSet((output("1", [True, None]), output("2", [False, None]), output("3", [True, True])))
    (figures,) = all_figures(scored, MULTI)
    assert (figures.images, figures.image_success) == (3, 1.0)
    (row,) = tables.count_table(scored, MULTI).rows
    assert row[4] == 2, "undecided"
    assert figures.task_success == 1.0


def test_empty_pools_are_no_zero() -> None:
    scored = ScoredSet((output("1", [True], cc=None), output("2", [True], cc=0.6)))
    (figures,) = all_figures(scored, MULTI)
    assert figures.consistency == 0.6


def test_a_turn_keeps_the_images_with_outputs_through_it() -> None:
    scored = ScoredSet((*chain("1", [True, True]), *chain("2", [True])))
    assert [one.images for one in all_figures(scored, MULTI)] == [2, 1]
    assert [one.images for one in all_figures(complete_cases(scored), MULTI)] == [1, 1]


def test_types_in_complex_mode_are_all_of_the_prompt() -> None:
    outputs = [output("1", [True, False, True], mode=COMPLEX)]
    rates = {kind: type_rate(outputs, kind) for kind in ("subject_add", "color_alter", "count_change", "text_change")}
    assert rates == {"subject_add": 1.0, "color_alter": 0.0, "count_change": 1.0, "text_change": None}
    step = [replace(outputs[0], mode=MULTI)]
    assert (type_rate(step, "subject_add"), type_rate(step, "count_change")) == (None, 1.0)


def test_the_share_that_passes_both_lines() -> None:
    scored = ScoredSet(tuple(output(str(at), [True], cc=cc, vq=vq) for at, (cc, vq) in enumerate(
        [(0.90, 6.0), (0.8999, 9.0), (0.99, 5.99), (0.95, 7.0)]
    )))  # fmt: skip
    assert all_figures(scored, MULTI)[0].passes == 0.5


POINTS = st.dictionaries(st.text("abcdef", min_size=1, max_size=3), st.tuples(st.floats(0, 1), st.floats(0, 1)))


@given(POINTS)
def test_nobody_beats_the_front_and_all_others_are_beaten(points: dict[str, tuple[float, float]]) -> None:
    front = pareto_front(points)
    assert bool(front) == bool(points)

    def beats(left: tuple[float, float], right: tuple[float, float]) -> bool:
        return left != right and left[0] >= right[0] and left[1] >= right[1]

    for name, point in points.items():
        assert any(beats(other, point) for other in points.values()) == (name not in front)


def test_a_swap_with_itself_is_perfect() -> None:
    swaps = tool_swap(SCORED, SCORED, MULTI)
    by_name = {swap.figure: swap for swap in swaps}
    assert by_name["image_success"].pearson.value == pytest.approx(1.0)
    assert by_name["image_success"].spearman.value == pytest.approx(1.0)
    assert by_name["image_success"].n == 3


def test_agreement_with_people_has_known_answers() -> None:
    said, people = [True, True, False, False, True], [True, False, False, False, True]
    line = binary_agreement("edival", "overall", said, people)
    assert line.accuracy == pytest.approx(0.8)
    assert line.f1 == pytest.approx(2 * 2 / (2 * 2 + 1))
    assert line.kappa == pytest.approx((0.8 - 0.48) / (1 - 0.48))
    assert line.plcc == pytest.approx(0.6666667, abs=1e-6)
    assert binary_agreement("edival", "text_change", [], []).accuracy is None


def test_a_baseline_gets_its_best_threshold() -> None:
    at = best_threshold([0.1, 0.4, 0.35, 0.8], [False, True, False, True])
    assert 0.35 < at <= 0.4
    assert best_threshold([0.5], [True]) < 0.5


def test_the_ceiling_is_the_agreement_of_pairs_of_raters() -> None:
    share, pairs = rater_ceiling({"x": [True, True, False], "y": [True]})
    assert (share, pairs) == (1 / 3, 3)
    assert rater_ceiling({"x": [True]}) == (None, 0)


def test_every_table_that_has_data_is_made() -> None:
    both = ScoredSet((*SCORED.outputs, *chain("1", [True, False, True], mode=COMPLEX)), tools=SCORED.tools)
    titles = [table.title for table in tables.report_tables(both, "paper-o4")]
    assert len(titles) == len(set(titles)) + 2, "types take two tables in each mode"
    assert any("Multi-turn against complex" in title for title in titles)
    first = tables.report_tables(both, "paper-o4")[0]
    assert [column.title for column in first.columns][-2:] == ["O (O.4)", "rank"]
    slow = ScoredSet(tuple(replace(one, latency_s=2.0 + one.turn) for one in chain("1", [True, True, True])))
    (table,) = [one for one in tables.report_tables(slow) if one.title.startswith("EdiVal scores")]
    assert dict(zip([column.title for column in table.columns], table.rows[0], strict=True))["s per image"] == 3.0
    row = dict(zip([column.title for column in first.columns], first.rows[0], strict=True))
    assert (row["IF T1"], row["IF T3"], row["n T1"]) == (75.0, 25.0, 4)


def test_consistency_has_its_own_ranks() -> None:
    scored = ScoredSet((*chain("1", [True, True], editor="a", cc=0.5), *chain("1", [True, True], editor="b", cc=0.9)))
    table = tables.consistency_table(scored, MULTI)
    assert {row[0]: row[-1] for row in table.rows} == {"a": 2, "b": 1}


def test_luminance_starts_at_the_base_image() -> None:
    outputs = [
        replace(one, quality={"luminance_p999": 100.0 + 10 * one.turn, "base_luminance_p999": 90.0})
        for one in chain("1", [True, True, True])
    ]
    assert luminance_points(ScoredSet(tuple(outputs)), MULTI) == [
        ("a", 0, 90.0), ("a", 1, 100.0), ("a", 2, 110.0), ("a", 3, 120.0),
    ]  # fmt: skip
    assert luminance_points(SCORED, MULTI) == [], "nothing was measured"


def test_the_style_table_counts_what_has_no_answer() -> None:
    answers = [
        StyleAnswer("style-check/m", "a", "multi_turn", "square", True, people=True),
        StyleAnswer("style-check/m", "a", "multi_turn", "square", False, people=True),
        StyleAnswer("style-check/m", "a", "multi_turn", "square", None, "The instruction names no style."),
        StyleAnswer("style-check/m", "a", "complex", "padded", False),
    ]
    table = style_table(answers)
    rows = [dict(zip([column.title for column in table.columns], row, strict=True)) for row in table.rows]
    assert [(row["mode"], row["source"], row["answers"], row["yes"]) for row in rows] == [
        ("complex", "padded", 1, 0.0), ("multi_turn", "square", 2, 50.0),
    ]  # fmt: skip
    assert (rows[1]["rated"], rows[1]["people: yes"], rows[1]["agreement"], rows[1]["no answer"]) == (2, 100.0, 50.0, 1)


def test_other_measures_of_quality_have_a_table_only_where_they_are() -> None:
    assert tables.other_quality_table(SCORED, MULTI).rows == ()
    outputs = tuple(
        replace(one, quality={**one.quality, "vlm_quality": 60.0, "base_vlm_quality": 70.0, "aesthetics": 0.5})
        for one in SCORED.outputs
    )
    table = tables.other_quality_table(ScoredSet(outputs), MULTI)
    titles = [column.title for column in table.columns]
    assert titles[:4] == ["editor", "aesthetics T1", "aesthetics T2", "aesthetics T3"]
    assert dict(zip(titles, table.rows[0], strict=True))["vlm quality T3"] == 60.0
    assert dict(zip(titles, table.rows[-1], strict=True))["vlm quality T1"] == 70.0


def test_a_missing_overall_has_no_rank_and_equal_ones_share_it() -> None:
    scored = ScoredSet(
        (
            *chain("1", [True, True], editor="b", cc=0.81),
            *chain("1", [True, True], editor="c", cc=0.81),
            *chain("1", [True, False], editor="d"),
            *chain("1", [True, None], editor="a"),
        )
    )
    table = tables.score_table(scored, MULTI)
    assert [(row[0], row[-1]) for row in table.rows] == [("b", 1), ("c", 1), ("d", 3), ("a", None)]
    compared = tables.settings_table([scored], MULTI)
    assert [(row[1], row[-1]) for row in compared.rows] == [("b", 1), ("c", 1), ("d", 3), ("a", None)]


def test_a_front_names_editors_that_could_not_be_placed() -> None:
    scored = ScoredSet((*chain("1", [True], editor="b"), *chain("1", [None], editor="a")))
    rows = {(row[0], row[1]): row[2:] for row in tables.pareto_table(scored, MULTI).rows}
    assert rows["T1", "IF and CC"] == ("b", "a")
