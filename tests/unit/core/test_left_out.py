"""What a board leaves out, in words."""

from imarena.core import package_yaml
from imarena.core.notices import left_out_texts
from imarena.core.records import Status
from imarena.workflows.views.battles import EDITORS_NOT_NAMED, SAME_EDITOR, SCORED_TOO
from imarena.workflows.views.chains import ONE_SIDE
from imarena.workflows.views.judge_variants import EARLIER
from imarena.workflows.views.orders import PROBLEMS
from imarena.workflows.views.votes import REASONS


def test_reasons_are_phrases_with_their_number() -> None:
    assert left_out_texts({"missing_output": 1200, "both_bad": 1, "missing_winner": 0, SCORED_TOO: 770}) == [
        "1,200 battles in which one side has no output",
        "1 battle in which both outputs are bad",
        "770 pairs of scores, because the judge also compared the two outputs directly",
    ]


def test_other_dimensions_and_reasons_of_a_table_are_kept() -> None:
    assert left_out_texts({"about visual_quality, not the whole": 3, "asked_to": 2}) == [
        "3 verdicts on visual quality alone",
        "2 battles (asked to)",
    ]


def test_every_reason_of_the_package_has_words() -> None:
    known = package_yaml("imarena.core.notices", "left_out.yaml")
    incomplete = [f"incomplete: {name}" for name in PROBLEMS if name != Status.OK.value]
    votes = [reason.value for reason in REASONS if reason]
    assert {EDITORS_NOT_NAMED, SAME_EDITOR, SCORED_TOO, ONE_SIDE, EARLIER, *incomplete, *votes} <= known.keys()
