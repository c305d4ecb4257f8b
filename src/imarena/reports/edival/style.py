"""The table of the style check (appendix F)."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from imarena.reports.edival.scored import known_mean
from imarena.reports.tables import Cell, Column, Table


@dataclass(frozen=True)
class StyleAnswer:
    """What a model and people say about the style of one output; None: no answer."""

    judge: str
    editor: str
    mode: str
    shape: str
    """Of the source image: `square` or `padded`."""
    yes: bool | None
    why: str = ""
    """Why there is no answer."""
    people: bool | None = None


def style_table(answers: Sequence[StyleAnswer]) -> Table:
    """Share of yes by judge, editor, mode and shape; beside it that of people, and how often the two agree."""
    groups: dict[tuple[str, str, str, str], list[StyleAnswer]] = {}
    for one in answers:
        groups.setdefault((one.judge, one.editor, one.mode, one.shape), []).append(one)
    rows: list[tuple[Cell, ...]] = []
    for key, found in sorted(groups.items()):
        answered = [one for one in found if one.yes is not None]
        rated = [one for one in answered if one.people is not None]
        why = Counter(one.why for one in found if one.yes is None)
        rows.append(
            (
                *key, len(answered), _percent([one.yes for one in answered]), len(rated),
                _percent([one.people for one in rated]), _percent([one.yes == one.people for one in rated]),
                sum(why.values()), ", ".join(f"{reason} {number}" for reason, number in why.most_common(2)),
            )
        )  # fmt: skip
    columns = (
        Column("judge"), Column("editor"), Column("mode"), Column("source"), Column("answers", ","),
        Column("yes", ".1f"), Column("rated", ","), Column("people: yes", ".1f"), Column("agreement", ".1f"),
        Column("no answer", ","), Column("why", wrap=True, drop=1),
    )  # fmt: skip
    notes = (
        "Answers of a model to 'is this image in the style that was asked for?'. In the paper models answer no even "
        "where people agree on yes: read it beside the people's columns. It is no part of EdiVal-IF.",
    )
    return Table(columns, tuple(rows), "Style check, percent", notes).filled


def _percent(values: Sequence[bool | None]) -> float | None:
    mean = known_mean(list(values))
    return None if mean is None else 100 * mean
