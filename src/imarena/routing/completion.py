"""How a rater's participation ended, and the completion code that a crowd platform expects for it."""

from urllib.parse import quote

from imarena.routing.campaign_plan import CampaignPlan, ParticipationOutcome
from imarena.routing.offers import RaterStanding

_PLACEHOLDER = "{code}"


def participation_outcome(plan: CampaignPlan, standing: RaterStanding) -> ParticipationOutcome | None:
    """How a rater's participation ended; None while there is more to come.

    Who answered nothing because others were faster found the quota full. Who has less than `complete_after` answers
    when the work ends completed a part.
    """
    if standing.stage == "not_qualified":
        return "screened_out"
    if standing.stage not in ("done", "quota", "waiting", "closed", "paused"):
        return None
    if standing.done >= plan.complete_after:
        return "completed"
    if standing.stage == "waiting":
        return None
    if standing.done:
        return "partial"
    return None if standing.stage == "paused" else "quota_full"


def completion_code(plan: CampaignPlan, outcome: ParticipationOutcome | None) -> str | None:
    """The code of an outcome; None where the lead set none."""
    return plan.completion_codes.get(outcome) or None if outcome is not None else None


def completion_address(plan: CampaignPlan, outcome: ParticipationOutcome | None) -> str | None:
    """Where to send a rater at the end. An address without a place for the code is for those who completed only."""
    code = completion_code(plan, outcome)
    if plan.completion_url is None or outcome is None:
        return None
    if _PLACEHOLDER in plan.completion_url:
        return plan.completion_url.replace(_PLACEHOLDER, quote(code, safe="")) if code else None
    return plan.completion_url if outcome == "completed" else None
