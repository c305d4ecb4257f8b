"""Which votes a judge's verdicts about one dimension are compared with: one rule for `align` and `health`."""

from collections.abc import Collection

from imarena.workflows.views.battles import WHOLE


def compared_dimensions(
    dimension: str, judged: Collection[str], voted: Collection[str], *, separate: bool = False
) -> frozenset[str]:
    """Dimensions of the votes that verdicts about `dimension` are compared with.

    Votes about the same dimension, where there are any. Otherwise votes about the whole. Otherwise votes about
    everything on which the judge has no verdicts of its own. A judge with verdicts about the whole is compared by
    those with what it has no other verdicts on, so that its verdicts about one dimension meet votes on that one only.

    `judged`: all dimensions of the judge's verdicts. `voted`: all dimensions of the votes. `separate`: each dimension
    of the votes has figures of its own, so that votes about something else need not give way to better ones.
    """
    same = frozenset(voted) & {dimension}
    if dimension != WHOLE and WHOLE in judged:
        return same
    others = frozenset(voted).difference(judged)
    if separate:
        return same | others
    return same or (others & {WHOLE}) or others
