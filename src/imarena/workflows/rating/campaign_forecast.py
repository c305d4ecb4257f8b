"""Forecast how many tasks a campaign will have before it is created, and why units are left out."""

from collections import Counter, defaultdict
from collections.abc import Collection, Mapping
from typing import Any

from imarena.core.notices import Notice, sentence
from imarena.core.records import FrozenModel, Output, Status
from imarena.routing import CampaignPlan, choose_campaign_items, expected_repeats
from imarena.storage import Workspace, withdrawn_images
from imarena.workflows.rating.campaigns import candidate_items, check_plan, plan_units


class LeftOutReason(FrozenModel):
    """A reason why units are left out, with a count."""

    reason: str
    text: str
    count: int


class CampaignForecast(FrozenModel):
    """Size of a campaign before it is created."""

    units: int
    raters_per_unit: int
    tasks: int
    checks: int
    """Practice, test and gold tasks: each rater gets all practice and test tasks, and a share of gold."""
    repeats: int
    """Estimated number of repeated tasks if as few raters as possible answer all units."""
    reasons: tuple[LeftOutReason, ...]
    """Why there are fewer units than possible."""


def forecast_campaign(workspace: Workspace, plan: CampaignPlan) -> CampaignForecast:
    """Forecast the size of a campaign. Raises the same errors as creating it; stores nothing."""
    check_plan(workspace, plan)
    units = plan_units(workspace, plan)
    counts = _left_out(workspace, plan, len(units))
    reasons = tuple(
        LeftOutReason(reason=reason, text=sentence(Notice(code=reason, values={"count": count})), count=count)
        for reason, count in counts.items()
        if count
    )
    repeats = round(plan.raters * expected_repeats(plan, len(units)))
    return CampaignForecast(
        units=len(units), raters_per_unit=plan.raters, tasks=len(units) * plan.raters, checks=len(plan.known()),
        repeats=repeats, reasons=reasons,
    )  # fmt: skip


def _left_out(workspace: Workspace, plan: CampaignPlan, number: int) -> Counter[str]:
    """Counts by notice code, in the order of filtering: items, outputs, then units."""
    left: Counter[str] = Counter()
    everything = CampaignPlan(name=plan.name, kind=plan.kind)
    filtered = plan.model_copy(update={"per_stratum": None})
    items = set(choose_campaign_items(filtered, candidate_items(workspace)))
    sampled = set(choose_campaign_items(plan, candidate_items(workspace)))
    left["items_filtered"] = len(choose_campaign_items(everything, candidate_items(workspace))) - len(items)
    left["items_not_sampled"] = len(items) - len(sampled)
    if plan.kind != "check":
        left.update(_outputs_left_out(workspace, plan, sampled))
    unlimited = len(plan_units(workspace, plan.model_copy(update={"max_units": None})))
    with_known = plan.model_copy(update={"max_units": None, "gold": (), "practice": (), "qualification": ()})
    left["units_known"] = len(plan_units(workspace, with_known)) - unlimited
    left["units_over_limit"] = unlimited - number
    return left


def _outputs_left_out(workspace: Workspace, plan: CampaignPlan, items: set[str]) -> Counter[str]:
    left: Counter[str] = Counter()
    withdrawn = withdrawn_images(workspace)
    images_by_slot: dict[tuple[str, int, str], list[str]] = defaultdict(list)
    for row in workspace.store.rows(Output):
        if row["item_id"] not in items:
            continue
        reason = _output_reason(row, plan, withdrawn)
        if reason:
            left[reason] += 1
        else:
            images_by_slot[row["item_id"], row["turn"], row["mode"]].append(row["image_sha256"])
    left["items_without_outputs"] = len(items - {item for item, _, _ in images_by_slot})
    if plan.kind == "preference":
        left["single_outputs"] = sum(len(images) == 1 for images in images_by_slot.values())
        left["same_images"] = sum(
            count * (count - 1) // 2 for images in images_by_slot.values() for count in Counter(images).values()
        )
    return left


def _output_reason(output: Mapping[str, Any], plan: CampaignPlan, withdrawn: Collection[str]) -> str:
    """Why an output is not shown; empty if it is."""
    if output["status"] != Status.OK.value:
        return "outputs_failed"
    if output["editor"] is None:
        return "outputs_without_editor"
    if output["sample"] != 0:
        return "outputs_other_samples"
    if not output["image_sha256"] or output["image_sha256"] in withdrawn:
        return "outputs_without_pixels"
    return "outputs_other_editors" if plan.editors and output["editor"] not in plan.editors else ""
