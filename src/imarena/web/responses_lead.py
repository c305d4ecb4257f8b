"""From what workflows give to what goes over the wire to leads."""

from imarena.web.wire_lead import RaterOut
from imarena.workflows.rating import RaterWork


def rater_line(work: RaterWork) -> RaterOut:
    """A rater's work in a campaign."""
    return RaterOut(
        rater_id=work.rater_id,
        name=work.name,
        params=work.params,
        active=work.active,
        sheet=work.sheet,
        votes=work.votes,
        skipped=work.skipped,
        median_time_s=work.median_time_s,
        hasty=work.hasty,
        test_right=sum(work.tests),
        test_asked=len(work.tests),
        gold_right=sum(work.gold),
        gold_asked=len(work.gold),
        repeats_same=sum(work.repeats),
        repeats_asked=len(work.repeats),
        agreement=work.agreement,
        left_share=work.left_share,
        flags=work.flags,
    )
