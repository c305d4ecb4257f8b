"""Sentences of notices of agreement, alignment, judge health, routing and comparisons.

A wording takes the notice's values and the medium where it is shown. Add the code here when you add a notice.
"""

from typing import Any

from imarena.core.notices.notice import Medium, Wording
from imarena.core.plurals import counted, plural

RATER_FLAGS = {
    "constant": "always gives the same value",
    "backwards": "seems to use the scale backwards",
    "out_of_step": "disagrees with the other raters",
}
_NAMES_SHOWN = 5


def _outputs_not_scored(values: dict[str, Any], _medium: Medium) -> str:
    criterion = f", {values['criterion']}" if values["criterion"] else ""
    rated = counted(values["rated"], "rated output")
    ungrouped = values.get("ungrouped", 0)
    rest = f" ({ungrouped:,} of the missing ones belong to no group of the table)" if ungrouped else ""
    return f"judge '{values['judge']}'{criterion} scored {values['scored']:,} of {rated}{rest}"


def _outputs_missing(values: dict[str, Any], medium: Medium) -> str:
    text = f"{values['editor']} has no output for {values['missing']} of {counted(values['items'], 'item')}"
    if medium != "terminal":
        return f"{text}. These items are not compared."
    names = ", ".join(values["keys"][:_NAMES_SHOWN])
    return f"{text}: {names}{' and more' if values['missing'] > _NAMES_SHOWN else ''}."


def _outputs_of_other_size(values: dict[str, Any], medium: Medium) -> str:
    outputs = counted(values["outputs"], "output")
    verb = plural("has", values["outputs"])
    text = f"{values['editor']}: {outputs} of {values['of']:,} {verb} another size than the source"
    if medium != "terminal":
        return f"{text}. Judges see images scaled to a common size."
    names = ", ".join(values["keys"][:_NAMES_SHOWN])
    return f"{text}: {names}{' and more' if values['outputs'] > _NAMES_SHOWN else ''}."


def _people_rows_not_used(values: dict[str, Any], _medium: Medium) -> str:
    causes = values["causes"]
    listed = ", ".join(f"{number:,} {cause}" for cause, number in causes.items())
    return f"{values['file']}: {sum(causes.values()):,} of {counted(values['rows'], 'row')} not used: {listed}."


def _ratings_not_numbers(values: dict[str, Any], _medium: Medium) -> str:
    rows = list(values["rows"].items())
    listed = ", ".join(f"row {row} ('{cell}')" for row, cell in rows[:_NAMES_SHOWN])
    more = f" and {len(rows) - _NAMES_SHOWN:,} more" if len(rows) > _NAMES_SHOWN else ""
    verb = "is not a number and was" if len(rows) == 1 else "are not numbers and were"
    return f"{values['file']}: {counted(len(rows), 'value')} {verb} left out: {listed}{more}."


def _judgments_failed(values: dict[str, Any], _medium: Medium) -> str:
    listed = ", ".join(f"{number:,} {status}" for status, number in values["statuses"].items())
    return f"Judgments without a verdict: {listed}. They count for neither side."


def _calibration_stale(values: dict[str, Any], medium: Medium) -> str:
    known, now = (", ".join(f"'{name}'" for name in values[part]) or "none" for part in ("calibrated", "scored"))
    text = f"'{values['judge']}' was calibrated with version {known}, but its scores now come from version {now}"
    return f"{text}: run `imarena route calibrate` again." if medium == "terminal" else f"{text}: calibrate it again."


def _too_few_votes_left(values: dict[str, Any], medium: Medium) -> str:
    battles, left = counted(values["battles"], "battle"), values["votes_left"]
    raters = counted(values["raters"], "rater")
    many = f"no votes are left to collect on {battles}" if not left else f"{counted(left, 'vote')} can be collected"
    text = f"With {raters}, {many}; this gives about +-{values['half_width']:.0f}, not +-{values['target']:g}."
    options = ("`--raters`", "`--target`") if medium == "terminal" else ("more raters", "a wider target")
    return f"{text} Add items, or set {options[0]} or {options[1]}."


def _one_answer_each(_values: dict[str, Any], medium: Medium) -> str:
    text = "no task was answered by two raters"
    if medium != "terminal":
        return text
    return f"{text}: `campaign create --raters-per-unit 2` or `route assign --votes 2` asks two people about each"


def _files_left_out(values: dict[str, Any], _medium: Medium) -> str:
    return f"{counted(values['files'], 'file')} could not be used."


def _battles_without_verdict(values: dict[str, Any], _medium: Medium) -> str:
    listed = ", ".join(f"{count:,} {reason.replace('_', ' ')}" for reason, count in values["reasons"].items())
    return f"Battles without a verdict or an output: {listed}."


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


def _health_needs(values: dict[str, Any], medium: Medium) -> str:
    figure, data, command = NEEDS[values["data"]]
    how = f" (`{command}`)" if command and medium == "terminal" else ""
    return f"{figure}: not available; needs {data}{how}"


WORDINGS: dict[str, Wording] = {
    "pairs_from_ratings": (
        "People rated outputs and compared none: {pairs:,} pairs of outputs for one item are used as votes. "
        "The higher mean rating wins, and equal means are a tie."
    ),
    "judges_by_scores": lambda values, _: (
        f"{', '.join(values['judges'])} compared no pair directly: pairs of scores are compared with the votes."
    ),
    "votes_about_other_dimension": lambda values, _: (
        f"{values['judge']} gave verdicts about {values['dimension']}; they are compared with votes about "
        f"{', '.join(values['votes'])}."
    ),
    "earlier_scores": lambda values, _: (
        f"{counted(values['scores'], 'score')} of '{values['judge']}' by an earlier version, prompt or setting "
        f"{plural('does', values['scores'])} not count. Judge all outputs with one version."
    ),
    "scores_beyond_scale": lambda values, medium: (
        f"{counted(values['scores'], 'score')} of '{values['judge']}' {plural('is', values['scores'])} outside of the "
        f"scale that it states, {values['low']:g} to {values['high']:g}, and stored as given."
        + ("" if medium == "report" else " Correct the judge's scale or its scores, and give it a new version.")
    ),
    "scores_alone": lambda values, medium: (
        f"The judge {values['judge']} counts by its scores here. It also compared pairs directly"
        + ("." if medium == "report" else f": `imarena rank --judge {values['judge']}` ranks by those.")
    ),
    "models_without_evidence": lambda values, _: (
        f"Not ranked, because they have {values['lacking']}: {', '.join(values['models'])}."
    ),
    "models_without_scores": lambda values, medium: (
        f"'{values['judge']}' scored no output of {', '.join(values['models'])}: only votes rank them."
        + ("" if medium == "report" else " Run: imarena judge.")
    ),
    "alpha_undefined": "{group}: alpha is undefined: {reason}",
    "rater_stands_out": lambda values, _: f"{values['group']}: rater '{values['rater']}' {RATER_FLAGS[values['flag']]}",
    "outputs_not_scored": _outputs_not_scored,
    "alignment_undefined": "judge '{judge}', {group}: {reason}",
    "bias_undefined": "judge '{judge}': bias is undefined: {reason}",
    "outputs_missing": _outputs_missing,
    "outputs_of_other_size": _outputs_of_other_size,
    "people_rows_not_used": _people_rows_not_used,
    "ratings_not_numbers": _ratings_not_numbers,
    "judgments_failed": _judgments_failed,
    "calibration_stale": _calibration_stale,
    "few_battles_left": lambda values, _: (
        f"Only {values['battles']:,} of {counted(values['wanted'], 'battle')} were available: "
        "the others were assigned before or did not pass the policy."
    ),
    "one_model_needs_most_votes": lambda values, _: (
        f"'{values['model']}' needs by far the most votes: it wins or loses nearly every battle, so each vote adds "
        f"little information about its rating. All other models reach +-{values['target']:g} with "
        f"{counted(values['votes'], 'vote')}."
    ),
    "too_few_votes_left": _too_few_votes_left,
    "people_alone": "No judge's scores are used: battles are chosen and models are rated by the votes of people alone.",
    "one_answer_each": _one_answer_each,
    "known_task_unusable": "Line {line}: {reason}.",
    "known_task_repeated": "Line {line}: this task is in an earlier line of the table.",
    "known_tasks_empty": "The table has no rows. Its first line names the columns, such as item,left,right,winner.",
    "health_needs": _health_needs,
    "probe_empty": "prompt injection: not available; no question was asked yet",
    "probe_failed": "prompt injection: {failed:,} of {of:,} {what} with a text have no verdict to compare",
    "files_left_out": _files_left_out,
    "questions_unanswered": lambda values, _: (
        f"{counted(values['questions'], 'question')} to the judge {plural('has', values['questions'])} no answer yet."
    ),
    "battles_without_verdict": _battles_without_verdict,
    "gate_outputs_missing": lambda values, _: (
        f"{values['model']} has outputs for {values['coverage']:.1%} of the items on this board."
    ),
    "gate_nothing_compared": "No item has a verdict on both outputs.",
}
