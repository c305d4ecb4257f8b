"""Which rule checks which kind of edit."""

from collections.abc import Callable

from imarena.judges.builtin.checks import RuleInput, RuleResult, check_colour, check_object, check_remove, check_text
from imarena.judges.builtin.global_edits import check_background, check_enhance, check_style, check_view
from imarena.judges.builtin.things import adjust_by_detections
from imarena.language import Edit, EditKind

Rule = Callable[[Edit, RuleInput], RuleResult]

RULES: dict[EditKind, Rule] = {
    EditKind.COLOUR: check_colour,
    EditKind.REMOVE: check_remove,
    EditKind.TEXT: check_text,
    EditKind.BACKGROUND: check_background,
    EditKind.STYLE: check_style,
    EditKind.ENHANCE: check_enhance,
    EditKind.EXTEND: check_view,
    EditKind.VIEW: check_view,
}


def check_edit(edit: Edit, scene: RuleInput) -> RuleResult:
    """Apply the rule for the edit's kind; kinds without one are changes of some object."""
    return adjust_by_detections(RULES.get(edit.kind, check_object)(edit, scene), edit, scene)
