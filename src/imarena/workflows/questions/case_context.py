"""What a judge sees beside the images of a case, where its traits ask for it: expected objects and stored evidence."""

from collections.abc import Iterable
from dataclasses import replace

from imarena.core import Exhibit, Judge
from imarena.core.records import Evidence, Output, Status
from imarena.storage import Workspace
from imarena.workflows.questions.cases import Case
from imarena.workflows.questions.expected_objects import all_object_lists
from imarena.workflows.views import instruction_of, references_of, sources_of

INSTRUCTION = "instruction"
"""The parameter of evidence that holds for one instruction only, such as the boxes that an edit is to stay in."""


def with_context(workspace: Workspace, judge: Judge, cases: Iterable[Case], parents: dict[str, Output]) -> list[Case]:
    """The cases with what this judge asks for; nothing is read from the store for a judge that asks for nothing."""
    found = list(cases)
    if judge.traits.shows_objects:
        look = all_object_lists(workspace)
        found = [replace(one, expected_objects=look(one.item, one.left.turn, one.left.mode)) for one in found]
    if judge.traits.evidence:
        stored = _stored(workspace, judge.traits.evidence)
        found = [replace(one, evidence=_about(one, parents, stored)) for one in found]
    return found


def add_context(exhibit: Exhibit, case: Case) -> Exhibit:
    """The exhibit with what `with_context` found. Parameters are left out: a file name there may name an editor."""
    evidence = tuple(one.model_copy(update={"params": {}}) for one in case.evidence)
    return replace(exhibit, expected_objects=case.expected_objects, evidence=evidence)


def _stored(workspace: Workspace, kinds: tuple[str, ...]) -> dict[str, list[Evidence]]:
    """All ok evidence of these kinds by image, oldest first."""
    by_image: dict[str, list[Evidence]] = {}
    for one in workspace.store.records(Evidence, kind=list(kinds), status=Status.OK.value):
        by_image.setdefault(one.image_sha256, []).append(one)
    return by_image


def _about(case: Case, parents: dict[str, Output], stored: dict[str, list[Evidence]]) -> tuple[Evidence, ...]:
    """What is stored about the images of a case: of each tool's findings of a kind about an image, the newest."""
    item, turn = case.item, case.left.turn
    outputs = [output.image for output in (case.left, case.right) if output is not None and output.image is not None]
    images = [*sources_of(item, case.left, parents), *references_of(item, turn), *outputs]
    shown = dict.fromkeys(image.sha256 for image in images)
    instruction = instruction_of(item, turn, case.left.mode)
    newest: dict[tuple[str, str | None, str, str], Evidence] = {}
    for sha256 in shown:
        for one in stored.get(sha256, ()):
            compared = one.against_sha256 is None or one.against_sha256 in shown
            if compared and one.params.get(INSTRUCTION) in (None, instruction):
                newest[sha256, one.against_sha256, one.kind, one.tool] = one
    return tuple(newest.values())
