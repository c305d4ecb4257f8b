"""Notices are codes with values; each place has its own words."""

import ast
from pathlib import Path

import pytest
from pydantic import JsonValue

import imarena
from imarena.core import fill_in_commands
from imarena.core.notices import Notice, notice_fields, sentence, sentences
from imarena.core.notices.notice import wordings
from imarena.core.package_data import package_yaml

ROOT = Path(imarena.__file__).parent
EXAMPLES = [
    Notice(code="battles_left_out", values={"reasons": {"missing_winner": 2, "both_bad": 1200}}),
    Notice(code="models_not_ranked", values={"models": ["a", "b"], "more": 3}),
    Notice(code="coverage_differs", values={"model": "a", "low": 0.5, "high": 1.0}),
    Notice(code="weights_uneven", values={"battles": 300, "worth": 1.0}),
    Notice(code="coefficient_unbounded"),
    Notice(code="strength_unbounded"),
    Notice(code="tie_parameter_unbounded", values={"dimension": "all"}),
    Notice(code="reliability_free"),
    Notice(code="rounds_with_prior", values={"rounds": 3, "of": 1000}),
    Notice(code="won_every_battle", values={"model": "a"}),
    Notice(code="lost_every_battle", values={"model": "a"}),
    Notice(code="groups_never_met", values={"groups": 2}),
    Notice(code="groups_one_sided", values={"groups": 2}),
    Notice(code="weak_prior"),
    Notice(code="not_converged", values={"iterations": 1}),
    Notice(code="intervals_from_model", values={"models": 1, "of": 5}),
    Notice(code="unnamed_units", values={"battles": 1, "cluster": "item"}),
    Notice(code="few_units", values={"units": 4, "cluster": "item"}),
    Notice(code="interval_ends_at_rating", values={"models": 2, "cluster": "item"}),
    Notice(code="order_matters"),
    Notice(code="no_interval", values={"models": 3, "of": 3, "reason": "only one item"}),
    Notice(code="alpha_undefined", values={"group": "all ratings", "reason": "no variation"}),
    Notice(code="rater_stands_out", values={"group": "all ratings", "rater": "x", "flag": "backwards"}),
    Notice(code="outputs_not_scored", values={"judges": {"j": [58, 58, 60]}, "ungrouped": 0}),
    Notice(code="alignment_undefined", values={"judge": "j", "group": "all units", "reason": "no variation"}),
    Notice(code="bias_undefined", values={"judge": "j", "reason": "no scored output has a rating"}),
    Notice(code="outputs_missing", values={"editor": "new", "items": 8, "missing": 7, "keys": list("abcdefg")}),
    Notice(code="people_rows_not_used", values={"file": "r.csv", "rows": 9, "causes": {"no value": 2}}),
    Notice(code="outputs_of_other_size", values={"editor": "new", "outputs": 7, "of": 8, "keys": list("abcdefg")}),
    Notice(code="files_not_asked", values={"files": 5, "examples": ["new: Thumbs.db", "new: x.png"]}),
    Notice(code="ratings_not_numbers", values={"file": "r.csv", "rows": {"3": "good"}}),
    Notice(code="scores_beyond_scale", values={"judge": "j", "scores": 2, "low": 0.0, "high": 1.0}),
    Notice(code="judgments_failed", values={"statuses": {"refused": 2}}),
    Notice(code="calibration_stale", values={"judge": "j", "calibrated": ["1"], "scored": []}),
    Notice(code="few_battles_left", values={"battles": 22, "wanted": 30}),
    Notice(code="one_model_needs_most_votes", values={"model": "a", "target": 25.0, "votes": 900}),
    Notice(
        code="too_few_votes_left",
        values={"battles": 64, "votes_left": 0, "raters": 1, "half_width": 80.0, "target": 25.0},
    ),
    Notice(code="one_answer_each"),
    Notice(code="known_task_unusable", values={"line": 3, "reason": "left and right are the same"}),
    Notice(code="known_task_repeated", values={"line": 3}),
    Notice(code="known_tasks_empty"),
    Notice(code="known_tasks_limit", values={"listed": 500, "more": 1200}),
    Notice(code="health_needs", values={"data": "votes"}),
    Notice(code="probe_empty"),
    Notice(code="probe_failed", values={"failed": 2, "of": 9, "what": "outputs"}),
    Notice(code="pairs_from_ratings", values={"pairs": 36, "overall": "mean"}),
    Notice(code="judges_by_scores", values={"judges": ["a", "b"]}),
    Notice(code="votes_about_other_dimension", values={"judge": "j", "dimension": "overall", "votes": ["quality"]}),
    Notice(code="earlier_scores", values={"judge": "j", "scores": 3}),
    Notice(code="models_without_evidence", values={"models": ["a"], "lacking": "no vote"}),
    Notice(code="models_without_scores", values={"judge": "j", "models": ["a"]}),
    Notice(code="scores_alone", values={"judge": "j"}),
    Notice(code="few_votes", values={"votes": 1, "judges": True}),
    Notice(code="one_sided_verdicts", values={"judgments": 5, "votes": 1}),
    Notice(code="absent_editors", values={"models": ["a"], "people": False, "command": "imarena judge"}),
    Notice(code="scored_only", values={"models": ["a"], "command": "imarena battle"}),
    Notice(code="no_outputs", values={"models": {"a": {"refused": 2}}}),
    Notice(code="fewer_items", values={"models": {"a": [3, 9]}}),
    Notice(code="outputs_not_judged", values={"models": {"a": [3, 9]}, "command": "judge"}),
    Notice(code="one_dimension", values={"dimension": "visual_consistency"}),
    Notice(code="judges_pooled", values={"judges": ["a", "b"]}),
    Notice(code="people_and_judges"),
    Notice(code="other_sources", values={"votes": 7, "judges": {"a": 9}}),
    Notice(code="unnamed_group", values={"by": "task", "battles": 4}),
    Notice(code="dimensions_pooled", values={"dimensions": ["overall", "quality"]}),
    Notice(code="self_judged", values={"editor": "a", "judge": "j"}),
    Notice(code="no_intervals", values={"reason": "There is one item."}),
    Notice(code="board_not_stored", values={"reason": "The disk is full."}),
    Notice(code="group_not_ranked", values={"reason": "There is nothing to rank."}),
    Notice(code="files_left_out", values={"files": 2}),
    Notice(code="questions_unanswered", values={"questions": 1}),
    Notice(code="battles_without_verdict", values={"reasons": {"missing_output": 2}}),
    Notice(code="gate_outputs_missing", values={"model": "a", "coverage": 0.5}),
    Notice(code="gate_nothing_compared"),
    Notice(code="gate_not_on_board", values={"model": "a"}),
    Notice(code="gate_no_interval", values={"model": "a", "other": "b"}),
    Notice(code="gate_few_units", values={"model": "a", "other": "b", "units": 3, "needed": 6, "cluster": "item"}),
    Notice(code="gate_large_board", values={"models": 101, "model": "a", "other": "b"}),
    Notice(code="gate_never_met", values={"model": "a", "other": "b"}),
    Notice(code="gate_both_fixed", values={"model": "a", "other": "b"}),
    Notice(code="gate_unbounded", values={"model": "a", "other": "b", "about": "a", "note": "only one item"}),
    Notice(code="judge_cannot_see", values={"judge": "builtin", "limits": ["style", "identity of a person"]}),
    Notice(code="people_alone"),
    *(
        Notice(code=code, values={"count": 12})
        for code in (
            "items_filtered", "items_not_sampled", "items_without_outputs", "outputs_failed", "outputs_without_editor",
            "outputs_other_samples", "outputs_without_pixels", "outputs_other_editors", "single_outputs", "same_images",
            "units_known", "units_over_limit",
        )
    ),
    Notice(
        code="rater_overclaims_time",
        values={"rater": "r", "answers": 3, "of": 9, "claimed_s": 45.0, "measured_s": 1.0},
    ),
    Notice(code="rater_no_time_to_look", values={"rater": "r", "answers": 4, "least_s": 2.0}),
    Notice(code="rater_very_fast", values={"rater": "r", "median_s": 1.0, "usual_s": 9.0}),
    Notice(code="rater_one_sided", values={"rater": "r", "left_share": 0.9, "asked": 30}),
    Notice(code="rater_misses_gold", values={"rater": "r", "right": 1, "asked": 5}),
    Notice(code="rater_contradicts_self", values={"rater": "r", "right": 1, "asked": 5}),
    Notice(code="rater_not_qualified", values={"rater": "r", "right": 1, "asked": 5}),
    Notice(code="rater_constant", values={"rater": "r"}),
    Notice(code="rater_backwards", values={"rater": "r"}),
    Notice(code="rater_out_of_step", values={"rater": "r"}),
]  # fmt: skip


def test_every_wording_has_an_example_here() -> None:
    of_imports = package_yaml("imarena.core.notices", "imports.yaml")  # the terminal alone words these
    assert wordings().keys() - of_imports.keys() == {notice.code for notice in EXAMPLES}


@pytest.mark.parametrize("notice", EXAMPLES, ids=lambda notice: notice.code)
def test_pages_name_no_option_and_reports_no_command(notice: Notice) -> None:
    terminal, page, report = (sentence(notice, place) for place in ("terminal", "page", "report"))
    for text in (terminal, page, report):
        assert len(text) > 20
        assert "{" not in text
        assert "None" not in text
    plain = "".join(page.split("`")[::2])  # a lead who looks at a page may copy a whole command from it
    assert "--" not in plain + report
    assert "`" not in report
    assert notice_fields([notice]) == {"warnings": [terminal], "notices": [notice.model_dump(mode="json")]}


def test_every_need_of_a_figure_has_words_and_the_command_on_the_terminal_only() -> None:
    for data, need in package_yaml("imarena.core.notices", "needs.yaml").items():
        notice = Notice(code="health_needs", values={"data": data})
        assert sentence(notice).startswith(f"{need['figure']}: not available")
        assert (f"`{fill_in_commands(need['command'])}`" in sentence(notice)) == bool(need["command"])
        assert "`" not in sentence(notice, "page")


def test_equal_sentences_are_told_once() -> None:
    assert sentences([EXAMPLES[4], EXAMPLES[4]]) == [sentence(EXAMPLES[4])]


def codes_in(path: Path) -> set[str]:
    """The codes of all `Notice(code="...")` calls in a file."""
    calls = [node for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))) if isinstance(node, ast.Call)]
    words = [word for call in calls if getattr(call.func, "id", "") == "Notice" for word in call.keywords]
    constants = [node for word in words if word.arg == "code" for node in ast.walk(word.value)]
    return {node.value for node in constants if isinstance(node, ast.Constant) and isinstance(node.value, str)}


def test_every_code_that_is_made_in_the_ranking_room_has_words() -> None:
    made = set().union(*(codes_in(path) for path in (ROOT / "ranking").rglob("*.py")))
    of_groups = {"unnamed_group", "group_not_ranked"}  # of boards by group, worded with the other boards
    of_boards, of_ranking = (package_yaml("imarena.core.notices", f"{name}.yaml") for name in ("boards", "ranking"))
    assert of_groups <= made & of_boards.keys()
    assert {"few_units", *made} - of_groups == of_ranking.keys()


@pytest.mark.parametrize("values", [{}, {"models": 3}, {"models": ["a"], "new": None}], ids=str)
@pytest.mark.parametrize("code", sorted({notice.code for notice in EXAMPLES} | {"text", "of_a_later_version"}))
def test_values_of_another_version_are_listed_as_they_are(code: str, values: dict[str, JsonValue]) -> None:
    assert isinstance(sentence(Notice(code=code, values=values)), str)


@pytest.mark.parametrize("notice", EXAMPLES, ids=lambda notice: notice.code)
def test_the_values_of_this_version_have_words(notice: Notice) -> None:
    listed = sentence(Notice(code="of_a_later_version", values=notice.values)).partition(": ")[2]
    assert sentence(notice) != f"{notice.code.replace('_', ' ').capitalize()}: {listed}"
