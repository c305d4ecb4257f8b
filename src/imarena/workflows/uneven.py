"""Words beside a board on which models do not stand by the same: not asked on some items, or not judged yet."""

from collections import Counter, defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any

from sqlalchemy import ColumnElement, Table, select

from imarena.core.plurals import counted
from imarena.core.records import Status
from imarena.storage import Workspace
from imarena.storage import schema as tables
from imarena.storage.database import reading
from imarena.workflows.battles import BattleTable
from imarena.workflows.slots import UNNAMED, Slots, slots_of

NEARLY_ALL = 0.95
"""From this share on an editor was asked for, or judged on, what there is; where nobody was, samples are meant."""
_TOLD = 5


def uneven(workspace: Workspace, table: BattleTable, judges: Collection[str]) -> tuple[str, ...]:
    """Warnings where some models on a board were asked for less than others, or have outputs without a verdict.

    `judges`: whose verdicts the board is made from; empty for a board of people's votes.
    """
    ranked = {*table.columns["left"], *table.columns["right"]}
    slots = slots_of(workspace)
    return (
        *_gave_nothing(slots, ranked),
        *_asked_less(workspace, table, ranked, slots),
        *_not_judged(workspace, ranked, judges),
    )


def _gave_nothing(slots: Slots, ranked: Collection[str]) -> tuple[str, ...]:
    found = {
        editor: ", ".join(f"{number:,} {state}" for state, number in row.items())
        for editor, row in slots.counts().items()
        if editor not in ranked and editor != UNNAMED and not row.get(Status.OK.value)
    }
    if not found:
        return ()
    told = _listed({editor: f"({words})" for editor, words in found.items()})
    return (f"Not on this board, because no output of theirs is there: {told}.",)


def _asked_less(workspace: Workspace, table: BattleTable, ranked: Collection[str], slots: Slots) -> tuple[str, ...]:
    board = {f"{item}:{place}" for item, place in zip(table.columns["item"], table.places, strict=True)}
    asked: dict[str, set[str]] = defaultdict(set)
    for item, turn, mode, editor in _columns(workspace, tables.outputs, ("item_id", "turn", "mode", "editor")):
        asked[editor].add(f"{item}:{turn}:{mode}")
    for item, turn, editor, mode, _ in slots.failed:  # later turns that a failure cut off, too
        asked[editor].add(f"{item}:{turn}:{mode}")
    found = {editor: (len(asked[editor] & board), len(board)) for editor in ranked}
    less = _lacking(found)
    if not less:
        return ()
    told = _listed({editor: f"for {part:,} of {whole:,}" for editor, (part, whole) in less.items()})
    return (
        f"Not every model was asked for all that this board is about: {told}. Coverage counts what was asked for; "
        "`imarena edit` asks for the rest (--mode all takes items of several turns too).",
    )


def _not_judged(workspace: Workspace, ranked: Collection[str], judges: Collection[str]) -> tuple[str, ...]:
    if not judges:
        return ()
    seen: set[str] = set()
    compares = False
    verdicts = tables.judgments
    ok = (verdicts.c.status == Status.OK.value, verdicts.c.judge.in_(sorted(judges)))
    for left, right in _columns(workspace, verdicts, ("left_id", "right_id"), *ok):
        seen |= {left, right or left}
        compares |= right is not None
    places: dict[tuple[str, int, str], list[tuple[str, bool]]] = defaultdict(list)
    made_it = (tables.outputs.c.status == Status.OK.value, tables.outputs.c.image_sha256.is_not(None))
    for item, turn, mode, editor, identity in _columns(
        workspace, tables.outputs, ("item_id", "turn", "mode", "editor", "id"), *made_it
    ):
        if editor in ranked:
            places[item, turn, mode].append((editor, identity in seen))
    judged, made = Counter[str](), Counter[str]()
    for outputs in places.values():
        if len({editor for editor, _ in outputs}) > 1:  # what stands alone is no battle
            made.update(editor for editor, _ in outputs)
            judged.update(editor for editor, known in outputs if known)
    less = _lacking({editor: (judged[editor], number) for editor, number in made.items()})
    if not less:
        return ()
    told = _listed({editor: f"{whole - part:,} of {whole:,}" for editor, (part, whole) in less.items()})
    command = "battle" if compares else "judge"
    return (f"Outputs without a verdict so far: {told}. The same `imarena {command}` again asks about these only.",)


def _columns(
    workspace: Workspace, table: Table, names: Sequence[str], *where: ColumnElement[bool]
) -> Iterator[Sequence[Any]]:
    """Some columns, without the records' bodies: a board must not wait for these words."""
    with reading(workspace.store.engine) as connection:
        yield from connection.execute(select(*(table.c[name] for name in names)).where(*where))


def _lacking(found: Mapping[str, tuple[int, int]]) -> dict[str, tuple[int, int]]:
    """Those with less than the others, the least first; none where nobody has nearly all."""
    shares = {editor: part / whole for editor, (part, whole) in found.items() if whole}
    if not shares or max(shares.values()) < NEARLY_ALL:
        return {}
    less = sorted((share, editor) for editor, share in shares.items() if share < NEARLY_ALL)
    return {editor: found[editor] for _, editor in less}


def _listed(told: Mapping[str, str]) -> str:
    first = [f"{editor} {words}" for editor, words in list(told.items())[:_TOLD]]
    rest = len(told) - len(first)
    return ", ".join(first) + (f" and {counted(rest, 'more model')}" if rest else "")
