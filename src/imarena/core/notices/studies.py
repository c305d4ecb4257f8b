"""Sentences of notices of agreement, alignment, judge health, routing and comparisons.

A wording takes the notice's values and the place where it is shown. Add the code here when you add a notice.
"""

from typing import Any

from imarena.core.notices.notice import Place, Wording
from imarena.core.plurals import counted, plural

RATER_FLAGS = {
    "constant": "always gives the same value",
    "backwards": "seems to use the scale backwards",
    "out_of_step": "disagrees with the other raters",
}
NAMES_SHOWN = 5


def _alpha_undefined(values: dict[str, Any], _place: Place) -> str:
    return f"{values['group']}: alpha is undefined: {values['reason']}"


def _rater_stands_out(values: dict[str, Any], _place: Place) -> str:
    return f"{values['group']}: rater '{values['rater']}' {RATER_FLAGS[values['flag']]}"


def _outputs_not_scored(values: dict[str, Any], _place: Place) -> str:
    criterion = f", {values['criterion']}" if values["criterion"] else ""
    rated = counted(values["rated"], "rated output")
    return f"judge '{values['judge']}'{criterion} scored {values['scored']:,} of {rated}"


def _alignment_undefined(values: dict[str, Any], _place: Place) -> str:
    return f"judge '{values['judge']}', {values['group']}: {values['reason']}"


def _bias_undefined(values: dict[str, Any], _place: Place) -> str:
    return f"judge '{values['judge']}': bias is undefined: {values['reason']}"


def _outputs_missing(values: dict[str, Any], place: Place) -> str:
    told = f"{values['editor']} has no output for {values['missing']} of {counted(values['items'], 'item')}"
    if place != "terminal":
        return f"{told}. These items are not compared."
    names = ", ".join(values["keys"][:NAMES_SHOWN])
    return f"{told}: {names}{' and more' if values['missing'] > NAMES_SHOWN else ''}."


def _judgments_failed(values: dict[str, Any], _place: Place) -> str:
    listed = ", ".join(f"{number:,} {status}" for status, number in values["statuses"].items())
    return f"Judgments without a verdict: {listed}. They count for neither side."


def _calibration_stale(values: dict[str, Any], place: Place) -> str:
    known, now = (", ".join(f"'{name}'" for name in values[part]) or "none" for part in ("calibrated", "scored"))
    told = f"'{values['judge']}' was calibrated with version {known}, but its scores now come from version {now}"
    return f"{told}: run `imarena route calibrate` again." if place == "terminal" else f"{told}: calibrate it again."


def _few_battles_left(values: dict[str, Any], _place: Place) -> str:
    return (
        f"Only {values['battles']:,} of {counted(values['wanted'], 'battle')} were available: "
        "the others were assigned before or did not pass the policy."
    )


def _one_model_needs_most_votes(values: dict[str, Any], _place: Place) -> str:
    return (
        f"'{values['model']}' needs by far the most votes: it wins or loses nearly every battle, so each vote says "
        f"little about its rating. All other models reach +-{values['target']:g} with "
        f"{counted(values['votes'], 'vote')}."
    )


def _too_few_votes_left(values: dict[str, Any], place: Place) -> str:
    battles, left = counted(values["battles"], "battle"), values["votes_left"]
    raters = counted(values["raters"], "rater")
    many = f"no votes are left to collect on {battles}" if not left else f"{counted(left, 'vote')} can be collected"
    told = f"With {raters}, {many}; this gives about +-{values['half_width']:.0f}, not +-{values['target']:g}."
    options = ("`--raters`", "`--target`") if place == "terminal" else ("more raters", "a wider target")
    return f"{told} Add items, or set {options[0]} or {options[1]}."


def _one_answer_each(_values: dict[str, Any], place: Place) -> str:
    told = "no task was answered by two raters"
    if place != "terminal":
        return told
    return f"{told}: `campaign create --raters-per-unit 2` or `route assign --votes 2` asks two people about each"


def _known_task_unusable(values: dict[str, Any], _place: Place) -> str:
    return f"Line {values['line']}: {values['reason']}."


def _known_task_repeated(values: dict[str, Any], _place: Place) -> str:
    return f"Line {values['line']}: this task is in an earlier line of the table."


def _known_tasks_empty(_values: dict[str, Any], _place: Place) -> str:
    return "The table has no rows. Its first line names the columns, such as item,left,right,winner."


NEEDS = {
    "position_bias": ("position bias", "battles in both orders, by a pairwise judge", "imarena battle"),
    "repeats": ("self-consistency", "repeated questions at a temperature above 0", "--repeats 5"),
    "repeated_pairs": ("self-consistency", "two or more outputs of the same item", ""),
    "probe_of_this_form": ("prompt injection", "a probe of this form of the judge (an earlier form was probed)", ""),
    "probe": ("prompt injection", "a probe", "imarena health --probe 20"),
    "votes": ("accuracy against people and tie laziness", "votes on pairs", "imarena import` or `imarena campaign"),
    "verdicts_on_votes": ("accuracy against people", "verdicts on the pairs that people voted on", ""),
    "scores_of_pairs": ("agreement by score gap", "scores of outputs that people compared", "imarena judge"),
    "two_forms": ("drift", "the same outputs judged by two versions, prompts or settings of the judge", ""),
    "common_outputs": ("drift", "outputs or pairs that two forms of the judge both judged", ""),
    "ratings_and_scores": ("correlation with people", "ratings of outputs, and scores", "imarena judge"),
    "scores_of_ratings": ("correlation with people", "scores of the outputs that people rated", ""),
    "two_judges": ("agreement among judges", "two judges of one dimension with verdicts on the same pairs", ""),
}
"""What a figure of a judge's health needs: the figure, the data, and the command that makes them."""


def _health_needs(values: dict[str, Any], place: Place) -> str:
    figure, data, command = NEEDS[values["data"]]
    how = f" (`{command}`)" if command and place == "terminal" else ""
    return f"{figure}: not available; needs {data}{how}"


def _probe_empty(_values: dict[str, Any], _place: Place) -> str:
    return "prompt injection: not available; no question was asked yet"


def _probe_failed(values: dict[str, Any], _place: Place) -> str:
    return (
        f"prompt injection: {values['failed']:,} of {values['of']:,} {values['what']} with a text "
        "have no verdict to compare"
    )


def _judges_by_scores(values: dict[str, Any], _: Place) -> str:
    names = ", ".join(values["judges"])
    return f"{names} compared no pair directly: pairs of scores are compared with the votes."


def _votes_about_other_dimension(values: dict[str, Any], _: Place) -> str:
    votes = ", ".join(values["votes"])
    return f"{values['judge']} gave verdicts about {values['dimension']}; they are compared with votes about {votes}."


def _pairs_from_ratings(values: dict[str, Any], _place: Place) -> str:
    return (
        f"People rated outputs and compared none: {values['pairs']:,} pairs of outputs for one item stand for votes. "
        "The higher mean rating wins, and equal means are a tie."
    )


WORDS: dict[str, Wording] = {
    "pairs_from_ratings": _pairs_from_ratings,
    "judges_by_scores": _judges_by_scores,
    "votes_about_other_dimension": _votes_about_other_dimension,
    "earlier_scores": lambda values, _: (
        f"{counted(values['scores'], 'score')} of '{values['judge']}' by an earlier version, prompt or setting "
        f"{plural('does', values['scores'])} not count. Judge all outputs with one version."
    ),
    "scores_alone": lambda values, place: (
        f"The judge {values['judge']} counts by its scores here. It also compared pairs directly"
        + ("." if place == "report" else f": `imarena rank --judge {values['judge']}` ranks by those.")
    ),
    "models_without_evidence": lambda values, _: (
        f"Not ranked, having {values['lacking']}: {', '.join(values['models'])}."
    ),
    "models_without_scores": lambda values, place: (
        f"'{values['judge']}' scored no output of {', '.join(values['models'])}: only votes rank them."
        + ("" if place == "report" else " Run: imarena judge.")
    ),
    "alpha_undefined": _alpha_undefined,
    "rater_stands_out": _rater_stands_out,
    "outputs_not_scored": _outputs_not_scored,
    "alignment_undefined": _alignment_undefined,
    "bias_undefined": _bias_undefined,
    "outputs_missing": _outputs_missing,
    "judgments_failed": _judgments_failed,
    "calibration_stale": _calibration_stale,
    "few_battles_left": _few_battles_left,
    "one_model_needs_most_votes": _one_model_needs_most_votes,
    "too_few_votes_left": _too_few_votes_left,
    "one_answer_each": _one_answer_each,
    "known_task_unusable": _known_task_unusable,
    "known_task_repeated": _known_task_repeated,
    "known_tasks_empty": _known_tasks_empty,
    "health_needs": _health_needs,
    "probe_empty": _probe_empty,
    "probe_failed": _probe_failed,
}
