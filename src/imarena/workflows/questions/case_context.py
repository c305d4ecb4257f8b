"""Context that a judge's traits request beside the images of a case: expected objects, stored evidence, the plan."""

from collections.abc import Iterable
from dataclasses import replace

from imarena.core import Exhibit, Judge, PlannedEdit, object_plan
from imarena.core.records import Evidence, ImageRef, Item, Mode, Output, Status
from imarena.storage import Workspace
from imarena.workflows.questions.cases import Case, images_of
from imarena.workflows.questions.expected_objects import all_object_lists
from imarena.workflows.questions.image_loading import ImageLoader
from imarena.workflows.views import edit_question

INSTRUCTION = "instruction"
"""Evidence parameter for evidence that holds for one instruction only, such as the boxes that an edit must stay in."""


def with_context(workspace: Workspace, judge: Judge, cases: Iterable[Case], parents: dict[str, Output]) -> list[Case]:
    """Return the cases with the context that this judge requests; read nothing from the store if it requests none."""
    extended = list(cases)
    if judge.traits.shows_objects:
        look = all_object_lists(workspace)
        extended = [
            replace(case, expected_objects=look(case.item, case.left.turn, case.left.mode)) for case in extended
        ]
    if judge.traits.needs_plan:
        extended = [
            replace(case, plan=object_plan(case.item), chain=_chain(case.item, case.left, parents)) for case in extended
        ]
    if judge.traits.evidence:
        stored = _stored_evidence(workspace, judge.traits.evidence)
        extended = [replace(case, evidence=_about(case, parents, stored)) for case in extended]
    return extended


def add_context(exhibit: Exhibit, case: Case) -> Exhibit:
    """Return the exhibit with the case's context, without parameters: a file name there may name an editor."""
    evidence = tuple(record.model_copy(update={"params": {}}) for record in case.evidence)
    return replace(exhibit, expected_objects=case.expected_objects, evidence=evidence)


def planned_edit(workspace: Workspace, judge: Judge, case: Case, load: ImageLoader) -> PlannedEdit | None:
    """Return the case's plan and the images before its output; None for a judge that needs no plan.

    The judge's earlier measurements of these images are read only now, so that they include those of this run.
    """
    if case.plan is None or not case.chain:
        return None
    hashes = {image.sha256 for image in case.chain}
    if case.left.image is not None:
        hashes.add(case.left.image.sha256)
    kinds = list(judge.traits.produces_evidence)
    evidence = (
        workspace.store.records(Evidence, image_sha256=sorted(hashes), kind=kinds, status=Status.OK.value)
        if kinds
        else ()
    )
    chain = tuple(load(image) for image in case.chain)
    return PlannedEdit(case.plan, case.left.turn, case.left.mode, chain, tuple(evidence))


def _chain(item: Item, output: Output, parents: dict[str, Output]) -> tuple[ImageRef, ...]:
    """Return the images from the base to the one before this output; empty if one is missing."""
    if not item.sources:
        return ()
    base = item.sources[:1]
    if output.mode is not Mode.MULTI_TURN:
        return base
    before: list[ImageRef] = []
    while output.turn > 0:
        parent = parents.get(output.parent_id or "")
        if parent is None or parent.image is None:
            return ()
        before.append(parent.image)
        output = parent
    return (*base, *reversed(before))


def _stored_evidence(workspace: Workspace, kinds: tuple[str, ...]) -> dict[str, list[Evidence]]:
    """Return all ok evidence of these kinds by image, oldest first."""
    by_image: dict[str, list[Evidence]] = {}
    for evidence in workspace.store.records(Evidence, kind=list(kinds), status=Status.OK.value):
        by_image.setdefault(evidence.image_sha256, []).append(evidence)
    return by_image


def _about(case: Case, parents: dict[str, Output], stored: dict[str, list[Evidence]]) -> tuple[Evidence, ...]:
    """Return the stored evidence about a case's images: the newest for each image, kind and tool."""
    hashes = dict.fromkeys(image.sha256 for image in images_of(case, parents))
    instruction = edit_question(case.item, case.left, case.right, parents).instruction
    newest: dict[tuple[str, str | None, str, str], Evidence] = {}
    for sha256 in hashes:
        for evidence in stored.get(sha256, ()):
            compared = evidence.against_sha256 is None or evidence.against_sha256 in hashes
            if compared and evidence.params.get(INSTRUCTION) in (None, instruction):
                newest[sha256, evidence.against_sha256, evidence.kind, evidence.tool] = evidence
    return tuple(newest.values())
