"""Sentences of notices beside a board of a workspace: its source, what it lacks, how to see the rest.

A wording takes the notice's values and the medium where it is shown. Add the code here when you add a notice.
"""

from collections.abc import Iterable, Mapping
from typing import Any

from imarena.core.notices.notice import Medium, Wording
from imarena.core.plurals import counted, plural

_LISTED = 5


def name_list(names: Iterable[str], noun: str = "") -> str:
    """The first few names, and how many more there are."""
    every = list(names)
    rest = len(every) - _LISTED
    more = f" and {counted(rest, f'more {noun}')}" if noun else f" and {rest:,} more"
    return ", ".join(every[:_LISTED]) + (more if rest > 0 else "")


def choice(medium: Medium, *, source: str = "", judge: str = "") -> str:
    """How to choose a source or a judge: by an option of the command line, or by a filter of the page."""
    if medium == "page":
        names = {"people": "People", "judge": "Judge", "all": "People and judges"}
        return f"“Judge”: {judge}" if judge else f"“Verdicts of”: {names.get(source, source)}"
    return f"--judge {judge}" if judge else f"--source {source}"


def _how(medium: Medium, **chosen: str) -> str:
    return "" if medium == "report" else f" ({choice(medium, **chosen)})"


def _few_votes(values: dict[str, Any], medium: Medium) -> str:
    text = f"Only {counted(values['votes'], 'vote')} of people so far: too few for conclusions"
    if values["judges"] and medium != "report":
        return f"{text} ({choice(medium, source='judge')} shows the judge's board)."
    return f"{text}."


def _absent_editors(values: dict[str, Any], medium: Medium) -> str:
    models, command = values["models"], values["command"]
    begin = (
        f"{name_list(models)} {plural('has', len(models))} outputs but {plural('is', len(models))} not on this board"
    )
    if values["people"]:
        begin += ": nobody has voted on them"
    if medium == "report" or not command:
        return f"{begin}."
    return f"{begin}. To ask people: `{command}`." if values["people"] else f"{begin}. To add: `{command}`."


def _scored_only(values: dict[str, Any], medium: Medium) -> str:
    models, command = values["models"], values["command"]
    begin = f"{name_list(models)} {plural('is', len(models))} ranked by scores alone, others by direct comparisons too"
    return f"{begin}." if medium == "report" else f"{begin}. To compare: `{command}`."


def _no_outputs(values: dict[str, Any], medium: Medium) -> str:  # noqa: ARG001
    counts: Mapping[str, Mapping[str, int]] = values["models"]
    parts = [f"{name} ({', '.join(f'{n:,} {state}' for state, n in row.items())})" for name, row in counts.items()]
    return f"Not on this board, because they have no output: {name_list(parts, 'model')}."


def _fewer_items(values: dict[str, Any], medium: Medium) -> str:
    parts = [f"{name} ({part:,} of {whole:,})" for name, (part, whole) in values["models"].items()]
    text = f"Some models were not run on all items and turns of this board: {name_list(parts, 'model')}."
    if medium == "report":
        return text
    return f"{text} `imarena edit` makes the missing outputs (`--mode all` also edits items of several turns)."


def _outputs_not_judged(values: dict[str, Any], medium: Medium) -> str:
    parts = [f"{name} {left:,} of {whole:,}" for name, (left, whole) in values["models"].items()]
    text = f"Outputs without a verdict so far: {name_list(parts, 'model')}."
    return text if medium == "report" else f"{text} `imarena {values['command']}` asks about the missing ones only."


def _one_dimension(values: dict[str, Any], medium: Medium) -> str:  # noqa: ARG001
    name = values["dimension"]
    text = f"These verdicts are only about {name}, not overall verdicts."
    return f"{text} An editor that changes nothing does well here." if name == "visual_consistency" else text


def _judges_pooled(values: dict[str, Any], medium: Medium) -> str:
    names = values["judges"]
    text = f"Verdicts of {len(names)} judges are pooled: {', '.join(names)}."
    return text if medium == "report" else f"{text} Choose one: {choice(medium, judge='NAME')}."


def _people_and_judges(values: dict[str, Any], medium: Medium) -> str:  # noqa: ARG001
    text = "People's votes and judges' verdicts have the same weight here."
    how = f" Choose one of them: {choice(medium, source='people')} or {choice(medium, source='judge')}."
    return text if medium == "report" else text + how


def _other_sources(values: dict[str, Any], medium: Medium) -> str:
    """What else there is to rank by. A part of a sentence: the board's own line begins it."""
    parts = [
        f"{counted(values[f'{noun}s'], noun)} of people" + _how(medium, source="people")
        for noun in ("vote", "rating")
        if values.get(f"{noun}s")
    ]
    judges: Mapping[str, int] = values.get("judges") or {}
    if judges:
        names = sorted(judges)
        who = f"judge {names[0]}" if len(names) == 1 else f"{len(names)} judges"
        parts.append(f"{counted(sum(judges.values()), 'verdict')} of {who}" + _how(medium, judge=names[0]))
    return " and ".join(parts)


def _unnamed_group(values: dict[str, Any], medium: Medium) -> str:  # noqa: ARG001
    n = values["battles"]
    return f"{counted(n, 'battle')} {plural('has', n)} no {values['by']} and {plural('is', n)} on no board."


def _one_sided_verdicts(values: dict[str, Any], medium: Medium) -> str:
    parts = [
        counted(values[noun], word) for noun, word in (("judgments", "judgment"), ("votes", "vote")) if values[noun]
    ]
    text = (
        f"{' and '.join(parts)} on pairs of a later turn {plural('does', sum(values.values()))} not count: "
        "both outputs were shown with the image that the left one was made from."
    )
    if medium == "report":
        return text
    asks = [how for noun, how in (("judgments", "`imarena battle`"), ("votes", "a new campaign")) if values[noun]]
    return f"{text} To ask again: {' or '.join(asks)}."


WORDINGS: dict[str, Wording] = {
    "few_votes": _few_votes,
    "one_sided_verdicts": _one_sided_verdicts,
    "absent_editors": _absent_editors,
    "scored_only": _scored_only,
    "no_outputs": _no_outputs,
    "fewer_items": _fewer_items,
    "outputs_not_judged": _outputs_not_judged,
    "one_dimension": _one_dimension,
    "judges_pooled": _judges_pooled,
    "people_and_judges": _people_and_judges,
    "other_sources": _other_sources,
    "unnamed_group": _unnamed_group,
    "dimensions_pooled": lambda values, _: f"Verdicts about {', '.join(values['dimensions'])} are ranked together.",
    "self_judged": (
        "{editor} was driven by the judge '{judge}', which also ranks it here: its rating is not independent."
    ),
    "no_intervals": "No intervals: {reason}",
    "board_not_stored": "The board was not stored: {reason}",
    "group_not_ranked": "{reason}",
    "judge_cannot_see": lambda values, _: f"The judge {values['judge']} cannot judge: {'; '.join(values['limits'])}.",
}
