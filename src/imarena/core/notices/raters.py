"""Sentences of notices of campaigns: what is not asked about, and raters who stand out (nothing is excluded by it).

`rater` in the values is the rater's id; a notice is shown beside the rater's name.
"""

from typing import Any

from imarena.core.notices.notice import Medium, Wording
from imarena.core.plurals import counted


def _overclaims(values: dict[str, Any], _medium: Medium) -> str:
    return (
        f"Claims much more time than the server measured on {values['answers']:,} of {counted(values['of'], 'answer')}"
        f" (median {values['claimed_s']:.0f} s claimed, {values['measured_s']:.1f} s measured)."
    )


def _no_time(values: dict[str, Any], _medium: Medium) -> str:
    return (
        f"No time to look: {counted(values['answers'], 'answer')} in less than {values['least_s']:g} s. They"
        " still count."
    )


def _share(text: str) -> Wording:
    return lambda values, _: f"{text}: {values['right']:,} of {values['asked']:,}."


def _left_out(what: str, reason: str) -> Wording:
    return lambda values, _: f"{counted(values['count'], what)} {reason}."


WORDINGS: dict[str, Wording] = {
    "items_filtered": _left_out("item", "outside the chosen data sets, tasks or topics"),
    "items_not_sampled": _left_out("item", "over the limit per task and topic"),
    "items_without_outputs": _left_out("item", "without an output that can be shown"),
    "outputs_failed": _left_out("output", "that failed"),
    "outputs_without_editor": _left_out("output", "without the name of an editor"),
    "outputs_other_samples": _left_out("output", "beyond the first sample"),
    "outputs_without_pixels": _left_out("output", "without pixels in this workspace"),
    "outputs_other_editors": _left_out("output", "by editors that were not chosen"),
    "single_outputs": _left_out("item", "with one output only, which makes no pair"),
    "same_images": _left_out("pair", "of the same image"),
    "units_known": _left_out("unit", "among the tasks with known answers"),
    "units_over_limit": _left_out("unit", "over the maximum number of units"),
    "rater_overclaims_time": _overclaims,
    "rater_no_time_to_look": _no_time,
    "rater_very_fast": lambda values, _: (
        f"Much faster than the others: median {values['median_s']:.1f} s, others {values['usual_s']:.1f} s."
    ),
    "rater_one_sided": lambda values, _: (
        f"Chooses one side: left in {values['left_share']:.0%} of {counted(values['asked'], 'answer')} for a side."
    ),
    "rater_misses_gold": _share("Misses tasks with a known answer; right"),
    "rater_contradicts_self": _share("Answers repeated tasks differently; same"),
    "rater_not_qualified": _share("Did not pass the test; right"),
    "rater_constant": "Always gives the same value.",
    "rater_backwards": "Seems to use the scale backwards.",
    "rater_out_of_step": "Disagrees with the other raters.",
}
