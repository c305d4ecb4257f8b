"""Whose verdicts stand together on a board, and who helped to make what: what a board has to say beside its figures."""

import re
from collections.abc import Iterable, Mapping

from imarena.core.records import Output, Status
from imarena.storage import Workspace

BY_OPTION = {"judge": "with --judge", "source": "with --source human or --source judge"}
"""How one of several is chosen on the command line."""
BY_FILTER = {"judge": "in the filter “Judge”", "source": "in the filter “Verdicts of”"}
"""How it is chosen on a page."""
_OPTIONS = (
    (re.compile(r"--source (?:people|human)\b"), "“Verdicts of”: People"),
    (re.compile(r"--source judges?\b"), "“Verdicts of”: Judges"),
    (re.compile(r"--source all\b"), "“Verdicts of”: People and judges"),
    (re.compile(r"--judge ([^\s)`;]+)"), r"“Judge”: \1"),
)


def on_page(text: str) -> str:
    """What the command line says beside a board, with the filters of a page for its options; commands stay."""
    parts = text.split("`")  # a command stands between two of them
    for place in range(0, len(parts), 2):
        for option, chosen in _OPTIONS:
            parts[place] = option.sub(chosen, parts[place])
    return "`".join(parts)


def driven_by(workspace: Workspace) -> dict[str, str]:
    """Editors of this workspace whose outputs a judge helped to make, and which judge."""
    from imarena.storage.codec import from_row

    found: dict[str, str] = {}
    for row in workspace.store.rows(Output, status=Status.OK.value):
        if not row["editor"] or '"driven_by"' not in row["body"]:
            continue  # few outputs are an agent's: the others need not be read
        output = from_row(Output, row)
        judge = output.params.get("driven_by") if isinstance(output, Output) else None
        if isinstance(judge, str):
            found[row["editor"]] = judge
    return found


def self_judged(drivers: Mapping[str, str], judges: Iterable[str]) -> tuple[str, ...]:
    """A warning for each editor that one of these judges both drove and ranks."""
    ranking = set(judges)
    return tuple(
        f"{editor} was driven by the judge '{judge}', which also ranks it here: its place is not independent."
        for editor, judge in sorted(drivers.items())
        if judge in ranking
    )


def verdict_warnings(
    judges: Iterable[str],
    drivers: Mapping[str, str],
    *,
    people: bool,
    weighed: bool = False,
    choose: Mapping[str, str] = BY_OPTION,
) -> tuple[str, ...]:
    """What has to be said of a board that rests on these judges' verdicts, and on people's votes if `people`.

    `weighed`: the method weighs people and judges itself, so that none are simply pooled.
    """
    names = sorted(set(judges))
    told: tuple[str, ...] = ()
    if people and names and not weighed:
        told = (f"People's votes and judges' verdicts count alike here. Choose one of them {choose['source']}.",)
    if len(names) > 1 and not weighed:
        told = (*told, f"Verdicts of {len(names)} judges are pooled: {', '.join(names)}. Choose one {choose['judge']}.")
    return (*told, *self_judged(drivers, names))
