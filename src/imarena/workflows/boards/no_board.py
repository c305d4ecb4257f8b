"""Why there is no board: nobody was asked, nobody gave a usable answer, or no battle matches the query."""

from collections import Counter
from collections.abc import Sequence

import numpy as np
from sqlalchemy import func, select

from imarena.core import UserError, command_line, counted, suggestion
from imarena.core.notices import sentence
from imarena.storage import reading
from imarena.storage.schema import judgments, votes
from imarena.workflows.boards.default_source import ChosenSource
from imarena.workflows.boards.findings import one_sided_notices
from imarena.workflows.boards.query import BoardQuery
from imarena.workflows.views import RULES, WHOLE, View, read_ratings, unanswered_questions


def nothing_to_rank(view: View, choice: ChosenSource, query: BoardQuery, about: Sequence[str]) -> UserError:
    """Return the error for a query without battles. `about`: the dimensions of the source's battles."""
    if about and WHOLE not in about and query.dimension is None:
        return UserError(
            f"No verdict of source '{choice.source}' is about the whole; there are some about {', '.join(about)}.",
            hint="Choose one with --dimension; `--method davidson --balanced` ranks by all of them together.",
        )
    if query.dimension is not None and about and query.dimension not in about:
        return UserError(
            f"No verdict of source '{choice.source}' is about '{query.dimension}'.",
            hint=suggestion(query.dimension, about),
        )
    if query.window.until and (first := _first_day(view)) > query.window.until:
        return UserError(
            f"The workspace has no vote or judgment from {query.window.until} or earlier.",
            hint=f"The first is from {first}.",
        )
    if query.filters or query.window.since or query.window.until:
        return UserError("No battle fits these filters.", hint="Remove some of them.")
    if (
        choice.source == "human"
        and query.dimension is None
        and (rated := read_ratings(view, query.window).criterion.names)
    ):
        if WHOLE in rated:
            who = " and ".join(query.editors) or "any two editors"
            return UserError(
                f"People rated no item with outputs of {who} together.",
                hint=f"`{command_line('status')}` lists the outputs of each editor. Choose editors with items in "
                "common.",
            )
        return UserError(
            f"People rated {', '.join(rated)}, and no rule combines these into one rating.",
            hint=f"Choose one with --dimension {rated[0]}, or set a rule in imarena.toml: "
            f'[board] overall = "{RULES[1]}" or "{RULES[0]}".',
        )
    lacking = (
        _without_answers(view, choice) or _without_items(view) or _without_names(view) or _too_few_editors(view, choice)
    )
    if lacking is not None:
        return lacking
    source = {"human": "votes of people", "judge": "verdicts of judges"}.get(choice.source, "votes or verdicts")
    one_sided = one_sided_notices(view, choice)
    if query.source == "auto" and not choice.judges:
        source = "votes or verdicts"
    hint = (
        f"Run `{command_line('judge')}` or `{command_line('battle')}`, or collect or import votes. "
        f"`{command_line('rank --from FILE')}` ranks a table."
    )
    if query.source == "human":
        hint = (
            f"Collect votes with `{command_line('campaign create NAME')}`, or import votes or ratings "
            f"(`{command_line('import')}`). "
            f"`{command_line('rank --from FILE')}` ranks a table."
        )
    return UserError(
        " ".join((f"There are no {source} in this workspace to rank by.", *map(sentence, one_sided))), hint=hint
    )


def _without_answers(view: View, choice: ChosenSource) -> UserError | None:
    """Return the error for judges whose answers all failed."""
    where = {"judge": list(choice.judges)} if choice.judges else {}
    failed: dict[str, Counter[str]] = {}
    for question in unanswered_questions(view.workspace, **where).values():
        failed.setdefault(question.judge, Counter())[question.status] += 1
    if choice.source == "human" or not failed:
        return None
    parts = "; ".join(
        f"{name} was asked {counted(sum(counts.values()), 'question')} without one usable answer "
        f"({', '.join(f'{number:,} {state}' for state, number in counts.most_common())})"
        for name, counts in sorted(failed.items())
    )
    return UserError(
        f"There is nothing to rank: {parts}.",
        hint="Run the same `judge` or `battle` command again: it asks only what has no answer, and reports why. "
        f"For unparsable replies, `{command_line('reparse')}` reads the stored ones again.",
    )


def _without_items(view: View) -> UserError | None:
    """Return the error for a workspace without items."""
    if view.entries.item_id:
        return None
    return UserError(
        "The workspace has no items yet.",
        hint=f"Import a benchmark or a table (`{command_line('import --list')}`). "
        f"`{command_line('rank --from FILE')}` ranks a table of votes.",
    )


def _without_names(view: View) -> UserError | None:
    """Return the error if there are verdicts, and no output has the name of its editor."""
    if not view.entries.ok.any() or any(view.entries.editor.list(np.flatnonzero(view.entries.ok))):
        return None
    if not view.votes.counts.sum() and not any(view.verdicts.values()):
        return None
    return UserError(
        "The outputs have no editor names, so they cannot be ranked.",
        hint=f"`{command_line('align')}` compares judges with people on these outputs. To rank editors, import a "
        "table that names "
        "them.",
    )


def _too_few_editors(view: View, choice: ChosenSource) -> UserError | None:
    """Return the error if no editor made an output, or if judges saw the outputs of only one."""
    if not view.entries.ok.any():
        tried = view.entries.ok.size > 0
        return UserError(
            "There are no outputs to compare: no editor has made one yet.",
            hint=f"`{command_line('status')}` lists how the requests ended; run the same `{command_line('edit')}` "
            "again, or import outputs."
            if tried
            else f"Run editors over the items (`{command_line('edit')}`), or import outputs.",
        )
    names = sorted({name for name in view.entries.editor.list(np.flatnonzero(view.entries.ok)) if name})
    if choice.judges and len(names) == 1:
        return UserError(
            f"There is only one editor with outputs ('{names[0]}'): a board needs two or more.",
            hint=f"Run another editor (`{command_line('edit')}`), or import its outputs, and judge them.",
        )
    return None


def _first_day(view: View) -> str:
    """Return the day (YYYY-MM-DD) of the workspace's first vote or judgment; '' if it has none."""
    with reading(view.workspace.store.engine) as connection:
        firsts = [connection.execute(select(func.min(table.c.created_at))).scalar_one() for table in (judgments, votes)]
    return min((str(first)[:10] for first in firsts if first), default="")
